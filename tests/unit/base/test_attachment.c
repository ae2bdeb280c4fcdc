/*
 * test_attachment.c - attachments of an engine: created once, dropped once
 *
 * tag: thread
 */
#include "base/attachment.h"

#include "harness/check.h"

#include <pthread.h>
#include <stdatomic.h>

/* A thing that knows how often it was made and dropped. */
struct thing {
    atomic_int made, dropped;
};

static void *make(void *ud)
{
    atomic_fetch_add(&((struct thing *)ud)->made, 1);
    return ud;
}

static void *make_nothing(void *ud)
{
    atomic_fetch_add(&((struct thing *)ud)->made, 1);
    return NULL;
}

static void drop(void *ud)
{
    atomic_fetch_add(&((struct thing *)ud)->dropped, 1);
}

static void a_thing_is_made_once(void)
{
    static const char key;
    struct thing one = { 0 }, other = { 0 };
    allm_attachments *a = attachment_new(mem_default());
    void *first = allm_attachment_get(a, &key, make, drop, &one);
    void *second = allm_attachment_get(a, &key, make, drop, &other);
    if (check_whole()) {
        CHECK(first == &one && second == &one);
        CHECK_INT(one.made, 1);
        CHECK_INT(other.made, 0);
        CHECK(allm_attachment_get(a, &key, NULL, NULL, NULL) == &one);
    }
    CHECK_ALWAYS(one.dropped == 0);
    attachment_drop(a);
    CHECK_ALWAYS(one.dropped == one.made && other.dropped == other.made);
}

static void keys_tell_things_apart(void)
{
    static const char keys[3];
    struct thing things[3] = { { 0 } };
    allm_attachments *a = attachment_new(mem_default());
    for (size_t i = 0; i < 3; i++)
        CHECK(allm_attachment_get(a, &keys[i], make, drop, &things[i]) ==
              &things[i]);
    for (size_t i = 0; i < 3; i++)
        CHECK(allm_attachment_get(a, &keys[i], make, drop, &things[i]) ==
              &things[i]);
    attachment_drop(a);
    for (size_t i = 0; i < 3; i++)
        CHECK_ALWAYS(things[i].dropped == things[i].made);
}

static void what_is_not_there_is_not_found(void)
{
    static const char key;
    struct thing one = { 0 };
    allm_attachments *a = attachment_new(mem_default());
    CHECK_ALWAYS(!allm_attachment_get(a, &key, NULL, drop, &one));
    CHECK_ALWAYS(!allm_attachment_get(a, &key, make_nothing, drop, &one));
    CHECK(allm_attachment_get(a, &key, make, drop, &one) == &one);
    CHECK_INT(one.made, 2);     /* after a failure it is tried again */
    attachment_drop(a);
    CHECK(one.dropped == 1);
}

static void dropping_may_be_left_to_the_owner(void)
{
    static const char key;
    struct thing one = { 0 };
    allm_attachments *a = attachment_new(mem_default());
    CHECK(allm_attachment_get(a, &key, make, NULL, &one) == &one);
    attachment_drop(a);
    CHECK_ALWAYS(one.dropped == 0);
}

static void the_last_user_drops(void)
{
    static const char key;
    struct thing one = { 0 };
    allm_attachments *a = attachment_new(mem_default());
    allm_attachments *b = attachment_keep(a);
    CHECK_ALWAYS(a == b);
    allm_attachment_get(a, &key, make, drop, &one);
    attachment_drop(a);
    CHECK_ALWAYS(one.dropped == 0);
    attachment_drop(b);
    CHECK_ALWAYS(one.dropped == one.made);
}

static void nothing_is_accepted(void)
{
    struct thing one = { 0 };
    CHECK_ALWAYS(!attachment_keep(NULL));
    attachment_drop(NULL);
    CHECK_ALWAYS(!allm_attachment_get(NULL, &one, make, drop, &one));
    CHECK_ALWAYS(one.made == 0);
}

/* -------------------------------------------------------------- threads --- */

enum { THREADS = 16, KEYS = 4, ROUNDS = 200 };

static struct {
    allm_attachments *all;
    struct thing things[KEYS];
    atomic_int wrong;
} shared;

static void *visit(void *arg)
{
    allm_attachments *mine = arg;
    for (int i = 0; i < ROUNDS; i++) {
        struct thing *want = &shared.things[i % KEYS];
        if (allm_attachment_get(mine, want, make, drop, want) != want)
            atomic_fetch_add(&shared.wrong, 1);
    }
    attachment_drop(mine);
    return NULL;
}

static void threads_share_one_thing(void)
{
    pthread_t threads[THREADS];
    bool started[THREADS];
    shared.all = attachment_new(mem_default());
    for (size_t i = 0; i < THREADS; i++) {
        allm_attachments *theirs = attachment_keep(shared.all);
        started[i] = !pthread_create(&threads[i], NULL, visit, theirs);
        if (!CHECK(started[i]))
            attachment_drop(theirs);
    }
    attachment_drop(shared.all);        /* the others go on with it */
    for (size_t i = 0; i < THREADS; i++)
        if (started[i])
            pthread_join(threads[i], NULL);
    CHECK_INT(shared.wrong, 0);
    for (size_t i = 0; i < KEYS; i++) {
        CHECK_INT(shared.things[i].made, 1);
        CHECK_INT(shared.things[i].dropped, 1);
    }
}

TESTS = {
    TEST(a_thing_is_made_once),
    TEST(keys_tell_things_apart),
    TEST(what_is_not_there_is_not_found),
    TEST(dropping_may_be_left_to_the_owner),
    TEST(the_last_user_drops),
    TEST(nothing_is_accepted),
    TEST_ONCE(threads_share_one_thing),
    TESTS_END,
};
