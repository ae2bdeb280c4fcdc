/* batch_models.c - the models of a batch, and of "allm mcp" */
#include "cli/batch_models.h"

#include "cli/exit.h"
#include "cli/print.h"
#include "cli/settings.h"
#include "cli/toolbox.h"
#include "term/mem.h"

#include <stdio.h>
#include <string.h>

enum { MOST_MODELS = 1024 };

/* Failures are repeated by the run, not by the engine: the row goes to the back
 * of the queue. */
static void make_engine(struct batch_models *m, struct batch_model *model)
{
    allm_json *once = allm_json_parse("false", ALLM_NUL_ENDED, NULL);
    allm_engine_opts opts = { .size = sizeof opts,
                              .model = model->target.model,
                              .keys = model->target.keys,
                              .catalog = model->target.catalog,
                              .net = &model->target.net,
                              .retry = m->alone ? NULL : once,
                              .pacer = m->pacer };
    taps_apply(&m->taps, &opts);
    if (!m->alone)
        toolbox_apply(&opts);
    model->engine = allm_engine_new(&opts);
    allm_json_free(once);
}

static uint32_t limit_of(const allm_json *provider, const char *key)
{
    int64_t n = 0;
    bool set = allm_json_int64(allm_json_get(provider, key), &n);
    return set && n > 0 && n < UINT32_MAX ? (uint32_t)n : 0;
}

/* providers.NAME.rpm and tpm.  The pacer knows the provider that it is like. */
static void set_limits(struct batch_models *m, const struct target *t)
{
    char name[256], like[256];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(t->name, ":"), t->name);
    snprintf(like, sizeof like, "%.*s", (int)strcspn(t->model, ":"), t->model);
    const allm_json *own = allm_json_get(settings_value("providers"), name);
    uint32_t rpm = limit_of(own, "rpm"), tpm = limit_of(own, "tpm");
    if (rpm || tpm)
        allm_pacer_limit(m->pacer, like, rpm, tpm);
}

static void resolve_model(struct batch_models *m, struct batch_model *model)
{
    const struct ask *a = m->ask;
    const struct wish wish = {
        .model = model->word ? model->word : a->model,
        .task = model->word ? NULL : a->task,
        .system = m->system,
        .options = m->options,
        .template_model = m->template ? template_use_text(m->template, "model")
                                      : NULL,
        .template_options =
            m->template ? template_use_value(m->template, "options") : NULL,
        .no_text = m->no_text,
        .key = a->key,
        .base_url = a->base_url,
        .proxy = a->proxy,
        .cacert = a->cacert,
        .headers = &a->headers,
        .any_key = a->any_key || a->taps.replay,
    };
    if (model->word)
        print_divert(model->why, sizeof model->why);
    model->code = target_resolve(&model->target, &wish);
    print_divert(NULL, 0);
    if (model->code != END_DONE)
        return;
    set_limits(m, &model->target);
    make_engine(m, model);
}

/* word NULL: the model of the flags. */
static bool is_named(const struct batch_model *model, const char *word)
{
    return word && model->word ? !strcmp(word, model->word)
                               : !word && !model->word;
}

const struct batch_model *batch_models_find(struct batch_models *m,
                                            const char *word)
{
    static const struct batch_model too_many = {
        .code = END_REQUEST, .why = "the input names too many models"
    };
    struct batch_model *model = m->first;
    while (model && !is_named(model, word))
        model = model->next;
    if (model)
        return model;
    if (m->count++ == MOST_MODELS)
        return &too_many;
    model = term_alloc(sizeof *model);
    model->word = word ? term_copy(word, strlen(word)) : NULL;
    resolve_model(m, model);
    model->next = m->first;
    m->first = model;
    return model;
}
