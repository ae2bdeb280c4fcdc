/*
 * host.c - a program that runs process trees until it is killed
 *
 * usage: host COUNT
 *
 * Prints a line when all have begun.
 */
#include <allm.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A tree of processes; some trees end quickly, and begin again. */
static const char *const scripts[] = {
    "sleep 1000 & sleep 1000 & sleep 1000",
    "(sleep 1000 & (sleep 1000 & sleep 1000))",
    "trap '' TERM HUP; while :; do sleep 1; done",
    "sleep 0.0$((RANDOM % 9 + 1)); true",
    "sh -c 'sh -c \"sleep 1000\" & sleep 1000'",
};

static atomic_int begun;

static void *run_trees(void *arg)
{
    size_t which = (size_t)arg;
    allm_json *needs = allm_json_parse("{\"env\":[\"ALLM_ESCAPE_MARK\"]}",
                                       ALLM_NUL_ENDED, NULL);
    const char *argv[] = { "/bin/sh", "-c",
                           scripts[which % (sizeof scripts / sizeof *scripts)],
                           NULL };
    atomic_fetch_add(&begun, 1);
    for (;;) {
        allm_json *r = allm_sandbox_run(needs, ALLM_SANDBOX_ON, argv, 0, 0);
        if (allm_json_error(r)) {
            fprintf(stderr, "host: %s\n", allm_json_error(r)->message);
            _exit(1);
        }
        allm_json_free(r);
    }
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 20;
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, run_trees, (void *)(size_t)i))
            return 1;
    }
    while (atomic_load(&begun) < count)
        usleep(1000);
    usleep(100000);
    puts("begun");
    fflush(stdout);
    for (;;)
        pause();
}
