/*
 * test_floods.c - answers without an end, over real sockets, in every dialect
 *
 * A server that is hostile, or that has lost its mind, sends text, arguments or
 * reasoning for ever, headers without an end, or a bomb.  The call ends in good
 * order, keeps what came, and takes no more memory than it may.
 *
 * tag: clock
 */
#include "harness/bomb.h"
#include "harness/check.h"
#include "harness/fault.h"
#include "harness/play.h"
#include "harness/turns.h"

#include "base/clock.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BROKEN  "adapter/malformed_response"
#define LATE    "adapter/timeout"

#define X10     "xxxxxxxxxx"
#define X100    X10 X10 X10 X10 X10 X10 X10 X10 X10 X10
#define X1000   X100 X100 X100 X100 X100 X100 X100 X100 X100 X100

/* What a dialect says before it goes on for ever, and one piece of each kind;
 * {} closes what `before` opened. */
struct speech {
    const char *model, *before;
    const char *text, *thought;
    const char *call, *arguments;
    const char *asks;           /* a whole answer behind `before`: a call */
};

#define CHOICE(delta) \
    "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{" delta \
    "}}]}\n\n"
#define ITEM(n, item) \
    "data: {\"type\":\"response.output_item.added\",\"output_index\":" n \
    ",\"item\":{" item "}}\n\n"
#define PIECE(type, n) \
    "data: {\"type\":\"response." type ".delta\",\"output_index\":" n \
    ",\"content_index\":0,\"summary_index\":0,\"delta\":\"" X1000 "\"}\n\n"
#define BLOCK(n, block) \
    "data: {\"type\":\"content_block_start\",\"index\":" n \
    ",\"content_block\":{" block "}}\n\n"
#define DELTA(n, type, member) \
    "data: {\"type\":\"content_block_delta\",\"index\":" n \
    ",\"delta\":{\"type\":\"" type "\",\"" member "\":\"" X1000 "\"}}\n\n"
#define PART(part) \
    "data: {\"candidates\":[{\"content\":{\"parts\":[{" part "}]}}]}\n\n"
#define LINE(message) "{\"message\":{" message "},\"done\":false}\n"

/* Calls f with arguments in which two keys are the same, or become so when what
 * is not UTF-8 in them is replaced.  Most dialects send them as a text. */
#define QUOTED "{\\\"a\\\":1,\\\"a\\\":2,\\\"\xff\\\":3,\\\"\xfe\\\":4}"
#define OBJECT "{\"a\":1,\"a\":2,\"\xff\":3,\"\xfe\":4}"
#define CHAT_ASKS \
    CHOICE("\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{" \
           "\"name\":\"f\",\"arguments\":\"" QUOTED "\"}}]") \
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":" \
    "\"tool_calls\"}]}\n\ndata: [DONE]\n\n"
#define RESPONSES_ASKS \
    "data: {\"type\":\"response.completed\",\"response\":{\"status\":" \
    "\"completed\",\"output\":[{\"type\":\"function_call\",\"id\":\"i\"," \
    "\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"" QUOTED "\"}]}}\n\n"
#define MESSAGES_ASKS \
    BLOCK("2", "\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\"," \
               "\"input\":" OBJECT) \
    "data: {\"type\":\"content_block_stop\",\"index\":2}\n\n" \
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":" \
    "\"tool_use\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n"
#define GEMINI_ASKS \
    PART("\"functionCall\":{\"name\":\"f\",\"args\":" OBJECT "}") \
    "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n"
#define OLLAMA_ASKS \
    LINE("\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":" \
         OBJECT "}}]") \
    "{\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":" \
    "\"stop\"}\n"

static const struct speech speeches[] = {
    { "openai:m", "", CHOICE("\"content\":\"" X1000 "\""),
      CHOICE("\"reasoning_content\":\"" X1000 "\""),
      CHOICE("\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{"
             "\"name\":\"f\",\"arguments\":\"{\\\"a\\\":\\\"\"}}]"),
      CHOICE("\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\""
             X1000 "\"}}]"),
      CHAT_ASKS },
    { "openai:gpt-5", "", PIECE("output_text", "0"),
      PIECE("reasoning_summary_text", "0"),
      ITEM("0", "\"type\":\"function_call\",\"id\":\"i\",\"call_id\":\"c\","
                "\"name\":\"f\",\"arguments\":\"\""),
      PIECE("function_call_arguments", "0"),
      RESPONSES_ASKS },
    { "anthropic:m",
      "data: {\"type\":\"message_start\",\"message\":{\"id\":\"1\",\"role\":"
      "\"assistant\",\"content\":[]}}\n\n"
      BLOCK("0", "\"type\":\"text\",\"text\":\"\"")
      BLOCK("1", "\"type\":\"thinking\",\"thinking\":\"\""),
      DELTA("0", "text_delta", "text"),
      DELTA("1", "thinking_delta", "thinking"),
      BLOCK("2", "\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\","
                 "\"input\":{}"),
      DELTA("2", "input_json_delta", "partial_json"),
      MESSAGES_ASKS },
    { "gemini:m", "", PART("\"text\":\"" X1000 "\""),
      PART("\"thought\":true,\"text\":\"" X1000 "\""), "",
      PART("\"functionCall\":{\"name\":\"f\",\"args\":{\"a\":\"" X1000
           "\"}}"),
      GEMINI_ASKS },
    { "ollama:m", "", LINE("\"content\":\"" X1000 "\""),
      LINE("\"thinking\":\"" X1000 "\""), "",
      LINE("\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":{"
           "\"a\":\"" X1000 "\"}}}]"),
      OLLAMA_ASKS },
};

enum { SPEECHES = sizeof speeches / sizeof *speeches, KINDS = 3 };
enum { LIMIT = 4 * MIB, USUAL = 256 * 1024 };

/* -------------------------------------------------------------- endless --- */

/* The n-th kind of endless answer; its body is static. */
static struct fault endless(const struct speech *s, int kind)
{
    static const char *const why[] = { "text for ever", "reasoning for ever",
                                       "arguments for ever" };
    const char *again[] = { s->text, s->thought, s->arguments };
    static char before[1024];
    snprintf(before, sizeof before, "%s%s", s->before,
             kind == 2 ? s->call : "");
    return (struct fault){ .why = why[kind], .manner = REPEATS,
                           .body = before, .again = again[kind],
                           .told = BROKEN, .text = kind ? "" : X10 };
}

/* The most that was held at once while a call was made. */
static size_t peak_of(const struct fault *f, const char *model, int way,
                      size_t limit)
{
    struct fault_stage stage;
    struct server *server = server_new();
    if (!server)
        return 0;
    fault_play(server, &stage, f);
    check_peak_begin();
    size_t before = check_live_bytes();
    fault_check_call(
        f, (struct fault_place){ .server = server, .answer_limit = limit },
        model, fault_way_of(way));
    size_t peak = check_peak_bytes() - before;
    server_free(server);
    free(stage.bytes);
    return peak;
}

/* One and a half times the limit, and what every call takes. */
static void endless_answers_take_what_they_may(void)
{
    for (int i = 0; i < SPEECHES * KINDS * 4; i++) {
        const struct speech *s = &speeches[i / 4 / KINDS];
        struct fault f = endless(s, i / 4 % KINDS);
        size_t peak = peak_of(&f, s->model, i % 4, LIMIT);
        check_row(f.why);
        CHECK_WHY(peak < LIMIT / 2 * 3 + USUAL, s->model);
    }
}

/* The same in a chat, whose results hold the answer, too. */
static size_t peak_of_chat(const struct fault *f, const char *model)
{
    struct fault_stage stage;
    struct server *server = server_new();
    if (!server)
        return 0;
    fault_play(server, &stage, f);
    allm_engine *e = fault_engine((struct fault_place){ .server = server,
                                                        .answer_limit = LIMIT },
                                  model, NULL);
    allm_thread *thread = turns_thread();
    check_peak_begin();
    size_t before = check_live_bytes();
    allm_stream *s = allm_chat(e, thread,
                               ALLM(call_opts, .api_key = FAULT_KEY));
    fault_run(s, &(struct fault_way){ .pull = true });
    const allm_chat_result *r = allm_stream_chat_result(s);
    CHECK(r && r->error && !strcmp(r->error->reason, "malformed_response"));
    size_t peak = check_peak_bytes() - before;
    allm_stream_free(s);
    allm_thread_free(thread);
    allm_engine_free(e);
    server_free(server);
    free(stage.bytes);
    return peak;
}

static void endless_chats_take_what_they_may(void)
{
    for (int i = 0; i < SPEECHES * KINDS; i++) {
        const struct speech *s = &speeches[i / KINDS];
        struct fault f = endless(s, i % KINDS);
        size_t peak = peak_of_chat(&f, s->model);
        check_row(f.why);
        CHECK_WHY(peak < LIMIT / 2 * 3 + USUAL, s->model);
    }
}

/* With a limit that no machine reaches before the deadline. */
static void the_deadline_holds_while_it_floods(void)
{
    for (int i = 0; i < SPEECHES; i++) {
        const struct speech *s = &speeches[i];
        struct fault f = endless(s, 0);
        f.told = LATE;
        f.opts = "{'total_ms': 200}";
        struct clock clock = clock_real();
        int64_t began = clock_now_ns(clock);
        peak_of(&f, s->model, 1, (size_t)4096 * MIB);
        CHECK_WHY(clock_now_ns(clock) - began < INT64_C(1200000000), s->model);
    }
}

/* ------------------------------------------------------ heads and bombs --- */

#define OK "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" \
           "Connection: close\r\n"

static const char *one_header(size_t *len)
{
    static char *kept;
    return fault_repeated(&kept, OK "X-Filler: ", "0123456789", 30000,
                          "\r\n\r\n", len);
}

static const char *many_headers(size_t *len)
{
    static char *kept;
    return fault_repeated(&kept, OK, "X-Filler: 0123456789\r\n", 50000, "\r\n",
                          len);
}

static const char *hints(size_t *len)
{
    static char *kept;
    return fault_repeated(&kept, "", "HTTP/1.1 103 Early\r\nLink: a\r\n\r\n",
                          20000, OK "\r\n", len);
}

/* 300 MiB of one line, by brotli. */
static const char *brotli(size_t *len)
{
    static const char bomb[] = OK
        "Content-Encoding: br\r\n\r\n"
        "\xcf\xff\xff\x7f\xf8\xa5\x74\xf0\xe2\xb2\x40\x00\xf7\xfe\x5f\xfe\xff"
        "\xff\xc3\x2f\x01\x10\x87\x05\x00\xba\xf7\xff\xfc\xff\xff\x87\x5f\x02"
        "\x20\x0e\x8b\x00\x74\xef\xff\xf9\xff\xff\x0f\xbf\x04\x40\x1c\x16\x00"
        "\xe8\xde\xff\xf3\xff\xff\x1f\x7e\x09\x80\x38\x2c\x00\xd0\xbd\xff\xe7"
        "\xff\xff\x3f\xfc\x12\x00\x71\x58\x00\xa0\x7b\xff\xcf\xff\xff\x7f\xf8"
        "\x25\x00\xe2\xb0\x00\x40\xf7\xfe\x9f\xff\xff\xff\xf0\x4b\x00\xc4\x61"
        "\x01\x80\xee\xfd\x3f\xff\xff\xff\xe1\x97\x00\x88\xc3\x02\x00\xdd\xfb"
        "\x7f\xfe\xff\xff\xc3\x2f\x01\x10\x87\x05\x00\xba\xf7\xff\xfc\xff\xff"
        "\x87\x5f\x02\x20\x0e\x0b\x00\x74\xef\xff\xf9\xff\xff\x0f\xbf\x04\x40"
        "\x1c\x16\x00\xe8\xde\xff\xf3\xff\xff\x1f\x7e\x09\x80\x38\x2c\x00\xd0"
        "\xbd\xff\xe7\xff\xff\x3f\xfc\x12\x00\x71\x58\x00\xa0\x7b\xff\xcf\xff"
        "\xff\x7f\xf8\x25\x00\xe2\xb0\x00\x40\xf7\xfe\x9f\xff\xff\xff\xf0\x4b"
        "\x00\xc4\x61\x01\x80\xee\xfd\x3f\xff\xff\xff\xe1\x97\x00\x88\xc3\x02"
        "\x00\xdd\xfb\x7f\xfe\xff\xff\xc3\x2f\x01\x10\x87\x05\x00\xba\xf7\xff"
        "\xf9\xff\xff\x8b\x5f\x02\x20\x0e\x0b\x00\x74\xef\x7f\x01";
    *len = sizeof bomb - 1;
    return bomb;
}

static const char *double_gzip(size_t *len)
{
    static char *kept;
    static size_t kept_len;
    char first[259];
    memset(first, 'x', sizeof first);
    first[0] = ':';
    if (!kept)
        bomb_twice(&kept, OK, first, &kept_len);
    *len = kept_len;
    return kept;
}

static const struct fault heads[] = {
    { "a header of 300 KB", .made = one_header, .told = BROKEN,
      .says = "header" },
    { "50,000 headers", .made = many_headers, .told = BROKEN,
      .says = "64 KiB" },
    { "20,000 early hints", .made = hints, .told = BROKEN, .says = "64 KiB" },
    { "a bomb by brotli", .made = brotli, .told = BROKEN, .text = "",
      .says = "MiB" },
    { "a bomb by gzip twice", .made = double_gzip, .told = BROKEN, .text = "",
      .says = "MiB" },
};

static void heads_and_bombs_are_no_lack_of_memory(void)
{
    for (int i = 0; i < SPEECHES; i++)
        fault_check_all(heads, sizeof heads / sizeof *heads, speeches[i].model);
}

/* ------------------------------------------------- keys and later turns --- */

static void count_run(allm_tool_run *tool, const allm_json *args, void *ud)
{
    (void)args;
    ++*(int *)ud;
    allm_tool_ok(tool, json_null());
}

/* A chat whose first answer calls f, and whose others never come: what became
 * of it, as the tagged JSON of its result.  The caller frees it. */
static allm_text *play_two_turns(const struct speech *s, int *runs)
{
    char body[4096];
    struct fault_stage first, second;
    struct server *server = server_new();
    if (!server)
        return NULL;
    snprintf(body, sizeof body, "%s%s", s->before, s->asks);
    fault_play(server, &second, &(struct fault){ .manner = MUTE });
    fault_play(server, &first, &(struct fault){ .body = body });
    server_play(server, first.steps);
    server_play_always(server, second.steps);
    allm_engine *bare = fault_engine((struct fault_place){ .server = server },
                                     s->model, NULL);
    allm_tool *tool = allm_tool_new(
        ALLM(tool, .name = "f", .description = "", .schema_text = "{}",
             .call = count_run, .ud = runs, .flags = ALLM_TOOL_INLINE));
    allm_engine *e = allm_engine_put_tool(bare, tool);
    allm_thread *thread = turns_thread();
    allm_json *opts = play_json("{'total_ms': 400}");
    allm_stream *chat = allm_chat(
        e, thread, ALLM(call_opts, .api_key = FAULT_KEY, .json = opts));
    fault_run(chat, &(struct fault_way){ .pull = true });
    const allm_chat_result *r = allm_stream_chat_result(chat);
    CHECK_WHY(r && r->error && !strcmp(r->error->reason, "timeout"), s->model);
    allm_text *text = allm_chat_result_json(r, ALLM_FORM_TAGGED);
    allm_stream_free(chat);
    allm_json_free(opts);
    allm_thread_free(thread);
    allm_engine_free(e);
    allm_engine_free(bare);
    allm_tool_free(tool);
    server_free(server);
    free(first.bytes);
    free(second.bytes);
    return text;
}

/* The tool is run once, the second answer is late, and what is left of it all
 * can be read again, whatever the keys were. */
static void odd_keys_and_a_slow_second_turn(void)
{
    for (int i = 0; i < SPEECHES; i++) {
        int runs = 0;
        check_row(speeches[i].model);
        struct clock clock = clock_real();
        int64_t began = clock_now_ns(clock);
        allm_text *text = play_two_turns(&speeches[i], &runs);
        CHECK(clock_now_ns(clock) - began < INT64_C(2000000000));
        CHECK_INT(runs, 1);
        size_t len = 0;
        const char *bytes = allm_text_bytes(text, &len);
        allm_json *again = allm_json_parse(bytes ? bytes : "", len, NULL);
        CHECK_WHY(!allm_json_error(again), allm_json_error(again)
                                               ? allm_json_error(again)->message
                                               : "");
        allm_json_free(again);
        allm_text_free(text);
    }
}

TESTS = {
    TEST_ONCE(endless_answers_take_what_they_may),
    TEST_ONCE(endless_chats_take_what_they_may),
    TEST_ONCE(the_deadline_holds_while_it_floods),
    TEST_ONCE(odd_keys_and_a_slow_second_turn),
    TEST_ONCE(heads_and_bombs_are_no_lack_of_memory),
    TESTS_END,
};
