/*
 * edit.c - edit a line in a terminal
 *
 *      > what was the name of that
 *                     ^ at: the cursor, where the next character is inserted
 *
 * The line is drawn in one row; a long line scrolls to the left.  During
 * editing, the terminal is in raw mode without echo.  Afterwards, its settings
 * are restored, also if a signal ends the program.
 */
#include "cli/edit.h"

#include "cli/edit_keys.h"
#include "cli/edit_text.h"
#include "cli/history.h"
#include "cli/output.h"
#include "cli/print.h"
#include "term/glyph.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum {
    ESCAPE_MS = 50,
    PASTE_MS = 250, /* the longest gap between bytes of a paste */
    COLUMNS = 80
};

static struct termios before; /* the terminal's original settings */

bool edit_is_possible(void)
{
    const char *term = getenv("TERM");
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && term && *term &&
           strcmp(term, "dumb") != 0;
}

static void write_terminal(const char *bytes, size_t len)
{
    (void)output_write(STDERR_FILENO, bytes, len);
}

/* Bracketed paste: terminals that know it mark the beginning and the end of
 * pasted text. */
static void send_paste_marks(bool on)
{
    write_terminal(on ? "\033[?2004h" : "\033[?2004l", 8);
}

static void restore_terminal(int number)
{
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
    raise(number); /* SA_RESETHAND: now the default action applies */
}

static void catch_signals(bool on)
{
    static const int signals[] = { SIGTERM, SIGHUP, SIGQUIT };
    struct sigaction act = { .sa_handler = on ? restore_terminal : SIG_DFL,
                             .sa_flags = (int)(SA_RESETHAND | SA_NODEFER) };
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &act, NULL);
}

static bool enter_raw_mode(void)
{
    if (tcgetattr(STDIN_FILENO, &before))
        return false;
    struct termios raw = before;
    raw.c_iflag &= ~(tcflag_t)(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
    raw.c_lflag &= ~(tcflag_t)(ECHO | ICANON | IEXTEN | ISIG);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    catch_signals(true);
    if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw))
        return false;
    send_paste_marks(true);
    return true;
}

static void leave_raw_mode(void)
{
    send_paste_marks(false);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
    catch_signals(false);
}

static size_t count_columns(void)
{
    struct winsize size = { 0 };
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 10)
        return COLUMNS;
    return size.ws_col;
}

/* U+061C, U+2028 to U+202E, U+2066 to U+2069: line breaks, and marks that
 * change the direction of the text. */
static bool reorders_text(const char *text)
{
    return !strncmp(text, "\xd8\x9c", 2) ||
           (!strncmp(text, "\xe2\x80", 2) && text[2] >= '\xa8' &&
            text[2] <= '\xae') ||
           (!strncmp(text, "\xe2\x81", 2) && text[2] >= '\xa6' &&
            text[2] <= '\xa9');
}

/* What to show instead of a character that controls the terminal; NULL: the
 * character itself. */
static const char *find_substitute(const char *text)
{
    unsigned char c = (unsigned char)text[0], second = (unsigned char)text[1];
    if (c == '\n')
        return "\xe2\x86\xb5";
    return c < ' ' || c == 0x7f || (c == 0xc2 && second < 0xa0) ||
                   reorders_text(text)
               ? " "
               : NULL;
}

/* Where the row begins: as far left as possible with the cursor visible. */
static size_t row_start(const struct edit_text *t, size_t room)
{
    size_t from = t->at, width = 0;
    while (from) {
        size_t left = glyph_before(t->line.ptr, from);
        width += glyph_width(t->line.ptr + left, from - left);
        if (width > room)
            break;
        from = left;
    }
    return from;
}

static void draw_line(const struct edit_text *t, const char *prompt)
{
    static char out[16384];
    size_t room = count_columns() - strlen(prompt) - 1;
    size_t from = row_start(t, room), at = 0;
    at += (size_t)snprintf(out, sizeof out, "\r%s", prompt);
    for (size_t i = from, end; i < t->line.len && at < sizeof out - 100;
         i = end) {
        end = glyph_next(t->line.ptr, t->line.len, i);
        if (end - i > 32 || glyph_width(t->line.ptr + from, end - from) > room)
            break;
        const char *other = find_substitute(t->line.ptr + i);
        size_t n = other ? strlen(other) : end - i;
        memcpy(out + at, other ? other : t->line.ptr + i, n);
        at += n;
    }
    at += (size_t)snprintf(out + at, sizeof out - at, "\033[K\r\033[%zuC",
                           strlen(prompt) +
                               glyph_width(t->line.ptr + from, t->at - from));
    write_terminal(out, at);
}

/* Does another byte arrive within this time?  -1: wait without a limit. */
static bool has_input(int timeout_ms)
{
    struct pollfd wait = { .fd = STDIN_FILENO, .events = POLLIN };
    int n;
    do {
        n = poll(&wait, 1, timeout_ms);
    } while (n < 0 && errno == EINTR && timeout_ms < 0);
    return n > 0;
}

/* The next byte; -1: end of input, or timeout. */
static int next_byte(int timeout_ms)
{
    unsigned char c;
    ssize_t n;
    do {
        if (!has_input(timeout_ms))
            return -1;
        n = read(STDIN_FILENO, &c, 1);
    } while (n < 0 && (errno == EINTR || errno == EAGAIN));
    return n == 1 ? c : -1;
}

/* Read what follows ESC, such as "[A" or "b"; "" if nothing does. */
static void read_escape(char *name, size_t size)
{
    size_t len = 0;
    int c = next_byte(ESCAPE_MS);
    while (c >= 0 && len + 1 < size) {
        name[len++] = (char)c;
        bool more = len == 1 ? c == '[' || c == 'O' : c >= ' ' && c < '@';
        if (!more)
            break;
        c = next_byte(ESCAPE_MS);
    }
    name[len] = 0;
}

/* Insert all bytes of a character at once, so it is never drawn in parts. */
static void insert_character(struct edit_text *t, int first)
{
    char bytes[4] = { (char)first };
    size_t want = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    size_t len = 1;
    if ((first >= 0x80 && first < 0xc2) || first > 0xf4)
        return; /* not the first byte of a character */
    while (len < want) {
        int c = next_byte(ESCAPE_MS);
        if (c < 0 || (c & 0xc0) != 0x80)
            return;
        bytes[len++] = (char)c;
    }
    edit_text_insert(t, bytes, len);
}

/* Ctrl-Z: stop the program until it is continued. */
static void suspend_program(void)
{
    leave_raw_mode();
    raise(SIGTSTP);
    (void)enter_raw_mode();
}

/* In a paste, Ctrl-C and Ctrl-D are ignored, and more bytes follow.  If none
 * follow, the end mark was lost, and the user presses the key to get out. */
static bool ends_paste(const struct edit_text *t, int c)
{
    return t->pasting && (c == 3 || c == 4) && !has_input(PASTE_MS);
}

/* Apply one key to the line. */
static enum edit_end apply_key(struct edit_text *t, int c)
{
    char name[16];
    if (ends_paste(t, c))
        t->pasting = false;
    if (c == '\033') {
        read_escape(name, sizeof name);
        return edit_keys_escape(t, name);
    }
    if (c == 26 && !t->pasting)
        suspend_program();
    else if (c >= ' ' && c != 0x7f)
        insert_character(t, c);
    else
        return edit_keys_control(t, c);
    return EDIT_CONTINUES;
}

static enum edit_end edit_one_line(struct edit_text *t, const char *prompt)
{
    enum edit_end end = EDIT_CONTINUES;
    while (end == EDIT_CONTINUES) {
        if (!has_input(0)) /* do not draw in the middle of a paste */
            draw_line(t, prompt);
        int c = next_byte(-1);
        end = c < 0 ? EDIT_EOF : apply_key(t, c);
    }
    edit_text_end(t);
    draw_line(t, prompt);
    return end;
}

const char *edit_line(const char *prompt)
{
    static struct edit_text text;
    enum edit_end end;
    print_flush();
    if (!enter_raw_mode())
        return NULL;
    do {
        end = edit_text_reset(&text) ? edit_one_line(&text, prompt) : EDIT_EOF;
        if (end == EDIT_DROPPED)
            write_terminal("^C", 2);
        write_terminal("\n", 1);
        if (end == EDIT_DROPPED && !text.line.len)
            print_note("(Ctrl-D or /exit ends the chat)");
    } while (end == EDIT_DROPPED || (end == EDIT_DONE && text.full));
    leave_raw_mode();
    if (end == EDIT_EOF)
        return NULL;
    history_add(text.line.ptr);
    return text.line.ptr;
}
