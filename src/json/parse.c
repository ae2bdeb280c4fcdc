/* parse.c - the public entry point of the reader, and its limits */
#include "json/parse.h"

#include "base/caller_struct.h"
#include "base/status.h"
#include "json/comments.h"
#include "json/json.h"
#include "json/read.h"

enum { MAX_BYTES = 256 * 1024 * 1024, MAX_DEPTH = 128, SMALL = 64 * 1024 };

bool json_limits_from(struct json_limits *out, const allm_json_opts *given)
{
    const uint32_t known = ALLM_JSON_DUPLICATES | ALLM_JSON_PRETTY |
                           ALLM_JSON_COMMENTS;
    *out = (struct json_limits){ .max_bytes = MAX_BYTES,
                                  .max_depth = MAX_DEPTH };
    allm_json_opts opts;
    bool fits = caller_struct_take(&opts, sizeof opts, given);
    if (opts.max_bytes)
        out->max_bytes = opts.max_bytes;
    if (opts.max_depth)
        out->max_depth = opts.max_depth;
    out->duplicates = (opts.flags & ALLM_JSON_DUPLICATES) != 0;
    out->comments = (opts.flags & ALLM_JSON_COMMENTS) != 0;
    return fits && !(opts.flags & ~known);
}

static struct fault too_large(void)
{
    return (struct fault){
        .word = "too_large",
        .detail = "document",
        .what = "the document is longer than max_bytes allows",
        .advice = "send less, or raise max_bytes in allm_json_opts",
    };
}

const allm_json *json_partial(struct arena *a, struct slice text,
                              struct json_limits limits, bool *complete,
                              const allm_error **error)
{
    struct fault fault;
    struct reading r;
    read_init(&r, a, text, &fault);
    r.max_depth = limits.max_depth;
    r.duplicates = limits.duplicates || limits.loose;
    r.loose = limits.loose;
    r.partial = complete != NULL;
    bool ok = text.len <= limits.max_bytes;
    if (!ok)
        fault = too_large();
    else
        ok = read_document(&r);
    if (complete)
        *complete = ok && !r.cut;
    if (error)
        *error = ok            ? NULL
                 : r.no_memory ? status_nomem()
                               : where_error(a, text, &fault);
    return ok && r.next > r.vals + 1 ? val_json(r.vals + 1) : NULL;
}

const allm_json *json_parse(struct arena *a, struct slice text,
                            struct json_limits limits, const allm_error **error)
{
    if (limits.comments && text.len <= limits.max_bytes) {
        text = comments_blank(a, text);
        if (!text.ptr && error)
            *error = status_nomem();
        if (!text.ptr)
            return NULL;
    }
    return json_partial(a, text, limits, NULL, error);
}

const allm_json *json_parse_strict(struct arena *a, struct slice text,
                                   const allm_error **error)
{
    const struct json_limits strict = { .max_bytes = MAX_BYTES,
                                        .max_depth = MAX_DEPTH };
    return json_partial(a, text, strict, NULL, error);
}

const allm_json *json_parse_loose(struct arena *a, struct slice text,
                                  const allm_error **error)
{
    const struct json_limits loose = { .max_bytes = MAX_BYTES,
                                       .max_depth = MAX_DEPTH,
                                       .loose = true };
    return json_partial(a, text, loose, NULL, error);
}

/* The number of values and keys of a document without white space: each but
 * the first follows a comma, a colon or an opening bracket. */
static size_t count_values(struct slice text)
{
    size_t n = 1;
    bool quoted = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (quoted) {
            i += c == '\\';
            quoted = c != '"';
        } else if (c == '[' || c == '{') {
            n += text.ptr[i + 1] != c + 2;      /* not for [] and {} */
        } else {
            quoted = c == '"';
            n += c == ',' || c == ':';
        }
    }
    return n;
}

const char *json_too_much(struct slice text)
{
    if (text.len > MAX_BYTES)
        return "268,435,456 bytes";
    if (text.len / 2 >= READ_MOST_VALUES &&  /* each has a byte and a comma */
        count_values(text) > READ_MOST_VALUES)
        return "16,777,216 values and keys";
    return NULL;
}

/* An estimate of the bytes that a document of this length needs: the copy and,
 * if it is small, the values, so one allocation is enough. */
static size_t guess_size(size_t len, size_t limit)
{
    if (len > limit)
        return 1024;
    size_t values = len / 6 + 16;
    return len + 64 + (len < SMALL ? values * sizeof(yyjson_val) : 0);
}

static const allm_error *misuse_error(struct arena *a, const char *text)
{
    return status_error(
        a, ALLM_ERR_MISUSE, "misuse", "%s",
        text ? "allm_json_opts has no size or an unknown flag; fill it in "
               "with ALLM(json_opts, ...)"
             : "the JSON text is NULL; pass a string");
}

allm_json *allm_json_parse(const char *text, size_t len,
                           const allm_json_opts *opts)
{
    struct json_limits limits;
    bool ok = json_limits_from(&limits, opts) && text;
    struct slice s = slice_given(text, len);
    allm_json_opts mine;
    caller_struct_take(&mine, sizeof mine, opts);
    struct mem mem = mem_from(mine.allocator);
    struct allm_home *h = home_new(mem, guess_size(s.len, limits.max_bytes));
    if (!h)
        return NULL;
    const allm_error *error = NULL;
    const allm_json *v = NULL;
    if (ok)
        v = json_parse(home_arena(h), s, limits, &error);
    else
        error = misuse_error(home_arena(h), text);
    return json_root_of(h, v, error);
}
