/*
 * test_sandbox.c - one process in the sandbox, with the real warden
 *
 * tag: clock (timeouts)
 */
#include "allm.h"
#include "harness/check.h"
#include "harness/external.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *run_text(const allm_json *r, const char *key)
{
    return allm_json_text(allm_json_get(r, key), NULL);
}

static int64_t run_number(const allm_json *r, const char *key)
{
    int64_t n = -1;
    allm_json_int64(allm_json_get(r, key), &n);
    return n;
}

static allm_json *run_shell(const char *needs, allm_sandbox_mode mode,
                            const char *script, uint32_t timeout_ms)
{
    const char *argv[] = { "sh", "-c", script, NULL };
    allm_json *n = needs ? allm_json_parse(needs, ALLM_NUL_ENDED, NULL) : NULL;
    external_warden();
    allm_json *r = needs && !n ? NULL
                               : allm_sandbox_run(n, mode, argv, 0, timeout_ms);
    allm_json_free(n);
    return r;
}

static void returns_output_and_status(void)
{
    struct external_count before = external_count();
    allm_json *r = run_shell(NULL, ALLM_SANDBOX_ON,
                             "echo out; echo err >&2; exit 4", 0);
    CHECK_TEXT(run_text(r, "stdout"), "out\n");
    CHECK_TEXT(run_text(r, "stderr"), "err\n");
    CHECK_INT(run_number(r, "status"), 4);
    CHECK_INT(run_number(r, "signal"), 0);
    CHECK_INT(allm_json_type_of(allm_json_get(r, "wall")), ALLM_JSON_NULL);
    allm_json_free(r);
    CHECK_ALWAYS(external_same(before));
}

static void writes_only_where_it_may(void)
{
    char script[256], needs[128];
    const char *folder = external_folder();
    snprintf(script, sizeof script,
             "echo x >%s/file && echo yes; echo y >$HOME/a && cat $HOME/a",
             folder);
    allm_json *r = run_shell(NULL, ALLM_SANDBOX_ON, script, 0);
    CHECK_TEXT(run_text(r, "stdout"), "y\n");
    allm_json_free(r);
    snprintf(needs, sizeof needs, "{\"write\":[\"%s\"]}", folder);
    r = run_shell(needs, ALLM_SANDBOX_ON, script, 0);
    CHECK_TEXT(run_text(r, "stdout"), "yes\ny\n");
    allm_json_free(r);
    external_clean();
}

static void ends_at_the_timeout(void)
{
    allm_json *r = run_shell(NULL, ALLM_SANDBOX_ON,
                             "trap 'echo bye; exit 1' TERM; "
                             "while :; do sleep 0.01; done",
                             50);
    CHECK_TEXT(run_text(r, "stdout"), "bye\n");
    CHECK(allm_json_true(allm_json_get(r, "timed_out")));
    allm_json_free(r);
    r = run_shell(NULL, ALLM_SANDBOX_ON,
                  "trap '' TERM; while :; do sleep 1; done", 50);
    CHECK_INT(run_number(r, "signal"), 9);
    allm_json_free(r);
}

static void names_the_wall(void)
{
    allm_json *r = run_shell("{\"seconds\":1}", ALLM_SANDBOX_ON,
                             "exec sh -c 'while :; do :; done'", 0);
    CHECK_TEXT(run_text(r, "wall"), "cpu time");
    allm_json_free(r);
    r = run_shell("{\"disk\":1}", ALLM_SANDBOX_ON,
                  "exec head -c 2000000 /dev/zero >$HOME/big", 0);
    CHECK_TEXT(run_text(r, "wall"), "file size");
    allm_json_free(r);
}

static void says_what_is_wrong(void)
{
    static const char *const none[] = { NULL };
    static const char *const unknown[] = { "no-such-program", NULL };
    static const char *const absent[] = { "/no/such/program", NULL };
    const struct {
        const char *needs;
        allm_sandbox_mode mode;
        const char *const *argv;
        const char *reason;
    } rows[] = {
        { NULL, ALLM_SANDBOX_ON, none, "invalid_option" },
        { NULL, ALLM_SANDBOX_ON, NULL, "invalid_option" },
        { NULL, (allm_sandbox_mode)7, unknown, "invalid_option" },
        { NULL, ALLM_SANDBOX_ON, unknown, "handler_exit" },
        { NULL, ALLM_SANDBOX_ON, absent, "handler_exit" },
        { "{\"all\":true}", ALLM_SANDBOX_ON, absent, "invalid_tool" },
    };
    external_warden();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        allm_json *needs = rows[i].needs ? allm_json_parse(rows[i].needs,
                                                           ALLM_NUL_ENDED, NULL)
                                         : NULL;
        allm_json *r = allm_sandbox_run(needs, rows[i].mode, rows[i].argv, 0,
                                        0);
        const allm_error *e = allm_json_error(r);
        CHECK_TEXT(e ? e->reason : NULL, rows[i].reason);
        allm_json_free(needs);
        allm_json_free(r);
    }
}

static void refuses_without_a_warden(void)
{
    static char keep[4096];
    snprintf(keep, sizeof keep, "%s", external_warden());
    setenv("ALLM_WARDEN", "/no/such/warden", 1);
    allm_json *r = run_shell(NULL, ALLM_SANDBOX_OFF, "echo ran", 0);
    const allm_error *e = allm_json_error(r);
    CHECK_TEXT(e ? e->reason : NULL, "warden_missing");
    allm_json_free(r);
    r = allm_sandbox_report();
    e = allm_json_error(r);
    CHECK_TEXT(e ? e->reason : NULL, "warden_missing");
    allm_json_free(r);
    setenv("ALLM_WARDEN", keep, 1);
}

static void reports_every_part(void)
{
    external_warden();
    allm_json *r = allm_sandbox_report();
    const allm_json *parts = allm_json_get(r, "parts");
    CHECK_INT(allm_json_count(parts), 9);
    CHECK_TEXT(run_text(allm_json_at(parts, 0), "part"), "files");
    CHECK_TEXT(run_text(r, "warden"), external_warden());
    allm_json_free(r);
}

TESTS = { TEST(returns_output_and_status), TEST_ONCE(writes_only_where_it_may),
          TEST_ONCE(ends_at_the_timeout),  TEST_ONCE(names_the_wall),
          TEST(says_what_is_wrong),        TEST(refuses_without_a_warden),
          TEST_ONCE(reports_every_part),   TESTS_END };
