/*
 * embed.c - the dialect of /embeddings, which most servers speak
 *
 *      {"model", "input": [text], "dimensions"?} -->
 *      {"data": [{"embedding": [number] or base64, "index"}], "model", "usage"}
 *
 * There is no field for the task, nor for truncation: a text that is too long
 * is refused by the server.
 */
#include "provider/openai/embed.h"

#include "base/status.h"
#include "provider/document.h"
#include "provider/error_body.h"
#include "provider/http.h"
#include "provider/model_rules.h"
#include "provider/openai/address.h"
#include "provider/openai/usage.h"
#include "json/json.h"

/* The one model whose vectors cannot be shortened. */
static bool is_fixed(const allm_call *call)
{
    return call->embed->dimensions.set &&
           (model_rules(call->model) & MODEL_FIXED_SIZE);
}

static void write_body(const struct extra *x, allm_http *http)
{
    const allm_embed_request *r = x->call->embed;
    struct emit e;
    emit_init(&e, &http->body);
    emit_open(&e, '{');
    if (extra_leaves(x, "model")) {
        emit_name(&e, SLICE("model"));
        emit_text(&e, slice_of(x->call->model));
    }
    emit_name(&e, SLICE("input"));
    emit_open(&e, '[');
    for (size_t i = 0; i < r->input_count; i++)
        emit_text(&e, slice_of(r->inputs[i]));
    emit_close(&e, ']');
    if (r->dimensions.set && extra_leaves(x, "dimensions")) {
        emit_name(&e, SLICE("dimensions"));
        emit_int(&e, r->dimensions.value);
    }
    extra_write(x, &e, (const char *const[]){ "input", NULL });
    emit_close(&e, '}');
}

static allm_status encode(const allm_call *call, allm_http *http)
{
    struct extra x;
    const allm_error *error = extra_init(&x, call, http->arena);
    if (error)
        return allm_http_fail(http, error);
    if (is_fixed(call))
        return allm_http_fail(
            http,
            ALLM(error, .kind = ALLM_ERR_ADAPTER,
                 .reason = "unsupported_feature", .provider = call->provider,
                 .message = "vectors of text-embedding-ada-002 have "
                            "1536 dimensions, always; leave dimensions "
                            "out, or choose text-embedding-3-small"));
    const struct openai_address to = {
        .path = "/embeddings", .azure = call->quirks & OPENAI_ADDRESS_AZURE
    };
    allm_status status = openai_address_write(&x, http, &to);
    if (status == ALLM_OK)
        write_body(&x, http);
    return status;
}

static allm_status decode(void *state, const allm_call *call,
                          const allm_frame *frame, allm_sink *sink)
{
    allm_status status;
    struct answer *a = state;
    const allm_json *document = document_open(a, call, frame, sink, &status);
    if (!document)
        return status;
    const allm_json *list = allm_json_get(document, "data");
    if (allm_json_type_of(list) != ALLM_JSON_ARRAY)
        return answer_malformed(a, "the answer has no list of embeddings in "
                                   "\"data\"");
    document_result(a, list);
    answer_model(a, json_slice(allm_json_get(document, "model")));
    openai_usage_take(a, allm_json_get(document, "usage"));
    return answer_close(a);
}

const allm_adapter openai_embed_adapter = {
    .size = sizeof(allm_adapter),
    .name = "openai_embed",
    .state_size = sizeof(struct answer),
    .framing = ALLM_FRAMING_WHOLE,
    .encode = encode,
    .decode = decode,
    .finish = document_finish,
    .explain = error_body_explain,
    .auth_header = "authorization",
    .auth_prefix = "Bearer ",
};
