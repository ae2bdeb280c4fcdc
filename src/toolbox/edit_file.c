/*
 * edit_file.c - the tools edit_file and multi_edit
 *
 *      text --edit--> text --edit--> text --> written, if all edits succeeded
 *
 * An edit that fails says what would make it succeed: the lines where the old
 * text is, if there are several, or the lines that resemble it most.
 */
#define _GNU_SOURCE             /* searches in memory */
#include "toolbox/builtin.h"
#include "toolbox/lines.h"
#include "toolbox/similar.h"
#include "json/json.h"

#include <errno.h>

enum { FILE_MOST = 64 << 20, PLACES_SHOWN = 20, AROUND = 3, COLUMNS = 200,
       DIFFS_SHOWN = 5, DIFF_LINES = 40 };

struct edit {
    struct builtin_call *call;
    const char *path;
    struct slice text;          /* of the file, as edited so far */
    struct slice old, new;
    bool all;
    size_t index, count;        /* of this edit, from 1; count 0: only one */
    size_t diffs;               /* shown so far */
};

static const char *find_text(struct slice in, struct slice what)
{
    return memmem(in.ptr, in.len, what.ptr, what.len);
}

static size_t count_matches(struct slice text, struct slice what)
{
    size_t n = 0;
    for (const char *at; (at = find_text(text, what)); n++)
        text = slice_skip(text, (size_t)(at - text.ptr) + what.len);
    return n;
}

static size_t line_of(struct slice text, const char *at)
{
    return 1 + lines_ends((struct slice){ text.ptr, (size_t)(at - text.ptr) });
}

/* ------------------------------------------------------------- failures --- */

static void begin_failure(const struct edit *e, struct buf *b)
{
    buf_init(b, &e->call->arena, 16 * 1024);
    if (e->count)
        buf_format(b, "edit %zu of %zu: ", e->index, e->count);
}

static bool end_failure(const struct edit *e, struct buf *b)
{
    if (e->count)
        buf_text(b, "\nNothing was changed.");
    builtin_fail(e->call, "%s", b->broken ? "the edit failed" : b->ptr);
    return false;
}

static bool fail_many(const struct edit *e, size_t count)
{
    struct buf b;
    struct slice rest = e->text;
    begin_failure(e, &b);
    buf_format(&b, "old_text is in %s %zu times, in the lines ", e->path,
               count);
    for (size_t i = 0; i < count && i < PLACES_SHOWN; i++) {
        const char *at = find_text(rest, e->old);
        buf_format(&b, "%s%zu", i ? ", " : "", line_of(e->text, at));
        rest = slice_skip(rest, (size_t)(at - rest.ptr) + e->old.len);
    }
    buf_format(&b, "%s; add lines around it until it is unique%s",
               count > PLACES_SHOWN ? ", ..." : "",
               e->count ? "" : ", or set all to replace every one");
    return end_failure(e, &b);
}

static bool fail_none(const struct edit *e)
{
    struct buf b;
    begin_failure(e, &b);
    buf_format(&b, "old_text is not in %s", e->path);
    bool crlf = find_text(e->text, SLICE("\r\n")) &&
                !find_text(e->old, SLICE("\r\n")) &&
                memchr(e->old.ptr, '\n', e->old.len);
    if (crlf)
        buf_text(&b, ", whose lines end with CR LF");
    struct similar s = similar_lines(&e->call->arena, e->text, e->old);
    if (s.count)
        buf_text(&b, "; these lines resemble it most:\n");
    struct slice rest = s.text;
    for (size_t i = 0; i < s.count; i++) {
        buf_format(&b, "%6zu\t", s.line + i);
        lines_add(&b, slice_take(&rest, '\n'), COLUMNS);
        buf_byte(&b, '\n');
    }
    buf_text(&b, s.count ? "Copy the text exactly, with its spaces."
                         : "; read the file first");
    return end_failure(e, &b);
}

/* --------------------------------------------------------------- a diff --- */

/* The lines of a text that contain [from, to). */
static struct slice whole_lines(struct slice text, size_t from, size_t to)
{
    while (from && text.ptr[from - 1] != '\n')
        from--;
    if (to > from && text.ptr[to - 1] == '\n')
        to--;
    while (to < text.len && text.ptr[to] != '\n')
        to++;
    return (struct slice){ text.ptr + from, to - from };
}

static void add_marked(struct buf *out, char mark, struct slice lines,
                       size_t most)
{
    for (size_t i = 0; lines.len; i++) {
        if (i == most) {
            buf_format(out, "%c ... %zu more lines\n", mark,
                       lines_count(lines));
            return;
        }
        buf_byte(out, mark);
        lines_add(out, lines_bare(slice_take(&lines, '\n')), COLUMNS);
        buf_byte(out, '\n');
    }
}

/* Up to AROUND lines before and after the lines. */
static struct slice lines_before(struct slice text, const char *at)
{
    size_t from = (size_t)(at - text.ptr), end = from;
    for (size_t n = 0; from && n <= AROUND; from--)
        if (text.ptr[from - 1] == '\n' && n++ == AROUND)
            break;
    return (struct slice){ text.ptr + from, end - from };
}

static struct slice lines_after(struct slice text, const char *at)
{
    size_t from = (size_t)(at - text.ptr);
    from += from < text.len;    /* the LF of the last line */
    size_t to = from;
    for (size_t n = 0; to < text.len && n < AROUND; to++)
        n += text.ptr[to] == '\n';
    return (struct slice){ text.ptr + from, to - from };
}

/* The edit of one place: `at` in the old text and in the new one. */
static void add_diff(struct edit *e, struct slice before, size_t old_at,
                     struct slice after, size_t new_at)
{
    struct buf *out = &e->call->out;
    struct slice was = whole_lines(before, old_at, old_at + e->old.len);
    struct slice is = whole_lines(after, new_at, new_at + e->new.len);
    if (e->diffs++ >= DIFFS_SHOWN)
        return;
    buf_format(out, "@@ line %zu @@\n", line_of(after, is.ptr));
    add_marked(out, ' ', lines_before(after, is.ptr), AROUND);
    add_marked(out, '-', was, DIFF_LINES);
    add_marked(out, '+', is, DIFF_LINES);
    add_marked(out, ' ', lines_after(after, is.ptr + is.len), AROUND);
}

/* -------------------------------------------------------------- editing --- */

/* Replace every match; the places are in *at, in pairs of old and new. */
static struct slice replace_matches(struct edit *e, size_t count, size_t *at)
{
    struct slice rest = e->text;
    struct buf b = buf_in(&e->call->arena, SIZE_MAX / 2);
    for (size_t i = 0; i < count; i++) {
        const char *hit = find_text(rest, e->old);
        size_t skip = (size_t)(hit - rest.ptr);
        buf_add(&b, (struct slice){ rest.ptr, skip });
        *at++ = (size_t)(hit - e->text.ptr);
        *at++ = b.len;
        buf_add(&b, e->new);
        rest = slice_skip(rest, skip + e->old.len);
    }
    buf_add(&b, rest);
    return b.broken ? (struct slice){ NULL, 0 } : buf_slice(&b);
}

static bool fail_edit(const struct edit *e, const char *why)
{
    struct buf b;
    begin_failure(e, &b);
    buf_text(&b, why);
    return end_failure(e, &b);
}

/* False: the call was answered. */
static bool apply_edit(struct edit *e)
{
    if (!e->old.len)
        return fail_edit(e, "old_text is empty; write_file and append_to_file "
                            "add text");
    if (slice_eq(e->old, e->new))
        return fail_edit(e, "old_text and new_text are the same");
    size_t count = count_matches(e->text, e->old);
    if (!count)
        return fail_none(e);
    if (count > 1 && !e->all)
        return fail_many(e, count);
    size_t *at = arena_alloc(&e->call->arena, 2 * count * sizeof *at);
    struct slice before = e->text, after = { NULL, 0 };
    if (at)
        after = replace_matches(e, count, at);
    if (!after.ptr) {
        builtin_path_fault(e->call, e->path, ENOMEM);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        add_diff(e, before, at[2 * i], after, at[2 * i + 1]);
    e->text = after;
    return true;
}

/* Read the file; false: the call was answered. */
static bool begin_edit(struct edit *e, struct builtin_call *c)
{
    *e = (struct edit){ .call = c, .path = builtin_text(c, "path", "") };
    int error = root_read(&c->root, &c->arena, e->path, FILE_MOST, &e->text,
                          NULL);
    if (error == ENOENT)
        builtin_fail(c, "there is no file %s; write_file creates files",
                     e->path);
    else if (error == EFBIG)
        builtin_fail(c, "%s is larger than 64 MiB; use bash", e->path);
    else if (error)
        builtin_path_fault(c, e->path, error);
    return !error;
}

static void end_edit(struct edit *e)
{
    struct builtin_call *c = e->call;
    uint64_t size;
    bool created;
    int error = root_write(&c->root, &c->arena, e->path, e->text, ROOT_REPLACE,
                           &size, &created);
    if (e->diffs > DIFFS_SHOWN)
        buf_format(&c->out, "[%zu more changes]\n", e->diffs - DIFFS_SHOWN);
    if (error)
        builtin_path_fault(c, e->path, error);
    else
        builtin_answer(c);
}

void edit_file_run(struct builtin_call *c)
{
    struct edit e;
    if (!begin_edit(&e, c))
        return;
    e.old = json_text_at(c->args, "old_text");
    e.new = json_text_at(c->args, "new_text");
    e.all = builtin_switch(c, "all");
    if (apply_edit(&e))
        end_edit(&e);
}

void multi_edit_run(struct builtin_call *c)
{
    struct edit e;
    const allm_json *edits = json_at(c->args, "edits"), *one = NULL;
    if (!begin_edit(&e, c))
        return;
    e.count = allm_json_count(edits);
    while ((one = allm_json_next(edits, one))) {
        e.index++;
        e.old = json_text_at(one, "old_text");
        e.new = json_text_at(one, "new_text");
        if (!apply_edit(&e))
            return;
    }
    end_edit(&e);
}
