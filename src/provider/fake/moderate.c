/*
 * moderate.c - judgements by words or by a script, for tests
 *
 * Without a script a text is in every category whose name is in it: "no hate
 * here" is hate.  Images are never in any.  With one, in adapter_opts:
 *
 *      "moderation_script": [["ok", [{"flagged": true, ...}]],
 *                            ["error", "rate_limited", {}]]
 */
#include "provider/fake/moderate.h"

#include "provider/document.h"
#include "provider/fake/list.h"
#include "json/build.h"

static const char *const names[] = { "harassment", "hate",   "illicit",
                                     "self-harm",  "sexual", "violence" };

enum { NAMES = sizeof names / sizeof *names };

struct judge {
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
    struct judge *j = state;
    j->scripted = has_script(call);
    return j->scripted
               ? fake_list_open(&j->script, call, "moderation_script", sink)
               : ALLM_OK;
}

/* Is the word in one of the texts? */
static bool is_in(const char *const *texts, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(texts[i], word))
            return true;
    return false;
}

static void judge_one(struct build *b, const char *const *texts, size_t count)
{
    bool any = false;
    build_object(b);
    build_key(b, SLICE("categories"));
    build_object(b);
    for (size_t i = 0; i < NAMES; i++) {
        bool in = is_in(texts, count, names[i]);
        any = any || in;
        build_key(b, slice_of(names[i]));
        build_bool(b, in);
    }
    build_end(b);
    build_key(b, SLICE("category_scores"));
    build_object(b);
    for (size_t i = 0; i < NAMES; i++) {
        build_key(b, slice_of(names[i]));
        build_number(b, is_in(texts, count, names[i]) ? 0.99 : 0.01);
    }
    build_end(b);
    build_key(b, SLICE("flagged"));
    build_bool(b, any);
    build_end(b);
}

static void judge_all(struct build *b, const allm_moderation_request *r)
{
    build_array(b);
    if (r->image_count)
        judge_one(b, r->inputs, r->input_count);
    for (size_t i = 0; !r->image_count && i < r->input_count; i++)
        judge_one(b, r->inputs + i, 1);
    build_end(b);
}

static allm_status moderation_next(void *state, const allm_call *call,
                                   allm_sink *sink, int64_t *again_ns)
{
    struct judge *j = state;
    struct build b;
    *again_ns = INT64_MAX;
    if (!answer_open(&j->answer, call, sink))
        return ALLM_OK;
    build_init(&b, sink->arena);
    build_object(&b);
    build_key(&b, SLICE("results"));
    if (j->scripted)
        build_value(&b, j->script.value);
    else
        judge_all(&b, call->moderation);
    build_end(&b);
    const allm_json *document = build_done(&b);
    if (!document)
        return sink->status = ALLM_ERR_NOMEM;
    document_result(&j->answer, document);
    if (call->model)
        answer_model(&j->answer, slice_of(call->model));
    allm_status status = answer_close(&j->answer);
    return status < 0 ? status : ALLM_EVENT;
}

static void moderation_close(void *state, const allm_call *call)
{
    struct judge *j = state;
    (void)call;
    if (j->scripted)
        fake_list_close(&j->script);
}

const allm_adapter fake_moderate_adapter = {
    .size = sizeof(allm_adapter),
    .name = "fake_moderate",
    .state_size = sizeof(struct judge),
    .open = moderation_open,
    .next = moderation_next,
    .close = moderation_close,
};
