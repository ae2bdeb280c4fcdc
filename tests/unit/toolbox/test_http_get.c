/*
 * test_http_get.c - the built-in tool http_get, with real sockets
 *
 * tag: thread
 */
#include "toolbox/builtin.h"
#include "toolbox/toolbox.h"

#include "harness/box.h"
#include "harness/check.h"
#include "harness/noun.h"
#include "harness/server.h"

#include <curl/curl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#define OK_HEAD(type, n) \
    "HTTP/1.1 200 OK\r\nContent-Type: " type "\r\nContent-Length: " #n \
    "\r\n\r\n"

struct kit {
    struct box box;
    struct server *server;
};

static bool open_kit(struct kit *k, bool any_address)
{
    static const char *const proxies[] = { "http_proxy", "https_proxy",
                                           "HTTPS_PROXY", "all_proxy",
                                           "ALL_PROXY" };
    for (size_t i = 0; i < sizeof proxies / sizeof *proxies; i++)
        unsetenv(proxies[i]);
    box_open(&k->box, "web");
    k->server = server_new();
    if (k->box.box && k->box.box->builtins)
        builtins_env(k->box.box->builtins)->net.public_only = !any_address;
    return k->server;
}

static void close_kit(struct kit *k)
{
    server_free(k->server);
    box_close(&k->box);
}

static const char *get(struct kit *k, const char *host, const char *more)
{
    char args[200];
    snprintf(args, sizeof args, "{'url': 'http://%s:%d/a'%s}", host,
             server_port(k->server), more);
    return box_call(&k->box, "http_get", args);
}

static void reads_pages(void)
{
    static const struct {
        const char *why;
        struct server_step steps[2];
        const char *more, *want;
    } rows[] = {
        { "text", { SERVER_SAY(OK_HEAD("text/plain", 5) "hello"), SERVER_END },
          "", "status: 200\ntype: text/plain\n\nhello" },
        { "JSON", { SERVER_SAY(OK_HEAD("application/json", 2) "{}"),
                    SERVER_END },
          "", "\n\n{}" },
        { "HTML", { SERVER_SAY(OK_HEAD("text/html; charset=utf-8", 24)
                               "<p>a</p><b>b &amp; c</b>"), SERVER_END },
          "", "\n\na\n\nb & c\n" },
        { "HTML in capitals", { SERVER_SAY(OK_HEAD("Text/HTML", 8) "<p>a</p>"),
                                SERVER_END },
          "", "\n\na\n" },
        { "Latin-1", { SERVER_SAY(OK_HEAD("text/plain; charset=iso-8859-1", 1)
                                  "\xE9"), SERVER_END },
          "", "\n\n\xC3\xA9" },
        { "an image", { SERVER_SAY(OK_HEAD("image/png", 4) "\x89PNG"),
                        SERVER_END },
          "", "[not text: 4 bytes]" },
        { "too much", { SERVER_SAY(OK_HEAD("text/plain", 5) "hello"),
                        SERVER_END },
          ", 'max_bytes': 3", "\n\nhel\n[cut after 3 bytes" },
        { "not found", { SERVER_SAY("HTTP/1.1 404 No\r\nContent-Length: 2\r\n"
                                    "\r\nno"), SERVER_END },
          "", "status: 404\ntype: unknown\n\nno" },
        { "a broken answer", { SERVER_CLOSE, SERVER_END }, "", "error" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct kit k;
        check_row(rows[i].why);
        if (open_kit(&k, true)) {
            server_play(k.server, rows[i].steps);
            const char *got = get(&k, "127.0.0.1", rows[i].more);
            CHECK_WHY(strstr(got, rows[i].want) != NULL, got);
        }
        close_kit(&k);
    }
}

static void sends_no_keys(void)
{
    static const struct server_step hello[] = {
        SERVER_SAY("HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\n"
                   "Content-Length: 0\r\n\r\n"),
        SERVER_END
    };
    struct kit k;
    if (open_kit(&k, true)) {
        server_play_always(k.server, hello);
        get(&k, "127.0.0.1", "");
        get(&k, "127.0.0.1", "");
        const char *sent = server_request(k.server, 1);
        CHECK_WHY(!strncmp(sent, "GET /a HTTP/1.1\r\n", 17), sent);
        CHECK_WHY(!strstr(sent, "Cookie") && !strstr(sent, "Authorization"),
                  sent);
    }
    close_kit(&k);
}

static void follows_redirects(void)
{
    static const struct server_step again
        [] = {
        SERVER_SAY("HTTP/1.1 302 Found\r\nLocation: /b?c\r\n"
                   "Content-Length: 0\r\n\r\n"),
        SERVER_END
    },
   away[] = {
        SERVER_SAY("HTTP/1.1 301 Moved\r\nLocation: http://example.org/x\r\n"
                   "Content-Length: 0\r\n\r\n"),
        SERVER_END
    },
   file[] = {
        SERVER_SAY("HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n"
                   "Content-Length: 0\r\n\r\n"),
        SERVER_END
    },
   hello[] = { SERVER_SAY(OK_HEAD("text/plain", 5) "hello"), SERVER_END };
    struct kit k;
    if (open_kit(&k, true)) {
        for (int i = 0; i < 5; i++)
            server_play(k.server, again);
        server_play(k.server, hello);
        const char *got = get(&k, "127.0.0.1", "");
        CHECK_WHY(strstr(got, "hello") && strstr(got, "/b?c\n"), got);
        for (int i = 0; i < 6; i++)
            server_play(k.server, again);
        got = get(&k, "127.0.0.1", "");
        CHECK_WHY(strstr(got, "more than 5 redirects") != NULL, got);
        server_play(k.server, away);
        got = get(&k, "127.0.0.1", "");
        CHECK_WHY(strstr(got, "another host: http://example.org/x") != NULL,
                  got);
        server_play(k.server, file);
        got = get(&k, "127.0.0.1", "");
        CHECK_WHY(strstr(got, "http:// or https://") != NULL, got);
    }
    close_kit(&k);
}

/* What the rules see is the name to which the client connects, however it is
 * spelled; without such a name nothing is requested. */
static void reaches_the_host_in_ascii(void)
{
    static const struct {
        const char *args, *want;
    } rows[] = {
        { "{'url': 'http://Evil.ORG/'}", "['net evil.org']" },
        { "{'url': 'http://\xEF\xBD\x85vil.org/'}", "['net evil.org']" },
        { "{'url': 'http://%EF%BD%85vil.org/'}", "['net evil.org']" },
        { "{'url': 'http://b\xC3\xBC" "cher.example/'}",
          "['net xn--bcher-kva.example']" },
    };
    bool idn = curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_IDN;
    bool knows = idn && setlocale(LC_CTYPE, "C.UTF-8") &&
                 curl_version_info(CURLVERSION_NOW)->version_num >= 0x075800;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        allm_json *args = noun_json(rows[i].args);
        check_row(rows[i].args);
        arena_init(&a, mem_default());
        CHECK_VALUE(http_get_reach(NULL, NULL, args, &a),
                    knows || !i ? rows[i].want : "['net unknown']");
        arena_release(&a);
        allm_json_free(args);
    }
    setlocale(LC_CTYPE, "C");
}

/* Nothing connects: the socket is refused before. */
static void refuses_private_addresses(void)
{
    static const char *const hosts[] = {
        "127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0",
        "127.1", "2130706433", "0x7f000001", "[::]", "169.254.169.254",
        "10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "224.0.0.1",
        "255.255.255.255", "[fe80::1]", "[fc00::1]", "[ff02::1]",
        "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::127.0.0.1]",
    };
    struct kit k;
    if (open_kit(&k, false)) {
        for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
            check_row(hosts[i]);
            const char *got = get(&k, hosts[i], "");
            CHECK_WHY(strstr(got, "private network") != NULL, got);
        }
        CHECK_INT(server_look(k.server).connections, 0);
    }
    close_kit(&k);
}

static void refuses_other_urls(void)
{
    static const struct {
        const char *why, *args, *want;
    } rows[] = {
        { "a file", "{'url': 'file:///etc/passwd'}", "http:// or https://" },
        { "FTP", "{'url': 'ftp://example.org/'}", "http:// or https://" },
        { "a password", "{'url': 'http://a:b@example.org/'}",
          "may not have a name or a password" },
        { "no URL", "{'url': 'http://'}", "is not a URL" },
        { "a host without a name in ASCII", "{'url': 'http://a\xEF\xBF\xBD/'}",
          "is not a URL" },
        { "nothing", "{}", "invalid_arguments" },
        { "too many bytes", "{'url': 'http://a', 'max_bytes': 5000000}",
          "invalid_arguments" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct kit k;
        check_row(rows[i].why);
        if (open_kit(&k, false)) {
            const char *got = box_call(&k.box, "http_get", rows[i].args);
            CHECK_WHY(strstr(got, rows[i].want) != NULL, got);
        }
        close_kit(&k);
    }
}

static void refuses_proxies(void)
{
    static const struct server_step hello[] = {
        SERVER_SAY(OK_HEAD("text/plain", 5) "hello"), SERVER_END
    };
    struct kit k;
    if (open_kit(&k, true)) {
        setenv("all_proxy", "http://127.0.0.1:1", 1);
        const char *got = get(&k, "127.0.0.1", "");
        CHECK_WHY(strstr(got, "behind the proxy") != NULL, got);
        setenv("no_proxy", "a.org, 27.0.0.1,127.0.0.1.org", 1);
        got = get(&k, "127.0.0.1", "");
        CHECK_WHY(strstr(got, "behind the proxy") != NULL, got);
        CHECK_INT(server_look(k.server).connections, 0);
        setenv("no_proxy", "a.org, 127.0.0.1", 1);
        server_play(k.server, hello);
        got = get(&k, "127.0.0.1", "");
        CHECK_WHY(strstr(got, "hello") != NULL, got);
        unsetenv("no_proxy");
        unsetenv("all_proxy");
    }
    close_kit(&k);
}

/* The options of the toolbox are the user's. */
static void uses_a_proxy_of_the_options(void)
{
    static const struct server_step hello[] = {
        SERVER_SAY(OK_HEAD("text/plain", 5) "hello"), SERVER_END
    };
    struct kit k;
    char proxy[64];
    if (open_kit(&k, false)) {
        snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d",
                 server_port(k.server));
        box_renew(&k.box,
                  ALLM(toolbox_opts, .net = ALLM(net_opts, .proxy = proxy,
                                                 .user_agent = "me/1")));
        CHECK_INT(allm_toolbox_add_builtin(k.box.box, "web"), ALLM_OK);
        server_play(k.server, hello);
        const char *got = box_call(&k.box, "http_get",
                                   "{'url': 'http://example.org/a'}");
        CHECK_WHY(strstr(got, "hello") != NULL, got);
        const char *sent = server_request(k.server, 0);
        CHECK_WHY(!strncmp(sent, "GET http://example.org/a HTTP/1.1\r\n", 35) &&
                      strstr(sent, "User-Agent: me/1"),
                  sent);
    }
    close_kit(&k);
}

static void is_cancelled(void)
{
    static const struct server_step never[] = { SERVER_PAUSE, SERVER_END };
    struct kit k;
    if (open_kit(&k, true)) {
        char args[100];
        server_play(k.server, never);
        snprintf(args, sizeof args, "{'url': 'http://127.0.0.1:%d/'}",
                 server_port(k.server));
        allm_stream *s = box_start(&k.box, "http_get", args);
        const allm_event *event;
        allm_stream_next(s, &event);
        allm_stream_free(s);
    }
    close_kit(&k);
}

TESTS = {
    TEST_ONCE(reads_pages),
    TEST_ONCE(sends_no_keys),
    TEST_ONCE(follows_redirects),
    TEST_ONCE(reaches_the_host_in_ascii),
    TEST_ONCE(refuses_private_addresses),
    TEST(refuses_other_urls),
    TEST_ONCE(refuses_proxies),
    TEST_ONCE(uses_a_proxy_of_the_options),
    TEST_ONCE(is_cancelled),
    TESTS_END,
};
