/*
 * embed.c - allm_embed(): texts as vectors
 *
 *      inputs --split into chunks of the allowed size--> dialect --> elements
 *
 * An element of a result is a list of numbers, a base64 string (floats of four
 * bytes, little-endian), or an object that has one of these as "embedding" or
 * "values".  Such an object also has "index" if the order of the elements is
 * not that of the inputs.
 */
#include "base/base64.h"
#include "base/caller_struct.h"
#include "base/status.h"
#include "data/error.h"
#include "data/path.h"
#include "run/task.h"
#include "json/json.h"

#include <float.h>
#include <math.h>

enum { MOST_DIMENSIONS = 1 << 20 };

struct embed {
    struct task task;
    allm_embed_request request; /* a copy, in the home */
    allm_embed_request chunk;   /* the part of it that is running */
    const struct tasks_way *way;
    size_t next;                /* the first input that has no vector yet */
    size_t dimensions;          /* 0: not known yet */
    const float **vectors;      /* one slot per input */
    allm_embeddings result;
};

struct faults {
    struct build list;
    size_t count;
};

static void add_fault(struct faults *f, const struct path *where,
                      const char *reason)
{
    path_write_pair(&f->list, where, false, reason);
    f->count++;
}

static const allm_error *check_embed_request(struct embed *e)
{
    const allm_embed_request *r = &e->request;
    struct arena *a = home_arena(e->task.home);
    const struct path inputs = PATH_KEY(NULL, "inputs");
    const struct path dimensions = PATH_KEY(NULL, "dimensions");
    const struct path task = PATH_KEY(NULL, "task");
    struct faults f = { .count = 0 };
    build_start_array(&f.list, a);
    if (!r->input_count || !r->inputs)
        add_fault(&f, &inputs, "empty");
    for (size_t i = 0; r->inputs && i < r->input_count; i++)
        if (!r->inputs[i] || !*r->inputs[i])
            add_fault(&f, &(struct path)PATH_INDEX(&inputs, i), "empty");
    if (r->dimensions.set && r->dimensions.value <= 0)
        add_fault(&f, &dimensions, "must_be_positive");
    if ((size_t)r->task > ALLM_EMBED_SIMILARITY)
        add_fault(&f, &task, "unknown");
    const allm_json *errors = build_finish(&f.list);
    if (!errors)
        return status_nomem();
    return f.count ? error_validation(a, "invalid_embedding_request", errors)
                   : NULL;
}

/* Copy the request, since the caller's strings may be gone before the last
 * chunk. */
static const allm_error *copy_embed_request(struct embed *e)
{
    struct arena *a = home_arena(e->task.home);
    allm_embed_request *r = &e->request;
    const char **mine = arena_zero(a, r->input_count * sizeof *mine);
    for (size_t i = 0; mine && i < r->input_count; i++)
        mine[i] = arena_text(a, r->inputs[i]);
    r->inputs = mine;
    r->options = json_copy(a, r->options);
    e->task.request_model = r->model = arena_text(a, r->model);
    e->vectors = arena_zero(a, r->input_count * sizeof *e->vectors);
    return a->broken || !mine || !e->vectors ? status_nomem() : NULL;
}

static const allm_error *embed_begin(struct task *t, const void *caller_request)
{
    struct embed *e = (struct embed *)t;
    if (!caller_struct_take(&e->request, sizeof e->request, caller_request))
        return task_error(t, ALLM_ERR_MISUSE, "invalid_struct",
                          "the size of the request is wrong; fill it with "
                          "ALLM(embed_request, ...)");
    const allm_error *error = check_embed_request(e);
    if (!error)
        error = copy_embed_request(e);
    const char *model = engine_model(t->engine, &t->options, t->request_model);
    e->way = tasks_find(engine_row_for(t->engine, model, NULL), TASKS_EMBED);
    return error;
}

/* How many inputs go into the next chunk: at least one. */
static size_t count_chunk_inputs(const struct embed *e)
{
    size_t left = e->request.input_count - e->next;
    size_t most = e->way && e->way->most ? e->way->most : left;
    size_t bytes = 0, n = 0;
    while (n < left && n < most) {
        bytes += strlen(e->request.inputs[e->next + n]);
        if (n && e->way && e->way->most_bytes && bytes > e->way->most_bytes)
            break;
        n++;
    }
    return n;
}

static bool embed_next_request(struct task *t, struct call_spec *out)
{
    struct embed *e = (struct embed *)t;
    if (e->next == e->request.input_count)
        return false;
    e->chunk = e->request;
    e->chunk.inputs += e->next;
    e->chunk.input_count = count_chunk_inputs(e);
    out->embed = &e->chunk;
    out->request_options = e->request.options;
    return true;
}

static const allm_error *embedding_error(struct embed *e, size_t i,
                                         const char *what)
{
    return task_error(&e->task, ALLM_ERR_ADAPTER, "malformed_response",
                      "embedding %zu of the answer %s", i, what);
}

/* Read a list of numbers; false: an element is not a finite number. */
static bool read_numbers(const allm_json *list, float *out)
{
    for (const allm_json *v = NULL; (v = allm_json_next(list, v));) {
        double x;
        if (!json_finite(v, &x) || x > FLT_MAX || x < -FLT_MAX)
            return false;
        *out++ = (float)x;
    }
    return true;
}

static float read_float(const unsigned char *p)
{
    float out;
    uint32_t bits = (uint32_t)p[0] | (uint32_t)p[1] << 8 |
                    (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    memcpy(&out, &bits, sizeof out);
    return out;
}

static bool is_finite(const float *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(v[i]))
            return false;
    return true;
}

/* Read a vector; *n is its length.  NULL: *error is set, or out of memory. */
static float *read_vector(struct embed *e, size_t i, const allm_json *v,
                          size_t *n, const allm_error **error)
{
    struct arena *a = home_arena(e->task.home);
    bool packed = allm_json_type_of(v) == ALLM_JSON_TEXT;
    *n = allm_json_count(v);
    struct buf bytes = buf_in(a, 4 * (size_t)MOST_DIMENSIONS);
    if (packed && !base64_take(&bytes, json_slice(v))) {
        *error = a->broken ? NULL
                           : embedding_error(e, i,
                                             "is not valid "
                                             "base64");
        return NULL;
    }
    if (packed)
        *n = bytes.len % 4 ? 0 : bytes.len / 4;
    if ((!packed && allm_json_type_of(v) != ALLM_JSON_ARRAY) || !*n ||
        *n > MOST_DIMENSIONS) {
        *error = embedding_error(e, i, "is not a list of numbers, or is empty");
        return NULL;
    }
    float *out = arena_alloc(a, *n * sizeof *out);
    for (size_t k = 0; out && packed && k < *n; k++)
        out[k] = read_float((const unsigned char *)bytes.ptr + 4 * k);
    if (out && ((!packed && !read_numbers(v, out)) || !is_finite(out, *n))) {
        *error = embedding_error(e, i,
                                 "contains a value that is not a finite "
                                 "number");
        return NULL;
    }
    return out;
}

/* Scale the vector to length 1. */
static void normalize_vector(float *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)v[i] * (double)v[i];
    double length = sqrt(sum);
    for (size_t i = 0; length > 0 && i < n; i++)
        v[i] = (float)((double)v[i] / length);
}

/* The index of an element's input within the chunk. */
static size_t element_index(const allm_json *element, size_t i)
{
    int64_t index;
    const allm_json *v = allm_json_get(element, "index");
    if (!v || !allm_json_int64(v, &index))
        return i;
    return index < 0 ? SIZE_MAX : (size_t)index;
}

static const allm_error *read_element(struct embed *e, size_t i,
                                      const allm_json *element)
{
    size_t n;
    size_t at = i;
    const allm_error *error = NULL;
    const allm_json *v = element;
    if (allm_json_type_of(element) == ALLM_JSON_OBJECT) {
        at = element_index(element, i);
        v = allm_json_get(element, "embedding");
        v = v ? v : allm_json_get(element, "values");
    }
    if (at >= e->chunk.input_count || e->vectors[e->next + at])
        return embedding_error(
            e, i,
            "has an index that no input has, or that another embedding has");
    float *vector = read_vector(e, i, v, &n, &error);
    if (!vector)
        return error ? error : status_nomem();
    if (e->dimensions && n != e->dimensions)
        return embedding_error(
            e, i, "does not have as many dimensions as the first one");
    e->dimensions = n;
    if (e->way && e->way->whole && n != e->way->whole)
        normalize_vector(vector, n);
    e->vectors[e->next + at] = vector;
    return NULL;
}

static const allm_error *embed_read_result(struct task *t,
                                           const allm_json *result)
{
    struct embed *e = (struct embed *)t;
    const allm_error *error = NULL;
    size_t i = 0, n = allm_json_count(result);
    if (n != e->chunk.input_count)
        return task_error(t, ALLM_ERR_ADAPTER, "malformed_response",
                          "%zu inputs were sent, but %zu embeddings came back",
                          e->chunk.input_count, n);
    for (const allm_json *v = NULL; !error && (v = allm_json_next(result, v));)
        error = read_element(e, i++, v);
    if (error)
        return error;
    e->next += n;
    t->done_inputs += n;
    return NULL;
}

static const void *embed_finish(struct task *t)
{
    struct embed *e = (struct embed *)t;
    e->result = (allm_embeddings){ .size = sizeof e->result,
                                   .count = e->request.input_count,
                                   .dimensions = e->dimensions,
                                   .vectors = e->vectors,
                                   .model = t->model,
                                   .usage = &t->usage };
    return &e->result;
}

static const struct task_kind embed_kind = {
    .kind = TASKS_EMBED,
    .name = "embed",
    .invalid = "invalid_embedding_request",
    .size = sizeof(struct embed),
    .begin = embed_begin,
    .next_request = embed_next_request,
    .read_result = embed_read_result,
    .finish = embed_finish,
};

allm_stream *allm_embed(const allm_engine *e, const allm_embed_request *r,
                        const allm_call_opts *opts)
{
    return task_stream(e, &embed_kind, r, opts);
}

double allm_embed_cosine(const float *a, const float *b, size_t n)
{
    double ab = 0, aa = 0, bb = 0;
    for (size_t i = 0; a && b && i < n; i++) {
        ab += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    double lengths = sqrt(aa) * sqrt(bb);
    double cosine = lengths > 0 ? ab / lengths : 0;
    return cosine > 1 ? 1 : cosine < -1 ? -1 : cosine;
}
