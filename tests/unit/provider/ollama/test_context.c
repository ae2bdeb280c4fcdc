/* test_context.c - the context size of a request */
#include "provider/ollama/context.h"

#include "harness/check.h"

static void grows_in_powers_of_two(void)
{
    static const struct {
        const char *why;
        size_t bytes;
        int64_t answer, num_ctx;
    } rows[] = {
        { "small", 100, 0, 0 },
        { "just fits with 1024 for the answer", 3072 * 3, 0, 0 },
        { "does no longer", 3073 * 3, 0, 8192 },
        { "a small answer makes room", 3073 * 3, 100, 0 },
        { "a long answer needs some", 100, 4096, 8192 },
        { "twice as much", 7200 * 3, 0, 16384 },
        { "an answer of any length counts as unknown", 100, -1, 0 },
        { "never more than a million", (size_t)1 << 31, 0, 1 << 20 },
        { "nor for the answer", 0, INT64_MAX, 1 << 20 },
        { "nor for both", 9000, INT64_MAX, 1 << 20 },
    };
    const allm_request none = { .size = sizeof none };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        CHECK_INT(ollama_context(&none, rows[i].bytes, rows[i].answer),
                  rows[i].num_ctx);
    }
}

/* The bytes of an image are not its tokens. */
static void images_count_by_the_piece(void)
{
    const allm_image image = { .size = sizeof image,
                               .source = ALLM_IMAGE_BINARY,
                               .data = "",
                               .data_len = 300000 };
    const allm_part part = { .size = sizeof part,
                             .kind = ALLM_PART_IMAGE,
                             .image = &image };
    const allm_part *parts[] = { &part, &part, &part };
    allm_message m = { .size = sizeof m, .part_count = 3, .parts = parts };
    const allm_message *messages[] = { &m };
    const allm_request r = { .size = sizeof r,
                             .message_count = 1,
                             .messages = messages };
    CHECK_INT(ollama_context(&r, 3 * 400000, 0), 0);
    CHECK_INT(ollama_context(&r, 3 * 400000 + 30, 0), 8192);
    m.part_count = 2;
    CHECK_INT(ollama_context(&r, 2 * 400000 + 30, 0), 0);
    CHECK_INT(ollama_context(&r, 0, 0), 0);
}

TESTS = {
    TEST(grows_in_powers_of_two),
    TEST(images_count_by_the_piece),
    TESTS_END,
};
