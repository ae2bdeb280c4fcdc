/* test_tool_output.c - truncated results of tools, and reading the rest */
#include "run/tool_output.h"

#include "harness/check.h"
#include "harness/play.h"
#include "harness/turns.h"

#include <stdio.h>

static void texts_are_kept_by_call(void)
{
    struct allm_home *home = home_new(mem_default(), 0);
    struct tool_output w = { .home = home };
    size_t len = 0;
    if (!home)
        return;
    CHECK(tool_output_keep(&w, "a", SLICE("one")));
    CHECK(tool_output_keep(&w, "b", SLICE("two\0too")));
    CHECK(tool_output_keep(&w, "a", SLICE("newer")));
    CHECK_TEXT(tool_output_find(&w, "a", &len), "newer");
    CHECK_INT(len, 5);
    const char *two = tool_output_find(&w, "b", &len);
    CHECK_SLICE(((struct slice){ two, len }), SLICE("two\0too"));
    CHECK_ALWAYS(!tool_output_find(&w, "c", &len));
    home_drop(home);
}

/* Two hundred bytes in characters of two and three. */
static const char *long_text(void)
{
    static char text[256] = "t=text:";
    if (strlen(text) < 10)
        for (int i = 0; i < 40; i++)
            strncat(text, "\xc3\xa4\xe2\x82\xac",
                    sizeof text - strlen(text) - 1);
    return text;
}

static bool is_whole_utf8(const char *s)
{
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        int more = c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
        if (c >= 0x80 && c < 0xc0)
            return false;
        for (; more; more--)
            if (((unsigned char)*++s & 0xc0) != 0x80)
                return false;
    }
    return true;
}

/* Wherever it is cut, and whatever part is read: no half characters. */
static void characters_stay_whole(void)
{
    for (int at = 0; at < 12; at++) {
        char scripts[512], opts[64];
        struct clock_manual clock = { 0, 0 };
        snprintf(scripts, sizeof scripts,
                 "[[['tool_call', {'id': 'c0', 'name': 't', 'arguments': {}}], "
                 "['finish', 'tool_calls']], [['tool_call', {'id': 'c1', "
                 "'name': 'tool_output', 'arguments': {'tool_call_id': 'c0', "
                 "'offset': %d, 'length': %d}}], ['finish', 'tool_calls']], "
                 "[['text', 'x'], ['finish', 'stop']]]",
                 at, 10 + at);
        snprintf(opts, sizeof opts, "{'max_tool_output': %d}", 120 + at);
        allm_engine *e = turns_engine(scripts, long_text(), &clock);
        allm_thread *t = turns_thread();
        allm_json *json = noun_json(opts);
        allm_stream *s = allm_chat(e, t, ALLM(call_opts, .json = json));
        CHECK_INT(allm_stream_wait(s), ALLM_OK);
        const allm_chat_result *c = allm_stream_chat_result(s);
        CHECK_INT(c ? allm_thread_count(c->thread) : 0, 6);
        for (size_t i = 0; c && i < allm_thread_count(c->thread); i++)
            CHECK(is_whole_utf8(allm_thread_at(c->thread, i)->text));
        const allm_message *part = c ? allm_thread_at(c->thread, 4) : NULL;
        CHECK(part && part->text_len > 0 &&
              part->text_len <= (size_t)(10 + at));
        allm_stream_free(s);
        allm_json_free(json);
        allm_thread_free(t);
        allm_engine_free(e);
    }
}

TESTS = {
    TEST(texts_are_kept_by_call),
    TEST(characters_stay_whole),
    TESTS_END,
};
