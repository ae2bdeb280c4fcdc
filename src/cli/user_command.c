/* user_command.c - run programs for the user: an editor, a shell command */
#include "cli/user_command.h"

#include "cli/config_parts.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/print.h"
#include "conf/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUTPUT_LIMIT = 1024 * 1024 };

static bool run_editor(const char *path)
{
    print_flush();
    int code = child_edit(config_editor(), path, STDERR_FILENO);
    if (code)
        print_fault("the editor \"%s\" failed; set VISUAL or EDITOR to one "
                    "that you have",
                    config_editor());
    return !code;
}

bool user_command_edit(struct bytes *text)
{
    char path[] = "/tmp/allm-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0)
        return print_fault("cannot create a file in /tmp: %s", strerror(errno));
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
    print_flush();
    if (pipe(ends)) {
        print_fault("cannot start a program: %s", strerror(errno));
        return -1;
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    pid_t child = child_shell(command, "", ends[1]);
    if (child < 0)
        print_fault("cannot start a program: %s", strerror(errno));
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
    return child_result(child);
}
