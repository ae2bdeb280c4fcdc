/*
 * test_sqlite_faults.c - a disk that fails once, at each write, sync and
 * truncation
 *
 * A VFS in front of SQLite's own counts these calls and makes one of them
 * fail: with an I/O error, with a full disk, or half done.  Afterwards the
 * same handle works, nothing that was reported as durable is lost, and the
 * file is in order.
 */
#include "harness/check.h"
#include "harness/stored.h"

#include <stdio.h>

#if ALLM_SQLITE
#include <sqlite3.h>
#include <stdlib.h>

/* ----------------------------------------------------------- the disk --- */

enum fault { IO_ERROR, DISK_FULL, HALF_DONE, FAULTS };

static struct {
    size_t calls, fails_at;         /* 0: never */
    enum fault fault;
} disk;

struct shim {
    sqlite3_file file;
    sqlite3_file *real;             /* behind it */
};

static sqlite3_file *real_of(sqlite3_file *f)
{
    return ((struct shim *)f)->real;
}

static bool fails(void)
{
    return ++disk.calls == disk.fails_at;
}

static int shim_write(sqlite3_file *f, const void *bytes, int n,
                      sqlite3_int64 at)
{
    sqlite3_file *real = real_of(f);
    if (!fails())
        return real->pMethods->xWrite(real, bytes, n, at);
    if (disk.fault == HALF_DONE)
        real->pMethods->xWrite(real, bytes, n / 2, at);
    return disk.fault == DISK_FULL ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

/* Half done: the data are there, but nobody says so. */
static int shim_sync(sqlite3_file *f, int flags)
{
    sqlite3_file *real = real_of(f);
    bool failed = fails();
    if (failed && disk.fault != HALF_DONE)
        return SQLITE_IOERR_FSYNC;
    int code = real->pMethods->xSync(real, flags);
    return failed ? SQLITE_IOERR_FSYNC : code;
}

static int shim_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    sqlite3_file *real = real_of(f);
    bool failed = fails();
    if (failed && disk.fault != HALF_DONE)
        return SQLITE_IOERR_TRUNCATE;
    int code = real->pMethods->xTruncate(real, size);
    return failed ? SQLITE_IOERR_TRUNCATE : code;
}

static int shim_close(sqlite3_file *f)
{
    sqlite3_file *real = real_of(f);
    int code = real->pMethods ? real->pMethods->xClose(real) : SQLITE_OK;
    free(real);
    return code;
}

#define PASS(name, params, args)                                              \
    static int shim_##name params                                             \
    {                                                                         \
        sqlite3_file *real = real_of(f);                                      \
        return real->pMethods->name args;                                     \
    }

PASS(xRead, (sqlite3_file * f, void *p, int n, sqlite3_int64 at),
     (real, p, n, at))
PASS(xFileSize, (sqlite3_file * f, sqlite3_int64 *size), (real, size))
PASS(xLock, (sqlite3_file * f, int level), (real, level))
PASS(xUnlock, (sqlite3_file * f, int level), (real, level))
PASS(xCheckReservedLock, (sqlite3_file * f, int *out), (real, out))
PASS(xFileControl, (sqlite3_file * f, int op, void *arg), (real, op, arg))
PASS(xSectorSize, (sqlite3_file * f), (real))
PASS(xDeviceCharacteristics, (sqlite3_file * f), (real))
PASS(xShmMap,
     (sqlite3_file * f, int page, int size, int extend, void volatile **out),
     (real, page, size, extend, out))
PASS(xShmLock, (sqlite3_file * f, int at, int n, int flags),
     (real, at, n, flags))
PASS(xShmUnmap, (sqlite3_file * f, int remove), (real, remove))

static void shim_barrier(sqlite3_file *f)
{
    sqlite3_file *real = real_of(f);
    real->pMethods->xShmBarrier(real);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = shim_close,
    .xRead = shim_xRead,
    .xWrite = shim_write,
    .xTruncate = shim_truncate,
    .xSync = shim_sync,
    .xFileSize = shim_xFileSize,
    .xLock = shim_xLock,
    .xUnlock = shim_xUnlock,
    .xCheckReservedLock = shim_xCheckReservedLock,
    .xFileControl = shim_xFileControl,
    .xSectorSize = shim_xSectorSize,
    .xDeviceCharacteristics = shim_xDeviceCharacteristics,
    .xShmMap = shim_xShmMap,
    .xShmLock = shim_xShmLock,
    .xShmBarrier = shim_barrier,
    .xShmUnmap = shim_xShmUnmap,
};

static sqlite3_vfs shim_vfs, *real_vfs;

static int shim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f,
                     int flags, int *out)
{
    struct shim *s = (struct shim *)f;
    (void)vfs;
    s->file.pMethods = NULL;
    s->real = calloc(1, (size_t)real_vfs->szOsFile);
    if (!s->real)
        return SQLITE_NOMEM;
    int code = real_vfs->xOpen(real_vfs, name, s->real, flags, out);
    if (code == SQLITE_OK)
        s->file.pMethods = &methods;
    else
        free(s->real);
    return code;
}

static void install_disk(void)
{
    real_vfs = sqlite3_vfs_find(NULL);
    shim_vfs = *real_vfs;
    shim_vfs.zName = "faulty";
    shim_vfs.szOsFile = sizeof(struct shim);
    shim_vfs.xOpen = shim_open;
    sqlite3_vfs_register(&shim_vfs, 1);
}

static void remove_disk(void)
{
    sqlite3_vfs_unregister(&shim_vfs);
    sqlite3_vfs_register(real_vfs, 1);
}

/* --------------------------------------------------------- the script --- */

static bool is_fault(const char *reason)
{
    return reason && (!strcmp(reason, "store_unreachable") ||
                      !strcmp(reason, "store_full"));
}

struct script {
    struct arena arena;
    allm_store *store;
    uint64_t durable;               /* the newest record that was reported */
    size_t errors;
};

/* Count an error of the disk; true: try again. */
static bool again(struct script *s, const allm_error *error)
{
    if (!error)
        return false;
    CHECK_WHY(is_fault(error->reason), error->message);
    CHECK(++s->errors < 3);
    return s->errors < 3;
}

static void write_records(struct script *s, struct store_session *t,
                          const char *message)
{
    struct store_loaded l;
    while (t && s->durable < 4) {
        const char *reason = stored_write(t, STORED(.type = "change",
                                                    .keep = s->durable,
                                                    .message = message));
        if (!*reason) {
            s->durable++;
            continue;
        }
        CHECK_WHY(is_fault(reason), reason);
        while (again(s, store_session_reload(t, &s->arena, &l)))
            ;
        if (++s->errors > 3)
            return;
        CHECK(store_session_head(t) >= s->durable);
        s->durable = store_session_head(t);
    }
}

static const allm_error *remove_here(struct backend *b, struct arena *a,
                                     void *ud)
{
    struct backend_row row;
    bool found = false, held = false;
    const allm_error *error = b->ops->find(b, a, ud, true, &row, &found);
    return error || !found ? error : b->ops->remove(b, a, row.id, &held);
}

static const allm_error *check_here(struct backend *b, struct arena *a,
                                    void *ud)
{
    const char **faults = NULL;
    return b->ops->check(b, a, ud, &faults);
}

static char message[9000];

static void use_store(struct script *s)
{
    struct store_loaded l;
    struct store_session *t = NULL;
    while (again(s, store_session_open(s->store, &s->arena, "s",
                                       ALLM_SESSION_CREATE, &l, &t)))
        ;
    write_records(s, t, message);
    store_session_drop(t);
    t = NULL;
    while (again(s, store_session_open(s->store, &s->arena, "gone",
                                       ALLM_SESSION_CREATE, &l, &t)))
        ;
    store_session_drop(t);
    char name[] = "gone";
    while (again(s, store_call(s->store, remove_here, &s->arena, name)))
        ;
}

/* Without faults: all that was reported is there. */
static void inspect_store(const struct script *s)
{
    struct arena a;
    struct store_loaded l;
    size_t faults = 1;
    arena_init(&a, mem_default());
    allm_store *store = stored_open(stored_path() - strlen("sqlite:"), NULL);
    struct store_session *t = stored_session(store, &a, "s", ALLM_SESSION_LOCK,
                                             &l, NULL);
    if (t) {
        CHECK_INT(l.row.head, s->durable);
        CHECK_INT(l.message_count, 4);
        CHECK_TEXT(stored_reason(store_call(store, check_here, &a, &faults)),
                   NULL);
        CHECK_INT(faults, 0);
    }
    store_session_drop(t);
    allm_store_free(store);
    arena_release(&a);
}

/* True if the disk failed. */
static bool run_once(enum fault fault, size_t n)
{
    struct script s = { .durable = 0 };
    const char *uri = stored_file();
    char row[64];
    snprintf(row, sizeof row, "fault %d at call %zu", (int)fault, n);
    check_row(row);
    arena_init(&s.arena, mem_default());
    disk.calls = 0;
    disk.fails_at = n;
    disk.fault = fault;
    s.store = allm_store_open(uri, NULL);
    while (again(&s, allm_store_error(s.store))) {
        allm_store_free(s.store);
        s.store = allm_store_open(uri, NULL);
    }
    use_store(&s);
    allm_store_free(s.store);
    bool failed = n && disk.calls >= n;
    disk.fails_at = 0;
    inspect_store(&s);
    arena_release(&s.arena);
    stored_remove();
    return failed;
}

static void survives_each_fault(void)
{
    memset(message, 'm', sizeof message - 1);
    message[0] = message[sizeof message - 2] = '"';
    install_disk();
    CHECK(!run_once(IO_ERROR, 0));
    for (enum fault fault = 0; fault < FAULTS; fault++) {
        size_t n = 1;
        while (run_once(fault, n))
            n += check_stride() > 1 ? 7 : 1;
        CHECK(n > 100);
    }
    remove_disk();
}
#else
static void survives_each_fault(void)
{
    check_skip("SQLite");
}
#endif

TESTS = {
    TEST_ONCE(survives_each_fault),
    TESTS_END
};
