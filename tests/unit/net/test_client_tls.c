/*
 * test_client_tls.c - the HTTP client over TLS: trust, and HTTP/2
 *
 * tag: thread
 */
#include "net/client.h"

#include "harness/check.h"
#include "harness/driver.h"
#include "harness/front.h"
#include "harness/tunnel.h"
#include "net/exchange.h"
#include "net/trust.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct server_step hello[] = {
    SERVER_SAY("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), SERVER_END
};

static const struct server_step slow[] = {
    SERVER_SAY("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
               "3\r\none\r\n"),
    SERVER_PAUSE, SERVER_SAY("3\r\ntwo\r\n0\r\n\r\n"), SERVER_END
};

enum { FLOOD = 64 << 20 };

static const struct server_step flood[] = {
    SERVER_SAY("HTTP/1.1 200 OK\r\nContent-Length: 67108864\r\n\r\n"),
    SERVER_FLOOD(FLOOD), SERVER_END
};

struct world {
    struct driver d;
    struct front front;
};

/* A server, TLS before it, and a client made for it. */
static bool begin(struct world *w, enum front_name name,
                  struct client_opts opts)
{
    if (!driver_init(&w->d, &opts))
        return false;
    if (front_init(&w->front, server_port(w->d.server), name)) {
        memcpy(w->d.url, w->front.url, sizeof w->d.url);
        return true;
    }
    driver_release(&w->d);
    return false;
}

static void end(struct world *w)
{
    driver_release(&w->d);
    front_release(&w->front);
}

/* --------------------------------------------------------------- trust --- */

/* How one exchange ends: "hello", or the error's message. */
static const char *outcome(enum front_name name, struct client_opts opts)
{
    static char text[1024];
    struct world w;
    if (!begin(&w, name, opts))
        return NULL;
    server_play_always(w.d.server, hello);
    struct answer *a = driver_post(&w.d, "/", "x");
    driver_finish(&w.d, a);
    snprintf(text, sizeof text, "%.1000s",
             a->status == ALLM_OK ? a->body : a->message);
    if (a->status != ALLM_OK)
        CHECK_INT(server_look(w.d.server).requests, 0);
    driver_close(&w.d, a);
    end(&w);
    return text;
}

/* Run a script that prepares files. */
static int system_runs(const char *script)
{
    return system(script);      /* NOLINT(cert-env33-c): our own */
}

static void check_refused(const char *text)
{
    if (text)
        CHECK_WHY(strstr(text, "could not prove who it is") != NULL, text);
}

static void refuses_an_unverified_server(void)
{
    check_refused(outcome(FRONT_HERE, (struct client_opts){ 0 }));
}

static void refuses_a_certificate_of_another(void)
{
    /* made before the client, which is told its path */
    const char *text = outcome(FRONT_HERE, (struct client_opts){ 0 });
    if (text)
        check_refused(outcome(FRONT_OTHER, (struct client_opts){ .ca_file =
                                                        front_authority() }));
}

static void trusts_an_authority_of_ones_own(void)
{
    const char *text = outcome(FRONT_HERE, (struct client_opts){ 0 });
    if (!text)
        return;
    const struct client_opts ours = { .ca_file = front_authority() };
    CHECK_TEXT(outcome(FRONT_HERE, ours), "hello");
    setenv("SSL_CERT_FILE", front_authority(), 1);
    CHECK_TEXT(outcome(FRONT_HERE, (struct client_opts){ 0 }), "hello");
    setenv("SSL_CERT_FILE", "/dev/null", 1);
    CHECK_TEXT(outcome(FRONT_HERE, ours), "hello");
    unsetenv("SSL_CERT_FILE");
}

static void says_which_file_is_missing(void)
{
    const char *text = outcome(
        FRONT_HERE, (struct client_opts){ .ca_file = "/no/such/file.pem" });
    if (!text)
        return;
    CHECK_WHY(strstr(text, "/no/such/file.pem") != NULL, text);
    CHECK_WHY(strstr(text, "ca_file") != NULL, text);
}

/* What other programs take for "do not look": nothing of it counts here. */
static void nothing_switches_verification_off(void)
{
    static const char *const names[][2] = {
        { "NODE_TLS_REJECT_UNAUTHORIZED", "0" },
        { "PYTHONHTTPSVERIFY", "0" },
        { "GIT_SSL_NO_VERIFY", "1" },
        { "CURL_INSECURE", "1" },
        { "CURLOPT_SSL_VERIFYPEER", "0" },
        { "SSL_NO_VERIFY", "1" },
        { "ALLM_INSECURE", "1" },
        { "SSL_CERT_FILE", "" },
        { "SSL_CERT_DIR", "" },
    };
    char home[] = "/tmp/allm-home-XXXXXX", path[64];
    if (!mkdtemp(home))
        return;
    snprintf(path, sizeof path, "%s/.curlrc", home);
    FILE *f = fopen(path, "w");
    if (f) {
        fputs("insecure\n", f);
        fclose(f);
    }
    char *old = getenv("HOME");
    char kept[1024];
    snprintf(kept, sizeof kept, "%s", old ? old : "/");
    setenv("HOME", home, 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        setenv(names[i][0], names[i][1], 1);
    check_refused(outcome(FRONT_HERE, (struct client_opts){ 0 }));
    check_refused(outcome(FRONT_HERE, (struct client_opts){ .ca_file = NULL,
                                                            .http2 = true }));
    check_refused(outcome(FRONT_OTHER, (struct client_opts){ .proxy = "" }));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i][0]);
    setenv("HOME", kept, 1);
    unlink(path);
    rmdir(home);
}

/* A folder counts where the environment names it, and nobody named a file. */
static void trusts_a_folder_of_authorities(void)
{
    const char *text = outcome(FRONT_HERE, (struct client_opts){ 0 });
    if (!text)
        return;
    setenv("SSL_CERT_DIR", front_authorities(), 1);
    CHECK_TEXT(outcome(FRONT_HERE, (struct client_opts){ 0 }), "hello");
    check_refused(outcome(FRONT_HERE,
                          (struct client_opts){ .ca_file =
                                                        front_stranger() }));
    unsetenv("SSL_CERT_DIR");
}

/*
 * What the system may have as a directory and as a bundle.  Whatever is wrong
 * with one of them, the other still counts; and if neither vouches for the
 * server, it is refused.  In the script $all is a directory with our authority
 * by its hashed name.
 */
static void the_systems_directory_and_bundle_vouch(void)
{
    enum { OURS, STRANGER, GARBAGE, MISSING };
    static const struct {
        const char *why, *script;
        int bundle;
        bool trusted;
    } rows[] = {
        { "a copy of the system's, with ours added",
          "cp -P /etc/ssl/certs/*.[0-9] . ; cp $all/* .", STRANGER, true },
        { "the directory only", "cp $all/* .", MISSING, true },
        { "a bundle of garbage", "cp $all/* .", GARBAGE, true },
        { "empty", "true", OURS, true },
        { "missing", "cd /; rmdir $OLDPWD", OURS, true },
        { "stale: ours is not in it yet",
          "cp -P /etc/ssl/certs/*.[0-9] . ; echo x >0a1b2c3d.0", OURS, true },
        { "garbage by our name",
          "for f in $all/*; do echo x >$(basename $f); done", OURS, true },
        { "a link to nothing by our name",
          "for f in $all/*; do ln -s /no/such $(basename $f); done", OURS,
          true },
        { "a file", "cd /; rmdir $OLDPWD; echo x >$OLDPWD", OURS, true },
        { "a directory that cannot be read", "chmod 000 .", OURS, true },
        { "files that cannot be read", "cp $all/* . ; chmod 000 *", OURS,
          true },
        { "a file, and the bundle is a stranger's",
          "cd /; rmdir $OLDPWD; echo x >$OLDPWD", STRANGER, false },
        { "neither", "echo x >0a1b2c3d.0", STRANGER, false },
        { "garbage in both", "echo x >0a1b2c3d.0", GARBAGE, false },
        { "neither, and the directory is empty", "true", STRANGER, false },
    };
    char dir[300], script[1024], garbage[320];
    if (!outcome(FRONT_HERE, (struct client_opts){ 0 }))
        return;
    unsetenv("SSL_CERT_FILE");
    unsetenv("SSL_CERT_DIR");
    snprintf(garbage, sizeof garbage, "%s/../garbage.pem", front_authorities());
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const bundles[] = { front_authority(), front_stranger(),
                                        garbage, "/no/such/file.pem" };
        const struct trust_system system = { bundles[rows[i].bundle], dir,
                                             true };
        snprintf(dir, sizeof dir, "%s/../dir%zu", front_authorities(), i);
        snprintf(script, sizeof script,
                 "(all='%s'; echo x >'%s'; mkdir '%s' && cd '%s' || exit; %s) "
                 ">/dev/null 2>&1",
                 front_authorities(), garbage, dir, dir, rows[i].script);
        check_row(rows[i].why);
        if (system_runs(script) < 0)
            return;
        const char *text = outcome(FRONT_HERE,
                                   (struct client_opts){ .system = &system });
        if (!text)
            return;
        if (rows[i].trusted)
            CHECK_TEXT(text, "hello");
        else
            CHECK_WHY(strcmp(text, "hello") != 0, text);
    }
}

/* The second exchange knows which of the two to use, and so does one that was
 * opened before the first one failed. */
static void a_stale_directory_is_left_for_the_bundle(void)
{
    struct world w;
    char dir[300], script[1024];
    if (!outcome(FRONT_HERE, (struct client_opts){ 0 }))
        return;
    unsetenv("SSL_CERT_FILE");
    unsetenv("SSL_CERT_DIR");
    snprintf(dir, sizeof dir, "%s/../stale", front_authorities());
    snprintf(script, sizeof script, "mkdir -p '%s' && touch '%s/0a1b2c3d.0'",
             dir, dir);
    const struct trust_system system = { front_authority(), dir, true };
    if (system_runs(script) ||
        !begin(&w, FRONT_HERE, (struct client_opts){ .system = &system }))
        return;
    server_play_always(w.d.server, hello);
    struct answer *both[2] = { driver_post(&w.d, "/", "x"),
                               driver_post(&w.d, "/", "y") };
    for (int i = 0; i < 2; i++)
        driver_finish(&w.d, both[i]);
    for (int i = 0; i < 2; i++) {
        CHECK_TEXT(both[i]->body, "hello");
        driver_close(&w.d, both[i]);
    }
    struct answer *a = driver_post(&w.d, "/", "z");
    driver_finish(&w.d, a);
    CHECK_TEXT(a->body, "hello");
    CHECK(a->reused);
    driver_close(&w.d, a);
    CHECK_INT(server_look(w.d.server).requests, 3);
    end(&w);
}

/* One request, its answer read and closed. */
static void post_hello(struct world *w, const char *url)
{
    struct answer *a = driver_post(&w->d, url, "x");
    driver_finish(&w->d, a);
    CHECK_TEXT(a->body, "hello");
    driver_close(&w->d, a);
}

/* A request over http begins, then one over https finds that the directory is
 * stale.  The first one ends after that, and what libcurl knows of it must not
 * be used again. */
static void no_request_trusts_as_an_older_one(void)
{
    struct world w;
    char dir[300], script[700], url[64];
    if (!outcome(FRONT_HERE, (struct client_opts){ 0 }))
        return;
    unsetenv("SSL_CERT_FILE");
    unsetenv("SSL_CERT_DIR");
    snprintf(dir, sizeof dir, "%s/../older", front_authorities());
    snprintf(script, sizeof script, "mkdir -p '%s' && touch '%s/0a1b2c3d.0'",
             dir, dir);
    const struct trust_system system = { front_authority(), dir, true };
    if (system_runs(script) ||
        !begin(&w, FRONT_HERE, (struct client_opts){ .system = &system }))
        return;
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", server_port(w.d.server));
    server_play(w.d.server, slow);
    server_play_always(w.d.server, hello);
    struct answer *first = driver_post(&w.d, url, "x");
    DRIVER_UNTIL(&w.d, driver_read(&w.d, first) || first->len == 3);
    post_hello(&w, "/");
    server_go(w.d.server);
    driver_finish(&w.d, first);
    CHECK_TEXT(first->body, "onetwo");
    driver_close(&w.d, first);
    post_hello(&w, "/");
    end(&w);
}

/* The system's directory is read for the first request over https, and counts
 * then, whatever came before. */
static void the_directory_counts_after_http(void)
{
    struct world w;
    char url[64];
    if (!outcome(FRONT_HERE, (struct client_opts){ 0 }))
        return;
    unsetenv("SSL_CERT_FILE");
    unsetenv("SSL_CERT_DIR");
    const struct trust_system system = { front_stranger(), front_authorities(),
                                         true };
    if (!begin(&w, FRONT_HERE, (struct client_opts){ .system = &system }))
        return;
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", server_port(w.d.server));
    server_play(w.d.server, slow);
    server_play_always(w.d.server, hello);
    struct answer *late = driver_post(&w.d, url, "x");
    DRIVER_UNTIL(&w.d, driver_read(&w.d, late) || late->len == 3);
    post_hello(&w, url);
    post_hello(&w, "/");
    server_go(w.d.server);
    driver_finish(&w.d, late);
    driver_close(&w.d, late);
    post_hello(&w, "/");
    end(&w);
}

/* ------------------------------------------------------------ sessions --- */

/* One request over a new connection; `n` is its number, from 1. */
static void post_anew(struct world *w, size_t n)
{
    struct answer *a = driver_post(&w->d, "/", "x");
    driver_finish(&w->d, a);
    CHECK_TEXT(a->body, "hello");
    CHECK(!a->reused);
    driver_close(&w->d, a);
    DRIVER_UNTIL(&w->d, front_count(&w->front).requests == n);
}

/* Connections after the first one resume its session.  Another client shares
 * nothing with this one. */
static void resumes_sessions_within_a_client(void)
{
    struct client_opts opts = { .max_idle_ms = -1 };
    struct front once;
    struct world w;
    if (!front_init(&once, 1, FRONT_HERE))
        return;
    front_release(&once);
    opts.ca_file = front_authority();
    for (int i = 0; i < 2; i++) {
        if (!begin(&w, FRONT_HERE, opts))
            return;
        server_play_always(w.d.server, hello);
        for (size_t n = 1; n <= 4; n++)
            post_anew(&w, n);
        CHECK_INT(front_count(&w.front).resumed, 3);
        end(&w);
    }
}

/* ------------------------------------------------------------- proxies --- */

/* The proxy's answer is not the server's. */
static void goes_through_a_tunnel(void)
{
    static const struct server_step no[] = {
        SERVER_SAY("HTTP/1.1 429 Later\r\nContent-Length: 4\r\n"
                   "Retry-After: 7\r\n\r\nwait"),
        SERVER_END
    };
    struct world w;
    struct front once;
    struct tunnel t;
    if (!front_init(&once, 1, FRONT_HERE) || !tunnel_init(&t))
        return;
    front_release(&once);
    if (!begin(&w, FRONT_HERE,
               (struct client_opts){ .ca_file = front_authority(),
                                     .proxy = t.url })) {
        tunnel_release(&t);
        return;
    }
    t.port = w.front.port;
    server_play(w.d.server, no);
    struct answer *a = driver_post(&w.d, "/", "x");
    driver_finish(&w.d, a);
    CHECK_TEXT(a->body, "wait");
    CHECK_INT(a->http, 429);
    CHECK_TEXT(driver_header(&w.d, a, "Retry-After"), "7");
    CHECK(!driver_header(&w.d, a, "X-Proxy"));
    driver_close(&w.d, a);
    end(&w);
    tunnel_release(&t);
    CHECK_WHY(!strncmp(t.asked, "CONNECT 127.0.0.1:", 18), t.asked);
}

/* -------------------------------------------------------------- HTTP/2 --- */

static bool has_http2(void)
{
    if (curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_HTTP2)
        return true;
    check_skip("this libcurl has no HTTP/2");
    return false;
}

/* Certificates exist once a front has stood. */
static bool begin_trusted(struct world *w, bool http2)
{
    struct front once;
    if (!front_init(&once, 1, FRONT_HERE))
        return false;
    front_release(&once);
    return begin(w, FRONT_HERE,
                 (struct client_opts){ .ca_file = front_authority(),
                                       .http2 = http2 });
}

static void speaks_http1_by_default(void)
{
    struct world w;
    if (!begin_trusted(&w, false))
        return;
    server_play_always(w.d.server, hello);
    for (int i = 0; i < 2; i++) {
        struct answer *a = driver_post(&w.d, "/", "x");
        driver_finish(&w.d, a);
        CHECK_TEXT(a->body, "hello");
        CHECK(a->reused == (i == 1));
        driver_close(&w.d, a);
    }
    CHECK(strstr(server_request(w.d.server, 0), "Via: 1.1 nghttpx") != NULL);
    end(&w);
}

static void shares_one_connection_among_many(void)
{
    enum { MANY = 50 };
    struct answer *all[MANY];
    struct world w;
    size_t fresh = 0;
    if (!has_http2() || !begin_trusted(&w, true))
        return;
    server_play_always(w.d.server, slow);
    for (int i = 0; i < MANY; i++)
        all[i] = driver_post(&w.d, "/", "x");
    for (int i = 0; i < MANY; i++)
        DRIVER_UNTIL(&w.d, driver_read(&w.d, all[i]) || all[i]->len == 3);
    CHECK_INT(client_open(w.d.client), MANY);
    for (int i = 0; i < MANY; i++)
        server_go(w.d.server);
    for (int i = 0; i < MANY; i++) {
        driver_finish(&w.d, all[i]);
        CHECK_TEXT(all[i]->body, "onetwo");
        CHECK_INT(all[i]->http, 200);
        fresh += !all[i]->reused;
        driver_close(&w.d, all[i]);
    }
    CHECK_INT(fresh, 1);
    CHECK(strstr(server_request(w.d.server, 0), "Via: 2 nghttpx") != NULL);
    end(&w);
}

/* The others live on, and the server hears of it with its next bytes. */
static void cancels_one_of_many(void)
{
    struct world w;
    if (!has_http2() || !begin_trusted(&w, true))
        return;
    server_play(w.d.server, slow);
    server_play(w.d.server, flood);
    struct answer *a = driver_post(&w.d, "/", "x");
    DRIVER_UNTIL(&w.d, driver_read(&w.d, a) || a->len == 3);
    struct answer *b = driver_post(&w.d, "/", "x");
    DRIVER_UNTIL(&w.d, driver_read(&w.d, b) || b->len > 0);
    CHECK(b->reused);
    size_t before = server_look(w.d.server).sent;
    driver_close(&w.d, b);
    DRIVER_UNTIL(&w.d, server_look(w.d.server).open == 1);
    CHECK(server_look(w.d.server).sent - before < 16 << 20);
    server_go(w.d.server);
    driver_finish(&w.d, a);
    CHECK_TEXT(a->body, "onetwo");
    driver_close(&w.d, a);
    end(&w);
}

/* A server that is silent hears of it, too. */
static void cancels_the_only_one(void)
{
    struct world w;
    if (!has_http2() || !begin_trusted(&w, true))
        return;
    server_play(w.d.server, slow);
    struct answer *a = driver_post(&w.d, "/", "x");
    DRIVER_UNTIL(&w.d, driver_read(&w.d, a) || a->len == 3);
    driver_close(&w.d, a);
    DRIVER_UNTIL(&w.d, server_look(w.d.server).open == 0);
    end(&w);
}

/* The connection is read for the others' sake, so a stream that nobody reads
 * cannot be held back; it fails when it has become too much, and the others do
 * not notice. */
static void gives_up_a_stream_without_a_reader(void)
{
    struct world w;
    size_t ours = check_live_bytes();
    if (!has_http2() || !begin_trusted(&w, true))
        return;
    server_play(w.d.server, slow);
    server_play(w.d.server, flood);
    struct answer *a = driver_post(&w.d, "/", "x");
    DRIVER_UNTIL(&w.d, driver_read(&w.d, a) || a->len == 3);
    struct answer *b = driver_post(&w.d, "/", "x");
    const allm_transport *t = client_transport(w.d.client);
    allm_chunk chunk = { .size = sizeof chunk };
    t->read(t->self, b->exchange, &chunk);
    DRIVER_UNTIL(&w.d, waker_clear(&b->waker));
    size_t most = 0;
    for (int i = 0; i < 100000 && client_open(w.d.client) == 2; i++) {
        driver_turn(&w.d);
        size_t held = check_live_bytes() - ours;
        most = held > most ? held : most;
    }
    CHECK_INT(client_open(w.d.client), 1);
    CHECK(most > EXCHANGE_HOARD / 2);
    CHECK(most < EXCHANGE_HOARD + EXCHANGE_HOARD / 32);
    CHECK(server_look(w.d.server).sent < EXCHANGE_HOARD + (16 << 20));
    driver_finish(&w.d, b);
    CHECK_INT(b->status, ALLM_ERR_ADAPTER);
    CHECK_WHY(strstr(b->message, "read it sooner") != NULL, b->message);
    driver_close(&w.d, b);
    server_go(w.d.server);
    driver_finish(&w.d, a);
    CHECK_TEXT(a->body, "onetwo");
    driver_close(&w.d, a);
    end(&w);
}

/* Data of all of them in every read. */
static void reads_many_long_answers(void)
{
    enum { MANY = 20, LONG = 1 << 20 };
    static const struct server_step steps[] = {
        SERVER_SAY("HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n"),
        SERVER_FLOOD(LONG), SERVER_END
    };
    struct answer *all[MANY];
    struct world w;
    if (!has_http2() || !begin_trusted(&w, true))
        return;
    server_play_always(w.d.server, steps);
    for (int i = 0; i < MANY; i++)
        all[i] = driver_post(&w.d, "/", "x");
    size_t ended = 0;
    for (int turns = 0; ended < MANY && turns < 20000; turns++) {
        driver_turn(&w.d);
        ended = 0;
        for (int i = 0; i < MANY; i++)
            ended += all[i]->status != ALLM_AGAIN || driver_read(&w.d, all[i]);
    }
    for (int i = 0; i < MANY; i++) {
        CHECK_INT(all[i]->status, ALLM_OK);
        CHECK_INT(all[i]->len, LONG);
        driver_close(&w.d, all[i]);
    }
    end(&w);
}

static void reads_a_long_answer(void)
{
    struct world w;
    if (!has_http2() || !begin_trusted(&w, true))
        return;
    server_play(w.d.server, flood);
    struct answer *a = driver_post(&w.d, "/", "x");
    int turns = 0;
    while (!driver_read(&w.d, a) && turns++ < 100000)
        driver_turn(&w.d);
    CHECK_INT(a->status, ALLM_OK);
    CHECK_INT(a->len, FLOOD);
    driver_close(&w.d, a);
    end(&w);
}

TESTS = {
    TEST_ONCE(refuses_an_unverified_server),
    TEST_ONCE(refuses_a_certificate_of_another),
    TEST_ONCE(trusts_an_authority_of_ones_own),
    TEST_ONCE(says_which_file_is_missing),
    TEST_ONCE(nothing_switches_verification_off),
    TEST_ONCE(trusts_a_folder_of_authorities),
    TEST_ONCE(the_systems_directory_and_bundle_vouch),
    TEST_ONCE(a_stale_directory_is_left_for_the_bundle),
    TEST_ONCE(no_request_trusts_as_an_older_one),
    TEST_ONCE(the_directory_counts_after_http),
    TEST_ONCE(resumes_sessions_within_a_client),
    TEST_ONCE(goes_through_a_tunnel),
    TEST_ONCE(speaks_http1_by_default),
    TEST_ONCE(shares_one_connection_among_many),
    TEST_ONCE(cancels_one_of_many),
    TEST_ONCE(cancels_the_only_one),
    TEST_ONCE(gives_up_a_stream_without_a_reader),
    TEST_ONCE(reads_a_long_answer),
    TEST_ONCE(reads_many_long_answers),
    TESTS_END,
};
