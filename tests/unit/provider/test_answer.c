/* test_answer.c - the events of an answer, and their order */
#include "provider/answer.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "provider/finish.h"
#include "unit/provider/sinking.h"
#include "json/json.h"

static const allm_call call = { .size = sizeof(allm_call),
                                .request_id = "r",
                                .provider = "p",
                                .model = "m" };

static void begin(struct sinking *s, struct answer *a)
{
    sinking_begin(s);
    memset(a, 0, sizeof *a);
    CHECK_ALWAYS(answer_open(a, &call, &s->sink));
}

static void call_tool(struct answer *a, const char *id)
{
    answer_call(a, &(struct calls_piece){ .id = slice_of(id),
                                          .name = SLICE("f"),
                                          .text = SLICE("{}") });
}

static void closes_in_order(void)
{
    struct sinking s;
    struct answer a;
    const allm_usage usage = { .size = sizeof usage,
                               .input_tokens = { 3, true },
                               .output_tokens = { 4, true } };
    begin(&s, &a);
    answer_usage(&a, &usage);
    answer_text(&a, SLICE("a"));
    answer_thought(&a, SLICE("hm"));
    sinking_take(&s);
    CHECK_ALWAYS(answer_open(&a, &call, &s.sink));
    call_tool(&a, "c");
    answer_text(&a, SLICE("b"));
    answer_finish(&a, ALLM_FINISH_STOP, SLICE("stop"));
    answer_close(&a);
    CHECK_ALWAYS(s.sink.ended);
    sinking_take(&s);
    CHECK_TEXT(s.words.ptr,
               "started text:a thinks:hm call:c/f args:c/{} text:b thought:hm "
               "text=ab called:c/f/{}/{} usage:3/4 completed:ab/tool_calls");
    CHECK_ALWAYS(!answer_open(&a, &call, &s.sink));
    sinking_end(&s);
}

/* The message and the metadata that the end carries. */
static void tells_all_at_the_end(void)
{
    struct sinking s;
    struct answer a;
    begin(&s, &a);
    allm_json *state = noun_json("{'x': 1}");
    allm_json *list = noun_json("[1, 2]");
    answer_id(&a, SLICE(""));
    answer_id(&a, SLICE("one"));
    answer_id(&a, SLICE("two"));
    answer_model(&a, SLICE("big"));
    answer_refusal(&a, SLICE("no"));
    answer_note(&a, "n", state);
    answer_note(&a, "n", list);
    answer_gather(&a, "l", list);
    answer_gather(&a, "l", list);
    answer_warn(&a, "odd");
    answer_state(&a, state);
    answer_finish(&a, ALLM_FINISH_LENGTH, SLICE("max"));
    answer_close(&a);
    for (allm_event *e; (e = sink_take(&s.sink));) {
        if (e->type != ALLM_EV_MESSAGE_COMPLETED || s.sink.status < 0)
            continue;
        CHECK_VALUE(e->metadata,
                    "{'raw_finish_reason':'max','response_id':'one',"
                    "'response_model':'big','refusal':'no','n':[1,2],"
                    "'l':[1,2,1,2],'warnings':['odd']}");
        CHECK_VALUE(e->message->provider_state,
                    "{'provider':'p','model':'m','x':1}");
        CHECK_INT(e->finish_reason, ALLM_FINISH_LENGTH);
    }
    allm_json_free(list);
    allm_json_free(state);
    sinking_end(&s);
}

static void null_counts_never_overwrite(void)
{
    struct sinking s;
    struct answer a;
    begin(&s, &a);
    answer_usage(&a, &(allm_usage){ .size = sizeof(allm_usage),
                                    .input_tokens = { 7, true } });
    answer_usage(&a, &(allm_usage){ .size = sizeof(allm_usage),
                                    .output_tokens = { 2, true } });
    answer_finish(&a, ALLM_FINISH_STOP, SLICE("stop"));
    answer_close(&a);
    sinking_take(&s);
    CHECK_TEXT(s.words.ptr, "started usage:7/2 completed:/stop");
    sinking_end(&s);
}

static void thoughts_end_one_by_one(void)
{
    struct sinking s;
    struct answer a;
    begin(&s, &a);
    allm_json *state = noun_json("{}");
    answer_thought(&a, SLICE("a"));
    answer_thought_end(&a, state);
    answer_thought_end(&a, NULL);       /* nothing is open */
    answer_thought_end(&a, state);      /* hidden, but there */
    answer_thought(&a, SLICE("b"));
    answer_close(&a);
    sinking_take(&s);
    CHECK_TEXT(s.words.ptr, "started thinks:a thought:a thought: thinks:b "
                            "thought:b completed:/null");
    allm_json_free(state);
    sinking_end(&s);
}

static void nothing_comes_after_an_error(void)
{
    struct sinking s;
    struct answer a;
    begin(&s, &a);
    answer_text(&a, SLICE("a"));
    answer_truncated(&a, "it broke off");
    CHECK_ALWAYS(!answer_open(&a, &call, &s.sink));
    sinking_take(&s);
    CHECK_TEXT(s.words.ptr, "started text:a error:stream/truncated");
    sinking_end(&s);
}

static void errors_hide_keys_and_name_the_provider(void)
{
    struct sinking s;
    struct answer a;
    begin(&s, &a);
    answer_malformed(&a, "with sk-abcdefgh1234 in it");
    allm_event *e = sink_take(&s.sink);
    if (e && e->error) {
        CHECK_TEXT(e->error->message, "with [REDACTED] in it");
        CHECK_TEXT(e->error->provider, "p");
        CHECK_TEXT(e->error->reason, "malformed_response");
    }
    sinking_end(&s);
}

static void a_character_in_two_pieces_is_one(void)
{
    struct sinking s;
    struct answer a;
    begin(&s, &a);
    answer_text(&a, SLICE("x\xED\xA0\xBD"));
    answer_text(&a, SLICE("\xED\xB8\x80"));
    answer_text(&a, SLICE("\xC3"));
    answer_finish(&a, ALLM_FINISH_STOP, SLICE("stop"));
    answer_close(&a);
    sinking_take(&s);
    CHECK_TEXT(s.words.ptr,
               "started text:x text:\xF0\x9F\x98\x80 text:\xEF\xBF\xBD "
               "text=x\xF0\x9F\x98\x80\xEF\xBF\xBD "
               "completed:x\xF0\x9F\x98\x80\xEF\xBF\xBD/stop");
    sinking_end(&s);
}

static void words_are_found(void)
{
    static const struct finish_word table[] = { { "stop", ALLM_FINISH_STOP },
                                                { NULL, ALLM_FINISH_OTHER } };
    CHECK_INT(finish_of(table, SLICE("STOP")), ALLM_FINISH_STOP);
    CHECK_INT(finish_of(table, SLICE("stopp")), ALLM_FINISH_OTHER);
    CHECK_INT(finish_of(table, SLICE("sto")), ALLM_FINISH_OTHER);
}

static void calls_settle_the_reason(void)
{
    static const struct {
        const char *why;
        allm_finish said;
        size_t calls;
        bool cut;
        allm_finish is;
    } rows[] = {
        { "stop with calls", ALLM_FINISH_STOP, 1, false,
          ALLM_FINISH_TOOL_CALLS },
        { "calls that are not there", ALLM_FINISH_TOOL_CALLS, 0, false,
          ALLM_FINISH_STOP },
        { "at the limit", ALLM_FINISH_LENGTH, 1, false, ALLM_FINISH_LENGTH },
        { "unknown, whole calls", ALLM_FINISH_OTHER, 2, false,
          ALLM_FINISH_TOOL_CALLS },
        { "unknown, a cut call", ALLM_FINISH_OTHER, 2, true,
          ALLM_FINISH_OTHER },
        { "unknown, no calls", ALLM_FINISH_OTHER, 0, false,
          ALLM_FINISH_OTHER },
        { "filtered", ALLM_FINISH_CONTENT_FILTER, 1, false,
          ALLM_FINISH_CONTENT_FILTER },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        CHECK_INT(finish_settle(rows[i].said, rows[i].calls, rows[i].cut),
                  rows[i].is);
    }
}

TESTS = {
    TEST(closes_in_order),
    TEST(tells_all_at_the_end),
    TEST(null_counts_never_overwrite),
    TEST(thoughts_end_one_by_one),
    TEST(nothing_comes_after_an_error),
    TEST(errors_hide_keys_and_name_the_provider),
    TEST(a_character_in_two_pieces_is_one),
    TEST(words_are_found),
    TEST(calls_settle_the_reason),
    TESTS_END,
};
