/* test_recording.c - read the file of a recording; errors name the place */
#include "net/recording.h"

#include "harness/check.h"

#define FIRST "{\"allm_recording\": 1}\n"
#define ASK   "{\"request\": {\"url\": \"u\"}}\n"
#define OK    "{\"answer\": {\"status\": 200}}\n"
#define END   "{\"end\": \"complete\"}\n"

static const char whole[] = FIRST
    "\n"
    "{\n  \"request\": {\n    \"method\": \"POST\",\n    \"url\": \"u\",\n"
    "    \"headers\": [\"a: b\"],\n    \"body\": {\"x\": [1]}\n  }\n}\n"
    "{\"connect_ms\": 5, \"note\": \"slow\"}\r\n"
    "{\"answer\": {\"status\": 201, \"headers\": [\"a: b:c\", \"d:\"],"
    " \"reused\": true}}\n"
    "{\"ms\": 10, \"text\": \"h\\u0000i\"}\n"
    "{\"base64\": \"/w==\"}\n"
    "{\"ms\": 2, \"end\": \"complete\"}\n" FIRST ASK "{\"refused\": {}}\n" ASK
    "{\"ms\": 3, \"error\": {\"kind\": \"stream\", \"reason\": \"timeout\","
    " \"message\": \"m\", \"retry_after_ms\": 7}}\n" ASK
    "{\"connect_ms\": null}\n{\"end\": \"silent\"}\n" ASK OK
    "{\"end\": \"closed\"}";

static void check_first(const struct recorded *x)
{
    CHECK_INT(x->line, 3);
    CHECK_INT(x->connect_ms, 5);
    CHECK_INT(x->head.status, 201);
    CHECK_INT(x->head.reused, 1);
    CHECK_INT(x->head.header_count, 2);
    CHECK_TEXT(x->head.header[0], "a");
    CHECK_TEXT(x->head.header[1], "b:c");
    CHECK_TEXT(x->head.header[3], "");
    CHECK_INT(x->count, 3);
    CHECK_SLICE(x->steps[0].bytes, SLICE("h\0i"));
    CHECK_INT(x->steps[0].at_ms, 10);
    CHECK_SLICE(x->steps[1].bytes, SLICE("\xff"));
    CHECK_INT(x->steps[1].at_ms, 10);
    CHECK_INT(x->steps[2].kind, RECORDING_COMPLETE);
    CHECK_INT(x->steps[2].at_ms, 12);
}

static void reads_all_there_is(void)
{
    struct arena a;
    struct recorded *x;
    arena_init(&a, mem_default());
    if (CHECK(!recording_read(&a, slice_of(whole), "f", &x)) && check_whole()) {
        check_first(x);
        x = x->next;
        CHECK(x->refused && x->refused->kind == ALLM_ERR_ADAPTER);
        x = x->next;
        CHECK_INT(x->steps[0].kind, RECORDING_ERROR);
        CHECK_INT(x->steps[0].error->kind, ALLM_ERR_STREAM);
        CHECK_INT(x->steps[0].error->retry_after_ms.value, 7);
        x = x->next;
        CHECK_INT(x->connect_ms, RECORDING_NEVER);
        CHECK_INT(x->steps[0].kind, RECORDING_SILENT);
        x = x->next;
        CHECK_INT(x->steps[0].kind, RECORDING_CLOSED);
        CHECK(!x->next);
    }
    arena_release(&a);
}

static void refuses_with_place_and_reason(void)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        { "", "f, line 1: this is not a recording" },
        { "\n\n", "f, line 2: this is not a recording" },
        { "hello\n", "f, line 1: an object is expected" },
        { "{\"a\": 1}", "f, line 1: this is not a recording" },
        { ASK, "f, line 1: this is not a recording" },
        { "{\"allm_recording\": 2}", "f, line 1: the recording has version 2" },
        { "{\"allm_recording\": \"1\"}", "must be the format version" },
        { "{\"allm_recording\": 1, \"x\": 1}", "has no member \"x\"" },
        { FIRST "[1]\n", "f, line 2: an object is expected" },
        { FIRST ASK "<<<<<<< ours\n", "f, line 3: an object is expected, "
          "which begins with { at the beginning of a line; found "
          "\"<<<<<<< ours" },
        { FIRST "{\"request\": {\n  \"url\" 1\n}}\n", "f, line 3: the JSON" },
        { FIRST "{}", "f, line 2: this is not a part of a recording" },
        { FIRST "{\"requst\": {}}", "f, line 2: this is not a part" },
        { FIRST "{\"request\": 1}", "\"request\" must be an object" },
        { FIRST "{\"request\": {\"uri\": 1}}", "has no member \"uri\"" },
        { FIRST "{\"request\": {\"url\": 1}}", "\"url\" must be a string" },
        { FIRST "{\"request\": {\"url\": \"a\\u0000\"}}", "must be a string" },
        { FIRST "{\"request\": {\"headers\": {}}}", "must be a list" },
        { FIRST "{\"request\": {\"headers\": [1]}}", "a header must be" },
        { FIRST "{\"request\": {\"headers\": [\":x\"]}}", "found :x" },
        { FIRST "{\"request\": {\"body\": 1, \"body_text\": \"\"}}", "one of" },
        { FIRST "{\"request\": {\"body_text\": {}}}", "must be a string" },
        { FIRST "{\"request\": {\"body_base64\": \"*\"}}", "not base64" },
        { FIRST "{\"request\": {}, \"ms\": 1}", "has no member \"ms\"" },
        { FIRST OK, "line 2: \"answer\" belongs to an exchange" },
        { FIRST ASK, "line 2: the file stops in the middle" },
        { FIRST ASK OK ASK, "line 4: the exchange of line 2 has no end" },
        { FIRST ASK FIRST, "line 3: the exchange of line 2 has no end" },
        { FIRST ASK END, "line 3: an \"answer\" with its status" },
        { FIRST ASK "{\"text\": \"\"}", "an \"answer\" with its status" },
        { FIRST ASK OK OK, "has an answer already" },
        { FIRST ASK "{\"answer\": {}}", "needs its \"status\"" },
        { FIRST ASK "{\"answer\": {\"status\": 1000}}", "from 0 to 999" },
        { FIRST ASK "{\"answer\": {\"status\": 2.5}}", "a whole number" },
        { FIRST ASK OK "{\"ms\": -1, \"text\": \"\"}", "from 0 to" },
        { FIRST ASK OK "{\"ms\": 9999999999, \"text\": \"\"}", "from 0 to" },
        { FIRST ASK OK "{\"ms\": 1073741824, \"text\": \"\"}\n"
                       "{\"ms\": 1, \"text\": \"\"}",
          "line 5: \"ms\" must be a whole number from 0 to 0" },
        { FIRST ASK OK "{\"text\": 1}", "\"text\" must be a string" },
        { FIRST ASK OK "{\"base64\": \"a\"}", "line 4: this is not base64" },
        { FIRST ASK OK "{\"text\": \"\", \"base64\": \"\"}",
          "has no member \"base64\"" },
        { FIRST ASK OK "{\"end\": \"over\"}", "\"end\" must be" },
        { FIRST ASK OK "{\"connect_ms\": 1}", "must follow" },
        { FIRST ASK "{\"connect_ms\": \"\"}", "whole number" },
        { FIRST ASK OK "{\"refused\": {}}", "must follow" },
        { FIRST ASK "{\"error\": {\"kind\": \"bad\"}}", "called \"bad\"" },
        { FIRST ASK "{\"error\": {\"kind\": \"ok\"}}", "called \"ok\"" },
        { FIRST ASK "{\"error\": {\"what\": 1}}", "no member \"what\"" },
        { FIRST ASK OK "{\"end\": \"complete\"", "f, line 4: the JSON" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct recorded *x;
        check_row(rows[i].text);
        arena_init(&a, mem_default());
        const allm_error *e = recording_read(&a, slice_of(rows[i].text), "f",
                                             &x);
        CHECK_ALWAYS(e);
        CHECK(e->kind == ALLM_ERR_STORE);
        CHECK_WHY(strstr(e->message, rows[i].why), e->message);
        arena_release(&a);
    }
}

/* Cut anywhere, it is refused or a shorter recording; never a crash. */
static void stands_any_damage(void)
{
    struct random r = check_random();
    for (size_t n = 0; n < sizeof whole; n++) {
        struct arena a;
        struct recorded *x;
        arena_init(&a, mem_default());
        recording_read(&a, (struct slice){ whole, n }, "f", &x);
        arena_release(&a);
    }
    for (int n = 0; n < 3000; n++) {
        struct arena a;
        struct recorded *x;
        char text[sizeof whole];
        memcpy(text, whole, sizeof whole);
        for (size_t i = 0; i <= random_below(r, 4); i++)
            text[random_below(r, sizeof whole - 1)] =
                "{}[]\",:0 \nx\xff"[random_below(r, 12)];
        arena_init(&a, mem_default());
        recording_read(&a, (struct slice){ text, sizeof whole - 1 }, "f", &x);
        arena_release(&a);
    }
}

TESTS = {
    TEST(reads_all_there_is),
    TEST(refuses_with_place_and_reason),
    TEST_ONCE(stands_any_damage),
    TESTS_END,
};
