/*
 * embed.c - the adapter for /api/embed: Ollama's native API
 *
 *      {"model", "input": [text], "truncate": false?, "dimensions"?} -->
 *      {"model", "embeddings": [[number]], "prompt_eval_count"}
 */
#include "provider/dialects.h"

#include "provider/document.h"
#include "provider/error_body.h"
#include "provider/extra.h"
#include "provider/http.h"
#include "provider/ollama/address.h"
#include "json/json.h"

static void write_body(const struct extra *x, allm_http *http)
{
    const allm_embed_request *r = x->call->embed;
    struct emit e;
    document_begin(x, http, &e);
    document_write_inputs(&e, r->inputs, r->input_count);
    if (r->no_truncate && extra_leaves(x, "truncate"))
        emit_member_bool(&e, "truncate", false);
    if (r->dimensions.set && extra_leaves(x, "dimensions"))
        emit_member_int(&e, "dimensions", r->dimensions.value);
    extra_write(x, &e, (const char *const[]){ "input", NULL });
    emit_close(&e, '}');
}

static allm_status embed_encode(const allm_call *call, allm_http *http)
{
    struct extra x;
    const allm_error *error = extra_init(&x, call, http->arena);
    if (!error)
        error = extra_headers(&x, http, http->arena);
    if (!error)
        error = ollama_address_write(call, http, "embed");
    if (error)
        return allm_http_fail(http, error);
    http_headers(http, "application/json");
    write_body(&x, http);
    return ALLM_OK;
}

static allm_status read_embeddings(struct answer *a, const allm_json *document)
{
    int64_t n;
    allm_usage usage = { .size = sizeof usage };
    const allm_json *list = allm_json_get(document, "embeddings");
    if (allm_json_type_of(list) != ALLM_JSON_ARRAY)
        return answer_malformed(a, "the response has no list \"embeddings\"; "
                                   "the server may be older than 0.3.0");
    document_result(a, list);
    answer_model(a, json_slice(allm_json_get(document, "model")));
    if (allm_json_int64(allm_json_get(document, "prompt_eval_count"), &n)) {
        usage.input_tokens = (allm_int){ n, true };
        answer_usage(a, &usage);
    }
    return answer_close(a);
}

DOCUMENT_ADAPTER(ollama_embed, embed_encode, read_embeddings,
                 error_body_explain, "authorization", "Bearer ");
