/*
 * chat_lines.c - lines that the user writes
 *
 * In a terminal they are edited.  Elsewhere only what is there is read, so that
 * a pipe is answered line by line; a line beyond the limit is cut into several.
 */
#include "cli/chat_lines.h"

#include "cli/edit.h"
#include "cli/input.h"
#include "cli/print.h"

#include <string.h>
#include <unistd.h>

enum { LONGEST = 65536 };

static char buffer[LONGEST + 1];
static size_t begin, end; /* what is read and not given yet */

bool chat_lines_shown(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

/* Move what is left to the front, and read behind it. */
static bool read_more(void)
{
    memmove(buffer, buffer + begin, end - begin);
    end -= begin;
    begin = 0;
    long n = input_read(STDIN_FILENO, NULL, buffer + end, LONGEST - end);
    end += n > 0 ? (size_t)n : 0;
    return n > 0;
}

static const char *cut(size_t len, size_t skip)
{
    char *line = buffer + begin;
    begin += len + skip;
    if (len && line[len - 1] == '\r')
        len--;
    line[len] = 0;
    return line;
}

const char *chat_lines_next(void)
{
    if (edit_is_possible())
        return edit_line("> ");
    if (chat_lines_shown()) {
        print_flush();
        (void)!write(STDERR_FILENO, "> ", 2);
    }
    for (;;) {
        char *at = memchr(buffer + begin, '\n', end - begin);
        if (at)
            return cut((size_t)(at - buffer) - begin, 1);
        if (end - begin == LONGEST || !read_more())
            return end > begin ? cut(end - begin, 0) : NULL;
    }
}
