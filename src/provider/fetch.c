/* fetch.c - download a file from a URL, without a key */
#include "provider/fetch.h"

#include "base/buf.h"
#include "base/nocase.h"
#include "base/status.h"
#include "provider/document.h"
#include "provider/explain.h"
#include "provider/http.h"
#include "provider/sink.h"
#include "json/build.h"

/* --------------------------------------------------------------- URLs --- */

/* The part of s before the first of these bytes. */
static struct slice cut_before(struct slice s, const char *stops)
{
    size_t n = 0;
    while (n < s.len && !strchr(stops, s.ptr[n]))
        n++;
    return (struct slice){ s.ptr, n };
}

/* "host:port" of a URL, with the user if there is one. */
static struct slice authority_of(struct slice url)
{
    size_t scheme = nocase_starts(url, "https://")  ? 8
                    : nocase_starts(url, "http://") ? 7
                                                    : 0;
    return scheme ? cut_before(slice_skip(url, scheme), "/?#") : SLICE("");
}

bool fetch_is_near(const char *url)
{
    struct slice authority = authority_of(slice_of(url));
    struct slice host = cut_before(authority, ":");
    if (nocase_starts(authority, "[::1]") &&
        (authority.len == 5 || authority.ptr[5] == ':'))
        return true;
    if (nocase_starts(host, "localhost"))
        return host.len == 9;
    size_t digits = 4;
    while (digits < host.len && strchr("0123456789.", host.ptr[digits]))
        digits++;
    return nocase_starts(host, "127.") && digits == host.len;
}

const char *fetch_fault(const char *url)
{
    struct slice all = slice_of(url);
    struct slice authority = authority_of(all);
    if (!authority.len || *authority.ptr == ':')
        return "invalid_url";
    for (size_t i = 0; i < all.len; i++)
        if ((unsigned char)all.ptr[i] <= ' ' || all.ptr[i] == 0x7f ||
            all.ptr[i] == '\\')     /* some parsers read it as a slash */
            return "invalid_url";
    if (memchr(authority.ptr, '@', authority.len))
        return "url_with_credentials";
    return nocase_starts(all, "https://") || fetch_is_near(url)
               ? NULL
               : "insecure_url";
}

const char *fetch_follow(struct arena *a, const char *from,
                         const char *location)
{
    struct slice old = slice_of(from), to = slice_of(location);
    struct slice authority = authority_of(old);
    size_t head = (size_t)(authority.ptr - old.ptr);
    struct slice path = cut_before(slice_skip(old, head), "?#");
    to = cut_before(to, "#");
    struct buf url = buf_in(a, 64 * 1024);
    if (nocase_starts(to, "https://") || nocase_starts(to, "http://")) {
        buf_add(&url, to);
    } else if (nocase_starts(to, "//")) {
        buf_add(&url, (struct slice){ old.ptr, head - 2 });
        buf_add(&url, to);
    } else if (nocase_starts(to, "/")) {
        buf_add(&url, (struct slice){ old.ptr, head + authority.len });
        buf_add(&url, to);
    } else {                            /* relative to the old path */
        while (path.len > authority.len && path.ptr[path.len - 1] != '/')
            path.len--;
        buf_add(&url, (struct slice){ old.ptr, head + path.len });
        buf_text(&url, path.len > authority.len ? "" : "/");
        buf_add(&url, to);
    }
    return url.broken ? NULL : url.ptr;
}

struct slice fetch_shown(const char *url)
{
    return cut_before(slice_of(url), "?#");
}

/* ------------------------------------------------------------ dialect --- */

static allm_status file_encode(const allm_call *call, allm_http *http)
{
    allm_http_method(http, "GET");
    allm_http_url(http, call->base_url);
    allm_http_header(http, "accept", "image/*");
    allm_http_header(http, "accept-encoding", "identity");
    return ALLM_OK;
}

static allm_status file_decode(void *state, const allm_call *call,
                               const allm_frame *frame, allm_sink *sink)
{
    struct answer *a = state;
    if (!answer_open(a, call, sink))
        return ALLM_OK;
    const allm_json *bytes = build_alone_copy(
        sink->arena, (struct slice){ frame->data, frame->data_len });
    if (!bytes)
        return sink->status = ALLM_ERR_NOMEM;
    document_result(a, bytes);
    return answer_close(a);
}

/* The server is not a provider's: its message is ignored. */
static allm_status redirect_explain(const allm_call *call,
                                    const allm_http_head *head,
                                    const char *body, size_t len,
                                    allm_sink *sink)
{
    const char *to = nocase_header(head->header, head->header_count,
                                   "location");
    allm_error e = status_blank(ALLM_ERR_ADAPTER);
    (void)call;
    (void)body;
    (void)len;
    if (head->status < 300 || head->status > 399 || !to)
        return explain_default(head, "", 0, sink);
    struct build b = build_object_in(sink->arena);
    build_text_copy_at(&b, "location", slice_of(to));
    build_end(&b);
    e.reason = "redirected";
    e.message = "the server redirects to another URL";
    e.metadata = build_done(&b);
    if (!e.metadata)
        return sink->status = ALLM_ERR_NOMEM;
    return allm_sink_fail(sink, &e, true);
}

static const allm_adapter fetch_adapter = {
    .size = sizeof(allm_adapter),
    .name = "fetch",
    .state_size = sizeof(struct answer),
    .framing = ALLM_FRAMING_WHOLE,
    .encode = file_encode,
    .decode = file_decode,
    .finish = document_finish,
    .explain = redirect_explain,
};

const struct registry_row fetch_row = {
    .name = "url",
    .adapter = &fetch_adapter,
    .body_limit = FETCH_LIMIT,
    .keyless = true,
};
