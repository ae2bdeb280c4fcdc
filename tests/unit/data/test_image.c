/* test_image.c - images: their sources and their JSON form */
#include "data/image.h"

#include "harness/noun.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void check_image(allm_image *i, allm_image_source source,
                        struct slice data, const char *mime_type)
{
    struct slice got = { GET(i, data), GET(i, data_len) };
    CHECK_WELL(allm_image_error(i));
    CHECK_INT(GET(i, source), source);
    CHECK_SLICE(got, data);
    CHECK_TEXT(GET(i, mime_type), mime_type);
    CHECK(!i || (!i->width.set && !i->height.set));
    CHECK(!GET(i, prompt) && !GET(i, revised_prompt) && !GET(i, metadata));
    allm_image_free(i);
}

/* --------------------------------------------------------- constructors --- */

static void the_type_follows_from_the_extension(void)
{
    static const struct {
        const char *path, *mime_type;
    } rows[] = {
        { "pics/cat.png", "image/png" },
        { "cat.jpg", "image/jpeg" },
        { "cat.jpeg", "image/jpeg" },
        { "cat.webp", "image/webp" },
        { "cat.gif", "image/gif" },
        { "CAT.PNG", "image/png" },
        { "cat.JpEg", "image/jpeg" },
        { "a.b/c.tar.gif", "image/gif" },
        { "pics/noext", NULL },
        { "pics.png/noext", NULL },
        { "cat.bmp", NULL },
        { "cat.pn", NULL },
        { "cat.pngx", NULL },
        { "cat.", NULL },
        { "cat.png.", NULL },
        { ".png", NULL },               /* a name, not an extension */
        { "pics/.png", NULL },
        { "", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].path);
        check_image(allm_image_from_file(rows[i].path), ALLM_IMAGE_FILE,
                    slice_of(rows[i].path), rows[i].mime_type);
    }
}

static void from_what_the_caller_has(void)
{
    check_image(allm_image_from_binary("\x89P", 2, "image/png"),
                ALLM_IMAGE_BINARY, SLICE("\x89P"), "image/png");
    check_image(allm_image_from_binary("a\0b", 3, "x"), ALLM_IMAGE_BINARY,
                SLICE("a\0b"), "x");
    check_image(allm_image_from_binary("abc", 0, "x"), ALLM_IMAGE_BINARY,
                SLICE(""), "x");
    check_image(allm_image_from_base64("aGk=", "image/png"), ALLM_IMAGE_BASE64,
                SLICE("aGk="), "image/png");
    check_image(allm_image_from_base64("not base64!", "x"), ALLM_IMAGE_BASE64,
                SLICE("not base64!"), "x");
    check_image(allm_image_from_url("https://x.org/cat.png"), ALLM_IMAGE_URL,
                SLICE("https://x.org/cat.png"), NULL);
}

static void from_a_data_uri(void)
{
    static const struct {
        const char *why, *uri, *data, *mime_type;
    } rows[] = {
        { "as we write it", "data:image/png;base64,aGk=", "aGk=",
          "image/png" },
        { "no data", "data:image/png;base64,", "", "image/png" },
        { "the text is not looked at", "data:x;base64,?,?", "?,?", "x" },
        { "a parameter stays with the type",
          "data:image/svg+xml;charset=utf-8;base64,aGk=", "aGk=",
          "image/svg+xml;charset=utf-8" },
        { "no type", "data:;base64,aGk=", NULL, NULL },
        { "nothing", "data:,", NULL, NULL },
        { "not base64", "data:image/png,aGk=", NULL, NULL },
        { "another word", "data:image/png;base32,aGk=", NULL, NULL },
        { "no comma", "data:image/png;base64", NULL, NULL },
        { "another scheme", "http:image/png;base64,aGk=", NULL, NULL },
        { "a mark too early", "data;base64,aGk=", NULL, NULL },
        { "short", ",", NULL, NULL },
        { "empty", "", NULL, NULL },
        { "none", NULL, NULL, NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_image *image = allm_image_from_data_uri(rows[i].uri);
        if (rows[i].data) {
            check_image(image, ALLM_IMAGE_BASE64, slice_of(rows[i].data),
                        rows[i].mime_type);
            continue;
        }
        CHECK_MISUSE(allm_image_error(image), "invalid_data_uri",
                     "data:<type>;base64,<text>");
        CHECK_ALWAYS(!GET(image, data) && !GET(image, source));
        allm_image_free(image);
    }
}

static void keeps_every_field(void)
{
    allm_json *metadata = noun_json("{'a':1}"), *kept = noun_json("{'b':2}");
    allm_image *i = allm_image_new(
        ALLM(image, .source = ALLM_IMAGE_URL, .data = "u", .mime_type = "m",
             .width = ALLM_NUM(3), .height = ALLM_NUM(4), .prompt = "p",
             .revised_prompt = "r", .metadata = metadata, .kept = kept));
    if (i && check_whole()) {
        CHECK_WELL(allm_image_error(i));
        CHECK_INT(i->source, ALLM_IMAGE_URL);
        CHECK_TEXT(i->data, "u");
        CHECK_INT(i->data_len, 1);
        CHECK_TEXT(i->mime_type, "m");
        CHECK(i->width.set && i->width.value == 3);
        CHECK(i->height.set && i->height.value == 4);
        CHECK_TEXT(i->prompt, "p");
        CHECK_TEXT(i->revised_prompt, "r");
        CHECK_VALUE(i->metadata, "{'a':1}");
        CHECK_VALUE(i->kept, "{'b':2}");
    }
    allm_image_free(i);
    allm_json_free(metadata);
    allm_json_free(kept);
}

static void refused(allm_image *image, const char *reason, const char *words)
{
    CHECK_MISUSE(allm_image_error(image), reason, words);
    CHECK(!GET(image, data) && !GET(image, source));
    allm_image_free(image);
}

static void refuses_what_lacks_something(void)
{
    refused(allm_image_new(NULL), "missing_field", "source is missing");
    refused(allm_image_new(ALLM(image, .data = "x")), "missing_field",
            "allm_image_new: source is missing");
    refused(allm_image_new(ALLM(image, .source = ALLM_IMAGE_URL)),
            "missing_field", "data is missing");
    refused(allm_image_new(
                &(allm_image){ .source = ALLM_IMAGE_URL,
                                          .data = "x" }),
            "struct_size", "allm_image: the struct has no size");
    refused(allm_image_from_file(NULL), "missing_field",
            "allm_image_from_file: the path is missing");
    refused(allm_image_from_url(NULL), "missing_field",
            "allm_image_from_url: the URL is missing");
    refused(allm_image_from_binary(NULL, 3, "x"), "missing_field",
            "allm_image_from_binary");
    refused(allm_image_from_binary("x", 1, NULL), "missing_field",
            "\"image/png\"");
    refused(allm_image_from_base64(NULL, "x"), "missing_field",
            "allm_image_from_base64");
    refused(allm_image_from_base64("aGk=", NULL), "missing_field",
            "\"image/png\"");
}

/* ----------------------------------------------------------------- JSON --- */

static void a_refused_image_says_why_in_its_json(void)
{
    allm_image *bad = allm_image_from_url(NULL);
    allm_text *t = allm_image_json(bad, ALLM_FORM_TAGGED);
    CHECK_MISUSE(allm_text_error(t), "missing_field", "URL is missing");
    allm_text_free(t);
    allm_image_free(bad);
}

static void nothing_is_accepted(void)
{
    CHECK_ALWAYS(!allm_image_json(NULL, ALLM_FORM_PLAIN));
    CHECK_ERROR(allm_image_error(NULL), ALLM_ERR_NOMEM, "out_of_memory", NULL);
    allm_image_free(NULL);
}

static void has_a_json_form(void)
{
    allm_image *i = allm_image_from_binary("hi", 2, "image/png");
    CHECK_JSON(allm_image_json(i, ALLM_FORM_TAGGED),
               "{'__type__':'ALLM.Image','data':{'source':{'type':'binary',"
               "'value':'aGk='},'mime_type':'image/png','width':null,"
               "'height':null,'prompt':null,'revised_prompt':null,"
               "'metadata':{}}}");
    allm_image_free(i);
}

#define REST "'width':null,'height':null,'prompt':null," \
             "'revised_prompt':null,'metadata':{}}"

static void comes_back_from_json(void)
{
    static const struct {
        const char *why, *json, *want;
    } rows[] = {
        { "base64 is not looked at",
          "{'source':{'type':'base64','value':'?'}}",
          "{'source':{'type':'base64','value':'?'},'mime_type':null," REST },
        { "a file", "{'source':{'type':'file','value':'a.png'},'width':3}",
          "{'source':{'type':'file','value':'a.png'},'mime_type':null,"
          "'width':3,'height':null,'prompt':null,'revised_prompt':null,"
          "'metadata':{}}" },
        { "bytes", "{'source':{'type':'binary','value':'AAE='}}",
          "{'source':{'type':'binary','value':'AAE='},'mime_type':null,"
          REST },
        { "no bytes", "{'source':{'type':'binary','value':''}}",
          "{'source':{'type':'binary','value':''},'mime_type':null," REST },
        { "null", "{'source':null}", "{'source':null,'mime_type':null," REST },
        { "none", "{}", "{'source':null,'mime_type':null," REST },
        { "of another type", "{'source':7}",
          "{'source':7,'mime_type':null," REST },
        { "half of it", "{'source':{'type':'url'}}",
          "{'source':{'type':'url'},'mime_type':null," REST },
        { "unknown members",
          "{'source':{'type':'url','value':'u','more':1}}",
          "{'source':{'type':'url','value':'u','more':1},'mime_type':null,"
          REST },
        { "bad bytes", "{'source':{'type':'binary','value':'?'}}",
          "[[['source'],'invalid_base64']]" },
        { "an unknown word", "{'source':{'type':'fax','value':'x'}}",
          "[[['source','type'],'atom_decode_failed']]" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        CHECK_TRIP("Image", rows[i].json, rows[i].want);
    }
}

static void members_find_their_places(void)
{
    allm_codec *c = noun_read("Image", "{'source':{'type':'binary','value':"
                                       "'AAE='},'mime_type':'m'}");
    const allm_image *i = allm_codec_value(c, ALLM_TYPE_IMAGE);
    struct slice data = { GET(i, data), GET(i, data_len) };
    CHECK_INT(GET(i, source), ALLM_IMAGE_BINARY);
    CHECK_SLICE(data, SLICE("\0\1"));
    CHECK_TEXT(GET(i, mime_type), "m");
    CHECK(!GET(i, kept));
    allm_codec_free(c);
}

TESTS = {
    TEST(the_type_follows_from_the_extension),
    TEST(from_what_the_caller_has),
    TEST(from_a_data_uri),
    TEST(keeps_every_field),
    TEST(refuses_what_lacks_something),
    TEST(a_refused_image_says_why_in_its_json),
    TEST(nothing_is_accepted),
    TEST(has_a_json_form),
    TEST(comes_back_from_json),
    TEST(members_find_their_places),
    TESTS_END
};
