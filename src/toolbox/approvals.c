/*
 * approvals.c - the file approvals.json: rules that were added by answers
 *
 *      // a comment stays where it is
 *      [
 *        {
 *          "tool": "write_file",
 *          "reach": ["write /srv/project"],
 *          "verdict": "auto",
 *          "date": "2026-11-18"
 *        }
 *      ]
 *
 * Invariants
 *   (1) A file that cannot be read is never replaced.
 *   (2) Between reading and writing, the lock of the file is held: no rule of
 *       another process is lost.
 */
#include "toolbox/approvals.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/status.h"
#include "json/comments.h"
#include "json/json.h"
#include "json/parse.h"
#include "json/span.h"
#include "json/write.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MOST = 1 << 20, LOCK_WAIT_MS = 5000, LOCK_STEP_MS = 2 };

void approvals_init(struct approvals *f, struct mem mem, const char *path)
{
    *f = (struct approvals){ .path = path };
    arena_init(&f->memory, mem);
}

void approvals_release(struct approvals *f)
{
    arena_release(&f->memory);
}

/* ------------------------------------------------------------- reading --- */

static const allm_error *approvals_fault(struct arena *a, const char *path,
                                         const char *what)
{
    return status_error(a, ALLM_ERR_VALIDATION, "invalid_approvals",
                        "the file of approvals %s %s", path, what);
}

static const allm_error *errno_fault(struct arena *a, const char *path,
                                     const char *verb, int error)
{
    if (error == ENOMEM)
        return status_nomem();
    return status_error(a, ALLM_ERR_VALIDATION, "invalid_approvals",
                        "the file of approvals %s cannot be %s: %s", path, verb,
                        file_error_words(error));
}

/* Only its owner may read it, and that is this user. */
static const allm_error *check_owner(struct arena *a, const char *path,
                                     const struct stat *st)
{
    if (st->st_uid != geteuid())
        return approvals_fault(a, path,
                               "belongs to another user; remove it, or make it "
                               "yours with chown");
    if (st->st_mode & 077)
        return approvals_fault(a, path,
                               "can be read or changed by other users; look at "
                               "its rules, then run chmod 600");
    return NULL;
}

/* The text, and its value with the positions of the text. */
struct approvals_text {
    struct slice text;
    const allm_json *list;
};

static const allm_error *parse_approvals(struct arena *a, const char *path,
                                         struct approvals_text *file)
{
    struct json_limits limits;
    const allm_error *error = NULL;
    json_limits_from(&limits, NULL);
    limits.comments = true;
    file->list = json_parse(a, file->text, limits, &error);
    if (file->list || error->kind == ALLM_ERR_NOMEM)
        return file->list ? NULL : error;
    return status_error(a, ALLM_ERR_VALIDATION, "invalid_approvals",
                        "the file of approvals %s is not valid: %s; correct "
                        "it, or remove it",
                        path, error->message);
}

/* A file that does not exist has the text "". */
static const allm_error *read_approvals(struct arena *a, const char *path,
                                        struct approvals_text *out)
{
    struct stat st;
    *out = (struct approvals_text){ .text = SLICE(""),
                                    .list = json_empty_array() };
    if (stat(path, &st))
        return errno == ENOENT ? NULL : errno_fault(a, path, "read", errno);
    const allm_error *error = check_owner(a, path, &st);
    if (error)
        return error;
    int failed = file_read_regular(a, path, FILE_MOST, &out->text);
    return failed ? errno_fault(a, path, "read", failed)
                  : parse_approvals(a, path, out);
}

static struct approvals_mark mark_of(const char *path)
{
    struct stat st;
    struct approvals_mark none = { 0 };
    if (stat(path, &st))
        return none;
    return (struct approvals_mark){
        .device = (uint64_t)st.st_dev,
        .file = (uint64_t)st.st_ino,
        .size = (uint64_t)st.st_size,
        .changed_ns = (int64_t)st.st_ctim.tv_sec * 1000000000 +
                      st.st_ctim.tv_nsec,
    };
}

static bool same_mark(struct approvals_mark x, struct approvals_mark y)
{
    return x.device == y.device && x.file == y.file && x.size == y.size &&
           x.changed_ns == y.changed_ns;
}

static const allm_error *read_stored(struct approvals *f, struct rules *r)
{
    struct approvals_text file;
    r->first[RULES_STORED] = NULL;
    arena_reset(&f->memory);
    f->memory.broken = false;
    const allm_error *error = read_approvals(&f->memory, f->path, &file);
    if (!error)
        error = rules_read_level(r, &f->memory, RULES_STORED, f->path,
                                 file.list);
    if (error)
        r->first[RULES_STORED] = NULL;
    return error;
}

const allm_error *approvals_refresh(struct approvals *f, struct rules *r)
{
    if (!f->path)
        return NULL;
    struct approvals_mark now = mark_of(f->path);
    if (same_mark(now, f->mark) && f->error != status_nomem())
        return f->error;
    f->mark = now;
    f->error = read_stored(f, r);
    return f->error;
}

/* ------------------------------------------------------------- changing --- */

static void write_words(struct buf *out, const allm_json *list)
{
    const char *before = "[";
    if (!allm_json_count(list))
        buf_text(out, before);
    for (const allm_json *w = NULL; (w = allm_json_next(list, w));) {
        buf_text(out, before);
        json_write_text(out, json_slice(w));
        before = ", ";
    }
    buf_text(out, "]");
}

static void write_rule(struct buf *out, const struct rule *r)
{
    buf_text(out, "\n  {\n    \"tool\": ");
    json_write_text(out, slice_of(r->tool));
    if (r->reach) {
        buf_text(out, ",\n    \"reach\": ");
        write_words(out, r->reach);
    }
    buf_format(out, ",\n    \"verdict\": \"%s\"",
               rules_verdict_word(r->verdict));
    if (r->date)
        buf_format(out, ",\n    \"date\": \"%s\"", r->date);
    buf_text(out, "\n  }");
}

static void insert_rule(struct buf *out, struct slice plain,
                        const struct approvals_text *file,
                        const struct rule *rule)
{
    size_t at = 0;
    while (at < plain.len && plain.ptr[at] != '[')
        at++;
    if (at == plain.len) {      /* there is no file */
        buf_text(out, "[");
        write_rule(out, rule);
        buf_text(out, "\n]\n");
        return;
    }
    buf_add(out, (struct slice){ file->text.ptr, at + 1 });
    write_rule(out, rule);
    buf_text(out, allm_json_count(file->list) ? "," : "\n");
    buf_add(out, slice_skip(file->text, at + 1));
}

/* The text without [from, to), the line's own indentation, and the comma. */
static void cut_rule(struct buf *out, struct slice plain, struct slice text,
                     size_t from, size_t to)
{
    size_t after = to, before = from, line = from;
    while (after < plain.len && slice_space(plain.ptr[after]))
        after++;
    while (before && slice_space(plain.ptr[before - 1]))
        before--;
    while (line && slice_space(text.ptr[line - 1]) && text.ptr[line] != '\n')
        line--;
    bool comma = after < plain.len && plain.ptr[after] == ',';
    bool earlier = !comma && before && plain.ptr[before - 1] == ',';
    buf_add(out, (struct slice){ text.ptr, earlier ? before - 1 : line });
    if (earlier)                /* comments between them stay */
        buf_add(out, (struct slice){ text.ptr + before, line - before });
    buf_add(out, slice_skip(text, comma ? after + 1 : to));
}

static const allm_error *remove_rule(struct buf *out, struct slice plain,
                                     const struct approvals_text *file,
                                     const char *path, uint32_t index)
{
    char pointer[16];
    struct slice at;
    snprintf(pointer, sizeof pointer, "/%u", (unsigned)index - 1);
    if (!index || !span_find(plain, file->list, slice_of(pointer), &at))
        return status_error(out->arena, ALLM_ERR_VALIDATION, "unknown_rule",
                            "there is no rule %u in %s; allm_toolbox_rules() "
                            "lists them",
                            (unsigned)index, path);
    size_t from = (size_t)(at.ptr - plain.ptr);
    cut_rule(out, plain, file->text, from, from + at.len);
    return NULL;
}

/* Make the folders of a path; what fails is found when the file is written. */
static void make_folders(const char *path)
{
    char folder[PATH_MAX];
    size_t n = strlen(path);
    if (n >= sizeof folder)
        return;
    memcpy(folder, path, n + 1);
    for (size_t i = 1; i < n; i++)
        if (folder[i] == '/') {
            folder[i] = 0;
            mkdir(folder, 0700);
            folder[i] = '/';
        }
}

/* Another process holds it for a moment only. */
static int await_lock(struct lock *l, struct mem mem, const char *path)
{
    int error = lock_take(l, mem, path);
    for (int ms = 0; error == EWOULDBLOCK && ms < LOCK_WAIT_MS;
         ms += LOCK_STEP_MS) {
        poll(NULL, 0, LOCK_STEP_MS);
        error = lock_take(l, mem, path);
    }
    return error;
}

/* What is changed: `rule` is added, or the one with this index removed. */
struct approvals_change {
    const struct rule *rule;
    uint32_t index;
};

/* The text with the change.  Keeps (1). */
static const allm_error *make_text(struct buf *out, const char *path,
                                   const struct approvals_change *c)
{
    struct arena *a = out->arena;
    struct approvals_text file;
    struct rules valid = { .root = "/" };
    const allm_error *error = read_approvals(a, path, &file);
    if (!error)
        error = rules_read_level(&valid, a, RULES_STORED, path, file.list);
    if (error)
        return error;
    struct slice plain = comments_blank(a, file.text);
    if (!plain.ptr)
        return status_nomem();
    if (!c->rule)
        return remove_rule(out, plain, &file, path, c->index);
    insert_rule(out, plain, &file, c->rule);
    return NULL;
}

static const allm_error *rewrite_file(struct arena *a, const char *path,
                                      const struct approvals_change *c)
{
    struct buf out = buf_in(a, FILE_MOST);
    const allm_error *error = make_text(&out, path, c);
    if (error)
        return error;
    if (out.over)
        return approvals_fault(a, path, "would become too large");
    if (out.broken)
        return status_nomem();
    int failed = file_write_private(a, path, buf_slice(&out));
    return failed ? errno_fault(a, path, "written", failed) : NULL;
}

static const allm_error *rewrite_locked(struct arena *a, const char *path,
                                        const struct approvals_change *c)
{
    struct lock lock;
    make_folders(path);
    int failed = await_lock(&lock, a->mem, path);       /* keeps (2) */
    if (failed == EWOULDBLOCK)
        return approvals_fault(a, path, "is locked by another program");
    if (failed)
        return errno_fault(a, path, "locked", failed);
    const allm_error *error = rewrite_file(a, path, c);
    lock_drop(&lock);
    return error;
}

static const allm_error *change_file(struct approvals *f, struct rules *r,
                                     struct approvals_change c, struct arena *a)
{
    const char *path = NULL;
    if (!f->path)
        return status_error(a, ALLM_ERR_MISUSE, "invalid_option",
                            "the toolbox has no file of approvals; set "
                            "approvals in its options");
    if (file_follow(a, f->path, &path))
        return status_nomem();
    const allm_error *error = rewrite_locked(a, path, &c);
    if (!error)
        approvals_refresh(f, r);
    return error;
}

const allm_error *approvals_add(struct approvals *f, struct rules *r,
                                const struct rule *rule, struct arena *a)
{
    return change_file(f, r, (struct approvals_change){ .rule = rule }, a);
}

const allm_error *approvals_remove(struct approvals *f, struct rules *r,
                                   uint32_t index, struct arena *a)
{
    return change_file(f, r, (struct approvals_change){ .index = index }, a);
}
