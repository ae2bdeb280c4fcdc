/*
 * awake.c - keep the cores awake while something is measured
 *
 * usage: awake              print how many cores are kept awake; end with
 *                           standard input
 *        awake COMMAND...   run a command; end with its exit status
 *
 * A core without work halts.  On a virtual machine a halt, and the interrupt
 * that ends it, can cost more CPU time than a short request, and it is chance
 * how many of a request's waits halt a core.  So one process for each core
 * spins with the policy SCHED_IDLE: every other task replaces it at once, and
 * no core is ever without work, as with the kernel's option "idle=poll".
 *
 * The kernel kills the spinning processes when this one ends, however it ends.
 */
#define _GNU_SOURCE /* CPU_SET */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Lets the other thread of a core with two go first. */
static void rest(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* The child: say that it spins on this core, and do so until the parent
 * ends. */
static _Noreturn void spin(size_t core, pid_t parent, int ready)
{
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(core, &only);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent ||
        sched_setaffinity(0, sizeof only, &only) ||
        sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){ 0 }) ||
        write(ready, "", 1) != 1)
        _exit(1);
    close(ready);
    for (;;)
        rest();
}

/* Start a spinning process for each core that we may use; how many spin. */
static int start(void)
{
    int ends[2], spinning = 0;
    char c;
    cpu_set_t ours;
    pid_t parent = getpid();
    if (sched_getaffinity(0, sizeof ours, &ours) || pipe(ends))
        return 0;
    for (size_t core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &ours) && fork() == 0)
            spin(core, parent, ends[1]);
    close(ends[1]);
    while (read(ends[0], &c, 1) == 1)
        spinning++;
    close(ends[0]);
    return spinning;
}

/* The exit status of a command. */
static int run(char **argv)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[0], argv);
        perror(argv[0]);
        _exit(127);
    }
    while (child < 0 || waitpid(child, &status, 0) != child)
        if (child < 0 || errno != EINTR)
            return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
    char c;
    int spinning = start();
    if (argc > 1)
        return run(argv + 1);
    printf("%d\n", spinning);
    fflush(stdout);
    while (read(STDIN_FILENO, &c, 1) > 0)
        ;
    return 0;
}
