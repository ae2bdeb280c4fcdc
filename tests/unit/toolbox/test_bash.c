/*
 * test_bash.c - the built-in tool bash, with the real warden
 *
 * tag: thread
 * tag: clock (timeouts)
 */
#include "toolbox/toolbox.h"

#include "harness/box.h"
#include "harness/check.h"
#include "harness/noun.h"

#include <stdio.h>
#include <unistd.h>

static void runs_commands(void)
{
    static const struct {
        const char *why, *args, *want;
    } rows[] = {
        { "output", "{'command': 'echo hi'}", "hi\n[exit status 0]\n" },
        { "no output", "{'command': 'true'}", "[exit status 0]\n" },
        { "a status", "{'command': 'echo a; exit 3'}",
          "a\n[exit status 3]\n" },
        { "both outputs, in their order",
          "{'command': 'echo a; echo b >&2; echo c; echo d >&2'}",
          "a\nb\nc\nd\n[exit status 0]\n" },
        { "no LF at the end", "{'command': 'printf x'}",
          "x\n[exit status 0]\n" },
        { "quotes", "{'command': 'echo \\\"$HOME\\\" | cut -c1-5'}",
          "/tmp/\n[exit status 0]\n" },
        { "several lines", "{'command': 'for i in 1 2\\ndo echo $i\\ndone'}",
          "1\n2\n[exit status 0]\n" },
        { "the working directory", "{'command': 'cat f'}",
          "file\n[exit status 0]\n" },
        { "it may not be changed",
          "{'command': 'echo x >f || echo no'}", "no\n[exit status 0]" },
        { "unless it is requested",
          "{'command': 'echo x >g && cat g; rm g', 'write': true}",
          "x\n[exit status 0]\n" },
        { "nothing outside", "{'command': 'cat /etc/shadow || echo no', "
                             "'write': true}",
          "no\n[exit status 0]" },
        { "NULs", "{'command': 'printf \\\"a\\\\\\\\000b\\\"'}",
          "[binary, 3 bytes, sha256 " },
        { "a signal", "{'command': 'echo x; kill -SEGV $$'}",
          "killed by signal 11" },
        { "a child stays", "{'command': 'sleep 1000 & echo now'}",
          "now\n[exit status 0]\n" },
        { "no command", "{}", "invalid_arguments" },
        { "an empty command", "{'command': ''}", "invalid_arguments" },
        { "a NUL in the command", "{'command': 'a\\u0000b'}",
          "invalid_arguments" },
        { "a wrong timeout", "{'command': 'x', 'timeout': 0}",
          "invalid_arguments" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct box b;
        check_row(rows[i].why);
        box_open(&b, "bash");
        external_file("f", "file\n");
        const char *got = box_call(&b, "bash", rows[i].args);
        CHECK_WHY(strstr(got, rows[i].want) != NULL, got);
        box_close(&b);
    }
}

static void ends_late_commands(void)
{
    static const struct {
        const char *why, *args;
    } rows[] = {
        { "late", "{'command': 'echo begun; sleep 1000', 'timeout': 1}" },
        { "deaf", "{'command': 'trap : TERM; echo begun; while :; do sleep 1; "
                  "done', 'timeout': 1}" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct box b;
        check_row(rows[i].why);
        box_open(&b, "bash");
        const char *got = box_call(&b, "bash", rows[i].args);
        CHECK_WHY(strstr(got, "timeout") && strstr(got, "within 1 s") &&
                      strstr(got, "begun"),
                  got);
        box_close(&b);
    }
}

static const char *reach_of(struct box *b, const char *args)
{
    static char text[512];
    struct arena a;
    arena_init(&a, mem_default());
    const struct entry_list *list = list_entries(&b->box->list);
    const struct entry *e = &list->entries[0];
    allm_json *json = noun_json(args);
    allm_text *words = allm_json_write(e->call_reach(b->box, e, json, &a), 0);
    snprintf(text, sizeof text, "%s", allm_text_bytes(words, NULL));
    allm_text_free(words);
    allm_json_free(json);
    arena_release(&a);
    return text;
}

static void states_its_reach(void)
{
    struct box b;
    char want[200];
    box_open(&b, "bash");
    CHECK_TEXT(reach_of(&b, "{'command': 'x'}"), "[]");
    CHECK_TEXT(reach_of(&b, "{'command': 'x', 'net': true}"), "[\"net\"]");
    snprintf(want, sizeof want, "[\"write %s\",\"net\"]", b.root);
    CHECK_TEXT(reach_of(&b, "{'command': 'x', 'net': true, 'write': true}"),
               want);
    box_close(&b);
}

static void is_cancelled(void)
{
    struct box b;
    box_open(&b, "bash");
    allm_stream *s = box_start(&b, "bash", "{'command': 'sleep 1000'}");
    const allm_event *event;
    allm_stream_next(s, &event);
    allm_stream_free(s);
    box_close(&b);
}

TESTS = {
    TEST_ONCE(runs_commands),
    TEST_ONCE(ends_late_commands),
    TEST_ONCE(states_its_reach),
    TEST(is_cancelled),
    TESTS_END,
};
