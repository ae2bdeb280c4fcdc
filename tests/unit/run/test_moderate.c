/* test_moderate.c - moderation of texts and images */
#include "harness/canned.h"
#include "harness/check.h"
#include "harness/play.h"

#include <stdio.h>
#include <string.h>

static size_t put_json(char *out, size_t room, const allm_json *v)
{
    allm_text *text = allm_json_write(v, 0);
    int n = snprintf(out, room, " %s",
                     text ? allm_text_bytes(text, NULL) : "-");
    allm_text_free(text);
    return (size_t)n;
}

/* How it ended, and the judgements. */
static const char *tell(allm_stream *s)
{
    static char out[4096];
    size_t at = 0;
    allm_status status = allm_stream_wait(s);
    const allm_moderations *r = allm_stream_moderations(s);
    const allm_error *error = allm_stream_error(s);
    CHECK_ALWAYS((status == ALLM_OK) == (r != NULL));
    CHECK_ALWAYS((error == NULL) == (r != NULL));
    CHECK_ALWAYS(!allm_stream_embeddings(s));
    if (!r) {
        snprintf(out, sizeof out, "%s %s", allm_status_name(status),
                 error ? error->reason : "");
        return out;
    }
    for (size_t i = 0; i < r->count; i++) {
        const allm_moderation *m = r->results[i];
        at += (size_t)snprintf(out + at, sizeof out - at, "%s",
                               m->flagged ? "BAD" : "fine");
        at += put_json(out + at, sizeof out - at, m->categories);
        at += put_json(out + at, sizeof out - at, m->scores);
        at += put_json(out + at, sizeof out - at, m->input_types);
        at += (size_t)snprintf(out + at, sizeof out - at, " | ");
    }
    CHECK_ALWAYS(r->usage != NULL && r->raw != NULL);
    snprintf(out + at, sizeof out - at, "%s %s", r->id ? r->id : "-",
             r->model ? r->model : "-");
    return out;
}

static const char *const two[] = { "one", "two" };

static const char *call(struct canned *s, const char *model,
                        const allm_moderation_request *r)
{
    static char why[256];
    struct clock_manual clock = { .now_ns = 0 };
    allm_engine *e = canned_engine(s, model, &clock);
    allm_stream *stream =
        allm_moderate(e, r, ALLM(call_opts, .api_key = "sk-secret-42"));
    const char *told = tell(stream);
    snprintf(why, sizeof why, "%s",
             allm_stream_error(stream) ? play_why(stream) : "");
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

#define TWO ALLM(moderation_request, .input_count = 2, .inputs = two)

#define ASKED "POST https://api.openai.com/v1/moderations|" \
              "authorization: Bearer sk-secret-42|"

#define FINE "{\"flagged\":false,\"categories\":{},\"category_scores\":{}}"

/* --------------------------------------------------------------- openai --- */

static void texts_are_judged(void)
{
    CALL("openai:omni-moderation-latest", TWO,
         "BAD {\"hate\":true,\"violence\":false} {\"hate\":0.5,"
         "\"violence\":1.0} {\"hate\":[\"text\"]} | "
         "fine {\"hate\":false} {} {} | modr-1 omni-moderation-2024-09-26",
         { .status = 200,
           .body = "{\"id\":\"modr-1\",\"model\":\"omni-moderation-2024-09-26\""
                   ",\"results\":[{\"flagged\":true,\"categories\":"
                   "{\"hate\":true,\"illicit\":null,\"violence\":false},"
                   "\"category_scores\":{\"hate\":0.5,\"illicit\":null,"
                   "\"violence\":1},\"category_applied_input_types\":"
                   "{\"hate\":[\"text\"]}},"
                   "{\"flagged\":false,\"categories\":{\"hate\":false}}]}" });
    CHECK_TEXT(s.asked, ASKED "{\"model\":\"omni-moderation-latest\","
                              "\"input\":[\"one\",\"two\"]}");
}

static void scores_may_have_any_number_of_digits(void)
{
    CALL("openai:m", TWO,
         "fine {} {\"hate\":0.1} {} | fine {} {\"hate\":0.3} {} | - -",
         { .status = 200,
           .body = "{\"results\":[{\"flagged\":false,\"category_scores\":"
                   "{\"hate\":0.10000000000000001}},{\"flagged\":false,"
                   "\"category_scores\":{\"hate\":0.29999999999999999}}]}" });
}

/* A chat model only selects the provider. */
static void other_models_are_not_sent(void)
{
    CALL("openai:gpt-5", TWO, "fine {} {} {} | fine {} {} {} | - -",
         { .status = 200, .body = "{\"results\":[" FINE "," FINE "]}" });
    CHECK_TEXT(s.asked, ASKED "{\"input\":[\"one\",\"two\"]}");
}

static void a_model_that_was_chosen_is(void)
{
    CALL("openai:gpt-5",
         ALLM(moderation_request, .model = "guard-1", .input_count = 1,
              .inputs = two),
         "fine {} {} {} | - -",
         { .status = 200, .body = "{\"results\":[" FINE "]}" });
    CHECK_TEXT(s.asked, ASKED "{\"model\":\"guard-1\",\"input\":[\"one\"]}");
}

static void no_model_is_no_fault(void)
{
    const struct canned_reply reply = {
        .status = 200, .body = "{\"results\":[" FINE "," FINE "]}" };
    struct canned s = { .reply = &reply, .count = 1 };
    const allm_transport t = canned_transport(&s);
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .adapter = "openai", .transport = &t));
    allm_stream *stream = allm_moderate(e, TWO,
                                        ALLM(call_opts, .api_key = "k"));
    CHECK_TEXT(tell(stream), "fine {} {} {} | fine {} {} {} | - -");
    allm_stream_free(stream);
    allm_engine_free(e);
}

static void with_images_it_is_one_thing(void)
{
    const allm_image *images[] = {
        ALLM(image, .source = ALLM_IMAGE_URL, .data = "https://x/y.png",
             .data_len = 15),
        ALLM(image, .source = ALLM_IMAGE_BINARY, .data = "hi", .data_len = 2,
             .mime_type = "image/png"),
        ALLM(image, .source = ALLM_IMAGE_BASE64, .data = "aG8=", .data_len = 4,
             .mime_type = "image/gif"),
    };
    CALL("openai:omni-moderation-latest",
         ALLM(moderation_request, .input_count = 1, .inputs = two,
              .image_count = 3, .images = images),
         "fine {} {} {} | - -",
         { .status = 200, .body = "{\"results\":[" FINE "]}" });
    CHECK_TEXT(s.asked,
               ASKED "{\"model\":\"omni-moderation-latest\",\"input\":["
                     "{\"type\":\"text\",\"text\":\"one\"},"
                     "{\"type\":\"image_url\",\"image_url\":"
                     "{\"url\":\"https://x/y.png\"}},"
                     "{\"type\":\"image_url\",\"image_url\":"
                     "{\"url\":\"data:image/png;base64,aGk=\"}},"
                     "{\"type\":\"image_url\",\"image_url\":"
                     "{\"url\":\"data:image/gif;base64,aG8=\"}}]}");
}

static void options_are_sent(void)
{
    allm_json *options = play_json("{'user':'u1'}");
    CALL("openai:m",
         ALLM(moderation_request, .input_count = 1, .inputs = two,
              .options = options),
         "fine {} {} {} | - -",
         { .status = 200, .body = "{\"results\":[" FINE "]}" });
    CHECK_TEXT(s.asked, ASKED "{\"input\":[\"one\"],\"user\":\"u1\"}");
    allm_json_free(options);
}

/* --------------------------------------------------------------- errors --- */

static void tries_again(void)
{
    CALL("openai:m", TWO, "fine {} {} {} | fine {} {} {} | - -",
         { .status = 429, .body = "{\"error\":{\"message\":\"slow\"}}" },
         { .status = 200, .body = "", .ending = SERVER_BREAKS, .len = 0 },
         { .status = 200, .body = "{\"results\":[" FINE "," FINE "]}" });
    CHECK_INT(s.opened, 3);
}

static void a_refusal_tells_why(void)
{
    CALL("openai:m", TWO, "adapter authentication_failed",
         { .status = 401,
           .body = "{\"error\":{\"message\":\"bad key sk-secret-42\"}}" });
    CHECK(strstr(s.error_id, "sk-secret-42") == NULL);
}

static void odd_answers_fail(void)
{
    static const char *const bodies[] = {
        "[]",
        "{}",
        "{\"results\":{}}",
        "{\"results\":[]}",
        "{\"results\":[" FINE "]}",
        "{\"results\":[" FINE "," FINE "," FINE "]}",
        "{\"results\":[" FINE ",{}]}",
        "{\"results\":[" FINE ",7]}",
        "{\"results\":[" FINE ",{\"flagged\":\"yes\"}]}",
        "{\"results\":[" FINE ",{\"flagged\":null}]}",
        "{\"results\":[" FINE ",{\"flagged\":true,\"categories\":[]}]}",
        "{\"results\":[" FINE ",{\"flagged\":true,\"categories\":"
        "{\"hate\":1}}]}",
        "{\"results\":[" FINE ",{\"flagged\":true,\"category_scores\":"
        "{\"hate\":\"high\"}}]}",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        const struct canned_reply reply = { .status = 200, .body = bodies[i] };
        struct canned s = { .reply = &reply, .count = 1 };
        check_row(bodies[i]);
        CHECK_TEXT(call(&s, "openai:m", TWO), "adapter malformed_response");
    }
    check_row(NULL);
}

static void a_cut_answer_fails(void)
{
    CALL("openai:m", TWO, "stream truncated",
         { .status = 200, .body = "{\"resu", .ending = SERVER_BREAKS });
}

static void some_cannot(void)
{
    struct canned s = { .count = 0 };
    CHECK_TEXT(call(&s, "anthropic:m", TWO), "engine no_moderation_adapter");
    CHECK_TEXT(call(&s, NULL, TWO), "engine no_moderation_adapter");
}

static const char *const *many(void)
{
    static const char *inputs[1001];
    for (size_t i = 0; i < 1001; i++)
        inputs[i] = "x";
    return inputs;
}

static void requests_are_checked(void)
{
    static const char *const odd[] = { "a", "" };
    const allm_image *images[] = {
        ALLM(image, .source = ALLM_IMAGE_FILE, .data = "/no/such/file.png",
             .data_len = 17),
        ALLM(image, .source = ALLM_IMAGE_BASE64, .data = "!", .data_len = 1,
             .mime_type = "image/png"),
        ALLM(image, .source = ALLM_IMAGE_BINARY, .data = "hi", .data_len = 2),
        NULL,
    };
    const char *invalid = "validation invalid_moderation_request";
    struct canned s = { .count = 0 };
    CHECK_TEXT(call(&s, "openai:m", ALLM(moderation_request, .model = "m")),
               invalid);
    CHECK_TEXT(call(&s, "openai:m",
                    ALLM(moderation_request, .input_count = 2, .inputs = odd)),
               invalid);
    CHECK_TEXT(call(&s, "openai:m",
                    ALLM(moderation_request, .input_count = 1001,
                         .inputs = many())),
               invalid);
    CHECK_TEXT(call(&s, "openai:m", ALLM(moderation_request, .image_count = 1)),
               invalid);
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        CHECK_TEXT(call(&s, "openai:m",
                        ALLM(moderation_request, .image_count = 1,
                             .images = &images[i])),
                   invalid);
    CHECK_TEXT(call(&s, "openai:m", &(allm_moderation_request){ .size = 1 }),
               "misuse invalid_struct");
}

static void null_is_no_call(void)
{
    CHECK_ALWAYS(!allm_stream_moderations(NULL));
}

/* ----------------------------------------------------------------- fake --- */

static void the_fake_knows_words(void)
{
    static const char *const texts[] = { "a nice day", "violence and hate" };
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "fake:m"));
    allm_stream *s = allm_moderate(
        e, ALLM(moderation_request, .input_count = 2, .inputs = texts), NULL);
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    const allm_moderations *r = allm_stream_moderations(s);
    if (CHECK(r && r->count == 2)) {
        CHECK(!r->results[0]->flagged && r->results[1]->flagged);
        CHECK(allm_json_true(allm_json_get(r->results[1]->categories, "hate")));
        CHECK(!allm_json_true(
            allm_json_get(r->results[1]->categories, "sexual")));
    }
    allm_stream_free(s);
    allm_engine_free(e);
}

static void the_fake_sees_no_images(void)
{
    const allm_image *images[] = { ALLM(image, .source = ALLM_IMAGE_URL,
                                        .data = "https://x", .data_len = 9) };
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "fake:m"));
    allm_stream *s = allm_moderate(
        e, ALLM(moderation_request, .image_count = 1, .images = images), NULL);
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    const allm_moderations *r = allm_stream_moderations(s);
    if (CHECK(r && r->count == 1))
        CHECK(!r->results[0]->flagged);
    allm_stream_free(s);
    allm_engine_free(e);
}

static void a_script_judges(void)
{
    static const char *const want[] = {
        "BAD {\"x\":true} {} {} | - m", "adapter rate_limited",
        "misuse invalid_script", "adapter no_scripted_response",
    };
    allm_json *opts = play_json(
        "{'moderation_script':[['ok',[{'flagged':true,'categories':{'x':true}}"
        "]],['error','rate_limited',{}],['text','x']]}");
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .adapter_opts = opts));
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        allm_stream *s = allm_moderate(e,
                                       ALLM(moderation_request, .model = "m",
                                            .input_count = 1, .inputs = two),
                                       NULL);
        CHECK_TEXT(tell(s), want[i]);
        allm_stream_free(s);
    }
    allm_engine_free(e);
    allm_json_free(opts);
}

TESTS = {
    TEST(texts_are_judged),
    TEST(scores_may_have_any_number_of_digits),
    TEST(other_models_are_not_sent),
    TEST(a_model_that_was_chosen_is),
    TEST(no_model_is_no_fault),
    TEST(with_images_it_is_one_thing),
    TEST(options_are_sent),
    TEST(tries_again),
    TEST(a_refusal_tells_why),
    TEST(odd_answers_fail),
    TEST(a_cut_answer_fails),
    TEST(some_cannot),
    TEST(requests_are_checked),
    TEST(null_is_no_call),
    TEST(the_fake_knows_words),
    TEST(the_fake_sees_no_images),
    TEST(a_script_judges),
    TESTS_END,
};
