/*
 * sqlite_open.c - the file of an SQLite store: open, check, create, migrate
 *
 * Refused, and never changed: a file that is not a database, or that belongs
 * to another program; one of a newer version; one on a network file system,
 * whose locks cannot be trusted.
 */
#define _GNU_SOURCE             /* mknod */
#include "store/sqlite_parts.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/vfs.h>

static bool is_network_type(long type)
{
    static const long types[] = { 0x6969, 0x517B, (long)0xFF534D42,
                                  (long)0xFE534D42, 0x01021997, 0x73757245 };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if ((type & 0xFFFFFFFF) == (types[i] & 0xFFFFFFFF))
            return true;
    return false;
}

static bool is_on_network(const char *path)
{
    struct statfs fs;
    return !statfs(path, &fs) && is_network_type((long)fs.f_type);
}
#else
static bool is_on_network(const char *path)
{
    (void)path;
    return false;
}
#endif

/* -------------------------------------------------------------- paths --- */

static const allm_error *join_path(struct arena *a, const char *path,
                                   const char *ending, const char **out)
{
    size_t len = strlen(path), more = strlen(ending);
    char *text = arena_alloc(a, len + more + 1);
    if (!text)
        return status_nomem();
    memcpy(text, path, len);
    memcpy(text + len, ending, more + 1);
    *out = text;
    return NULL;
}

static const allm_error *file_error(struct arena *a, const char *path, int why)
{
    bool denied = why == EACCES || why == EROFS || why == EPERM;
    bool full = why == ENOSPC || why == EDQUOT;
    return status_error(a, ALLM_ERR_STORE,
                        denied ? "store_read_only"
                        : full ? "store_full"
                               : "store_unreachable",
                        "%s cannot be opened: %s; %s", path,
                        file_error_words(why),
                        denied ? "check the permissions of the file and of its "
                                 "folder"
                        : full ? "free some space"
                               : "check the path, its folder and the disk");
}

/* The folder of a path. */
static const char *folder_of(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    size_t len = slash == path ? 1 : (size_t)(slash - path);
    return arena_copy(a, (struct slice){ path, len });
}

static const allm_error *check_place(struct sqlite *q, struct arena *a)
{
    const char *folder = folder_of(&q->arena, q->path);
    if (!folder)
        return status_nomem();
    q->fixed_folder = access(folder, W_OK) != 0;
    if (!is_on_network(folder))
        return NULL;
    return status_error(a, ALLM_ERR_STORE, "unsupported_store",
                        "%s is on a network file system, whose locks cannot be "
                        "trusted; use a local disk, or a PostgreSQL store",
                        q->path);
}

/*
 * Create an empty file that only its owner may read.  It must not be opened
 * here: if another handle of this process had it open, too, closing our
 * descriptor would drop the locks that SQLite holds on it.
 */
static int create_file(const char *path)
{
#ifdef __linux__
    return mknod(path, S_IFREG | 0600, 0) ? errno : 0;
#else
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return fd < 0 || close(fd) ? errno : 0;
#endif
}

/*
 * The lock file has one byte as soon as the store has tables.  So a store that
 * was truncated to nothing is not taken for a new one.
 */
static const allm_error *create_store(struct sqlite *q, struct arena *a)
{
    q->lock_fd = sqlite_lock_open(q->lock_path, false);
    if (q->lock_fd < 0 || ftruncate(q->lock_fd, 0))
        return file_error(a, q->lock_path, errno);
    int why = create_file(q->path);
    return why && why != EEXIST ? file_error(a, q->path, why) : NULL;
}

static const allm_error *need_file(struct sqlite *q, struct arena *a)
{
    uint32_t flags = q->sql.opts.flags;
    struct stat file;
    int why = stat(q->path, &file) ? errno : 0;
    if (why == ENOENT && !(flags & (ALLM_STORE_READ | ALLM_STORE_NO_CREATE))) {
        const allm_error *error = create_store(q, a);
        if (error)
            return error;
        why = stat(q->path, &file) ? errno : 0;
    }
    if (why)
        return file_error(a, q->path, why);
    if (!S_ISREG(file.st_mode))
        return status_error(a, ALLM_ERR_STORE, "not_a_store",
                            "%s is not a regular file; name another one",
                            q->path);
    q->device = file.st_dev;
    q->inode = file.st_ino;
    q->read_only = (flags & ALLM_STORE_READ) || access(q->path, W_OK) ||
                   q->fixed_folder;
    return NULL;
}

/* A path that stays the same when the current folder changes, and that SQLite
 * does not take for ":memory:" or a URI. */
static const allm_error *make_absolute(struct sqlite *q, struct arena *a)
{
    char folder[PATH_MAX];
    const char *rest = q->path;
    if (*rest == '/')
        return NULL;
    if (!getcwd(folder, sizeof folder))
        return file_error(a, rest, errno);
    const allm_error *error = join_path(&q->arena, folder, "/", &q->path);
    return error ? error : join_path(&q->arena, q->path, rest, &q->path);
}

/* The real path, so that all names of a file have one lock file. */
static const allm_error *find_paths(struct sqlite *q, struct arena *a,
                                    const char *given)
{
    if (!*given)
        return status_error(a, ALLM_ERR_STORE, "invalid_store_uri",
                            "sqlite: needs the path of a file, as in "
                            "sqlite:sessions.db");
    int why = file_follow(&q->arena, given, &q->path);
    if (why)
        return file_error(a, given, why);
    const allm_error *error = make_absolute(q, a);
    if (!error)
        error = check_place(q, a);
    if (!error)
        error = join_path(&q->arena, q->path, "-lock", &q->lock_path);
    if (!error)
        error = join_path(&q->arena, q->path, "-shm", &q->shm_path);
    if (!error)
        error = join_path(&q->arena, q->path, "-wal", &q->wal_path);
    return error ? error : need_file(q, a);
}

static const allm_error *open_lock(struct sqlite *q, struct arena *a)
{
    struct stat lock, file;
    if (q->lock_fd < 0)
        q->lock_fd = sqlite_lock_open(q->lock_path, q->read_only);
    if (q->lock_fd < 0)
        return q->read_only ? NULL : file_error(a, q->lock_path, errno);
    if (fstat(q->lock_fd, &lock) || !lock.st_size || stat(q->path, &file) ||
        file.st_size)
        return NULL;
    return status_error(a, ALLM_ERR_STORE, "store_damaged",
                        "%s is empty, but it was a store; restore it from a "
                        "backup, or remove it and begin a new one",
                        q->path);
}

/* ------------------------------------------------------------ handles --- */

/* All handles of this process.  One that was opened before fork() is the
 * parent's: SQLite would share locks with it that this process does not
 * have. */
static pthread_mutex_t handles_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sqlite *handles;

static bool add_handle(struct sqlite *q)
{
    bool ours = true;
    q->pid = getpid();
    pthread_mutex_lock(&handles_lock);
    for (const struct sqlite *h = handles; h; h = h->next)
        ours = ours && (h->pid == q->pid || h->inode != q->inode ||
                        h->device != q->device);
    q->next = handles;
    handles = q;
    pthread_mutex_unlock(&handles_lock);
    return ours;
}

static void remove_handle(struct sqlite *q)
{
    pthread_mutex_lock(&handles_lock);
    struct sqlite **at = &handles;
    while (*at && *at != q)
        at = &(*at)->next;
    if (*at)
        *at = q->next;
    pthread_mutex_unlock(&handles_lock);
}

/* ------------------------------------------------------------ version --- */

static const allm_error *ask_number(struct sqlite *q, struct arena *a,
                                    const char *text, int64_t *out)
{
    struct sql_rows rows;
    const allm_error *error = SQL_RUN(&q->sql, a, text, &rows, sql_int(0));
    *out = 0;
    if (error || !rows.count)
        return error;
    const struct sql_value *v = &rows.cells[0];
    *out = v->kind == SQL_INT    ? v->n
           : v->kind == SQL_TEXT ? strtoll(v->s.ptr, NULL, 10)
                                 : 0;
    return NULL;
}

/* SQLite reads a last page that was cut as if zeros followed.  Such a page is
 * in order only if the WAL has it. */
static const allm_error *check_size(struct sqlite *q, struct arena *a)
{
    struct stat file;
    int64_t page = 0;
    if (q->had_wal)
        return NULL;
    const allm_error *error = ask_number(q, a, "PRAGMA page_size", &page);
    if (error || stat(q->path, &file) || !page || file.st_size % page == 0)
        return error;
    return status_error(a, ALLM_ERR_STORE, "store_damaged",
                        "%s is truncated in the middle of a page; restore it "
                        "from a backup",
                        q->path);
}

static const allm_error *check_version(const struct sqlite *q, struct arena *a,
                                       int64_t version)
{
    if (version > SCHEMA_VERSION)
        return status_error(a, ALLM_ERR_STORE, "store_too_new",
                            "%s has version %lld, which is newer than %d, the "
                            "newest this library knows; update allm",
                            q->path, (long long)version, SCHEMA_VERSION);
    if (version < 1)
        return status_error(a, ALLM_ERR_STORE, "store_damaged",
                            "%s has no version; restore it from a backup",
                            q->path);
    return NULL;
}

/* Is it ours?  0: an empty database; else the version of its tables. */
static const allm_error *find_version(struct sqlite *q, struct arena *a,
                                      int64_t *version)
{
    int64_t application = 0, tables = 0;
    const allm_error *error = ask_number(q, a, "PRAGMA application_id",
                                         &application);
    if (!error)
        error = ask_number(q, a, "SELECT count(*) FROM sqlite_master", &tables);
    *version = 0;
    if (error)
        return error;
    if (application == 0 && tables == 0)
        return NULL;
    if (application != SQLITE_APPLICATION)
        return status_error(a, ALLM_ERR_STORE, "not_a_store",
                            "%s is a database of another program; name another "
                            "file",
                            q->path);
    error = ask_number(q, a,
                       "SELECT value FROM allm_meta WHERE key = 'version'",
                       version);
    if (!error)
        error = check_version(q, a, *version);
    return error ? error : check_size(q, a);
}

/* In one transaction: another process may create the tables meanwhile. */
static const allm_error *look_at_version(struct sqlite *q, struct arena *a,
                                         int64_t *version)
{
    const allm_error *error = sqlite_exec(q, a, "BEGIN");
    if (!error)
        error = find_version(q, a, version);
    sqlite_driver.undo(&q->sql);
    return error;
}

/* Other processes may do the same at this moment: the second one finds the
 * tables. */
static const allm_error *create_tables(struct sqlite *q, struct arena *a)
{
    int64_t version = 0;
    struct sql *s = &q->sql;
    const allm_error *error = s->driver->begin(s, a);
    if (error)
        return error;
    error = find_version(q, a, &version);
    if (!error && !version)
        error = sqlite_exec(q, a, schema_sqlite);
    if (!error && !version)
        error = sqlite_exec(q, a, "PRAGMA application_id = 1634495597");
    if (error) {
        s->driver->undo(s);
        return error;
    }
    return s->driver->end(s, a);
}

/* ------------------------------------------------------------ opening --- */

static const allm_error *set_up(struct sqlite *q, struct arena *a)
{
    int64_t version = 0;
    const allm_error *error = look_at_version(q, a, &version);
    if (!error && !version && q->read_only)
        return status_error(a, ALLM_ERR_STORE, "not_a_store",
                            "%s is empty; open it for writing once", q->path);
    if (!error && !version)
        error = sqlite_exec(q, a, "PRAGMA auto_vacuum = INCREMENTAL");
    if (!error && !q->read_only)
        error = sqlite_exec(q, a, "PRAGMA journal_mode = WAL");
    if (!error)
        error = sqlite_exec(q, a,
                            "PRAGMA synchronous = FULL;"
                            "PRAGMA fullfsync = 1;"
                            "PRAGMA secure_delete = ON;"
                            "PRAGMA journal_size_limit = 67108864;"
                            "PRAGMA mmap_size = 268435456");
    if (error || version)
        return error;
    error = create_tables(q, a);
    if (!error && ftruncate(q->lock_fd, 1))
        error = file_error(a, q->lock_path, errno);
    return error;
}

/* Where nothing can be written beside the file, SQLite reads it only if it is
 * told that nobody changes it. */
static const char *name_file(struct sqlite *q, struct arena *a)
{
    struct stat wal;
    if (!q->read_only || !q->fixed_folder || !stat(q->wal_path, &wal))
        return q->path;
    struct buf uri = buf_in(a, SIZE_MAX / 2);
    buf_add(&uri, SLICE("file:"));
    for (const char *at = q->path; *at; at++) {
        static const char hex[] = "0123456789abcdef";
        unsigned char c = (unsigned char)*at;
        if (c == '%' || c == '?' || c == '#') {
            buf_byte(&uri, '%');
            buf_byte(&uri, hex[c >> 4]);
            buf_byte(&uri, hex[c & 15]);
        } else {
            buf_byte(&uri, *at);
        }
    }
    buf_add(&uri, SLICE("?immutable=1"));
    return uri.broken ? NULL : arena_copy(a, buf_slice(&uri));
}

static const allm_error *open_once(struct sqlite *q, struct arena *a)
{
    int flags = (q->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) |
                SQLITE_OPEN_NOMUTEX;
    const char *name = name_file(q, a);
    if (!name)
        return status_nomem();
    if (name != q->path)
        flags |= SQLITE_OPEN_URI;
    int code = sqlite3_open_v2(name, &q->db, flags, NULL);
    q->generation++;
    if (code != SQLITE_OK)
        return sqlite_error(q, a, code);
    sqlite3_busy_handler(q->db, sqlite_wait, q);
    sqlite3_wal_hook(q->db, sqlite_trim_wal, q);
    sqlite3_extended_result_codes(q->db, 1);
    return set_up(q, a);
}

static void close_file(struct sqlite *q)
{
    sqlite_forget(q);
    sqlite3_close_v2(q->db);
    q->db = NULL;
}

/* SQLite does not always call the busy handler while files are opened and
 * switched to WAL, so it is called here. */
const allm_error *sqlite_connect(struct sqlite *q, struct arena *a)
{
    struct stat wal;
    q->had_wal = !stat(q->wal_path, &wal) && wal.st_size > 0;
    const allm_error *error = open_once(q, a);
    for (int i = 0;
         error && !strcmp(error->reason, "store_busy") && sqlite_wait(q, i);
         i++) {
        close_file(q);
        error = open_once(q, a);
    }
    if (error)
        close_file(q);
    return error;
}

void sqlite_close(struct backend *b)
{
    struct sqlite *q = sqlite_of(b);
    struct mem mem = q->sql.opts.mem;
    close_file(q);
    remove_handle(q);
    if (q->lock_fd >= 0)
        close(q->lock_fd);
    mem_free(mem, q->held, q->held_cap * sizeof *q->held);
    arena_release(&q->arena);
    mem_free(mem, q, sizeof *q);
}

void sqlite_die(struct backend *b)
{
    struct sqlite *q = sqlite_of(b);
    q->sql.driver->undo(&q->sql);
    if (q->db)
        sqlite3_db_config(q->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}

/* The locks of sessions stay: they are on another file. */
const allm_error *sqlite_reopen(struct backend *b, struct arena *a)
{
    struct sqlite *q = sqlite_of(b);
    close_file(q);
    return sqlite_connect(q, a);
}

static const allm_error *open_all(struct sqlite *q, struct arena *a,
                                  const char *rest)
{
    if (!sqlite3_threadsafe())
        return status_error(a, ALLM_ERR_STORE, "unsupported_store",
                            "this SQLite was built without support for "
                            "threads; install another one");
    const allm_error *error = find_paths(q, a, rest);
    if (!error && !add_handle(q))
        error = status_error(a, ALLM_ERR_STORE, "store_forked",
                             "%s was open when this process was forked; call "
                             "exec(), or fork before it is opened",
                             q->path);
    if (!error)
        error = open_lock(q, a);
    return error ? error : sqlite_connect(q, a);
}

const allm_error *sqlite_open(struct arena *a, const char *rest,
                              const struct backend_opts *opts,
                              struct backend **out)
{
    struct sqlite *q = mem_alloc(opts->mem, sizeof *q);
    *out = NULL;
    if (!q)
        return status_nomem();
    *q = (struct sqlite){ .sql = { .backend = { .ops = &sqlite_backend },
                                   .driver = &sqlite_driver,
                                   .opts = *opts },
                          .lock_fd = -1,
                          .busy_most_ns = (int64_t)opts->busy_ms * 1000000 };
    arena_init(&q->arena, opts->mem);
    const allm_error *error = open_all(q, a, rest);
    if (error) {
        sqlite_close(&q->sql.backend);
        return error;
    }
    *out = &q->sql.backend;
    return NULL;
}
