/* test_images.c - files of images are read before a dialect encodes them */
#include "run/images.h"

#include "base/home.h"
#include "harness/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Create a file with these bytes; returns its name. */
static bool make_file(char *path, const char *bytes)
{
    strcpy(path, "/tmp/allm-image-XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0)
        return false;
    bool ok = write(fd, bytes, strlen(bytes)) == (ssize_t)strlen(bytes);
    close(fd);
    return ok;
}

static allm_message *message_with(const char *path)
{
    const allm_image *image = ALLM(image, .source = ALLM_IMAGE_FILE,
                                   .data = path, .mime_type = "image/png");
    const allm_part *parts[] = {
        ALLM(part, .kind = ALLM_PART_TEXT, .text = "look"),
        ALLM(part, .kind = ALLM_PART_IMAGE, .image = image),
    };
    return allm_message_new(
        ALLM(message, .role = ALLM_ROLE_USER, .parts = parts, .part_count = 2));
}

static void files_become_bytes(void)
{
    char path[64];
    if (!make_file(path, "PNG"))
        return;
    allm_message *m = message_with(path);
    allm_message *plain = allm_message_from_text(ALLM_ROLE_USER, "hi");
    struct allm_home *home = home_new(mem_default(), 0);
    if (m && plain && home) {
        const allm_message *list[] = { plain, m };
        allm_request r = { .size = sizeof r, .messages = list,
                           .message_count = 2 };
        const allm_error *error = images_load(&r, home, false);
        CHECK(!error);
        if (!error) {
            CHECK(r.messages[0] == plain && r.messages[1] != m);
            const allm_image *image = r.messages[1]->parts[1]->image;
            CHECK_INT(image->source, ALLM_IMAGE_BINARY);
            CHECK_INT(image->data_len, 3);
            CHECK_ALWAYS(!memcmp(image->data, "PNG", 3));
            CHECK_TEXT(r.messages[1]->parts[0]->text, "look");
        }
        CHECK_INT(m->parts[1]->image->source, ALLM_IMAGE_FILE);
    }
    home_drop(home);
    allm_message_free(plain);
    allm_message_free(m);
    unlink(path);
}

static void missing_files_are_reported(void)
{
    allm_message *m = message_with("/nowhere/cat.png");
    struct allm_home *home = home_new(mem_default(), 0);
    if (m && home) {
        const allm_message *list[] = { m };
        allm_request r = { .size = sizeof r, .messages = list,
                           .message_count = 1 };
        const allm_error *error = images_load(&r, home, false);
        CHECK(error && error->kind == ALLM_ERR_VALIDATION &&
              strstr(error->message, "/nowhere/cat.png"));
        CHECK_ALWAYS(error);
    }
    home_drop(home);
    allm_message_free(m);
}

/* Files with holes: nothing is written for them. */
static void files_of_20_mib_are_the_limit(void)
{
    char path[64];
    if (!make_file(path, ""))
        return;
    for (off_t len = IMAGES_LIMIT; len <= IMAGES_LIMIT + 1; len++) {
        allm_message *m = message_with(path);
        struct allm_home *home = home_new(mem_default(), 0);
        const allm_message *list[] = { m };
        allm_request r = { .size = sizeof r,
                           .messages = list,
                           .message_count = 1 };
        CHECK(truncate(path, len) == 0);
        const allm_error *error = images_load(&r, home, false);
        CHECK_INT(error != NULL, len > IMAGES_LIMIT);
        CHECK(!error || strstr(error->message, "larger than 20 MiB"));
        home_drop(home);
        allm_message_free(m);
    }
    unlink(path);
}

/* Its text mentions the image. */
static void a_blind_model_gets_no_images_of_tools(void)
{
    allm_image image = { .size = sizeof image, .source = ALLM_IMAGE_BASE64,
                         .mime_type = "image/png", .data = "AAAA",
                         .data_len = 4 };
    const allm_part *parts[] = {
        ALLM(part, .kind = ALLM_PART_TEXT, .text = "[image]"),
        ALLM(part, .kind = ALLM_PART_IMAGE, .image = &image),
    };
    allm_message *m = allm_message_new(ALLM(message, .role = ALLM_ROLE_TOOL,
                                            .tool_call_id = "c", .parts = parts,
                                            .part_count = 2));
    for (int blind = 0; m && blind < 2; blind++) {
        struct allm_home *home = home_new(mem_default(), 0);
        const allm_message *list[] = { m };
        allm_request r = { .size = sizeof r, .messages = list,
                           .message_count = 1 };
        CHECK(home && !images_load(&r, home, blind));
        CHECK_INT(r.messages[0]->part_count, blind ? 1 : 2);
        CHECK_INT(m->part_count, 2);
        home_drop(home);
    }
    allm_message_free(m);
}

TESTS = {
    TEST(files_become_bytes),
    TEST(a_blind_model_gets_no_images_of_tools),
    TEST(missing_files_are_reported),
    TEST_ONCE(files_of_20_mib_are_the_limit),
    TESTS_END,
};
