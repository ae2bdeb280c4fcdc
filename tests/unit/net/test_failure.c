/* test_failure.c - error messages for failures of the network */
#include "net/failure.h"

#include "harness/check.h"

#include <sys/resource.h>

static void maps_codes_to_reasons_and_advice(void)
{
    static const struct {
        const char *why;
        CURLcode code;
        const char *reason, *word;
        bool final;
    } rows[] = {
        { "a wrong name", CURLE_COULDNT_RESOLVE_HOST, "network_error",
          "base_url", false },
        { "a wrong proxy", CURLE_COULDNT_RESOLVE_PROXY, "network_error",
          "HTTPS_PROXY", false },
        { "nobody there", CURLE_COULDNT_CONNECT, "network_error",
          "that the server runs", false },
        { "a certificate of nobody's", CURLE_PEER_FAILED_VERIFICATION,
          "network_error", "SSL_CERT_FILE", true },
        { "no certificates", CURLE_SSL_CACERT_BADFILE, "network_error",
          "PEM", true },
        { "no TLS", CURLE_SSL_CONNECT_ERROR, "network_error", "https://",
          false },
        { "too slow", CURLE_OPERATION_TIMEDOUT, "timeout", "too long", false },
        { "an odd address", CURLE_URL_MALFORMAT, "invalid_request",
          "base_url", true },
        { "something else", CURLE_FTP_WEIRD_PASS_REPLY, "network_error",
          "failed", false },
    };
    struct arena a;
    arena_init(&a, mem_default());
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        const allm_error *e = failure_of(&a, rows[i].code, "host:1", "said");
        if (e->kind == ALLM_ERR_NOMEM)
            continue;
        CHECK_INT(e->kind, ALLM_ERR_ADAPTER);
        CHECK_TEXT(e->reason, rows[i].reason);
        CHECK_WHY(strstr(e->message, rows[i].word) != NULL, e->message);
        CHECK(strstr(e->message, " (host:1): said; ") != NULL);
        CHECK(allm_json_true(allm_json_get(e->metadata, "final")) ==
              rows[i].final);
        CHECK(!strstr(failure_plain(&a, e), "base_url"));
    }
    arena_release(&a);
}

static void names_no_option_for_other_urls(void)
{
    static const struct {
        const char *why, *message, *plain;
    } rows[] = {
        { "an option", "gone; check base_url", "gone; check the URL" },
        { "more follows", "that base_url names it", "that the URL names it" },
        { "no option", "try again", "try again" },
    };
    struct arena a;
    arena_init(&a, mem_default());
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const allm_error e = { .message = rows[i].message };
        check_row(rows[i].why);
        CHECK_TEXT(failure_plain(&a, &e), rows[i].plain);
    }
    arena_release(&a);
}

static void tells_that_descriptors_are_used_up(void)
{
    struct rlimit was;
    struct arena a;
    arena_init(&a, mem_default());
    CHECK(!getrlimit(RLIMIT_NOFILE, &was));
    CHECK(!setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 0, was.rlim_max }));
    const allm_error *e = failure_of(&a, CURLE_COULDNT_CONNECT, "h", "said");
    const allm_error *other = failure_of(&a, CURLE_GOT_NOTHING, "h", "said");
    CHECK(!setrlimit(RLIMIT_NOFILE, &was));
    CHECK(strstr(e->message, "descriptors (h): said; ") != NULL);
    CHECK(allm_json_true(allm_json_get(e->metadata, "final")));
    CHECK(!strstr(other->message, "descriptors"));
    arena_release(&a);
}

static void names_no_host_where_there_is_none(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    const allm_error *e = failure_of(&a, CURLE_GOT_NOTHING, "", "");
    if (e->kind != ALLM_ERR_NOMEM)
        CHECK_WHY(strstr(e->message, "without an answer: ") != NULL,
                  e->message);
    arena_release(&a);
}

static void needs_no_memory_to_say_there_is_none(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    CHECK_INT(failure_of(&a, CURLE_OUT_OF_MEMORY, "", "")->kind,
              ALLM_ERR_NOMEM);
    arena_release(&a);
}

static void names_the_host_without_its_password(void)
{
    static const struct {
        const char *why, *url, *host;
    } rows[] = {
        { "plain", "https://api.x.com/v1", "api.x.com" },
        { "a port", "http://localhost:11434", "localhost:11434" },
        { "a password", "http://me:p@ss@h:8/x?y", "h:8" },
        { "an @ in the path", "https://h/a@b", "h" },
        { "an address", "https://[::1]:4/v", "[::1]:4" },
    };
    struct arena a;
    arena_init(&a, mem_default());
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        CHECK_TEXT(failure_host(&a, rows[i].url), rows[i].host);
    }
    arena_release(&a);
}

/* libcurl quotes a proxy that it cannot read, with its password. */
static void says_nothing_that_has_a_password(void)
{
    static const char *const said[] = {
        "Unsupported proxy syntax in 'http://me:pass word@h:1x'",
        "Unsupported proxy syntax in 'me:pass@h:1x'",
    };
    struct arena a;
    arena_init(&a, mem_default());
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        const allm_error *e = failure_of(&a, CURLE_COULDNT_RESOLVE_PROXY, "h",
                                         said[i]);
        check_row(said[i]);
        CHECK(!strstr(e->message, "pass"));
        CHECK(e->kind == ALLM_ERR_NOMEM || strstr(e->message, "HTTPS_PROXY"));
    }
    arena_release(&a);
}

/* Other flavours work, but cost memory for each connection. */
static void libcurl_is_built_with_openssl(void)
{
    const char *tls = curl_version_info(CURLVERSION_NOW)->ssl_version;
    if (!tls || strncmp(tls, "OpenSSL", 7) != 0)
        check_skip("libcurl is of another flavour; libcurl4-openssl-dev "
                   "brings the one that is measured");
}

TESTS = {
    TEST(maps_codes_to_reasons_and_advice),
    TEST(names_no_option_for_other_urls),
    TEST(tells_that_descriptors_are_used_up),
    TEST(names_no_host_where_there_is_none),
    TEST(needs_no_memory_to_say_there_is_none),
    TEST(names_the_host_without_its_password),
    TEST(says_nothing_that_has_a_password),
    TEST_ONCE(libcurl_is_built_with_openssl),
    TESTS_END,
};
