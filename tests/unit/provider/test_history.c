/* test_history.c - conversations as every provider accepts them */
#include "provider/history.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "harness/play.h"
#include "json/json.h"

/* The messages as they would be sent: "user:text", "tool(id):text", ... */
static void walk(struct buf *out, const allm_call *call, struct arena *a)
{
    static const char *const roles[] = { "?", "system", "user", "assistant",
                                         "tool" };
    struct history h;
    struct history_item item;
    history_init(&h, call, a);
    while (history_next(&h, &item)) {
        const allm_message *m = item.message;
        if (out->len)
            buf_byte(out, ' ');
        buf_text(out, roles[m->role]);
        if (m->tool_call_id)
            buf_format(out, "(%s)", m->tool_call_id);
        for (size_t i = 0; i < m->tool_call_count; i++)
            buf_format(out, "[%s]", m->tool_calls[i]->id);
        buf_byte(out, ':');
        buf_add(out, history_text(m, a));
        buf_text(out, item.made ? "*" : "");
    }
    CHECK(!h.broken);
}

static void check_walk(const char *messages, const char *want)
{
    char json[2048];
    struct arena a;
    struct buf out;
    arena_init(&a, mem_default());
    buf_init(&out, &a, 4096);
    json[0] = '\0';
    strcat(strcat(strcat(json, "{'messages': ["), messages), "]}");
    allm_codec *codec = noun_read("Request", json);
    allm_call call = { .size = sizeof call };
    call.request = allm_codec_value(codec, ALLM_TYPE_REQUEST);
    if (call.request)
        walk(&out, &call, &a);
    CHECK_SLICE(buf_slice(&out), slice_of(want));
    allm_codec_free(codec);
    arena_release(&a);
}

#define USER(t) "{'role': 'user', 'content': '" t "'}"
#define TOOL(id, t) \
    "{'role': 'tool', 'tool_call_id': '" id "', 'content': '" t "'}"
#define SAYS(t, calls) \
    "{'role': 'assistant', 'content': '" t "', 'metadata': {'tool_calls': [" \
    calls "]}}"
#define CALL(id) "{'id': '" id "', 'name': 'f', 'arguments': {}}"
#define NOT "This tool call was not executed.*"

static void every_call_has_its_result(void)
{
    check_walk(USER("x"), "user:x");
    check_walk(USER("x") "," SAYS("", CALL("a")) "," TOOL("a", "1"),
               "user:x assistant[a]: tool(a):1");
    check_walk(SAYS("", CALL("a")), "assistant[a]: tool(a):" NOT);
    check_walk(SAYS("", CALL("a") "," CALL("b")) "," TOOL("b",
                                                          "2") "," USER("y"),
               "assistant[a][b]: tool(a):" NOT " tool(b):2 user:y");
    check_walk(SAYS("", CALL("a")) "," SAYS("hm", CALL("b")) "," TOOL("b", "2"),
               "assistant[a]: tool(a):" NOT " assistant[b]:hm tool(b):2");
}

static void results_come_behind_their_calls(void)
{
    check_walk(SAYS("", CALL("a") "," CALL("b")) "," USER(
                   "y") "," TOOL("b", "2") "," TOOL("a", "1"),
               "assistant[a][b]: tool(a):1 tool(b):2 user:y");
}

static void an_id_may_be_used_again(void)
{
    check_walk(SAYS("", CALL("a")) "," TOOL("a", "1") "," SAYS(
                   "", CALL("a")) "," TOOL("a", "2"),
               "assistant[a]: tool(a):1 assistant[a]: tool(a):2");
    check_walk(SAYS("", CALL("a") "," CALL(
                            "a")) "," TOOL("a", "1") "," TOOL("a", "2"),
               "assistant[a][a]: tool(a):1 tool(a):2");
}

#define SHOWS(id) \
    "{'role': 'tool', 'tool_call_id': '" id "', 'content': [{'type': 'text'," \
    "'text': 'see'}, {'type': 'image', 'source': {'type': 'base64', 'value':" \
    "'AAAA'}, 'mime_type': 'image/png'}]}"
#define SEEN "user:The images of the tool results above:*"

/* Once for each turn, before what follows it. */
static void images_come_behind_their_results(void)
{
    check_walk(SAYS("", CALL("a") "," CALL("b")) "," SHOWS(
                   "b") "," TOOL("a", "1") "," USER("y"),
               "assistant[a][b]: tool(a):1 tool(b):see " SEEN " user:y");
    check_walk(SAYS("", CALL("a")) "," SHOWS(
                   "a") "," SAYS("", CALL("b")) "," TOOL("b", "2"),
               "assistant[a]: tool(a):see " SEEN " assistant[b]: tool(b):2");
}

static void results_without_a_call_become_user_text(void)
{
    check_walk(TOOL("z", "1"), "user:Result of the tool call z: 1*");
    check_walk(SAYS("", CALL("a")) "," TOOL("a", "1") "," TOOL("a", "2"),
               "assistant[a]: tool(a):1 user:Result of the tool call a: 2*");
}

static void silence_is_left_out(void)
{
    check_walk(USER("x") "," SAYS("", "") "," USER(""), "user:x user:");
    check_walk("{'role': 'assistant', 'content': [{'type': 'text', 'text': "
               "''}]}," USER("x"),
               "user:x");
    check_walk("{'role': 'assistant', 'content': '', 'provider_state': "
               "{'provider': '', 'model': ''}}",
               "assistant:");           /* it thought, for this very model */
    check_walk("{'role': 'assistant', 'content': '', 'provider_state': "
               "{'provider': '', 'model': 'm'}}",
               "");
}

static void states_go_back_to_their_model(void)
{
    const allm_call call = { .size = sizeof call,
                             .provider = "p",
                             .model = "m" };
    static const struct {
        const char *state;
        bool ours;
    } rows[] = {
        { "{'provider': 'p', 'model': 'm', 'x': 1}", true },
        { "{'provider': 'p', 'model': 'n'}", false },
        { "{'provider': 'q', 'model': 'm'}", false },
        { "{'x': 1}", false },
        { "[1]", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        allm_json *v = noun_json(rows[i].state);
        check_row(rows[i].state);
        CHECK((history_state(&call, v) == v && v) == rows[i].ours);
        allm_json_free(v);
    }
    CHECK_ALWAYS(!history_state(&call, NULL));
}

static void ids_are_made_legal(void)
{
    struct arena a;
    const struct history_ids nine = { .exactly = 9 };
    const struct history_ids dashes = { .dashes = true, .most = 64 };
    const struct history_ids any = { .any = true };
    arena_init(&a, mem_default());
    CHECK_TEXT(history_id(&any, "f:0 \xC3\xA9", &a), "f:0 \xC3\xA9");
    CHECK_TEXT(history_id(&dashes, "call_a-1", &a), "call_a-1");
    CHECK_TEXT(history_id(&nine, "abcDEF123", &a), "abcDEF123");
    const char *one = history_id(&nine, "call_1", &a);
    const char *two = history_id(&nine, "call_2", &a);
    if (one && two) {
        CHECK_INT(strlen(one), 9);
        CHECK(strcmp(one, two) != 0);
        CHECK_TEXT(history_id(&nine, "call_1", &a), one);
    }
    const char *odd = history_id(&dashes, "f:0", &a);
    CHECK(odd && strlen(odd) == 20);
    CHECK(history_id(&any, "", &a) != NULL);
    arena_release(&a);
}

static void arguments_are_an_object(void)
{
    static const struct {
        const char *raw, *args, *want;
    } rows[] = {
        { "{ \"a\" : 1}", "{'b': 2}", "{ \"a\" : 1}" },
        { "{\"a\":", "{'b': 2}", "{\"b\":2}" },
        { "[1]", "{}", "{}" },
        { "", "{}", "{}" },
        { NULL, "{'b': 2}", "{\"b\":2}" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        arena_init(&a, mem_default());
        allm_json *v = noun_json(rows[i].args);
        const allm_tool_call call = { .size = sizeof call,
                                      .raw_arguments = rows[i].raw,
                                      .raw_len = slice_of(rows[i].raw).len,
                                      .arguments = v };
        check_row(rows[i].want);
        if (v)
            CHECK_SLICE(history_arguments(&call, &a), slice_of(rows[i].want));
        allm_json_free(v);
        arena_release(&a);
    }
}

TESTS = {
    TEST(every_call_has_its_result),
    TEST(results_come_behind_their_calls),
    TEST(an_id_may_be_used_again),
    TEST(images_come_behind_their_results),
    TEST(results_without_a_call_become_user_text),
    TEST(silence_is_left_out),
    TEST(states_go_back_to_their_model),
    TEST(ids_are_made_legal),
    TEST(arguments_are_an_object),
    TESTS_END,
};
