/*
 * embed.c - the adapter for batchEmbedContents: Google's native API
 *
 *      {"requests": [{"model": "models/M", "content": {"parts": [{"text"}]},
 *                     "taskType"?, "outputDimensionality"?}]} -->
 *      {"embeddings": [{"values": [number]}]}
 *
 * There is no usage.  The caller's options are added to every request of the
 * list.
 */
#include "provider/dialects.h"

#include "provider/document.h"
#include "provider/extra.h"
#include "provider/gemini/address.h"
#include "provider/gemini/contents.h"
#include "provider/gemini/error.h"
#include "provider/http.h"

static const char *const task_names[] = {
    [ALLM_EMBED_ANY] = NULL,
    [ALLM_EMBED_DOCUMENT] = "RETRIEVAL_DOCUMENT",
    [ALLM_EMBED_QUERY] = "RETRIEVAL_QUERY",
    [ALLM_EMBED_CLASSIFICATION] = "CLASSIFICATION",
    [ALLM_EMBED_CLUSTERING] = "CLUSTERING",
    [ALLM_EMBED_SIMILARITY] = "SEMANTIC_SIMILARITY",
};

/* Write the members that are the same in every request. */
static void write_common(const struct extra *x, struct emit *e)
{
    const allm_embed_request *r = x->call->embed;
    if (task_names[r->task] && extra_leaves(x, "taskType"))
        emit_member_word(e, "taskType", task_names[r->task]);
    if (r->dimensions.set && extra_leaves(x, "outputDimensionality"))
        emit_member_int(e, "outputDimensionality", r->dimensions.value);
    if (r->no_truncate && extra_leaves(x, "embedContentConfig")) {
        emit_member_raw(e, "embedContentConfig",
                        SLICE("{\"autoTruncate\":false}"));
    }
    extra_write(x, e, (const char *const[]){ "model", "content", NULL });
}

static void write_body(const struct extra *x, allm_http *http)
{
    const allm_embed_request *r = x->call->embed;
    struct emit e;
    struct buf model = buf_in(http->arena, 4096);
    if (!strchr(x->call->model, '/'))
        buf_text(&model, "models/");
    buf_text(&model, x->call->model);
    http->broken |= model.broken;
    emit_init(&e, &http->body);
    emit_open(&e, '{');
    emit_member_open(&e, "requests", '[');
    for (size_t i = 0; i < r->input_count; i++) {
        emit_open(&e, '{');
        emit_member_text(&e, "model", buf_slice(&model));
        gemini_contents_write_text(&e, "content", slice_of(r->inputs[i]));
        write_common(x, &e);
        emit_close(&e, '}');
    }
    emit_close(&e, ']');
    emit_close(&e, '}');
}

static allm_status embed_encode(const allm_call *call, allm_http *http)
{
    struct extra x;
    const allm_error *error = extra_init(&x, call, http->arena);
    if (!error)
        error = gemini_address_write(call, http, "batchEmbedContents", NULL);
    if (error)
        return allm_http_fail(http, error);
    http_headers(http, "application/json");
    error = extra_headers(&x, http, http->arena);
    if (error)
        return allm_http_fail(http, error);
    write_body(&x, http);
    return ALLM_OK;
}

static allm_status read_embeddings(struct answer *a, const allm_json *document)
{
    const allm_json *list = allm_json_get(document, "embeddings");
    if (allm_json_type_of(list) != ALLM_JSON_ARRAY)
        return answer_malformed(a, "the response has no list \"embeddings\"");
    document_result(a, list);
    return answer_close(a);
}

DOCUMENT_ADAPTER(gemini_embed, embed_encode, read_embeddings,
                 gemini_error_explain, "x-goog-api-key", NULL);
