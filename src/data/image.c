/*
 * image.c - an image: bytes, base64 text, a URL or the path of a file
 *
 * Nothing is fetched, decoded or read here; run/image_to.c converts the data.
 */
#include "data/image.h"

#include "base/base64.h"
#include "base/nocase.h"
#include "data/decode.h"
#include "data/encode.h"
#include "data/noun.h"
#include "json/json.h"

#include <stdint.h>

static const char *const source_word[] = { NULL, "binary", "base64", "url",
                                           "file" };

/* ---------------------------------------------------------- JSON source --- */

/* As a text that needs no escape. */
static void write_base64(struct encoder *e, struct slice bytes)
{
    emit_raw(&e->emit, SLICE("\""));
    base64_add(&e->out, bytes);
    buf_byte(&e->out, '"');
}

static void write_source(struct encoder *e, const void *value)
{
    const allm_image *image = value;
    struct slice data = { image->data, image->data_len };
    if (image->source <= ALLM_IMAGE_NONE || image->source > ALLM_IMAGE_FILE) {
        emit_null(&e->emit);
        return;
    }
    emit_open(&e->emit, '{');
    emit_name(&e->emit, SLICE("type"));
    encode_text(e, source_word[image->source]);
    emit_name(&e->emit, SLICE("value"));
    if (image->source == ALLM_IMAGE_BINARY)
        write_base64(e, data);
    else
        emit_text(&e->emit, data);
    emit_close(&e->emit, '}');
}

static bool read_binary(struct decoder *d, struct slice text, allm_image *image)
{
    struct buf bytes = buf_in(d->arena, SIZE_MAX / 2);
    buf_reserve(&bytes, text.len / 4 * 3 + 3);
    if (!base64_take(&bytes, text))
        return bytes.broken ? decode_nomem(d)
                            : decode_refuse(d, "invalid_base64");
    image->data = bytes.ptr;
    image->data_len = bytes.len;
    return true;
}

static bool read_source(struct decoder *d, const allm_json *v, void *value)
{
    allm_image *image = value;
    const allm_json *type = allm_json_get(v, "type");
    const allm_json *data = allm_json_get(v, "value");
    if (allm_json_type_of(type) != ALLM_JSON_TEXT ||
        allm_json_type_of(data) != ALLM_JSON_TEXT)
        return allm_json_type_of(v) == ALLM_JSON_NULL;
    for (int i = ALLM_IMAGE_BINARY; i <= ALLM_IMAGE_FILE; i++)
        if (json_is(type, source_word[i]))
            image->source = (allm_image_source)i;
    if (!image->source)
        return !d->lenient && decode_refuse_at(d, "type", "atom_decode_failed");
    bool read = image->source == ALLM_IMAGE_BINARY
                    ? read_binary(d, json_slice(data), image)
                    : decode_bytes(d, data, &image->data, &image->data_len);
    return read && allm_json_count(v) == 2;     /* else it has more to keep */
}

const struct shape_own image_source_own = { write_source, read_source, NULL };

static const struct shape_field fields[] = {
    FIELD_OWN("source", image_source_own, 0),
    FIELD_FLAGS(image, source, SHAPE_FLAG, SHAPE_HIDDEN | SHAPE_NEEDED),
    FIELD_BYTES(image, data, data_len, SHAPE_HIDDEN | SHAPE_NEEDED),
    FIELD(image, mime_type, SHAPE_TEXT),
    FIELD(image, width, SHAPE_INT),
    FIELD(image, height, SHAPE_INT),
    FIELD(image, prompt, SHAPE_TEXT),
    FIELD(image, revised_prompt, SHAPE_TEXT),
    FIELD(image, metadata, SHAPE_MAP),
    FIELD_END,
};

const struct shape image_shape = {
    SHAPE_OF(image, "ALLM.Image"),
    .fields = fields,
};

/* --------------------------------------------------------- constructors --- */

static const struct {
    const char *extension, *mime_type;
} by_extension[] = {
    { "png", "image/png" },   { "jpg", "image/jpeg" }, { "jpeg", "image/jpeg" },
    { "webp", "image/webp" }, { "gif", "image/gif" },
};

static const char *mime_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (!dot || dot == path || dot[-1] == '/')  /* a name, no extension */
        return NULL;
    for (size_t i = 0; i < sizeof by_extension / sizeof *by_extension; i++)
        if (nocase_is(slice_of(dot + 1), by_extension[i].extension))
            return by_extension[i].mime_type;
    return NULL;
}

NOUN_FUNCTIONS(image)

allm_image *allm_image_from_file(const char *path)
{
    if (!path)
        return shape_refused(&image_shape, "missing_field",
                             "allm_image_from_file: the path is missing");
    return allm_image_new(ALLM(image, .source = ALLM_IMAGE_FILE, .data = path,
                               .mime_type = mime_of(path)));
}

allm_image *allm_image_from_binary(const void *bytes, size_t len,
                                   const char *mime_type)
{
    if (!mime_type || !bytes)
        return shape_refused(&image_shape, "missing_field",
                             "allm_image_from_binary: bytes and a type such "
                             "as \"image/png\" are needed");
    /* length 0 would mean "up to its NUL" */
    return allm_image_new(ALLM(image, .source = ALLM_IMAGE_BINARY,
                               .data = len ? bytes : "", .data_len = len,
                               .mime_type = mime_type));
}

allm_image *allm_image_from_base64(const char *text, const char *mime_type)
{
    if (!mime_type || !text)
        return shape_refused(&image_shape, "missing_field",
                             "allm_image_from_base64: a text and a type such "
                             "as \"image/png\" are needed");
    return allm_image_new(ALLM(image, .source = ALLM_IMAGE_BASE64, .data = text,
                               .mime_type = mime_type));
}

allm_image *allm_image_from_url(const char *url)
{
    if (!url)
        return shape_refused(&image_shape, "missing_field",
                             "allm_image_from_url: the URL is missing");
    return allm_image_new(ALLM(image, .source = ALLM_IMAGE_URL, .data = url));
}

allm_image *allm_image_from_data_uri(const char *uri)
{
    struct slice begin = SLICE("data:"), end = SLICE(";base64");
    const char *comma = uri ? strchr(uri, ',') : NULL;
    struct slice head = { uri, comma ? (size_t)(comma - uri) : 0 };
    if (head.len <= begin.len + end.len || !slice_starts(head, begin) ||
        !slice_is(slice_skip(head, head.len - end.len), end.ptr))
        return shape_refused(&image_shape, "invalid_data_uri",
                             "allm_image_from_data_uri: expected "
                             "\"data:<type>;base64,<text>\"");
    struct slice type = slice_skip(head, begin.len);
    type.len -= end.len;
    struct arena a = arena_in(mem_default());
    const char *mime_type = arena_copy(&a, type);
    allm_image *image = mime_type ? allm_image_from_base64(comma + 1, mime_type)
                                  : NULL;
    arena_release(&a);
    return image;
}
