/*
 * bench_proc.c - the cost of a process in the sandbox
 *
 * /bin/true, started and waited for: by posix_spawn() alone, in the first wall,
 * and in both walls; then the same while this process has 2 GB of heap.  The
 * ratios to the bare process have limits: 3 and 4.5.
 */
#define _GNU_SOURCE /* environ */
#include "measure.h"

#include "proc/child.h"
#include "proc/orders.h"
#include "proc/reach.h"

#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 201, BYTES = 1 << 30 };

static const char *const argv[] = { "/bin/true", NULL };
static char warden[4096];

static void run_bare(struct slice orders)
{
    pid_t pid;
    (void)orders;
    if (posix_spawn(&pid, argv[0], NULL, NULL, (char *const *)(uintptr_t)argv,
                    environ) == 0)
        waitpid(pid, NULL, 0);
}

static void run_warden(struct slice orders)
{
    struct child c;
    char piece[4096];
    if (child_start(&c, warden, argv, orders, CHILD_NO_INPUT))
        exit(1);
    struct pollfd p = { .fd = c.report, .events = POLLIN };
    do
        poll(&p, 1, -1);
    while (read(c.report, piece, sizeof piece) > 0);
    child_release(&c);
}

static int64_t time_once(void (*run)(struct slice), struct slice orders)
{
    int64_t begin = measure_now();
    run(orders);
    return measure_now() - begin;
}

/* In turns, so that what else the machine does counts alike for all three. */
static void compare(const char *where, struct slice first, struct slice both)
{
    static int64_t times[3][RUNS];
    for (int i = 0; i < RUNS; i++) {
        times[0][i] = time_once(run_bare, first);
        times[1][i] = time_once(run_warden, first);
        times[2][i] = time_once(run_warden, both);
    }
    double us[3];
    for (int i = 0; i < 3; i++)
        us[i] = (double)measure_median(times[i], RUNS) / 1000;
    printf("%s: bare %.0f us, first wall %.0f us (%.1f times, %s), both walls "
           "%.0f us (%.1f times, %s)\n",
           where, us[0], us[1], us[1] / us[0],
           measure_verdict(us[1] <= 3 * us[0]), us[2], us[2] / us[0],
           measure_verdict(us[2] <= 4.5 * us[0]));
}

int main(void)
{
    struct arena a;
    struct buf both, first;
    ssize_t n = readlink("/proc/self/exe", warden, sizeof warden - 32);
    warden[n > 0 ? n : 0] = 0;
    for (int i = 0; i < 2 && strrchr(warden, '/'); i++)
        *strrchr(warden, '/') = 0;
    strncat(warden, "/allm-warden", 16);
    arena_init(&a, mem_default());
    buf_init(&both, &a, ORDERS_LIMIT);
    orders_walls(&both, ORDERS_ON);
    orders_environment(&both, ORDERS_ON);
    reach_default(&both, argv[0], "/usr", "/dev/shm");
    orders_limit(&both, "procs", 64);
    buf_init(&first, &a, ORDERS_LIMIT);
    buf_add(&first, buf_slice(&both));
    buf_text(&first, "wall mounts off\nwall pids off\n");
    compare("small process", buf_slice(&first), buf_slice(&both));
    char *heap[2];
    for (int i = 0; i < 2; i++) {
        heap[i] = malloc(BYTES);
        if (heap[i])
            memset(heap[i], 1, BYTES);
    }
    compare("2 GB of heap ", buf_slice(&first), buf_slice(&both));
    for (int i = 0; i < 2; i++)
        free(heap[i]);
    arena_release(&a);
    return 0;
}
