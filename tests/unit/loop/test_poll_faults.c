/*
 * test_poll_faults.c - a system that interrupts, or has no descriptors
 *
 * The program's own functions take the place of the system's.
 */
#include "loop/poll.h"

#include "harness/check.h"

#include <errno.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* What epoll_wait does, call by call: 'i' is interrupted, 'f' fails, '0' lets
 * the time pass; the end of the text asks the system. */
static const char *script = "";
static int asked[8];            /* the timeouts it was called with */
static size_t calls;

int epoll_wait(int fd, struct epoll_event *events, int max, int ms)
{
    if (calls < sizeof asked / sizeof *asked)
        asked[calls] = ms;
    calls++;
    switch (*script ? *script++ : 'a') {
    case 'i':
        errno = EINTR;
        return -1;
    case 'f':
        errno = EBADF;
        return -1;
    case '0':
        return 0;
    default:
        return epoll_pwait(fd, events, max, ms, NULL);
    }
}

static bool refuse;             /* to make descriptors */

int epoll_create1(int flags)
{
    (void)flags;
    int fd = refuse ? -1 : epoll_create(1);
    if (refuse)
        errno = EMFILE;
    return fd;
}

static int timer_fd = -1;

int timerfd_create(clockid_t clock, int flags)
{
    (void)clock;
    (void)flags;
    if (refuse)
        errno = EMFILE;
    return refuse ? -1 : timer_fd;
}

static size_t settings;         /* of the timer */

int timerfd_settime(int fd, int flags, const struct itimerspec *at,
                    struct itimerspec *before)
{
    (void)fd;
    (void)flags;
    (void)at;
    (void)before;
    settings++;
    if (refuse)
        errno = EINVAL;
    return refuse ? -1 : 0;
}

static void begin(const char *what)
{
    script = what;
    calls = 0;
}

static void a_signal_does_not_end_the_wait(void)
{
    struct poll p;
    struct poll_ready r;
    int ends[2];
    CHECK(poll_init(&p) == 0 && pipe(ends) == 0);
    CHECK(poll_add(&p, ends[1], POLL_WRITE, &p) == 0);
    begin("iii");
    CHECK(poll_wait(&p, -1) == 0);
    CHECK(poll_next(&p, &r) && r.tag == &p);
    CHECK_INT(calls, 4);
    CHECK_INT(asked[3], -1);
    begin("ii");
    CHECK(poll_wait(&p, 0) == 0);
    CHECK_INT(calls, 3);
    CHECK_INT(asked[2], 0);
    CHECK(poll_next(&p, &r) && r.tag == &p);
    begin("i");
    CHECK(poll_wait(&p, INT64_C(5000000000)) == 0);
    CHECK(calls == 2 && asked[1] <= asked[0] && asked[1] > 0);
    poll_release(&p);
    close(ends[0]);
    close(ends[1]);
}

static void time_is_rounded_up(void)
{
    static const struct {
        const char *why;
        int64_t ns;
        const char *script;
        int most, least;
    } rows[] = {
        { "a nanosecond", 1, "", 1, 0 },
        { "a millisecond", 1000000, "", 1, 0 },
        { "an hour", INT64_C(3600000000000), "f", 3600000, 3590000 },
        { "more than an int", INT64_C(9000000000000000), "f", INT_MAX,
          INT_MAX },
        { "more than there is", INT64_MAX - 1, "f", -1, -1 },
    };
    struct poll p;
    CHECK(poll_init(&p) == 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        begin(rows[i].script);
        CHECK_INT(poll_wait(&p, rows[i].ns), *rows[i].script ? EBADF : 0);
        CHECK(asked[0] <= rows[i].most && asked[0] >= rows[i].least);
    }
    poll_release(&p);
}

/* 24 days of 32 bits pass, and the wait goes on. */
static void a_long_wait_is_made_of_several(void)
{
    struct poll p;
    CHECK(poll_init(&p) == 0);
    begin("00f");
    CHECK_INT(poll_wait(&p, INT64_C(9000000000000000)), EBADF);
    CHECK_INT(calls, 3);
    CHECK_INT(asked[2], INT_MAX);
    poll_release(&p);
}

static void failures_are_reported(void)
{
    struct poll p;
    CHECK(poll_init(&p) == 0);
    begin("f");
    CHECK_INT(poll_wait(&p, -1), EBADF);
    begin("f");
    CHECK_INT(poll_wait(&p, 0), EBADF);

    refuse = true;
    CHECK_INT(poll_set_deadline(&p, 5), EMFILE);
    refuse = false;
    timer_fd = 999999;
    CHECK_INT(poll_set_deadline(&p, 5), EBADF);         /* cannot be added */
    poll_release(&p);

    refuse = true;
    CHECK_INT(poll_init(&p), EMFILE);
    refuse = false;
    poll_release(&p);
}

/* Every byte may move a deadline; what does not change costs nothing. */
static void the_same_deadline_is_set_once(void)
{
    struct poll p;
    int ends[2];
    CHECK(poll_init(&p) == 0 && pipe(ends) == 0);
    timer_fd = ends[0];
    settings = 0;
    CHECK(poll_set_deadline(&p, POLL_NEVER) == 0);
    CHECK_INT(settings, 0);
    CHECK(poll_set_deadline(&p, 5) == 0);
    CHECK(poll_set_deadline(&p, 5) == 0);
    CHECK_INT(settings, 1);
    refuse = true;
    CHECK_INT(poll_set_deadline(&p, 6), EINVAL);
    refuse = false;
    CHECK(poll_set_deadline(&p, 5) == 0);       /* it still is */
    CHECK_INT(settings, 2);
    CHECK(poll_set_deadline(&p, 6) == 0);
    CHECK_INT(settings, 3);
    poll_release(&p);                           /* closes ends[0] */
    close(ends[1]);
}

TESTS = {
    TEST(a_signal_does_not_end_the_wait),
    TEST(time_is_rounded_up),
    TEST(a_long_wait_is_made_of_several),
    TEST(failures_are_reported),
    TEST(the_same_deadline_is_set_once),
    TESTS_END
};
