/* test_upload.c - the body of a request: copied or borrowed */
#include "net/upload.h"

#include "harness/check.h"

#include <string.h>

enum { LARGE = 100000 };

static char large[LARGE];

static struct rope rope_with(size_t len)
{
    memset(large, 'x', sizeof large);
    return rope_of_slice((struct slice){ large, len });
}

static void a_small_body_is_copied(void)
{
    struct upload u;
    upload_init(&u, rope_with(5));
    if (upload_post(&u, mem_default())) {
        large[0] = 'y';
        CHECK(u.posted);
        CHECK_INT(u.copy_size, 6);
        CHECK(!memcmp(u.copy, "xxxxx", 5));
        CHECK(upload_detach(&u, mem_default(), NULL));
        CHECK(!u.copy);         /* it was sent */
    }
    upload_release(&u, mem_default());
}

static void a_large_body_is_borrowed(void)
{
    struct upload u;
    upload_init(&u, rope_with(LARGE));
    CHECK(upload_post(&u, mem_default()));
    CHECK(!u.posted && !u.copy);
    CHECK(upload_detach(&u, mem_default(), NULL));
    CHECK(!u.copy && rope_left(&u.body) == 0);
    upload_release(&u, mem_default());
}

/* The server responds before libcurl has read the whole body. */
static void the_unsent_part_is_copied(void)
{
    struct upload u;
    char sent[10];
    CURL *easy = curl_easy_init();
    upload_init(&u, rope_with(LARGE));
    CHECK_INT(rope_read(&u.body, sent, sizeof sent), sizeof sent);
    if (easy && upload_detach(&u, mem_default(), easy)) {
        CHECK_INT(u.copy_size, LARGE - sizeof sent);
        memset(large, 'y', sizeof large);
        CHECK_INT(rope_read(&u.body, sent, sizeof sent), sizeof sent);
        CHECK(!memcmp(sent, "xxxxxxxxxx", sizeof sent));
    }
    upload_release(&u, mem_default());
    curl_easy_cleanup(easy);
}

static void a_rewound_body_begins_again(void)
{
    struct upload u;
    char byte;
    upload_init(&u, rope_with(LARGE));
    CHECK_INT(rope_read(&u.body, &byte, 1), 1);
    upload_rewind(&u);
    CHECK_INT(rope_left(&u.body), LARGE);
    upload_release(&u, mem_default());
}

TESTS = {
    TEST(a_small_body_is_copied),
    TEST(a_large_body_is_borrowed),
    TEST(the_unsent_part_is_copied),
    TEST(a_rewound_body_begins_again),
    TESTS_END,
};
