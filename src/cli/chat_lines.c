/*
 * chat_lines.c - read the user's lines of a chat
 *
 * On a terminal, lines are edited.  From a pipe, a read returns what is
 * available, so each line is answered as it arrives.  A line that is too long
 * or not UTF-8 is rejected as a whole: half of it would have another meaning.
 */
#include "cli/chat_lines.h"

#include "cli/console.h"
#include "cli/history.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/print.h"

#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 65536 };

static char buffer[LINE_MAX_BYTES + 1];
static size_t begin, end; /* read, but not yet returned */
static bool rejected;         /* a line was rejected */
static bool interrupted;

bool chat_lines_rejected(void)
{
    return rejected;
}

bool chat_lines_interrupted(void)
{
    return interrupted;
}

bool chat_lines_interactive(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

/* Move the unread bytes to the front, and append more. */
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

/* The next len bytes as a line; NULL: it is rejected. */
static const char *take_line(size_t len, size_t skip)
{
    char *line = buffer + begin;
    begin += len + skip;
    if (len && line[len - 1] == '\r')
        len--;
    line[len] = 0;
    if (input_bytes_are_text(line, len))
        return line;
    reject_line("a line is not valid UTF-8 text; it is skipped");
    return NULL;
}

/* Find the end of the next line, or of the input; false: no more lines. */
static bool find_end(size_t *len, size_t *skip)
{
    bool too_long = false;
    for (;;) {
        const char *at = memchr(buffer + begin, '\n', end - begin);
        *len = at ? (size_t)(at - buffer) - begin : end - begin;
        *skip = at != NULL;
        if (at && !too_long)
            return true;
        if (at) {               /* the rest of a line that is too long */
            begin += *len + 1;
            too_long = false;
            continue;
        }
        if (*len == LINE_MAX_BYTES && !too_long)
            reject_line("a line is longer than 64 KiB and is skipped; allm -S "
                        "FILE accepts longer prompts from a pipe");
        too_long = too_long || *len == LINE_MAX_BYTES;
        if (too_long)
            begin = end;
        if (!read_more())
            return !too_long && *len;
    }
}

/* A line that is edited; NULL: the chat ends. */
static const char *edit_next(const char *prompt)
{
    const char *line;
    bool again = false; /* Ctrl-C was pressed in an empty line */
    for (;;) {
        enum console_end how = console_edit(prompt, &line);
        if (how == CONSOLE_LINE) {
            history_record(line);
            return line;
        }
        interrupted = how == CONSOLE_DROPPED && !*line && again;
        if (how == CONSOLE_EOF || interrupted)
            return NULL;
        again = !*line;
        if (again)
            print_note("(Ctrl-D or /exit ends the chat, and so does another "
                       "Ctrl-C)");
    }
}

const char *chat_lines_next(const char *prompt)
{
    if (console_is_possible())
        return edit_next(prompt);
    if (chat_lines_interactive()) {
        print_flush();
        (void)output_write(STDERR_FILENO, prompt, strlen(prompt));
    }
    const char *line = NULL;
    size_t len, skip;
    while (!line && find_end(&len, &skip))
        line = take_line(len, skip);
    return line;
}
