/* test_image_source.c - images in a request */
#include "provider/image_source.h"

#include "base/buf.h"
#include "harness/check.h"
#include "harness/noun.h"

typedef const allm_error *checker(const allm_request *r, struct arena *a);

static const allm_error *check_by(checker *checks, struct arena *a,
                                  allm_role role, const allm_image *image)
{
    const allm_part part = { .size = sizeof part,
                             .kind = ALLM_PART_IMAGE,
                             .image = image };
    const allm_part *parts = &part;
    const allm_message message = { .size = sizeof message,
                                   .role = role,
                                   .part_count = 1,
                                   .parts = &parts };
    const allm_message *messages = &message;
    const allm_request r = { .size = sizeof r,
                             .message_count = 1,
                             .messages = &messages };
    return checks(&r, a);
}

static const allm_error *check(struct arena *a, allm_role role,
                               const allm_image *image)
{
    return check_by(image_source_check, a, role, image);
}

#define IMAGE(kind, type, bytes) \
    { .size = sizeof(allm_image), .source = ALLM_IMAGE_##kind, \
      .mime_type = (type), .data = (bytes), .data_len = sizeof(bytes) - 1 }

static void refuses_unsupported_values(void)
{
    static const struct {
        const char *why;
        allm_role role;
        allm_image image;
        const char *fault;
    } rows[] = {
        { "a URL", ALLM_ROLE_USER, IMAGE(URL, NULL, "http://x"), NULL },
        { "png", ALLM_ROLE_USER, IMAGE(BASE64, "image/png", "AA=="), NULL },
        { "known by its bytes", ALLM_ROLE_USER,
          IMAGE(BINARY, NULL, "\xFF\xD8\xFF\xE0"), NULL },
        { "unknown", ALLM_ROLE_USER, IMAGE(BINARY, NULL, "abc"),
          "missing_mime_type" },
        { "tiff", ALLM_ROLE_USER, IMAGE(BASE64, "image/tiff", "AA=="),
          "unsupported_mime_type" },
        { "a file", ALLM_ROLE_USER, IMAGE(FILE, "image/png", "x.png"),
          "file_not_loaded" },
        { "of the system", ALLM_ROLE_SYSTEM, IMAGE(URL, NULL, "http://x"),
          "image_in_system_message" },
        { "of a tool", ALLM_ROLE_TOOL, IMAGE(URL, NULL, "http://x"),
          NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        arena_init(&a, mem_default());
        check_row(rows[i].why);
        const allm_error *e = check(&a, rows[i].role, &rows[i].image);
        CHECK((e != NULL) == (rows[i].fault != NULL));
        if (e && rows[i].fault && e->errors)
            CHECK_TEXT(allm_json_text(allm_json_pointer(e->errors, "/0/1"),
                                      NULL),
                       rows[i].fault);
        arena_release(&a);
    }
}

static void some_fetch_nothing(void)
{
    static const allm_image there = IMAGE(URL, NULL, "http://x");
    static const allm_image here = IMAGE(BASE64, "image/png", "AA==");
    struct arena a;
    arena_init(&a, mem_default());
    CHECK_WELL(check_by(image_source_refuse_urls, &a, ALLM_ROLE_USER, &here));
    const allm_error *e = check_by(image_source_refuse_urls, &a, ALLM_ROLE_USER,
                                   &there);
    CHECK_ERROR(e, ALLM_ERR_VALIDATION, "invalid_message", NULL);
    if (e && e->errors)
        CHECK_TEXT(allm_json_text(allm_json_pointer(e->errors, "/0/1"), NULL),
                   "url_not_supported");
    arena_release(&a);
}

static void refuses_what_is_too_large(void)
{
    enum { MOST = 20 * 1024 * 1024, ENCODED = MOST / 3 * 4 + 4 };
    static char bytes[ENCODED + 1];
    struct arena a;
    const allm_image image = IMAGE(BINARY, "image/png", bytes);
    const allm_image most = { .size = sizeof most,
                              .source = ALLM_IMAGE_BINARY,
                              .mime_type = "image/png",
                              .data = bytes,
                              .data_len = MOST };
    arena_init(&a, mem_default());
    CHECK_WELL(check(&a, ALLM_ROLE_USER, &most));
    allm_image more = image;
    more.data_len = MOST + 1;
    CHECK_ERROR(check(&a, ALLM_ROLE_USER, &more), ALLM_ERR_VALIDATION,
                "invalid_message", NULL);
    more.source = ALLM_IMAGE_BASE64;    /* the same, written longer */
    more.data_len = ENCODED;
    CHECK_WELL(check(&a, ALLM_ROLE_USER, &more));
    more.data_len = ENCODED + 1;
    CHECK_ERROR(check(&a, ALLM_ROLE_USER, &more), ALLM_ERR_VALIDATION,
                "invalid_message", NULL);
    arena_release(&a);
}

static void writes_them(void)
{
    struct arena a;
    struct buf out;
    struct emit e;
    const allm_image url = IMAGE(URL, NULL, "http://x/\"");
    const allm_image text = IMAGE(BASE64, "image/jpg", "AA==");
    const allm_image bytes = IMAGE(BINARY, "image/gif", "abc");
    arena_init(&a, mem_default());
    buf_init(&out, &a, 1000);
    emit_init(&e, &out);
    emit_open(&e, '[');
    image_source_write_url(&e, &url, &a);
    image_source_write_url(&e, &text, &a);
    image_source_write_url(&e, &bytes, &a);
    image_source_write(&e, &bytes, false, &a);
    emit_close(&e, ']');
    CHECK_SLICE(buf_slice(&out),
                SLICE("[\"http://x/\\\"\",\"data:image/jpeg;base64,AA==\","
                      "\"data:image/gif;base64,YWJj\",\"YWJj\"]"));
    arena_release(&a);
}

TESTS = { TEST(refuses_unsupported_values), TEST(some_fetch_nothing),
          TEST_ONCE(refuses_what_is_too_large),
          TEST(writes_them), TESTS_END };
