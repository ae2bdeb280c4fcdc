/* test_chat_repeat.c - a repeated frame means what it meant the slow way */
#include "provider/openai/chat_repeat.h"

#include "base/buf.h"
#include "harness/check.h"
#include "provider/dialects.h"
#include "provider/sink.h"
#include "json/skeleton.h"

#include <stdio.h>

#define FRAME(rest) \
    "{\"id\":\"c1\",\"created\":17,\"model\":\"m\",\"choices\":" rest "}"
#define DELTA(delta) FRAME("[{\"index\":0,\"delta\":" delta "}]")
#define TEXT(text) DELTA("{\"content\":\"" text "\"}")
#define PIECE(text) \
    DELTA("{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"" text \
          "\"}}]}")

/* A response that is decoded, with or without a skeleton. */
struct reader {
    struct arena events, life;
    void *chat;                 /* the state of the dialect */
    struct skeleton skeleton;
    struct buf told;            /* the events as JSON */
    allm_call call;
    size_t quick;               /* how many frames were repetitions */
    bool over;
};

static void reader_init(struct reader *r)
{
    *r = (struct reader){ .call = { .size = sizeof(allm_call) } };
    arena_init(&r->events, mem_default());
    arena_init(&r->life, mem_default());
    r->chat = arena_zero(&r->life, openai_chat_adapter.state_size);
    r->over = !r->chat;
    buf_init(&r->told, &r->life, SIZE_MAX / 2);
    skeleton_init(&r->skeleton);
    r->skeleton.patience = 1;
}

static void reader_release(struct reader *r)
{
    skeleton_forget(&r->skeleton);
    arena_release(&r->events);
    arena_release(&r->life);
}

static void tell(struct reader *r, struct allm_sink *sink)
{
    const allm_event *event;
    while ((event = sink_take(sink))) {
        allm_text *json = allm_event_json(event);
        CHECK(json);
        buf_text(&r->told, json ? allm_text_bytes(json, NULL) : "?");
        buf_byte(&r->told, '\n');
        allm_text_free(json);
    }
    buf_format(&r->told, "%d%d%d%s\n", sink->ended, sink->settled, sink->idle,
               sink->failure ? sink->failure->message : "");
}

static void read_frame(struct reader *r, const char *data, bool skeleton)
{
    struct allm_sink sink;
    const allm_frame frame = { .size = sizeof frame, .name = "",
                               .data_len = strlen(data), .data = data };
    if (r->over)
        return;
    arena_reset(&r->events);
    sink_init(&sink, &r->events, &r->life);
    sink.skeleton = skeleton ? &r->skeleton : NULL;
    struct slice text;
    r->quick += sink_watched(&sink, slice_of(data), &text);
    r->over = openai_chat_adapter.decode(r->chat, &r->call, &frame, &sink) <
                  0 ||
              sink.ended;
    tell(r, &sink);
}

/* Read the frames both ways; returns how many were repetitions. */
static size_t compare(const char *const *frames, size_t count)
{
    struct reader quick, slow;
    reader_init(&quick);
    reader_init(&slow);
    for (size_t i = 0; i < count; i++) {
        read_frame(&quick, frames[i], true);
        read_frame(&slow, frames[i], false);
    }
    read_frame(&quick, "[DONE]", true);
    read_frame(&slow, "[DONE]", false);
    CHECK(!quick.told.broken && !slow.told.broken);
    CHECK(slice_eq(buf_slice(&quick.told), buf_slice(&slow.told)));
    size_t n = quick.quick;
    reader_release(&quick);
    reader_release(&slow);
    return n;
}

static void reads_a_text_quickly(void)
{
    static const char *const frames[] = {
        DELTA("{\"role\":\"assistant\",\"content\":\"\"}"),
        TEXT("a"), TEXT("b"), TEXT("c"), TEXT("d"), TEXT("\\n\\u00e9"),
        TEXT("e"), TEXT(""), TEXT("f"),
    };
    size_t n = compare(frames, sizeof frames / sizeof *frames);
    CHECK(n >= 4);
}

static void reads_arguments_quickly(void)
{
    static const char *const frames[] = {
        DELTA("{\"tool_calls\":[{\"index\":0,\"id\":\"t1\",\"type\":"
              "\"function\",\"function\":{\"name\":\"f\",\"arguments\":"
              "\"\"}}]}"),
        PIECE("{\\\""), PIECE("a\\\""), PIECE(":"), PIECE("["), PIECE("1"),
        PIECE(",2"), PIECE(",2"), PIECE("]}"), PIECE(" "),
    };
    size_t n = compare(frames, sizeof frames / sizeof *frames);
    CHECK(n >= 4);
}

/* Any order of frames, those that repeat and those that do not. */
static void is_the_slow_way_but_quicker(void)
{
    static const char *const kinds[] = {
        TEXT("a"), TEXT(" b"), TEXT("\\ud83d"), TEXT("\\ude00"), TEXT("\xc3"),
        TEXT("\\\\\\\""), TEXT(""), PIECE("{"), PIECE("\\\"x\\\":1"),
        PIECE("}"), PIECE("1"), DELTA("{}"), DELTA("{\"content\":null}"),
        DELTA("{\"content\":[\"x\"]}"), DELTA("{\"content\":{\"x\":1}}"),
        DELTA("{\"reasoning_content\":\"why\"}"),
        DELTA("{\"content\":\"x\",\"refusal\":\"no\"}"),
        DELTA("{\"tool_calls\":[{\"index\":1,\"function\":{\"arguments\":"
              "\"{}\"}}]}"),
        DELTA("{\"tool_calls\":[{\"id\":\"t2\",\"function\":{\"name\":\"g\","
              "\"arguments\":\"{\"}}]}"),
        DELTA("{\"tool_calls\":[{\"function\":{\"arguments\":\"}\"}}]}"),
        FRAME("[{\"index\":1,\"delta\":{\"content\":\"other\"}}]"),
        FRAME("[{\"index\":0,\"delta\":{\"content\":\"a\"},"
              "\"finish_reason\":\"stop\"}]"),
        FRAME("[{\"index\":0,\"delta\":{\"content\":\"a\"},"
              "\"finish_reason\":null,\"logprobs\":{\"content\":[1]}}]"),
        FRAME("[{\"index\":0,\"text\":\"legacy\"}]"),
        FRAME("[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}"),
        FRAME("[{\"index\":0,\"delta\":{\"content\":\"a\"}}],\"usage\":"
              "{\"prompt_tokens\":1,\"completion_tokens\":2}"),
        FRAME("[{\"index\":0,\"delta\":{\"content\":\"a\"}}],"
              "\"system_fingerprint\":\"f1\""),
        FRAME("[{\"index\":0,\"delta\":{\"content\":\"a\"}}],"
              "\"system_fingerprint\":\"f2\""),
        "{\"id\":\"c2\",\"created\":18,\"model\":\"m\",\"choices\":[{"
        "\"index\":0,\"delta\":{\"content\":\"c\"}}]}",
        "{\"id\":\"c2\",\"created\":19,\"model\":\"n\",\"choices\":[{"
        "\"index\":0,\"delta\":{\"content\":\"c\"}}]}",
    };
    enum { ROUNDS = 400, MOST = 60, KINDS = sizeof kinds / sizeof *kinds };
    struct random r = check_random();
    size_t quick = 0;
    for (int i = 0; i < ROUNDS; i++) {
        const char *frames[MOST];
        size_t n = 0;
        while (n < MOST) {      /* one of a few kinds, several times */
            size_t from = random_below(r, KINDS);
            size_t few = 1 + random_below(r, 3);
            for (size_t k = random_below(r, 12); n < MOST && k; k--)
                frames[n++] = kinds[(from + random_below(r, few)) % KINDS];
        }
        quick += compare(frames, n);
    }
    CHECK(quick > ROUNDS);
}

TESTS = {
    TEST(reads_a_text_quickly),
    TEST(reads_arguments_quickly),
    TEST_ONCE(is_the_slow_way_but_quicker),
    TESTS_END
};
