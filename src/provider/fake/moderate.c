/*
 * moderate.c - moderation results from words or from a script, for tests
 *
 * Without a script, a text is in each category whose name it contains: "no hate
 * here" is hate.  Images are in no category.  A script is in adapter_opts:
 *
 *      "moderation_script": [["ok", [{"flagged": true, ...}]],
 *                            ["error", "rate_limited", {}]]
 */
#include "provider/dialects.h"

#include "provider/document.h"
#include "provider/fake/list.h"
#include "json/build.h"

static const char *const categories[] = { "harassment", "hate",   "illicit",
                                     "self-harm",  "sexual", "violence" };

enum { CATEGORIES = sizeof categories / sizeof *categories };

struct moderator {
    struct answer answer;
    struct fake_list script;
    bool scripted;
};

static bool has_script(const allm_call *call)
{
    return allm_json_get(call->adapter_opts, "moderation_script") != NULL;
}

static allm_status moderation_open(void *state, const allm_call *call,
                                   allm_sink *sink)
{
    struct moderator *j = state;
    j->scripted = has_script(call);
    return j->scripted
               ? fake_list_open(&j->script, call, "moderation_script", sink)
               : ALLM_OK;
}

/* Does one of the texts contain the word? */
static bool contains_word(const char *const *texts, size_t count,
                          const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(texts[i], word))
            return true;
    return false;
}

static void write_result(struct build *b, const char *const *texts,
                         size_t count)
{
    bool any = false;
    build_object(b);
    build_object_at(b, "categories");
    for (size_t i = 0; i < CATEGORIES; i++) {
        bool found = contains_word(texts, count, categories[i]);
        any = any || found;
        build_bool_at(b, categories[i], found);
    }
    build_end(b);
    build_object_at(b, "category_scores");
    for (size_t i = 0; i < CATEGORIES; i++)
        build_number_at(b, categories[i],
                        contains_word(texts, count, categories[i]) ? 0.99
                                                                   : 0.01);
    build_end(b);
    build_bool_at(b, "flagged", any);
    build_end(b);
}

static void write_results(struct build *b, const allm_moderation_request *r)
{
    build_array(b);
    if (r->image_count)
        write_result(b, r->inputs, r->input_count);
    for (size_t i = 0; !r->image_count && i < r->input_count; i++)
        write_result(b, r->inputs + i, 1);
    build_end(b);
}

static allm_status moderation_next(void *state, const allm_call *call,
                                   allm_sink *sink, int64_t *again_ns)
{
    struct moderator *j = state;
    *again_ns = INT64_MAX;
    if (!answer_open(&j->answer, call, sink))
        return ALLM_OK;
    struct build b = build_object_in(sink->arena);
    build_key(&b, SLICE("results"));
    if (j->scripted)
        build_value(&b, j->script.value);
    else
        write_results(&b, call->moderation);
    const allm_json *document = build_finish(&b);
    if (!document)
        return sink->status = ALLM_ERR_NOMEM;
    return document_answer(&j->answer, document);
}

static void moderation_close(void *state, const allm_call *call)
{
    struct moderator *j = state;
    (void)call;
    if (j->scripted)
        fake_list_close(&j->script);
}

const allm_adapter fake_moderate_adapter = {
    .size = sizeof(allm_adapter),
    .name = "fake_moderate",
    .state_size = sizeof(struct moderator),
    .open = moderation_open,
    .next = moderation_next,
    .close = moderation_close,
};
