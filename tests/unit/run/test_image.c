/* test_image.c - generate images, through every dialect */
#include "harness/canned.h"
#include "harness/check.h"
#include "harness/play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How it ended, and the images: source, type, data, what the model made of
 * the prompt. */
static const char *tell(allm_stream *s)
{
    static char out[2048];
    static const char *const words[] = { "none", "binary", "base64", "url",
                                         "file" };
    size_t at = 0;
    allm_status status = allm_stream_wait(s);
    const allm_image_response *r = allm_stream_image_response(s);
    const allm_error *error = allm_stream_error(s);
    CHECK_ALWAYS((status == ALLM_OK) == (r != NULL));
    CHECK_ALWAYS(!allm_stream_embeddings(s));
    if (!r) {
        snprintf(out, sizeof out, "%s %s", allm_status_name(status),
                 error ? error->reason : "");
        return out;
    }
    for (size_t i = 0; i < r->image_count; i++) {
        const allm_image *m = r->images[i];
        at += (size_t)snprintf(out + at, sizeof out - at, "%s %s %.*s %s | ",
                               words[m->source],
                               m->mime_type ? m->mime_type : "-",
                               (int)m->data_len, m->data,
                               m->revised_prompt ? m->revised_prompt : "-");
    }
    at += (size_t)snprintf(out + at, sizeof out - at, "%s %d/%d/%d",
                           r->model ? r->model : "-",
                           (int)r->usage->images.value,
                           (int)r->usage->input_tokens.value,
                           (int)r->usage->output_tokens.value);
    const allm_json *size = r->usage->size_json;
    CHECK_ALWAYS(size != NULL);
    if (allm_json_type_of(size) == ALLM_JSON_TEXT)
        snprintf(out + at, sizeof out - at, " %s", allm_json_text(size, NULL));
    else if (allm_json_count(size) == 2)
        snprintf(out + at, sizeof out - at, " %d*%d",
                 (int)allm_json_number(allm_json_at(size, 0)),
                 (int)allm_json_number(allm_json_at(size, 1)));
    return out;
}

static const char *call(struct canned *s, const char *model,
                        const allm_image_request *r)
{
    struct clock_manual clock = { .now_ns = 0 };
    allm_engine *e = canned_engine(s, model, &clock);
    allm_stream *stream =
        allm_image_generate(e, r, ALLM(call_opts, .api_key = "sk-secret-42"));
    const char *told = tell(stream);
    allm_stream_free(stream);
    allm_engine_free(e);
    return told;
}

#define CALL(model, request, words, ...)                             \
    const struct canned_reply replies[] = { __VA_ARGS__ };           \
    struct canned s = { .reply = replies,                            \
                        .count = sizeof replies / sizeof *replies }; \
    CHECK_TEXT(call(&s, model, request), words)

#define FOX ALLM(image_request, .prompt = "a fox")

/* --------------------------------------------------------------- openai --- */

static void openai_generates(void)
{
    CALL("openai:gpt-image-1",
         ALLM(image_request, .prompt = "a fox", .n = { 2, true },
              .width = { 1024, true }, .height = { 512, true },
              .quality = "high"),
         "binary image/png hi a red fox | binary image/png ho - | - 2/3/4 "
         "1024*512",
         { .status = 200,
           .body = "{\"created\":1,\"data\":[{\"b64_json\":\"aGk=\","
                   "\"revised_prompt\":\"a red fox\"},"
                   "{\"b64_json\":\"aG8=\"}],\"usage\":"
                   "{\"input_tokens\":3,\"output_tokens\":4}}" });
    CHECK_TEXT(s.asked, "POST https://api.openai.com/v1/images/generations|"
                        "authorization: Bearer sk-secret-42|"
                        "{\"model\":\"gpt-image-1\",\"prompt\":\"a fox\","
                        "\"n\":2,\"size\":\"1024x512\",\"quality\":\"high\"}");
}

static void the_answer_has_a_name(void)
{
    const struct canned_reply reply = {
        .status = 200,
        .header = { "X-Request-Id", "req_7" },
        .body = "{\"data\":[{\"b64_json\":\"aGk=\"}]}" };
    struct canned s = { .reply = &reply, .count = 1 };
    struct clock_manual clock = { .now_ns = 0 };
    allm_engine *e = canned_engine(&s, "openai:gpt-image-1", &clock);
    allm_stream *stream = allm_image_generate(e, FOX,
                                              ALLM(call_opts, .api_key = "k"));
    CHECK_INT(allm_stream_wait(stream), ALLM_OK);
    const allm_image_response *r = allm_stream_image_response(stream);
    if (r)
        CHECK_TEXT(allm_json_text(
                       allm_json_get(r->metadata, "openai_request_id"), NULL),
                   "req_7");
    allm_stream_free(stream);
    allm_engine_free(e);
}

static void openai_gives_urls(void)
{
    CALL("openai:dall-e-3",
         ALLM(image_request, .prompt = "a fox", .size_text = "auto",
              .response_format = ALLM_IMAGE_FORMAT_URL),
         "url - https://x/y.png - | - 1/0/0 auto",
         { .status = 200,
           .body = "{\"data\":[{\"url\":\"https://x/y.png\"}]}" });
    CHECK(strstr(s.asked, "\"size\":\"auto\",\"response_format\":\"url\"}") !=
          NULL);
}

static void openai_edits(void)
{
    const allm_image *inputs[] = {
        ALLM(image, .source = ALLM_IMAGE_BASE64, .data = "aGk=", .data_len = 4,
             .mime_type = "image/jpeg")
    };
    CALL("openai:gpt-image-1",
         ALLM(image_request, .operation = ALLM_IMAGE_OP_EDIT,
              .prompt = "pink sky", .input_image_count = 1,
              .input_images = inputs,
              .response_format = ALLM_IMAGE_FORMAT_BASE64),
         "base64 image/png aG8= - | - 1/0/0",
         { .status = 200, .body = "{\"data\":[{\"b64_json\":\"aG8=\"}]}" });
#define DASHES "--allm-form-5f0c2b7d9e3a41c8"
#define FIELD "\r\ncontent-disposition: form-data; name="
    CHECK_TEXT(s.asked, "POST https://api.openai.com/v1/images/edits|"
                        "authorization: Bearer sk-secret-42|" DASHES FIELD
                        "\"model\"\r\n\r\ngpt-image-1\r\n" DASHES FIELD
                        "\"prompt\"\r\n\r\npink sky\r\n" DASHES FIELD
                        "\"image\"; filename=\"image.jpg\"\r\ncontent-type: "
                        "image/jpeg\r\n\r\nhi\r\n" DASHES "--\r\n");
}

static void openai_fails(void)
{
    static const struct {
        struct canned_reply reply;
        const char *words;
    } rows[] = {
        { { .status = 200, .body = "{\"data\":[]}" }, "image content_filter" },
        { { .status = 200, .body = "{}" }, "image malformed_response" },
        { { .status = 200, .body = "{\"data\":[{}]}" },
          "image malformed_response" },
        { { .status = 200, .body = "{\"data\":[{\"b64_json\":\"!\"}]}" },
          "image malformed_response" },
        { { .status = 400,
            .body = "{\"error\":{\"code\":\"content_policy_violation\","
                    "\"message\":\"no\"}}" },
          "image content_filter" },
        { { .status = 401, .body = "" }, "image authentication_failed" },
        { { .status = 200, .body = "" }, "stream truncated" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct canned s = { .reply = &rows[i].reply, .count = 1 };
        check_row(rows[i].words);
        CHECK_TEXT(call(&s, "openai:gpt-image-1", FOX), rows[i].words);
    }
    check_row(NULL);
}

static void tries_again(void)
{
    CALL("openai:gpt-image-1", FOX, "binary image/png hi - | - 1/0/0",
         { .status = 503, .body = "" },
         { .status = 200, .body = "{\"data\":[{\"b64_json\":\"aGk=\"}]}" });
    CHECK_INT(s.opened, 2);
}

/* --------------------------------------------------------------- gemini --- */

static void gemini_edits(void)
{
    const allm_image *inputs[] = { ALLM(image, .source = ALLM_IMAGE_BINARY,
                                        .data = "hi", .data_len = 2,
                                        .mime_type = "image/png") };
    CALL("gemini:gemini-2.5-flash-image",
         ALLM(image_request, .operation = ALLM_IMAGE_OP_EDIT, .prompt = "pink",
              .input_image_count = 1, .input_images = inputs,
              .width = { 1920, true }, .height = { 1080, true }),
         "binary image/jpeg ho - | v 1/3/4 1920*1080",
         { .status = 200,
           .body = "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":"
                   "\"here\"},{\"inlineData\":{\"mimeType\":\"image/jpeg\","
                   "\"data\":\"aG8=\"}}]}}],\"modelVersion\":\"v\","
                   "\"usageMetadata\":{\"promptTokenCount\":3,"
                   "\"candidatesTokenCount\":4}}" });
    CHECK_TEXT(s.asked,
               "POST https://generativelanguage.googleapis.com/v1beta/models/"
               "gemini-2.5-flash-image:generateContent|"
               "x-goog-api-key: sk-secret-42|{\"contents\":[{\"role\":"
               "\"user\",\"parts\":[{\"text\":\"pink\"},{\"inlineData\":"
               "{\"mimeType\":\"image/png\",\"data\":\"aGk=\"}}]}],"
               "\"generationConfig\":{\"responseModalities\":[\"TEXT\","
               "\"IMAGE\"],\"imageConfig\":{\"aspectRatio\":\"16:9\"}}}");
}

static void gemini_fails(void)
{
    static const struct {
        const char *body, *words;
    } rows[] = {
        { "{\"candidates\":[]}", "image malformed_response" },
        { "{\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}",
          "image content_filter" },
        { "{\"candidates\":[{\"finishReason\":\"IMAGE_SAFETY\"}]}",
          "image content_filter" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct canned_reply reply = { .status = 200, .body = rows[i].body };
        struct canned s = { .reply = &reply, .count = 1 };
        CHECK_TEXT(call(&s, "gemini:m", FOX), rows[i].words);
    }
}

/* ----------------------------------------------------------------- URLs --- */

#define PNG "\x89PNG...."

static const allm_image web = { .size = sizeof web,
                                .source = ALLM_IMAGE_URL,
                                .data = "https://x.y/a/b.png?sig=s3cret",
                                .data_len = 30 };
static const allm_image *const inputs_of_web[] = { &web };

#define EDIT                                                         \
    ALLM(image_request, .operation = ALLM_IMAGE_OP_EDIT,             \
         .prompt = "pink", .input_image_count = 1,                   \
         .input_images = inputs_of_web)

#define MADE { .status = 200, .body = "{\"data\":[{\"b64_json\":\"aG8=\"}]}" }

static void an_image_is_fetched(void)
{
    CALL("openai:gpt-image-1", EDIT, "binary image/png ho - | - 1/0/0",
         { .status = 200, .body = PNG }, MADE);
    CHECK_INT(s.opened, 2);
    CHECK(strstr(s.first, "GET https://x.y/a/b.png?sig=s3cret|: |") == s.first);
    CHECK(strstr(s.asked, "filename=\"image.png\"\r\ncontent-type: "
                          "image/png\r\n\r\n" PNG "\r\n") != NULL);
}

static void a_mask_is_fetched_too(void)
{
    const allm_image *inputs[] = { ALLM(image, .source = ALLM_IMAGE_BINARY,
                                        .data = "hi", .data_len = 2,
                                        .mime_type = "image/png") };
    CALL("openai:gpt-image-1",
         ALLM(image_request, .operation = ALLM_IMAGE_OP_EDIT, .prompt = "pink",
              .input_image_count = 1, .input_images = inputs, .mask = &web),
         "binary image/png ho - | - 1/0/0", { .status = 200, .body = PNG },
         MADE);
    CHECK(strstr(s.asked, "name=\"mask\"; filename=\"image.png\"") != NULL);
}

static void gemini_gets_the_bytes(void)
{
    CALL("gemini:m", EDIT, "binary image/png ho - | - 1/0/0",
         { .status = 200, .body = "GIF89a" },
         { .status = 200,
           .body = "{\"candidates\":[{\"content\":{\"parts\":[{\"inlineData\""
                   ":{\"data\":\"aG8=\"}}]}}]}" });
    CHECK(strstr(s.asked, "{\"mimeType\":\"image/gif\",\"data\":"
                          "\"R0lGODlh\"}") != NULL);
}

static void redirects_are_followed(void)
{
    CALL("openai:gpt-image-1", EDIT, "binary image/png ho - | - 1/0/0",
         { .status = 302, .body = "", .header = { "Location", "../c.png" } },
         { .status = 503, .body = "" }, { .status = 200, .body = PNG }, MADE);
    CHECK_INT(s.opened, 4);
}

/* Each of them ends the call before the provider is asked. */
static void what_cannot_be_fetched_fails(void)
{
    static const struct {
        struct canned_reply reply;
        const char *words;
    } rows[] = {
        { { .status = 404, .body = "" }, "image invalid_request" },
        { { .status = 403, .body = "" }, "image invalid_request" },
        { { .status = 200, .body = "hello" }, "image invalid_request" },
        { { .status = 200, .body = "<html>" }, "image invalid_request" },
        { { .status = 200, .body = "" }, "image network_error" },
        { { .status = 200, .body = PNG, .ending = SERVER_BREAKS },
          "image network_error" },
        { { .status = 200, .body = PNG, .ending = SERVER_STAYS_OPEN },
          "image timeout" },
        { { .status = 302, .body = "" }, "image invalid_request" },
        { { .status = 302, .body = "",
            .header = { "location", "http://x.y/b.png" } },
          "image invalid_request" },
        { { .status = 302, .body = "",
            .header = { "location", "https://localhost/b.png" } },
          "image invalid_request" },
        { { .status = 302, .body = "",
            .header = { "location", "https://me:pw@x.y/b.png" } },
          "image invalid_request" },
        { { .status = 302, .body = "",
            .header = { "location", "file:///etc/passwd" } },
          "image invalid_request" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct canned_reply replies[] = { rows[i].reply,
                                                { .status = 404, .body = "" } };
        struct canned s = { .reply = replies, .count = 2 };
        check_row(rows[i].reply.header[1] ? rows[i].reply.header[1]
                                          : rows[i].reply.body);
        CHECK_TEXT(call(&s, "openai:gpt-image-1", EDIT), rows[i].words);
    }
    check_row(NULL);
}

/* A server that never stops: a body that is too long is not read to its end. */
static void an_image_has_a_limit(void)
{
    enum { MUCH = 26 * 1000 * 1000 };
    char *body = calloc(1, MUCH + 1);
    memcpy(body, PNG, 4);
    const struct canned_reply reply = { .status = 200, .body = body,
                                        .len = MUCH };
    struct canned s = { .reply = &reply, .count = 1, .step = 1000000 };
    CHECK_TEXT(call(&s, "openai:gpt-image-1", EDIT), "image invalid_request");
    CHECK(s.at <= 25 * 1000 * 1000 + 1000000);
    free(body);
}

static void redirects_end(void)
{
#define ROUND { .status = 302, .body = "", .header = { "location", "/c" } }
    CALL("openai:gpt-image-1", EDIT, "image invalid_request", ROUND, ROUND,
         ROUND, ROUND, ROUND, ROUND, ROUND);
    CHECK_INT(s.opened, 6);
}

static void the_error_tells_where(void)
{
    const struct canned_reply reply = { .status = 404, .body = "" };
    struct canned s = { .reply = &reply, .count = 1 };
    struct clock_manual clock = { .now_ns = 0 };
    allm_engine *e = canned_engine(&s, "openai:gpt-image-1", &clock);
    allm_stream *stream = allm_image_generate(e, EDIT,
                                              ALLM(call_opts, .api_key = "k"));
    allm_stream_wait(stream);
    const allm_error *error = allm_stream_error(stream);
    CHECK_TEXT(allm_json_text(allm_json_get(error->metadata, "url"), NULL),
               "https://x.y/a/b.png");
    CHECK(!strstr(error->message, "s3cret"));
    CHECK_INT(error->http_status.value, 404);
    allm_stream_free(stream);
    allm_engine_free(e);
}

/* A request that the dialect rejects is never sent. */
static void gates_come_first(void)
{
    struct canned s = { .count = 0 };
    CHECK_TEXT(call(&s, "openai:dall-e-3", EDIT),
               "image unsupported_operation");
    CHECK_TEXT(call(&s, "anthropic:m", EDIT), "engine no_image_adapter");
    const allm_transport t = canned_transport(&s);
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .model = "openai:gpt-image-1", .transport = &t));
    allm_stream *stream = allm_image_generate(e, EDIT, NULL);
    CHECK_TEXT(tell(stream), "engine missing_key");
    allm_stream_free(stream);
    allm_engine_free(e);
}

static void some_addresses_are_refused(void)
{
    static const char *const urls[] = {
        "http://x.y/a.png", "ftp://x.y/a.png",  "x.png",
        "https://",         "https://u:p@x.y/", "https://x.y/a b",
    };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        const allm_image *inputs[] = { ALLM(image, .source = ALLM_IMAGE_URL,
                                            .data = urls[i],
                                            .data_len = strlen(urls[i])) };
        struct canned s = { .count = 0 };
        check_row(urls[i]);
        CHECK_TEXT(call(&s, "openai:gpt-image-1",
                        ALLM(image_request, .operation = ALLM_IMAGE_OP_EDIT,
                             .prompt = "pink", .input_image_count = 1,
                             .input_images = inputs)),
                   "validation invalid_image_request");
    }
    check_row(NULL);
}

static void the_fake_sees_the_url(void)
{
    allm_json *opts = play_json(
        "{'image_script':[['ok',[{'source':{'type':'binary','value':'aGk='},"
        "'mime_type':'image/png'}]]]}");
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .image_adapter = "fake", .adapter_opts = opts));
    allm_stream *s = allm_image_generate(e, EDIT, NULL);
    CHECK_TEXT(tell(s), "binary image/png hi - | - 1/0/0");
    allm_stream_free(s);
    allm_engine_free(e);
    allm_json_free(opts);
}

/* ----------------------------------------------------------- variations --- */

static void openai_varies(void)
{
    const allm_image *inputs[] = { ALLM(image, .source = ALLM_IMAGE_BINARY,
                                        .data = "hi", .data_len = 2,
                                        .mime_type = "image/png") };
    CALL("openai:dall-e-2",
         ALLM(image_request, .operation = ALLM_IMAGE_OP_VARIATION,
              .input_image_count = 1, .input_images = inputs, .n = { 2, true },
              .size_text = "256x256"),
         "binary image/png ho - | - 1/0/0 256x256", MADE);
    CHECK_TEXT(s.asked, "POST https://api.openai.com/v1/images/variations|"
                        "authorization: Bearer sk-secret-42|" DASHES FIELD
                        "\"model\"\r\n\r\ndall-e-2\r\n" DASHES FIELD
                        "\"n\"\r\n\r\n2\r\n" DASHES FIELD
                        "\"size\"\r\n\r\n256x256\r\n" DASHES FIELD
                        "\"response_format\"\r\n\r\nb64_json\r\n" DASHES FIELD
                        "\"image\"; filename=\"image.png\"\r\ncontent-type: "
                        "image/png\r\n\r\nhi\r\n" DASHES "--\r\n");
}

static void few_models_vary(void)
{
    static const char *const models[] = { "openai:gpt-image-1",
                                          "openai:dall-e-3", "gemini:m" };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct canned s = { .count = 0 };
        check_row(models[i]);
        CHECK_TEXT(
            call(&s, models[i],
                 ALLM(image_request, .operation = ALLM_IMAGE_OP_VARIATION,
                      .input_image_count = 1, .input_images = inputs_of_web)),
            "image unsupported_operation");
    }
    check_row(NULL);
}

/* -------------------------------------------------------------- refused --- */

static void what_must_fail_is_not_sent(void)
{
    const allm_image *lost[] = { ALLM(image, .source = ALLM_IMAGE_FILE,
                                      .data = "/no/such/file.png",
                                      .data_len = 17) };
    struct canned s = { .count = 0 };
    CHECK_TEXT(call(&s, "openai:gpt-image-1",
                    ALLM(image_request, .n = { 1, 1 })),
               "validation invalid_image_request");
    CHECK_TEXT(call(&s, "openai:gpt-image-1",
                    ALLM(image_request, .prompt = "a",
                         .response_format = ALLM_IMAGE_FORMAT_URL)),
               "image unsupported_feature");
    CHECK_TEXT(call(&s, "gemini:m",
                    ALLM(image_request, .prompt = "a",
                         .size_text = "1024x100")),
               "image invalid_request");
    CHECK_TEXT(call(&s, "openai:gpt-image-1",
                    ALLM(image_request, .operation = ALLM_IMAGE_OP_EDIT,
                         .prompt = "a", .input_image_count = 1,
                         .input_images = lost)),
               "validation invalid_image_request");
    CHECK_TEXT(call(&s, "anthropic:m", FOX), "engine no_image_adapter");
    CHECK_TEXT(call(&s, NULL, FOX), "engine no_image_adapter");
}

/* ------------------------------------------------------------- scripted --- */

static void a_script_paints(void)
{
    static const char *const want[] = {
        "binary image/png hi - | - 1/0/0",
        "image content_filter",
        "misuse invalid_script",
        "image no_scripted_response",
    };
    allm_json *opts = play_json(
        "{'image_script':[['ok',[{'source':{'type':'binary','value':'aGk='},"
        "'mime_type':'image/png'}]],['error','content_filter',{}],['text',"
        "'x']]}");
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .image_adapter = "fake", .adapter_opts = opts));
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        allm_stream *s = allm_image_generate(e, FOX, NULL);
        CHECK_TEXT(tell(s), want[i]);
        allm_stream_free(s);
    }
    allm_engine_free(e);
    allm_json_free(opts);
}

static void an_unknown_adapter_is_refused(void)
{
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .image_adapter = "nobody"));
    allm_stream *s = allm_image_generate(e, FOX, NULL);
    CHECK_TEXT(tell(s), "misuse invalid_engine");
    allm_stream_free(s);
    allm_engine_free(e);
}

TESTS = {
    TEST(openai_generates),
    TEST(the_answer_has_a_name),
    TEST(openai_gives_urls),
    TEST(openai_edits),
    TEST(openai_fails),
    TEST(tries_again),
    TEST(gemini_edits),
    TEST(gemini_fails),
    TEST(an_image_is_fetched),
    TEST(a_mask_is_fetched_too),
    TEST(gemini_gets_the_bytes),
    TEST(redirects_are_followed),
    TEST(what_cannot_be_fetched_fails),
    TEST_ONCE(an_image_has_a_limit),
    TEST(redirects_end),
    TEST(the_error_tells_where),
    TEST(gates_come_first),
    TEST(some_addresses_are_refused),
    TEST(the_fake_sees_the_url),
    TEST(openai_varies),
    TEST(few_models_vary),
    TEST(what_must_fail_is_not_sent),
    TEST(a_script_paints),
    TEST(an_unknown_adapter_is_refused),
    TESTS_END,
};
