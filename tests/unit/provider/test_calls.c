/* test_calls.c - which call a piece belongs to, and the complete calls */
#include "provider/calls.h"

#include "harness/check.h"
#include "unit/provider/sinking.h"
#include "json/json.h"

#define NONE (-1)

/* A piece: the number of its frame, its index (or NONE), and its strings. */
struct row_piece {
    int frame, index;
    const char *id, *name, *text;
};

/* Ids of ours carry a number that depends on the machine: "call_..._0" -> #0 */
static void hide_nonce(char *text)
{
    char *at = text, *to = text;
    while (*at) {
        if (!strncmp(at, "call_", 5) && strlen(at) > 14 && at[13] == '_') {
            *to++ = '#';
            at += 14;
            continue;
        }
        *to++ = *at++;
    }
    *to = '\0';
}

static void run(const struct row_piece *pieces, size_t n, const char *want)
{
    struct sinking s;
    struct calls c;
    const allm_call call = { .size = sizeof call, .request_id = "r" };
    sinking_begin(&s);
    calls_init(&c, &s.life, &call);
    for (size_t i = 0; i < n; i++) {
        const struct row_piece *r = &pieces[i];
        struct calls_piece p = { .has_index = r->index != NONE,
                                 .index = r->index,
                                 .id = slice_of(r->id),
                                 .name = slice_of(r->name),
                                 .text = slice_of(r->text) };
        c.frame = (uint64_t)r->frame;
        calls_add(&c, &s.sink, &p);
        sinking_take(&s);
    }
    calls_flush(&c, &s.sink);
    calls_end(&c, &s.sink);
    sinking_take(&s);
    if (s.words.ptr)
        hide_nonce(s.words.ptr);
    CHECK_TEXT(s.words.ptr, want);
    sinking_end(&s);
}

#define RUN(want, ...) \
    run((const struct row_piece[]){ __VA_ARGS__ }, \
        sizeof((const struct row_piece[]){ __VA_ARGS__ }) / \
            sizeof(struct row_piece), want)

static void an_index_finds_its_call(void)
{
    RUN("call:a/f args:a/{ call:b/g args:b/{} args:a/} called:a/f/{}/{} "
        "called:b/g/{}/{}",
        { 1, 0, "a", "f", "{" }, { 2, 1, "b", "g", "{}" },
        { 3, 0, NULL, NULL, "}" });
}

static void an_id_beats_an_index(void)
{
    RUN("call:a/f args:a/{} call:b/f args:b/{ args:b/} called:a/f/{}/{} "
        "called:b/f/{}/{}",
        { 1, 0, "a", "f", "{}" }, { 2, 0, "b", "f", "{" },
        { 3, 0, NULL, NULL, "}" });
    RUN("call:a/f args:a/{ call:b/f args:b/{} args:a/} called:a/f/{}/{} "
        "called:b/f/{}/{}",
        { 1, 0, "a", "f", "{" }, { 2, 0, "b", "f", "{}" },
        { 3, 0, "a", NULL, "}" });
}

static void the_rest_of_a_text_begins_no_call(void)
{
    RUN("call:a/f args:a/{\"x args:a/\":1} called:a/f/{\"x\":1}/{\"x\":1}",
        { 1, 0, "a", "f", "{\"x" }, { 2, 0, "b", NULL, "\":1}" });
}

static void neither_goes_on_with_the_last(void)
{
    RUN("call:#0/f args:#0/{ args:#0/} called:#0/f/{}/{}",
        { 1, NONE, NULL, "f", "{" }, { 2, NONE, NULL, NULL, "}" });
    RUN("call:#0/f args:#0/{} call:#1/g args:#1/{} called:#0/f/{}/{} "
        "called:#1/g/{}/{}",
        { 1, NONE, NULL, "f", "{}" }, { 2, NONE, NULL, "g", "{}" });
}

static void a_second_object_is_a_second_call(void)
{
    RUN("call:a/f args:a/{\"x\":1} call:#1/f args:#1/{\"x\":2} "
        "called:a/f/{\"x\":1}/{\"x\":1} called:#1/f/{\"x\":2}/{\"x\":2}",
        { 1, 0, "a", "f", "{\"x\":1}" }, { 2, 0, NULL, NULL, "{\"x\":2}" });
    RUN("call:a/f args:a/{\"x\": args:a/{\"y\":1}} "
        "called:a/f/{\"x\":{\"y\":1}}/{\"x\":{\"y\":1}}",
        { 1, 0, "a", "f", "{\"x\":" }, { 2, 0, NULL, NULL, "{\"y\":1}}" });
}

static void the_same_object_again_is_a_copy(void)
{
    RUN("call:a/f args:a/{\"x\":1} called:a/f/{\"x\":1}/{\"x\":1}",
        { 1, 0, "a", "f", "{\"x\":1}" }, { 2, 0, "a", "f", "{\"x\":1}" });
    RUN("call:a/f args:a/{\"x\":1} called:a/f/{\"x\":1}/{\"x\":1}",
        { 1, 0, "a", "f", "{\"x\":1}" }, { 2, 0, "a", "f", "{ \"x\": 1 }" });
    RUN("call:a/f args:a/{\"x\":1} called:a/f/{\"x\":1}/{\"x\":1}",
        { 1, 0, "a", "f", "{\"x\":1}" }, { 2, 0, NULL, NULL, "{\"x\":1}" });
}

static void one_frame_has_each_call_once(void)
{
    RUN("call:#0/f args:#0/{} call:#1/f args:#1/{} called:#0/f/{}/{} "
        "called:#1/f/{}/{}",
        { 1, NONE, NULL, "f", "{}" }, { 1, NONE, NULL, "f", "{}" });
    RUN("call:#0/f args:#0/{} call:#1/f args:#1/{} called:#0/f/{}/{} "
        "called:#1/f/{}/{}",
        { 1, 0, NULL, "f", "{}" }, { 1, 0, NULL, "f", "{}" });
    RUN("call:#0/f call:#1/f called:#0/f/{}/ called:#1/f/{}/",
        { 1, NONE, NULL, "f", NULL }, { 1, NONE, NULL, "f", NULL });
}

static void the_first_name_counts(void)
{
    RUN("call:a/f args:a/{ args:a/} called:a/f/{}/{}", { 1, 0, "a", "f", "{" },
        { 2, 0, "a", "g", "}" });
}

static void starts_when_the_name_is_known(void)
{
    RUN("call:a/f args:a/{\"x\":1} called:a/f/{\"x\":1}/{\"x\":1}",
        { 1, 0, "a", NULL, "{\"x\"" }, { 2, 0, NULL, "f", ":1}" });
    RUN("call:a/f args:a/{} called:a/f/{}/{}", { 1, 0, NULL, "f", NULL },
        { 2, 0, "a", NULL, "{}" });
    RUN("call:#0/f called:#0/f/{}/", { 1, 0, NULL, "f", NULL });
    RUN("call:#0/ args:#0/{} called:#0//{}/{}", { 1, 0, NULL, NULL, "{}" });
}

static void a_place_kept_free_is_no_call(void)
{
    RUN(NULL, { 1, NONE, "", "", "" });
    RUN(NULL, { 1, 0, NULL, NULL, NULL });
}

static void ids_differ(void)
{
    RUN("call:a/f args:a/{} call:a_2/g args:a_2/{} call:a_3/g args:a_3/{} "
        "called:a/f/{}/{} called:a_2/g/{}/{} called:a_3/g/{}/{}",
        { 1, 0, "a", "f", "{}" }, { 2, 1, "a", "g", "{}" },
        { 3, 2, "a", "g", "{}" });
}

static void reads_arguments(void)
{
    RUN("call:a/f args:a/null called:a/f/{}/null", { 1, 0, "a", "f", "null" });
    RUN("call:a/f args:a/[1] called:a/f/{}/[1]", { 1, 0, "a", "f", "[1]" });
    RUN("call:a/f args:a/\"{}\" called:a/f/{}/\"{}\"",
        { 1, 0, "a", "f", "\"{}\"" });
    RUN("call:a/f args:a/{\"x called:a/f/{}/{\"x", { 1, 0, "a", "f", "{\"x" });
}

/* Metadata say what is wrong with arguments. */
static void remarks(void)
{
    static const struct {
        const char *text, *key;
        bool cut;
    } rows[] = {
        { "{\"x", "arguments_invalid", true },
        { "{oops}", "arguments_invalid", false },
        { "[1]", "arguments_invalid", false },
        { "\"{}\"", "arguments_unwrapped", false },
        { "{}", NULL, false },
        { " ", NULL, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sinking s;
        struct calls c;
        const allm_call call = { .size = sizeof call };
        const struct calls_piece p = { .id = SLICE("a"),
                                       .name = SLICE("f"),
                                       .text = slice_of(rows[i].text) };
        sinking_begin(&s);
        check_row(rows[i].text);
        calls_init(&c, &s.life, &call);
        calls_add(&c, &s.sink, &p);
        calls_flush(&c, &s.sink);
        const allm_tool_call *const *list = calls_end(&c, &s.sink);
        if (list && s.sink.status == ALLM_OK) {
            CHECK(allm_json_count(list[0]->metadata) == (rows[i].key ? 1 : 0));
            CHECK(
                !rows[i].key ||
                allm_json_true(allm_json_get(list[0]->metadata, rows[i].key)));
            CHECK(calls_cut(&c) == rows[i].cut);
        }
        sinking_end(&s);
    }
}

/* Complete arguments replace the pieces, and no delta is emitted for them. */
static void the_whole_takes_the_place_of_pieces(void)
{
    struct sinking s;
    struct calls c;
    const allm_call call = { .size = sizeof call };
    sinking_begin(&s);
    calls_init(&c, &s.life, &call);
    struct calls_slot *slot = calls_open(&c, SLICE("a"), SLICE("f"), &s.sink);
    if (slot) {
        calls_append(&c, slot, SLICE("{\"x\":"), &s.sink);
        sinking_take(&s);
        calls_append(&c, slot, SLICE("\xC3"), &s.sink);  /* half a letter */
        calls_replace(&c, slot, SLICE("{\"y\":1}"), &s.sink);
    }
    CHECK(!calls_cut(&c));
    calls_flush(&c, &s.sink);
    calls_end(&c, &s.sink);
    sinking_take(&s);
    CHECK_TEXT(s.words.ptr,
               "call:a/f args:a/{\"x\": called:a/f/{\"y\":1}/{\"y\":1}");
    sinking_end(&s);
}

/* By both ways in: pieces that find their call, and calls that are opened. */
static void a_closed_call_is_reported_at_once(void)
{
    struct sinking s;
    struct calls c;
    const allm_call call = { .size = sizeof call, .request_id = "r" };
    sinking_begin(&s);
    calls_init(&c, &s.life, &call);
    struct calls_slot *a = calls_open(&c, SLICE("a"), SLICE("f"), &s.sink);
    if (a)
        calls_replace(&c, a, SLICE("{\"x\":1}"), &s.sink);
    calls_close(&c, a, &s.sink);
    calls_close(&c, a, &s.sink);
    struct calls_slot *b = calls_open(&c, SLICE("b"), SLICE("g"), &s.sink);
    calls_close(&c, b, &s.sink);        /* without a word of arguments */
    sinking_take(&s);
    if (b)                              /* too late: a call is emitted once */
        calls_append(&c, b, SLICE("{"), &s.sink);
    if (b)
        calls_replace(&c, b, SLICE("{}"), &s.sink);
    calls_flush(&c, &s.sink);
    const allm_tool_call *const *list = calls_end(&c, &s.sink);
    if (list && s.sink.status >= 0) {
        CHECK_INT(c.count, 2);
        CHECK_TEXT(list[0]->raw_arguments, "{\"x\":1}");
        CHECK_TEXT(list[1]->raw_arguments, "");
    }
    sinking_take(&s);
    CHECK_TEXT(s.words.ptr, "call:a/f called:a/f/{\"x\":1}/{\"x\":1} call:b/g "
                            "called:b/g/{}/");
    sinking_end(&s);
}

/* An id is read as a C string. */
static void an_id_ends_at_a_nul(void)
{
    static const struct slice ids[] = { { "a\0x", 3 }, { "a\0x", 3 },
                                        { "a\0y", 3 }, { "\0x", 2 } };
    struct sinking s;
    struct calls c;
    const allm_call call = { .size = sizeof call, .request_id = "r" };
    sinking_begin(&s);
    calls_init(&c, &s.life, &call);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        calls_close(&c, calls_open(&c, ids[i], SLICE("f"), &s.sink), &s.sink);
    const allm_tool_call *const *list = calls_end(&c, &s.sink);
    if (list && s.sink.status >= 0) {
        CHECK_TEXT(list[0]->id, "a");
        CHECK_TEXT(list[1]->id, "a_2");
        CHECK_TEXT(list[2]->id, "a_3");
        CHECK(!strncmp(list[3]->id, "call_", 5));
    }
    sinking_end(&s);
}

static void a_turn_has_at_most_128_calls(void)
{
    for (int opened = 0; opened <= 1; opened++) {
        struct sinking s;
        struct calls c;
        const allm_call call = { .size = sizeof call };
        sinking_begin(&s);
        calls_init(&c, &s.life, &call);
        for (int i = 0; i <= CALLS_MOST; i++) {
            struct calls_piece p = { .has_index = true,
                                     .index = i,
                                     .name = SLICE("f"),
                                     .text = SLICE("{}") };
            CHECK(!s.sink.failure);
            struct calls_slot *slot = opened ? calls_open(&c, SLICE("a"),
                                                          SLICE("f"), &s.sink)
                                             : calls_add(&c, &s.sink, &p);
            CHECK((slot != NULL) == (i < CALLS_MOST));
            while (sink_take(&s.sink))
                ;
        }
        CHECK_INT(c.count, 128);
        CHECK(s.sink.failure != NULL);
        if (s.sink.failure)
            CHECK_TEXT(s.sink.failure->reason, "malformed_response");
        sinking_end(&s);
    }
}

/* The text of a custom call is not JSON: it is neither checked nor cut. */
static void a_text_of_a_custom_call_is_any(void)
{
    struct sinking s;
    struct calls c;
    const allm_call call = { .size = sizeof call };
    const struct slice texts[] = { SLICE("{}"), SLICE("{}"), SLICE("{\"") };
    sinking_begin(&s);
    calls_init(&c, &s.life, &call);
    for (size_t i = 0; i < 3; i++) {
        const struct calls_piece p = { .id = SLICE("a"),
                                       .name = SLICE("f"),
                                       .text = texts[i],
                                       .custom = true };
        c.frame = i;
        calls_add(&c, &s.sink, &p);
    }
    CHECK_ALWAYS(!calls_cut(&c));
    if (c.first) {
        CHECK(!c.first->next);
        CHECK_SLICE(buf_slice(&c.first->raw), SLICE("{}{}{\""));
    }
    sinking_take(&s);
    sinking_end(&s);
}

TESTS = {
    TEST(an_index_finds_its_call),
    TEST(an_id_beats_an_index),
    TEST(the_rest_of_a_text_begins_no_call),
    TEST(neither_goes_on_with_the_last),
    TEST(a_second_object_is_a_second_call),
    TEST(the_same_object_again_is_a_copy),
    TEST(one_frame_has_each_call_once),
    TEST(the_first_name_counts),
    TEST(starts_when_the_name_is_known),
    TEST(a_place_kept_free_is_no_call),
    TEST(ids_differ),
    TEST(reads_arguments),
    TEST(remarks),
    TEST(the_whole_takes_the_place_of_pieces),
    TEST(a_text_of_a_custom_call_is_any),
    TEST(a_closed_call_is_reported_at_once),
    TEST(an_id_ends_at_a_nul),
    TEST(a_turn_has_at_most_128_calls),
    TESTS_END,
};
