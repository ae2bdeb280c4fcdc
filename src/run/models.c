/* models.c - allm_models(): list the models of a server */
#include "base/status.h"
#include "run/task.h"
#include "json/json.h"

struct models {
    struct task task;
    const allm_json *list;      /* in the home */
};

static bool models_next_request(struct task *t, struct call_spec *out)
{
    out->no_model = true;
    return !t->done_requests;
}

static const allm_error *models_read_result(struct task *t,
                                            const allm_json *result)
{
    struct models *m = (struct models *)t;
    m->list = json_copy(home_arena(t->home), result);
    return m->list ? NULL : status_nomem();
}

static const void *models_finish(struct task *t)
{
    return ((struct models *)t)->list;
}

static const struct task_kind models_kind = {
    .kind = TASKS_MODELS,
    .name = "models",
    .size = sizeof(struct models),
    .next_request = models_next_request,
    .read_result = models_read_result,
    .finish = models_finish,
};

allm_stream *allm_models(const allm_engine *e, const allm_call_opts *opts)
{
    return task_stream(e, &models_kind, NULL, opts);
}
