/* test_edit.c - one setting changes, every other byte stays */
#include "conf/edit.h"

#include "harness/check.h"

#include <string.h>

static void sets_one_value(void)
{
    static const struct {
        const char *before, *path, *json, *after; /* NULL: refused */
    } rows[] = {
        { "", "model", "\"a\"", "{\n  \"model\": \"a\"\n}\n" },
        { "// mine\n", "model", "1", "// mine\n{\n  \"model\": 1\n}\n" },
        { "// mine", "model", "1", "// mine\n{\n  \"model\": 1\n}\n" },
        { "{}", "model", "1", "{\n  \"model\": 1\n}" },
        { "{ // x\n}", "model", "1", "{ // x\n  \"model\": 1\n}" },
        { "{ /* a\n */ }", "model", "1", "{\n  \"model\": 1\n /* a\n */ }" },
        { "{\"model\":1}", "model", "2", "{\"model\":2}" },
        { "{ \"model\" : /*x*/ 1 /*y*/ }", "model", "2",
          "{ \"model\" : /*x*/ 2 /*y*/ }" },
        { "{\"a\":1}", "model", "2", "{\"a\":1, \"model\": 2}" },
        { "{\"a\":1,}", "model", "2", "{\"a\":1, \"model\": 2,}" },
        { "{\n\t\"a\": 1 // one\n}", "model", "2",
          "{\n\t\"a\": 1, // one\n\t\"model\": 2\n}" },
        { "{\n  \"a\": 1, // one, two\n}", "model", "2",
          "{\n  \"a\": 1, // one, two\n  \"model\": 2,\n}" },
        { "{\n  \"a\": 1 /* , */ , // x\n}", "model", "2",
          "{\n  \"a\": 1 /* , */ , // x\n  \"model\": 2,\n}" },
        { "{\n  \"a\": 1 /* x\n */\n}", "model", "2",
          "{\n  \"a\": 1,\n  \"model\": 2 /* x\n */\n}" },
        { "{\r\n  \"a\": 1\r\n}\r\n", "model", "2",
          "{\r\n  \"a\": 1,\r\n  \"model\": 2\r\n}\r\n" },
        { "{\r\n}\r\n", "model", "2", "{\r\n  \"model\": 2\r\n}\r\n" },
        { "{\n  \"a\": 1\n}", "output.color", "\"on\"",
          "{\n  \"a\": 1,\n  \"output\": { \"color\": \"on\" }\n}" },
        { "{\n  \"output\": {\n    \"x\": 1\n  }\n}", "output.color", "\"on\"",
          "{\n  \"output\": {\n    \"x\": 1,\n    \"color\": \"on\"\n  }\n}" },
        { "{\"output\": {}}", "output.color", "1",
          "{\"output\": {\n  \"color\": 1\n}}" },
        { "{}", "options.a/b~c", "1",
          "{\n  \"options\": { \"a/b~c\": 1 }\n}" },
        { "{\"output\": 3}", "output.color", "1", NULL },
        { "[1]", "model", "1", NULL },
        { "{", "model", "1", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bytes text = { NULL, 0, 0 };
        check_row(rows[i].before);
        bytes_text(&text, rows[i].before);
        bool ok = edit_set(&text, rows[i].path, rows[i].json);
        CHECK(ok == (rows[i].after != NULL));
        CHECK_TEXT(bytes_string(&text),
                   rows[i].after ? rows[i].after : rows[i].before);
        bytes_release(&text);
    }
}

static void removes_one_value(void)
{
    static const struct {
        const char *before, *path, *after; /* NULL: not there */
    } rows[] = {
        { "{\"model\":1}", "model", "{}" },
        { "{\"a\":1, \"model\":2}", "model", "{\"a\":1, }" },
        { "{\"model\":2, \"a\":1}", "model", "{ \"a\":1}" },
        { "{\n  \"a\": 1,\n  \"model\": 2,\n  \"b\": 3\n}", "model",
          "{\n  \"a\": 1,\n  \"b\": 3\n}" },
        { "{\n  \"a\": \"model\", // model\n  \"model\": 2\n}\n", "model",
          "{\n  \"a\": \"model\", // model\n}\n" },
        { "{\n  \"model\": 2 // x\n}", "model", "{\n   // x\n}" },
        { "{\n \"output\": {\n  \"color\": 1 } }", "output.color",
          "{\n \"output\": {\n   } }" },
        { "{\"a\":1}", "model", NULL },
        { "{", "model", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bytes text = { NULL, 0, 0 };
        check_row(rows[i].before);
        bytes_text(&text, rows[i].before);
        CHECK(edit_unset(&text, rows[i].path) == (rows[i].after != NULL));
        CHECK_TEXT(bytes_string(&text),
                   rows[i].after ? rows[i].after : rows[i].before);
        bytes_release(&text);
    }
}

TESTS = { TEST_ONCE(sets_one_value), TEST_ONCE(removes_one_value), TESTS_END };
