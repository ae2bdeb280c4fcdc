/* test_memo.c - encoded messages are cached, and do not change */
#include "provider/memo.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "provider/dialects.h"
#include "provider/http.h"
#include "provider/openai/chat_encode.h"
#include "provider/quirks.h"
#include "provider/sink.h"
#include "json/json.h"

static const int tag;

static const allm_call plain = { .size = sizeof(allm_call),
                                 .provider = "p",
                                 .model = "m" };

static void keeps_bytes_by_key(void)
{
    allm_message *m = allm_message_from_text(ALLM_ROLE_USER, "x");
    if (!m)
        return;
    struct home_key one = memo_key(&tag, 1, &plain, m);
    struct home_key two = memo_key(&tag, 2, &plain, m);
    CHECK_ALWAYS(!memo_find(m, one).ptr);
    memo_keep(m, one, SLICE("first"));
    memo_keep(m, one, SLICE("again"));
    memo_keep(m, two, SLICE(""));
    CHECK_SLICE(memo_find(m, one), SLICE("first"));
    CHECK(memo_find(m, two).ptr != NULL);
    allm_message_free(m);
}

static void only_so_many(void)
{
    allm_message *m = allm_message_from_text(ALLM_ROLE_USER, "x");
    size_t kept = 0;
    for (uint64_t i = 0; m && i < 100; i++)
        memo_keep(m, memo_key(&tag, i, &plain, m), SLICE("abc"));
    for (uint64_t i = 0; m && i < 100; i++)
        kept += memo_find(m, memo_key(&tag, i, &plain, m)).ptr != NULL;
    CHECK(kept > 1 && kept < 20);
    allm_message_free(m);
}

static void structs_of_the_caller_keep_nothing(void)
{
    allm_message *m = allm_message_from_text(ALLM_ROLE_USER, "x");
    if (!m)
        return;
    allm_message copy = *m;
    struct home_key key = memo_key(&tag, 1, &plain, m);
    memo_keep(&copy, key, SLICE("wrong"));
    CHECK_ALWAYS(!memo_find(m, key).ptr);
    copy.home = NULL;
    memo_keep(&copy, key, SLICE("wrong"));
    CHECK_ALWAYS(!memo_find(&copy, key).ptr);
    allm_message_free(m);
}

/* A kept encoding can be read only: by type, and a caller that changes its own
 * copy of a message gets what it changed. */
static void a_kept_encoding_cannot_be_changed(void)
{
    _Static_assert(_Generic(&(((struct slice *)0)->ptr), const char ** : 1,
                            default : 0),
                   "the bytes of a kept encoding are const");
    _Static_assert(_Generic(&(((allm_http_view *)0)->body), const char ** : 1,
                            default : 0),
                   "the bytes of a request are const");
    allm_message *m = allm_message_from_text(ALLM_ROLE_USER, "x");
    if (!m)
        return;
    allm_message changed = *m;
    struct home_key key = memo_key(&tag, 1, &plain, m);
    char bytes[] = "kept";
    memo_keep(m, key, slice_of(bytes));
    bytes[0] = '#';             /* a copy is kept, not these bytes */
    changed.text = "other";
    CHECK_SLICE(memo_find(m, key), SLICE("kept"));
    CHECK_ALWAYS(!memo_find(&changed, key).ptr);
    allm_message_free(m);
}

/* A state makes the key depend on the model. */
static void a_state_is_for_one_model(void)
{
    const allm_call other = { .size = sizeof other,
                              .provider = "p",
                              .model = "n" };
    allm_json *state = noun_json("{}");
    if (!state)
        return;
    allm_message without = { .size = sizeof without };
    allm_message with = { .size = sizeof with, .provider_state = state };
    const allm_call elsewhere = { .size = sizeof elsewhere,
                                  .provider = "q",
                                  .model = "m" };
    const allm_part part = { .size = sizeof part, .provider_state = state };
    const allm_part *const parts[] = { &part };
    allm_message inside = { .size = sizeof inside,
                            .part_count = 1,
                            .parts = parts };
    const allm_tool_call call = { .size = sizeof call,
                                  .provider_state = state };
    const allm_tool_call *const calls[] = { &call };
    allm_message called = { .size = sizeof called,
                            .tool_call_count = 1,
                            .tool_calls = calls };
    struct home_key a = memo_key(&tag, 0, &plain, &without);
    struct home_key b = memo_key(&tag, 0, &other, &without);
    CHECK_ALWAYS(a.word[0] == b.word[0] && a.word[1] == b.word[1]);
    a = memo_key(&tag, 0, &plain, &with);
    b = memo_key(&tag, 0, &other, &with);
    CHECK(a.word[1] != b.word[1]);
    b = memo_key(&tag, 0, &elsewhere, &with);
    CHECK(a.word[1] != b.word[1]);
    a = memo_key(&tag, 0, &plain, &inside);
    b = memo_key(&tag, 0, &other, &inside);
    CHECK(a.word[1] != b.word[1]);
    a = memo_key(&tag, 0, &plain, &called);
    b = memo_key(&tag, 0, &other, &called);
    CHECK(a.word[1] != b.word[1]);
    allm_json_free(state);
}

/* --------------------------------------------------------------- encode --- */

/* The body in one piece, as a transport of the caller sees it; "": there is
 * none. */
static const char *whole_body(const struct allm_http *http)
{
    allm_http_view view;
    const char *text =
        http_view(http, &view)
            ? arena_copy(http->arena,
                         (struct slice){ view.body,
                                                        view.body_len })
            : NULL;
    return text ? text : "";
}

/* The messages of a body: from "messages" up to the end of the list. */
static struct slice encode(const allm_thread *t, struct arena *a)
{
    struct allm_sink sink;
    struct allm_http http;
    allm_request *r = allm_request_from_thread(t, NULL);
    allm_call call = plain;
    call.request = r;
    call.options = call.adapter_opts = json_empty_object();
    call.base_url = "http://h";
    sink_init(&sink, a, NULL);
    http_init(&http, a, &sink);
    if (r && !allm_request_error(r))
        openai_chat_encode(&call, &http);
    allm_request_free(r);
    const char *body = whole_body(&http);
    const char *end = strstr(body, "],\"stream\"");
    return end ? (struct slice){ body, (size_t)(end - body) }
               : (struct slice){ "", 0 };
}

/* Each longer conversation begins with the bytes of the shorter one, and what
 * is remembered is what would be written. */
static void a_longer_history_begins_like_the_shorter(void)
{
    struct arena a;
    allm_thread *t = allm_thread_new(NULL);
    struct slice last = { "", 0 };
    arena_init(&a, mem_default());
    for (int i = 0; i < 6; i++) {
        allm_thread_add(t, i % 2 ? ALLM_ROLE_ASSISTANT : ALLM_ROLE_USER,
                        i % 2 ? "yes \"really\"" : "why?");
        struct slice now = encode(t, &a);
        CHECK_SLICE(encode(t, &a), now);
        CHECK(slice_starts(now, last));
        if (last.len)
            CHECK(now.len > last.len);
        last = now;
    }
    allm_thread_free(t);
    arena_release(&a);
}

/* A message that was encoded before is sent from where its bytes are kept. */
static void a_long_message_is_borrowed(void)
{
    char text[401];
    struct arena a;
    struct allm_sink sink;
    arena_init(&a, mem_default());
    sink_init(&sink, &a, NULL);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    allm_message *m = allm_message_from_text(ALLM_ROLE_USER, text);
    const allm_message *const list[] = { m, m };
    const allm_request r = { .size = sizeof r, .message_count = 2,
                             .messages = list, .options = json_empty_object() };
    allm_call call = plain;
    call.request = &r;
    call.options = call.adapter_opts = json_empty_object();
    call.base_url = "http://h";
    const char *before = "";
    for (int i = 0; m && i < 3; i++) {
        struct allm_http http;
        http_init(&http, &a, &sink);
        openai_chat_encode(&call, &http);
        const char *now = whole_body(&http);
        if (check_whole()) {
            CHECK_INT(http.loans.count, i ? 2 : 1);
            CHECK(http.loans.loan[0].bytes.ptr ==
                  http.loans.loan[i > 0].bytes.ptr);
            CHECK(i == 0 || !strcmp(now, before));
        }
        before = now;
    }
    allm_message_free(m);
    arena_release(&a);
}

/* The allocator of a message, which has nothing left for its notes. */
static struct mem usual;
static bool exhausted;

static void *scarce(void *ud, void *p, size_t old, size_t size)
{
    (void)ud;
    return exhausted && size > old ? NULL : usual.fn(usual.ud, p, old, size);
}

static void without_memory_to_keep_it_it_is_written(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    usual = mem_default();
    exhausted = false;
    mem_set_default((struct mem){ scarce, NULL });
    allm_thread *t = allm_thread_new(NULL);
    allm_thread_add(t, ALLM_ROLE_USER, "why?");
    mem_set_default(usual);
    exhausted = true;
    struct slice first = encode(t, &a), again = encode(t, &a);
    if (check_whole())
        CHECK(first.len && slice_eq(first, again));
    exhausted = false;
    struct slice kept = encode(t, &a);
    if (check_whole())
        CHECK_SLICE(kept, first);
    allm_thread_free(t);
    arena_release(&a);
}

/* The body for a server that differs, with a tool or without. */
static const char *encode_for(const allm_thread *t, struct arena *a,
                              uint64_t quirks, bool tool)
{
    struct allm_sink sink;
    struct allm_http http;
    const allm_tool *const tools[] = { ALLM(tool, .name = "f") };
    allm_request *r = allm_request_from_thread(t, ALLM(request, .tools = tools,
                                                       .tool_count = tool));
    allm_call call = plain;
    call.request = r;
    call.options = call.adapter_opts = json_empty_object();
    call.base_url = "http://h";
    call.quirks = quirks;
    sink_init(&sink, a, NULL);
    http_init(&http, a, &sink);
    if (r && !allm_request_error(r))
        openai_chat_encode(&call, &http);
    allm_request_free(r);
    return whole_body(&http);
}

/* An answer without a text, with a call of a long id and a thought. */
static allm_thread *asked(void)
{
    allm_json *state = noun_json("{'provider':'p','model':'m',"
                                 "'reasoning_content':'why'}");
    const allm_tool_call *const calls[] = {
        ALLM(tool_call, .name = "f",
             .id = "a23456789b23456789c23456789d23456789e23456789"),
    };
    allm_thread *t = allm_thread_new(NULL);
    allm_message *m =
        allm_message_new(ALLM(message, .role = ALLM_ROLE_ASSISTANT, .text = "",
                              .tool_call_count = 1, .tool_calls = calls,
                              .provider_state = state));
    if (t && m)
        allm_thread_append(t, m);
    allm_message_free(m);
    allm_json_free(state);
    return t;
}

/* What was written for one server is not what another one takes. */
static void a_quirk_is_for_one_server(void)
{
    static const struct {
        const char *why;
        uint64_t quirks;
        bool tool;
        const char *there, *not_there;
    } rows[] = {
        { "plain", 0, true, "\"content\":null", "reasoning_content" },
        { "an empty text", CHAT_EMPTY_CONTENT, true, "\"content\":\"\"",
          "\"content\":null" },
        { "its thought", CHAT_REPLAY_REASONING, true,
          "\"reasoning_content\":\"why\"", "\"content\":\"\"" },
        { "a limited id", CHAT_LIMITED_IDS, true, "\"content\":null",
          "d23456789e2" },
        { "a short id", CHAT_SHORT_IDS, true, "\"content\":null", "a2345" },
        { "its thought, where no tool is", CHAT_REPLAY_REASONING, false,
          "d23456789e2", "reasoning_content" },
        { "plain again", 0, true, "d23456789e2", "reasoning_content" },
    };
    struct arena a;
    arena_init(&a, mem_default());
    allm_thread *t = asked();
    for (int twice = 0; twice < 2; twice++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            check_row(rows[i].why);
            const char *body = encode_for(t, &a, rows[i].quirks, rows[i].tool);
            if (!check_whole())
                continue;
            CHECK_WHY(strstr(body, rows[i].there) != NULL, body);
            CHECK_WHY(!strstr(body, rows[i].not_there), body);
        }
    allm_thread_free(t);
    arena_release(&a);
}

/* A message and its result, so many times. */
static allm_thread *repeated(const allm_message *asks,
                             const allm_message *answers, size_t times)
{
    allm_thread *t = allm_thread_new(NULL);
    for (size_t i = 0; t && i < times; i++) {
        allm_thread_append(t, asks);
        allm_thread_append(t, answers);
    }
    return t;
}

/* An id that has its number from what stands before is not kept. */
static void a_number_is_for_one_conversation(void)
{
    const allm_tool_call *const calls[] = {
        ALLM(tool_call, .name = "f", .id = "c"),
    };
    allm_message *asks =
        allm_message_new(ALLM(message, .role = ALLM_ROLE_ASSISTANT, .text = "",
                              .tool_call_count = 1, .tool_calls = calls));
    allm_message *answers = allm_message_new(ALLM(
        message, .role = ALLM_ROLE_TOOL, .text = "r", .tool_call_id = "c"));
    struct arena a;
    arena_init(&a, mem_default());
    for (size_t i = 0; asks && answers && i < 4; i++) {
        size_t times = 2 - i % 2;
        allm_thread *t = repeated(asks, answers, times);
        const char *body = encode_for(t, &a, 0, false);
        if (check_whole()) {
            CHECK_WHY(strstr(body, "\"id\":\"c\"") != NULL, body);
            CHECK_WHY(strstr(body, "\"tool_call_id\":\"c\"") != NULL, body);
            CHECK_WHY(!strstr(body, "\"id\":\"c_2\"") == (times == 1), body);
            CHECK_WHY(!strstr(body, "_call_id\":\"c_2\"") == (times == 1),
                      body);
        }
        allm_thread_free(t);
    }
    allm_message_free(asks);
    allm_message_free(answers);
    arena_release(&a);
}

TESTS = {
    TEST(keeps_bytes_by_key),
    TEST(only_so_many),
    TEST(structs_of_the_caller_keep_nothing),
    TEST(a_kept_encoding_cannot_be_changed),
    TEST(a_state_is_for_one_model),
    TEST(a_longer_history_begins_like_the_shorter),
    TEST(a_long_message_is_borrowed),
    TEST(without_memory_to_keep_it_it_is_written),
    TEST(a_quirk_is_for_one_server),
    TEST(a_number_is_for_one_conversation),
    TESTS_END,
};
