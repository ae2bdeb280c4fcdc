/* address.c - where OpenAI, and all who look like it, are asked */
#include "provider/openai/address.h"

#include "provider/http.h"

#include <string.h>

static void add_escaped(struct buf *out, const char *name)
{
    static const char hex[] = "0123456789ABCDEF";
    for (; name && *name; name++) {
        unsigned char c = (unsigned char)*name;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     (c >= '0' && c <= '9') || strchr("-._~", c);
        if (plain) {
            buf_byte(out, (char)c);
            continue;
        }
        buf_byte(out, '%');
        buf_byte(out, hex[c >> 4]);
        buf_byte(out, hex[c & 15]);
    }
}

/* BASE/openai/deployments/MODEL/PATH?api-version=... */
static void add_deployment(const struct extra *x, struct buf *url,
                           const char *path)
{
    const char *version = extra_text(x, "api_version");
    struct slice base = buf_slice(url);
    buf_text(url, slice_ends(base, SLICE("/openai")) ? "" : "/openai");
    buf_text(url, "/deployments/");
    add_escaped(url, x->call->model);
    buf_text(url, path);
    buf_text(url, "?api-version=");
    add_escaped(url, version ? version : "2024-10-21");
}

/* Cut a query off the base: it stands behind the path. */
static struct slice take_query(struct slice *base)
{
    const char *mark = memchr(base->ptr, '?', base->len);
    if (!mark)
        return SLICE("");
    struct slice query = slice_skip(*base, (size_t)(mark - base->ptr));
    base->len -= query.len;
    return query;
}

static void write_url(const struct extra *x, allm_http *http, const char *path,
                      bool azure)
{
    const struct slice chats = SLICE("/chat/completions");
    struct slice base = slice_of(x->call->base_url);
    struct buf url;
    struct slice query = take_query(&base);
    bool whole = slice_ends(base, slice_of(path));
    if (!whole && slice_ends(base, chats))
        base.len -= chats.len;
    buf_init(&url, http->arena, 64 * 1024);
    buf_add(&url, base);
    if (azure && !slice_ends(base, SLICE("/v1")) && !whole && !query.len)
        add_deployment(x, &url, path);
    else if (!whole)
        buf_text(&url, path);
    buf_add(&url, query);
    http->broken |= url.broken;
    allm_http_url(http, url.broken ? "" : url.ptr);
}

allm_status openai_address_write(const struct extra *x, allm_http *http,
                                 const struct openai_address *to)
{
    static const char json[] = "application/json";
    if (!slice_of(x->call->base_url).len)
        return allm_http_fail(
            http,
            ALLM(error, .kind = ALLM_ERR_ENGINE, .reason = "invalid_engine",
                 .message = "this provider has no address of its own; "
                            "set base_url in adapter_opts"));
    write_url(x, http, to->path, to->azure);
    allm_http_header(http, "content-type", to->content ? to->content : json);
    allm_http_header(http, "accept", to->accept ? to->accept : json);
    allm_http_header(http, "accept-encoding", "identity");
    allm_http_header(http, "openai-organization",
                     extra_text(x, "organization"));
    allm_http_header(http, "openai-project", extra_text(x, "project"));
    const allm_error *error = extra_headers(x, http, http->arena);
    return error ? allm_http_fail(http, error) : ALLM_OK;
}
