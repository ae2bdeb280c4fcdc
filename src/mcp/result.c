/* result.c - the result of a tool, as a chat uses it */
#include "mcp/result.h"

#include "base/buf.h"
#include "json/build.h"
#include "json/schema.h"

struct reading_result {
    struct buf text;
    struct build images;
    size_t image_count;
    bool begun;                 /* a line end goes before the next part */
};

/* ---------------------------------------------------------------- parts --- */

static void next_part(struct reading_result *r)
{
    if (r->begun)
        buf_byte(&r->text, '\n');
    r->begun = true;
}

/* "[image, image/png, 120 bytes]" for what cannot be text. */
static void add_line(struct reading_result *r, const char *what,
                     struct slice type, struct slice base64)
{
    next_part(r);
    buf_format(&r->text, "[%s", what);
    if (type.len) {
        buf_text(&r->text, ", ");
        buf_add(&r->text, type);
    }
    buf_format(&r->text, ", %zu bytes]", base64.len / 4 * 3);
}

static void add_image(struct reading_result *r, struct slice type,
                      struct slice base64)
{
    add_line(r, "image", type, base64);
    build_object(&r->images);
    build_text_at(&r->images, "data", base64);
    build_text_at(&r->images, "mimeType", type);
    build_end(&r->images);
    r->image_count++;
}

static void add_resource(struct reading_result *r, const allm_json *resource)
{
    struct slice text = json_text_at(resource, "text");
    struct slice blob = json_text_at(resource, "blob");
    struct slice type = json_text_at(resource, "mimeType");
    if (text.ptr) {
        next_part(r);
        buf_add(&r->text, text);
    } else if (blob.ptr && slice_starts(type, SLICE("image/"))) {
        add_image(r, type, blob);
    } else {
        add_line(r, "resource", type, blob);
    }
}

static void add_link(struct reading_result *r, const allm_json *link)
{
    next_part(r);
    buf_text(&r->text, "[link to ");
    buf_add(&r->text, json_text_at(link, "uri"));
    if (json_text_at(link, "name").len) {
        buf_text(&r->text, ", ");
        buf_add(&r->text, json_text_at(link, "name"));
    }
    buf_byte(&r->text, ']');
}

static void add_part(struct reading_result *r, const allm_json *part)
{
    const allm_json *type = json_at(part, "type");
    struct slice data = json_text_at(part, "data");
    struct slice mime = json_text_at(part, "mimeType");
    if (json_is(type, "text")) {
        next_part(r);
        buf_add(&r->text, json_text_at(part, "text"));
    } else if (json_is(type, "image") && data.ptr) {
        add_image(r, mime, data);
    } else if (json_is(type, "resource")) {
        add_resource(r, json_at(part, "resource"));
    } else if (json_is(type, "resource_link")) {
        add_link(r, part);
    } else if (json_is(type, "audio")) {
        add_line(r, "audio", mime, data);
    } else {
        add_line(r, "content of an unknown type", json_slice(type), data);
    }
}

/* ---------------------------------------------------------------- value --- */

static const allm_json *missing_value(struct arena *a)
{
    struct build b = build_array_in(a);
    build_object(&b);
    build_text_at(&b, "path", SLICE(""));
    build_text_at(&b, "message",
                  SLICE("the tool has an outputSchema, but its result has no "
                        "structuredContent"));
    build_end(&b);
    return build_finish(&b);
}

/* The value, with what is wrong with it. */
static const allm_json *faulty_value(struct arena *a, const allm_json *value,
                                     const allm_json *faults)
{
    if (!faults || !allm_json_count(faults))
        return faults ? value : NULL;
    struct build b = build_object_in(a);
    build_value_at(&b, "result", value);
    build_value_at(&b, "schema_errors", faults);
    return build_finish(&b);
}

static const allm_json *make_value(struct arena *a, const allm_json *result,
                                   const allm_json_schema *output,
                                   struct slice text)
{
    const allm_json *structured = json_at(result, "structuredContent");
    const allm_json *value = structured ? structured : build_alone(a, text);
    if (!output || !value)
        return value;
    return faulty_value(a, value,
                        structured ? schema_check(output, structured, a)
                                   : missing_value(a));
}

bool mcp_result_make(struct arena *a, const allm_json *result,
                     const allm_json_schema *output, struct mcp_result *out)
{
    const allm_json *content = json_at(result, "content");
    const allm_json *part = NULL;
    struct reading_result r = { .begun = false };
    buf_init(&r.text, a, SIZE_MAX - 1);
    build_start_array(&r.images, a);
    if (json_is_type(content, ALLM_JSON_ARRAY))
        while ((part = allm_json_next(content, part)))
            add_part(&r, part);
    build_end(&r.images);
    out->failed = allm_json_true(json_at(result, "isError"));
    out->text = buf_slice(&r.text);
    out->images = r.image_count ? build_done(&r.images) : NULL;
    out->value = make_value(a, result, out->failed ? NULL : output, out->text);
    return !r.text.broken && !r.images.broken && out->value;
}
