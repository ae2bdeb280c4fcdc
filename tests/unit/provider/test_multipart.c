/* test_multipart.c - bodies of several parts, for forms with files */
#include "provider/multipart.h"

#include "harness/check.h"

#include <string.h>

/* The same form with the n-th boundary. */
static bool write(struct buf *out, size_t try, const char *bytes)
{
    struct multipart m;
    buf_clear(out);
    multipart_init(&m, out, try);
    multipart_text(&m, "a", SLICE("1"));
    multipart_file(&m, "b", "x.png", "image/png", slice_of(bytes));
    return multipart_end(&m);
}

static void writes_texts_and_files(void)
{
    struct arena a;
    struct buf out;
    arena_init(&a, mem_default());
    buf_init(&out, &a, 4096);
    CHECK_ALWAYS(write(&out, 0, "PNG"));
    CHECK_SLICE(buf_slice(&out),
                SLICE("--allm-form-5f0c2b7d9e3a41c8\r\ncontent-disposition: "
                      "form-data; name=\"a\"\r\n\r\n1\r\n"
                      "--allm-form-5f0c2b7d9e3a41c8\r\ncontent-disposition: "
                      "form-data; name=\"b\"; filename=\"x.png\"\r\n"
                      "content-type: image/png\r\n\r\nPNG\r\n"
                      "--allm-form-5f0c2b7d9e3a41c8--\r\n"));
    arena_release(&a);
}

/* A file that has the boundary in it cannot end its part. */
static void a_boundary_is_in_no_part(void)
{
    static const char evil[] = "x\r\n--allm-form-5f0c2b7d9e3a41c8--\r\n";
    struct arena a;
    struct buf out;
    arena_init(&a, mem_default());
    buf_init(&out, &a, 4096);
    CHECK(!write(&out, 0, evil));
    for (size_t try = 1; try < MULTIPART_TRIES; try++)
        CHECK(write(&out, try, evil));
    arena_release(&a);
}

TESTS = {
    TEST(writes_texts_and_files),
    TEST(a_boundary_is_in_no_part),
    TESTS_END,
};
