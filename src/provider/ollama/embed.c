/*
 * embed.c - the dialect of /api/embed: Ollama's own
 *
 *      {"model", "input": [text], "truncate": false?, "dimensions"?} -->
 *      {"model", "embeddings": [[number]], "prompt_eval_count"}
 */
#include "provider/ollama/embed.h"

#include "base/status.h"
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
    if (r->no_truncate && extra_leaves(x, "truncate")) {
        emit_name(&e, SLICE("truncate"));
        emit_bool(&e, false);
    }
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
    struct buf url;
    const allm_error *error = extra_init(&x, call, http->arena);
    if (!error)
        error = extra_headers(&x, http, http->arena);
    if (error)
        return allm_http_fail(http, error);
    buf_init(&url, http->arena, 64 * 1024);
    if (!ollama_address_add(&url, slice_of(call->base_url), "embed"))
        return allm_http_fail(
            http,
            ALLM(error, .kind = ALLM_ERR_ENGINE, .reason = "invalid_engine",
                 .message = "there is no host in the address; set "
                            "base_url, or OLLAMA_HOST, to one such as "
                            "http://127.0.0.1:11434"));
    http->broken |= url.broken;
    allm_http_url(http, url.broken ? "" : url.ptr);
    allm_http_header(http, "content-type", "application/json");
    allm_http_header(http, "accept", "application/json");
    allm_http_header(http, "accept-encoding", "identity");
    write_body(&x, http);
    return ALLM_OK;
}

static allm_status decode(void *state, const allm_call *call,
                          const allm_frame *frame, allm_sink *sink)
{
    int64_t n;
    allm_status status;
    allm_usage usage = { .size = sizeof usage };
    struct answer *a = state;
    const allm_json *document = document_open(a, call, frame, sink, &status);
    if (!document)
        return status;
    const allm_json *list = allm_json_get(document, "embeddings");
    if (allm_json_type_of(list) != ALLM_JSON_ARRAY)
        return answer_malformed(a, "the answer has no list of embeddings in "
                                   "\"embeddings\"; is the server older than "
                                   "0.3.0?");
    document_result(a, list);
    answer_model(a, json_slice(allm_json_get(document, "model")));
    if (allm_json_int64(allm_json_get(document, "prompt_eval_count"), &n)) {
        usage.input_tokens = (allm_int){ n, true };
        answer_usage(a, &usage);
    }
    return answer_close(a);
}

const allm_adapter ollama_embed_adapter = {
    .size = sizeof(allm_adapter),
    .name = "ollama_embed",
    .state_size = sizeof(struct answer),
    .framing = ALLM_FRAMING_WHOLE,
    .encode = encode,
    .decode = decode,
    .finish = document_finish,
    .explain = error_body_explain,
    .auth_header = "authorization",
    .auth_prefix = "Bearer ",
};
