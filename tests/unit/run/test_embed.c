/* test_embed.c - embeddings, through every dialect */
#include "harness/canned.h"
#include "harness/check.h"
#include "harness/play.h"

#include <stdio.h>
#include <string.h>

/* How it ended, and the vectors, as whole numbers of hundredths. */
static const char *tell(allm_stream *s)
{
    static char out[2048];
    size_t at = 0;
    allm_status status = allm_stream_wait(s);
    const allm_embeddings *r = allm_stream_embeddings(s);
    const allm_error *error = allm_stream_error(s);
    CHECK_ALWAYS((status == ALLM_OK) == (r != NULL));
    CHECK_ALWAYS((error == NULL) == (r != NULL));
    CHECK_ALWAYS(!allm_stream_response(s));
    if (!r) {
        snprintf(out, sizeof out, "%s %s", allm_status_name(status),
                 error ? error->reason : "");
        return out;
    }
    for (size_t i = 0; i < r->count; i++) {
        for (size_t k = 0; k < r->dimensions; k++)
            at += (size_t)snprintf(out + at, sizeof out - at, "%d ",
                                   (int)(r->vectors[i][k] * 100));
        at += (size_t)snprintf(out + at, sizeof out - at, "| ");
    }
    snprintf(out + at, sizeof out - at, "%s %d", r->model ? r->model : "-",
             r->usage->input_tokens.set ? (int)r->usage->input_tokens.value
                                        : -1);
    return out;
}

static const char *const two[] = { "one", "two" };

static const char *call(struct canned *s, const char *model,
                        const allm_embed_request *r)
{
    static char why[256];
    struct clock_manual clock = { .now_ns = 0 };
    allm_engine *e = canned_engine(s, model, &clock);
    allm_stream *stream =
        allm_embed(e, r, ALLM(call_opts, .api_key = "sk-secret-42"));
    const char *told = tell(stream);
    const allm_error *error = allm_stream_error(stream);
    snprintf(why, sizeof why, "%s", error ? play_why(stream) : "");
    s->error_id = why;
    allm_stream_free(stream);
    allm_engine_free(e);
    return told;
}

#define CALL(model, request, words, ...)                             \
    const struct canned_reply replies[] = { __VA_ARGS__ };           \
    struct canned s = { .reply = replies,                            \
                        .count = sizeof replies / sizeof *replies }; \
    CHECK_TEXT(call(&s, model, request), words)

#define TWO ALLM(embed_request, .input_count = 2, .inputs = two)

/* ------------------------------------------------------------- dialects --- */

static void openai_asks_and_sorts(void)
{
    CALL("openai:text-embedding-3-small",
         ALLM(embed_request, .input_count = 2, .inputs = two,
              .dimensions = { 2, true }, .task = ALLM_EMBED_QUERY),
         "10 20 | 30 -40 | text-embedding-3-small 5",
         { .status = 200,
           .body = "{\"object\":\"list\",\"data\":["
                   "{\"embedding\":[0.301,-0.401],\"index\":1},"
                   "{\"embedding\":[0.101,0.201],\"index\":0}],"
                   "\"model\":\"text-embedding-3-small\","
                   "\"usage\":{\"prompt_tokens\":5,\"total_tokens\":5}}" });
    CHECK_TEXT(s.asked, "POST https://api.openai.com/v1/embeddings|"
                        "authorization: Bearer sk-secret-42|"
                        "{\"model\":\"text-embedding-3-small\",\"input\":"
                        "[\"one\",\"two\"],\"dimensions\":2}");
}

/* llama.cpp writes 17 digits, also where fewer name the same number. */
static void any_spelling_of_a_number_is_one(void)
{
    CALL("llamacpp:m", TWO, "10 20 | 30 -40 | - -1",
         { .status = 200,
           .body = "{\"data\":[{\"embedding\":[0.10100000000000001,"
                   "0.20100000000000001]},{\"embedding\":"
                   "[0.30099999999999999,-0.40100000000000002]}]}" });
}

static void openai_reads_base64(void)
{
    allm_json *options = play_json("{'encoding_format':'base64'}");
    CALL("openai:m",
         ALLM(embed_request, .input_count = 2, .inputs = two,
              .options = options),
         "100 -200 | 50 0 | - -1",
         { .status = 200,
           .body = "{\"data\":[{\"embedding\":\"AACAPwAAAMA=\"},"
                   "{\"embedding\":\"AAAAPwAAAAA=\"}]}" });
    CHECK_TEXT(s.asked, "POST https://api.openai.com/v1/embeddings|"
                        "authorization: Bearer sk-secret-42|"
                        "{\"model\":\"m\",\"input\":[\"one\",\"two\"],"
                        "\"encoding_format\":\"base64\"}");
    allm_json_free(options);
}

static void azure_has_its_own_paths(void)
{
    const struct canned_reply reply = {
        .status = 200, .body = "{\"data\":[{\"embedding\":[1]},"
                               "{\"embedding\":[0]}]}" };
    struct canned s = { .reply = &reply, .count = 1,
                        .adapter_opts = "{\"base_url\":\"https://x.y\"}" };
    CHECK_TEXT(call(&s, "azure:m", TWO), "100 | 0 | - -1");
    CHECK_TEXT(s.asked, "POST https://x.y/openai/deployments/m/embeddings"
                        "?api-version=2024-10-21|api-key: sk-secret-42|"
                        "{\"model\":\"m\",\"input\":[\"one\",\"two\"]}");
}

static void gemini_asks_and_normalizes(void)
{
    CALL("gemini:gemini-embedding-001",
         ALLM(embed_request, .input_count = 2, .inputs = two,
              .dimensions = { 2, true }, .task = ALLM_EMBED_DOCUMENT,
              .no_truncate = 1),
         "70 70 | 0 100 | - -1",
         { .status = 200,
           .body = "{\"embeddings\":[{\"values\":[0.25,0.25]},"
                   "{\"values\":[0,0.5]}]}" });
    CHECK_TEXT(s.asked,
               "POST https://generativelanguage.googleapis.com/v1beta/models/"
               "gemini-embedding-001:batchEmbedContents|"
               "x-goog-api-key: sk-secret-42|{\"requests\":["
               "{\"model\":\"models/gemini-embedding-001\",\"content\":"
               "{\"parts\":[{\"text\":\"one\"}]},"
               "\"taskType\":\"RETRIEVAL_DOCUMENT\","
               "\"outputDimensionality\":2,"
               "\"embedContentConfig\":{\"autoTruncate\":false}},"
               "{\"model\":\"models/gemini-embedding-001\",\"content\":"
               "{\"parts\":[{\"text\":\"two\"}]},"
               "\"taskType\":\"RETRIEVAL_DOCUMENT\","
               "\"outputDimensionality\":2,"
               "\"embedContentConfig\":{\"autoTruncate\":false}}]}");
}

static void ollama_asks_and_reads(void)
{
    CALL("ollama:all-minilm",
         ALLM(embed_request, .input_count = 2, .inputs = two, .no_truncate = 1),
         "100 0 | 0 100 | all-minilm 4",
         { .status = 200,
           .body = "{\"model\":\"all-minilm\",\"embeddings\":[[1,0],[0,1.0]],"
                   "\"prompt_eval_count\":4}" });
    CHECK_TEXT(s.asked, "POST http://localhost:11434/api/embed|"
                        "authorization: Bearer sk-secret-42|"
                        "{\"model\":\"all-minilm\",\"input\":[\"one\","
                        "\"two\"],\"truncate\":false}");
}

/* --------------------------------------------------------------- errors --- */

static void tries_again(void)
{
    CALL("openai:m", TWO, "100 | 0 | - -1",
         { .status = 429, .body = "{\"error\":{\"message\":\"slow\"}}" },
         { .status = 503, .body = "" },
         { .status = 200,
           .body = "{\"data\":[{\"embedding\":[1]},{\"embedding\":[0]}]}" });
    CHECK_INT(s.opened, 3);
}

static void a_refusal_tells_why(void)
{
    CALL("openai:m", TWO, "adapter authentication_failed",
         { .status = 401,
           .body = "{\"error\":{\"message\":\"no such key\"}}" });
    CHECK_TEXT(s.error_id, "HTTP status 401: no such key");
}

static void google_explains(void)
{
    CALL("gemini:m", TWO, "adapter invalid_request",
         { .status = 400,
           .body = "{\"error\":{\"code\":400,\"message\":"
                   "\"no\",\"status\":\"INVALID_ARGUMENT\"}}" });
}

/* Each of them is an answer that cannot be trusted. */
static void odd_answers_fail(void)
{
    static const char *const bodies[] = {
        "[]",
        "{}",
        "\"x\"",
        "{\"data\":{}}",
        "{\"data\":[]}",
        "{\"data\":[{\"embedding\":[1]}]}",
        "{\"data\":[{\"embedding\":[1]},{\"embedding\":[1,2]}]}",
        "{\"data\":[{\"embedding\":[1]},{\"embedding\":[]}]}",
        "{\"data\":[{\"embedding\":[1]},{\"embedding\":[null]}]}",
        "{\"data\":[{\"embedding\":[1]},{\"embedding\":[1e300]}]}",
        "{\"data\":[{\"embedding\":[1]},{\"embedding\":\"!\"}]}",
        "{\"data\":[{\"embedding\":[1]},{\"embedding\":\"AAA=\"}]}",
        "{\"data\":[{\"embedding\":[1]},{\"embedding\":7}]}",
        "{\"data\":[{\"embedding\":[1]},{}]}",
        "{\"data\":[{\"embedding\":[1],\"index\":0},"
        "{\"embedding\":[1],\"index\":0}]}",
        "{\"data\":[{\"embedding\":[1],\"index\":0},"
        "{\"embedding\":[1],\"index\":2}]}",
        "{\"data\":[{\"embedding\":[1],\"index\":0},"
        "{\"embedding\":[1],\"index\":-1}]}",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        const struct canned_reply reply = { .status = 200, .body = bodies[i] };
        struct canned s = { .reply = &reply, .count = 1 };
        check_row(bodies[i]);
        CHECK_TEXT(call(&s, "openai:m", TWO), "adapter malformed_response");
    }
    check_row(NULL);
}

static void an_empty_answer_is_cut(void)
{
    CALL("openai:m", TWO, "stream truncated", { .status = 200, .body = "" });
}

static void a_break_is_a_failure(void)
{
    CALL("openai:m", TWO, "stream truncated",
         { .status = 200, .body = "{\"data\":[", .ending = SERVER_BREAKS });
}

static void silence_ends(void)
{
    CALL("openai:m", TWO, "adapter timeout",
         { .status = 200, .body = "{\"da", .ending = SERVER_STAYS_OPEN });
}

static void an_error_comes_under_any_status(void)
{
    CALL("ollama:m", TWO, "adapter provider_unavailable",
         { .status = 200, .body = "{\"error\":\"out of memory\"}" });
}

static void ada_is_as_long_as_it_is(void)
{
    CALL("openai:text-embedding-ada-002",
         ALLM(embed_request, .input_count = 2, .inputs = two,
              .dimensions = { 2, true }),
         "adapter unsupported_feature", { .status = 200, .body = "" });
    CHECK_INT(s.opened, 0);
}

static void some_cannot(void)
{
    CALL("anthropic:m", TWO, "engine no_embed_adapter",
         { .status = 200, .body = "" });
}

static void requests_are_checked(void)
{
    static const char *const odd[] = { "a", "" };
    CALL("openai:m", ALLM(embed_request, .input_count = 0),
         "validation invalid_embedding_request", { .status = 200 });
    CHECK_TEXT(call(&s, "openai:m",
                    ALLM(embed_request, .input_count = 2, .inputs = odd)),
               "validation invalid_embedding_request");
    CHECK_TEXT(call(&s, "openai:m",
                    ALLM(embed_request, .input_count = 2, .inputs = two,
                         .dimensions = { 0, true })),
               "validation invalid_embedding_request");
    CHECK_TEXT(call(&s, "openai:m",
                    ALLM(embed_request, .input_count = 2, .inputs = two,
                         .task = (allm_embed_task)77)),
               "validation invalid_embedding_request");
    CHECK_TEXT(call(&s, NULL, TWO), "engine no_embed_adapter");
    CHECK_TEXT(call(&s, "openai:m", &(allm_embed_request){ .size = 1 }),
               "misuse invalid_struct");
    CHECK_INT(s.opened, 0);
}

static void null_is_no_call(void)
{
    CHECK_ALWAYS(!allm_stream_embeddings(NULL));
    CHECK_ALWAYS(allm_embed_cosine(NULL, NULL, 3) == 0);
}

/* ---------------------------------------------------------------- parts --- */

#define V10 "{\"values\":[1]},{\"values\":[1]},{\"values\":[1]}," \
            "{\"values\":[1]},{\"values\":[1]},{\"values\":[1]}," \
            "{\"values\":[1]},{\"values\":[1]},{\"values\":[1]}," \
            "{\"values\":[1]}"
#define V100                                                              \
    "{\"embeddings\":[" V10 "," V10 "," V10 "," V10 "," V10 "," V10 "," V10 \
    "," V10 "," V10 "," V10 "]}"

enum { MANY = 101 };

static const char *const *many(void)
{
    static const char *inputs[MANY];
    for (size_t i = 0; i < MANY; i++)
        inputs[i] = "x";
    return inputs;
}

static void long_lists_go_in_parts(void)
{
    const struct canned_reply replies[] = {
        { .status = 200, .body = V100 },
        { .status = 503, .body = "" },
        { .status = 200, .body = "{\"embeddings\":[{\"values\":[-1]}]}" },
    };
    struct canned s = { .reply = replies, .count = 3 };
    struct clock_manual clock = { .now_ns = 0 };
    allm_engine *e = canned_engine(&s, "gemini:m", &clock);
    char key[] = "sk-secret-42";
    allm_stream *stream =
        allm_embed(e,
                   ALLM(embed_request, .input_count = MANY, .inputs = many()),
                   ALLM(call_opts, .api_key = key));
    memset(key, 'x', sizeof key - 1);   /* it was the caller's */
    CHECK_INT(allm_stream_wait(stream), ALLM_OK);
    const allm_embeddings *r = allm_stream_embeddings(stream);
    if (CHECK(r && r->count == MANY && r->dimensions == 1)) {
        CHECK(r->vectors[99][0] == 1.0f && r->vectors[100][0] == -1.0f);
        CHECK(strstr(s.asked, "sk-secret-42") != NULL);
    }
    CHECK_INT(s.opened, 3);
    allm_stream_free(stream);
    allm_engine_free(e);
}

/* Few texts may be too much, too. */
static void long_texts_go_in_parts(void)
{
    static char text[400001];
    const char *const three[] = { text, text, "x" };
    memset(text, 'a', sizeof text - 1);
    CALL("openai:m", ALLM(embed_request, .input_count = 3, .inputs = three),
         "100 | 0 | 0 | - -1",
         { .status = 200, .body = "{\"data\":[{\"embedding\":[1]}]}" },
         { .status = 200,
           .body = "{\"data\":[{\"embedding\":[0]},{\"embedding\":[0]}]}" });
    CHECK_INT(s.opened, 2);
}

/* Both parts must wait before they are tried again; there is time for one. */
static void total_ms_bounds_all_parts_together(void)
{
    const struct canned_reply replies[] = {
        { .status = 503, .body = "{}" },
        { .status = 200, .body = V100 },
        { .status = 503, .body = "{}" },
        { .status = 200, .body = V100 },
    };
    struct canned s = { .reply = replies, .count = 4 };
    struct clock_manual clock = { .now_ns = 0 };
    allm_engine *e = canned_engine(&s, "gemini:m", &clock);
    allm_stream *stream =
        allm_embed(e,
                   ALLM(embed_request, .input_count = MANY, .inputs = many()),
                   ALLM(call_opts, .api_key = "k", .total_ms = 900));
    CHECK_INT(allm_stream_wait(stream), ALLM_ERR_ADAPTER);
    CHECK_INT(s.opened, 3);
    allm_stream_free(stream);
    allm_engine_free(e);
}

/* The second of two parts fails so. */
static void second_fails(struct canned_reply reply, allm_status kind)
{
    const struct canned_reply replies[] = {
        { .status = 200, .body = V100 },
        reply,
    };
    struct canned s = { .reply = replies, .count = 2 };
    struct clock_manual clock = { .now_ns = 0 };
    allm_engine *e = canned_engine(&s, "gemini:m", &clock);
    allm_stream *stream =
        allm_embed(e,
                   ALLM(embed_request, .input_count = MANY, .inputs = many()),
                   ALLM(call_opts, .api_key = "k"));
    CHECK_INT(allm_stream_wait(stream), kind);
    const allm_error *error = allm_stream_error(stream);
    int64_t chunks = 0, inputs = 0;
    allm_json_int64(allm_json_get(error->metadata, "completed_chunks"),
                    &chunks);
    allm_json_int64(allm_json_get(error->metadata, "completed_inputs"),
                    &inputs);
    CHECK_INT(chunks, 1);
    CHECK_INT(inputs, 100);
    CHECK(!allm_stream_embeddings(stream));
    allm_stream_free(stream);
    allm_engine_free(e);
}

static void a_part_that_fails_fails_all(void)
{
    second_fails((struct canned_reply){ .status = 400, .body = "{}" },
                 ALLM_ERR_ADAPTER);
    second_fails((struct canned_reply){ .status = 200,
                                        .body = "{",
                                        .ending = SERVER_BREAKS },
                 ALLM_ERR_STREAM);
}

/* ----------------------------------------------------------------- fake --- */

static void the_fake_knows_words(void)
{
    static const char *const texts[] = { "the red fox", "the red fox jumps",
                                         "quarterly report", "the red fox" };
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "fake:m"));
    allm_stream *s = allm_embed(
        e, ALLM(embed_request, .input_count = 4, .inputs = texts), NULL);
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    const allm_embeddings *r = allm_stream_embeddings(s);
    if (CHECK(r && r->count == 4 && r->dimensions == 64)) {
        const float *const *v = r->vectors;
        double same = allm_embed_cosine(v[0], v[3], 64);
        double near = allm_embed_cosine(v[0], v[1], 64);
        double far = allm_embed_cosine(v[0], v[2], 64);
        CHECK(same > 0.999999 && near > far && near < same);
        CHECK_INT(r->usage->input_tokens.value, 12);
        CHECK_TEXT(r->model, "m");
    }
    allm_stream_free(s);
    allm_engine_free(e);
}

static void a_call_may_be_cancelled(void)
{
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "fake:m"));
    allm_stream *s = allm_embed(e, TWO, NULL);
    allm_stream_cancel(s);
    CHECK_TEXT(tell(s), "stream cancelled");
    allm_stream_free(s);
    allm_engine_free(e);
}

static void a_hub_runs_it(void)
{
    void *tag;
    const allm_event *event;
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "fake:m"));
    allm_hub *hub = allm_hub_new(NULL);
    allm_stream *s = allm_embed(e, TWO, NULL);
    CHECK_INT(allm_hub_add(hub, s, NULL), ALLM_OK);
    while (allm_hub_wait(hub, -1, &tag))
        CHECK(allm_stream_next(s, &event) != ALLM_EVENT);
    CHECK(allm_stream_embeddings(s) != NULL);
    allm_stream_free(s);
    allm_hub_free(hub);
    allm_engine_free(e);
}

static void cosines_are_right(void)
{
    const float x[] = { 1, 0 }, y[] = { 0, 2 }, z[] = { -3, 0 }, o[] = { 0, 0 };
    CHECK(allm_embed_cosine(x, x, 2) == 1);
    CHECK(allm_embed_cosine(x, y, 2) == 0);
    CHECK(allm_embed_cosine(x, z, 2) == -1);
    CHECK(allm_embed_cosine(x, o, 2) == 0);
}

TESTS = {
    TEST(openai_asks_and_sorts),
    TEST(any_spelling_of_a_number_is_one),
    TEST(openai_reads_base64),
    TEST(azure_has_its_own_paths),
    TEST(gemini_asks_and_normalizes),
    TEST(ollama_asks_and_reads),
    TEST(tries_again),
    TEST(a_refusal_tells_why),
    TEST(google_explains),
    TEST(odd_answers_fail),
    TEST(an_empty_answer_is_cut),
    TEST(a_break_is_a_failure),
    TEST(silence_ends),
    TEST(an_error_comes_under_any_status),
    TEST(ada_is_as_long_as_it_is),
    TEST(some_cannot),
    TEST(requests_are_checked),
    TEST(null_is_no_call),
    TEST(long_lists_go_in_parts),
    TEST(long_texts_go_in_parts),
    TEST_ONCE(total_ms_bounds_all_parts_together),
    TEST(a_part_that_fails_fails_all),
    TEST(the_fake_knows_words),
    TEST(a_call_may_be_cancelled),
    TEST(a_hub_runs_it),
    TEST(cosines_are_right),
    TESTS_END,
};
