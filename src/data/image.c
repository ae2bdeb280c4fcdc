/*
 * image.c - a picture: bytes, base64 text, a URL or a file
 *
 * Nothing is fetched, decoded or read when an image is made; only the two
 * conversions look at the data, and read the file of a file source.
 */
#include "data/image.h"

#include "base/base64.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "data/decode.h"
#include "data/encode.h"
#include "json/json.h"

#include <errno.h>
#include <stdint.h>

enum { FILE_LIMIT = 256 * 1024 * 1024 };

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
    struct buf bytes;
    buf_init(&bytes, d->arena, SIZE_MAX / 2);
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
    .tag = "ALLM.Image",
    .noun = "image",
    .size = sizeof(allm_image),
    .kept = offsetof(allm_image, kept),
    .fields = fields,
};

/* --------------------------------------------------------- constructors --- */

static const struct {
    const char *extension, *mime_type;
} by_extension[] = {
    { "png", "image/png" },   { "jpg", "image/jpeg" }, { "jpeg", "image/jpeg" },
    { "webp", "image/webp" }, { "gif", "image/gif" },
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_word(const char *text, const char *word)
{
    while (*word && lower(*text) == *word)
        text++, word++;
    return !*word && !*text;
}

static const char *mime_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (!dot || dot == path || dot[-1] == '/')  /* a name, no extension */
        return NULL;
    for (size_t i = 0; i < sizeof by_extension / sizeof *by_extension; i++)
        if (same_word(dot + 1, by_extension[i].extension))
            return by_extension[i].mime_type;
    return NULL;
}

allm_image *allm_image_new(const allm_image *given)
{
    return shape_new(&image_shape, given);
}

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
    struct arena a;
    arena_init(&a, mem_default());
    const char *mime_type = arena_copy(&a, type);
    allm_image *image = mime_type ? allm_image_from_base64(comma + 1, mime_type)
                                  : NULL;
    arena_release(&a);
    return image;
}

void allm_image_free(allm_image *image)
{
    shape_free(image);
}

const allm_error *allm_image_error(const allm_image *image)
{
    return shape_error(image);
}

allm_text *allm_image_json(const allm_image *image, uint32_t form)
{
    return encode_to_text(&image_shape, image, form);
}

/* ---------------------------------------------------------- conversions --- */

/* The bytes, in the arena or lent by the image; NULL or the reason why not.
 * Lack of memory shows in the arena. */
static const char *bytes_of(const allm_image *image, struct arena *a,
                            struct slice *out)
{
    struct slice data = { image->data, image->data_len };
    struct buf bytes;
    int trouble = EINVAL;

    switch (image->source) {
    case ALLM_IMAGE_BINARY:
        *out = data;
        return NULL;
    case ALLM_IMAGE_BASE64:
        buf_init(&bytes, a, SIZE_MAX / 2);
        if (!base64_take(&bytes, data))
            return "invalid_base64";
        *out = buf_slice(&bytes);
        return NULL;
    case ALLM_IMAGE_FILE:
        if (!memchr(data.ptr, '\0', data.len))
            trouble = file_read(a, data.ptr, FILE_LIMIT, out);
        return trouble ? file_error_name(trouble) : NULL;
    case ALLM_IMAGE_URL:
        return "remote_source";
    default:
        return "missing_source";
    }
}

/* NULL, with the result in the arena, or the reason why not. */
typedef const char *convert_fn(const allm_image *image, struct arena *a,
                               struct slice *out);

static const char *make_binary(const allm_image *image, struct arena *a,
                               struct slice *out)
{
    const char *reason = bytes_of(image, a, out);
    if (!reason && out->ptr == image->data)
        out->ptr = arena_copy(a, *out);
    return reason;
}

/* base64 sources are pasted as they are, others encoded. */
static const char *make_data_uri(const allm_image *image, struct arena *a,
                                 struct slice *out)
{
    if (image->source == ALLM_IMAGE_URL)
        return "remote_source";
    if (!image->mime_type)
        return "missing_mime_type";

    struct arena scratch;
    struct buf uri;
    struct slice bytes = { image->data, image->data_len };
    const char *reason = NULL;
    arena_init(&scratch, a->mem);
    buf_init(&uri, a, SIZE_MAX / 2);
    buf_text(&uri, "data:");
    buf_text(&uri, image->mime_type);
    buf_text(&uri, ";base64,");
    if (image->source == ALLM_IMAGE_BASE64) {
        buf_add(&uri, bytes);
    } else {
        reason = bytes_of(image, &scratch, &bytes);
        if (!reason)
            base64_add(&uri, bytes);
    }
    a->broken |= scratch.broken;
    arena_release(&scratch);
    *out = buf_slice(&uri);
    return reason;
}

/* (field, reason), as the model's bare words become errors here. */
static const allm_error *refusal(struct arena *a, const char *reason)
{
    const char *field = !strcmp(reason, "missing_mime_type") ? "mime_type"
                                                             : "source";
    struct path at = PATH_KEY(NULL, field);
    struct build b;
    build_init(&b, a);
    build_array(&b);
    path_write_pair(&b, &at, false, reason);
    build_end(&b);
    const allm_json *errors = build_done(&b);
    allm_error *e = status_draft(a, ALLM_ERR_VALIDATION, "invalid_request",
                                 "the image cannot be converted: %s (%s)",
                                 reason, field);
    if (!e || !errors)
        return status_nomem();
    e->errors = errors;
    return e;
}

static allm_text *convert(const allm_image *given, convert_fn *make)
{
    allm_text *t = given ? text_begin(mem_default(), 0) : NULL;
    if (!t)
        return NULL;
    struct arena *a = text_arena(t);
    struct slice bytes = { NULL, 0 };
    const allm_error *error = NULL;
    /* a caller's own struct is brought into shape first */
    allm_image *image = shape_keep(&image_shape, given, a->mem, a, &error);
    const char *reason = image ? make(image, a, &bytes) : NULL;
    shape_free(image);
    if (reason)
        error = refusal(a, reason);
    if (a->broken || (error && error->kind == ALLM_ERR_NOMEM)) {
        allm_text_free(t);
        return NULL;
    }
    return error ? text_fail(t, error) : text_finish(t, bytes);
}

allm_text *allm_image_to_binary(const allm_image *image)
{
    return convert(image, make_binary);
}

allm_text *allm_image_to_data_uri(const allm_image *image)
{
    return convert(image, make_data_uri);
}
