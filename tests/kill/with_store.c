/*
 * with_store.c - run a command with a store of its own
 *
 * usage: with_store KIND COMMAND...
 *
 *   KIND      memory, sqlite or postgresql
 *   COMMAND   each argument "URI" is replaced by the URI of a new, empty store
 *
 * A PostgreSQL server is started for the command and stopped afterwards.  When
 * the command sends SIGUSR1 to this process, the server is stopped as by a
 * crash and started again; the variable WITH_STORE has the process id.  If the
 * database is missing, the test is counted as skipped.
 */
#include "harness/database.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct database server;
static char folder[64], uri[200];

static int skip(const char *what)
{
    printf("# skipped: %s is missing\n0 passed, 0 failed, 1 skipped\n", what);
    return 0;
}

/* A folder in memory where possible: a sync of a disk takes milliseconds. */
static const char *make_file(void)
{
    snprintf(folder, sizeof folder, "%s/allm-with-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(folder))
        return "folder";
    snprintf(uri, sizeof uri, "sqlite:%s/s.db", folder);
    return NULL;
}

static void remove_file(void)
{
    static const char *const ends[] = { "", "-wal", "-shm", "-lock" };
    char path[96];
    for (size_t i = 0; *folder && i < sizeof ends / sizeof *ends; i++) {
        snprintf(path, sizeof path, "%s/s.db%s", folder, ends[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* One word that says what is missing; NULL: `uri` is a new store. */
static const char *make_store(const char *kind)
{
    if (!strcmp(kind, "memory")) {
        snprintf(uri, sizeof uri, "memory:");
        return NULL;
    }
    if (!strcmp(kind, "sqlite"))
        return ALLM_SQLITE ? make_file() : "SQLite";
    if (!ALLM_POSTGRES)
        return "libpq";
    const char *missing = database_start(&server);
    if (missing || !database_new(&server))
        return missing ? missing : "postgresql";
    snprintf(uri, sizeof uri, "%s", server.uri);
    return NULL;
}

static void remove_store(void)
{
    remove_file();
    if (*server.folder)
        database_remove(&server);
}

static void run_command(char **argv)
{
    char pid[16];
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    snprintf(pid, sizeof pid, "%d", (int)getppid());
    setenv("WITH_STORE", pid, 1);
    for (char **a = argv; *a; a++)
        if (!strcmp(*a, "URI"))
            *a = uri;
    execvp(argv[0], argv);
    perror(argv[0]);
    _exit(127);
}

/* Wait for the child, and restart the server when it asks for that. */
static int wait_for(pid_t child, const sigset_t *signals)
{
    int status = 0, number;
    while (waitpid(child, &status, WNOHANG) == 0) {
        sigwait(signals, &number);
        if (number != SIGUSR1)
            continue;
        database_stop(&server, "immediate");
        if (!database_restart(&server))
            fprintf(stderr, "the server did not start again\n");
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
    sigset_t signals;
    if (argc < 3)
        return 2;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    const char *missing = make_store(argv[1]);
    if (missing) {
        remove_store();
        return skip(missing);
    }
    pid_t child = fork();
    if (!child)
        run_command(argv + 2);
    int code = child < 0 ? 1 : wait_for(child, &signals);
    remove_store();
    return code;
}
