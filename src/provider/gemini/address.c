/* address.c - the URLs of Google's models */
#include "provider/gemini/address.h"

#include "provider/http.h"

#include <string.h>

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || (c && strchr("-._~/@", c));
}

/* Prefixed by "models/", unless it contains a slash. */
static void add_model(struct buf *url, const char *model)
{
    static const char digits[] = "0123456789ABCDEF";
    if (!strchr(model, '/'))
        buf_text(url, "models/");
    for (; *model; model++) {
        unsigned char c = (unsigned char)*model;
        if (is_unreserved(*model)) {
            buf_byte(url, *model);
            continue;
        }
        buf_byte(url, '%');
        buf_byte(url, digits[c >> 4]);
        buf_byte(url, digits[c & 15]);
    }
}

/* Does the URL end after the host?  Then we must add the version. */
static bool has_no_path(struct slice base)
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
                                       const char *verb, const char *parameter)
{
    struct slice base, query;
    struct buf url;
    const allm_error *error = http_base(http, call, &base, &query);
    if (error)
        return error;
    buf_init(&url, http->arena, 64 * 1024);
    buf_add(&url, base);
    buf_text(&url, has_no_path(base) ? "/v1beta/" : "/");
    add_model(&url, call->model ? call->model : "");
    buf_byte(&url, ':');
    buf_text(&url, verb);
    buf_add(&url, query);
    if (parameter) {
        buf_byte(&url, query.len ? '&' : '?');
        buf_text(&url, parameter);
    }
    http_address(http, &url);
    return NULL;
}
