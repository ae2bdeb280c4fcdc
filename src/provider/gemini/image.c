/*
 * image.c - generate images with generateContent: Google's native API
 *
 *      {"contents": [{"role": "user", "parts": [{"text"}, {"inlineData"}]}],
 *       "generationConfig": {"responseModalities": ["TEXT", "IMAGE"], ...}}
 *        --> {"candidates": [{"content": {"parts": [{"inlineData"}]}}]}
 *
 * A size becomes the nearest aspect ratio that the models support; if none is
 * near, the request is rejected.
 */
#include "provider/dialects.h"

#include "base/status.h"
#include "provider/document.h"
#include "provider/extra.h"
#include "provider/gemini/address.h"
#include "provider/gemini/config.h"
#include "provider/gemini/error.h"
#include "provider/gemini/field.h"
#include "provider/gemini/finish.h"
#include "provider/gemini/usage.h"
#include "provider/http.h"
#include "provider/image_source.h"
#include "json/build.h"
#include "json/json.h"

/* ------------------------------------------------------ aspect ratios --- */

static const struct {
    int64_t width, height;
    const char *name;
} ratios[] = {
    { 1, 1, "1:1" },  { 16, 9, "16:9" }, { 9, 16, "9:16" },
    { 4, 3, "4:3" },  { 3, 4, "3:4" },
};

/* Remove the digits at the start of a text; -1 if there are none. */
static int64_t take_number(const char **text)
{
    int64_t n = -1;
    for (const char *p = *text; *p >= '0' && *p <= '9' && n < 1000000; p++) {
        n = (n < 0 ? 0 : n * 10) + (*p - '0');
        *text = p + 1;
    }
    return n;
}

/* The aspect ratio of a size, or NULL if there is no size; false: not
 * supported. */
static bool ratio_of(const allm_image_request *r, const char **name)
{
    int64_t w = r->width.value, h = r->height.value;
    const char *text = r->size_text;
    *name = NULL;
    if (!r->width.set || !r->height.set) {
        if (!text || !strcmp(text, "auto"))
            return true;
        w = take_number(&text);
        char separator = *text;
        text += separator != '\0';
        h = take_number(&text);
        if ((separator != 'x' && separator != ':') || *text)
            return false;
    }
    for (size_t i = 0; w > 0 && h > 0 && i < sizeof ratios / sizeof *ratios;
         i++) {
        double actual = (double)w / (double)h;
        double wanted = (double)ratios[i].width / (double)ratios[i].height;
        if (actual > wanted * 0.95 && actual < wanted * 1.05)
            *name = ratios[i].name;
    }
    return *name != NULL;
}

/* ------------------------------------------------------------ request --- */

static void write_contents(const allm_call *call, allm_http *http,
                           struct emit *e)
{
    const allm_image_request *r = call->image;
    emit_member_raw(e, "contents", SLICE("[{\"role\":\"user\",\"parts\":["));
    e->comma = false;
    emit_open(e, '{');
    emit_member(e, "text", r->prompt);
    emit_close(e, '}');
    for (size_t i = 0; i < r->input_image_count; i++) {
        const char *type = image_source_type(r->input_images[i]);
        emit_open(e, '{');
        emit_member_open(e, "inlineData", '{');
        emit_member(e, "mimeType", type ? type : "image/png");
        emit_name(e, SLICE("data"));
        image_source_write(e, r->input_images[i], false, http->arena);
        emit_close(e, '}');
        emit_close(e, '}');
    }
    buf_text(e->out, "]}]");
    e->comma = true;
}

/* Our generationConfig, merged with the caller's options.  NULL: *error, or out
 * of memory. */
static const allm_json *config_of(const struct extra *x, struct arena *a,
                                  const char *ratio, const allm_error **error)
{
    const allm_image_request *r = x->call->image;
    struct build b = build_object_in(a);
    build_array_at(&b, "responseModalities");
    build_text(&b, SLICE("TEXT"));
    build_text(&b, SLICE("IMAGE"));
    build_end(&b);
    if (ratio) {
        build_object_at(&b, "imageConfig");
        build_text_at(&b, "aspectRatio", slice_of(ratio));
        build_end(&b);
    }
    if (r->n.set && r->n.value > 1)
        build_int_at(&b, "candidateCount", r->n.value);
    const allm_json *ours = build_finish(&b);
    const allm_json *over = gemini_config(x, a, error);
    return ours && over ? json_merge(a, ours, over) : NULL;
}

static void write_body(const struct extra *x, allm_http *http,
                       const allm_json *config)
{
    struct emit e;
    emit_init(&e, &http->body);
    emit_open(&e, '{');
    write_contents(x->call, http, &e);
    emit_member_value(&e, "generationConfig", config);
    for (const allm_json *k = NULL; (k = allm_json_next(x->options, k));) {
        const char *sent = gemini_config_body(x, json_slice(k));
        const allm_json *v = allm_json_value(k);
        if (!sent || !strcmp(sent, "contents") ||
            allm_json_type_of(v) == ALLM_JSON_NULL)
            continue;
        emit_key(&e, slice_of(sent));
        emit_value(&e, v);
    }
    emit_close(&e, '}');
}

/* Reject what the provider does not support, before anything is sent. */
static const allm_error *request_check(const allm_call *call, allm_http *http,
                                       const char **ratio)
{
    const allm_image_request *r = call->image;
    if (r->operation == ALLM_IMAGE_OP_VARIATION)
        return status_error(
            http->arena, ALLM_ERR_ADAPTER, "unsupported_operation",
            "this provider does not make variations; use edit with "
            "a prompt");
    if (r->mask || r->response_format == ALLM_IMAGE_FORMAT_URL)
        return status_error(
            http->arena, ALLM_ERR_ADAPTER, "unsupported_feature",
            "this provider accepts no mask and returns no URLs; "
            "describe the change in the prompt, and request binary "
            "or base64");
    if (!ratio_of(r, ratio))
        return status_error(
            http->arena, ALLM_ERR_ADAPTER, "invalid_request",
            "the size must have the aspect ratio 1:1, 16:9, 9:16, "
            "4:3 or 3:4, such as 1024x1024");
    return NULL;
}

static allm_status image_encode(const allm_call *call, allm_http *http)
{
    struct extra x;
    const char *ratio = NULL;
    const allm_json *config = NULL;
    const allm_error *error = extra_init(&x, call, http->arena);
    if (!error)
        error = request_check(call, http, &ratio);
    if (!error)
        config = config_of(&x, http->arena, ratio, &error);
    if (!error && !config)
        error = status_nomem();
    if (!error)
        error = gemini_address_write(call, http, "generateContent", NULL);
    if (!error)
        error = extra_headers(&x, http, http->arena);
    if (error)
        return allm_http_fail(http, error);
    http_headers(http, "application/json");
    write_body(&x, http, config);
    return ALLM_OK;
}

/* ----------------------------------------------------------- response --- */

/* Add an image in our plain form; false: the part is not an image. */
static bool add_image(struct build *b, const allm_call *call,
                      const allm_json *part)
{
    const allm_json *from = gemini_field(part, "inlineData");
    const allm_json *bytes = allm_json_get(from, "data");
    const allm_json *type = gemini_field(from, "mimeType");
    bool as_base64 = call->image->response_format == ALLM_IMAGE_FORMAT_BASE64;
    if (allm_json_type_of(bytes) != ALLM_JSON_TEXT ||
        allm_json_true(allm_json_get(part, "thought")))
        return false;
    build_object(b);
    build_object_at(b, "source");
    build_text_at(b, "type", as_base64 ? SLICE("base64") : SLICE("binary"));
    build_value_at(b, "value", bytes);
    build_end(b);
    build_text_at(b, "mime_type",
                  allm_json_type_of(type) == ALLM_JSON_TEXT
                      ? json_slice(type)
                      : SLICE("image/png"));
    build_end(b);
    return true;
}

static const allm_json *images_of(struct answer *a, const allm_json *document)
{
    const allm_json *all = allm_json_get(document, "candidates");
    struct build b = build_array_in(a->sink->arena);
    for (const allm_json *c = NULL; (c = allm_json_next(all, c));) {
        const allm_json *parts = allm_json_get(allm_json_get(c, "content"),
                                               "parts");
        for (const allm_json *p = NULL; (p = allm_json_next(parts, p));)
            add_image(&b, a->call, p);
    }
    return build_finish(&b);
}

/* Report why there is no image. */
static allm_status explain_missing(struct answer *a, const allm_json *document)
{
    const allm_json *first = allm_json_at(allm_json_get(document, "candidates"),
                                          0);
    const allm_json *feedback = gemini_field(document, "promptFeedback");
    struct slice name = gemini_finish_word(gemini_field(first, "finishReason"),
                                           a->sink->arena);
    bool blocked = gemini_field(feedback, "blockReason") ||
                   gemini_finish_of(name) == ALLM_FINISH_CONTENT_FILTER;
    if (!blocked)
        return answer_malformed(a, "the response contains no image; check "
                                   "that the model can generate images");
    return answer_fail(a, ALLM(error, .kind = ALLM_ERR_ADAPTER,
                               .reason = "content_filter",
                               .message = "the provider blocked the image; "
                                          "change the prompt"));
}

static allm_status read_images(struct answer *a, const allm_json *document)
{
    struct gemini_usage counts = { .any = false };
    const allm_json *images = images_of(a, document);
    if (!images || !gemini_usage_add(&counts, a->life,
                                     gemini_field(document, "usageMetadata")))
        return a->sink->status = ALLM_ERR_NOMEM;
    if (!allm_json_count(images))
        return explain_missing(a, document);
    document_result(a, images);
    answer_id(a, gemini_field_text(document, "responseId"));
    answer_model(a, gemini_field_text(document, "modelVersion"));
    if (counts.any) {
        allm_usage usage = gemini_usage_read(&counts, a->life);
        answer_usage(a, &usage);
    }
    return answer_close(a);
}

DOCUMENT_ADAPTER(gemini_image, image_encode, read_images, gemini_error_explain,
                 "x-goog-api-key", NULL);
