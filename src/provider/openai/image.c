/*
 * image.c - the dialect of /images: OpenAI's models for images
 *
 *      generate   /images/generations   JSON
 *      edit       /images/edits         a form with files
 *      variation  /images/variations    the same, without a prompt
 *        --> {"data": [{"b64_json" or "url", "revised_prompt"?}], "usage"?}
 *
 * Models named gpt-image always return base64 and reject response_format.
 */
#include "provider/dialects.h"

#include "provider/document.h"
#include "provider/error_body.h"
#include "provider/http.h"
#include "provider/image_source.h"
#include "provider/model_rules.h"
#include "provider/multipart.h"
#include "provider/openai/address.h"
#include "provider/openai/usage.h"
#include "json/build.h"
#include "json/json.h"

struct encoding {
    const allm_call *call;
    const allm_image_request *request;
    allm_http *http;
    struct extra extra;
    bool form;                  /* the body is a form with files; else JSON */
    struct emit emit;
    struct multipart parts;
};

static bool is_gpt(const allm_call *call)
{
    return model_rules(call->model) & MODEL_BASE64;
}

/* ------------------------------------------------------------ writing --- */

static void write_member(struct encoding *e, const char *name,
                         const char *value)
{
    if (!value || !extra_leaves(&e->extra, name))
        return;
    if (e->form) {
        multipart_text(&e->parts, name, slice_of(value));
        return;
    }
    emit_name(&e->emit, slice_of(name));
    emit_text(&e->emit, slice_of(value));
}

static void write_count(struct encoding *e)
{
    char digits[24];
    struct arena *a = e->http->arena;
    struct buf n;
    if (!e->request->n.set || !extra_leaves(&e->extra, "n"))
        return;
    if (!e->form) {
        emit_member_int(&e->emit, "n", e->request->n.value);
        return;
    }
    buf_init(&n, a, sizeof digits);
    buf_int(&n, e->request->n.value);
    multipart_text(&e->parts, "n", buf_slice(&n));
}

/* "1024x1024", or size_text as it is. */
static const char *size_of(struct encoding *e)
{
    const allm_image_request *r = e->request;
    if (!r->width.set || !r->height.set)
        return r->size_text;
    struct buf text = buf_in(e->http->arena, 64);
    buf_int(&text, r->width.value);
    buf_byte(&text, 'x');
    buf_int(&text, r->height.value);
    e->http->broken |= text.broken;
    return text.broken ? NULL : text.ptr;
}

static void write_members(struct encoding *e)
{
    const allm_image_request *r = e->request;
    write_member(e, "model", e->call->model);
    write_member(e, "prompt", r->prompt);
    write_count(e);
    write_member(e, "size", size_of(e));
    write_member(e, "quality", r->quality);
    write_member(e, "style", r->style);
    write_member(e, "background", r->background);
    if (!is_gpt(e->call))
        write_member(e, "response_format",
                     r->response_format == ALLM_IMAGE_FORMAT_URL ? "url"
                                                                 : "b64_json");
}

/* Write the caller's options as fields: strings as they are, others as JSON. */
static void write_options(struct encoding *e)
{
    static const char *const not_sent[] = { "base_url", "api", "quirks",
                                            "extra_body", "extra_headers",
                                            "organization", "project",
                                            "api_version", NULL };
    for (const allm_json *k = NULL;
         (k = allm_json_next(e->extra.options, k));) {
        struct emit plain;
        const allm_json *v = allm_json_value(k);
        const char *name = allm_json_text(k, NULL);
        if (slice_in(slice_of(name), not_sent) ||
            allm_json_type_of(v) == ALLM_JSON_NULL || strpbrk(name, "\"\r\n"))
            continue;
        struct buf text = buf_in(e->http->arena, 64 * 1024);
        emit_init(&plain, &text);
        if (allm_json_type_of(v) == ALLM_JSON_TEXT)
            buf_add(&text, json_slice(v));
        else
            emit_value(&plain, v);
        e->http->broken |= text.broken;
        multipart_text(&e->parts, name, buf_slice(&text));
    }
}

static void write_file(struct encoding *e, const char *name,
                       const allm_image *image)
{
    static const char *const names[][2] = { { "image/jpeg", "image.jpg" },
                                            { "image/webp", "image.webp" },
                                            { "image/gif", "image.gif" } };
    const char *type = image_source_type(image);
    const char *file = "image.png";
    for (size_t i = 0; type && i < sizeof names / sizeof *names; i++)
        if (!strcmp(type, names[i][0]))
            file = names[i][1];
    multipart_file(&e->parts, name, file, type ? type : "image/png",
                   (struct slice){ image->data, image->data_len });
}

/* False: try again with another boundary. */
static bool write_form(struct encoding *e)
{
    const allm_image_request *r = e->request;
    write_members(e);
    write_options(e);
    for (size_t i = 0; i < r->input_image_count; i++)
        write_file(e, r->input_image_count > 1 ? "image[]" : "image",
                   r->input_images[i]);
    if (r->mask)
        write_file(e, "mask", r->mask);
    return multipart_end(&e->parts);
}

/* ------------------------------------------------------------- checks --- */

static allm_status request_refuse(struct encoding *e, const char *reason,
                                  const char *text)
{
    return allm_http_fail(
        e->http, ALLM(error, .kind = ALLM_ERR_ADAPTER, .reason = reason,
                      .provider = e->call->provider, .message = text));
}

static bool has_invalid_type(const allm_image *image)
{
    return image && image->mime_type && strpbrk(image->mime_type, "\r\n\"");
}

/* Reject requests that are known to fail. */
static allm_status request_check(struct encoding *e)
{
    const allm_image_request *r = e->request;
    bool invalid = has_invalid_type(r->mask);
    for (size_t i = 0; i < r->input_image_count; i++)
        invalid = invalid || has_invalid_type(r->input_images[i]);
    if (invalid)
        return request_refuse(
            e, "invalid_request",
            "the mime_type of an image is invalid; set one such as "
            "image/png");
    if (r->operation == ALLM_IMAGE_OP_VARIATION && is_gpt(e->call))
        return request_refuse(
            e, "unsupported_operation",
            "models named gpt-image do not support variations; use "
            "edit with a prompt");
    if (e->form && (model_rules(e->call->model) & MODEL_GENERATES))
        return request_refuse(
            e, "unsupported_operation",
            "dall-e-3 cannot edit images; use a gpt-image model");
    if (is_gpt(e->call) && r->response_format == ALLM_IMAGE_FORMAT_URL)
        return request_refuse(e, "unsupported_feature",
                              "models named gpt-image do not return URLs; set "
                              "response_format to binary or base64");
    return ALLM_OK;
}

static allm_status write_head(struct encoding *e)
{
    static const char form[] = "multipart/form-data; boundary=";
    static const char *const paths[] = {
        [ALLM_IMAGE_OP_GENERATE] = "/images/generations",
        [ALLM_IMAGE_OP_EDIT] = "/images/edits",
        [ALLM_IMAGE_OP_VARIATION] = "/images/variations",
    };
    struct buf type = buf_in(e->http->arena, 256);
    if (e->form)
        buf_text(&type, form);
    if (e->form)
        buf_text(&type, e->parts.boundary);
    e->http->broken |= type.broken;
    const struct openai_address to = {
        .path = paths[e->request->operation],
        .content = type.len ? type.ptr : NULL,
        .azure = e->call->quirks & OPENAI_ADDRESS_AZURE,
    };
    const allm_error *error = openai_address_write(&e->extra, e->http, &to);
    return error ? allm_http_fail(e->http, error) : ALLM_OK;
}

/* The content of an image must not end a part and begin another, so a boundary
 * is used that does not occur in the images. */
static allm_status write_forms(struct encoding *e)
{
    struct buf *body = &e->http->body;
    for (size_t try = 0; try < MULTIPART_TRIES; try++) {
        buf_clear(body);
        multipart_init(&e->parts, body, try);
        if (write_form(e))
            return write_head(e);
    }
    return request_refuse(
        e, "invalid_request",
        "the images contain every boundary that could separate them; "
        "they may be malicious");
}

static allm_status image_encode(const allm_call *call, allm_http *http)
{
    struct encoding e = { .call = call, .request = call->image, .http = http };
    const allm_error *error = extra_init(&e.extra, call, http->arena);
    if (error)
        return allm_http_fail(http, error);
    e.form = e.request->operation != ALLM_IMAGE_OP_GENERATE;
    allm_status status = request_check(&e);
    if (status == ALLM_OK)
        status = e.form ? write_forms(&e) : write_head(&e);
    if (status != ALLM_OK || e.form)
        return status;
    emit_init(&e.emit, &http->body);
    emit_open(&e.emit, '{');
    write_members(&e);
    extra_write(&e.extra, &e.emit, NULL);
    emit_close(&e.emit, '}');
    return ALLM_OK;
}

/* ------------------------------------------------------------ reading --- */

/* The type of the returned images: "output_format", or PNG by default. */
static struct slice type_of(const allm_call *call, const allm_json *document)
{
    const allm_json *word = allm_json_get(document, "output_format");
    if (!word)
        word = allm_json_get(call->request->options, "output_format");
    if (!word)
        word = allm_json_get(call->options, "output_format");
    return json_is(word, "jpeg")   ? SLICE("image/jpeg")
           : json_is(word, "webp") ? SLICE("image/webp")
                                   : SLICE("image/png");
}

/* Build an image in our plain form. */
static void add_image(struct build *b, const allm_call *call,
                      const allm_json *from, struct slice type)
{
    const allm_json *bytes = allm_json_get(from, "b64_json");
    const allm_json *words = allm_json_get(from, "revised_prompt");
    bool here = allm_json_type_of(bytes) == ALLM_JSON_TEXT;
    bool packed = call->image->response_format == ALLM_IMAGE_FORMAT_BASE64;
    build_object(b);
    build_object_at(b, "source");
    build_text_at(b, "type",
                  !here    ? SLICE("url")
                  : packed ? SLICE("base64")
                           : SLICE("binary"));
    build_value_at(b, "value", here ? bytes : allm_json_get(from, "url"));
    build_end(b);
    if (here)
        build_text_at(b, "mime_type", type);
    if (allm_json_type_of(words) == ALLM_JSON_TEXT)
        build_value_at(b, "revised_prompt", words);
    build_end(b);
}

static bool is_image(const allm_json *v)
{
    return allm_json_type_of(allm_json_get(v, "b64_json")) == ALLM_JSON_TEXT ||
           allm_json_type_of(allm_json_get(v, "url")) == ALLM_JSON_TEXT;
}

static allm_status put_images(struct answer *a, const allm_json *document)
{
    const allm_json *list = allm_json_get(document, "data");
    struct build b = build_array_in(a->sink->arena);
    for (const allm_json *v = NULL; (v = allm_json_next(list, v));) {
        if (!is_image(v))
            return answer_malformed(a, "an image of the response has neither "
                                       "b64_json nor url");
        add_image(&b, a->call, v, type_of(a->call, document));
    }
    const allm_json *images = build_finish(&b);
    if (!images)
        return a->sink->status = ALLM_ERR_NOMEM;
    document_result(a, images);
    return ALLM_OK;
}

static allm_status read_images(struct answer *a, const allm_json *document)
{
    const allm_json *list = allm_json_get(document, "data");
    if (allm_json_type_of(list) != ALLM_JSON_ARRAY)
        return answer_malformed(a, "the response has no list of images in "
                                   "\"data\"");
    if (!allm_json_count(list))
        return answer_fail(a, ALLM(error, .kind = ALLM_ERR_ADAPTER,
                                   .reason = "content_filter",
                                   .message = "the provider returned no "
                                              "image: all of them were "
                                              "filtered"));
    allm_status status = put_images(a, document);
    if (status != ALLM_OK || a->over)
        return status;
    openai_usage_take(a, allm_json_get(document, "usage"));
    return answer_close(a);
}

DOCUMENT_ADAPTER(openai_image, image_encode, read_images, error_body_explain,
                 "authorization", "Bearer ");
