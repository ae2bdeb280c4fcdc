/* user_command.c - run programs for the user: an editor, a shell command */
#include "cli/user_command.h"

#include "cli/input.h"
#include "cli/output.h"
#include "cli/print.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_LIMIT = 1024 * 1024 };

/* Wait for a child; its exit code, or -1. */
static int wait_for_child(pid_t child)
{
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Start a shell command with standard output at `out`; -1: an error was
 * printed. */
static pid_t start_shell(const char *command, const char *argument, int out)
{
    print_flush();
    pid_t child = fork();
    if (child < 0)
        print_fault("cannot start a program: %s", strerror(errno));
    if (child)
        return child;
    dup2(out, STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", command, "sh", argument, (char *)NULL);
    _exit(127);
}

static const char *editor_command(void)
{
    const char *editor = getenv("VISUAL");
    if (!editor || !*editor)
        editor = getenv("EDITOR");
    return editor && *editor ? editor : "vi";
}

static bool run_editor(const char *path)
{
    char command[1024];
    snprintf(command, sizeof command, "%s \"$1\"", editor_command());
    pid_t child = start_shell(command, path, STDERR_FILENO);
    int code = child > 0 ? wait_for_child(child) : -1;
    if (child > 0 && code)
        print_fault("the editor \"%s\" failed; set VISUAL or EDITOR to one "
                    "that you have",
                    editor_command());
    return !code;
}

bool user_command_edit(struct bytes *text)
{
    char path[] = "/tmp/allm-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0) {
        print_fault("cannot create a file in /tmp: %s", strerror(errno));
        return false;
    }
    bool ok = !output_write(fd, bytes_string(text), text->len);
    close(fd);
    struct input in = { NULL, 0, 0 };
    ok = ok && run_editor(path) && input_load(&in, path);
    if (ok && !input_is_text(&in)) {
        print_fault("the text is not valid UTF-8; it is not used");
        ok = false;
    }
    while (ok && in.len && in.ptr[in.len - 1] == '\n')
        in.len--;
    if (ok) {
        bytes_clear(text);
        bytes_add(text, in.len ? in.ptr : "", in.len);
    }
    input_release(&in);
    unlink(path);
    return ok;
}

int user_command_run(const char *command, struct bytes *output)
{
    int ends[2];
    char piece[4096];
    ssize_t n;
    if (pipe(ends)) {
        print_fault("cannot start a program: %s", strerror(errno));
        return -1;
    }
    pid_t child = start_shell(command, "", ends[1]);
    close(ends[1]);
    while (child > 0 && ((n = read(ends[0], piece, sizeof piece)) > 0 ||
                         (n < 0 && errno == EINTR))) {
        if (n < 0)
            continue;
        print_bytes(piece, (size_t)n);
        if (output->len < OUTPUT_LIMIT)
            bytes_add(output, piece, (size_t)n);
    }
    close(ends[0]);
    print_flush();
    return child > 0 ? wait_for_child(child) : -1;
}
