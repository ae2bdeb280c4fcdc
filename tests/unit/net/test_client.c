/*
 * test_client.c - the HTTP client against a scripted server
 *
 * tag: thread
 */
#include "net/client.h"

#include "base/clock.h"
#include "harness/check.h"
#include "harness/driver.h"
#include "harness/watch.h"
#include "net/exchange.h"
#include "net/head.h"
#include "net/transport.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

#define HEAD_LEN(n) "HTTP/1.1 200 OK\r\nContent-Length: " #n "\r\n\r\n"
#define HEAD_CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

static const struct server_step hello[] = { SERVER_SAY(HEAD_LEN(5) "hello"),
                                            SERVER_END };

/* ------------------------------------------------------------ exchanges --- */

static void sends_a_request_and_reads_the_answer(void)
{
    struct driver d;
    if (!driver_init(&d, NULL))
        return;
    server_play(d.server, hello);
    struct answer *a = driver_post(&d, "/v1/x", "{\"a\":1}");
    driver_finish(&d, a);
    CHECK_INT(a->status, ALLM_OK);
    CHECK_INT(a->http, 200);
    CHECK_TEXT(a->body, "hello");
    CHECK(!a->reused);
    if (a->status == ALLM_OK)
        CHECK_TEXT(driver_header(&d, a, "Content-Length"), "5");
    driver_close(&d, a);
    const char *sent = server_request(d.server, 0);
    CHECK(!strncmp(sent, "POST /v1/x HTTP/1.1\r\n", 21));
    CHECK(strstr(sent, "\r\nContent-Type: application/json\r\n") != NULL);
    CHECK(strstr(sent, "\r\nX-Empty:\r\n") != NULL);
    CHECK(strstr(sent, "\r\nAccept-Encoding: gzip\r\n") != NULL);
    CHECK(strstr(sent, "\r\nUser-Agent: liballm/") != NULL);
    CHECK(!strstr(sent, "Expect"));
    CHECK(strstr(sent, "\r\n\r\n{\"a\":1}") != NULL);
    driver_release(&d);
}

static void knows_the_methods(void)
{
    static const struct server_step empty[] = { SERVER_SAY(HEAD_LEN(0)),
                                                SERVER_END };
    static const struct {
        const char *why, *method, *body, *expected;
    } rows[] = {
        { "a question", "GET", "", "GET / HTTP/1.1\r\n" },
        { "an empty body", "POST", "", "POST / HTTP/1.1\r\n" },
        { "a method with a body", "PUT", "x", "PUT / HTTP/1.1\r\n" },
        { "and one without", "DELETE", "", "DELETE / HTTP/1.1\r\n" },
    };
    struct driver d;
    if (!driver_init(&d, NULL))
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        server_play(d.server, empty);
        struct answer *a = driver_open(
            &d, &(allm_http_view){ .size = sizeof(allm_http_view),
                                   .method = rows[i].method,
                                   .url = d.url,
                                   .body = rows[i].body,
                                   .body_len = strlen(rows[i].body) });
        driver_finish(&d, a);
        CHECK_INT(a->status, ALLM_OK);
        driver_close(&d, a);
        const char *sent = server_request(d.server, i);
        CHECK(!strncmp(sent, rows[i].expected, strlen(rows[i].expected)));
        CHECK(!strstr(sent, "Content-Type"));
        size_t n = strlen(sent), m = strlen(rows[i].body);
        CHECK(n > m && !strcmp(sent + n - m, rows[i].body));
    }
    driver_release(&d);
}

static void reads_chunks_as_they_come(void)
{
    static const struct server_step steps[] = {
        SERVER_SAY(HEAD_CHUNKED "3\r\nabc\r\n"), SERVER_PAUSE,
        SERVER_SAY("2\r\nde\r\n"),               SERVER_PAUSE,
        SERVER_SAY("0\r\nX-Trailer: t\r\n\r\n"), SERVER_END,
    };
    struct driver d;
    if (!driver_init(&d, NULL))
        return;
    server_play(d.server, steps);
    struct answer *a = driver_post(&d, "/", "");
    DRIVER_UNTIL(&d, driver_read(&d, a) || a->len == 3);
    CHECK_INT(a->status, ALLM_AGAIN);
    CHECK_INT(client_open(d.client), a->exchange ? 1 : 0);
    waker_clear(&a->waker);
    server_go(d.server);
    if (a->exchange)
        DRIVER_UNTIL(&d, waker_clear(&a->waker));
    CHECK(!driver_read(&d, a));
    CHECK_TEXT(a->body, "abcde");
    server_go(d.server);
    if (a->exchange)
        DRIVER_UNTIL(&d, waker_clear(&a->waker));
    driver_finish(&d, a);
    CHECK_INT(a->status, ALLM_OK);
    CHECK_TEXT(a->body, "abcde");
    if (a->exchange && d.client)
        CHECK(!driver_header(&d, a, "X-Trailer"));
    CHECK_INT(client_open(d.client), 0);
    driver_close(&d, a);
    driver_release(&d);
}

static void tells_when_the_connection_stands(void)
{
    static const struct server_step steps[] = { SERVER_PAUSE,
                                                SERVER_SAY(HEAD_LEN(0)),
                                                SERVER_END };
    struct driver d;
    if (!driver_init(&d, NULL))
        return;
    server_play(d.server, steps);
    struct answer *a = driver_post(&d, "/", "x");
    if (a->exchange) {
        const allm_transport *t = client_transport(d.client);
        CHECK(!t->ready(t->self, a->exchange));
        DRIVER_UNTIL(&d, t->ready(t->self, a->exchange));
        CHECK_INT(a->status, ALLM_AGAIN);
    }
    server_go(d.server);
    driver_finish(&d, a);
    CHECK_INT(a->status, ALLM_OK);
    driver_close(&d, a);
    driver_release(&d);
}

static void passes_over_provisional_answers(void)
{
    static const struct server_step steps[] = {
        SERVER_SAY("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"),
        SERVER_SAY("HTTP/1.1 404 No\r\nRetry-After:  7 \r\n"
                   "Content-Length: 4\r\n\r\nnope"),
        SERVER_END,
    };
    struct driver d;
    if (!driver_init(&d, NULL))
        return;
    server_play(d.server, steps);
    struct answer *a = driver_post(&d, "/", "");
    driver_finish(&d, a);
    CHECK_INT(a->http, 404);
    CHECK_TEXT(a->body, "nope");
    if (a->status == ALLM_OK) {
        CHECK_TEXT(driver_header(&d, a, "Retry-After"), "7");
        CHECK(!driver_header(&d, a, "Link"));
    }
    driver_close(&d, a);
    driver_release(&d);
}

static void never_follows_a_redirect(void)
{
    static const struct server_step steps[] = {
        SERVER_SAY("HTTP/1.1 307 Moved\r\nLocation: /other\r\n"
                   "Content-Length: 0\r\n\r\n"),
        SERVER_END,
    };
    struct driver d;
    if (!driver_init(&d, NULL))
        return;
    server_play(d.server, steps);
    struct answer *a = driver_post(&d, "/", "");
    driver_finish(&d, a);
    CHECK_INT(a->http, 307);
    CHECK_INT(server_look(d.server).requests, 1);
    driver_close(&d, a);
    driver_release(&d);
}

/* printf '%s' 'data: hello hello hello hello' | gzip -n9 */
static const unsigned char zipped[] = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
    0x4b, 0x49, 0x2c, 0x49, 0xb4, 0x52, 0xc8, 0x48, 0xcd, 0xc9,
    0xc9, 0xc7, 0x24, 0x01, 0xb9, 0x87, 0x6c, 0x7e, 0x1d, 0x00,
    0x00, 0x00,
};

static void inflates_gzip(void)
{
    const struct server_step steps[] = {
        SERVER_SAY("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
                   "Content-Length: 32\r\n\r\n"),
        SERVER_SLICE((const char *)zipped, sizeof zipped),
        SERVER_END,
    };
    struct driver d;
    if (!driver_init(&d, NULL))
        return;
    server_play(d.server, steps);
    struct answer *a = driver_post(&d, "/", "");
    driver_finish(&d, a);
    CHECK_INT(a->status, ALLM_OK);
    CHECK_TEXT(a->body, "data: hello hello hello hello");
    driver_close(&d, a);
    driver_release(&d);
}

/* ------------------------------------------------------------- failures --- */

static void says_why_an_answer_broke(void)
{
    static const struct server_step none[] = { SERVER_CLOSE };
    static const struct server_step rude[] = {
        SERVER_SAY(HEAD_CHUNKED "3\r\nabc\r\n"), SERVER_PAUSE, SERVER_RESET
    };
    static const struct server_step cut[] = { SERVER_SAY(HEAD_LEN(10) "abc"),
                                              SERVER_CLOSE };
    static const struct server_step cut_chunk[] = {
        SERVER_SAY(HEAD_CHUNKED "9\r\nabc"), SERVER_CLOSE
    };
    static const struct server_step junk[] = { SERVER_SAY("SSH-2.0 hi\r\n"),
                                               SERVER_CLOSE };
    static const struct server_step bad_zip[] = {
        SERVER_SAY("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
                   "Content-Length: 12\r\n\r\nnot gzipped!"),
        SERVER_END
    };
    static const struct {
        const char *why;
        const struct server_step *steps;
        const char *reason, *word;
    } rows[] = {
        { "no answer at all", none, "network_error", "without an answer" },
        { "a reset in the middle", rude, "network_error", "was lost" },
        { "shorter than promised", cut, "network_error", "in the middle" },
        { "cut inside a chunk", cut_chunk, "network_error", "in the middle" },
        { "no HTTP", junk, "malformed_response", "not HTTP" },
        { "no gzip", bad_zip, "malformed_response", "decompressed" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct driver d;
        if (!driver_init(&d, NULL))
            return;
        check_row(rows[i].why);
        server_play(d.server, rows[i].steps);
        struct answer *a = driver_post(&d, "/", "x");
        if (rows[i].steps == rude) {
            DRIVER_UNTIL(&d, driver_read(&d, a) || a->len == 3);
            server_go(d.server);
        }
        driver_finish(&d, a);
        CHECK_INT(a->status, ALLM_ERR_ADAPTER);
        CHECK_TEXT(a->reason, rows[i].reason);
        CHECK_WHY(strstr(a->message, rows[i].word) != NULL, a->message);
        CHECK(strstr(a->message, "127.0.0.1") != NULL);
        driver_close(&d, a);
        driver_release(&d);
    }
}

static void reports_a_refused_connection(void)
{
    struct driver d;
    char url[64];
    if (!driver_init(&d, NULL))
        return;
    struct server *gone = server_new();
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", server_port(gone));
    server_free(gone);
    struct answer *a = driver_post(&d, url, "x");
    driver_finish(&d, a);
    CHECK_TEXT(a->reason, "network_error");
    CHECK_WHY(strstr(a->message, "check that the server runs") != NULL,
              a->message);
    driver_close(&d, a);
    driver_release(&d);
}

static void refuses_what_cannot_be_sent(void)
{
    static const char *const broken[] = { "X-A", "b\r\nX-C: d" };
    static const struct {
        const char *why, *url;
        size_t headers;
        const char *secret, *word;
    } rows[] = {
        { "another protocol", "file:///etc/passwd", 0, NULL, "https://" },
        { "no protocol", "localhost:80", 0, NULL, "https://" },
        { "a line break", "http://h/\nx", 0, NULL, "https://" },
        { "no address", NULL, 0, NULL, "https://" },
        { "a header too many", "http://h/", 1, NULL, "X-A" },
        { "a key with its line's end", "http://h/", 0, "Bearer k\n", "key" },
        { "a key with a byte of a terminal's", "http://h/", 0, "Bearer \x1b[A",
          "key" },
    };
    struct driver d;
    if (!driver_init(&d, NULL))
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        struct answer *a = driver_open(
            &d, &(allm_http_view){ .size = sizeof(allm_http_view),
                               .method = "POST",
                               .url = rows[i].url,
                               .header_count = rows[i].headers,
                               .header = broken,
                               .secret_name = rows[i].secret ? "Authorization"
                                                             : NULL,
                               .secret_value = rows[i].secret });
        CHECK_ALWAYS(!a->exchange);
        CHECK_TEXT(a->reason, "invalid_request");
        CHECK_WHY(strstr(a->message, rows[i].word) != NULL, a->message);
        CHECK(!strstr(a->message, "Bearer"));
        driver_close(&d, a);
    }
    driver_release(&d);
}

static void refuses_an_endless_head(void)
{
    static char line[4096];
    struct server_step steps[40];
    struct driver d;
    if (!driver_init(&d, NULL))
        return;
    memset(line, 'x', sizeof line);
    memcpy(line, "X-Long: ", 8);
    memcpy(line + sizeof line - 2, "\r\n", 2);
    steps[0] = (struct server_step)SERVER_SAY("HTTP/1.1 200 OK\r\n");
    for (int i = 1; i < 39; i++)
        steps[i] = (struct server_step)SERVER_SLICE(line, sizeof line);
    steps[39] = (struct server_step)SERVER_CLOSE;
    server_play(d.server, steps);
    struct answer *a = driver_post(&d, "/", "");
    driver_finish(&d, a);
    CHECK_TEXT(a->reason, "malformed_response");
    CHECK_WHY(strstr(a->message, "64 KiB") != NULL, a->message);
    driver_close(&d, a);
    driver_release(&d);
}

/* The last byte that is taken, and the first that is not; the status line and
 * the blank one count, too. */
static void heads_of_64_kib_are_the_limit(void)
{
    static const char first[] = "HTTP/1.1 204 OK\r\n", last[] = "\r\n\r\n";
    static char head[HEAD_LIMIT + 1];
    for (size_t len = HEAD_LIMIT; len <= HEAD_LIMIT + 1; len++) {
        struct driver d;
        if (!driver_init(&d, NULL))
            return;
        memset(head, 'x', sizeof head);
        memcpy(head, first, sizeof first - 1);
        for (size_t at = sizeof first - 1; at + 4096 < len; at += 4096)
            memcpy(head + at - 2, "\r\nX-Long: ", 10);
        memcpy(head + len - 4, last, 4);
        const struct server_step steps[] = { SERVER_SLICE(head, len),
                                             SERVER_END };
        server_play(d.server, steps);
        struct answer *a = driver_post(&d, "/", "");
        driver_finish(&d, a);
        CHECK_TEXT(a->reason, len > HEAD_LIMIT ? "malformed_response" : "");
        driver_close(&d, a);
        driver_release(&d);
    }
}

/* ---------------------------------------------------------- connections --- */

static void uses_a_connection_again(void)
{
    struct driver d;
    if (!driver_init(&d, NULL))
        return;
    server_play_always(d.server, hello);
    for (int i = 0; i < 3; i++) {
        struct answer *a = driver_post(&d, "/", "x");
        driver_finish(&d, a);
        CHECK_INT(a->status, ALLM_OK);
        CHECK(a->reused == (i > 0));
        driver_close(&d, a);
    }
    CHECK_INT(server_look(d.server).connections, 1);
    driver_release(&d);
}

/* Handles are used again: nothing of a request may be in a later one, and no
 * option of it may last. */
static void a_request_has_nothing_of_the_one_before(void)
{
    static const char *const other[] = { "X-Other", "2" };
    static const char *const one[] = { "X-One", "1" };
    struct driver d;
    if (!driver_init(&d, NULL))
        return;
    server_play_always(d.server, hello);
    const struct {
        const char *method, *body;
        const char *const *header;
        const char *expected, *missing;
    } rows[] = {
        { "POST", "first", one, "\r\n\r\nfirst", "X-Other" },
        { "POST", "", other, "Content-Length: 0\r\n", "X-One" },
        { "GET", "", one, "GET / HTTP/1.1\r\n", "first" },
        { "POST", "x", other, "POST / HTTP/1.1\r\n", "X-One" },
        { "PUT", "put", one, "PUT / HTTP/1.1\r\n", "X-Other" },
        { "POST", "y", one, "POST / HTTP/1.1\r\n", "put" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].expected);
        allm_http_view view = { .size = sizeof view, .url = d.url };
        view.method = rows[i].method;
        view.header_count = 1;
        view.header = rows[i].header;
        view.body = rows[i].body;
        view.body_len = strlen(rows[i].body);
        struct answer *a = driver_open(&d, &view);
        driver_finish(&d, a);
        CHECK_TEXT(a->body, "hello");
        driver_close(&d, a);
        const char *sent = server_request(d.server, i);
        CHECK_WHY(strstr(sent, rows[i].expected) != NULL, sent);
        CHECK_WHY(!strstr(sent, rows[i].missing), sent);
    }
    CHECK_INT(server_look(d.server).connections, 1);
    driver_release(&d);
}

/* The parsed form of an address is shared, so a request to another address must
 * neither get it nor take it away from one that runs. */
static void every_request_goes_to_its_address(void)
{
    static const char *const rows[][2] = {
        { "/one", "/two" }, { "/two", "/two?x" }, { "/one", "/one" },
        { "/two", "/one" }      /* in a handle that had the parsed form */
    };
    struct driver d;
    if (!driver_init(&d, NULL))
        return;
    server_play_always(d.server, hello);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct answer *all[2];
        for (int k = 0; k < 2; k++)
            all[k] = driver_post(&d, rows[i][k], rows[i][k]);
        for (int k = 0; k < 2; k++) {
            driver_finish(&d, all[k]);
            driver_close(&d, all[k]);
        }
    }
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        const char *sent = server_request(d.server, i);
        const char *body = strstr(sent, "\r\n\r\n");
        char line[64];
        snprintf(line, sizeof line, "POST %s HTTP/1.1\r\n",
                 body ? body + 4 : "");
        CHECK_WHY(!strncmp(sent, line, strlen(line)), sent);
    }
    driver_release(&d);
}

/* A connection that nobody uses stays in the set; when the server closes it, it
 * is removed, and the set is silent again. */
static void an_idle_connection_that_dies_wakes_once(void)
{
    static const struct server_step bye[] = {
        SERVER_SAY(HEAD_LEN(5) "hello"), SERVER_PAUSE, SERVER_CLOSE
    };
    struct driver d;
    struct poll_ready r;
    if (!driver_init(&d, NULL))
        return;
    server_play(d.server, bye);
    server_play(d.server, hello);
    struct answer *a = driver_post(&d, "/", "x");
    driver_finish(&d, a);
    driver_close(&d, a);
    server_go(d.server);
    DRIVER_UNTIL(&d, server_look(d.server).open == 0);
    for (int i = 0; check_whole() && i < 2; i++)
        driver_turn(&d);
    if (check_whole()) {
        CHECK(poll_wait(&d.poll, 0) == 0);
        while (poll_next(&d.poll, &r))
            CHECK(r.tag == &d.bell);
    }
    a = driver_post(&d, "/", "x");
    driver_finish(&d, a);
    CHECK_TEXT(a->body, "hello");
    CHECK(!a->reused);
    driver_close(&d, a);
    driver_release(&d);
}

/* A reader that has all it needs goes before the answer's last chunk, which
 * says nothing but that this was all; or, which it is not, more. */
static void an_end_behind_the_last_byte_is_seen(void)
{
    static const char first[] = HEAD_CHUNKED "3\r\nabc\r\n";
    static const struct {
        const char *why, *rest;
        bool reused;
    } rows[] = {
        { "the end", "0\r\n\r\n", true },
        { "more", "1\r\nd\r\n", false },
        { "more, and the end", "1\r\nd\r\n0\r\n\r\n", false },
        { "nothing", "", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct driver d;
        size_t len = strlen(rows[i].rest);
        const struct server_step steps[] = { SERVER_SLICE(first,
                                                          sizeof first - 1),
                                             SERVER_PAUSE,
                                             SERVER_SLICE(rows[i].rest, len),
                                             SERVER_END };
        check_row(rows[i].why);
        if (!driver_init(&d, NULL))
            return;
        server_play(d.server, steps);
        server_play(d.server, hello);
        struct answer *a = driver_post(&d, "/", "x");
        DRIVER_UNTIL(&d, driver_read(&d, a) || a->len == 3);
        server_go(d.server);
        while (check_whole() &&
               server_look(d.server).sent < sizeof first - 1 + len)
            ;
        bool begun = a->len == 3;
        driver_close(&d, a);
        if (begun) {
            a = driver_post(&d, "/", "x");
            driver_finish(&d, a);
            CHECK(a->reused == rows[i].reused);
            driver_close(&d, a);
        }
        driver_release(&d);
    }
}

static void leaves_connections_alone_if_requested(void)
{
    struct driver d;
    if (!driver_init(&d, &(struct client_opts){ .max_idle_ms = -1 }))
        return;
    server_play_always(d.server, hello);
    for (int i = 0; i < 2; i++) {
        struct answer *a = driver_post(&d, "/", "x");
        driver_finish(&d, a);
        CHECK(!a->reused);
        driver_close(&d, a);
    }
    CHECK_INT(server_look(d.server).connections, 2);
    driver_release(&d);
}

/* The second request finds a connection that dies under it: libcurl sends it
 * again, body and all, over a new one, and nobody notices. */
static void die_under_a_body_of(size_t len)
{
    static const struct server_step die[] = { SERVER_CLOSE };
    static char body[100001];
    struct driver d;
    if (!driver_init(&d, NULL))
        return;
    memset(body, 'b', len);
    body[len] = '\0';
    server_play(d.server, hello);
    server_play(d.server, die);
    server_play(d.server, hello);
    for (int i = 0; i < 2; i++) {
        struct answer *a = driver_post(&d, "/", body);
        driver_finish(&d, a);
        CHECK_INT(a->status, ALLM_OK);
        CHECK_TEXT(a->body, "hello");
        CHECK(!a->reused);
        driver_close(&d, a);
    }
    struct server_seen seen = server_look(d.server);
    CHECK_INT(seen.connections, 2);
    CHECK_INT(seen.requests, 3);
    const char *again = strstr(server_request(d.server, 2), "\r\n\r\n");
    CHECK(again && !strcmp(again + 4, body));
    driver_release(&d);
}

static void survives_the_death_of_an_idle_connection(void)
{
    die_under_a_body_of(100000);
    die_under_a_body_of(100);
}

/* A body in three pieces, the middle one borrowed. */
static struct answer *post_pieces(struct driver *d, struct slice body)
{
    size_t third = body.len / 3;
    const struct rope_loan loan = { third, { body.ptr + third, third } };
    struct transport_request r = { .view = { .size = sizeof r, .url = d->url,
                                             .body_len = body.len } };
    char *own = malloc(body.len);
    if (!own)
        return NULL;
    memcpy(own, body.ptr, third);
    memcpy(own + third, body.ptr + 2 * third, body.len - 2 * third);
    r.body = (struct rope){ { own, body.len - third }, &loan, 1, body.len };
    struct answer *a = driver_open(d, &r.view);
    driver_finish(d, a);
    driver_close(d, a);
    free(own);
    return a;
}

/* The connection of the second request dies, so its body is read twice. */
static void reads_a_body_in_pieces(void)
{
    static const struct server_step die[] = { SERVER_CLOSE };
    static const size_t sizes[] = { 10, 100000, 600000 };
    static char body[600001];
    for (size_t i = 0; i < sizeof body - 1; i++)
        body[i] = (char)('a' + i / 7 % 26);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct driver d;
        if (!driver_init(&d, NULL))
            return;
        server_play(d.server, hello);
        server_play(d.server, die);
        server_play(d.server, hello);
        struct slice text = { body, sizes[i] };
        bool sent = post_pieces(&d, text) && post_pieces(&d, text);
        for (size_t n = 0; n < 3 && sent && check_whole(); n += 2) {
            const char *got = strstr(server_request(d.server, n), "\r\n\r\n");
            CHECK(got && strlen(got + 4) == text.len &&
                  !memcmp(got + 4, body, text.len));
        }
        driver_release(&d);
    }
}

static void never_sends_twice_on_a_new_connection(void)
{
    static const struct server_step die[] = { SERVER_CLOSE };
    struct driver d;
    if (!driver_init(&d, NULL))
        return;
    server_play_always(d.server, die);
    struct answer *a = driver_post(&d, "/", "x");
    driver_finish(&d, a);
    CHECK_INT(a->status, ALLM_ERR_ADAPTER);
    driver_close(&d, a);
    CHECK_INT(server_look(d.server).requests, 1);
    driver_release(&d);
}

static void runs_many_at_once(void)
{
    enum { MANY = 40 };
    static const struct server_step steps[] = {
        SERVER_PAUSE, SERVER_SAY(HEAD_LEN(2) "ok"), SERVER_END
    };
    struct answer *all[MANY];
    struct driver d;
    if (!driver_init(&d, NULL))
        return;
    server_play_always(d.server, steps);
    for (int i = 0; i < MANY; i++)
        all[i] = driver_post(&d, "/", "x");
    DRIVER_UNTIL(&d, server_look(d.server).paused == MANY);
    CHECK_INT(client_open(d.client), MANY);
    for (int i = 0; i < MANY; i++)
        server_go(d.server);
    for (int i = 0; i < MANY; i++) {
        driver_finish(&d, all[i]);
        CHECK_TEXT(all[i]->body, "ok");
        driver_close(&d, all[i]);
    }
    driver_release(&d);
}

/* -------------------------------------------------------- back-pressure --- */

enum { FLOOD = 64 << 20 };
#define KERNEL (8 << 20)        /* what sockets on both sides may hold */

static const struct server_step flood[] = {
    SERVER_SAY("HTTP/1.1 200 OK\r\nContent-Length: 67108864\r\n\r\n"),
    SERVER_FLOOD(FLOOD),
    SERVER_END,
};

/* Read one piece, so that the exchange has begun, and no more. */
static void sip(struct driver *d, struct answer *a)
{
    const allm_transport *t = client_transport(d->client);
    allm_chunk chunk = { .size = sizeof chunk };
    allm_status status = ALLM_AGAIN;
    if (a->exchange)
        DRIVER_UNTIL(d, (status = t->read(t->self, a->exchange, &chunk)) !=
                            ALLM_AGAIN);
    CHECK_INT(status, ALLM_EVENT);
    a->len += status == ALLM_EVENT ? chunk.len : 0;
}

/* Turn until the server has nothing more to do, however often it is let. */
static void turn_until_stalled(struct driver *d)
{
    size_t sent = 0, still = 0;
    for (int i = 0; i < 2000 && still < 20 && check_whole(); i++) {
        driver_turn(d);
        struct server_seen seen = server_look(d->server);
        still = seen.sent == sent && seen.stalls ? still + 1 : 0;
        sent = seen.sent;
    }
    CHECK_INT(still, 20);
}

static void holds_back_a_server_without_a_reader(void)
{
    struct driver d;
    if (!driver_init(&d, NULL))
        return;
    server_play(d.server, flood);
    size_t before = check_live_bytes();
    struct answer *a = driver_post(&d, "/", "x");
    if (d.client)
        sip(&d, a);
    turn_until_stalled(&d);
    CHECK(server_look(d.server).sent < KERNEL);
    /* what waits, one block that was lent, and the rest of the exchange */
    CHECK_ALWAYS(check_live_bytes() - before <
                 EXCHANGE_BUFFER + 3 * 4096 + 16 * 1024);
    driver_finish(&d, a);
    CHECK_INT(a->status, ALLM_OK);
    CHECK_INT(a->len, FLOOD);
    driver_close(&d, a);
    driver_release(&d);
}

static void closes_the_socket_when_cancelled(void)
{
    struct driver d;
    if (!driver_init(&d, NULL))
        return;
    server_play(d.server, flood);
    struct answer *a = driver_post(&d, "/", "x");
    if (d.client)
        sip(&d, a);
    driver_close(&d, a);
    if (d.client) {
        CHECK_INT(client_open(d.client), 0);
        DRIVER_UNTIL(&d, server_look(d.server).open == 0);
    }
    CHECK_ALWAYS(server_look(d.server).sent < KERNEL);
    driver_release(&d);
}

static void closes_at_any_time(void)
{
    static const struct server_step steps[] = {
        SERVER_PAUSE, SERVER_SAY(HEAD_CHUNKED "1\r\na\r\n"), SERVER_PAUSE,
        SERVER_SAY("0\r\n\r\n"), SERVER_END
    };
    for (size_t when = 0; when < 4; when++) {
        struct driver d;
        if (!driver_init(&d, NULL))
            return;
        server_play(d.server, steps);
        struct answer *a = driver_post(&d, "/", "x");
        if (when > 0 && a->exchange)
            DRIVER_UNTIL(&d, server_look(d.server).paused == 1);
        if (when > 1)
            server_go(d.server);
        if (when > 1 && a->exchange)
            DRIVER_UNTIL(&d, driver_read(&d, a) || a->len == 1);
        if (when > 2) {
            server_go(d.server);
            driver_finish(&d, a);
        }
        driver_close(&d, a);
        CHECK_ALWAYS(client_open(d.client) == 0);
        driver_release(&d);
    }
}

/* An answer may begin before the request has gone: the caller's body must not
 * be needed any more. */
static void lets_go_of_the_body_with_the_first_byte(void)
{
    enum { LONG = 4 << 20 };
    static const struct server_step early[] = {
        SERVER_SAY(HEAD_LEN(4) "so"), SERVER_BODY, SERVER_SAY("on"), SERVER_END
    };
    struct driver d;
    char *body = malloc(LONG + 1);
    if (!body || !driver_init(&d, NULL)) {
        free(body);
        return;
    }
    memset(body, 'x', LONG);
    body[LONG] = '\0';
    server_hurry(d.server);
    server_play(d.server, early);
    struct answer *a = driver_post(&d, "/", body);
    if (d.client)
        sip(&d, a);
    memset(body, 'y', LONG);
    free(body);
    driver_finish(&d, a);
    CHECK_INT(a->status, ALLM_OK);
    const char *sent = strstr(server_request(d.server, 0), "\r\n\r\n");
    CHECK(sent && strlen(sent + 4) == LONG && !strchr(sent + 4, 'y'));
    driver_close(&d, a);
    driver_release(&d);
}

/* -------------------------------------------------------------- secrets --- */

static void wipes_the_secret(void)
{
    struct driver d;
    if (!driver_init(&d, NULL))
        return;
    struct watch w = watch_for("sk-secret");
    struct client *plain = d.client;
    d.client = client_new(watch_mem(&w), &d.poll, NULL);
    server_play(d.server, hello);
    struct answer *a =
        driver_open(&d, &(allm_http_view){ .size = sizeof(allm_http_view),
                               .method = "POST",
                               .url = d.url,
                               .secret_name = "Authorization",
                               .secret_value = "Bearer sk-secret",
                               .body = "x",
                               .body_len = 1 });
    driver_finish(&d, a);
    driver_close(&d, a);
    CHECK(strstr(server_request(d.server, 0),
                 "\r\nAuthorization: Bearer sk-secret\r\n") != NULL);
    client_free(d.client);
    CHECK_ALWAYS(w.leaked == 0);
    CHECK_ALWAYS(w.live == 0);
    d.client = plain;
    driver_release(&d);
}

/* -------------------------------------------------------------- proxies --- */

static void asks_the_proxy(void)
{
    struct driver d;
    if (!driver_init(&d, NULL))
        return;
    struct client *plain = d.client;
    d.client = client_new(mem_default(), &d.poll,
                          &(struct client_opts){ .proxy = d.url });
    server_play(d.server, hello);
    struct answer *a = driver_post(&d, "http://model.invalid/v1", "x");
    driver_finish(&d, a);
    CHECK_TEXT(a->body, "hello");
    CHECK(!strncmp(server_request(d.server, 0),
                   "POST http://model.invalid/v1 HTTP/1.1\r\n", 39));
    driver_close(&d, a);
    client_free(d.client);
    d.client = plain;
    driver_release(&d);
}

static void asks_the_proxy_of_the_environment(void)
{
    struct driver d;
    if (!driver_init(&d, NULL))
        return;
    setenv("http_proxy", d.url, 1);
    server_play_always(d.server, hello);
    struct answer *a = driver_post(&d, "http://model.invalid/v1", "x");
    driver_finish(&d, a);
    CHECK_TEXT(a->body, "hello");
    driver_close(&d, a);

    struct client *plain = d.client;
    d.client = client_new(mem_default(), &d.poll,
                          &(struct client_opts){ .proxy = "" });
    a = driver_post(&d, "/direct", "x");
    driver_finish(&d, a);
    unsetenv("http_proxy");
    CHECK(!strncmp(server_request(d.server, 1), "POST /direct ", 13));
    driver_close(&d, a);
    client_free(d.client);
    d.client = plain;
    driver_release(&d);
}

#define SAY_NO(status) \
    { SERVER_SAY("HTTP/1.1 " status " No\r\nContent-Length: 0\r\n\r\n"), \
      SERVER_END }

/* CONNECT by a proxy that has a password, and does not lead on. */
static void check_refusal(const struct server_step *no, const char *says,
                          const char *advises)
{
    struct driver d;
    char proxy[96];
    if (!driver_init(&d, NULL))
        return;
    struct client *plain = d.client;
    snprintf(proxy, sizeof proxy, "http://me:hidden@127.0.0.1:%d",
             server_port(d.server));
    d.client = client_new(mem_default(), &d.poll,
                          &(struct client_opts){ .proxy = proxy });
    server_play(d.server, no);
    struct answer *a = driver_post(&d, "https://model.invalid/v1", "x");
    driver_finish(&d, a);
    CHECK_TEXT(a->reason, "network_error");
    CHECK_WHY(strstr(a->message, says) != NULL, a->message);
    CHECK_WHY(strstr(a->message, advises) != NULL, a->message);
    CHECK_WHY(strstr(a->message, "HTTPS_PROXY") != NULL, a->message);
    CHECK(a->final);
    CHECK_ALWAYS(!strstr(a->message, "hidden"));
    driver_close(&d, a);
    client_free(d.client);
    d.client = plain;
    driver_release(&d);
}

static void says_what_the_proxy_refused(void)
{
    static const struct {
        const char *why;
        struct server_step no[2];
        const char *says, *advises;
    } rows[] = {
        { "who are you", SAY_NO("407"),
          "the proxy requires other credentials (model.invalid): it answered "
          "CONNECT with 407; ",
          "a user and a password" },
        { "not there", SAY_NO("403"),
          "the proxy refused to connect to the server (model.invalid): it "
          "answered CONNECT with 403; ",
          "ask its administrator" },
        { "nobody there", SAY_NO("502"),
          "the proxy could not connect to the server (model.invalid): it "
          "answered CONNECT with 502; ",
          "set another proxy" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        check_refusal(rows[i].no, rows[i].says, rows[i].advises);
    }
}

TESTS = {
    TEST(sends_a_request_and_reads_the_answer),
    TEST(knows_the_methods),
    TEST(reads_chunks_as_they_come),
    TEST(tells_when_the_connection_stands),
    TEST(passes_over_provisional_answers),
    TEST(never_follows_a_redirect),
    TEST(inflates_gzip),
    TEST(says_why_an_answer_broke),
    TEST(reports_a_refused_connection),
    TEST(refuses_what_cannot_be_sent),
    TEST(refuses_an_endless_head),
    TEST(heads_of_64_kib_are_the_limit),
    TEST(uses_a_connection_again),
    TEST(a_request_has_nothing_of_the_one_before),
    TEST(every_request_goes_to_its_address),
    TEST_ONCE(an_idle_connection_that_dies_wakes_once),
    TEST(an_end_behind_the_last_byte_is_seen),
    TEST(leaves_connections_alone_if_requested),
    TEST(survives_the_death_of_an_idle_connection),
    TEST(reads_a_body_in_pieces),
    TEST(never_sends_twice_on_a_new_connection),
    TEST_ONCE(runs_many_at_once),
    TEST_ONCE(holds_back_a_server_without_a_reader),
    TEST(closes_the_socket_when_cancelled),
    TEST(closes_at_any_time),
    TEST_ONCE(lets_go_of_the_body_with_the_first_byte),
    TEST(wipes_the_secret),
    TEST(asks_the_proxy),
    TEST(asks_the_proxy_of_the_environment),
    TEST(says_what_the_proxy_refused),
    TESTS_END,
};
