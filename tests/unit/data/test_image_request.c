/* test_image_request.c - requests for images */
#include "data/image.h"

#include "harness/noun.h"

#include <stdlib.h>

static void has_defaults(void)
{
    allm_image_request *r =
        allm_image_request_new(ALLM(image_request, .prompt = "a kestrel"));
    CHECK_WELL(allm_image_request_error(r));
    CHECK_INT(GET(r, operation), ALLM_IMAGE_OP_GENERATE);
    CHECK_INT(GET(r, response_format), ALLM_IMAGE_FORMAT_BINARY);
    CHECK_TEXT(GET(r, prompt), "a kestrel");
    CHECK_JSON(allm_image_request_json(r, ALLM_FORM_TAGGED),
               "{'__type__':'ALLM.ImageRequest','data':{"
               "'operation':'generate','model':null,'prompt':'a kestrel',"
               "'n':1,'size':null,'quality':null,'style':null,"
               "'background':null,'response_format':'binary',"
               "'input_images':[],'mask':null,'options':{},'metadata':{}}}");
    allm_image_request_free(r);
}

static void keeps_every_field(void)
{
    allm_image *image = allm_image_from_url("u");
    const allm_image *images[] = { image, image };
    allm_json *options = noun_json("{'o':1}"), *kept = noun_json("{'k':2}");
    allm_json *metadata = noun_json("{'m':3}");
    allm_image_request *r = allm_image_request_new(
        ALLM(image_request, .operation = ALLM_IMAGE_OP_EDIT,
             .response_format = ALLM_IMAGE_FORMAT_URL, .model = "gpt-image-1",
             .prompt = "p", .n = ALLM_NUM(2), .size_text = "auto",
             .width = ALLM_NUM(1024), .height = ALLM_NUM(512),
             .quality = "high", .style = "s", .background = "b",
             .input_images = images, .input_image_count = 2, .mask = image,
             .options = options, .metadata = metadata, .kept = kept));
    allm_image_free(image);
    allm_json_free(options);
    allm_json_free(metadata);
    allm_json_free(kept);
    CHECK_WELL(allm_image_request_error(r));
    if (r && check_whole()) {
        CHECK_INT(r->operation, ALLM_IMAGE_OP_EDIT);
        CHECK_INT(r->response_format, ALLM_IMAGE_FORMAT_URL);
        CHECK_TEXT(r->model, "gpt-image-1");
        CHECK_TEXT(r->prompt, "p");
        CHECK(r->n.set && r->n.value == 2);
        CHECK_TEXT(r->size_text, "auto");
        CHECK(r->width.set && r->width.value == 1024);
        CHECK(r->height.set && r->height.value == 512);
        CHECK_TEXT(r->quality, "high");
        CHECK_TEXT(r->style, "s");
        CHECK_TEXT(r->background, "b");
        CHECK_INT(r->input_image_count, 2);
        CHECK_TEXT(r->input_images[1]->data, "u");
        CHECK_TEXT(r->mask->data, "u");
        CHECK_VALUE(r->options, "{'o':1}");
        CHECK_VALUE(r->metadata, "{'m':3}");
        CHECK_VALUE(r->kept, "{'k':2}");
    }
    allm_image_request_free(r);
}

/* "size" is a pair, a word, or null; and it comes back as it was. */
static void a_size_survives_the_round_trip(void)
{
    static const struct {
        const char *why, *size_text;
        allm_int width, height;
        const char *json;
    } rows[] = {
        { "none", NULL, { 0 }, { 0 }, "null" },
        { "a word", "auto", { 0 }, { 0 }, "\"auto\"" },
        { "a text", "1024x1024", { 0 }, { 0 }, "\"1024x1024\"" },
        { "half a pair is none", "auto", ALLM_NUM(0), { 0 }, "\"auto\"" },
        { "a pair", NULL, ALLM_NUM(1024), ALLM_NUM(512), "[1024,512]" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_image_request *r = allm_image_request_new(
            ALLM(image_request, .prompt = "x", .size_text = rows[i].size_text,
                 .width = rows[i].width, .height = rows[i].height));
        allm_text *t = allm_image_request_json(r, ALLM_FORM_TAGGED);
        size_t len;
        const char *json = allm_text_bytes(t, &len);
        CHECK(json && strstr(json, rows[i].json));
        allm_codec *c = allm_codec_decode(json, len, NULL, NULL);
        const allm_image_request *again =
            allm_codec_value(c, ALLM_TYPE_IMAGE_REQUEST);
        CHECK_TEXT(GET(again, size_text), rows[i].size_text);
        if (again) {
            CHECK(again->width.set == rows[i].height.set);
            CHECK_INT(again->width.value, rows[i].width.value);
            CHECK_INT(again->height.value, rows[i].height.value);
        }
        allm_codec_free(c);
        allm_text_free(t);
        allm_image_request_free(r);
    }
}

static void refuses_what_does_not_fit(void)
{
    allm_image *bad = allm_image_from_url(NULL);
    const allm_image *hole[] = { NULL };
    allm_image_request *r =
        allm_image_request_new(ALLM(image_request, .mask = bad));
    if (bad)
        CHECK_MISUSE(allm_image_request_error(r), "missing_field",
                     "URL is missing");
    allm_image_free(bad);
    allm_image_request_free(r);
    r = allm_image_request_new(
        ALLM(image_request, .input_images = hole, .input_image_count = 1));
    CHECK_MISUSE(allm_image_request_error(r), "null_element",
                 "element 0 of input_images is NULL");
    allm_image_request_free(r);
    r = allm_image_request_new(&(allm_image_request){ .prompt = "x" });
    CHECK_MISUSE(allm_image_request_error(r), "struct_size",
                 "allm_image_request");
    allm_image_request_free(r);
}

static void sizes(void)
{
    static const allm_image_request full = { .prompt = "x", .quality = "q" };
    allm_image_request *older =
        noun_sized(&full, sizeof full, offsetof(allm_image_request, quality));
    allm_image_request *newer = noun_sized(&full, sizeof full, sizeof full + 8);
    allm_image_request *a = allm_image_request_new(older);
    allm_image_request *b = allm_image_request_new(newer);
    CHECK_TEXT(GET(a, prompt), "x");
    CHECK(!GET(a, quality));
    CHECK_TEXT(GET(b, quality), "q");
    allm_image_request_free(a);
    allm_image_request_free(b);
    free(older);
    free(newer);
}

static void nothing_is_accepted(void)
{
    allm_image_request *r = allm_image_request_new(NULL);
    CHECK_WELL(allm_image_request_error(r));
    allm_image_request_free(r);
    CHECK_ALWAYS(!allm_image_request_json(NULL, ALLM_FORM_PLAIN));
    CHECK_ERROR(allm_image_request_error(NULL), ALLM_ERR_NOMEM, "out_of_memory",
                NULL);
    allm_image_request_free(NULL);
}

TESTS = {
    TEST(has_defaults),
    TEST(keeps_every_field),
    TEST(a_size_survives_the_round_trip),
    TEST(refuses_what_does_not_fit),
    TEST(sizes),
    TEST(nothing_is_accepted),
    TESTS_END
};
