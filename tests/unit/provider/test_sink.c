/* test_sink.c - what an adapter may emit, and what becomes of it */
#include "provider/sink.h"
#include "json/json.h"

#include "harness/noun.h"
#include "harness/play.h"

#include <stdlib.h>

static void only_events_of_adapters_are_taken(void)
{
    static const allm_event_type theirs[] = {
        ALLM_EV_MESSAGE_STARTED,     ALLM_EV_TEXT_DELTA,
        ALLM_EV_TEXT_COMPLETED,      ALLM_EV_TOOL_CALL_STARTED,
        ALLM_EV_TOOL_CALL_DELTA,     ALLM_EV_TOOL_CALL_COMPLETED,
        ALLM_EV_MESSAGE_COMPLETED,   ALLM_EV_RAW_CHUNK,
        ALLM_EV_REASONING_DELTA,     ALLM_EV_REASONING_COMPLETED,
        ALLM_EV_USAGE,
    };
    for (int type = -1; type < 40; type++) {
        struct arena a;
        struct allm_sink s;
        bool ok = false;
        for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
            ok |= type == (int)theirs[i];
        if (type == ALLM_EV_ERROR)
            continue;           /* needs an error */
        arena_init(&a, mem_default());
        sink_init(&s, &a, NULL);
        check_row(allm_event_tag((allm_event_type)type));
        static const allm_message m = { .size = sizeof m, .text = "" };
        static const allm_usage u = { .size = sizeof u };
        CHECK_INT(allm_sink_put(&s, ALLM(event, .type = (allm_event_type)type,
                                         .id = "i", .name = "n", .text = "t",
                                         .message = &m, .usage = &u,
                                         .arguments = json_empty_object(),
                                         .chunk = json_null())),
                  ok ? ALLM_OK : ALLM_ERR_MISUSE);
        const allm_event *taken = sink_take(&s);
        CHECK(ok == (taken != NULL));
        CHECK(!taken || (int)taken->type == type);
        arena_release(&a);
    }
}

/* An event without its required members is rejected. */
static void events_must_be_whole(void)
{
    static const allm_event_type types[] = {
        ALLM_EV_TEXT_DELTA,        ALLM_EV_TEXT_COMPLETED,
        ALLM_EV_TOOL_CALL_STARTED, ALLM_EV_TOOL_CALL_DELTA,
        ALLM_EV_TOOL_CALL_COMPLETED, ALLM_EV_MESSAGE_COMPLETED,
        ALLM_EV_RAW_CHUNK,         ALLM_EV_REASONING_DELTA,
        ALLM_EV_REASONING_COMPLETED, ALLM_EV_USAGE, ALLM_EV_ERROR,
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct arena a;
        struct allm_sink s;
        arena_init(&a, mem_default());
        sink_init(&s, &a, NULL);
        check_row(allm_event_tag(types[i]));
        CHECK_ALWAYS(allm_sink_put(&s, ALLM(event, .type = types[i])) ==
                     ALLM_ERR_MISUSE);
        CHECK_ALWAYS(!sink_take(&s));
        arena_release(&a);
    }
}

static void events_come_out_in_their_order(void)
{
    struct arena a;
    struct allm_sink s;
    arena_init(&a, mem_default());
    sink_init(&s, &a, NULL);
    CHECK_ALWAYS(!sink_take(&s));
    struct allm_home *home = home_new(mem_default(), 0);
    allm_sink_put(&s, ALLM(event, .type = ALLM_EV_TEXT_DELTA, .text = "a",
                           .text_len = 1, .home = home));
    sink_add(&s, ALLM_EV_USAGE);
    const allm_event *first = sink_take(&s);
    CHECK(first && first->type == ALLM_EV_TEXT_DELTA);
    CHECK_ALWAYS(!first || !first->home);   /* it is not a root any more */
    home_drop(home);
    allm_sink_put(&s, ALLM(event, .type = ALLM_EV_TEXT_DELTA, .text = "b",
                           .text_len = 1));
    const allm_event *second = sink_take(&s), *third = sink_take(&s);
    CHECK(second && second->type == ALLM_EV_USAGE);
    CHECK(third && !strcmp(third->text, "b"));
    CHECK_ALWAYS(!sink_take(&s));
    arena_release(&a);
}

/* As everywhere, a length of 0 in a struct means "up to the NUL". */
static void lengths_may_be_left_out(void)
{
    struct arena a;
    struct allm_sink s;
    arena_init(&a, mem_default());
    sink_init(&s, &a, NULL);
    allm_sink_put(&s, ALLM(event, .type = ALLM_EV_TEXT_DELTA, .text = "abc"));
    allm_sink_put(&s, ALLM(event, .type = ALLM_EV_TEXT_DELTA, .text = "abc",
                           .text_len = ALLM_NUL_ENDED));
    allm_sink_put(&s,
                  ALLM(event, .type = ALLM_EV_TOOL_CALL_COMPLETED, .id = "i",
                       .name = "n", .arguments = json_empty_object(),
                       .raw_arguments = "{}"));
    size_t want[] = { 3, 3, 2 };
    for (size_t i = 0; i < 3; i++) {
        const allm_event *e = sink_take(&s);
        CHECK_INT(i < 2 ? GET(e, text_len) : GET(e, raw_len), want[i]);
    }
    arena_release(&a);
}

/* An invalid event is rejected, and so is everything after it. */
static void misuse_sticks(void)
{
    allm_error sizeless = { .kind = ALLM_ERR_ADAPTER, .reason = "timeout" };
    allm_event none = { .type = ALLM_EV_TEXT_DELTA };
    allm_event newer[2] = { { .size = sizeof newer,
                              .type = ALLM_EV_TEXT_DELTA } };
    newer[1].type = 1;          /* a member that we do not know */
    const struct {
        const char *why;
        const allm_event *event;
    } rows[] = {
        { "no size", &none },
        { "a member we do not know", newer },
        { "a finish reason that is none",
          ALLM(event, .type = ALLM_EV_MESSAGE_COMPLETED,
               .message = ALLM(message, .text = "x"),
               .finish_reason = (allm_finish)99) },
        { "a message that ends without one",
          ALLM(event, .type = ALLM_EV_MESSAGE_COMPLETED) },
        { "counts that are not there", ALLM(event, .type = ALLM_EV_USAGE) },
        { "a call without its name",
          ALLM(event, .type = ALLM_EV_TOOL_CALL_STARTED, .id = "i") },
        { "a call that ends without arguments",
          ALLM(event, .type = ALLM_EV_TOOL_CALL_COMPLETED, .id = "i",
               .name = "n") },
        { "a piece of nothing",
          ALLM(event, .type = ALLM_EV_TOOL_CALL_DELTA, .id = "i") },
        { "a chunk that is not there",
          ALLM(event, .type = ALLM_EV_RAW_CHUNK) },
        { "an error event without its error",
          ALLM(event, .type = ALLM_EV_ERROR) },
        { "an error without a size",
          ALLM(event, .type = ALLM_EV_ERROR, .error = &sizeless) },
        { "an error of no kind",
          ALLM(event, .type = ALLM_EV_ERROR,
               .error = ALLM(error, .reason = "timeout")) },
        { "an error without a reason",
          ALLM(event, .type = ALLM_EV_ERROR,
               .error = ALLM(error, .kind = ALLM_ERR_ADAPTER)) },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct allm_sink s;
        check_row(rows[i].why);
        arena_init(&a, mem_default());
        sink_init(&s, &a, NULL);
        CHECK_INT(allm_sink_put(&s, rows[i].event), ALLM_ERR_MISUSE);
        CHECK_INT(allm_sink_put(&s, ALLM(event, .type = ALLM_EV_TEXT_DELTA)),
                  ALLM_ERR_MISUSE);
        CHECK_ALWAYS(!sink_take(&s));
        CHECK_ALWAYS(s.status < 0);
        arena_release(&a);
    }
}

static void errors_are_copied(void)
{
    struct arena a;
    struct allm_sink s;
    allm_error error = { .size = sizeof error, .kind = ALLM_ERR_ADAPTER,
                         .reason = "timeout", .provider = "p" };
    arena_init(&a, mem_default());
    sink_init(&s, &a, NULL);
    CHECK_INT(allm_sink_put(&s, ALLM(event, .type = ALLM_EV_ERROR,
                                     .error = &error)),
              ALLM_OK);
    error = (allm_error){ .size = 0 };
    const allm_event *e = sink_take(&s);
    const allm_error *mine = GET(e, error);
    CHECK_ERROR(mine, ALLM_ERR_ADAPTER, "timeout", "adapter error (p)");
    arena_release(&a);
}

static void errors_of_an_older_header_are_taken(void)
{
    static const allm_error full = { .kind = ALLM_ERR_ADAPTER,
                                     .reason = "timeout" };
    struct arena a;
    struct allm_sink s;
    allm_error *older = noun_sized(&full, sizeof full,
                                   offsetof(allm_error, message));
    arena_init(&a, mem_default());
    sink_init(&s, &a, NULL);
    CHECK_INT(allm_sink_fail(&s, older, true), ALLM_ERR_ADAPTER);
    CHECK_ERROR(s.failure, ALLM_ERR_ADAPTER, "timeout", NULL);
    arena_release(&a);
    free(older);
}

static void fail_tells_why_and_whether_for_good(void)
{
    struct arena a;
    struct allm_sink s;
    arena_init(&a, mem_default());
    sink_init(&s, &a, NULL);
    CHECK_INT(allm_sink_fail(&s,
                             ALLM(error, .kind = ALLM_ERR_STREAM,
                                  .reason = "truncated", .message = "gone"),
                             false),
              ALLM_ERR_STREAM);
    CHECK_ERROR(s.failure, ALLM_ERR_STREAM, "truncated", "gone");
    CHECK(!s.final);
    CHECK_INT(allm_sink_fail(&s,
                             ALLM(error, .kind = ALLM_ERR_ADAPTER,
                                  .reason = "timeout"),
                             true),
              ALLM_ERR_ADAPTER);
    CHECK(s.final);
    CHECK_ERROR(s.failure, ALLM_ERR_ADAPTER, "timeout", NULL);
    arena_release(&a);
}

/* An adapter that ends with "return allm_sink_fail(...)" has failed. */
static void fail_never_answers_that_all_is_well(void)
{
    allm_error sizeless = { .kind = ALLM_ERR_ADAPTER, .reason = "timeout" };
    const allm_error *bad[] = {
        ALLM(error, .reason = "timeout"),
        ALLM(error, .kind = ALLM_AGAIN, .reason = "timeout"),
        ALLM(error, .kind = ALLM_ERR_ADAPTER),
        &sizeless,
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct arena a;
        struct allm_sink s;
        arena_init(&a, mem_default());
        sink_init(&s, &a, NULL);
        CHECK_INT(allm_sink_fail(&s, bad[i], false), ALLM_ERR_MISUSE);
        CHECK_ALWAYS(s.status < 0 && !s.failure);
        arena_release(&a);
    }
}

static void documents_are_parsed_into_the_sink(void)
{
    struct arena a;
    struct allm_sink s;
    arena_init(&a, mem_default());
    sink_init(&s, &a, NULL);
    CHECK_VALUE(allm_sink_parse(&s, "{\"a\": [1]}", ALLM_NUL_ENDED),
                "{'a':[1]}");
    const allm_json *twice = allm_sink_parse(&s, "{\"a\": 1, \"a\": 2}", 16);
    CHECK_INT(allm_json_number(allm_json_get(twice, "a")), 2);
    CHECK(!allm_sink_parse(&s, "{", 1));
    CHECK(!allm_sink_parse(&s, "", 0));
    CHECK(!allm_sink_parse(&s, NULL, 0));
    CHECK_INT(s.status, ALLM_OK);       /* not JSON: the adapter's to judge */
    void *room = allm_sink_alloc(&s, 100);
    if (room)
        memset(room, 1, 100);
    arena_release(&a);
}

static void lack_of_memory_sticks(void)
{
    struct arena a;
    struct allm_sink s;
    arena_init(&a, mem_default());
    sink_init(&s, &a, NULL);
    CHECK(!allm_sink_alloc(&s, SIZE_MAX / 2));
    CHECK_ALWAYS(s.status == ALLM_ERR_NOMEM);
    CHECK_INT(allm_sink_put(&s, ALLM(event, .type = ALLM_EV_TEXT_DELTA)),
              ALLM_ERR_NOMEM);
    CHECK_ALWAYS(!sink_take(&s));
    arena_release(&a);
}

static void nothing_is_accepted(void)
{
    struct arena a;
    struct allm_sink s;
    arena_init(&a, mem_default());
    sink_init(&s, &a, NULL);
    CHECK_ALWAYS(allm_sink_put(NULL, ALLM(event, .seq = 1)) == ALLM_ERR_NOMEM);
    CHECK_ALWAYS(allm_sink_put(&s, NULL) == ALLM_ERR_NOMEM);
    CHECK_ALWAYS(allm_sink_fail(NULL, NULL, true) == ALLM_ERR_NOMEM);
    CHECK_ALWAYS(allm_sink_fail(&s, NULL, true) == ALLM_ERR_NOMEM);
    CHECK_ALWAYS(!allm_sink_alloc(NULL, 1));
    CHECK_ALWAYS(!allm_sink_parse(NULL, "1", 1));
    arena_release(&a);
}

/* --------------------------------------------------------- empty events --- */

/* One event of the type that is set, with no other member. */
static allm_event_type blank_type;

static allm_status put_blank(void *state, const allm_call *call, allm_sink *s,
                             int64_t *again_ns)
{
    int *done = state;
    (void)call;
    (void)again_ns;
    if ((*done)++)
        return ALLM_OK;
    allm_status status = allm_sink_put(s, ALLM(event, .type = blank_type));
    return status < 0 ? status : ALLM_EVENT;
}

/* An adapter that forgets every member does no harm to the reader. */
static void events_without_members_are_harmless(void)
{
    static const allm_adapter blank = { .size = sizeof blank, .name = "blank",
                                        .state_size = sizeof(int),
                                        .next = put_blank };
    for (int type = ALLM_EV_MESSAGE_STARTED; type < 40; type++) {
        blank_type = (allm_event_type)type;
        check_row(allm_event_tag(blank_type));
        const allm_event *event = NULL;
        allm_engine *e = allm_engine_new(
            ALLM(engine_opts, .model = "blank:m", .adapter_table = &blank));
        allm_stream *s =
            play_call_with(e, ALLM(call_opts, .include_raw_chunks = 1));
        while (allm_stream_next(s, &event) == ALLM_EVENT)
            allm_text_free(allm_stream_event_json(s));
        CHECK(s && (allm_stream_response(s) || allm_stream_error(s)));
        allm_text_free(
            allm_response_json(allm_stream_response(s), ALLM_FORM_TAGGED));
        allm_stream_free(s);
        allm_engine_free(e);
    }
}

TESTS = {
    TEST(only_events_of_adapters_are_taken),
    TEST(events_must_be_whole),
    TEST(events_come_out_in_their_order),
    TEST(lengths_may_be_left_out),
    TEST(misuse_sticks),
    TEST(errors_are_copied),
    TEST(errors_of_an_older_header_are_taken),
    TEST(fail_tells_why_and_whether_for_good),
    TEST(fail_never_answers_that_all_is_well),
    TEST(documents_are_parsed_into_the_sink),
    TEST(lack_of_memory_sticks),
    TEST(nothing_is_accepted),
    TEST(events_without_members_are_harmless),
    TESTS_END,
};
