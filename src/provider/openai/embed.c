/*
 * embed.c - the dialect of /embeddings, which most servers support
 *
 *      {"model", "input": [text], "dimensions"?} -->
 *      {"data": [{"embedding": [number] or base64, "index"}], "model", "usage"}
 *
 * There is no field for the task or for truncation: the server rejects a text
 * that is too long.
 */
#include "provider/dialects.h"

#include "provider/document.h"
#include "provider/error_body.h"
#include "provider/http.h"
#include "provider/model_rules.h"
#include "provider/openai/address.h"
#include "provider/openai/usage.h"
#include "json/json.h"

/* Does the request set dimensions for the model that has a fixed number? */
static bool has_fixed_size(const allm_call *call)
{
    return call->embed->dimensions.set &&
           (model_rules(call->model) & MODEL_FIXED_SIZE);
}

static void write_body(const struct extra *x, allm_http *http)
{
    const allm_embed_request *r = x->call->embed;
    struct emit e;
    document_begin(x, http, &e);
    document_write_inputs(&e, r->inputs, r->input_count);
    if (r->dimensions.set && extra_leaves(x, "dimensions"))
        emit_member_int(&e, "dimensions", r->dimensions.value);
    extra_write(x, &e, (const char *const[]){ "input", NULL });
    emit_close(&e, '}');
}

static allm_status embed_encode(const allm_call *call, allm_http *http)
{
    struct extra x;
    const allm_error *error = extra_init(&x, call, http->arena);
    if (error)
        return allm_http_fail(http, error);
    if (has_fixed_size(call))
        return allm_http_fail(
            http,
            ALLM(error, .kind = ALLM_ERR_ADAPTER,
                 .reason = "unsupported_feature", .provider = call->provider,
                 .message = "the vectors of text-embedding-ada-002 always "
                            "have 1536 dimensions; omit dimensions, or "
                            "use text-embedding-3-small"));
    error = openai_address_task(&x, http, "/embeddings");
    if (error)
        return allm_http_fail(http, error);
    write_body(&x, http);
    return ALLM_OK;
}

static allm_status read_embeddings(struct answer *a, const allm_json *document)
{
    const allm_json *list = allm_json_get(document, "data");
    if (allm_json_type_of(list) != ALLM_JSON_ARRAY)
        return answer_malformed(a, "the response has no list of embeddings in "
                                   "\"data\"");
    document_result(a, list);
    answer_model(a, json_slice(allm_json_get(document, "model")));
    openai_usage_take(a, allm_json_get(document, "usage"));
    return answer_close(a);
}

DOCUMENT_ADAPTER(openai_embed, embed_encode, read_embeddings,
                 error_body_explain, "authorization", "Bearer ");
