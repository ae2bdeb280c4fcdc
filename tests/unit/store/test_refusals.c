/*
 * test_refusals.c - stores that are refused, and what their errors say
 *
 * A network file system is one that statfs() below says it is: it takes the
 * place of the function of the C library.
 */
#include "harness/check.h"
#include "harness/stored.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

static uint32_t file_system;        /* 0: any local one */

int statfs(const char *path, struct statfs *out)
{
    (void)path;
    memset(out, 0, sizeof *out);
    out->f_type = file_system ? file_system : 0xEF53;
    return 0;
}

/* Opening this store fails with this reason; its message has these words. */
static void check_refused(const char *uri, const char *reason,
                          const char *words)
{
    allm_store *s = allm_store_open(uri, NULL);
    const allm_error *error = allm_store_error(s);
    CHECK_TEXT(stored_reason(error), reason);
    CHECK_WHY(error && strstr(error->message, words),
              error ? error->message : "");
    allm_store_free(s);
}

static void refuses_network_file_systems(void)
{
    static const uint32_t types[] = { 0x6969, 0x517B, 0xFF534D42, 0xFE534D42,
                                      0x01021997 };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const char *uri = stored_file();
        if (!uri)
            return;
        file_system = types[i];
        check_refused(uri, "unsupported_store", "PostgreSQL");
        CHECK(access(stored_path(), F_OK));     /* nothing was created */
        file_system = 0;
        allm_store_free(stored_open(uri, NULL));
        stored_remove();
    }
}

static void refuses_missing_folders(void)
{
    const char *uri = stored_file();
    if (!uri)
        return;
    stored_remove();
    check_refused(uri, "store_unreachable",
                  "no such file or folder; check the path");
}

static void refuses_unknown_flags(void)
{
    allm_store *s = allm_store_open("memory:", ALLM(store_opts, .flags = 4));
    CHECK_TEXT(stored_reason(allm_store_error(s)), "invalid_options");
    allm_store_free(s);
}

/* -------------------------------------------------------- only to read --- */

static void check_read_only(const allm_error *error, const char *what)
{
    CHECK_WHY(error && !strcmp(error->reason, "store_read_only"), what);
}

/* A handle that was opened for reading changes nothing. */
static void reads_only(const char *uri)
{
    const allm_message hi = { .size = sizeof hi, .role = ALLM_ROLE_USER,
                              .text = "hi" };
    allm_store *s = stored_open(uri, NULL);
    CHECK_TEXT(stored_make(s, "a", NULL), "");
    allm_store *reader =
        stored_open(uri, ALLM(store_opts, .flags = ALLM_STORE_READ));
    CHECK_INT(allm_store_send(reader, "a", &hi, "q"), ALLM_ERR_STORE);
    check_read_only(allm_store_error(reader), "send");
    CHECK_INT(allm_store_cancel(reader, "a"), ALLM_ERR_STORE);
    check_read_only(allm_store_error(reader), "cancel");
    CHECK_INT(allm_store_remove(reader, "a"), ALLM_ERR_STORE);
    check_read_only(allm_store_error(reader), "remove");
    allm_json_free(allm_store_prune(reader, NULL, ALLM_PRUNE_LOOK));
    CHECK_TEXT(stored_reason(allm_store_error(reader)), NULL);
    CHECK(!allm_store_prune(reader, NULL, 0));
    check_read_only(allm_store_error(reader), "prune");
    allm_session *taken = allm_session_open(reader, "a", ALLM_SESSION_LOCK);
    check_read_only(allm_session_error(taken), "open");
    allm_session_free(taken);
    taken = allm_session_claim(reader, "q", 0);
    check_read_only(allm_session_error(taken), "claim");
    allm_session_free(taken);
    allm_json_free(allm_store_records(reader, "a", 1, 0));
    CHECK_TEXT(stored_reason(allm_store_error(reader)), NULL);
    allm_store_free(reader);
    CHECK_INT(allm_store_remove(s, "a"), ALLM_OK);
    allm_store_free(s);
}
EACH(reads_only)

/* --------------------------------------------------------- PostgreSQL --- */

/* libpq quotes what it cannot read, which may be a password. */
static void refuses_malformed_uris(void)
{
    static const char *const uris[] = {
        "postgresql://u:hunter2@[::1/x",
        "postgresql://u:hunter2%zz@127.0.0.1:1/x",
        "postgresql://u:hunter2/x@127.0.0.1:1/x",
        "postgresql://u@127.0.0.1:1/x?password=a&hunter2=b",
        "postgresql://u@127.0.0.1:hunter2/x",
        "postgresql://u:a@hunter2@127.0.0.1:1/x",
        "postgresql://u:a@/hunter2@127.0.0.1:1/x",
        "postgresql://u:5432/hunter2@127.0.0.1:1/x",
    };
    if (!ALLM_POSTGRES) {
        check_skip("libpq");
        return;
    }
    for (size_t i = 0; i < sizeof uris / sizeof *uris; i++) {
        check_row(uris[i]);
        allm_store *s = allm_store_open(uris[i], NULL);
        const allm_error *error = allm_store_error(s);
        CHECK_TEXT(stored_reason(error), "invalid_store_uri");
        CHECK(error && !strstr(error->message, "hunter2"));
        allm_store_free(s);
    }
}

/* The same URI with another database or user. */
static const char *changed_uri(const char *uri, const char *user,
                               const char *name)
{
    static char out[256];
    const char *query = strchr(uri, '?');
    snprintf(out, sizeof out, "postgresql://%s@/%s%s", user, name, query);
    return out;
}

static void refuses_encodings(const char *uri)
{
    CHECK(stored_sql("CREATE DATABASE ascii ENCODING 'SQL_ASCII' "
                     "LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"));
    check_refused(changed_uri(uri, "postgres", "ascii"), "store_encoding",
                  "UTF8");
    check_refused(changed_uri(uri, "postgres", "nothing"), "store_unreachable",
                  "does not exist; check the URI");
}

static void refuses_roles(const char *uri)
{
    char name[16];
    CHECK(stored_sql("CREATE ROLE guest LOGIN; "
                     "REVOKE CREATE ON SCHEMA public FROM PUBLIC"));
    snprintf(name, sizeof name, "%.*s",
             (int)strcspn(strstr(uri, "@/") + 2, "?"), strstr(uri, "@/") + 2);
    check_refused(changed_uri(uri, "guest", name), "store_needs_migration",
                  "allm sessions schema");
    allm_store_free(stored_open(uri, NULL));
    check_refused(changed_uri(uri, "guest", name), "store_needs_migration",
                  "allm sessions schema");
}

static void refuses_later_versions(const char *uri)
{
    allm_store_free(stored_open(uri, NULL));
    CHECK(stored_sql("UPDATE allm_meta SET value = '99'"));
    check_refused(uri, "store_too_new", "update");
}

/* Only the session that is damaged is refused, and verify says where. */
static void check_damage(const char *uri, const char *sql)
{
    check_row(sql);
    allm_store *s = stored_open(uri, NULL);
    CHECK_TEXT(stored_make(s, "good", "{\"a\":1}"), "");
    CHECK_TEXT(stored_make(s, "bad", "{\"a\":1}"), "");
    CHECK(stored_sql(sql));
    allm_session *bad = allm_session_open(s, "bad", ALLM_SESSION_LOCK);
    allm_json *faults = allm_store_verify(s, "bad");
    CHECK(!allm_json_true(allm_json_get(faults, "ok")) &&
          (!faults || allm_json_count(allm_json_get(faults, "faults"))));
    allm_json_free(faults);
    faults = allm_store_verify(s, "good");
    CHECK(allm_json_true(allm_json_get(faults, "ok")));
    allm_json_free(faults);
    allm_session_free(bad);
    CHECK_INT(allm_store_remove(s, "good"), ALLM_OK);
    CHECK_INT(allm_store_remove(s, "bad"), ALLM_OK);
    allm_store_free(s);
}

#define BAD "session = (SELECT id FROM allm_session WHERE name = 'bad')"

static void reports_damage(const char *uri)
{
    static const char *const damages[] = {
        "UPDATE allm_record SET body = replace(body, '\"v\":1', '\"v\": 1') "
        "WHERE " BAD,
        "UPDATE allm_record SET sum = repeat('0', 32) WHERE " BAD,
        "UPDATE allm_record SET seq = 2 WHERE " BAD,
        "DELETE FROM allm_record WHERE " BAD,
        "UPDATE allm_message SET body = '{\"a\":2}' WHERE " BAD,
        "UPDATE allm_message SET hash = repeat('0', 64) WHERE " BAD,
        "DELETE FROM allm_message WHERE " BAD,
        "UPDATE allm_session SET sum = repeat('0', 32) WHERE name = 'bad'",
        "UPDATE allm_session SET head = 7 WHERE name = 'bad'",
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++)
        check_damage(uri, damages[i]);
}

#define ON_SERVER(test) \
    static void server_##test(void) \
    { \
        stored_on_server(test, false); \
    }

ON_SERVER(refuses_encodings)
ON_SERVER(refuses_roles)
ON_SERVER(refuses_later_versions)
ON_SERVER(reports_damage)

TESTS = {
    TEST_ONCE(refuses_network_file_systems),
    TEST_ONCE(refuses_missing_folders),
    TEST(refuses_unknown_flags),
    TEST_ALL(reads_only),
    TEST_ONCE(refuses_malformed_uris),
    TEST_ONCE(server_refuses_encodings),
    TEST_ONCE(server_refuses_roles),
    TEST_ONCE(server_refuses_later_versions),
    TEST_ONCE(server_reports_damage),
    TESTS_END
};
