/* failure.c - errors of an exchange, with advice */
#include "net/failure.h"

#include "base/buf.h"
#include "base/status.h"
#include "json/build.h"
#include "json/json.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MESSAGE_LIMIT = 4096 };

static const char network[] = "network_error";
static const char malformed[] = "malformed_response";

static const struct row {
    CURLcode code;
    bool final;                 /* the same happens at the next attempt */
    const char *reason, *what, *advice;
} rows[] = {
    { CURLE_COULDNT_RESOLVE_HOST, false, network,
      "the name of the server could not be found",
      "check base_url, and whether this machine can look up names" },
    { CURLE_COULDNT_RESOLVE_PROXY, false, network,
      "the name of the proxy could not be found",
      "check the proxy option, or HTTPS_PROXY in the environment" },
    { CURLE_PROXY, false, network, "the proxy refused to connect",
      "check the proxy's URL and password, or exclude the host in NO_PROXY" },
    { CURLE_COULDNT_CONNECT, false, network, "could not connect",
      "check that the server runs, that base_url names its port, and that no "
      "firewall is in between" },
    { CURLE_PEER_FAILED_VERIFICATION, true, network,
      "the server could not prove who it is",
      "if its certificate is your own, name its authority with ca_file or "
      "SSL_CERT_FILE; the check cannot be switched off" },
    { CURLE_SSL_ISSUER_ERROR, true, network,
      "the server could not prove who it is",
      "name the authority of its certificate with ca_file or SSL_CERT_FILE" },
    { CURLE_SSL_CACERT_BADFILE, true, network,
      "the file of trusted certificates could not be read",
      "ca_file, or SSL_CERT_FILE, must name a file with certificates in PEM "
      "form; on many systems the package ca-certificates brings one" },
    { CURLE_SSL_CONNECT_ERROR, false, network, "the TLS handshake failed",
      "check that base_url says https:// only where the server speaks TLS "
      "(1.2 or later), and whether a proxy changes the data" },
    { CURLE_GOT_NOTHING, false, network,
      "the server closed the connection without an answer",
      "try again; if it fails again, see the log of the server" },
    { CURLE_SEND_ERROR, false, network,
      "the connection was lost while the request was sent", "try again" },
    { CURLE_RECV_ERROR, false, network, "the connection was lost",
      "try again" },
    { CURLE_PARTIAL_FILE, false, network,
      "the connection ended in the middle of the answer", "try again" },
    { CURLE_HTTP2, false, network, "the HTTP/2 connection failed",
      "try again" },
    { CURLE_HTTP2_STREAM, false, network,
      "the server reset the stream during the answer", "try again" },
    { CURLE_OPERATION_TIMEDOUT, false, "timeout", "the network took too long",
      "try again" },
    { CURLE_BAD_CONTENT_ENCODING, false, malformed,
      "the answer could not be decompressed",
      "a proxy may have damaged it" },
    { CURLE_WEIRD_SERVER_REPLY, false, malformed, "the reply is not HTTP",
      "check the port in base_url" },
    { CURLE_UNSUPPORTED_PROTOCOL, false, malformed, "the reply is not HTTP",
      "check the port in base_url" },
    { CURLE_URL_MALFORMAT, true, "invalid_request",
      "the address cannot be used", "check base_url" },
};

static const struct row other = {
    CURLE_OK, false, network, "the exchange with the server failed", "try again"
};

/* libcurl only reports that it could not connect, resolve or open a file. */
static const struct row no_descriptor = {
    CURLE_OK, true, network, "this process can open no more descriptors",
    "close some, make fewer calls at once, or raise the limit (ulimit -n)"
};

/* Is another descriptor available?  We ask the system, since libcurl does not
 * pass on most causes. */
static bool has_descriptor(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno != EMFILE && errno != ENFILE;
    close(fd);
    return true;
}

static const struct row *row_of(CURLcode code)
{
    bool opens = code == CURLE_COULDNT_RESOLVE_HOST ||
                 code == CURLE_COULDNT_RESOLVE_PROXY ||
                 code == CURLE_COULDNT_CONNECT ||
                 code == CURLE_SSL_CACERT_BADFILE || code == CURLE_FAILED_INIT;
    if (opens && !has_descriptor())
        return &no_descriptor;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].code == code)
            return &rows[i];
    return &other;
}

static const allm_error *make_error(struct arena *a, const char *reason,
                                    struct buf *message, bool final)
{
    allm_error *e = arena_alloc(a, sizeof *e);
    const allm_json *mark = final ? build_one(a, "final", json_bool(true))
                                  : NULL;
    if (!e || message->broken || (final && !mark))
        return status_nomem();
    *e = status_blank(ALLM_ERR_ADAPTER);
    e->reason = reason;
    e->message = message->ptr;
    e->metadata = mark;
    return e;
}

/* libcurl's message, unless it quotes a URL with a password. */
static const char *words_of(CURLcode code, const char *said)
{
    return said && *said && !strchr(said, '@') ? said
                                               : curl_easy_strerror(code);
}

const allm_error *failure_of(struct arena *a, CURLcode code, const char *host,
                             const char *said)
{
    const struct row *row = row_of(code);
    if (code == CURLE_OUT_OF_MEMORY)
        return status_nomem();
    struct buf text = buf_in(a, MESSAGE_LIMIT);
    buf_format(&text, "%s", row->what);
    if (host && *host)
        buf_format(&text, " (%.200s)", host);
    buf_format(&text, ": %s; %s", words_of(code, said), row->advice);
    return make_error(a, row->reason, &text, row->final);
}

/* Why a proxy did not connect. */
static const char *refusal_of(long status)
{
    if (status == 407)
        return "the proxy requires other credentials";
    return status >= 500 ? "the proxy could not connect to the server"
                         : "the proxy refused to connect to the server";
}

const allm_error *failure_proxy(struct arena *a, long status, const char *host)
{
    const char *advice =
        status == 407 ? "set a user and a password that it accepts"
                      : "ask its administrator whether it may connect to the "
                        "server, or set another proxy";
    struct buf text = buf_in(a, MESSAGE_LIMIT);
    buf_text(&text, refusal_of(status));
    if (host && *host)
        buf_format(&text, " (%.200s)", host);
    buf_format(&text,
               ": it answered CONNECT with %ld; %s, in the option proxy or in "
               "HTTPS_PROXY (http://user:password@host:port), or exclude the "
               "host in NO_PROXY",
               status, advice);
    return make_error(a, network, &text, true);
}

const allm_error *failure_refuse(struct arena *a, const char *reason,
                                 const char *format, ...)
{
    va_list args;
    struct buf text = buf_in(a, MESSAGE_LIMIT);
    va_start(args, format);
    buf_vformat(&text, format, args);
    va_end(args);
    return make_error(a, reason, &text, true);
}

const char *failure_plain(struct arena *a, const allm_error *e)
{
    static const char option[] = "base_url";
    const char *at = strstr(e->message, option);
    if (!at)
        return e->message;
    struct buf text = buf_in(a, MESSAGE_LIMIT);
    buf_format(&text, "%.*sthe URL%s", (int)(at - e->message), e->message,
               at + strlen(option));
    return text.broken ? e->message : text.ptr;
}

const char *failure_host(struct arena *a, const char *url)
{
    const char *from = strstr(url, "://");
    from = from ? from + 3 : url;
    size_t n = strcspn(from, "/?#");
    for (size_t i = n; i > 0; i--)
        if (from[i - 1] == '@') {
            from += i;
            n -= i;
            break;
        }
    const char *host = arena_copy(a, (struct slice){ from, n });
    return host ? host : "";
}
