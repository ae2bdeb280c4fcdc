/*
 * chat_lines.c - lines that the user writes
 *
 * In a terminal they are edited.  Elsewhere only what is there is read, so that
 * a pipe is answered line by line; a line beyond the limit, or one that is no
 * text, is refused: half of it would ask something else.
 */
#include "cli/chat_lines.h"

#include "cli/edit.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/print.h"

#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 65536 };

static char buffer[LINE_MAX_BYTES + 1];
static size_t begin, end; /* what is read and not given yet */
static bool rejected;         /* a line was refused */

bool chat_lines_rejected(void)
{
    return rejected;
}

bool chat_lines_interactive(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

/* Move what is left to the front, and read behind it. */
static bool read_more(void)
{
    memmove(buffer, buffer + begin, end - begin);
    end -= begin;
    begin = 0;
    long n = input_read(STDIN_FILENO, NULL, buffer + end, LINE_MAX_BYTES - end);
    end += n > 0 ? (size_t)n : 0;
    return n > 0;
}

static void reject_line(const char *why)
{
    rejected = true;
    print_fault("%s", why);
}

/* The next so many bytes as a line; NULL: it is refused. */
static const char *take_line(size_t len, size_t skip)
{
    char *line = buffer + begin;
    begin += len + skip;
    if (len && line[len - 1] == '\r')
        len--;
    line[len] = 0;
    if (input_bytes_are_text(line, len))
        return line;
    reject_line("a line is not text in UTF-8");
    return NULL;
}

/* Up to the end of a line, or of all; false: there is nothing more. */
static bool find_end(size_t *len, size_t *skip)
{
    bool too_long = false;
    for (;;) {
        const char *at = memchr(buffer + begin, '\n', end - begin);
        *len = at ? (size_t)(at - buffer) - begin : end - begin;
        *skip = at != NULL;
        if (at && !too_long)
            return true;
        if (at) {               /* the rest of what was too long */
            begin += *len + 1;
            too_long = false;
            continue;
        }
        if (*len == LINE_MAX_BYTES && !too_long)
            reject_line(
                "a line has more than 64 KiB; allm -S FILE takes more, from "
                "a pipe");
        too_long = too_long || *len == LINE_MAX_BYTES;
        if (too_long)
            begin = end;
        if (!read_more())
            return !too_long && *len;
    }
}

const char *chat_lines_next(void)
{
    if (edit_is_possible())
        return edit_line("> ");
    if (chat_lines_interactive()) {
        print_flush();
        (void)output_write(STDERR_FILENO, "> ", 2);
    }
    const char *line = NULL;
    size_t len, skip;
    while (!line && find_end(&len, &skip))
        line = take_line(len, skip);
    return line;
}
