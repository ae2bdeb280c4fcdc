/*
 * moderate.c - allm_moderate(): classify texts and images as harmful or not
 *
 *      texts, images --checked, files read--> dialect --> judgements
 *
 * A result is a document whose "results" is a list with one object per input,
 * or with a single one if there are images.
 */
#include "base/caller_struct.h"
#include "base/status.h"
#include "data/error.h"
#include "data/image.h"
#include "provider/image_source.h"
#include "run/image_inputs.h"
#include "json/json.h"

enum { MAX_INPUTS = 1000 };

static const char reason[] = "invalid_moderation_request";

struct moderate {
    struct task task;
    allm_moderation_request request;    /* a copy, in the home */
    const allm_moderation **results;
    size_t count;
    const allm_json *raw;
    allm_moderations result;
};

static const allm_error *check_moderation_request(struct moderate *m)
{
    const allm_moderation_request *r = &m->request;
    struct arena *a = home_arena(m->task.home);
    const struct path inputs = PATH_KEY(NULL, "inputs");
    const struct path images = PATH_KEY(NULL, "images");
    if ((!r->input_count && !r->image_count) || (r->input_count && !r->inputs))
        return error_validation_at(a, reason, &inputs, "empty");
    if (r->input_count > MAX_INPUTS)
        return error_validation_at(a, reason, &inputs, "too_many");
    for (size_t i = 0; i < r->input_count; i++)
        if (!r->inputs[i] || !*r->inputs[i])
            return error_validation_at(a, reason,
                                       &(struct path)PATH_INDEX(&inputs, i),
                                       "empty");
    if (r->image_count && !r->images)
        return error_validation_at(a, reason, &images, "empty");
    return NULL;
}

static const allm_error *copy_image(struct moderate *m, size_t i,
                                    const allm_image *caller_image,
                                    const allm_image **out)
{
    const allm_error *error = NULL;
    struct arena *a = home_arena(m->task.home);
    const struct path images = PATH_KEY(NULL, "images");
    const struct path where = PATH_INDEX(&images, i);
    *out = caller_image
               ? shape_copy(m->task.home, &image_shape, caller_image, &error)
               : NULL;
    if (error)
        return error;
    if (!*out && caller_image)
        return status_nomem();
    if (!*out || (*out)->source == ALLM_IMAGE_NONE)
        return error_validation_at(a, reason, &where, "missing_source");
    error = image_inputs_load(&m->task, reason, &where, out);
    if (!error && (*out)->source != ALLM_IMAGE_URL && !image_source_type(*out))
        error = error_validation_at(a, reason, &where, "missing_mime_type");
    return error;
}

/* Copy the request, since the caller's may be gone when it is retried. */
static const allm_error *copy_moderation_request(struct moderate *m)
{
    struct arena *a = home_arena(m->task.home);
    allm_moderation_request *r = &m->request;
    const allm_error *error = NULL;
    const char **texts = arena_zero(a, (r->input_count + 1) * sizeof *texts);
    const allm_image **images =
        arena_zero(a, (r->image_count + 1) * sizeof *images);
    if (!texts || !images)
        return status_nomem();
    for (size_t i = 0; i < r->input_count; i++)
        texts[i] = arena_text(a, r->inputs[i]);
    for (size_t i = 0; !error && i < r->image_count; i++)
        error = copy_image(m, i, r->images[i], &images[i]);
    r->inputs = texts;
    r->images = images;
    r->options = json_copy(a, r->options);
    m->task.request_model = r->model = arena_text(a, r->model);
    return error ? error : a->broken ? status_nomem() : NULL;
}

static const allm_error *moderate_begin(struct task *t,
                                        const void *caller_request)
{
    struct moderate *m = (struct moderate *)t;
    if (!caller_struct_take(&m->request, sizeof m->request, caller_request))
        return task_error(t, ALLM_ERR_MISUSE, "invalid_struct",
                          "the size of the request is wrong; fill it with "
                          "ALLM(moderation_request, ...)");
    const allm_error *error = check_moderation_request(m);
    return error ? error : copy_moderation_request(m);
}

/* The engine's model is usually a chat model.  Such a model only selects the
 * provider, and the provider chooses the model. */
static bool moderate_next_request(struct task *t, struct call_spec *out)
{
    struct moderate *m = (struct moderate *)t;
    bool chosen = t->options.model || m->request.model;
    out->moderation = &m->request;
    out->request_options = m->request.options;
    out->no_model = !chosen && out->model && !strstr(out->model, "moderation");
    return !t->done_requests;
}

/* Copy an object without its nulls.  The values must be numbers if `numbers` is
 * set, else booleans.  NULL: *malformed is set, or out of memory. */
static const allm_json *copy_members(struct arena *a, const allm_json *from,
                                     bool numbers, bool *malformed)
{
    allm_json_type type = allm_json_type_of(from);
    if (!from || type == ALLM_JSON_NULL)
        return json_empty_object();
    *malformed = type != ALLM_JSON_OBJECT;
    struct build b = build_object_in(a);
    for (const allm_json *k = NULL;
         !*malformed && (k = allm_json_next(from, k));) {
        const allm_json *v = allm_json_value(k);
        double x = 0;
        type = allm_json_type_of(v);
        if (type == ALLM_JSON_NULL)
            continue;
        *malformed = numbers ? !json_finite(v, &x) : type != ALLM_JSON_BOOL;
        build_key_copy(&b, json_slice(k));
        if (numbers)
            build_number(&b, x);
        else
            build_bool(&b, allm_json_true(v));
    }
    return *malformed ? NULL : build_finish(&b);
}

static const allm_error *judgement_error(struct moderate *m, size_t i,
                                         const char *what)
{
    return task_error(&m->task, ALLM_ERR_ADAPTER, "malformed_response",
                      "judgement %zu of the answer %s", i, what);
}

static const allm_error *read_judgement(struct moderate *m, size_t i,
                                        const allm_json *from)
{
    bool malformed = false;
    struct arena *a = home_arena(m->task.home);
    const allm_json *flagged = allm_json_get(from, "flagged");
    const allm_json *types = allm_json_get(from,
                                           "category_applied_input_types");
    if (allm_json_type_of(flagged) != ALLM_JSON_BOOL)
        return judgement_error(m, i, "does not have the boolean \"flagged\"");
    allm_moderation *one = arena_zero(a, sizeof *one);
    if (!one)
        return status_nomem();
    one->size = sizeof *one;
    one->flagged = allm_json_true(flagged);
    one->categories = copy_members(a, allm_json_get(from, "categories"), false,
                                   &malformed);
    if (!malformed)
        one->scores = copy_members(a, allm_json_get(from, "category_scores"),
                                   true, &malformed);
    one->input_types = allm_json_type_of(types) == ALLM_JSON_OBJECT
                           ? json_copy(a, types)
                           : json_empty_object();
    m->results[i] = one;
    if (malformed)
        return judgement_error(
            m, i,
            "has a category that is not a boolean, or a score that is not a "
            "number");
    return one->categories && one->scores && one->input_types ? NULL
                                                              : status_nomem();
}

static const allm_error *moderate_read_result(struct task *t,
                                              const allm_json *result)
{
    struct moderate *m = (struct moderate *)t;
    struct arena *a = home_arena(t->home);
    const allm_json *list = allm_json_get(result, "results");
    size_t want = m->request.image_count ? 1 : m->request.input_count;
    const allm_error *error = NULL;
    size_t i = 0;
    m->count = allm_json_count(list);
    if (m->count != want)
        return task_error(t, ALLM_ERR_ADAPTER, "malformed_response",
                          "%zu judgements were expected, but %zu came back",
                          want, m->count);
    m->results = arena_zero(a, (m->count + 1) * sizeof *m->results);
    m->raw = json_copy(a, result);
    if (!m->results || !m->raw)
        return status_nomem();
    for (const allm_json *v = NULL; !error && (v = allm_json_next(list, v));)
        error = read_judgement(m, i++, v);
    return error;
}

static const void *moderate_finish(struct task *t)
{
    struct moderate *m = (struct moderate *)t;
    m->result = (allm_moderations){ .size = sizeof m->result,
                                    .count = m->count,
                                    .results = m->results,
                                    .id = t->id,
                                    .request_id = t->request_id,
                                    .model = t->model,
                                    .usage = &t->usage,
                                    .raw = m->raw };
    return &m->result;
}

static const struct task_kind moderate_kind = {
    .kind = TASKS_MODERATE,
    .name = "moderate",
    .invalid = reason,
    .size = sizeof(struct moderate),
    .begin = moderate_begin,
    .next_request = moderate_next_request,
    .read_result = moderate_read_result,
    .finish = moderate_finish,
};

allm_stream *allm_moderate(const allm_engine *e,
                           const allm_moderation_request *r,
                           const allm_call_opts *opts)
{
    return task_stream(e, &moderate_kind, r, opts);
}
