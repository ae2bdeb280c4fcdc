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
#include "base/quota.h"

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

static const struct speech speeches[] = {
    { "openai:m", "", CHOICE("\"content\":\"" X1000 "\""),
      CHOICE("\"reasoning_content\":\"" X1000 "\""),
      CHOICE("\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{"
             "\"name\":\"f\",\"arguments\":\"{\\\"a\\\":\\\"\"}}]"),
      CHOICE("\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\""
             X1000 "\"}}]") },
    { "openai:gpt-5", "", PIECE("output_text", "0"),
      PIECE("reasoning_summary_text", "0"),
      ITEM("0", "\"type\":\"function_call\",\"id\":\"i\",\"call_id\":\"c\","
                "\"name\":\"f\",\"arguments\":\"\""),
      PIECE("function_call_arguments", "0") },
    { "anthropic:m",
      "data: {\"type\":\"message_start\",\"message\":{\"id\":\"1\",\"role\":"
      "\"assistant\",\"content\":[]}}\n\n"
      BLOCK("0", "\"type\":\"text\",\"text\":\"\"")
      BLOCK("1", "\"type\":\"thinking\",\"thinking\":\"\""),
      DELTA("0", "text_delta", "text"),
      DELTA("1", "thinking_delta", "thinking"),
      BLOCK("2", "\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\","
                 "\"input\":{}"),
      DELTA("2", "input_json_delta", "partial_json") },
    { "gemini:m", "", PART("\"text\":\"" X1000 "\""),
      PART("\"thought\":true,\"text\":\"" X1000 "\""), "",
      PART("\"functionCall\":{\"name\":\"f\",\"args\":{\"a\":\"" X1000
           "\"}}") },
    { "ollama:m", "", LINE("\"content\":\"" X1000 "\""),
      LINE("\"thinking\":\"" X1000 "\""), "",
      LINE("\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":{"
           "\"a\":\"" X1000 "\"}}}]") },
};

enum { SPEECHES = sizeof speeches / sizeof *speeches, KINDS = 3 };

/* ---------------------------------------------------------------- endless --- */

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
static size_t peak_of(const struct fault *f, const char *model, int way)
{
    struct fault_stage stage;
    struct server *server = server_new();
    if (!server)
        return 0;
    fault_play(server, &stage, f);
    check_peak_begin();
    size_t before = check_live_bytes();
    fault_check_call(f, (struct fault_place){ .server = server }, model,
                     fault_way_of(way));
    size_t peak = check_peak_bytes() - before;
    server_free(server);
    free(stage.bytes);
    return peak;
}

/* One and a half times the limit, and what every call takes. */
static void endless_answers_take_what_they_may(void)
{
    enum { LIMIT = 4 * MIB, USUAL = 256 * 1024 };
    quota_set_limit(LIMIT);
    for (int i = 0; i < SPEECHES * KINDS * 4; i++) {
        const struct speech *s = &speeches[i / 4 / KINDS];
        struct fault f = endless(s, i / 4 % KINDS);
        size_t peak = peak_of(&f, s->model, i % 4);
        check_row(f.why);
        CHECK_WHY(peak < LIMIT / 2 * 3 + USUAL, s->model);
    }
    quota_set_limit(0);
}

/* The same in a chat, whose results hold the answer, too. */
static size_t peak_of_chat(const struct fault *f, const char *model)
{
    struct fault_stage stage;
    struct server *server = server_new();
    if (!server)
        return 0;
    fault_play(server, &stage, f);
    allm_engine *e = fault_engine((struct fault_place){ .server = server },
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
    enum { LIMIT = 4 * MIB, USUAL = 256 * 1024 };
    quota_set_limit(LIMIT);
    for (int i = 0; i < SPEECHES * KINDS; i++) {
        const struct speech *s = &speeches[i / KINDS];
        struct fault f = endless(s, i % KINDS);
        size_t peak = peak_of_chat(&f, s->model);
        check_row(f.why);
        CHECK_WHY(peak < LIMIT / 2 * 3 + USUAL, s->model);
    }
    quota_set_limit(0);
}

static void the_deadline_holds_while_it_floods(void)
{
    for (int i = 0; i < SPEECHES; i++) {
        const struct speech *s = &speeches[i];
        struct fault f = endless(s, 0);
        f.told = LATE;
        f.opts = "{'total_ms': 200}";
        struct clock clock = clock_real();
        int64_t began = clock_now_ns(clock);
        peak_of(&f, s->model, 1);
        CHECK_WHY(clock_now_ns(clock) - began < INT64_C(1200000000), s->model);
    }
}

/* ------------------------------------------------------- heads and bombs --- */

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

TESTS = {
    TEST_ONCE(endless_answers_take_what_they_may),
    TEST_ONCE(endless_chats_take_what_they_may),
    TEST_ONCE(the_deadline_holds_while_it_floods),
    TEST_ONCE(heads_and_bombs_are_no_lack_of_memory),
    TESTS_END,
};
