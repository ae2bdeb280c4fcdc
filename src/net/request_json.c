/*
 * request_json.c - a request as JSON, without secrets
 *
 * Invariants
 *   (1) The header with the key is left out, and the key is removed, in every
 *       spelling, from everything else.
 *   (2) The value of a header or a URL parameter is hidden if a word of its
 *       name is one of `words`.
 */
#include "net/request_json.h"

#include "base/base64.h"
#include "base/nocase.h"
#include "base/utf8.h"
#include "json/build.h"
#include "json/json.h"
#include "json/parse.h"
#include "json/write.h"

#include <stdint.h>

/* -------------------------------------------------------------- secrets --- */

static void add_spelling(struct request_json_secret *s, const struct buf *b)
{
    if (b->len)
        s->spelling[s->count++] = buf_slice(b);
}

/* As in JSON: some writers escape "/", and all of them the rest. */
static void spell_json(struct buf *out, struct slice key, bool slashes)
{
    struct buf quoted = buf_in(out->arena, SIZE_MAX / 2);
    json_write_text(&quoted, key);
    if (quoted.broken) {
        out->broken = true;
        return;
    }
    for (size_t i = 1; i + 1 < quoted.len; i++) {
        if (slashes && quoted.ptr[i] == '/')
            buf_byte(out, '\\');
        buf_byte(out, quoted.ptr[i]);
    }
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' ||
           c == '~';
}

/* As in a URL. */
static void spell_url(struct buf *out, struct slice key)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < key.len; i++) {
        unsigned char c = (unsigned char)key.ptr[i];
        if (is_plain(key.ptr[i])) {
            buf_byte(out, key.ptr[i]);
            continue;
        }
        buf_byte(out, '%');
        buf_byte(out, digits[c >> 4]);
        buf_byte(out, digits[c & 15]);
    }
}

bool request_json_secret_of(struct arena *a, const allm_http_view *view,
                            struct request_json_secret *out)
{
    struct buf spelled[ASKED_SPELLINGS];
    struct slice key = slice_of(view->secret_value);
    const char *space = key.len ? strrchr(key.ptr, ' ') : NULL;
    *out = (struct request_json_secret){ .count = 0 };
    if (space)                  /* after "Bearer " */
        key = slice_of(space + 1);
    for (size_t i = 0; i < ASKED_SPELLINGS; i++)
        buf_init(&spelled[i], a, SIZE_MAX / 2);
    buf_add(&spelled[0], key);
    spell_json(&spelled[1], key, false);
    spell_json(&spelled[2], key, true);
    spell_url(&spelled[3], key);
    for (size_t i = 0; i < ASKED_SPELLINGS; i++) {
        if (spelled[i].broken)
            return false;
        add_spelling(out, &spelled[i]);
    }
    return true;
}

struct redact request_json_hidden(const struct request_json_secret *s,
                                  bool looks)
{
    return (struct redact){ s->count, s->spelling, looks };
}

static bool is_secret_word(struct slice s)
{
    static const char *const words[] = {
        "authorization", "auth",     "authentication", "cookie",
        "key",           "apikey",   "token",          "accesstoken",
        "authtoken",     "secret",   "password",       "passwd",
        "credential",    "credentials", "signature",   "sig",
        "cookie2",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (nocase_is(s, words[i]))
            return true;
    return false;
}

/* Is a word of the name a secret one? */
static bool is_secret_name(struct slice name)
{
    size_t from = 0;
    for (size_t i = 0; i <= name.len; i++) {
        char c = i < name.len ? name.ptr[i] : '-';
        if (c != '-' && c != '_' && c != '.')
            continue;
        if (is_secret_word((struct slice){ name.ptr + from, i - from }))
            return true;
        from = i + 1;
    }
    return false;
}

/* -------------------------------------------------------------- headers --- */

struct slice request_json_header(struct arena *a, const char *name,
                                 const char *value,
                                 const struct request_json_secret *s)
{
    struct redact hidden = request_json_hidden(s, true);
    struct buf line = buf_in(a, SIZE_MAX / 2);
    for (const char *p = name; *p; p++)
        buf_byte(&line, nocase_lower(*p));
    buf_text(&line, ": ");
    struct slice clean = redact_slice(a, slice_of(value), &hidden);
    if (is_secret_name(slice_of(name)))
        clean = SLICE(REDACT_MARK);
    buf_add(&line, clean);
    return line.broken || !clean.ptr ? (struct slice){ NULL, 0 }
                                     : buf_slice(&line);
}

static void add_headers(struct build *b, const allm_http_view *view,
                        const struct request_json_secret *s)
{
    build_array_at(b, "headers");
    for (size_t i = 0; i < view->header_count; i++) {
        const char *name = view->header[2 * i];
        if (view->secret_name && nocase_is(slice_of(name), view->secret_name))
            continue;           /* keeps (1) */
        struct slice line = request_json_header(b->arena, name,
                                                view->header[2 * i + 1], s);
        b->broken = b->broken || !line.ptr;
        build_text(b, line);
    }
    build_end(b);
}

/* -------------------------------------------------------------- address --- */

/* The end of a part that ends with one of these characters. */
static size_t piece_end(struct slice s, size_t from, const char *ends)
{
    while (from < s.len && !strchr(ends, s.ptr[from]))
        from++;
    return from;
}

/* A "name=value" of the query. */
static void add_parameter(struct buf *out, struct slice piece)
{
    size_t equals = piece_end(piece, 0, "=");
    if (equals == piece.len ||
        !is_secret_name((struct slice){ piece.ptr, equals })) {
        buf_add(out, piece);
        return;
    }
    buf_add(out, (struct slice){ piece.ptr, equals + 1 });
    buf_text(out, REDACT_MARK);
}

/* Add the part up to the path, without user and password. */
static size_t add_server(struct buf *out, struct slice url)
{
    size_t from = 0, scheme = piece_end(url, 0, ":/?#");
    if (slice_starts(slice_skip(url, scheme), SLICE("://")))
        from = scheme + 3;
    size_t end = piece_end(url, from, "/?#"), at = end;
    while (from && at > from && url.ptr[at - 1] != '@')
        at--;
    buf_add(out, (struct slice){ url.ptr, from });
    if (from && at > from)
        buf_text(out, REDACT_MARK "@");
    else
        at = from;
    buf_add(out, (struct slice){ url.ptr + at, end - at });
    return end;
}

struct slice request_json_url(struct arena *a, struct slice url,
                              const struct request_json_secret *s)
{
    static const struct request_json_secret none;
    struct redact hidden = request_json_hidden(s ? s : &none, true);
    struct buf out = buf_in(a, SIZE_MAX / 2);
    size_t at = add_server(&out, url), end = piece_end(url, at, "?#");
    buf_add(&out, (struct slice){ url.ptr + at, end - at });
    while (end < url.len) {
        buf_byte(&out, url.ptr[end]);
        at = end + 1;
        end = piece_end(url, at, "&;#?");
        add_parameter(&out, (struct slice){ url.ptr + at, end - at });
    }
    return out.broken ? (struct slice){ NULL, 0 }
                      : redact_slice(a, buf_slice(&out), &hidden);
}

/* ----------------------------------------------------------------- body --- */

static const struct json_limits any = { .max_bytes = SIZE_MAX / 2,
                                       .max_depth = 128,
                                       .duplicates = true };

/* The body as a value without the key, which is removed from its text.  NULL:
 * it is not JSON, or out of memory (then the scratch is broken). */
static const allm_json *body_value(struct arena *a, struct arena *scratch,
                                   struct slice body,
                                   const struct request_json_secret *s)
{
    struct redact hidden = request_json_hidden(s, false);
    struct json_limits strict = any;
    strict.duplicates = false;
    const allm_json *v = json_parse(scratch, body, strict, NULL);
    if (!v)
        return NULL;
    struct buf text = buf_in(scratch, SIZE_MAX / 2);
    if (!json_write(&text, v, 0))
        return NULL;
    struct slice clean = redact_slice(scratch, buf_slice(&text), &hidden);
    return clean.ptr ? json_parse(a, clean, any, NULL) : NULL;
}

static void add_bytes(struct build *b, struct slice body)
{
    if (utf8_valid(body, NULL)) {
        build_text_copy_at(b, "body_text", body);
        return;
    }
    struct buf text = buf_in(b->arena, SIZE_MAX / 2);
    base64_add(&text, body);
    b->broken = b->broken || text.broken;
    build_text_at(b, "body_base64", buf_slice(&text));
}

static void add_body(struct build *b, struct arena *scratch, struct slice body,
                     const struct request_json_secret *s)
{
    struct redact hidden = request_json_hidden(s, false);
    const allm_json *v = body_value(b->arena, scratch, body, s);
    if (v) {
        build_value_at(b, "body", v);
        return;
    }
    struct slice clean = redact_slice(scratch, body, &hidden);
    b->broken = b->broken || scratch->broken || b->arena->broken;
    add_bytes(b, clean.ptr ? clean : SLICE(""));
}

const allm_json *request_json_of(struct arena *a, struct arena *scratch,
                                 const allm_http_view *view,
                                 const struct request_json_secret *s)
{
    struct build b = build_object_in(a);
    build_text_copy_at(&b, "method",
                       slice_of(view->method ? view->method : "POST"));
    build_key(&b, SLICE("url"));
    struct slice url = request_json_url(a, slice_of(view->url ? view->url : ""),
                                        s);
    b.broken = b.broken || !url.ptr;
    build_text(&b, url);
    add_headers(&b, view, s);
    add_body(&b, scratch, (struct slice){ view->body, view->body_len }, s);
    return a->broken || scratch->broken ? NULL : build_finish(&b);
}

/* ------------------------------------------------------------ comparing --- */

/* Headers that differ between runs, or that the transport sets. */
static bool is_volatile(struct slice name)
{
    static const char *const names[] = {
        "accept-encoding", "connection",  "content-length", "date",
        "expect",          "host",        "traceparent",    "tracestate",
        "baggage",         "user-agent",  "x-request-id",   "request-id",
        "x-client-request-id",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (nocase_is(name, names[i]))
            return true;
    return is_secret_name(name);
}

static struct slice to_lower_case(struct arena *a, struct slice s)
{
    char *copy = arena_copy(a, s);
    for (size_t i = 0; copy && i < s.len; i++)
        copy[i] = nocase_lower(copy[i]);
    return (struct slice){ copy, s.len };
}

static void normal_headers(struct build *b, const allm_json *lines)
{
    build_object_at(b, "headers");
    for (const allm_json *v = NULL; (v = allm_json_next(lines, v));) {
        struct slice line = json_slice(v);
        size_t colon = piece_end(line, 0, ":");
        struct slice name = { line.ptr, colon };
        if (!line.ptr || is_volatile(name) || colon == line.len)
            continue;
        struct slice value = slice_skip(line, colon + 1);
        while (value.len && *value.ptr == ' ')
            value = slice_skip(value, 1);
        build_key(b, to_lower_case(b->arena, name));
        build_text_copy(b, value);
    }
    build_end(b);
}

static void normal_method(struct build *b, const allm_json *method)
{
    struct slice word = to_lower_case(b->arena, json_slice(method));
    char *p = (char *)(uintptr_t)word.ptr;
    for (size_t i = 0; p && i < word.len; i++)
        if (p[i] >= 'a' && p[i] <= 'z')
            p[i] = (char)(p[i] - 'a' + 'A');
    build_text_at(b, "method", word);
}

const allm_json *request_json_normal(struct arena *a, const allm_json *request)
{
    struct build b = build_object_in(a);
    for (const allm_json *k = NULL; (k = allm_json_next(request, k));) {
        const allm_json *v = allm_json_value(k);
        if (json_is(k, "headers")) {
            normal_headers(&b, v);
        } else if (json_is(k, "method")) {
            normal_method(&b, v);
        } else if (!json_is(k, "note")) {
            build_key(&b, json_slice(k));
            build_value(&b, v);
        }
    }
    return a->broken ? NULL : build_finish(&b);
}
