/*
 * test_process.c - processes through a real warden
 *
 * tag: clock (a process that ignores SIGTERM)
 */
#include "proc/process.h"

#include "base/clock.h"
#include "harness/check.h"
#include "harness/external.h"
#include "proc/orders.h"
#include "proc/reach.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct box {
    struct process process;
    struct poll poll;
    struct arena arena;
    struct buf orders;
    struct external_count before;
    struct slice input;
    bool ended;
    const char *text;           /* stdout */
    const char *kill_on;        /* kill it when this is in stdout */
    bool term;                  /* or rather end it politely */
};

static void note_end(struct process *p)
{
    ((struct box *)p->ud)->ended = true;
}

static void open_box(struct box *b)
{
    *b = (struct box){ .before = external_count() };
    arena_init(&b->arena, mem_default());
    buf_init(&b->orders, &b->arena, ORDERS_LIMIT);
    CHECK_ALWAYS(!poll_init(&b->poll));
    orders_environment(&b->orders, ORDERS_ON);
    reach_default(&b->orders, "/bin/sh", "/", "/nonexistent");
    orders_walls(&b->orders, ORDERS_ON);
    buf_text(&b->orders, "limit linger 100\n");
}

static void obey(struct box *b)
{
    if (b->ended || !b->kill_on || !b->process.out.head.ptr ||
        !strstr(b->process.out.head.ptr, b->kill_on))
        return;
    if (b->term) {
        b->kill_on = NULL;
        child_term(&b->process.child);
    } else {
        child_kill(&b->process.child);
        poll_set_deadline(&b->poll,
                          clock_after(clock_now_ns(clock_real()), 50));
    }
}

static int run_box(struct box *b, const char *const *argv)
{
    struct process_opts o = { .warden = external_warden(), .argv = argv,
                              .orders = buf_slice(&b->orders),
                              .mem = mem_default(), .head_max = 64,
                              .tail_max = 64, .err_max = 64 };
    b->process.poll = &b->poll;
    b->process.done = note_end;
    b->process.ud = b;
    b->process.input = b->input;
    int error = process_start(&b->process, &o);
    while (!error && !b->ended) {
        struct poll_ready r;
        poll_wait(&b->poll, -1);
        while (!b->ended && poll_next(&b->poll, &r))
            ((struct poll_handler *)r.tag)->ready(r.tag, r.what);
        obey(b);
    }
    if (!error)
        b->text = output_text(&b->process.out).ptr;
    return error;
}

static int run_shell(struct box *b, const char *script)
{
    const char *argv[] = { "/bin/sh", "-c", script, NULL };
    return run_box(b, argv);
}

static void close_box(struct box *b)
{
    if (b->ended)
        process_release(&b->process);
    poll_release(&b->poll);
    arena_release(&b->arena);
    CHECK_ALWAYS(external_same(b->before));
}

static void reads_output_and_status(void)
{
    struct box b;
    open_box(&b);
    b.input = SLICE("three words here");
    if (check_whole())
        CHECK_INT(run_shell(&b, "wc -w; echo why >&2; exit 7"), 0);
    CHECK_INT(b.process.report.kind, REPORT_ENDED);
    CHECK_INT(b.process.report.status, 7);
    CHECK_INT(b.process.report.signal, 0);
    CHECK_TEXT(b.text, "3\n");
    if (b.ended)
        CHECK_TEXT(output_text(&b.process.err).ptr, "why\n");
    close_box(&b);
}

/* Without walls a process can stop its warden, which then kills nothing. */
static void ends_though_its_warden_is_stopped(void)
{
    struct box b;
    open_box(&b);
    orders_walls(&b.orders, ORDERS_OFF);
    b.kill_on = "stopped";
    CHECK_INT(run_shell(&b, "kill -STOP $PPID; echo stopped; sleep 1000"), 0);
    CHECK_INT(b.process.report.ended, false);
    close_box(&b);
}

static void need_not_read_its_input(void)
{
    static char much[1 << 20];
    struct box b;
    sigset_t pipe_signal;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigprocmask(SIG_BLOCK, &pipe_signal, NULL);
    open_box(&b);
    b.input = (struct slice){ much, sizeof much };
    CHECK_INT(run_shell(&b, "exec <&-; echo done"), 0);
    CHECK_TEXT(b.text, "done\n");
    close_box(&b);
    /* The tool may end before it reads: what was not read is dropped. */
    open_box(&b);
    b.input = (struct slice){ much, sizeof much };
    CHECK_INT(run_shell(&b, "head -c 65536 | wc -c"), 0);
    CHECK_TEXT(b.text, "65536\n");
    close_box(&b);
}

static void keeps_head_and_tail(void)
{
    struct box b;
    open_box(&b);
    CHECK_INT(run_shell(&b, "yes abcdefg | head -c 5000000; echo end"), 0);
    CHECK(b.text && strstr(b.text, "\n[4999876 bytes left out]\n"));
    CHECK(b.text && slice_ends(slice_of(b.text), SLICE("end\n")));
    CHECK_INT(b.process.out.total, 5000004);
    close_box(&b);
}

/* Each is one process tree; none may be left. */
static void kills_the_whole_tree(void)
{
    static const char *const scripts[] = {
        "sleep 1000 & echo go; sleep 1000",
        "(sleep 1000 & sleep 1000 &) ; echo go; wait; sleep 1000",
        "trap '' TERM HUP INT; echo go; while :; do sleep 1000; done",
        "echo go; kill -STOP $$",
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        struct box b;
        check_row(scripts[i]);
        open_box(&b);
        b.kill_on = "go";
        CHECK_INT(run_shell(&b, scripts[i]), 0);
        CHECK_INT(b.process.report.signal, SIGKILL);
        close_box(&b);
    }
}

static void ends_politely(void)
{
    struct box b;
    open_box(&b);
    b.kill_on = "go";
    b.term = true;
    CHECK_INT(run_shell(&b, "trap 'echo bye; exit 3' TERM; echo go; "
                            "while :; do sleep 0.01; done"),
              0);
    CHECK_TEXT(b.text, "go\nbye\n");
    CHECK_INT(b.process.report.status, 3);
    close_box(&b);
}

static void outlives_its_children_for_a_moment(void)
{
    struct box b;
    open_box(&b);
    CHECK_INT(run_shell(&b, "(sleep 0.02; echo late; sleep 1000) & echo now"),
              0);
    CHECK_TEXT(b.text, "now\nlate\n");
    CHECK_INT(b.process.report.status, 0);
    close_box(&b);
}

static void inherits_nothing(void)
{
    struct box b;
    int fd = dup(0);            /* not closed by exec */
    setenv("ALLM_TEST_SECRET", "hidden", 1);
    open_box(&b);
    CHECK_INT(run_shell(&b, "echo $ALLM_TEST_SECRET$TERM; ls /proc/self/fd | "
                            "tr '\\n' ' '"),
              0);
    CHECK_TEXT(b.text, "dumb\n0 1 2 3 ");       /* 3 is the folder */
    close_box(&b);
    close(fd);
    unsetenv("ALLM_TEST_SECRET");
}

static void explains_what_did_not_start(void)
{
    struct box b;
    const char *argv[] = { "/usr/bin/no-such-program", NULL };
    open_box(&b);
    CHECK_INT(run_box(&b, argv), 0);
    CHECK_INT(b.process.report.kind, REPORT_FAILED);
    CHECK_TEXT(b.process.report.subject, "exec");
    CHECK_INT(b.process.report.error, ENOENT);
    CHECK_TEXT(b.process.report.path, "/usr/bin/no-such-program");
    close_box(&b);

    open_box(&b);
    buf_text(&b.orders, "dir /no/such/folder\n");
    CHECK_INT(run_shell(&b, "true"), 0);
    CHECK_INT(b.process.report.kind, REPORT_FAILED);
    CHECK_TEXT(b.process.report.subject, "dir");
    close_box(&b);

    open_box(&b);
    buf_text(&b.orders, "nonsense\n");
    CHECK_INT(run_shell(&b, "true"), 0);
    CHECK_INT(b.process.report.kind, REPORT_FAILED);
    CHECK_TEXT(b.process.report.subject, "orders");
    close_box(&b);
}

static void survives_the_end_of_its_warden(void)
{
    /* The last one leaves the group, and writes until nobody reads. */
    static const char *const scripts[] = {
        "kill -9 $PPID; sleep 1000",
        "sh -c 'trap \"\" TERM; sleep 1000' & kill -9 $PPID; sleep 1000",
        "setsid sh -c \"yes & head -c 3000000 /dev/zero; kill -9 $PPID; wait\"",
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        struct box b;
        check_row(scripts[i]);
        open_box(&b);
        orders_walls(&b.orders, ORDERS_OFF);
        CHECK_INT(run_shell(&b, scripts[i]), 0);
        CHECK_INT(b.process.report.kind, REPORT_NONE);
        CHECK(!b.process.report.ended);
        CHECK(b.process.report.pid > 0);    /* so its group was killed */
        close_box(&b);
    }
}

/* A system call fails if this is its third argument. */
static bool break_call(uint32_t number, uint32_t third, uint32_t error)
{
    enum { NR = offsetof(struct seccomp_data, nr),
           THIRD = offsetof(struct seccomp_data, args[2]) };
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NR),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, THIRD),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, third, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog all = { sizeof code / sizeof *code, code };
    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
           !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all, 0, 0);
}

static void runs_on_other_systems(void)
{
    static const struct {
        const char *why;
        uint32_t call, third, error;
        enum orders_mode mode;
        const char *order;
    } rows[] = {
        { "Linux 5.10: close_range() has no CLOSE_RANGE_CLOEXEC",
          SYS_close_range, 4, EINVAL, ORDERS_OFF, "" },
        { "a user namespace may not mount, and no pid namespace is wanted",
          SYS_mount, 0, EPERM, ORDERS_ON, "wall pids off\n" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int status = -1;
        pid_t child = fork();
        check_row(rows[i].why);
        if (child == 0) {       /* the filter stays */
            struct box b;
            open_box(&b);
            buf_clear(&b.orders);
            orders_environment(&b.orders, rows[i].mode);
            reach_default(&b.orders, "/bin/sh", "/", "/nonexistent");
            orders_walls(&b.orders, rows[i].mode);
            buf_text(&b.orders, "limit linger 100\n");
            buf_text(&b.orders, rows[i].order);
            bool ran = break_call(rows[i].call, rows[i].third, rows[i].error) &&
                       !run_shell(&b, "sleep 0.3; echo done");
            _exit(!ran || strcmp(b.text, "done\n") != 0);
        }
        CHECK(waitpid(child, &status, 0) == child);
        CHECK_INT(status, 0);
    }
}

static void needs_a_warden(void)
{
    struct box b;
    struct process_opts o = { .warden = "/no/such/warden",
                              .argv = (const char *[]){ "/bin/true", NULL },
                              .mem = mem_default() };
    open_box(&b);
    b.process.poll = &b.poll;
    CHECK_INT(process_start(&b.process, &o), ENOENT);
    close_box(&b);
}

TESTS = {
    TEST_ONCE(reads_output_and_status),
    TEST_ONCE(ends_though_its_warden_is_stopped),
    TEST_ONCE(need_not_read_its_input),
    TEST_ONCE(keeps_head_and_tail),
    TEST_ONCE(kills_the_whole_tree),
    TEST_ONCE(ends_politely),
    TEST_ONCE(outlives_its_children_for_a_moment),
    TEST_ONCE(inherits_nothing),
    TEST_ONCE(explains_what_did_not_start),
    TEST_ONCE(survives_the_end_of_its_warden),
    TEST_ONCE(runs_on_other_systems),
    TEST_ONCE(needs_a_warden),
    TESTS_END,
};
