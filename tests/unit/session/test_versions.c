/*
 * test_versions.c - stores of every version can be opened and used
 *
 * tests/data/stores has a file and a dump of each version: two sessions of the
 * agent of tests/kill, "whole" and "broken", which was killed in a tool.
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/stored.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_BYTES = 1 << 20 };

static char bytes[MOST_BYTES];

/* Read a file of tests/data/stores; its length, 0 after a failed check. */
static size_t read_store(const char *name)
{
    char path[1024];
    const char *root = getenv("SOURCE_DIR");
    snprintf(path, sizeof path, "%s/tests/data/stores/%s", root ? root : ".",
             name);
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(bytes, 1, sizeof bytes - 1, f) : 0;
    CHECK_WHY(n > 0, path);
    bytes[n] = '\0';
    if (f)
        fclose(f);
    return n;
}

static void check_verified(allm_store *s, size_t sessions)
{
    allm_json *v = allm_store_verify(s, NULL);
    allm_text *t = allm_json_write(v, 0);
    int64_t n = 0;
    CHECK_WHY(allm_json_true(allm_json_get(v, "ok")), allm_text_bytes(t, NULL));
    allm_json_int64(allm_json_get(v, "sessions"), &n);
    CHECK_INT(n, sessions);
    allm_text_free(t);
    allm_json_free(v);
}

static void check_whole_session(allm_store *s)
{
    size_t n = 0;
    allm_session *whole = allm_session_open(s, "whole", 0);
    CHECK_TEXT(stored_reason(allm_session_error(whole)), NULL);
    allm_session_messages(whole, &n);
    CHECK_INT(n, 20);
    CHECK_INT(allm_session_fields(whole)->status, ALLM_SESSION_COMPLETED);
    allm_session_free(whole);
}

/* What was under way can be settled and ended. */
static void check_broken_session(allm_store *s)
{
    allm_session *broken = allm_session_open(s, "broken", ALLM_SESSION_LOCK);
    const allm_json *note = allm_json_get(allm_session_fields(broken)->metadata,
                                          "broken_off");
    const allm_json *call =
        allm_json_at(allm_json_get(note, "unknown_tool_calls"), 0);
    char id[32];
    CHECK_TEXT(stored_reason(allm_session_error(broken)), NULL);
    snprintf(id, sizeof id, "%s",
             call ? allm_json_text(allm_json_get(call, "id"), NULL) : "");
    CHECK_INT(allm_session_settle(broken, id, ALLM_SETTLE_NOT_HAPPENED, NULL),
              ALLM_OK);
    CHECK_INT(allm_session_abandon(broken), ALLM_OK);
    CHECK_INT(allm_session_append_user(broken, "hi"), ALLM_OK);
    allm_session_free(broken);
}

static void check_store(const char *uri)
{
    allm_store *s = stored_open(uri, NULL);
    if (!s)
        return;
    check_verified(s, 2);
    check_whole_session(s);
    check_broken_session(s);
    check_verified(s, 2);
    allm_store_free(s);
}

static void opens_version_1_of_sqlite(void)
{
    const char *uri = stored_file();
    if (!uri)
        return;
    size_t n = read_store("v1.db");
    FILE *f = fopen(stored_path(), "wb");
    CHECK(f && fwrite(bytes, 1, n, f) == n);
    if (f)
        fclose(f);
    check_store(uri);
    stored_remove();
}

static void load_dump(const char *uri)
{
    if (read_store("v1.sql") && CHECK(stored_sql(bytes)))
        check_store(uri);
}

static void opens_version_1_of_postgres(void)
{
    stored_on_server(load_dump, false);
}

TESTS = {
    TEST_ONCE(opens_version_1_of_sqlite),
    TEST_ONCE(opens_version_1_of_postgres),
    TESTS_END
};
