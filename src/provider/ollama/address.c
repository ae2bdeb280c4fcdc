/* address.c - the URL of an Ollama server, from any common notation */
#include "provider/ollama/address.h"

#include "base/status.h"
#include "provider/http.h"

#define PORT ":11434"

/* Remove spaces, and quotes left over from a settings file. */
static struct slice strip_quotes(struct slice s)
{
    static const char removed[] = " \t\r\n\"'";
    while (s.len && memchr(removed, *s.ptr, sizeof removed - 1))
        s = slice_skip(s, 1);
    while (s.len && memchr(removed, s.ptr[s.len - 1], sizeof removed - 1))
        s.len--;
    return s;
}

/* The number of bytes before the first c; all bytes if there is none. */
static size_t length_until(struct slice s, char c)
{
    const char *at = s.len ? memchr(s.ptr, c, s.len) : NULL;
    return at ? (size_t)(at - s.ptr) : s.len;
}

/* The scheme with its "://"; empty if there is none. */
static struct slice scheme_of(struct slice s)
{
    size_t n = length_until(s, ':');
    struct slice rest = slice_skip(s, n);
    return slice_starts(rest, SLICE("://")) ? (struct slice){ s.ptr, n + 3 }
                                            : (struct slice){ s.ptr, 0 };
}

/* The length of the host without its port.  A bare IPv6 address contains
 * colons, but has no port. */
static size_t host_len(struct slice s)
{
    if (s.len && *s.ptr == '[') {
        size_t n = length_until(s, ']');
        return n < s.len ? n + 1 : n;
    }
    size_t n = length_until(s, ':');
    struct slice rest = slice_skip(s, n < s.len ? n + 1 : n);
    return length_until(rest, ':') < rest.len ? s.len : n;
}

/* Append the host that a client must use. `bare`: it may be an IPv6 address
 * without brackets. */
static void add_host(struct buf *out, struct slice host, bool bare)
{
    bare = bare && length_until(host, ':') < host.len && *host.ptr != '[';
    if (!host.len || slice_is(host, "0.0.0.0")) {
        buf_text(out, "127.0.0.1");
        return;
    }
    if (slice_is(host, "[::]") || slice_is(host, "::")) {
        buf_text(out, "[::1]");
        return;
    }
    buf_text(out, bare ? "[" : "");
    buf_add(out, host);
    buf_text(out, bare ? "]" : "");
}

/* Append the path of the endpoint; the base may already contain it. */
static void add_path(struct buf *out, struct slice path, const char *verb)
{
    if (slice_ends(path, SLICE("/api/chat")))
        path.len -= strlen("/chat");
    buf_add(out, path);
    buf_text(out, slice_ends(path, SLICE("/api")) ? "/" : "/api/");
    buf_text(out, verb);
}

bool ollama_address_add(struct buf *out, struct slice base, const char *verb)
{
    struct slice rest = strip_quotes(base);
    struct slice scheme = scheme_of(rest);
    rest = slice_skip(rest, scheme.len);
    struct slice query = slice_skip(rest, length_until(rest, '?'));
    rest.len -= query.len;
    while (rest.len && rest.ptr[rest.len - 1] == '/')
        rest.len--;
    struct slice host_port = { rest.ptr, length_until(rest, '/') };
    struct slice host = { host_port.ptr, host_len(host_port) };
    struct slice port = slice_skip(host_port, host.len);
    if (!host_port.len || port.len == 1)
        return false;           /* "http:" is not a host */
    buf_add(out, scheme.len ? scheme : SLICE("http://"));
    add_host(out, host, !scheme.len);
    if (port.len)
        buf_add(out, port);
    else if (!scheme.len)
        buf_text(out, PORT);
    add_path(out, slice_skip(rest, host_port.len), verb);
    buf_add(out, query);        /* after the path */
    return true;
}

const allm_error *ollama_address_write(const allm_call *call, allm_http *http,
                                       const char *verb)
{
    struct buf url = buf_in(http->arena, 64 * 1024);
    if (!ollama_address_add(&url, slice_of(call->base_url), verb))
        return status_error(http->arena, ALLM_ERR_ENGINE, "invalid_engine",
                            "the URL has no host; set base_url or OLLAMA_HOST "
                            "to a URL such as http://127.0.0.1:11434");
    http_address(http, &url);
    return NULL;
}
