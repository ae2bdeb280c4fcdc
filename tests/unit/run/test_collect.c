/* test_collect.c - the fold accepts every event and copies what it keeps */
#include "run/collect.h"

#include "data/shape.h"
#include "harness/check.h"
#include "run/collect_call.h"
#include "json/json.h"
#include "json/parse.h"

static struct random dice;

static uint64_t roll(uint64_t n)
{
    return random_below(dice, n);
}

/* An event of any type that carries anything, or nothing. */
static allm_event random_event(const allm_json *values)
{
    static const char *const words[] = { NULL, "", "c0", "c1", "tool_error" };
    static const allm_message message = { .size = sizeof message,
                                          .role = ALLM_ROLE_ASSISTANT,
                                          .text = "m" };
    static const allm_usage usage = { .size = sizeof usage,
                                      .input_tokens = { 3, true } };
    static const allm_error error = { .size = sizeof error,
                                      .kind = ALLM_ERR_ADAPTER,
                                      .reason = "timeout" };
    static const allm_response response = { .size = sizeof response,
                                            .output_text = "r" };
    static const allm_chat_result chat = { .size = sizeof chat,
                                           .halted_reason = "completed" };
    allm_event e = { .size = sizeof e, .type = (allm_event_type)roll(24) };
    e.finish_reason = (allm_finish)roll(7);
    e.id = words[roll(5)];
    e.name = words[roll(5)];
    e.text = words[roll(5)];
    e.text_len = e.text ? strlen(e.text) : 0;
    e.raw_arguments = words[roll(5)];
    e.raw_len = e.raw_arguments ? strlen(e.raw_arguments) : 0;
    e.reason = words[roll(5)];
    size_t n = allm_json_count(values);
    e.arguments = allm_json_at(values, roll(n + 1));
    e.result = allm_json_at(values, roll(n + 1));
    e.opts = allm_json_at(values, roll(n + 1));
    e.chunk = allm_json_at(values, roll(n + 1));
    e.metadata = roll(2) ? json_empty_object() : NULL;
    e.message = roll(2) ? &message : NULL;
    e.usage = roll(2) ? &usage : NULL;
    e.error = roll(2) ? &error : NULL;
    e.response = roll(2) ? &response : NULL;
    e.chat_result = roll(2) ? &chat : NULL;
    e.mode = (allm_mode)roll(2);
    return e;
}

/* Any events in any order: no failure, and results at the end. */
static void fold_random(int events)
{
    static const char text[] =
        "[{}, [], 1, \"t\", null, {\"x\": 1}, [\"usage\", {}], "
        "[\"usage\", {\"input_tokens\": 1}], [\"usage\", 3], [\"usage\"]]";
    struct collect c;
    allm_json *values = allm_json_parse(text, sizeof text - 1, NULL);
    allm_thread *t = roll(2) ? allm_thread_new(NULL) : NULL;
    struct allm_home *home = home_new(mem_default(), 0);
    if (home && collect_init(&c, home, t)) {
        for (int i = 0; i < events; i++) {
            allm_event e = random_event(values);
            CHECK_INT(collect_add(&c, &e), ALLM_OK);
        }
        allm_response *r = collect_response(&c, "id");
        CHECK(r && !shape_error(r));
        allm_response_free(r);
        allm_step_result *step = c.thread ? collect_step_result(&c) : NULL;
        CHECK(!c.thread || (step && !shape_error(step)));
        allm_step_result_free(step);
        allm_chat_result *chat = collect_chat_result(&c);
        CHECK(!c.thread || (chat && !shape_error(chat)));
        allm_chat_result_free(chat);
    }
    if (home)
        collect_release(&c);
    home_drop(home);
    allm_thread_free(t);
    allm_json_free(values);
}

static void the_fold_is_total(void)
{
    dice = check_random();
    for (int i = 0; i < 500; i++)
        fold_random((int)roll(60));
}

static void the_fold_is_total_without_memory(void)
{
    struct random_seeded fixed;
    dice = random_of_seed(&fixed, 5);
    fold_random(40);
}

/* The arguments may be freed at once. */
static void the_fold_keeps_nothing_of_the_caller(void)
{
    struct collect c;
    struct allm_home *home = home_new(mem_default(), 0);
    char id[] = "c0", name[] = "f", text[] = "abc";
    allm_json *args = allm_json_parse("{\"x\":1}", 7, NULL);
    if (home && collect_init(&c, home, NULL)) {
        collect_add(&c, ALLM(event, .type = ALLM_EV_TEXT_DELTA, .text = text,
                             .text_len = 3));
        collect_add(&c, ALLM(event, .type = ALLM_EV_TOOL_CALL_COMPLETED,
                             .id = id, .name = name, .arguments = args,
                             .raw_arguments = text, .raw_len = 3));
        memset(id, 'z', 2);
        memset(name, 'z', 1);
        memset(text, 'z', 3);
        allm_json_free(args);
        args = NULL;
        allm_response *r = collect_response(&c, NULL);
        if (CHECK(r && r->tool_call_count == 1)) {
            CHECK_TEXT(r->output_text, "abc");
            CHECK_TEXT(r->tool_calls[0]->id, "c0");
            CHECK_TEXT(r->tool_calls[0]->name, "f");
            CHECK_TEXT(r->tool_calls[0]->raw_arguments, "abc");
            CHECK_INT(allm_json_count(r->tool_calls[0]->arguments), 1);
        }
        allm_response_free(r);
    }
    if (home)
        collect_release(&c);
    home_drop(home);
    allm_json_free(args);
}

/* A call in pieces of 10 bytes, and the message with it, which says that the
 * call has these arguments. */
static void add_call(struct collect *c, char *raw, size_t len, const char *said)
{
    allm_json *args = allm_json_parse(raw, len, NULL);
    for (size_t i = 0; i < len; i += 10)
        collect_add(c, ALLM(event, .type = ALLM_EV_TOOL_CALL_DELTA, .id = "c",
                            .text = raw + i,
                            .text_len = len - i < 10 ? len - i : 10));
    collect_add(c, ALLM(event, .type = ALLM_EV_TOOL_CALL_COMPLETED, .id = "c",
                        .name = "f", .arguments = args, .raw_arguments = raw,
                        .raw_len = len));
    const allm_tool_call *const calls[] = {
        ALLM(tool_call, .id = "c", .name = "f", .arguments = args,
             .raw_arguments = said ? said : raw,
             .raw_len = said ? strlen(said) : len),
    };
    const allm_message *m = ALLM(message, .role = ALLM_ROLE_ASSISTANT,
                                 .text = "", .tool_call_count = 1,
                                 .tool_calls = calls);
    collect_add(c,
                ALLM(event, .type = ALLM_EV_MESSAGE_COMPLETED, .message = m));
    allm_json_free(args);
    memset(raw, '#', len);
}

static void check_calls(const allm_response *r, size_t len, const char *said)
{
    const allm_message *m = r->message;
    CHECK_INT(r->tool_call_count, 1);
    CHECK_INT(m->tool_call_count, 1);
    CHECK((r->tool_calls == m->tool_calls) == !said);
    CHECK_INT(r->tool_calls[0]->raw_len, len);
    CHECK_INT(m->tool_calls[0]->raw_len, said ? strlen(said) : len);
    CHECK(!memchr(r->tool_calls[0]->raw_arguments, '#', len));
    CHECK(!r->tool_calls[1] && !m->tool_calls[1]);
    size_t text_len = 0;
    allm_json_text(allm_json_get(r->tool_calls[0]->arguments, "t"), &text_len);
    CHECK_INT(text_len, len - 8);
}

/* Short and long arguments; a message that says the same, or something else. */
static void a_response_shares_the_calls_of_its_message(void)
{
    static char raw[200000];
    for (int i = 0; i < 4; i++) {
        struct collect c;
        size_t len = i % 2 ? sizeof raw : 100;
        const char *said = i / 2 ? "{}" : NULL;
        struct allm_home *home = home_new(mem_default(), 0);
        if (!home || !collect_init(&c, home, NULL))
            continue;
        memset(raw, 'x', len);
        memcpy(raw, "{\"t\":\"", 6);
        memcpy(raw + len - 2, "\"}", 2);
        add_call(&c, raw, len, said);
        allm_response *r = collect_response(&c, "id");
        allm_response *again = collect_response(&c, "id");
        collect_release(&c);
        home_drop(home);
        if (check_whole() && r && again) {
            check_calls(r, len, said);
            check_calls(again, len, said);
        }
        allm_response_free(r);
        allm_response_free(again);
    }
}

/* A completed call whose values are in the arena, as the decoder's are. */
static bool borrow_call(struct collect *c, struct arena *from, size_t len)
{
    const allm_error *error;
    char *raw = arena_alloc(from, len);
    if (!raw)
        return false;
    memset(raw, 'x', len);
    memcpy(raw, "{\"t\":\"", 6);
    memcpy(raw + len - 2, "\"}", 2);
    const allm_json *args = json_parse_loose(from, (struct slice){ raw, len },
                                             &error);
    return args &&
           !collect_borrow(c, ALLM(event, .type = ALLM_EV_TOOL_CALL_COMPLETED,
                                   .id = "c", .name = "f", .arguments = args,
                                   .raw_arguments = raw, .raw_len = len));
}

static void add_message(struct collect *c)
{
    const allm_tool_call *const calls[] = { &c->calls->call };
    const allm_message *m = ALLM(message, .role = ALLM_ROLE_ASSISTANT,
                                 .text = "", .tool_call_count = 1,
                                 .tool_calls = calls);
    collect_add(c,
                ALLM(event, .type = ALLM_EV_MESSAGE_COMPLETED, .message = m));
}

/* The message takes over the memory of long arguments; without a message, the
 * fold does.  Short ones are copied. */
static void long_arguments_are_taken_over(void)
{
    for (int i = 0; i < 4; i++) {
        struct collect c;
        struct arena from;
        size_t len = i % 2 ? 100 : 70000;
        bool message = i / 2 == 0;
        struct allm_home *home = home_new(mem_default(), 0);
        if (!home || !collect_init(&c, home, NULL)) {
            home_drop(home);
            continue;
        }
        arena_init(&from, mem_default());
        bool added = borrow_call(&c, &from, len);
        CHECK(!added || c.borrows == (len == 70000));
        const char *raw = added ? c.calls->call.raw_arguments : NULL;
        if (added && message)
            add_message(&c);
        collect_take_over(&c, &from);
        CHECK_ALWAYS(!c.borrows);
        arena_release(&from);
        allm_response *r = added ? collect_response(&c, "id") : NULL;
        allm_response *again = added ? collect_response(&c, "id") : NULL;
        CHECK(r && again);
        if (check_whole() && r && message) {
            check_calls(r, len, NULL);
            check_calls(again, len, NULL);
            CHECK((r->tool_calls[0]->raw_arguments == raw) == (len > 100));
        }
        collect_release(&c);
        home_drop(home);
        if (check_whole() && r)
            CHECK_INT(r->tool_calls[0]->raw_len, len);
        allm_response_free(r);
        allm_response_free(again);
    }
}

TESTS = {
    TEST(long_arguments_are_taken_over),
    TEST_ONCE(the_fold_is_total),
    TEST(the_fold_is_total_without_memory),
    TEST(the_fold_keeps_nothing_of_the_caller),
    TEST_ONCE(a_response_shares_the_calls_of_its_message),
    TESTS_END,
};
