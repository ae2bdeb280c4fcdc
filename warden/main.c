/*
 * main.c - allm-warden: the parent of one external process
 *
 *      library --3--> instructions, then "term" or "kill"; its end is ours
 *              <-4--- what happened: one line each, the last is "ended"
 *
 *      warden --> tool                     without a pid namespace
 *      warden --> init (pid 1) --> tool    with one
 *
 * usage: allm-warden PROGRAM [ARG...]      with the descriptors above; the
 *                                          program "-" only builds the walls
 *
 * Lines on descriptor 4
 *      missing WALL ERRNO      this part is not in force
 *      started PID
 *      refused WALL ERRNO PATH         a required part is missing: nothing ran
 *      failed STAGE ERRNO PATH         the program did not start
 *      landlock VERSION                the program was "-"
 *      ended STATUS SIGNAL CPU_US RSS_KIB
 *
 * Invariants
 *   (1) The tool and its descendants are in one process group, and are children
 *       of the warden or of init when their parents end.
 *   (2) "ended" is written when no descendant is left.
 *   (3) No memory is allocated after the start.
 */
#include "walls.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CONTROL = 3, REPORT = 4, CALL_CLOSE_RANGE = 436 };

/* In memory that the warden shares with init and the tool until exec. */
struct shared {
    enum wall missing;          /* try again without it; WALL_COUNT: none */
    bool ended;                 /* the tool: its status */
    int status;
    struct rusage use;
};

static struct orders orders;
static struct shared *shared;
static struct state state;
static struct who who;
static char **command;
static bool called_off;         /* "term" or "kill" came with the orders */

/* ------------------------------------------------------------- reports --- */

static void report(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static void report(const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    size_t len = n < (int)sizeof line ? (size_t)n : sizeof line - 1;
    line[len - 1] = '\n';
    while (write(REPORT, line, len) < 0 && errno == EINTR)
        ;
}

/* The new process ends here. */
static void give_up(const char *what, const char *name, int error,
                    const char *path)
{
    report("%s %s %d %s \n", what, name, error, path);
    _exit(127);
}

/* A part of the second wall is missing; it may work without it. */
static void do_without(enum wall wall, int error, const char *path)
{
    shared->missing = wall;
    give_up("missing", wall_names[wall], error, path);
}

/* --------------------------------------------------- the tool's process --- */

/* A part that is not in force: nothing runs if it is required. */
static void demand(enum wall wall, bool in_force, int error, const char *path)
{
    if (in_force || orders.off[wall])
        return;
    if (orders.required[wall])
        give_up("refused", wall_names[wall], error, path);
    report("missing %s %d %s \n", wall_names[wall], error, path);
}

/* What the kernel's version and the namespaces decide. */
static void check_state(void)
{
    bool ports = orders.net == NET_TCP && !orders.off[WALL_NET];
    demand(WALL_FILES, state.landlock >= 1, ENOSYS, "Landlock");
    demand(WALL_METADATA, state.mounts || !state.write_list, ENOSYS, "mounts");
    demand(WALL_NET, !ports || state.landlock >= 4, ENOSYS, "Landlock 4");
    demand(WALL_SIGNALS, state.pids || state.landlock >= 6, ENOSYS,
           "Landlock 6");
    demand(WALL_PROCESSES, state.pid_max || who.user, EPERM, "pid_max");
    demand(WALL_MOUNTS, state.mounts, EPERM, "namespaces");
    demand(WALL_PIDS, state.pids, EPERM, "namespaces");
}

static bool is_filtered(void)
{
    return !orders.off[WALL_KERNEL] || !orders.off[WALL_STAYING] ||
           !orders.off[WALL_NET];
}

static void build_walls(void)
{
    const char *path = "";
    int error = limits_apply(&orders, &state);
    demand(WALL_AMOUNT, !error, error, "setrlimit");
    if (!orders.off[WALL_PRIVILEGES]) {
        error = privileges_drop();
        demand(WALL_PRIVILEGES, !error, error, "no_new_privs");
    }
    if (state.landlock) {
        error = landlock_apply(&orders, &state, &path);
        if (error)
            give_up("refused", "files", error, path);
    }
    error = filter_apply(&orders, &state);
    if (error && is_filtered())
        give_up("refused", "kernel", error, "seccomp");
}

static void run_tool(void)
{
    sigset_t none;
    if (!orders.terminal)
        setpgid(0, 0);
    if (orders.dir && chdir(orders.dir))
        give_up("failed", "dir", errno, orders.dir);
    check_state();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    build_walls();
    if (!strcmp(command[0], "-")) {
        report("landlock %d \n", state.landlock);
        _exit(0);
    }
    execve(command[0], command, orders.env);
    give_up("failed", "exec", errno, command[0]);
}

/* ------------------------------------------------------------- the end --- */

static pid_t first;             /* our first child: the tool, or init */
static bool is_init;            /* we are pid 1 of a namespace */

/* Reap what has ended; false: there are no children. */
static bool reap(void)
{
    int status;
    struct rusage use;
    pid_t pid;
    while ((pid = wait4(-1, &status, WNOHANG | __WALL, &use)) > 0)
        if (pid == first && (is_init || !state.pids)) {
            shared->status = status;
            shared->use = use;
            shared->ended = true;
        }
    return pid == 0;
}

/* Those that have left the group, which is possible without its wall. */
static void kill_children(void)
{
    char text[4096];
    int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    for (char *at = text; *at;) {
        pid_t pid = (pid_t)strtol(at, &at, 10);
        if (pid <= 1)
            break;
        kill(pid, SIGKILL);
        at += *at == ' ';
    }
}

static void kill_all(void)
{
    if (is_init) {
        kill(-1, SIGKILL);
        return;
    }
    kill(-first, SIGKILL);
    kill(first, SIGKILL);       /* it may not be a group yet */
    if (!state.pids)
        kill_children();
}

static void end_politely(void)
{
    if (state.pids && !is_init)
        kill(first, SIGTERM);   /* init passes it on */
    else
        kill(orders.terminal ? first : -first, SIGTERM);
}

/* True: kill everything.  "term" ends the tool politely. */
static bool read_control(void)
{
    char text[64];
    ssize_t n = read(CONTROL, text, sizeof text);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return false;
    if (n <= 0 || memchr(text, 'k', (size_t)n))
        return true;
    end_politely();
    return false;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Sleep until something happens; signals are pending, never handled. */
static bool wait_for_news(int signals, int ms)
{
    struct signalfd_siginfo news;
    struct pollfd fds[] = { { .fd = signals, .events = POLLIN },
                            { .fd = is_init ? -1 : CONTROL,
                              .events = POLLIN } };
    poll(fds, 2, ms);
    while (read(signals, &news, sizeof news) > 0)
        if (news.ssi_signo == SIGTERM && is_init)
            end_politely();
    return fds[1].revents && read_control();
}

/* Wait for the end of the tool, then of everything that it started. */
static void tend(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    int64_t linger = orders.limit[LIMIT_LINGER] == LIMIT_NONE
                         ? 0
                         : (int64_t)orders.limit[LIMIT_LINGER];
    int64_t last = 0;           /* when the rest is killed; 0: not known */
    bool killing = false;
    while (reap()) {
        int64_t now = now_ms();
        if (shared->ended && !last)
            last = now + linger;
        killing = killing || (last && now >= last);
        if (killing)
            kill_all();
        if (wait_for_news(signals, killing ? 2 : last ? (int)(last - now) : -1))
            killing = true;
    }
    close(signals);
}

/* ------------------------------------------------------------ the start --- */

/* fork(), into new namespaces; memory is copied as by fork(). */
static pid_t fork_into(unsigned long spaces)
{
    return (pid_t)syscall(SYS_clone, spaces | SIGCHLD, 0, 0, 0, 0);
}

/* Pid 1 of a new namespace. */
static void run_init(void)
{
    int error = space_proc(orders.off[WALL_PROCESSES]
                               ? LIMIT_NONE
                               : orders.limit[LIMIT_PROCS],
                           &state.pid_max);
    if (error)
        do_without(WALL_PIDS, error, "/proc");
    is_init = true;
    first = fork_into(0);
    if (first < 0)
        give_up("failed", "fork", errno, "");
    if (first == 0)
        run_tool();
    if (!orders.terminal)
        setpgid(first, first);
    tend();
    _exit(0);
}

/* In the new process. */
static void begin(void)
{
    const char *path;
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (state.mounts) {
        int error = space_enter(&orders, &who, &path);
        if (error)
            do_without(WALL_MOUNTS, error, path);
    }
    if (state.pids)
        run_init();
    run_tool();
}

/* One attempt; false: try again without the part that is missing. */
static bool attempt(void)
{
    unsigned long spaces = state.mounts ? CLONE_NEWUSER | CLONE_NEWNS : 0;
    *shared = (struct shared){ .missing = WALL_COUNT };
    first = fork_into(spaces | (state.pids ? CLONE_NEWPID : 0));
    if (first == 0)
        begin();
    if (first < 0) {
        shared->missing = spaces ? WALL_MOUNTS : WALL_COUNT;
        report("%s %d \n", spaces ? "missing mounts" : "failed fork", errno);
        return !spaces;
    }
    if (!state.pids && !orders.terminal)
        setpgid(first, first);
    report("started %d \n", (int)first);
    tend();
    return shared->missing == WALL_COUNT;
}

static void report_end(void)
{
    int status = shared->ended ? shared->status : SIGKILL;
    const struct rusage *u = &shared->use;
    report("ended %d %d %lld %ld \n",
           WIFEXITED(status) ? WEXITSTATUS(status) : 0,
           WIFSIGNALED(status) ? WTERMSIG(status) : 0,
           (long long)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000 +
               u->ru_utime.tv_usec + u->ru_stime.tv_usec,
           u->ru_maxrss);
}

/* Read the instructions; false: the library is gone, or made a mistake. */
static bool read_orders(void)
{
    static char text[256 * 1024];
    size_t len = 0, line = 0;
    bool done = false;
    while (!done) {
        char *end = memchr(text + line, '\n', len - line);
        if (!end) {
            ssize_t n = read(CONTROL, text + len, sizeof text - len);
            if (n == 0 || (n < 0 && errno != EINTR))
                return false;
            len += n > 0 ? (size_t)n : 0;
            continue;
        }
        *end = 0;
        if (!orders_line(&orders, text + line, &done)) {
            report("failed orders 0 not an instruction: %s \n", text + line);
            return false;
        }
        line = (size_t)(end - text) + 1;
    }
    called_off = line < len;
    return true;
}

/* Nothing but our five descriptors is inherited, or nothing runs. */
static bool set_up_self(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared != MAP_FAILED && !fcntl(CONTROL, F_SETFD, FD_CLOEXEC) &&
           !fcntl(REPORT, F_SETFD, FD_CLOEXEC) &&
           !syscall(CALL_CLOSE_RANGE, REPORT + 1, ~0u, 0);
}

/* With less of the second wall after each failure. */
static void run_all(void)
{
    if (!orders.terminal)
        setpgid(0, 0);
    state.mounts = !orders.off[WALL_MOUNTS];
    state.pids = !orders.off[WALL_PIDS] && state.mounts;
    state.landlock = landlock_version();
    state.write_list = walls_write_list(&orders);
    while (!attempt()) {
        state.mounts = state.mounts && shared->missing == WALL_PIDS;
        state.pids = state.pid_max = false;
    }
    report_end();
}

int main(int argc, char **argv)
{
    who = (struct who){ geteuid(), getegid() };
    command = argv + 1;
    if (argc < 2 || !set_up_self()) {
        fputs("allm-warden: only liballm starts this program; use \"allm "
              "sandbox -- COMMAND\"\n",
              stderr);
        return 2;
    }
    orders_init(&orders);
    if (!read_orders())
        return 1;
    if (called_off)
        report("ended 0 %d 0 0 \n", SIGKILL);
    else
        run_all();
    return 0;
}
