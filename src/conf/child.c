/* child.c - run programs of the user: an editor, a shell command */
#include "conf/child.h"

#include "conf/keyring.h"
#include "term/mem.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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
        if (!keyring_holds(name))
            clean[kept++] = environ[i];
    }
    return clean;
}

pid_t child_shell(const char *command, const char *argument, int out)
{
    char shell[] = "sh", option[] = "-c";
    char *line = term_copy(command, strlen(command));
    char *word = term_copy(argument, strlen(argument));
    char **clean = clean_environment();
    char *argv[] = { shell, option, line, shell, word, NULL };
    posix_spawn_file_actions_t actions;
    pid_t pid = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    errno = posix_spawn(&pid, "/bin/sh", &actions, NULL, argv, clean);
    posix_spawn_file_actions_destroy(&actions);
    term_free(clean);
    term_free(word);
    term_free(line);
    return errno ? -1 : pid;
}

int child_result(pid_t pid)
{
    int status = -1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int child_edit(const char *command, const char *file, int out)
{
    struct bytes line = { NULL, 0, 0 };
    bytes_format(&line, "%s \"$1\"", command);
    int code = child_result(child_shell(bytes_string(&line), file, out));
    bytes_release(&line);
    return code;
}
