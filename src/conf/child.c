/* child.c - run the user's editor */
#include "conf/child.h"

#include "conf/expand.h"
#include "term/mem.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

/* The environment without keys; the caller frees the array. */
static char **clean_environment(void)
{
    size_t n = 0, kept = 0;
    while (environ[n])
        n++;
    char **clean = term_alloc((n + 1) * sizeof *clean);
    for (size_t i = 0; i < n; i++) {
        char name[256];
        size_t len = strcspn(environ[i], "=");
        snprintf(name, sizeof name, "%.*s", (int)(len < 255 ? len : 255),
                 environ[i]);
        if (!expand_holds_key(name))
            clean[kept++] = environ[i];
    }
    return clean;
}

int child_edit(const char *command, const char *file)
{
    struct bytes line = { NULL, 0, 0 };
    char shell[] = "sh", option[] = "-c";
    char *name = term_copy(file, strlen(file)), **clean = clean_environment();
    pid_t pid;
    int status = -1;
    bytes_format(&line, "%s \"$1\"", command);
    char *argv[] = { shell, option, line.ptr, shell, name, NULL };
    if (!posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, clean))
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            continue;
    term_free(clean);
    term_free(name);
    bytes_release(&line);
    return status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
