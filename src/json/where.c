/*
 * where.c - explain why a text was rejected: position, path, advice
 *
 * The reader knows only an offset.  After a failure we go through the text
 * again, slowly, and keep track of the path:
 *
 *      {"a": [1, {"b": x         frames: {key a} [index 1] {key b}
 *                      ^         path:   /a/1/b
 */
#include "json/where.h"

#include "base/buf.h"
#include "base/status.h"
#include "base/utf8.h"
#include "json/build.h"
#include "json/pointer.h"
#include "json/scan.h"
#include "json/val.h"

enum { DEEPEST = 128, PATH_LIMIT = 64 * 1024, SHOWN = 120 };

struct frame {
    bool object;
    bool has_key;               /* of the current member */
    struct slice key;           /* as in the text, quotes included */
    size_t index;
};

struct track {                  /* the path to a position */
    struct frame frames[DEEPEST];
    size_t depth;               /* may exceed the number of frames */
};

static struct frame *innermost(struct track *t)
{
    if (t->depth == 0 || t->depth > DEEPEST)
        return NULL;
    return &t->frames[t->depth - 1];
}

static void enter_level(struct track *t, bool object)
{
    t->depth++;
    struct frame *f = innermost(t);
    if (f)
        *f = (struct frame){ .object = object };
}

static void next_member(struct track *t)
{
    struct frame *f = innermost(t);
    if (!f)
        return;
    f->has_key = false;
    f->index++;
}

static void pass_text(struct track *t, struct slice text)
{
    struct frame *f = innermost(t);
    if (!f || !f->object || f->has_key)
        return;
    f->has_key = true;
    f->key = text;
}

/* Follow the text, which ends at the position. */
static void follow_text(struct track *t, struct slice text)
{
    t->depth = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '"') {
            size_t len = scan_quoted(slice_skip(text, i));
            if (!len)
                return;
            pass_text(t, (struct slice){ text.ptr + i, len });
            i += len - 1;
        } else if (c == '{' || c == '[') {
            enter_level(t, c == '{');
        } else if ((c == '}' || c == ']') && t->depth) {
            t->depth--;
        } else if (c == ',') {
            next_member(t);
        }
    }
}

/* Add a key as it is in the text, with its escapes. */
static void add_key(struct buf *path, struct arena *a, struct slice key)
{
    yyjson_alc alc = val_allocator(a);
    char *copy = arena_alloc(a, key.len + YYJSON_PADDING_SIZE);
    if (!copy) {
        path->broken = true;
        return;
    }
    memcpy(copy, key.ptr, key.len);
    memset(copy + key.len, 0, YYJSON_PADDING_SIZE);
    yyjson_read_err why;
    yyjson_doc *doc = yyjson_read_opts(copy, key.len, YYJSON_READ_INSITU, &alc,
                                       &why);
    if (doc)
        pointer_add_key(path, val_slice(doc->root));
    else if (why.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        path->broken = true;
    else                        /* odd, but it was accepted */
        pointer_add_key(path, (struct slice){ key.ptr + 1, key.len - 2 });
}

static bool make_path(struct arena *a, const struct track *t,
                      struct slice *path)
{
    struct buf out = buf_in(a, PATH_LIMIT);
    for (size_t i = 0; i < t->depth && i < DEEPEST; i++) {
        const struct frame *f = &t->frames[i];
        size_t whole = out.len;
        if (!f->object)
            pointer_add_index(&out, f->index);
        else if (f->has_key)
            add_key(&out, a, f->key);
        if (out.over) {         /* a part of a path is a path */
            out.len = whole;
            out.ptr[whole] = '\0';
            break;
        }
    }
    *path = buf_slice(&out);
    return !out.broken || out.over;
}

bool where_find(struct arena *a, struct slice text, size_t offset,
                struct where *out)
{
    struct track t;
    size_t line_start = 0;
    text.len = offset < text.len ? offset : text.len;
    *out = (struct where){ .line = 1 };
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\n') {
            out->line++;
            line_start = i + 1;
        }
    }
    out->column = 1 + utf8_count(slice_skip(text, line_start));
    follow_text(&t, text);
    return make_path(a, &t, &out->path);
}

/* ---------------------------------------------------------- the error --- */

/* What was found: the character at the position, in words. */
static void add_found(struct buf *out, struct slice text, size_t offset)
{
    buf_text(out, ", found ");
    if (offset >= text.len) {
        buf_text(out, "the end of the text");
        return;
    }
    struct slice rest = slice_skip(text, offset);
    uint32_t point;
    if (!utf8_take(&rest, &point))
        buf_format(out, "byte 0x%02X",
                   (unsigned)(unsigned char)text.ptr[offset]);
    else if (point > ' ' && point < 0x7F)
        buf_format(out, "'%c'", (int)point);
    else
        buf_format(out, "U+%04X", (unsigned)point);
}

/* A path or name, shortened for people. */
static void add_short(struct buf *out, struct slice text)
{
    bool cut = text.len > SHOWN;
    if (cut) {
        text.len = SHOWN;
        text.len -= utf8_unfinished(text);
    }
    buf_add(out, text);
    if (cut)
        buf_text(out, "...");
}

static const char *make_message(struct arena *a, struct slice text,
                                const struct fault *fault,
                                const struct where *at)
{
    struct buf out = buf_in(a, PATH_LIMIT);
    buf_format(&out, "the JSON text was refused: %s", fault->what);
    if (fault->name.ptr) {
        buf_text(&out, " (\"");
        add_short(&out, fault->name);
        buf_text(&out, "\")");
    }
    if (fault->expected)
        add_found(&out, text, fault->offset);
    buf_format(&out, " at line %zu, column %zu", at->line, at->column);
    if (at->path.len) {
        buf_text(&out, " (path ");
        add_short(&out, at->path);
        buf_text(&out, ")");
    }
    buf_format(&out, "; %s", fault->advice);
    return out.broken ? NULL : out.ptr;
}

static const allm_json *make_metadata(struct arena *a,
                                      const struct fault *fault,
                                      const struct where *at)
{
    struct build b = build_object_in(a);
    build_uint_at(&b, "offset", fault->offset);
    build_uint_at(&b, "line", at->line);
    build_uint_at(&b, "column", at->column);
    build_text_at(&b, "path", at->path);
    build_text_at(&b, "detail", slice_of(fault->detail));
    return build_finish(&b);
}

/* [["json", word]] */
static const allm_json *make_errors(struct arena *a, const char *word)
{
    struct build b = build_array_in(a);
    build_array(&b);
    build_text(&b, SLICE("json"));
    build_text(&b, slice_of(word));
    build_end(&b);
    return build_finish(&b);
}

const allm_error *where_error(struct arena *a, struct slice text,
                              const struct fault *fault)
{
    struct where at;
    if (!where_find(a, text, fault->offset, &at))
        return status_nomem();
    allm_error *e = arena_alloc(a, sizeof *e);
    const char *message = make_message(a, text, fault, &at);
    const allm_json *errors = make_errors(a, fault->word);
    const allm_json *metadata = make_metadata(a, fault, &at);
    if (!e || !message || !errors || !metadata)
        return status_nomem();
    *e = status_blank(ALLM_ERR_VALIDATION);
    e->reason = "invalid_request";
    e->message = message;
    e->errors = errors;
    e->metadata = metadata;
    return e;
}
