/* test_image_to.c - images as bytes and as data URIs */
#include "harness/noun.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The one (field, reason) of a conversion that failed; frees it. */
static void check_failed(allm_text *t, const char *pair)
{
    const allm_error *e = allm_text_error(t);
    CHECK_ERROR(e, ALLM_ERR_VALIDATION, "invalid_request",
                "the image cannot be converted");
    CHECK_VALUE(GET(e, errors), pair);
    CHECK_ALWAYS(!allm_text_bytes(t, NULL));
    allm_text_free(t);
}

static void check_bytes(allm_text *t, struct slice want)
{
    struct slice got;
    got.ptr = allm_text_bytes(t, &got.len);
    CHECK_WELL(allm_text_error(t));
    CHECK_SLICE(got, want);
    allm_text_free(t);
}

static void to_binary(allm_image *image, struct slice want)
{
    check_bytes(allm_image_to_binary(image), want);
    allm_image_free(image);
}

static void not_to_binary(allm_image *image, const char *pair)
{
    check_failed(allm_image_to_binary(image), pair);
    allm_image_free(image);
}

static void gives_its_bytes(void)
{
    to_binary(allm_image_from_binary("\1\2", 2, "x"), SLICE("\1\2"));
    to_binary(allm_image_from_binary("", 0, "x"), SLICE(""));
    to_binary(allm_image_from_base64("aGVsbG8=", "x"), SLICE("hello"));
    to_binary(allm_image_from_base64("", "x"), SLICE(""));
    not_to_binary(allm_image_from_base64("aGVsbG8", "x"),
                  "[['source','invalid_base64']]");
    not_to_binary(allm_image_from_base64("aGVs\nbG8=", "x"),
                  "[['source','invalid_base64']]");
    not_to_binary(allm_image_from_url("https://x.org/a.png"),
                  "[['source','remote_source']]");
    not_to_binary(allm_image_from_file("/nowhere/at/all.png"),
                  "[['source','enoent']]");
    not_to_binary(allm_image_from_file("/"), "[['source','eisdir']]");
    not_to_binary(allm_image_new(ALLM(image, .source = ALLM_IMAGE_FILE,
                                      .data = "/dev/null\0x", .data_len = 11)),
                  "[['source','einval']]");
    not_to_binary(allm_image_new(
                      ALLM(image, .source = (allm_image_source)9, .data = "x")),
                  "[['source','missing_source']]");
}

/* In the order of the contract: a URL, then the type, then the bytes. */
static void gives_a_data_uri(void)
{
    static const struct {
        const char *why;
        allm_image_source source;
        const char *data, *mime_type, *uri, *pair;
    } rows[] = {
        { "bytes", ALLM_IMAGE_BINARY, "hi", "image/png",
          "data:image/png;base64,aGk=", NULL },
        { "base64", ALLM_IMAGE_BASE64, "aGk=", "image/png",
          "data:image/png;base64,aGk=", NULL },
        { "base64 is pasted as it is", ALLM_IMAGE_BASE64, "no base64!", "x",
          "data:x;base64,no base64!", NULL },
        { "a URL", ALLM_IMAGE_URL, "u", "image/png", NULL,
          "[['source','remote_source']]" },
        { "a URL, even without a type", ALLM_IMAGE_URL, "u", NULL, NULL,
          "[['source','remote_source']]" },
        { "no type", ALLM_IMAGE_BINARY, "hi", NULL, NULL,
          "[['mime_type','missing_mime_type']]" },
        { "no type, before the file is looked for", ALLM_IMAGE_FILE,
          "/nowhere/noext", NULL, NULL,
          "[['mime_type','missing_mime_type']]" },
        { "no file", ALLM_IMAGE_FILE, "/nowhere/a.png", "image/png", NULL,
          "[['source','enoent']]" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_image *image = allm_image_new(
            ALLM(image, .source = rows[i].source, .data = rows[i].data,
                 .mime_type = rows[i].mime_type));
        allm_text *t = allm_image_to_data_uri(image);
        if (rows[i].uri)
            check_bytes(t, slice_of(rows[i].uri));
        else
            check_failed(t, rows[i].pair);
        allm_image_free(image);
    }
}

static void reads_a_file(void)
{
    char folder[] = "/tmp/allm-image-XXXXXX", path[64];
    CHECK_ALWAYS(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/cat.gif", folder);
    FILE *f = fopen(path, "wb");
    CHECK_ALWAYS(f && fwrite("GIF\0\xFF", 1, 5, f) == 5 && !fclose(f));

    allm_image *image = allm_image_from_file(path);
    check_bytes(allm_image_to_binary(image), SLICE("GIF\0\xFF"));
    check_bytes(allm_image_to_data_uri(image),
                SLICE("data:image/gif;base64,R0lGAP8="));
    unlink(path);
    rmdir(folder);
    check_failed(allm_image_to_binary(image), "[['source','enoent']]");
    allm_image_free(image);
}

static void converts_a_struct_of_the_caller(void)
{
    check_bytes(allm_image_to_binary(
                    ALLM(image, .source = ALLM_IMAGE_BINARY, .data = "hi")),
                SLICE("hi"));
    check_bytes(allm_image_to_data_uri(ALLM(image, .source = ALLM_IMAGE_BASE64,
                                            .data = "aGk=", .mime_type = "x")),
                SLICE("data:x;base64,aGk="));

    allm_text *t = allm_image_to_binary(
        &(allm_image){ .source = ALLM_IMAGE_BINARY, .data = "hi" });
    CHECK_MISUSE(allm_text_error(t), "struct_size", "has no size");
    allm_text_free(t);

    allm_image full = { .source = ALLM_IMAGE_BINARY, .data = "hi" };
    allm_image *older = noun_sized(&full, sizeof full,
                                   offsetof(allm_image, mime_type));
    check_bytes(allm_image_to_binary(older), SLICE("hi"));
    check_failed(allm_image_to_data_uri(older),
                 "[['mime_type','missing_mime_type']]");
    free(older);
}

static void a_refused_image_is_not_converted(void)
{
    allm_image *bad = allm_image_from_url(NULL);
    allm_text *t[] = { allm_image_to_binary(bad), allm_image_to_data_uri(bad) };
    for (size_t i = 0; i < 2; i++) {
        CHECK_MISUSE(allm_text_error(t[i]), "missing_field", "URL is missing");
        allm_text_free(t[i]);
    }
    allm_image_free(bad);
}

static void nothing_is_accepted(void)
{
    CHECK_ALWAYS(!allm_image_to_binary(NULL));
    CHECK_ALWAYS(!allm_image_to_data_uri(NULL));
}

TESTS = {
    TEST(gives_its_bytes),
    TEST(gives_a_data_uri),
    TEST(reads_a_file),
    TEST(converts_a_struct_of_the_caller),
    TEST(a_refused_image_is_not_converted),
    TEST(nothing_is_accepted),
    TESTS_END,
};
