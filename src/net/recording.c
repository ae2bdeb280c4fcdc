/*
 * recording.c - the file format of a recording: read and checked
 *
 * A file is a sequence of JSON objects.  Each begins at the beginning of a
 * line; lines that begin with a space, a tab or } continue it.
 *
 *      file      = first, { exchange }
 *      first     = {"allm_recording": 1}           may be repeated later
 *      exchange  = request, [connect], ( refused | [answer], {chunk}, end )
 *      request   = {"request": {"method", "url", "headers",
 *                               "body" | "body_text" | "body_base64"}}
 *      connect   = {"connect_ms": 40}              null: never
 *      refused   = {"refused": error}              open() failed
 *      answer    = {"answer": {"status": 200, "headers", "reused"}}
 *      chunk     = {"ms": 12, "text" | "base64": "..."}
 *      end       = {"ms": 0, "end": "complete" | "closed" | "silent"}
 *                | {"ms": 0, "error": error}
 *      error     = {"kind", "reason", "message", "status", "retry_after_ms"}
 *
 * ms is the time since the previous chunk, or since the exchange was opened.
 * Any object may have a "note".  docs/record-replay.md describes it for users.
 *
 * Invariants
 *   (1) A file with an unknown member is rejected: it may be a typo.
 *   (2) An accepted exchange has steps, of which only the last one ends it, or
 *       it was refused.
 *   (3) A chunk, and the end "complete", has an answer before it.
 */
#include "net/recording.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/status.h"
#include "json/json.h"
#include "json/parse.h"

#include <stdint.h>

enum { DEEPEST = 256, SHOWN = 60 };

struct reading {
    struct arena *arena;
    const char *name;
    struct slice rest;
    size_t next_line;           /* the number of the line where rest begins */
    size_t line;                /* where the current object begins */
    const allm_json *object;
    struct recorded **last;     /* the next exchange is linked here */
    struct recorded *open;      /* the exchange that has not ended */
    size_t room;                /* for its steps */
    bool begun;                 /* the first object was seen */
    const allm_error *error;
};

/* ------------------------------------------------------------- refusing --- */

static bool no_memory(struct reading *r)
{
    r->error = status_nomem();
    return false;
}

__attribute__((format(printf, 2, 3)))
static bool refuse(struct reading *r, const char *format, ...)
{
    va_list args;
    if (r->error)
        return false;
    struct buf why = buf_in(r->arena, 4096);
    va_start(args, format);
    buf_vformat(&why, format, args);
    va_end(args);
    r->error = why.ptr
                   ? status_error(r->arena, ALLM_ERR_STORE, "invalid_recording",
                                  "%s, line %zu: %s", r->name, r->line, why.ptr)
                   : NULL;
    return r->error ? false : no_memory(r);
}

static int shown_length(struct slice s)
{
    return (int)(s.len < SHOWN ? s.len : SHOWN);
}

/* The message of the JSON reader without its line number, which would count
 * from the object. */
static bool refuse_json(struct reading *r, const allm_error *why)
{
    int64_t line = 1, column = 1;
    if (why->kind == ALLM_ERR_NOMEM)
        return no_memory(r);
    const char *end = strstr(why->message, " at line ");
    int len = (int)(end ? (size_t)(end - why->message) : strlen(why->message));
    allm_json_int64(allm_json_get(why->metadata, "line"), &line);
    allm_json_int64(allm_json_get(why->metadata, "column"), &column);
    r->line += (size_t)(line - 1);
    return refuse(r, "%.*s at column %lld", len, why->message,
                  (long long)column);
}

/* -------------------------------------------------------------- objects --- */

static struct slice take_line(struct reading *r)
{
    const char *end = memchr(r->rest.ptr, '\n', r->rest.len);
    size_t n = end ? (size_t)(end - r->rest.ptr) + 1 : r->rest.len;
    struct slice line = { r->rest.ptr, n };
    r->rest = slice_skip(r->rest, n);
    r->next_line++;
    return line;
}

static bool is_blank(struct slice line)
{
    for (size_t i = 0; i < line.len; i++)
        if (!memchr(" \t\r\n", line.ptr[i], 4))
            return false;
    return true;
}

static bool has_continuation(const struct reading *r)
{
    return r->rest.len && memchr(" \t}\r\n", *r->rest.ptr, 5);
}

/* The text of the next object; false: there is none, or r->error. */
static bool take_text(struct reading *r, struct slice *text)
{
    struct slice line = { "", 0 };
    while (r->rest.len && is_blank(line)) {
        r->line = r->next_line;
        line = take_line(r);
    }
    if (is_blank(line))
        return false;
    if (*line.ptr != '{')
        return refuse(r,
                      "an object is expected, which begins with { at the "
                      "beginning of a line; found \"%.*s\"",
                      shown_length(line), line.ptr);
    *text = line;
    while (has_continuation(r))
        text->len += take_line(r).len;
    return true;
}

static bool take_object(struct reading *r)
{
    struct slice text = { NULL, 0 };
    const allm_error *why;
    const struct json_limits limits = { .max_bytes = RECORDING_LIMIT,
                                        .max_depth = DEEPEST };
    if (!take_text(r, &text))
        return false;
    r->object = json_parse(r->arena, text, limits, &why);
    return r->object || refuse_json(r, why);
}

/* Has an object only members of this list, which NULL ends? */
static bool has_only(struct reading *r, const allm_json *object,
                     const char *what, const char *const *names)
{
    if (allm_json_type_of(object) != ALLM_JSON_OBJECT)
        return refuse(r, "%s must be an object", what);
    for (const allm_json *k = NULL; (k = allm_json_next(object, k));) {
        struct slice key = json_slice(k);
        if (!slice_in(key, names) && !slice_is(key, "note"))
            return refuse(r,
                          "%s has no member \"%.*s\"; check its spelling, "
                          "or put remarks into \"note\"",
                          what, shown_length(key), key.ptr);
    }
    return true;
}

/* -------------------------------------------------------------- members --- */

static bool is_text(const allm_json *v)
{
    return allm_json_type_of(v) == ALLM_JSON_TEXT;
}

/* A NUL-terminated string; NULL if absent. */
static bool take_word(struct reading *r, const allm_json *object,
                      const char *name, const char **out)
{
    size_t len;
    const allm_json *v = allm_json_get(object, name);
    *out = is_text(v) ? allm_json_text(v, &len) : NULL;
    if (!v || (*out && strlen(*out) == len))
        return true;
    return refuse(r, "\"%s\" must be a string", name);
}

static bool take_number(struct reading *r, const allm_json *object,
                        const char *name, int64_t most, allm_int *out)
{
    const allm_json *v = allm_json_get(object, name);
    *out = (allm_int){ 0, false };
    if (!v)
        return true;
    out->set = allm_json_type_of(v) == ALLM_JSON_INT &&
               allm_json_int64(v, &out->value);
    if (out->set && out->value >= 0 && out->value <= most)
        return true;
    return refuse(r, "\"%s\" must be a whole number from 0 to %lld", name,
                  (long long)most);
}

static bool decode_base64(struct reading *r, const allm_json *v,
                          struct slice *out)
{
    struct buf bytes = buf_in(r->arena, RECORDING_LIMIT);
    if (is_text(v) && base64_take(&bytes, json_slice(v))) {
        *out = buf_slice(&bytes);
        return true;
    }
    return bytes.broken || r->arena->broken
               ? no_memory(r)
               : refuse(r, "this is not base64 with its padding");
}

static allm_status kind_of(const char *word)
{
    int kind = word ? ALLM_ERR_IMAGE : ALLM_ERR_ADAPTER;
    while (word && kind < 0 &&
           strcmp(word, allm_status_name((allm_status)kind)) != 0)
        kind++;
    return (allm_status)kind;
}

static bool take_error(struct reading *r, const allm_json *v,
                       const allm_error **out)
{
    static const char *const names[] = { "kind", "reason", "message", "status",
                                         "retry_after_ms", NULL };
    const char *kind = NULL;
    allm_error *e = arena_alloc(r->arena, sizeof *e);
    if (!e)
        return no_memory(r);
    *e = status_blank(ALLM_ERR_ADAPTER);
    *out = e;
    if (!has_only(r, v, "an error", names) || !take_word(r, v, "kind", &kind) ||
        !take_word(r, v, "reason", &e->reason) ||
        !take_word(r, v, "message", &e->message) ||
        !take_number(r, v, "status", 999, &e->http_status) ||
        !take_number(r, v, "retry_after_ms", INT64_MAX, &e->retry_after_ms))
        return false;
    e->kind = kind_of(kind);
    if (e->kind >= 0)
        return refuse(r,
                      "there is no kind of errors called \"%.60s\"; the "
                      "usual one is \"adapter\"",
                      kind);
    if (!e->reason)
        e->reason = "network_error";
    if (!e->message || !*e->message)
        e->message = "the connection broke";
    return true;
}

/* "name: value" lines as a head has them. */
static bool check_headers(struct reading *r, const allm_json *lines)
{
    if (lines && allm_json_type_of(lines) != ALLM_JSON_ARRAY)
        return refuse(r, "\"headers\" must be a list of strings, each "
                         "\"name: value\"");
    for (const allm_json *v = NULL; (v = allm_json_next(lines, v));) {
        struct slice line = json_slice(v);
        const char *colon = line.len ? memchr(line.ptr, ':', line.len) : NULL;
        if (!is_text(v) || !colon || colon == line.ptr ||
            memchr(line.ptr, '\0', line.len))
            return refuse(r, "a header must be a string \"name: value\"%s%.*s",
                          line.len ? "; found " : "", shown_length(line),
                          line.len ? line.ptr : "");
    }
    return true;
}

static bool take_headers(struct reading *r, const allm_json *lines,
                         allm_http_head *head)
{
    size_t n = allm_json_count(lines);
    const char **pairs = arena_alloc(r->arena, 2 * n * sizeof *pairs);
    if (!check_headers(r, lines))
        return false;
    if (!pairs)
        return no_memory(r);
    head->header = pairs;
    head->header_count = n;
    for (const allm_json *v = NULL; (v = allm_json_next(lines, v));) {
        struct slice line = json_slice(v);
        if (!line.ptr)
            continue;           /* cannot happen: it was checked */
        size_t colon =
            (size_t)((char *)memchr(line.ptr, ':', line.len) - line.ptr);
        struct slice value = slice_skip(line, colon + 1);
        if (value.len && *value.ptr == ' ')
            value = slice_skip(value, 1);
        *pairs++ = arena_copy(r->arena, (struct slice){ line.ptr, colon });
        *pairs++ = arena_copy(r->arena, value);
    }
    return r->arena->broken ? no_memory(r) : true;
}

/* ------------------------------------------------------------ exchanges --- */

static bool take_first(struct reading *r, const allm_json *v)
{
    int64_t version;
    if (r->open)
        return refuse(r, "the exchange of line %zu has no end", r->open->line);
    if (!allm_json_int64(v, &version) || version < 1)
        return refuse(r, "\"allm_recording\" must be the format version: "
                         "1");
    if (version > 1)
        return refuse(r,
                      "the recording has version %lld; this library reads "
                      "version 1: use a newer one, or record again",
                      (long long)version);
    r->begun = true;
    return true;
}

/* There may be one body, of the right type. */
static bool check_body(struct reading *r, const allm_json *request)
{
    struct slice ignored;
    const allm_json *text = allm_json_get(request, "body_text");
    const allm_json *base64 = allm_json_get(request, "body_base64");
    int count = !!allm_json_get(request, "body") + !!text + !!base64;
    if (count > 1)
        return refuse(r, "a request has one of \"body\", \"body_text\" and "
                         "\"body_base64\"");
    if (text && !is_text(text))
        return refuse(r, "\"body_text\" must be a string; JSON goes into "
                         "\"body\"");
    return !base64 || decode_base64(r, base64, &ignored);
}

static bool take_request(struct reading *r, const allm_json *v)
{
    static const char *const names[] = { "method", "url", "headers", "body",
                                         "body_text", "body_base64", NULL };
    const char *word;
    if (r->open)
        return refuse(r, "the exchange of line %zu has no end", r->open->line);
    if (!has_only(r, v, "\"request\"", names) ||
        !take_word(r, v, "method", &word) || !take_word(r, v, "url", &word) ||
        !check_headers(r, allm_json_get(v, "headers")) || !check_body(r, v))
        return false;
    r->open = arena_zero(r->arena, sizeof *r->open);
    if (!r->open)
        return no_memory(r);
    r->open->line = r->line;
    r->open->request = v;
    r->open->connect_ms = RECORDING_AT_ONCE;
    r->room = 0;
    return true;
}

static void close_exchange(struct reading *r)
{
    *r->last = r->open;
    r->last = &r->open->next;
    r->open = NULL;
}

static bool take_connect(struct reading *r, const allm_json *v)
{
    allm_int ms;
    struct recorded *x = r->open;
    if (x->connect_ms != RECORDING_AT_ONCE || x->answered || x->count)
        return refuse(r, "\"connect_ms\" must follow its request");
    x->connect_ms = RECORDING_NEVER;
    if (allm_json_type_of(v) == ALLM_JSON_NULL)
        return true;
    if (!take_number(r, r->object, "connect_ms", RECORDING_LONGEST_MS, &ms))
        return false;
    x->connect_ms = ms.value;
    return true;
}

static bool take_refused(struct reading *r, const allm_json *v)
{
    if (r->open->answered || r->open->count)
        return refuse(r, "\"refused\" must follow its request; an "
                         "answer that breaks off ends with \"error\"");
    if (!take_error(r, v, &r->open->refused))
        return false;
    close_exchange(r);
    return true;
}

static bool take_answer(struct reading *r, const allm_json *v)
{
    static const char *const names[] = { "status", "headers", "reused", NULL };
    allm_int status;
    struct recorded *x = r->open;
    const allm_json *reused = allm_json_get(v, "reused");
    if (x->answered || x->count)
        return refuse(r, "the exchange of line %zu has an answer already",
                      x->line);
    if (!has_only(r, v, "\"answer\"", names) ||
        !take_number(r, v, "status", 999, &status) ||
        !take_headers(r, allm_json_get(v, "headers"), &x->head))
        return false;
    if (!status.set)
        return refuse(r, "an answer needs its \"status\", such as 200");
    x->answered = true;
    x->head.size = sizeof x->head;
    x->head.status = (int32_t)status.value;
    x->head.reused = allm_json_true(reused);
    return true;
}

/* Add a step with its time. */
static struct recording_step *add_step(struct reading *r,
                                       enum recording_kind kind)
{
    struct recorded *x = r->open;
    allm_int ms;
    int64_t before = x->count ? x->steps[x->count - 1].at_ms : 0;
    if (!take_number(r, r->object, "ms", RECORDING_LONGEST_MS - before, &ms))
        return NULL;
    if (!arena_grow(r->arena, &x->steps, x->count, &r->room, 8,
                    sizeof *x->steps)) {
        no_memory(r);
        return NULL;
    }
    struct recording_step *step = &x->steps[x->count++];
    *step = (struct recording_step){ .kind = kind,
                                     .line = r->line,
                                     .at_ms = before + ms.value };
    return step;
}

static bool needs_answer(struct reading *r)
{
    return r->open->answered ||
           refuse(r, "an \"answer\" with its status must come first");
}

static bool take_chunk(struct reading *r, const allm_json *v)
{
    struct slice bytes = json_slice(v);
    bool text = v == allm_json_get(r->object, "text");
    if (!needs_answer(r))
        return false;
    if (text && !is_text(v))
        return refuse(r, "\"text\" must be a string");
    if (!text && !decode_base64(r, v, &bytes))
        return false;
    struct recording_step *step = add_step(r, RECORDING_CHUNK);
    if (step)
        step->bytes = bytes;
    return step != NULL;
}

static bool take_end(struct reading *r, const allm_json *v)
{
    static const char *const words[] = { "complete", "closed", "silent" };
    enum recording_kind kind = RECORDING_COMPLETE;
    for (size_t i = 0; i < 3 && !json_is(v, words[i]); i++)
        kind++;
    if (kind == RECORDING_ERROR)
        return refuse(r, "\"end\" must be \"complete\", \"closed\" or "
                         "\"silent\"");
    if ((kind == RECORDING_COMPLETE && !needs_answer(r)) || !add_step(r, kind))
        return false;
    close_exchange(r);
    return true;
}

static bool take_break(struct reading *r, const allm_json *v)
{
    struct recording_step *step = add_step(r, RECORDING_ERROR);
    if (!step || !take_error(r, v, &step->error))
        return false;
    close_exchange(r);
    return true;
}

/* ------------------------------------------------------------- the file --- */

/* The kinds of objects, by the member that they have. */
static const struct sort {
    const char *name;
    bool inside;                /* an exchange must be open */
    bool (*take)(struct reading *r, const allm_json *v);
} sorts[] = {
    { "allm_recording", false, take_first },
    { "request", false, take_request },
    { "connect_ms", true, take_connect },
    { "refused", true, take_refused },
    { "answer", true, take_answer },
    { "text", true, take_chunk },
    { "base64", true, take_chunk },
    { "end", true, take_end },
    { "error", true, take_break },
};

static const struct sort *sort_of(const allm_json *object)
{
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++)
        if (allm_json_get(object, sorts[i].name))
            return &sorts[i];
    return NULL;
}

static bool take_entry(struct reading *r)
{
    const struct sort *sort = sort_of(r->object);
    if (!r->begun && (!sort || sort->take != take_first))
        return refuse(r, "this is not a recording: one begins with "
                         "{\"allm_recording\": 1}");
    if (!sort)
        return refuse(r, "this is not a part of a recording: an object has one "
                         "of request, connect_ms, refused, answer, text, "
                         "base64, end, error");
    const char *names[] = { sort->name, "ms", NULL };
    bool timed = sort->inside && sort->take != take_connect &&
                 sort->take != take_answer && sort->take != take_refused;
    if (!timed)
        names[1] = NULL;
    if (!has_only(r, r->object, "this object", names))
        return false;
    if (sort->inside && !r->open)
        return refuse(r,
                      "\"%s\" belongs to an exchange, which begins with "
                      "\"request\"",
                      sort->name);
    return sort->take(r, allm_json_get(r->object, sort->name));
}

const allm_error *recording_read(struct arena *a, struct slice text,
                                 const char *name, struct recorded **first)
{
    struct reading r = { .arena = a,
                         .name = name,
                         .rest = text,
                         .next_line = 1,
                         .line = 1,
                         .last = first };
    *first = NULL;
    while (take_object(&r) && take_entry(&r))
        ;
    if (r.error)
        return r.error;
    if (!r.begun)
        refuse(&r, "this is not a recording: one begins with "
                   "{\"allm_recording\": 1}");
    else if (r.open)
        refuse(&r,
               "the file stops in the middle: the exchange of line %zu "
               "has no end",
               r.open->line);
    return r.error;
}
