/*
 * test_inbox.c - posted items arrive in order, or are returned
 *
 * tag: thread
 */
#include "loop/inbox.h"

#include "harness/check.h"
#include "loop/poll.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>

struct letter {
    struct inbox_item item;     /* first: an item is a letter */
    size_t from, number;
};

static bool is_rung(struct inbox *in)
{
    struct poll p;
    struct poll_ready r;
    CHECK(poll_init(&p) == 0);
    CHECK(poll_add(&p, wake_fd(inbox_wake(in)), POLL_READ, NULL) == 0);
    CHECK(poll_wait(&p, 0) == 0);
    bool rung = poll_next(&p, &r);
    poll_release(&p);
    return rung;
}

static void the_oldest_comes_first(void)
{
    struct inbox *in;
    struct inbox_item a, b, c;
    if (inbox_new(mem_default(), &in))
        return;
    CHECK_ALWAYS(!inbox_take(in));
    CHECK(!is_rung(in));
    CHECK_ALWAYS(inbox_post(in, &a) && inbox_post(in, &b));
    CHECK(is_rung(in));
    CHECK_ALWAYS(inbox_take(in) == &a && a.next == &b && !b.next);
    CHECK(!is_rung(in));
    CHECK_ALWAYS(!inbox_take(in));
    CHECK_ALWAYS(inbox_post(in, &c));
    CHECK_ALWAYS(inbox_post(in, &a));   /* an item may be posted again */
    CHECK_ALWAYS(inbox_take(in) == &c && c.next == &a && !a.next);
    inbox_drop(in);
}

static void a_closed_one_takes_nothing(void)
{
    struct inbox *in;
    struct inbox_item a, b, c;
    if (inbox_new(mem_default(), &in))
        return;
    CHECK_ALWAYS(inbox_post(in, &a) && inbox_post(in, &b));
    CHECK_ALWAYS(inbox_close(in) == &a && a.next == &b && !b.next);
    CHECK_ALWAYS(!inbox_post(in, &c));
    CHECK_ALWAYS(!inbox_take(in));
    CHECK_ALWAYS(!inbox_close(in));
    CHECK_ALWAYS(!inbox_post(in, &c));
    inbox_drop(in);
}

static void the_last_reference_frees_it(void)
{
    struct inbox *in;
    struct inbox_item a;
    if (inbox_new(mem_default(), &in))
        return;
    CHECK_ALWAYS(inbox_keep(in) == in);
    inbox_close(in);
    inbox_drop(in);             /* the loop has gone */
    CHECK_ALWAYS(check_live_blocks() == 1);
    CHECK_ALWAYS(!inbox_post(in, &a));
    wake_ring(inbox_wake(in));  /* nobody hears it, and it does no harm */
    inbox_drop(in);
    CHECK_ALWAYS(check_live_blocks() == 0);
    inbox_drop(NULL);
    CHECK_ALWAYS(!inbox_keep(NULL));
}

/* Late posts do not reach the one that comes after it. */
static void a_replaced_one_is_closed(void)
{
    struct inbox *in, *next;
    struct inbox_item a, b;
    if (inbox_new(mem_default(), &in))
        return;
    struct inbox *late = inbox_keep(in);
    int fd = wake_fd(inbox_wake(in));
    for (int i = 0; i < 3 && (next = inbox_replace(in)); i++)
        in = next;
    if (check_whole()) {
        CHECK_ALWAYS(!inbox_post(late, &a));
        CHECK_INT(wake_fd(inbox_wake(in)), fd);
        CHECK(!is_rung(in));
        wake_ring(inbox_wake(late));    /* was about to post */
        CHECK(is_rung(in));
        CHECK_ALWAYS(!inbox_take(in));
        CHECK(!is_rung(in));
        CHECK_ALWAYS(inbox_post(in, &b));
        CHECK(is_rung(in));
        CHECK_ALWAYS(inbox_take(in) == &b);
    }
    inbox_drop(in);
    inbox_drop(late);
    CHECK_ALWAYS(check_live_blocks() == 0);
}

/* No descriptor to be had: told, and nothing is left behind. */
static void without_a_descriptor_there_is_none(void)
{
    struct rlimit now, none;
    struct inbox *in = NULL;
    CHECK(getrlimit(RLIMIT_NOFILE, &now) == 0);
    none = (struct rlimit){ 0, now.rlim_max };
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    CHECK_INT(inbox_new(mem_default(), &in), EMFILE);
    CHECK_ALWAYS(!in);
    setrlimit(RLIMIT_NOFILE, &now);
}

/* -------------------------------------------------------------- threads --- */

enum { THREADS = 4, LETTERS = 2000 };

struct writer {
    struct inbox *in;
    struct letter letters[LETTERS];
    size_t refused;
};

static void *write_letters(void *arg)
{
    struct writer *w = arg;
    for (size_t i = 0; i < LETTERS; i++) {
        w->letters[i].number = i;
        w->refused += !inbox_post(w->in, &w->letters[i].item);
    }
    inbox_drop(w->in);
    return NULL;
}

static struct writer writers[THREADS];

/* Each writer with a reference of its own; how many there are. */
static size_t start(struct inbox *in, pthread_t *threads)
{
    size_t started = 0;
    for (size_t i = 0; i < THREADS; i++) {
        writers[i].in = inbox_keep(in);
        writers[i].refused = 0;
        for (size_t k = 0; k < LETTERS; k++)
            writers[i].letters[k].from = i;
        if (pthread_create(&threads[i], NULL, write_letters, &writers[i])) {
            inbox_drop(in);
            break;
        }
        started++;
    }
    CHECK_INT(started, THREADS);
    return started;
}

/* Each writer's letters come as they were written. */
static size_t read_letters(struct inbox_item *list, size_t *next)
{
    size_t count = 0;
    for (; list; list = list->next, count++) {
        const struct letter *l = (const struct letter *)list;
        CHECK_INT(l->number, next[l->from]);
        next[l->from]++;
    }
    return count;
}

/* If one were lost, or its ring, the loop would wait for ever. */
static void all_letters_arrive_in_order(void)
{
    struct inbox *in;
    struct poll p;
    struct poll_ready r;
    pthread_t threads[THREADS];
    size_t next[THREADS] = { 0 };
    CHECK(poll_init(&p) == 0);
    if (!CHECK(inbox_new(mem_default(), &in) == 0))
        return;
    CHECK(poll_add(&p, wake_fd(inbox_wake(in)), POLL_READ, in) == 0);
    size_t missing = start(in, threads) * LETTERS;
    size_t started = missing / LETTERS;
    while (missing) {
        CHECK(poll_wait(&p, -1) == 0);
        while (poll_next(&p, &r))
            missing -= read_letters(inbox_take(r.tag), next);
    }
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    inbox_drop(in);
    poll_release(&p);
}

/* The loop goes while others write: each letter arrives or is refused. */
static void a_close_in_the_middle_loses_none(void)
{
    struct inbox *in;
    pthread_t threads[THREADS];
    size_t next[THREADS] = { 0 };
    if (!CHECK(inbox_new(mem_default(), &in) == 0))
        return;
    size_t started = start(in, threads), arrived = 0;
    while (arrived < LETTERS)
        arrived += read_letters(inbox_take(in), next);
    arrived += read_letters(inbox_close(in), next);
    inbox_drop(in);
    for (size_t i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        arrived += writers[i].refused;
    }
    CHECK_INT(arrived, started * LETTERS);
}

TESTS = {
    TEST(the_oldest_comes_first),
    TEST(a_closed_one_takes_nothing),
    TEST(the_last_reference_frees_it),
    TEST(a_replaced_one_is_closed),
    TEST(without_a_descriptor_there_is_none),
    TEST_ONCE(all_letters_arrive_in_order),
    TEST_ONCE(a_close_in_the_middle_loses_none),
    TESTS_END
};
