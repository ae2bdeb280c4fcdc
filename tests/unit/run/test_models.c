/* test_models.c - the models that a provider offers */
#include "harness/canned.h"
#include "harness/check.h"
#include "harness/play.h"

#include <stdio.h>
#include <string.h>

/* How it ended: the ids, or why there are none. */
static const char *tell(allm_stream *s)
{
    static char out[1024];
    size_t at = 0;
    allm_status status = allm_stream_wait(s);
    const allm_json *list = allm_stream_models(s);
    const allm_error *error = allm_stream_error(s);
    CHECK_ALWAYS((status == ALLM_OK) == (list != NULL));
    CHECK_ALWAYS(!allm_stream_embeddings(s));
    if (!list) {
        snprintf(out, sizeof out, "%s %s", allm_status_name(status),
                 error && error->reason ? error->reason : "");
        return out;
    }
    *out = 0;
    for (const allm_json *m = NULL; (m = allm_json_next(list, m));) {
        const char *id = allm_json_text(allm_json_get(m, "id"), NULL);
        CHECK_ALWAYS(allm_json_get(m, "raw") != NULL);
        at += (size_t)snprintf(out + at, sizeof out - at, "%s|", id);
    }
    return out;
}

static const char *call(struct canned *s, const char *model)
{
    struct clock_manual clock = { .now_ns = 0 };
    allm_engine *e = canned_engine(s, model, &clock);
    allm_stream *stream =
        allm_models(e, ALLM(call_opts, .api_key = "sk-secret-42"));
    const char *told = tell(stream);
    allm_stream_free(stream);
    allm_engine_free(e);
    return told;
}

static const struct {
    const char *why, *model, *body, *told, *asked;
} rows[] = {
    { "openai", "openai:m", "{\"data\":[{\"id\":\"a\"},{\"id\":\"b\"}]}",
      "a|b|",
      "GET https://api.openai.com/v1/models|"
      "authorization: Bearer sk-secret-42|" },
    { "by /responses", "xai_responses:m", "{\"data\":[{\"id\":\"a\"}]}", "a|",
      "GET https://api.x.ai/v1/models|authorization: Bearer sk-secret-42|" },
    { "anthropic", "anthropic:m", "{\"data\":[{\"id\":\"claude\"}]}", "claude|",
      "GET https://api.anthropic.com/v1/models?limit=1000|"
      "x-api-key: sk-secret-42|" },
    { "a folder of anthropic's dialect", "deepseek_anthropic:m",
      "{\"data\":[]}", "",
      "GET https://api.deepseek.com/anthropic/v1/models?limit=1000|"
      "x-api-key: sk-secret-42|" },
    { "gemini", "gemini:m", "{\"models\":[{\"name\":\"models/gemini-3\"}]}",
      "gemini-3|",
      "GET https://generativelanguage.googleapis.com/v1beta/models"
      "?pageSize=1000|x-goog-api-key: sk-secret-42|" },
    { "ollama", "ollama:m", "{\"models\":[{\"name\":\"llama3.2:1b\"}]}",
      "llama3.2:1b|",
      "GET http://localhost:11434/api/tags|"
      "authorization: Bearer sk-secret-42|" },
    { "llama.cpp says it twice", "llamacpp:m",
      "{\"models\":[{\"name\":\"x\"}],\"data\":[{\"id\":\"a.gguf\"}]}",
      "a.gguf|",
      "GET http://localhost:8080/v1/models|"
      "authorization: Bearer sk-secret-42|" },
    { "no list", "openai:m", "{\"data\":{}}", "adapter malformed_response",
      NULL },
    { "no name", "openai:m", "{\"data\":[{\"x\":1}]}",
      "adapter malformed_response", NULL },
    { "no object in it", "openai:m", "{\"data\":[1]}",
      "adapter malformed_response", NULL },
    { "no JSON", "openai:m", "<html>", "adapter malformed_response", NULL },
    { "an error in it", "openai:m", "{\"error\":{\"message\":\"no\"}}",
      "adapter provider_unavailable", NULL },
    { "nobody to ask", "fake:m", "", "engine no_models_adapter", NULL },
};

static void models_are_listed_in_every_dialect(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct canned_reply reply = { .status = 200,
                                            .body = rows[i].body };
        struct canned s = { .reply = &reply, .count = 1 };
        check_row(rows[i].why);
        CHECK_TEXT(call(&s, rows[i].model), rows[i].told);
        if (rows[i].asked)
            CHECK_TEXT(s.asked, rows[i].asked);
    }
}

static void a_refusal_is_explained(void)
{
    const struct canned_reply reply = {
        .status = 401, .body = "{\"error\":{\"message\":\"who are you\"}}"
    };
    struct canned s = { .reply = &reply, .count = 1 };
    CHECK_TEXT(call(&s, "openai:m"), "adapter authentication_failed");
}

TESTS = {
    TEST(models_are_listed_in_every_dialect),
    TEST(a_refusal_is_explained),
    TESTS_END
};
