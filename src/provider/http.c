/* http.c - an HTTP request while a dialect writes it */
#include "provider/http.h"

#include "base/status.h"
#include "data/error.h"
#include "provider/sink.h"
#include "json/emit.h"

#include <stdint.h>

enum { BODY_LIMIT = 256 * 1024 * 1024 };

void http_init(struct allm_http *h, struct arena *a, struct allm_sink *sink)
{
    *h = (struct allm_http){ .arena = a, .method = "POST", .sink = sink };
    buf_init(&h->body, a, BODY_LIMIT);
}

/* Does it contain a control character, which could end a header line? */
static bool is_odd(const char *text)
{
    for (const char *p = text; p && *p; p++)
        if (((unsigned char)*p < ' ' && *p != '\t') || *p == 0x7f)
            return true;
    return false;
}

static const char *text_copy(allm_http *h, const char *text)
{
    const char *mine = arena_text(h->arena, text);
    h->broken = h->broken || (text && !mine);
    h->odd = h->odd || is_odd(text);
    return mine;
}

/* The request's memory is freed when it fails, so the error is copied to the
 * memory of the sink. */
static allm_status keep_failure(struct allm_sink *s)
{
    allm_error *mine = arena_alloc(s->arena, sizeof *mine);
    if (mine)
        *mine = *s->failure;
    if (!mine || !error_take(s->arena, mine)) {
        s->failure = NULL;
        s->status = ALLM_ERR_NOMEM;
        return ALLM_ERR_NOMEM;
    }
    s->failure = mine;
    return mine->kind;
}

allm_status allm_http_fail(allm_http *h, const allm_error *error)
{
    if (!h || !error)
        return ALLM_ERR_NOMEM;
    allm_status status = allm_sink_fail(h->sink, error, true);
    return h->sink->failure ? keep_failure(h->sink) : status;
}

void allm_http_method(allm_http *h, const char *method)
{
    if (h && method)
        h->method = text_copy(h, method);
}

void allm_http_url(allm_http *h, const char *url)
{
    if (h)
        h->url = text_copy(h, url);
}

void allm_http_header(allm_http *h, const char *name, const char *value)
{
    if (!h || !name || !value)
        return;
    if (h->header_count == h->header_cap) {
        size_t cap = h->header_cap ? h->header_cap * 2 : 8;
        const char **more = arena_resize(h->arena, h->header,
                                         h->header_cap * 2 * sizeof *more,
                                         cap * 2 * sizeof *more);
        if (!more) {
            h->broken = true;
            return;
        }
        h->header = more;
        h->header_cap = cap;
    }
    h->header[2 * h->header_count] = text_copy(h, name);
    h->header[2 * h->header_count + 1] = text_copy(h, value);
    h->header_count++;
}

void allm_http_body(allm_http *h, const char *piece, size_t len)
{
    if (h)
        buf_add(&h->body, slice_given(piece, len));
}

const allm_error *http_base(struct allm_http *h, const allm_call *call,
                            struct slice *base, struct slice *query)
{
    *base = slice_of(call->base_url);
    if (!base->len)
        return status_error(h->arena, ALLM_ERR_ENGINE, "invalid_engine",
                            "this provider has no default address; set "
                            "base_url in adapter_opts");
    const char *mark = query ? memchr(base->ptr, '?', base->len) : NULL;
    if (query)
        *query = SLICE("");
    if (mark) {
        *query = slice_skip(*base, (size_t)(mark - base->ptr));
        base->len -= query->len;
    }
    return NULL;
}

void http_escape(struct buf *url, const char *text, const char *plain)
{
    static const char hex[] = "0123456789ABCDEF";
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (slice_alnum(*text) || strchr(plain, c)) {
            buf_byte(url, *text);
            continue;
        }
        buf_byte(url, '%');
        buf_byte(url, hex[c >> 4]);
        buf_byte(url, hex[c & 15]);
    }
}

void http_address(struct allm_http *h, const struct buf *url)
{
    h->broken |= url->broken;
    allm_http_url(h, url->broken ? "" : url->ptr);
}

void http_headers(struct allm_http *h, const char *accept)
{
    allm_http_header(h, "content-type", "application/json");
    allm_http_header(h, "accept", accept);
    allm_http_header(h, "accept-encoding", "identity");
}

void http_emit(struct allm_http *h, struct emit *e)
{
    emit_init(e, &h->body);
    e->loans = &h->loans;
}

bool http_pieces(const struct allm_http *h, allm_http_view *out,
                 struct rope *body)
{
    *out = (allm_http_view){ .size = sizeof *out,
                             .method = h->method,
                             .url = h->url,
                             .header_count = h->header_count,
                             .header = h->header,
                             .body_len = h->body.len + h->loans.len };
    *body = rope_of(&h->loans, &h->body);
    return !h->broken && !h->body.broken && h->url;
}

bool http_view(const struct allm_http *h, allm_http_view *out)
{
    struct rope_reader reader = { .done = 0 };
    if (!http_pieces(h, out, &reader.rope))
        return false;
    out->body = buf_slice(&h->body).ptr;
    if (!h->loans.count)
        return true;
    char *body = arena_alloc(h->arena, out->body_len);
    if (!body)
        return false;
    rope_read(&reader, body, out->body_len);
    out->body = body;
    return true;
}
