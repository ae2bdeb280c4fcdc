/*
 * batch_out.c - the rows of a batch: OUT, and what it already has
 *
 *      {"id":"7","ok":true, ... ,"exit_code":0,"sum":"0123456789abcdef"}
 *
 * Rows that we wrote are read from both ends, without parsing what is between;
 * others are parsed.
 */
#define _DEFAULT_SOURCE /* flock */
#include "cli/batch_out.h"

#include "cli/exit.h"
#include "cli/output.h"
#include "cli/print.h"
#include "conf/member.h"
#include "term/bytes.h"
#include "term/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROW_EMPTY, ROW_DONE, ROW_FINAL, ROW_BAD, ROW_AGAIN, ROW_SEEN };

struct done_row {
    uint64_t id; /* 96 bits of a digest */
    uint32_t more;
    uint32_t state;
    uint64_t sum;
};

bool batch_out_is_final(int exit_code, bool length)
{
    return exit_code == END_DONE || exit_code == END_USAGE ||
           exit_code == END_REQUEST || exit_code == END_SCHEMA ||
           exit_code == END_REFUSED || (exit_code == END_TRUNCATED && length);
}

/* --------------------------------------------------------------- index --- */

/* The number of `count` hex digits, as allm_sha256() writes them; 0, which is
 * the sum of no line, if they are none.  Each row has two of them, and
 * strtoull() takes three times as long.  Which digits are letters is random,
 * so there is no branch for it. */
static uint64_t read_hex(const char *digits, size_t count)
{
    uint64_t n = 0;
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        unsigned c = (unsigned char)digits[i];
        good &= (c - '0' <= 9) | (c - 'a' <= 5);
        n = n << 4 | ((c & 15) + 9 * (c >> 6));
    }
    return good ? n : 0;
}

static void digest_id(const char *id, size_t len, struct done_row *row)
{
    char hex[65];
    allm_sha256(id, len, hex);
    row->id = read_hex(hex, 16);
    row->more = (uint32_t)read_hex(hex + 16, 8);
}

/* The row of this id, or the empty one where it belongs. */
static struct done_row *find_row(const struct batch_out *o,
                                 const struct done_row *key)
{
    size_t i = (size_t)(((key->id >> 32) * o->cap) >> 32);
    while (o->rows[i].state &&
           (o->rows[i].id != key->id || o->rows[i].more != key->more))
        i = i + 1 < o->cap ? i + 1 : 0;
    return &o->rows[i];
}

static void grow_rows(struct batch_out *o, size_t cap)
{
    struct batch_out next = { .cap = cap };
    next.rows = term_alloc(cap * sizeof *next.rows);
    for (size_t i = 0; i < o->cap; i++)
        if (o->rows[i].state)
            *find_row(&next, &o->rows[i]) = o->rows[i];
    term_free(o->rows);
    o->rows = next.rows;
    o->cap = cap;
}

/* The row of this id; a new one is EMPTY. */
static struct done_row *row_of(struct batch_out *o, const char *id, size_t len)
{
    struct done_row key = { .state = ROW_EMPTY };
    if (o->count + 1 > o->cap / 5 * 4)
        grow_rows(o, o->cap ? o->cap / 2 * 3 : 1000);
    digest_id(id, len, &key);
    struct done_row *row = find_row(o, &key);
    if (!row->state) {
        *row = key;
        o->count++;
    }
    return row;
}

uint64_t *batch_out_slot(struct batch_out *o, const char *id, size_t len)
{
    struct done_row *row = row_of(o, id, len);
    row->state = ROW_SEEN;
    return &row->sum;
}

enum batch_known batch_out_find(struct batch_out *o, const char *id, size_t len,
                                const char sum[17])
{
    struct done_row *row = row_of(o, id, len);
    uint32_t was = row->state;
    uint64_t before = row->sum;
    o->found_error = was == ROW_FINAL || was == ROW_BAD;
    row->state = ROW_SEEN;
    row->sum = read_hex(sum, 16);
    if (was == ROW_SEEN)
        return BATCH_TWICE;
    if (was == ROW_EMPTY || was == ROW_AGAIN ||
        (was == ROW_BAD && before != row->sum)) /* the line was mended */
        return BATCH_NEW;
    return before != row->sum ? BATCH_CHANGED : BATCH_DONE;
}

/* ---------------------------------------------------------------- rows --- */

/* A row as we write it: the id has no escapes, and the end has its form. */
static bool read_fast(const char *line, size_t len, const char **id,
                      size_t *id_len, int *code, uint64_t *sum)
{
    static const char begin[] = "{\"id\":\"", mark[] = "\"exit_code\":";
    enum { TAIL = 26 }; /* ,"sum":"0123456789abcdef"} */
    if (len < 60 || memcmp(line, begin, sizeof begin - 1) != 0 ||
        memcmp(line + len - TAIL, ",\"sum\":\"", 8) != 0 ||
        memcmp(line + len - 2, "\"}", 2) != 0)
        return false;
    *id = line + sizeof begin - 1;
    *id_len = strcspn(*id, "\"\\");
    const char *at = line + len - TAIL - 1; /* the last digit */
    while (at > line && *at >= '0' && *at <= '9')
        at--;
    size_t n = sizeof mark - 1;
    if ((*id)[*id_len] != '"' || (size_t)(at + 1 - line) < n ||
        memcmp(at + 1 - n, mark, n) != 0)
        return false;
    *code = (int)strtol(at + 1, NULL, 10);
    *sum = read_hex(line + len - TAIL + 8, 16);
    return true;
}

static void add_row(struct batch_out *o, const char *id, size_t len, int code,
                    bool length, uint64_t sum)
{
    struct done_row *row = row_of(o, id, len);
    row->state = code == END_DONE                   ? ROW_DONE
                 : code == END_USAGE                ? ROW_BAD
                 : batch_out_is_final(code, length) ? ROW_FINAL
                                                    : ROW_AGAIN;
    row->sum = sum;
    o->ok += code == END_DONE;
}

static bool reached_length(const allm_json *row)
{
    const allm_json *reason = allm_json_get(row, "finish_reason");
    if (!reason) /* --openai */
        reason = allm_json_pointer(row,
                                   "/response/body/choices/0/finish_reason");
    const char *why = allm_json_text(reason, NULL);
    return why && !strcmp(why, "length");
}

/* Add a line of OUT; false: it is not a row of ours. */
static bool add_line(struct batch_out *o, const char *line, size_t len)
{
    const char *id;
    size_t id_len;
    int code;
    uint64_t sum;
    if (read_fast(line, len, &id, &id_len, &code, &sum) &&
        code != END_TRUNCATED) {
        add_row(o, id, id_len, code, false, sum);
        return true;
    }
    int64_t number = -1;
    allm_json *row = allm_json_parse(line, len, NULL);
    id = allm_json_text(allm_json_get(row, "id"), &id_len);
    const char *hex = member_read(row, "sum");
    bool ok = id && hex &&
              allm_json_int64(allm_json_get(row, "exit_code"), &number);
    if (ok)
        add_row(o, id, id_len, (int)number, reached_length(row),
                strlen(hex) == 16 ? read_hex(hex, 16) : 0);
    allm_json_free(row);
    return ok;
}

/* ---------------------------------------------------------------- file --- */

static int reject_out(const struct batch_out *o, const char *why)
{
    return print_misuse("cannot use %s: %s", o->path, why);
}

static int reject_line(const struct batch_out *o)
{
    return reject_out(o, "it has a line that is not a row of a batch; name "
                         "another file");
}

/* Add the complete lines, and remove them; the first `seen` bytes have no line
 * feed. */
static int add_lines(struct batch_out *o, struct bytes *all, size_t seen,
                     uint64_t *whole)
{
    const char *from = bytes_string(all), *feed;
    size_t left = all->len;
    while ((feed = memchr(from + seen, '\n', left - seen))) {
        size_t len = (size_t)(feed - from);
        if (len && !add_line(o, from, len))
            return reject_line(o);
        seen = 0;
        from += len + 1;
        left -= len + 1;
        *whole += len + 1;
    }
    bytes_skip(all, all->len - left);
    return END_DONE;
}

/* May this be the beginning of a row?  After a crash of the machine the bytes
 * may be NULs. */
static bool may_be_torn(const char *line, size_t len)
{
    static const char begin[] = "{\"id\":";
    size_t n = len < sizeof begin - 1 ? len : sizeof begin - 1;
    return !len || !*line || !memcmp(line, begin, n);
}

/* Add all complete lines; *whole is where they end. */
static int read_rows(struct batch_out *o, uint64_t *whole)
{
    struct bytes all = { NULL, 0, 0 };
    char piece[65536];
    ssize_t n = 0;
    int code = END_DONE;
    while (code == END_DONE && (n = read(o->fd, piece, sizeof piece)) > 0) {
        size_t seen = all.len;
        bytes_add(&all, piece, (size_t)n);
        code = add_lines(o, &all, seen, whole);
    }
    if (n < 0)
        code = reject_out(o, strerror(errno));
    else if (code == END_DONE && !*whole && !may_be_torn(all.ptr, all.len))
        code = reject_line(o);
    bytes_release(&all);
    return code;
}

/* A lower bound of the rows, so that the table need not grow often. */
static void make_room(struct batch_out *o, uint64_t size)
{
    enum { TYPICAL = 256 }; /* bytes of a row */
    grow_rows(o, (size_t)(size / TYPICAL * 5 / 4) + 1000);
}

static int load_out(struct batch_out *o, uint64_t size)
{
    uint64_t whole = 0;
    make_room(o, size);
    int code = read_rows(o, &whole);
    if (code == END_DONE && whole < size) {
        print_note("%s: an incomplete last line is cut off", o->path);
        if (ftruncate(o->fd, (off_t)whole))
            return reject_out(o, strerror(errno));
    }
    return code;
}

int batch_out_open(struct batch_out *o, const char *path, int in)
{
    struct stat out, input;
    *o = (struct batch_out){ .fd = STDOUT_FILENO, .path = path };
    if (path && !strcmp(path, "-"))
        o->path = NULL;
    if (!o->path)
        return END_DONE;
    o->fd = open(o->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (o->fd < 0)
        return reject_out(o, strerror(errno));
    bool locked = flock(o->fd, LOCK_EX | LOCK_NB) != 0;
    if (fstat(o->fd, &out) || (in >= 0 && fstat(in, &input)))
        return reject_out(o, strerror(errno));
    if (in >= 0 && out.st_dev == input.st_dev && out.st_ino == input.st_ino)
        return reject_out(o, "it is the input; name another file");
    if (locked || !out.st_nlink) { /* tidy has replaced it meanwhile */
        print_fault("%s is locked: another batch writes to it", o->path);
        return END_SESSION;
    }
    if (!S_ISREG(out.st_mode))
        return END_DONE;
    return load_out(o, (uint64_t)out.st_size);
}

/* Report a failure to write, once. */
static bool fail_out(struct batch_out *o, int error)
{
    if (!o->code && error != EPIPE)
        print_fault("cannot write to %s: %s; make room, and run the same "
                    "command again to continue",
                    o->path ? o->path : "standard output", strerror(error));
    if (!o->code)
        o->code = error == EPIPE ? END_SIGNAL + SIGPIPE
                  : o->path      ? END_USAGE
                                 : END_FAILED;
    return false;
}

/* A file that cannot be synced, such as a pipe, is none of ours. */
static bool sync_out(struct batch_out *o)
{
    o->unsynced = false;
    if (o->first_fd && fdatasync(o->first_fd))
        return fail_out(o, errno);
    if (!fdatasync(o->fd) || errno == EINVAL || errno == ENOTSUP)
        return true;
    return fail_out(o, errno);
}

bool batch_out_close(struct batch_out *o)
{
    bool ok = !o->code;
    if (o->path && o->fd >= 0) {
        if (o->unsynced)
            ok = sync_out(o) && ok;
        close(o->fd);
        o->fd = -1;
    }
    term_free(o->rows);
    o->rows = NULL;
    return ok;
}

bool batch_out_write(struct batch_out *o, const char *row, size_t len)
{
    int error = 0;
    if (o->code)
        return false; /* after a torn line, nothing more may be appended */
    if (o->path) {
        ssize_t n = write(o->fd, row, len);
        error = n < 0 ? errno : (size_t)n < len ? ENOSPC : 0;
    } else {
        error = output_write(o->fd, row, len);
    }
    o->unsynced = true;
    return !error || fail_out(o, error);
}

bool batch_out_sync(struct batch_out *o, int64_t now_ms)
{
    if (!o->path || !o->unsynced || now_ms - o->synced_ms < 1000)
        return true;
    o->synced_ms = now_ms;
    return sync_out(o);
}
