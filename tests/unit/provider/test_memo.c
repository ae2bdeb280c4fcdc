/* test_memo.c - encoded messages are kept with them, and are the same */
#include "provider/memo.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "provider/http.h"
#include "provider/openai_chat.h"
#include "provider/openai_chat_encode.h"
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

/* A state makes the key depend on the model. */
static void a_state_is_for_one_model(void)
{
    const allm_call other = { .size = sizeof other,
                              .provider = "p",
                              .model = "n" };
    allm_json *state = noun_json("{}");
    allm_message without = { .size = sizeof without };
    allm_message with = { .size = sizeof with, .provider_state = state };
    struct home_key a = memo_key(&tag, 0, &plain, &without);
    struct home_key b = memo_key(&tag, 0, &other, &without);
    CHECK_ALWAYS(a.word[0] == b.word[0] && a.word[1] == b.word[1]);
    a = memo_key(&tag, 0, &plain, &with);
    b = memo_key(&tag, 0, &other, &with);
    CHECK(a.word[1] != b.word[1]);
    allm_json_free(state);
}

/* ------------------------------------------------------------------- encode --- */

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
    struct slice body = buf_slice(&http.body);
    const char *end = strstr(body.ptr, "],\"stream\"");
    return end ? (struct slice){ body.ptr, (size_t)(end - body.ptr) }
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

TESTS = {
    TEST(keeps_bytes_by_key),
    TEST(only_so_many),
    TEST(structs_of_the_caller_keep_nothing),
    TEST(a_state_is_for_one_model),
    TEST(a_longer_history_begins_like_the_shorter),
    TESTS_END,
};
