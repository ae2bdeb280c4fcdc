/*
 * image.c - allm_image_generate(): make images
 *
 *      request --checked, files read, base64 decoded, URLs fetched-->
 *              dialect --> images
 *
 * A URL is fetched without a key, over https (or http from this machine),
 * within 30 s, and may have at most 25 MB, which must be an image.
 *
 * A result is a list of images in their plain form.
 */
#include "data/image.h"
#include "base/status.h"
#include "data/decode.h"
#include "data/error.h"
#include "data/validate.h"
#include "provider/fetch.h"
#include "provider/image_source.h"
#include "run/image_bytes.h"
#include "run/image_inputs.h"
#include "run/task.h"
#include "json/json.h"

struct image {
    struct task task;
    allm_image_request request; /* a copy; its input images are bytes */
    const allm_image **inputs;  /* its images, then the mask */
    bool must_fetch;            /* some inputs are URLs to be fetched */
    size_t input_index;         /* of the input that is fetched */
    const char *address;        /* its URL after redirects; NULL: not yet set */
    unsigned hops;              /* redirects followed */
    size_t count;
    const allm_image **images;
    allm_image_usage usage;
    allm_image_response result;
};

/* -------------------------------------------------------- input images --- */

/* Load the bytes of an image, or check that its URL may be fetched. */
static const allm_error *load_input(struct image *m, const struct path *where,
                                    const allm_image **slot)
{
    const char *reason = "invalid_image_request";
    struct arena *a = home_arena(m->task.home);
    const allm_error *error = image_inputs_load(&m->task, reason, where, slot);
    if (error || (*slot)->source != ALLM_IMAGE_URL)
        return error;
    const char *fault = fetch_fault((*slot)->data);
    m->must_fetch = m->must_fetch || !fault;
    return fault ? error_validation_at(a, reason, where, fault) : NULL;
}

static const allm_error *load_inputs(struct image *m)
{
    allm_image_request *r = &m->request;
    const struct path inputs = PATH_KEY(NULL, "input_images");
    const struct path mask = PATH_KEY(NULL, "mask");
    const allm_error *error = NULL;
    size_t n = r->input_image_count;
    m->inputs = arena_zero(home_arena(m->task.home),
                           (n + 1) * sizeof *m->inputs);
    if (!m->inputs)
        return status_nomem();
    for (size_t i = 0; !error && i < n; i++) {
        const struct path where = PATH_INDEX(&inputs, i);
        m->inputs[i] = r->input_images[i];
        error = load_input(m, &where, &m->inputs[i]);
    }
    r->input_images = m->inputs;
    m->inputs[n] = r->mask;
    if (!error && r->mask)
        error = load_input(m, &mask, &m->inputs[n]);
    r->mask = m->inputs[n];
    return error;
}

/* ------------------------------------------------------------ fetching --- */

/* URLs are fetched only for adapters that use the network; the fake adapter
 * gets the URL.  A request that would be rejected, or has no key, is reported
 * before anything is fetched. */
static const allm_error *begin_fetching(struct image *m)
{
    struct call_spec call = task_call_spec(&m->task);
    const struct registry_row *row =
        call_plan_task_row(m->task.engine, TASKS_IMAGE, call.model);
    const struct tasks_way *way = tasks_find(row, TASKS_IMAGE);
    m->must_fetch = m->must_fetch && way && way->adapter->encode;
    call.image = &m->request;
    call.request_options = m->request.options;
    return m->must_fetch ? task_check(&m->task, &call) : NULL;
}

/* The URL to fetch next; NULL if all images are loaded. */
static const char *next_address(struct image *m)
{
    size_t n = m->request.input_image_count;
    while (m->must_fetch && m->input_index <= n) {
        const allm_image *input = m->inputs[m->input_index];
        if (input && input->source == ALLM_IMAGE_URL) {
            m->address = m->address ? m->address : input->data;
            return m->address;
        }
        m->input_index++;
    }
    return NULL;
}

/* An error that says which URL it is about, in the home. */
static const allm_error *fetch_error(struct image *m, const char *reason,
                                     const char *text, const allm_error *from)
{
    struct arena *a = home_arena(m->task.home);
    struct slice shown = fetch_shown(m->address);
    allm_error *e = status_draft(a, ALLM_ERR_ADAPTER, reason,
                                 "the image at %.*s cannot be fetched: %s",
                                 (int)(shown.len < 500 ? shown.len : 500),
                                 shown.ptr, text);
    const allm_json *metadata = build_one_text(a, "url", shown);
    if (!e || !metadata)
        return status_nomem();
    e->metadata = metadata;
    if (from)
        e->http_status = from->http_status;
    return e;
}

/* Follow a redirect, but not from a remote host to this machine. */
static const allm_error *follow_redirect(struct image *m,
                                         const allm_error *redirect)
{
    const char *to =
        allm_json_text(allm_json_get(redirect->metadata, "location"), NULL);
    const char *next = fetch_follow(home_arena(m->task.home), m->address,
                                    to ? to : "");
    if (!next)
        return status_nomem();
    if (++m->hops > FETCH_HOPS)
        return fetch_error(m, "invalid_request", "too many redirects", NULL);
    if (fetch_fault(next) ||
        (fetch_is_near(next) && !fetch_is_near(m->address)))
        return fetch_error(m, "invalid_request",
                           "it redirects to an address that is not allowed; "
                           "only https is",
                           NULL);
    m->address = next;
    return NULL;
}

/* Map the errors of the image's server, which is not the provider, to few
 * reasons. */
static const allm_error *image_recover(struct task *t, const allm_error *error)
{
    struct image *m = (struct image *)t;
    bool refused = error->http_status.set && error->http_status.value < 500 &&
                   error->http_status.value != 429 &&
                   error->http_status.value != 408;
    if (error->kind == ALLM_ERR_NOMEM || error->kind == ALLM_ERR_IMAGE)
        return error;
    if (!strcmp(error->reason, "redirected"))
        return follow_redirect(m, error);
    bool unusable = refused || !strcmp(error->reason, "malformed_response");
    const char *reason = unusable                            ? "invalid_request"
                         : !strcmp(error->reason, "timeout") ? "timeout"
                                                             : "network_error";
    return fetch_error(m, reason, error->message, error);
}

static const allm_error *keep_fetched_image(struct image *m,
                                            const allm_json *result)
{
    struct arena *a = home_arena(m->task.home);
    struct slice bytes = json_slice(result);
    bytes.ptr = arena_copy(a, bytes);
    allm_image *mine =
        bytes.ptr ? image_bytes_make(a, m->inputs[m->input_index], bytes)
                  : NULL;
    if (!mine)
        return status_nomem();
    mine->mime_type = NULL;             /* Detected from the bytes. */
    mine->mime_type = image_source_type(mine);
    if (!mine->mime_type)
        return task_error(&m->task, ALLM_ERR_ADAPTER, "malformed_response",
                          "it is not a PNG, JPEG, GIF or WebP image");
    m->inputs[m->input_index++] = mine;
    m->request.mask = m->inputs[m->request.input_image_count];
    m->address = NULL;
    m->hops = 0;
    return NULL;
}

/* ------------------------------------------------------ task functions --- */

static const allm_error *image_begin(struct task *t, const void *caller_request)
{
    struct image *m = (struct image *)t;
    const allm_error *error = NULL;
    const allm_image_request *mine = shape_copy(t->home, &image_request_shape,
                                                caller_request, &error);
    if (!mine)
        return error ? error : status_nomem();
    m->request = *mine;
    t->request_model = m->request.model;
    error = validate_image_request(home_arena(t->home), &m->request);
    if (!error)
        error = load_inputs(m);
    return error ? error : begin_fetching(m);
}

static bool image_next_request(struct task *t, struct call_spec *out)
{
    struct image *m = (struct image *)t;
    out->fetch = next_address(m);
    if (out->fetch) {
        out->kind = TASKS_FETCH;
        out->name = "fetch";
        return true;
    }
    out->image = &m->request;
    out->request_options = m->request.options;
    return !t->done_requests;
}

static const allm_error *read_image(struct image *m, size_t i,
                                    const allm_json *v)
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

static const allm_error *image_read_result(struct task *t,
                                           const allm_json *result)
{
    struct image *m = (struct image *)t;
    if (t->fetching)
        return keep_fetched_image(m, result);
    const allm_error *error = NULL;
    size_t n = allm_json_count(result);
    m->images = arena_zero(home_arena(t->home), (n + 1) * sizeof *m->images);
    if (!m->images)
        return status_nomem();
    for (const allm_json *v = NULL; !error && (v = allm_json_next(result, v));)
        error = read_image(m, m->count++, v);
    return error;
}

/* {"openai_request_id": "req_..."}, for support requests to the provider. */
static const allm_json *response_metadata(struct image *m)
{
    struct task *t = &m->task;
    struct arena *a = home_arena(t->home);
    const struct call_spec call = task_call_spec(t);
    const struct registry_row *row = call_plan_task_row(t->engine, TASKS_IMAGE,
                                                        call.model);
    if (!t->header_id)
        return json_empty_object();
    struct buf name = buf_in(a, 256);
    buf_text(&name, row->name);
    buf_text(&name, "_request_id");
    return name.broken ? NULL
                       : build_one_text(a, name.ptr, slice_of(t->header_id));
}

/* The requested size: [width, height], a string, or null. */
static const allm_json *requested_size(struct image *m)
{
    const allm_image_request *r = &m->request;
    struct build b = build_in(home_arena(m->task.home));
    if (r->width.set && r->height.set) {
        build_array(&b);
        build_int(&b, r->width.value);
        build_int(&b, r->height.value);
        build_end(&b);
    } else {
        build_text_or_null(&b, r->size_text);
    }
    return build_done(&b);
}

static const void *image_finish(struct task *t)
{
    struct image *m = (struct image *)t;
    const allm_json *metadata = response_metadata(m);
    const allm_json *size = requested_size(m);
    if (!metadata || !size)
        return NULL;
    m->usage = (allm_image_usage){
        .size = sizeof m->usage,
        .images = { (int64_t)m->count, true },
        .size_json = size,
        .quality = m->request.quality,
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
        .metadata = metadata,
    };
    return &m->result;
}

static const struct task_kind image_kind = {
    .kind = TASKS_IMAGE,
    .name = "image",
    .invalid = "invalid_image_request",
    .size = sizeof(struct image),
    .begin = image_begin,
    .next_request = image_next_request,
    .read_result = image_read_result,
    .recover = image_recover,
    .finish = image_finish,
};

allm_stream *allm_image_generate(const allm_engine *e,
                                 const allm_image_request *r,
                                 const allm_call_opts *opts)
{
    return task_stream(e, &image_kind, r, opts);
}
