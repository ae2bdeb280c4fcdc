/* address.c - where Google's models are asked */
#include "provider/gemini/address.h"

#include "provider/http.h"

#include <string.h>

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || (c && strchr("-._~/@", c));
}

/* A name of a model in a path. */
void gemini_address_model(struct buf *url, const char *model)
{
    static const char digits[] = "0123456789ABCDEF";
    if (!strchr(model, '/'))
        buf_text(url, "models/");
    for (; *model; model++) {
        unsigned char c = (unsigned char)*model;
        if (is_plain(*model)) {
            buf_byte(url, *model);
            continue;
        }
        buf_byte(url, '%');
        buf_byte(url, digits[c >> 4]);
        buf_byte(url, digits[c & 15]);
    }
}

/* Nothing behind the host: then the version is ours to add. */
static bool is_bare(struct slice base)
{
    const char *host = memchr(base.ptr, ':', base.len);
    struct slice rest = base;
    if (host)
        rest = slice_skip(base, (size_t)(host - base.ptr) + 1);
    while (rest.len && *rest.ptr == '/')
        rest = slice_skip(rest, 1);
    return !memchr(rest.ptr, '/', rest.len);
}

const allm_error *gemini_address_write(const allm_call *call, allm_http *http,
                                       const char *verb, const char *with)
{
    struct slice base, query;
    struct buf url;
    const allm_error *error = http_base(http, call, &base, &query);
    if (error)
        return error;
    buf_init(&url, http->arena, 64 * 1024);
    buf_add(&url, base);
    buf_text(&url, is_bare(base) ? "/v1beta/" : "/");
    gemini_address_model(&url, call->model ? call->model : "");
    buf_byte(&url, ':');
    buf_text(&url, verb);
    buf_add(&url, query);
    if (with) {
        buf_byte(&url, query.len ? '&' : '?');
        buf_text(&url, with);
    }
    http_address(http, &url);
    return NULL;
}
