/* address.c - the URLs and headers of OpenAI and of compatible servers */
#include "provider/openai/address.h"

#include "provider/http.h"

/* BASE/openai/deployments/MODEL/PATH?api-version=... */
static void add_deployment(const struct extra *x, struct buf *url,
                           const char *path)
{
    const char *version = extra_text(x, "api_version");
    struct slice base = buf_slice(url);
    buf_text(url, slice_ends(base, SLICE("/openai")) ? "" : "/openai");
    buf_text(url, "/deployments/");
    http_escape(url, x->call->model ? x->call->model : "", "-._~");
    buf_text(url, path);
    buf_text(url, "?api-version=");
    http_escape(url, version ? version : "2024-10-21", "-._~");
}

static const allm_error *write_url(const struct extra *x, allm_http *http,
                                   const char *path, bool azure)
{
    const struct slice chats = SLICE("/chat/completions");
    struct slice base, query;
    const allm_error *error = http_base(http, x->call, &base, &query);
    if (error)
        return error;
    bool whole = slice_ends(base, slice_of(path));
    if (!whole && slice_ends(base, chats))
        base.len -= chats.len;
    struct buf url = buf_in(http->arena, 64 * 1024);
    buf_add(&url, base);
    if (azure && !slice_ends(base, SLICE("/v1")) && !whole && !query.len)
        add_deployment(x, &url, path);
    else if (!whole)
        buf_text(&url, path);
    buf_add(&url, query);
    http_address(http, &url);
    return NULL;
}

const allm_error *openai_address_headers(const struct extra *x, allm_http *http)
{
    allm_http_header(http, "openai-organization",
                     extra_text(x, "organization"));
    allm_http_header(http, "openai-project", extra_text(x, "project"));
    return extra_headers(x, http, http->arena);
}

const allm_error *openai_address_write(const struct extra *x, allm_http *http,
                                       const struct openai_address *to)
{
    static const char json[] = "application/json";
    const allm_error *error = write_url(x, http, to->path, to->azure);
    if (error)
        return error;
    allm_http_header(http, "content-type", to->content ? to->content : json);
    allm_http_header(http, "accept", to->accept ? to->accept : json);
    allm_http_header(http, "accept-encoding", "identity");
    return openai_address_headers(x, http);
}

const allm_error *openai_address_task(const struct extra *x, allm_http *http,
                                      const char *path)
{
    const struct openai_address to = {
        .path = path, .azure = x->call->quirks & OPENAI_ADDRESS_AZURE
    };
    return openai_address_write(x, http, &to);
}
