/* test_poll.c - ready descriptors are reported; one descriptor for all */
#include "loop/poll.h"

#include "base/clock.h"
#include "harness/check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MS = 1000000 };

/* A pipe whose ends are p[0], to read, and p[1], to write. */
struct ends {
    int p[2];
};

static struct ends make_pipe(void)
{
    struct ends e = { { -1, -1 } };
    CHECK(pipe(e.p) == 0);
    return e;
}

static void close_pipe(struct ends e)
{
    close(e.p[0]);
    close(e.p[1]);
}

static void put_byte(struct ends e)
{
    CHECK(write(e.p[1], "x", 1) == 1);
}

/* Is the set, seen from outside, readable? */
static bool is_readable(const struct poll *p, int timeout_ms)
{
    struct pollfd outside = { .fd = poll_fd(p), .events = POLLIN };
    return poll(&outside, 1, timeout_ms) == 1;
}

/* How many are ready, at once. */
static size_t count_ready(struct poll *p)
{
    struct poll_ready r;
    size_t n = 0;
    CHECK(poll_wait(p, 0) == 0);
    while (poll_next(p, &r))
        n++;
    return n;
}

/* What is told of a tag, at once; 0: nothing. */
static unsigned ready_for(struct poll *p, const void *tag)
{
    struct poll_ready r;
    unsigned what = 0;
    CHECK(poll_wait(p, 0) == 0);
    while (poll_next(p, &r))
        if (r.tag == tag)
            what |= r.what;
    return what;
}

static void tells_who_is_ready(void)
{
    struct poll p;
    struct ends a = make_pipe(), b = make_pipe();
    CHECK(poll_init(&p) == 0);
    CHECK(poll_add(&p, a.p[0], POLL_READ, &a) == 0);
    CHECK(poll_add(&p, b.p[0], POLL_READ, &b) == 0);
    CHECK_INT(count_ready(&p), 0);
    CHECK(!is_readable(&p, 0));
    put_byte(b);
    CHECK(is_readable(&p, -1));
    CHECK_INT(ready_for(&p, &a), 0);
    CHECK_INT(ready_for(&p, &b), POLL_READ);
    CHECK_INT(ready_for(&p, &b), POLL_READ);    /* as long as it lasts */
    put_byte(a);
    CHECK_INT(count_ready(&p), 2);
    poll_release(&p);
    close_pipe(a);
    close_pipe(b);
}

static void what_is_watched_can_change(void)
{
    struct poll p;
    struct ends a = make_pipe();
    CHECK(poll_init(&p) == 0);
    CHECK(poll_add(&p, a.p[1], 0, &a) == 0);
    CHECK_INT(ready_for(&p, &a), 0);
    CHECK(poll_modify(&p, a.p[1], POLL_WRITE, &a) == 0);
    CHECK_INT(ready_for(&p, &a), POLL_WRITE);
    CHECK(poll_modify(&p, a.p[1], POLL_READ, &a) == 0);
    CHECK_INT(ready_for(&p, &a), 0);
    poll_release(&p);
    close_pipe(a);
}

static void an_end_is_always_reported(void)
{
    struct poll p;
    struct ends a = make_pipe(), b = make_pipe();
    CHECK(poll_init(&p) == 0);
    CHECK(poll_add(&p, a.p[0], POLL_READ, &a) == 0);
    CHECK(poll_add(&p, b.p[1], 0, &b) == 0);
    close(a.p[1]);
    CHECK_INT(ready_for(&p, &a), POLL_READ | POLL_ERROR);
    close(b.p[0]);
    CHECK_INT(ready_for(&p, &b) & POLL_ERROR, POLL_ERROR);
    poll_release(&p);
    close(a.p[0]);
    close(b.p[1]);
}

static void removed_values_are_not_reported(void)
{
    struct poll p;
    struct ends all[3];
    struct poll_ready r;
    CHECK(poll_init(&p) == 0);
    for (size_t i = 0; i < 3; i++) {
        all[i] = make_pipe();
        put_byte(all[i]);
        CHECK(poll_add(&p, all[i].p[0], POLL_READ, &all[i]) == 0);
    }
    CHECK(poll_wait(&p, -1) == 0);
    CHECK(poll_next(&p, &r));
    struct ends *gone = r.tag == &all[0] ? &all[1] : &all[0];
    poll_remove(&p, gone->p[0], gone);          /* it was ready already */
    CHECK(poll_next(&p, &r) && r.tag != gone);  /* the third one */
    CHECK(!poll_next(&p, &r));
    CHECK_INT(count_ready(&p), 2);
    CHECK_INT(ready_for(&p, gone), 0);
    poll_remove(&p, gone->p[0], gone);          /* again: nothing happens */
    poll_remove(&p, -1, NULL);
    poll_release(&p);
    for (size_t i = 0; i < 3; i++)
        close_pipe(all[i]);
}

/* What poll_next() has not given yet is not asked for again. */
static void nothing_is_lost_between_waits(void)
{
    enum { N = POLL_BATCH * 3 };
    struct ends all[N];
    bool seen[N] = { false };
    struct poll p;
    struct poll_ready r;
    CHECK(poll_init(&p) == 0);
    for (size_t i = 0; i < N; i++) {
        all[i] = make_pipe();
        put_byte(all[i]);
        CHECK(poll_add(&p, all[i].p[0], POLL_READ, &seen[i]) == 0);
    }
    for (size_t i = 0; i < N; i++) {    /* one at a time: all have their turn */
        CHECK(poll_wait(&p, -1) == 0);
        if (CHECK(poll_next(&p, &r)))
            *(bool *)r.tag = true;
    }
    for (size_t i = 0; i < N; i++) {
        CHECK(seen[i]);
        close_pipe(all[i]);
    }
    poll_release(&p);
}

static void refuses_what_cannot_be_watched(void)
{
    struct poll p;
    struct ends a = make_pipe();
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    CHECK(poll_init(&p) == 0);
    CHECK_INT(poll_add(&p, -1, POLL_READ, NULL), EBADF);
    CHECK_INT(poll_modify(&p, a.p[0], POLL_READ, NULL), ENOENT);
    CHECK_INT(poll_add(&p, a.p[0], POLL_READ, NULL), 0);
    CHECK_INT(poll_add(&p, a.p[0], POLL_READ, NULL), EEXIST);
    CHECK_INT(poll_add(&p, file, POLL_READ, NULL), EPERM);
    poll_release(&p);
    poll_release(&p);
    CHECK_INT(poll_fd(&p), -1);
    CHECK_INT(poll_wait(&p, 0), EBADF);
    close(file);
    close_pipe(a);
}

/* ------------------------------------------------------------ deadlines --- */

static int64_t real_now(void)
{
    return clock_now_ns(clock_real());
}

static void a_deadline_makes_it_readable(void)
{
    struct poll p;
    struct poll_ready r;
    CHECK(poll_init(&p) == 0);
    int64_t due = real_now() + 2 * MS;
    CHECK(poll_set_deadline(&p, due) == 0);
    CHECK(is_readable(&p, -1));                 /* from outside */
    CHECK(real_now() >= due);
    CHECK(poll_wait(&p, -1) == 0);              /* inside, too */
    CHECK(!poll_next(&p, &r));
    CHECK(is_readable(&p, 0));                  /* it stays so */
    CHECK(poll_set_deadline(&p, due) == 0);
    CHECK(is_readable(&p, 0));
    CHECK(poll_set_deadline(&p, POLL_NEVER) == 0);
    CHECK(!is_readable(&p, 0));
    poll_release(&p);
}

static void a_deadline_can_be_anywhere(void)
{
    static const struct {
        const char *why;
        int64_t due_ns;
        bool readable;
    } rows[] = {
        { "long ago", 1, true },
        { "never", POLL_NEVER, false },
        { "the origin of the clock", 0, true },
        { "almost never", POLL_NEVER - 1, false },
        { "before the clock began", -5, true },
        { "at the beginning of all", INT64_MIN, true },
    };
    struct poll p;
    CHECK(poll_init(&p) == 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        CHECK(poll_set_deadline(&p, rows[i].due_ns) == 0);
        CHECK(is_readable(&p, 0) == rows[i].readable);
    }
    CHECK(poll_set_deadline(&p, real_now() + INT64_C(3600000) * MS) == 0);
    CHECK(!is_readable(&p, 0));
    poll_release(&p);
}

static void an_expired_deadline_hides_no_other(void)
{
    struct poll p;
    struct ends a = make_pipe();
    CHECK(poll_init(&p) == 0);
    CHECK(poll_set_deadline(&p, 1) == 0);
    CHECK(poll_add(&p, a.p[0], POLL_READ, &a) == 0);
    CHECK_INT(count_ready(&p), 0);
    put_byte(a);
    CHECK_INT(ready_for(&p, &a), POLL_READ);
    poll_release(&p);
    close_pipe(a);
}

static void a_timeout_ends_the_wait(void)
{
    struct poll p;
    struct poll_ready r;
    CHECK(poll_init(&p) == 0);
    int64_t start = real_now();
    CHECK(poll_wait(&p, 1) == 0);
    CHECK(poll_wait(&p, MS) == 0);
    CHECK(real_now() - start >= MS);
    CHECK(!poll_next(&p, &r));
    poll_release(&p);
}

/* ----------------------------------------------------------------- fork --- */

/* What a child may do: free its copies, and the parent does not notice. */
static void a_child_may_free_its_copies(void)
{
    struct poll p;
    struct ends a = make_pipe(), b = make_pipe();
    CHECK(poll_init(&p) == 0);
    CHECK(poll_add(&p, a.p[0], POLL_READ, &a) == 0);
    CHECK(poll_add(&p, b.p[0], POLL_READ, &b) == 0);
    CHECK(poll_set_deadline(&p, real_now() + 20 * MS) == 0);
    pid_t child = fork();
    if (child == 0) {
        poll_set_deadline(&p, POLL_NEVER);
        poll_remove(&p, b.p[0], &b);
        poll_release(&p);
        _exit(0);
    }
    CHECK(child > 0 && waitpid(child, NULL, 0) == child);
    CHECK(is_readable(&p, 10000));
    CHECK(poll_set_deadline(&p, POLL_NEVER) == 0);
    put_byte(a);
    CHECK_INT(ready_for(&p, &a), POLL_READ);
    put_byte(b);
    CHECK_INT(ready_for(&p, &b), POLL_READ);
    poll_release(&p);
    close_pipe(a);
    close_pipe(b);
}

static void a_program_started_does_not_inherit_it(void)
{
    struct poll p;
    CHECK(poll_init(&p) == 0);
    CHECK(poll_set_deadline(&p, 1) == 0);
    CHECK((fcntl(p.fd, F_GETFD) & FD_CLOEXEC) != 0);
    CHECK((fcntl(p.timer_fd, F_GETFD) & FD_CLOEXEC) != 0);
    poll_release(&p);
}

TESTS = {
    TEST(tells_who_is_ready),
    TEST(what_is_watched_can_change),
    TEST(an_end_is_always_reported),
    TEST(removed_values_are_not_reported),
    TEST(nothing_is_lost_between_waits),
    TEST(refuses_what_cannot_be_watched),
    TEST(a_deadline_makes_it_readable),
    TEST(a_deadline_can_be_anywhere),
    TEST(an_expired_deadline_hides_no_other),
    TEST(a_timeout_ends_the_wait),
    TEST(a_child_may_free_its_copies),
    TEST(a_program_started_does_not_inherit_it),
    TESTS_END
};
