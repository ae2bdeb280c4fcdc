/* test_expand.c - variables in strings */
#include "conf/expand.h"

#include "conf/keyring.h"

#include "harness/check.h"

#include <stdlib.h>

static void replaces_variables(void)
{
    static const struct {
        const char *text, *want;
        enum expand_result result;
    } rows[] = {
        { "plain", "plain", EXPAND_DONE },
        { "a ${EXPAND_ONE} b", "a 1 b", EXPAND_DONE },
        { "${EXPAND_ONE}${EXPAND_ONE}", "11", EXPAND_DONE },
        { "${EXPAND_NONE:-x y}", "x y", EXPAND_DONE },
        { "${EXPAND_NONE:-}", "", EXPAND_DONE },
        { "${EXPAND_EMPTY:-x}", "x", EXPAND_DONE },
        { "${EXPAND_EMPTY}", "", EXPAND_DONE },
        { "$$", "$", EXPAND_DONE },
        { "$${EXPAND_ONE}", "${EXPAND_ONE}", EXPAND_DONE },
        { "$", "$", EXPAND_DONE },
        { "5$", "5$", EXPAND_DONE },
        { "$EXPAND_ONE $1", "$EXPAND_ONE $1", EXPAND_DONE },
        { "${EXPAND_NONE}", "", EXPAND_UNSET },
        { "${EXPAND_DOLLAR}", "${EXPAND_ONE}", EXPAND_DONE },
        { "${", "", EXPAND_OPEN },
        { "${}", "", EXPAND_OPEN },
        { "${EXPAND_ONE", "", EXPAND_OPEN },
        { "${EXPAND_ONE-x}", "", EXPAND_OPEN },
        { "${1}", "", EXPAND_OPEN },
        { "${A B}", "", EXPAND_OPEN },
    };
    setenv("EXPAND_ONE", "1", 1);
    setenv("EXPAND_EMPTY", "", 1);
    setenv("EXPAND_DOLLAR", "${EXPAND_ONE}", 1);
    unsetenv("EXPAND_NONE");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bytes out = { NULL, 0, 0 };
        char name[64];
        check_row(rows[i].text);
        CHECK_INT(expand_text(&out, rows[i].text, true, name), rows[i].result);
        CHECK_TEXT(bytes_string(&out), rows[i].want);
        bytes_release(&out);
    }
}

static void keys_stay_out(void)
{
    static const char *const keys[] = { "OPENAI_API_KEY", "HF_TOKEN",
                                        "DASHSCOPE_API_KEY", "MY_SECRET" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        CHECK(keyring_holds(keys[i]));
    CHECK(!keyring_holds("HOME") && !keyring_holds("EDITOR"));
    struct bytes out = { NULL, 0, 0 };
    char name[64];
    setenv("OPENAI_API_KEY", "planted", 1);
    CHECK_INT(expand_text(&out, "x${OPENAI_API_KEY}", false, name),
              EXPAND_SECRET);
    CHECK_TEXT(name, "OPENAI_API_KEY");
    CHECK_TEXT(bytes_string(&out), "x");
    bytes_release(&out);
}

static void values_are_walked(void)
{
    static const char text[] = "{\"a\":[\"${EXPAND_ONE}\",{\"${X}\":\"$$\"},"
                               "true,null,1.5],\"b\":{}}";
    struct bytes out = { NULL, 0, 0 };
    char name[64];
    setenv("EXPAND_ONE", "say \"1\"\n", 1);
    allm_json *v = allm_json_parse(text, ALLM_NUL_ENDED, NULL);
    CHECK(expand_wanted(v) && !expand_wanted(allm_json_get(v, "b")));
    CHECK_INT(expand_json(&out, v, true, name), EXPAND_DONE);
    CHECK_TEXT(bytes_string(&out),
               "{\"a\":[\"say \\\"1\\\"\\n\",{\"${X}\":\"$\"},true,null,1.5],"
               "\"b\":{}}");
    bytes_release(&out);
    allm_json_free(v);
}

TESTS = { TEST_ONCE(replaces_variables), TEST_ONCE(keys_stay_out),
          TEST_ONCE(values_are_walked), TESTS_END };
