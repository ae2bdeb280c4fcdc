/* address.c - the URLs of Google's models */
#include "provider/gemini/address.h"

#include "provider/http.h"

#include <string.h>

/* Prefixed by "models/", unless it contains a slash. */
static void add_model(struct buf *url, const char *model)
{
    if (!strchr(model, '/'))
        buf_text(url, "models/");
    http_escape(url, model, "-._~/@");
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
    const allm_error *error = http_base(http, call, &base, &query);
    if (error)
        return error;
    struct buf url = buf_in(http->arena, 64 * 1024);
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
