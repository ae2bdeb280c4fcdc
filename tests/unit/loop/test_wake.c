/*
 * test_wake.c - no wake-up is lost, and many become one
 *
 * tag: thread
 */
#include "loop/wake.h"

#include "harness/check.h"
#include "loop/poll.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

/* Is the waker readable now? */
static bool is_rung(struct poll *p)
{
    struct poll_ready r;
    CHECK(poll_wait(p, 0) == 0);
    return poll_next(p, &r);
}

static void begin(struct poll *p, struct wake *w)
{
    CHECK(poll_init(p) == 0);
    CHECK(wake_init(w) == 0);
    CHECK(poll_add(p, wake_fd(w), POLL_READ, w) == 0);
}

static void end(struct poll *p, struct wake *w)
{
    poll_release(p);
    wake_release(w);
    wake_release(w);
    CHECK(wake_fd(w) == -1);
}

static void a_ring_lasts_until_it_is_cleared(void)
{
    struct poll p;
    struct wake w;
    begin(&p, &w);
    CHECK(!is_rung(&p));
    wake_ring(&w);
    CHECK(is_rung(&p));
    CHECK(is_rung(&p));
    wake_clear(&w);
    CHECK(!is_rung(&p));
    wake_clear(&w);             /* for nothing */
    wake_ring(&w);
    CHECK(is_rung(&p));
    end(&p, &w);
}

static void many_rings_are_one_write(void)
{
    struct poll p;
    struct wake w;
    uint64_t count = 0;
    begin(&p, &w);
    for (int i = 0; i < 1000; i++)
        wake_ring(&w);
    CHECK(read(wake_fd(&w), &count, sizeof count) == sizeof count);
    CHECK_INT(count, 1);
    end(&p, &w);
}

static void a_loop_that_is_awake_is_not_written_to(void)
{
    struct poll p;
    struct wake w;
    begin(&p, &w);
    wake_mute(&w);
    wake_mute(&w);              /* twice is once */
    wake_ring(&w);
    CHECK(!is_rung(&p));
    wake_listen(&w);            /* the loop looks for news now */
    CHECK(!is_rung(&p));
    wake_ring(&w);
    CHECK(is_rung(&p));
    end(&p, &w);
}

/* Rings before the loop was awake, and one that it saw late. */
static void earlier_rings_are_cleared(void)
{
    struct poll p;
    struct wake w;
    uint64_t one = 1;
    begin(&p, &w);
    wake_ring(&w);
    wake_mute(&w);
    wake_listen(&w);
    CHECK(!is_rung(&p));
    CHECK(write(wake_fd(&w), &one, sizeof one) == sizeof one);
    wake_mute(&w);
    wake_readable(&w);
    wake_listen(&w);
    CHECK(!is_rung(&p));
    wake_listen(&w);            /* for nothing */
    wake_ring(&w);
    CHECK(is_rung(&p));
    end(&p, &w);
}

static void a_program_started_does_not_inherit_it(void)
{
    struct wake w;
    CHECK(wake_init(&w) == 0);
    CHECK((fcntl(wake_fd(&w), F_GETFD) & FD_CLOEXEC) != 0);
    CHECK((fcntl(wake_fd(&w), F_GETFL) & O_NONBLOCK) != 0);
    wake_release(&w);
}

/* ----------------------------------------------------- a signal handler --- */

static struct wake *for_handler;

static void ring_it(int number)
{
    (void)number;
    wake_ring(for_handler);
}

static void a_signal_handler_may_ring(void)
{
    struct poll p;
    struct wake w;
    struct sigaction action = { .sa_handler = ring_it }, before;
    begin(&p, &w);
    for_handler = &w;
    CHECK(sigaction(SIGUSR1, &action, &before) == 0);
    errno = EDOM;
    CHECK(raise(SIGUSR1) == 0);
    CHECK_INT(errno, EDOM);
    CHECK(is_rung(&p));
    wake_clear(&w);
    wake_release(&w);           /* a ring that fails leaves errno, too */
    CHECK(raise(SIGUSR1) == 0);
    CHECK_INT(errno, EDOM);
    sigaction(SIGUSR1, &before, NULL);
    end(&p, &w);
}

/* -------------------------------------------------------------- threads --- */

enum { THREADS = 4, ROUNDS = 5000 };

struct bell {
    struct wake wake;
    atomic_size_t news;
};

static void *write_and_ring(void *arg)
{
    struct bell *b = arg;
    for (int i = 0; i < ROUNDS; i++) {
        atomic_fetch_add_explicit(&b->news, 1, memory_order_relaxed);
        wake_ring(&b->wake);
    }
    return NULL;
}

/* If a ring were missed the loop would wait for ever. */
static void no_ring_is_missed(void)
{
    struct poll p;
    struct bell b;
    struct poll_ready r;
    pthread_t threads[THREADS];
    begin(&p, &b.wake);
    atomic_init(&b.news, 0);
    size_t started = 0;
    while (started < THREADS &&
           !pthread_create(&threads[started], NULL, write_and_ring, &b))
        started++;
    CHECK_INT(started, THREADS);
    for (size_t seen = 0; seen < started * ROUNDS;) {
        CHECK(poll_wait(&p, -1) == 0);
        while (poll_next(&p, &r))
            wake_clear(&b.wake);
        seen = atomic_load_explicit(&b.news, memory_order_relaxed);
    }
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    end(&p, &b.wake);
}

/* Two threads by turns: each waits for the other's ring. */
struct table {
    struct wake here, there;
    size_t ball;                /* not atomic: the ring orders its use */
};

static void wait_for(struct poll *p, struct wake *w)
{
    struct poll_ready r;
    CHECK(poll_wait(p, -1) == 0);
    while (poll_next(p, &r))
        wake_clear(w);
}

static void *play(void *arg)
{
    struct table *t = arg;
    struct poll p;
    CHECK(poll_init(&p) == 0);
    CHECK(poll_add(&p, wake_fd(&t->there), POLL_READ, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        wait_for(&p, &t->there);
        t->ball++;
        wake_ring(&t->here);
    }
    poll_release(&p);
    return NULL;
}

static void a_ring_brings_what_was_written_before_it(void)
{
    struct table t = { .ball = 0 };
    struct poll p;
    pthread_t other;
    begin(&p, &t.here);
    CHECK(wake_init(&t.there) == 0);
    bool started = !pthread_create(&other, NULL, play, &t);
    CHECK(started);
    for (int i = 0; started && i < ROUNDS; i++) {
        t.ball++;
        wake_ring(&t.there);
        wait_for(&p, &t.here);
        CHECK_INT(t.ball, 2 * i + 2);
    }
    if (started)
        pthread_join(other, NULL);
    wake_release(&t.there);
    end(&p, &t.here);
}

TESTS = {
    TEST(a_ring_lasts_until_it_is_cleared),
    TEST(many_rings_are_one_write),
    TEST(a_loop_that_is_awake_is_not_written_to),
    TEST(earlier_rings_are_cleared),
    TEST(a_program_started_does_not_inherit_it),
    TEST(a_signal_handler_may_ring),
    TEST_ONCE(no_ring_is_missed),
    TEST_ONCE(a_ring_brings_what_was_written_before_it),
    TESTS_END
};
