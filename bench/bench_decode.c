/*
 * bench_decode.c - each dialect's decoder, compared with yyjson alone
 *
 *      ours    Bytes in pieces, as the HTTP client returns them, go through the
 *              decoder and the dialect.  We read all neutral events.
 *      bare    The same bytes as one string: memchr() finds the lines, yyjson
 *              parses them with a pool, and the text of each delta is added to
 *              a buffer.
 *
 * Both run in turns within one run, and the best of many rounds counts.  An
 * answer has 20,000 deltas.  The target is 1.8.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "measure.h"
#include "provider/decoder.h"
#include "provider/dialects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

enum { DELTAS = 20000, ROUNDS = 31, PIECE = 4080, MOST = 16 * 1024 * 1024 };

static char pool[64 * 1024];    /* yyjson's */

/* -------------------------------------------------------------- texts --- */

static const char *chat_text(yyjson_val *v)
{
    yyjson_val *choice = yyjson_arr_get(yyjson_obj_get(v, "choices"), 0);
    yyjson_val *delta = yyjson_obj_get(choice, "delta");
    return yyjson_get_str(yyjson_obj_get(delta, "content"));
}

static const char *anthropic_text(yyjson_val *v)
{
    yyjson_val *delta = yyjson_obj_get(v, "delta");
    return yyjson_get_str(yyjson_obj_get(delta, "text"));
}

static const char *responses_text(yyjson_val *v)
{
    return yyjson_get_str(yyjson_obj_get(v, "delta"));
}

static const char *gemini_text(yyjson_val *v)
{
    yyjson_val *first = yyjson_arr_get(yyjson_obj_get(v, "candidates"), 0);
    yyjson_val *parts = yyjson_obj_get(yyjson_obj_get(first, "content"),
                                       "parts");
    return yyjson_get_str(yyjson_obj_get(yyjson_arr_get(parts, 0), "text"));
}

static const char *ollama_text(yyjson_val *v)
{
    yyjson_val *message = yyjson_obj_get(v, "message");
    return yyjson_get_str(yyjson_obj_get(message, "content"));
}

/* ----------------------------------------------------------- subjects --- */

struct subject {
    const char *name;
    const allm_adapter *adapter;
    const char *mark;           /* in front of a JSON document */
    const char *head, *tail;    /* of the answer */
    const char *before, *after; /* around the text of a delta */
    const char *(*text)(yyjson_val *);
};

#define CHUNK "data: {\"id\":\"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT\"," \
              "\"object\":\"chat.completion.chunk\",\"created\":1741569952," \
              "\"model\":\"gpt-4.1-2025-04-14\",\"service_tier\":\"default\"," \
              "\"system_fingerprint\":\"fp_44709d6fcb\",\"choices\":"

#define LINE  "{\"model\":\"llama3.2\",\"created_at\":" \
              "\"2025-08-04T08:52:19.385406455-07:00\",\"message\":" \
              "{\"role\":\"assistant\",\"content\":\""

#define PART  "data: {\"candidates\": [{\"content\": {\"parts\": [" \
              "{\"text\": \""
#define COUNTS "\"index\": 0}],\"usageMetadata\": {\"promptTokenCount\": 9," \
              "\"candidatesTokenCount\": 4,\"totalTokenCount\": 13," \
              "\"promptTokensDetails\": [{\"modality\": \"TEXT\"," \
              "\"tokenCount\": 9}]},\"modelVersion\": \"gemini-2.5-flash\"," \
              "\"responseId\": \"mC-naNbXFJ2dvdIPtKWs6Ag\"}\r\n\r\n"

static const struct subject subjects[] = {
    { .name = "openai_chat",
      .adapter = &openai_chat_adapter,
      .mark = "data: {",
      .head = CHUNK "[{\"index\":0,\"delta\":{\"role\":\"assistant\","
                    "\"content\":\"\",\"refusal\":null},\"logprobs\":null,"
                    "\"finish_reason\":null}],\"usage\":null}\n\n",
      .before = CHUNK "[{\"index\":0,\"delta\":{\"content\":\"",
      .after = "\"},\"logprobs\":null,\"finish_reason\":null}],"
               "\"usage\":null}\n\n",
      .tail = CHUNK "[{\"index\":0,\"delta\":{},\"logprobs\":null,"
                    "\"finish_reason\":\"stop\"}],\"usage\":null}\n\n"
                    "data: [DONE]\n\n",
      .text = chat_text },
    { .name = "anthropic",
      .adapter = &anthropic_adapter,
      .mark = "data: {",
      .head = "event: message_start\ndata: {\"type\":\"message_start\","
              "\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":"
              "\"assistant\",\"model\":\"claude\",\"content\":[],"
              "\"stop_reason\":null,\"usage\":{\"input_tokens\":25,"
              "\"output_tokens\":1}}}\n\n"
              "event: content_block_start\ndata: {\"type\":"
              "\"content_block_start\",\"index\":0,\"content_block\":{"
              "\"type\":\"text\",\"text\":\"\"}}\n\n",
      .before = "event: content_block_delta\ndata: {\"type\":"
                "\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
                "\"text_delta\",\"text\":\"",
      .after = "\"}}\n\n",
      .tail = "event: content_block_stop\ndata: {\"type\":"
              "\"content_block_stop\",\"index\":0}\n\n"
              "event: message_delta\ndata: {\"type\":\"message_delta\","
              "\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null"
              "},\"usage\":{\"output_tokens\":15}}\n\n"
              "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
      .text = anthropic_text },
    { .name = "openai_responses",
      .adapter = &openai_responses_adapter,
      .mark = "data: {",
      .head = "event: response.created\ndata: {\"type\":\"response.created\","
              "\"sequence_number\":0,\"response\":{\"id\":\"resp_1\","
              "\"status\":\"in_progress\",\"model\":\"gpt-4.1\","
              "\"output\":[]}}\n\n"
              "event: response.output_item.added\ndata: {\"type\":"
              "\"response.output_item.added\",\"sequence_number\":1,"
              "\"output_index\":0,\"item\":{\"id\":"
              "\"msg_68a5f0c2d4a08190b1c2\",\"type\":\"message\",\"role\":"
              "\"assistant\",\"content\":[]}}\n\n",
      .before = "event: response.output_text.delta\ndata: {\"type\":"
                "\"response.output_text.delta\",\"sequence_number\":4,"
                "\"item_id\":\"msg_68a5f0c2d4a08190b1c2\",\"output_index\":0,"
                "\"content_index\":0,\"delta\":\"",
      .after = "\",\"logprobs\":[],\"obfuscation\":\"Yp2lgA3k\"}\n\n",
      .tail = "event: response.completed\ndata: {\"type\":"
              "\"response.completed\",\"sequence_number\":5,\"response\":{"
              "\"id\":\"resp_1\",\"status\":\"completed\",\"usage\":{"
              "\"input_tokens\":12,\"output_tokens\":2,\"total_tokens\":14}"
              "}}\n\n",
      .text = responses_text },
    { .name = "gemini",
      .adapter = &gemini_adapter,
      .mark = "data: {",
      .head = "",
      .before = PART,
      .after = "\"}],\"role\": \"model\"}," COUNTS,
      .tail = PART "\"}],\"role\": \"model\"},\"finishReason\": \"STOP\","
                   COUNTS,
      .text = gemini_text },
    { .name = "ollama",
      .adapter = &ollama_adapter,
      .mark = "{",
      .head = "",
      .before = LINE,
      .after = "\"},\"done\":false}\n",
      .tail = LINE "\"},\"done\":true,\"done_reason\":\"stop\","
                   "\"total_duration\":4883583458,\"prompt_eval_count\":26,"
                   "\"eval_count\":282}\n",
      .text = ollama_text },
};

static void make_body(struct buf *body, const struct subject *s)
{
    static const char *const words[] = { " the", " tide", " turns", " at",
                                         " six", ",", " they say", "." };
    buf_text(body, s->head);
    for (size_t i = 0; i < DELTAS; i++) {
        buf_text(body, s->before);
        buf_text(body, words[i % (sizeof words / sizeof *words)]);
        buf_text(body, s->after);
    }
    buf_text(body, s->tail);
}

/* --------------------------------------------------------------- jobs --- */

static size_t take_text(const struct subject *s, struct slice document,
                        struct buf *out)
{
    yyjson_alc alc;
    yyjson_alc_pool_init(&alc, pool, sizeof pool);
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)document.ptr,
                                       document.len, 0, &alc, NULL);
    const char *text = s->text(yyjson_doc_get_root(doc));
    if (!text || !*text)
        return 0;
    buf_text(out, text);
    return 1;
}

/* The number of deltas. */
static size_t run_bare(const struct subject *s, struct slice body)
{
    struct arena a;
    struct buf out;
    size_t n = 0, skip = strlen(s->mark) - 1;
    arena_init(&a, mem_default());
    buf_init(&out, &a, MOST);
    while (body.len) {
        const char *end = memchr(body.ptr, '\n', body.len);
        size_t len = end ? (size_t)(end - body.ptr) : body.len;
        struct slice line = { body.ptr, len };
        if (slice_starts(line, slice_of(s->mark)))
            n += take_text(s, slice_skip(line, skip), &out);
        body = slice_skip(body, end ? len + 1 : len);
    }
    arena_release(&a);
    return n;
}

/* Read all events that are waiting, like a stream. */
static size_t drain(struct allm_sink *sink, struct arena *events,
                    struct arena *life)
{
    size_t n = 0;
    allm_event *event;
    while ((event = sink_take(sink)))
        n += event->type == ALLM_EV_TEXT_DELTA;
    arena_reset(events);
    sink_init(sink, events, life);
    return n;
}

static size_t run_ours(const struct subject *s, struct slice body)
{
    struct arena events, life;
    struct allm_sink sink;
    struct decoding d;
    allm_json *none = allm_json_parse("{}", 2, NULL);
    const allm_call call = { .size = sizeof call,
                             .options = none,
                             .adapter_opts = none,
                             .model = "m",
                             .provider = s->name };
    size_t n = 0;
    bool content = false;
    arena_init(&events, mem_default());
    arena_init(&life, mem_default());
    sink_init(&sink, &events, &life);
    void *state = arena_zero(&life, s->adapter->state_size);
    decoder_init(&d, mem_default(), s->adapter, &call, state, false);
    while (body.len) {
        size_t len = body.len < PIECE ? body.len : PIECE;
        struct slice piece = { body.ptr, len };
        while (piece.len) {
            decoder_feed(&d, &piece, &sink, &content);
            n += drain(&sink, &events, &life);
        }
        body = slice_skip(body, len);
    }
    while (decoder_end(&d, &sink) == ALLM_EVENT)
        n += drain(&sink, &events, &life);
    decoder_release(&d);
    arena_release(&events);
    arena_release(&life);
    allm_json_free(none);
    return n;
}

static int measure(const struct subject *s)
{
    struct arena a;
    struct buf body;
    int64_t ours = INT64_MAX, bare = INT64_MAX;
    size_t counts[2] = { 0, 0 };
    arena_init(&a, mem_default());
    buf_init(&body, &a, MOST);
    make_body(&body, s);
    for (int i = 0; i < ROUNDS; i++) {
        int64_t began = measure_thread();
        counts[0] = run_ours(s, buf_slice(&body));
        int64_t middle = measure_thread();
        counts[1] = run_bare(s, buf_slice(&body));
        int64_t after = measure_thread();
        ours = middle - began < ours ? middle - began : ours;
        bare = after - middle < bare ? after - middle : bare;
    }
    arena_release(&a);
    double ratio = (double)ours / (double)bare;
    printf("%-17s %4.0f ns a delta, bare %4.0f ns: %.2f times (at most 1.8): "
           "%s\n",
           s->name, (double)ours / DELTAS, (double)bare / DELTAS, ratio,
           ratio <= 1.8 ? "met" : "missed");
    if (counts[0] == DELTAS && counts[1] == DELTAS)
        return 0;
    printf("%s: %zu and %zu deltas instead of %d\n", s->name, counts[0],
           counts[1], DELTAS);
    return 1;
}

/* Measure all dialects, or those named as arguments. */
int main(int argc, char **argv)
{
    int bad = 0;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        for (int k = argc > 1; k < argc; k++)
            if (!k || !strcmp(argv[k], subjects[i].name))
                bad |= measure(&subjects[i]);
    return bad;
}
