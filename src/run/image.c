/*
 * image.c - making images: the verb allm_image_generate
 *
 *      request --checked, files read, base64 decoded--> dialect --> images
 *
 * A result is a list of images in their plain form.
 */
#include "data/image.h"
#include "base/status.h"
#include "data/decode.h"
#include "data/image_request.h"
#include "data/validate.h"
#include "run/image_inputs.h"
#include "run/task.h"
#include "json/json.h"

struct image {
    struct task task;
    allm_image_request asked;       /* a copy, its inputs bytes */
    bool sent;
    size_t count;
    const allm_image **images;
    allm_image_usage usage;
    allm_image_response result;
};

/* ------------------------------------------------------------------- inputs --- */

static const allm_error *load(struct image *m, const struct path *where,
                              const allm_image **slot)
{
    const char *reason = "invalid_image_request";
    const allm_error *error = image_inputs_load(&m->task, reason, where, slot);
    if (!error && (*slot)->source != ALLM_IMAGE_BINARY)
        error = image_inputs_refuse(&m->task, reason, where, "remote_source");
    return error;
}

static const allm_error *load_all(struct image *m)
{
    allm_image_request *r = &m->asked;
    const struct path inputs = PATH_KEY(NULL, "input_images");
    const struct path mask = PATH_KEY(NULL, "mask");
    const allm_error *error = NULL;
    const allm_image **mine = arena_zero(
        home_arena(m->task.home), (r->input_image_count + 1) * sizeof *mine);
    if (!mine)
        return status_nomem();
    for (size_t i = 0; !error && i < r->input_image_count; i++) {
        const struct path where = PATH_INDEX(&inputs, i);
        mine[i] = r->input_images[i];
        error = load(m, &where, &mine[i]);
    }
    r->input_images = mine;
    if (!error && r->mask)
        error = load(m, &mask, &r->mask);
    return error;
}

/* ------------------------------------------------------------------ machine --- */

static const allm_error *image_begin(struct task *t, const void *given)
{
    struct image *m = (struct image *)t;
    const allm_error *error = NULL;
    const allm_image_request *mine = shape_copy(t->home, &image_request_shape,
                                                given, &error);
    if (!mine)
        return error ? error : status_nomem();
    m->asked = *mine;
    t->given_model = m->asked.model;
    error = validate_image_request(home_arena(t->home), &m->asked);
    return error ? error : load_all(m);
}

static bool image_ask(struct task *t, struct plan_task *out)
{
    struct image *m = (struct image *)t;
    bool first = !m->sent;
    m->sent = true;
    out->image = &m->asked;
    out->own = m->asked.options;
    return first;
}

static const allm_error *take_one(struct image *m, size_t i, const allm_json *v)
{
    struct decoder d;
    struct arena *a = home_arena(m->task.home);
    decode_init(&d, m->task.home, a);
    m->images[i] = decode_value(&d, &image_shape, v);
    if (m->images[i] && m->images[i]->source != ALLM_IMAGE_NONE)
        return NULL;
    if (a->broken || (d.error && d.error->kind == ALLM_ERR_NOMEM))
        return status_nomem();
    return task_error(&m->task, ALLM_ERR_ADAPTER, "malformed_response",
                      "image %zu of the answer cannot be read: %s", i,
                      d.error ? d.error->message : "it has no source");
}

static const allm_error *image_take(struct task *t, const allm_json *result)
{
    struct image *m = (struct image *)t;
    const allm_error *error = NULL;
    size_t n = allm_json_count(result);
    m->images = arena_zero(home_arena(t->home), (n + 1) * sizeof *m->images);
    if (!m->images)
        return status_nomem();
    for (const allm_json *v = NULL; !error && (v = allm_json_next(result, v));)
        error = take_one(m, m->count++, v);
    return error;
}

static const void *image_close(struct task *t)
{
    struct image *m = (struct image *)t;
    m->usage = (allm_image_usage){
        .size = sizeof m->usage,
        .images = { (int64_t)m->count, true },
        .quality = m->asked.quality,
        .input_tokens = t->usage.input_tokens,
        .output_tokens = t->usage.output_tokens,
        .input_cost = t->usage.input_cost,
        .output_cost = t->usage.output_cost,
        .total_cost = t->usage.total_cost,
    };
    m->result = (allm_image_response){
        .size = sizeof m->result,
        .id = t->id,
        .request_id = t->request_id,
        .model = t->model,
        .image_count = m->count,
        .images = m->images,
        .usage = &m->usage,
        .metadata = json_empty_object(),
    };
    return &m->result;
}

static const struct task_kind image_kind = {
    .kind = TASKS_IMAGE,
    .name = "image",
    .size = sizeof(struct image),
    .begin = image_begin,
    .ask = image_ask,
    .take = image_take,
    .close = image_close,
};

allm_stream *allm_image_generate(const allm_engine *e,
                                 const allm_image_request *r,
                                 const allm_call_opts *opts)
{
    return task_stream(e, &image_kind, r, opts);
}
