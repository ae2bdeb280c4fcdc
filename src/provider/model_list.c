/*
 * model_list.c - list the models of a server, in every dialect
 *
 *      GET BASE/models     {"data": [{"id": "m"}]}            OpenAI, Anthropic
 *      GET BASE/models     {"models": [{"name": "models/m"}]} Google
 *      GET BASE/api/tags   {"models": [{"name": "m"}]}        Ollama
 *
 * The result is [{"id": "m", "raw": the element as received}].
 */
#include "provider/dialects.h"

#include "provider/anthropic/error.h"
#include "provider/document.h"
#include "provider/error_body.h"
#include "provider/extra.h"
#include "provider/gemini/error.h"
#include "provider/http.h"
#include "provider/ollama/address.h"
#include "provider/openai/address.h"
#include "json/build.h"
#include "json/json.h"

/* ----------------------------------------------------------- requests --- */

typedef const allm_error *write_address(const struct extra *x, allm_http *http);

/* Write the request, which has no body. */
static allm_status request_list(const allm_call *call, allm_http *http,
                                write_address *write)
{
    struct extra x;
    const allm_error *error = extra_init(&x, call, http->arena);
    allm_http_method(http, "GET");
    if (!error)
        error = write(&x, http);
    return error ? allm_http_fail(http, error) : ALLM_OK;
}

/* The headers of all dialects but OpenAI's. */
static const allm_error *write_headers(const struct extra *x, allm_http *http)
{
    const allm_error *error = extra_headers(x, http, http->arena);
    allm_http_header(http, "accept", "application/json");
    allm_http_header(http, "accept-encoding", "identity");
    return error;
}

/* Write the URL: BASE, the version unless BASE ends in it, and the path. */
static const allm_error *write_url(const struct extra *x, allm_http *http,
                                   struct slice version, const char *path)
{
    struct slice base;
    const allm_error *error = http_base(http, x->call, &base, NULL);
    if (error)
        return error;
    struct buf url = buf_in(http->arena, 64 * 1024);
    buf_add(&url, base);
    buf_add(&url, slice_ends(base, version) ? SLICE("") : version);
    buf_text(&url, path);
    http_address(http, &url);
    return write_headers(x, http);
}

static const allm_error *address_openai(const struct extra *x, allm_http *http)
{
    bool deployed = (x->call->quirks & OPENAI_ADDRESS_AZURE) &&
                    !slice_ends(slice_of(x->call->base_url), SLICE("/v1"));
    const struct openai_address to = {
        .path = deployed ? "/openai/models?api-version=2024-10-21" : "/models"
    };
    return openai_address_write(x, http, &to);
}

static const allm_error *address_anthropic(const struct extra *x,
                                           allm_http *http)
{
    allm_http_header(http, "anthropic-version", "2023-06-01");
    return write_url(x, http, SLICE("/v1"), "/models?limit=1000");
}

static const allm_error *address_gemini(const struct extra *x, allm_http *http)
{
    return write_url(x, http, SLICE(""), "/models?pageSize=1000");
}

static const allm_error *address_ollama(const struct extra *x, allm_http *http)
{
    const allm_error *error = ollama_address_write(x->call, http, "tags");
    return error ? error : write_headers(x, http);
}

static allm_status encode_openai(const allm_call *call, allm_http *http)
{
    return request_list(call, http, address_openai);
}

static allm_status encode_anthropic(const allm_call *call, allm_http *http)
{
    return request_list(call, http, address_anthropic);
}

static allm_status encode_gemini(const allm_call *call, allm_http *http)
{
    return request_list(call, http, address_gemini);
}

static allm_status encode_ollama(const allm_call *call, allm_http *http)
{
    return request_list(call, http, address_ollama);
}

/* ---------------------------------------------------------- responses --- */

static struct slice id_of(const allm_json *model)
{
    struct slice id = json_text_at(model, "id");
    struct slice prefix = SLICE("models/");
    if (!id.len)
        id = json_text_at(model, "name");
    return slice_starts(id, prefix) ? slice_skip(id, prefix.len) : id;
}

/* NULL: one of them has no name, or out of memory. */
static const allm_json *list_of(struct arena *a, const allm_json *from)
{
    bool named = true;
    struct build b = build_array_in(a);
    for (const allm_json *m = NULL; (m = allm_json_next(from, m));) {
        struct slice id = id_of(m);
        named = named && id.len;
        build_object(&b);
        build_text_copy_at(&b, "id", id);
        build_value_at(&b, "raw", m);
        build_end(&b);
    }
    return named ? build_finish(&b) : NULL;
}

static allm_status read_models(struct answer *a, const allm_json *document)
{
    struct arena *events = a->sink->arena;
    const allm_json *found = json_at(document, "data");
    if (!json_is_type(found, ALLM_JSON_ARRAY))
        found = json_at(document, "models");
    const allm_json *list = json_is_type(found, ALLM_JSON_ARRAY)
                                ? list_of(events, found)
                                : NULL;
    if (events->broken)
        return a->sink->status = ALLM_ERR_NOMEM;
    if (!list)
        return answer_malformed(a, "the response has no list of models with "
                                   "names in \"data\" or \"models\"");
    document_result(a, list);
    return answer_close(a);
}

DOCUMENT_ADAPTER(openai_models, encode_openai, read_models, error_body_explain,
                 "authorization", "Bearer ");
DOCUMENT_ADAPTER(anthropic_models, encode_anthropic, read_models,
                 anthropic_error_explain, "x-api-key", NULL);
DOCUMENT_ADAPTER(gemini_models, encode_gemini, read_models,
                 gemini_error_explain, "x-goog-api-key", NULL);
DOCUMENT_ADAPTER(ollama_models, encode_ollama, read_models, error_body_explain,
                 "authorization", "Bearer ");
