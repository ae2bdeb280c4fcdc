/*
 * model_list.c - the models that a server offers, in every dialect
 *
 *      GET BASE/models               {"data": [{"id": "m"}]}   OpenAI, Anthropic
 *      GET BASE/models               {"models": [{"name": "models/m"}]}   Google
 *      GET BASE/api/tags             {"models": [{"name": "m"}]}          Ollama
 *
 * The result is [{"id": "m", "raw": what stood there}].
 */
#include "provider/model_list.h"

#include "base/status.h"
#include "provider/anthropic/error.h"
#include "provider/document.h"
#include "provider/error_body.h"
#include "provider/extra.h"
#include "provider/gemini/error.h"
#include "provider/http.h"
#include "provider/ollama/address.h"
#include "provider/openai/address.h"
#include "provider/sink.h"
#include "json/build.h"
#include "json/json.h"

/* ----------------------------------------------------------- requests --- */

/* No body, and what all of them say; the caller's own headers, too. */
static allm_status begin(struct extra *x, const allm_call *call,
                         allm_http *http)
{
    const allm_error *error = extra_init(x, call, http->arena);
    allm_http_method(http, "GET");
    return error ? allm_http_fail(http, error) : ALLM_OK;
}

static allm_status end(const struct extra *x, allm_http *http,
                       const struct buf *url)
{
    const allm_error *error = extra_headers(x, http, http->arena);
    http->broken |= url->broken;
    allm_http_url(http, url->broken ? "" : url->ptr);
    allm_http_header(http, "accept", "application/json");
    allm_http_header(http, "accept-encoding", "identity");
    return error ? allm_http_fail(http, error) : ALLM_OK;
}

static allm_status no_address(allm_http *http)
{
    return allm_http_fail(
        http, ALLM(error, .kind = ALLM_ERR_ENGINE, .reason = "invalid_engine",
                   .message = "there is no host in the address; set base_url "
                              "to one such as http://127.0.0.1:11434"));
}

static bool ends_in(struct slice s, struct slice end)
{
    return s.len >= end.len && slice_eq(slice_skip(s, s.len - end.len), end);
}

static allm_status encode_openai(const allm_call *call, allm_http *http)
{
    struct extra x;
    bool deployed = (call->quirks & OPENAI_ADDRESS_AZURE) &&
                    !ends_in(slice_of(call->base_url), SLICE("/v1"));
    const struct openai_address to = {
        .path = deployed ? "/openai/models?api-version=2024-10-21" : "/models"
    };
    allm_status status = begin(&x, call, http);
    return status == ALLM_OK ? openai_address_write(&x, http, &to) : status;
}

static allm_status encode_anthropic(const allm_call *call, allm_http *http)
{
    struct extra x;
    struct buf url;
    struct slice base = slice_of(call->base_url);
    allm_status status = begin(&x, call, http);
    if (status != ALLM_OK)
        return status;
    buf_init(&url, http->arena, 64 * 1024);
    buf_add(&url, base);
    buf_text(&url, ends_in(base, SLICE("/v1")) ? "" : "/v1");
    buf_text(&url, "/models?limit=1000");
    allm_http_header(http, "anthropic-version", "2023-06-01");
    return base.len ? end(&x, http, &url) : no_address(http);
}

static allm_status encode_gemini(const allm_call *call, allm_http *http)
{
    struct extra x;
    struct buf url;
    struct slice base = slice_of(call->base_url);
    allm_status status = begin(&x, call, http);
    if (status != ALLM_OK)
        return status;
    buf_init(&url, http->arena, 64 * 1024);
    buf_add(&url, base);
    buf_text(&url, "/models?pageSize=1000");
    return base.len ? end(&x, http, &url) : no_address(http);
}

static allm_status encode_ollama(const allm_call *call, allm_http *http)
{
    struct extra x;
    struct buf url;
    allm_status status = begin(&x, call, http);
    if (status != ALLM_OK)
        return status;
    buf_init(&url, http->arena, 64 * 1024);
    if (!ollama_address_add(&url, slice_of(call->base_url), "tags"))
        return no_address(http);
    return end(&x, http, &url);
}

/* ------------------------------------------------------------ answers --- */

static struct slice id_of(const allm_json *model)
{
    struct slice id = json_text_at(model, "id");
    struct slice front = SLICE("models/");
    if (!id.len)
        id = json_text_at(model, "name");
    return slice_starts(id, front) ? slice_skip(id, front.len) : id;
}

/* NULL: one of them has no name, or there is no memory. */
static const allm_json *list_of(struct arena *a, const allm_json *from)
{
    struct build b;
    bool named = true;
    build_init(&b, a);
    build_array(&b);
    for (const allm_json *m = NULL; (m = allm_json_next(from, m));) {
        struct slice id = id_of(m);
        named = named && id.len;
        build_object(&b);
        build_key(&b, SLICE("id"));
        build_text_copy(&b, id);
        build_key(&b, SLICE("raw"));
        build_value(&b, m);
        build_end(&b);
    }
    build_end(&b);
    return named ? build_done(&b) : NULL;
}

static allm_status decode(void *state, const allm_call *call,
                          const allm_frame *frame, allm_sink *sink)
{
    allm_status status;
    struct answer *a = state;
    const allm_json *document = document_open(a, call, frame, sink, &status);
    if (!document)
        return status;
    const allm_json *found = json_at(document, "data");
    if (!json_is_type(found, ALLM_JSON_ARRAY))
        found = json_at(document, "models");
    const allm_json *list = json_is_type(found, ALLM_JSON_ARRAY)
                                ? list_of(sink->arena, found)
                                : NULL;
    if (sink->arena->broken)
        return sink->status = ALLM_ERR_NOMEM;
    if (!list)
        return answer_malformed(a, "the answer is no list of models in "
                                   "\"data\" or \"models\", each with a name");
    document_result(a, list);
    return answer_close(a);
}

#define DIALECT(name_, encode_, explain_, header, prefix) \
    { .size = sizeof(allm_adapter), .name = (name_), \
      .state_size = sizeof(struct answer), .framing = ALLM_FRAMING_WHOLE, \
      .encode = (encode_), .decode = decode, .finish = document_finish, \
      .explain = (explain_), .auth_header = (header), .auth_prefix = (prefix) }

const allm_adapter openai_models_adapter =
    DIALECT("openai_models", encode_openai, error_body_explain, "authorization",
            "Bearer ");
const allm_adapter anthropic_models_adapter =
    DIALECT("anthropic_models", encode_anthropic, anthropic_error_explain,
            "x-api-key", NULL);
const allm_adapter gemini_models_adapter =
    DIALECT("gemini_models", encode_gemini, gemini_error_explain,
            "x-goog-api-key", NULL);
const allm_adapter ollama_models_adapter =
    DIALECT("ollama_models", encode_ollama, error_body_explain, "authorization",
            "Bearer ");
