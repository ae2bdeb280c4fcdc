/*
 * moderate.c - the dialect of /moderations
 *
 *      {"model"?, "input": [text] or [{"type": "text", "text"},
 *                                     {"type": "image_url", "image_url"}]} -->
 *      {"id", "model", "results": [{"flagged", "categories",
 *                                   "category_scores",
 *                                   "category_applied_input_types"?}]}
 *
 * Each text gets a result of its own; a list with an image gets one result.
 * The result of the task is the whole document.
 */
#include "provider/dialects.h"

#include "provider/document.h"
#include "provider/error_body.h"
#include "provider/http.h"
#include "provider/image_source.h"
#include "provider/openai/address.h"
#include "provider/openai/usage.h"
#include "json/json.h"

static void write_part(struct emit *e, const char *text)
{
    emit_open(e, '{');
    emit_member_word(e, "type", "text");
    emit_member(e, "text", text);
    emit_close(e, '}');
}

static void write_image(struct emit *e, const allm_image *image,
                        struct arena *scratch)
{
    emit_open(e, '{');
    emit_member_word(e, "type", "image_url");
    emit_member_open(e, "image_url", '{');
    emit_name(e, SLICE("url"));
    image_source_write_url(e, image, scratch);
    emit_close(e, '}');
    emit_close(e, '}');
}

static void write_parts(struct emit *e, const allm_moderation_request *r,
                        struct arena *scratch)
{
    emit_member_open(e, "input", '[');
    for (size_t i = 0; i < r->input_count; i++)
        write_part(e, r->inputs[i]);
    for (size_t i = 0; i < r->image_count; i++)
        write_image(e, r->images[i], scratch);
    emit_close(e, ']');
}

static void write_body(const struct extra *x, allm_http *http)
{
    const allm_moderation_request *r = x->call->moderation;
    struct emit e;
    document_begin(x, http, &e);
    if (r->image_count)
        write_parts(&e, r, http->arena);
    else
        document_write_inputs(&e, r->inputs, r->input_count);
    extra_write(x, &e, (const char *const[]){ "input", NULL });
    emit_close(&e, '}');
}

static allm_status moderation_encode(const allm_call *call, allm_http *http)
{
    struct extra x;
    const allm_error *error = extra_init(&x, call, http->arena);
    if (!error)
        error = openai_address_task(&x, http, "/moderations");
    if (error)
        return allm_http_fail(http, error);
    write_body(&x, http);
    return ALLM_OK;
}

static allm_status read_results(struct answer *a, const allm_json *document)
{
    if (allm_json_type_of(allm_json_get(document, "results")) !=
        ALLM_JSON_ARRAY)
        return answer_malformed(a, "the response has no list \"results\"");
    document_result(a, document);
    answer_id(a, json_slice(allm_json_get(document, "id")));
    answer_model(a, json_slice(allm_json_get(document, "model")));
    openai_usage_take(a, allm_json_get(document, "usage"));
    return answer_close(a);
}

DOCUMENT_ADAPTER(openai_moderate, moderation_encode, read_results,
                 error_body_explain, "authorization", "Bearer ");
