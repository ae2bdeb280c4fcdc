/*
 * console.c - the terminal of a chat: its mode, its size, and its keys
 *
 * The terminal's settings are restored at the end, also if a signal ends the
 * program.  The editor is term/editor; here are the descriptors.
 */
#include "cli/console.h"

#include "cli/output.h"
#include "cli/print.h"
#include "cli/signals.h"
#include "cli/user_command.h"
#include "term/bytes.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { CTRL_C = 3, CTRL_Z = 26 };

static struct {
    struct termios before; /* the terminal's original settings */
    struct editor *editor;
    struct bytes ahead;    /* keys that were read, but not used */
    struct bytes prefill;
    bool raw;
} console;

bool console_is_possible(void)
{
    const char *term = getenv("TERM");
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && term && *term &&
           strcmp(term, "dumb") != 0;
}

size_t console_columns(int fd)
{
    struct winsize size = { 0 };
    return ioctl(fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

static void write_screen(struct bytes *screen)
{
    print_flush();
    (void)output_write(STDERR_FILENO, bytes_string(screen), screen->len);
    bytes_clear(screen);
}

/* --------------------------------------------------------------- mode --- */

static void restore_terminal(int number)
{
    tcsetattr(STDIN_FILENO, TCSANOW, &console.before);
    raise(number); /* SA_RESETHAND: now the default action applies */
}

/* A resize: poll() returns, and the line is drawn again. */
static void ignore_signal(int number)
{
    (void)number;
}

/* During a call its signals are caught already, and end it normally. */
static void catch_signals(bool on)
{
    static const int signals[] = { SIGTERM, SIGHUP, SIGQUIT };
    struct sigaction act = { .sa_handler = on ? restore_terminal : SIG_DFL,
                             .sa_flags = (int)(SA_RESETHAND | SA_NODEFER) };
    struct sigaction resize = { .sa_handler = on ? ignore_signal : SIG_DFL };
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (!signals_watched(signals[i]))
            sigaction(signals[i], &act, NULL);
    sigaction(SIGWINCH, &resize, NULL);
}

/* Bracketed paste: terminals that know it mark the beginning and the end of
 * pasted text. */
static void enter_raw_mode(void)
{
    if (console.raw || tcgetattr(STDIN_FILENO, &console.before))
        return;
    struct termios raw = console.before;
    raw.c_iflag &= ~(tcflag_t)(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
    raw.c_lflag &= ~(tcflag_t)(ECHO | ICANON | IEXTEN | ISIG);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    catch_signals(true);
    console.raw = !tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    (void)output_write(STDERR_FILENO, "\033[?2004h", 8);
}

static void leave_raw_mode(void)
{
    if (!console.raw)
        return;
    (void)output_write(STDERR_FILENO, "\033[?2004l", 8);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &console.before);
    catch_signals(false);
    console.raw = false;
}

/* A program of the user has the terminal.  Ctrl-\ is for that program, as is
 * Ctrl-C. */
static void lend_terminal(void)
{
    struct sigaction act = { .sa_handler = ignore_signal };
    leave_raw_mode();
    sigaction(SIGQUIT, &act, NULL);
}

/* Ctrl-Z: stop the program until it is continued; and its whole job, as the
 * terminal does. */
static void stop_program(void)
{
    leave_raw_mode();
    kill(0, SIGTSTP);
    enter_raw_mode();
}

void console_open(const struct editor_hooks *hooks)
{
    console.editor = editor_new(hooks);
    enter_raw_mode();
}

void console_pause(bool pause)
{
    if (pause && console.raw)
        lend_terminal();
    else if (console.editor)
        enter_raw_mode();
}

void console_close(void)
{
    leave_raw_mode();
    editor_free(console.editor);
    console.editor = NULL;
    bytes_release(&console.ahead);
    bytes_release(&console.prefill);
}

/* --------------------------------------------------------------- keys --- */

/* Wait for keys; false: the time is over, or the window changed its size. */
static bool wait_for_keys(int timeout_ms)
{
    struct pollfd wait = { .fd = STDIN_FILENO, .events = POLLIN };
    return poll(&wait, 1, timeout_ms) > 0;
}

/* Read the keys that wait; false: there are no more. */
static bool read_keys(void)
{
    char keys[4096];
    ssize_t n = read(STDIN_FILENO, keys, sizeof keys);
    if (n > 0)
        bytes_add(&console.ahead, keys, (size_t)n);
    return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

int console_fd(void)
{
    return console.raw ? STDIN_FILENO : -1;
}

/* Is the key at this place text of a paste?  If it is the last one, it is not:
 * the end of a paste may be lost. */
static bool is_pasted(const char *key)
{
    static const char begin[] = "\033[200~", end[] = "\033[201~";
    const char *from = NULL;
    for (const char *at = console.ahead.ptr; at < key; at++)
        if (!strncmp(at, from ? end : begin, sizeof begin - 1))
            from = from ? NULL : at;
    return from && key + 1 < console.ahead.ptr + console.ahead.len;
}

/* Remove a key that was pressed since; returns its place, or NULL. */
static const char *take_key(size_t since, char key)
{
    char *at = console.ahead.ptr + since;
    const char *end = console.ahead.ptr + console.ahead.len;
    while ((at = memchr(at, key, (size_t)(end - at))) && is_pasted(at))
        at++;
    if (at)
        bytes_splice(&console.ahead, (size_t)(at - console.ahead.ptr), 1, "",
                     0);
    return at;
}

bool console_read(void)
{
    size_t before = console.ahead.len;
    if (!wait_for_keys(0) || !read_keys() || console.ahead.len == before)
        return false;
    if (take_key(before, CTRL_Z))
        stop_program();
    const char *interrupt = take_key(before, CTRL_C);
    if (!interrupt)
        return false;
    size_t line = (size_t)(interrupt - console.ahead.ptr);
    while (line && console.ahead.ptr[line - 1] != '\r')
        line--;
    bytes_skip(&console.ahead, line); /* lines that wait are not sent */
    return true;
}

void console_discard(void)
{
    while (wait_for_keys(0) && read_keys())
        ;
    bytes_clear(&console.ahead);
}

int console_key_within(int ms)
{
    while (!console.ahead.len)
        if (wait_for_keys(ms) ? !read_keys() : ms >= 0)
            return -1;
    int key = (unsigned char)console.ahead.ptr[0];
    bytes_skip(&console.ahead, 1);
    return key;
}

int console_key(void)
{
    return console_key_within(-1);
}

void console_write(const char *text)
{
    print_flush();
    (void)output_write(STDERR_FILENO, text, strlen(text));
}

/* ------------------------------------------------------------ editing --- */

void console_prefill(const char *text)
{
    bytes_clear(&console.prefill);
    bytes_text(&console.prefill, text);
}

static void update_size(void)
{
    struct winsize size = { 0 };
    if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size))
        editor_resize(console.editor, size.ws_col, size.ws_row);
}

/* Ctrl-X Ctrl-E: the text in the user's editor. */
static void open_editor(void)
{
    struct bytes text = { NULL, 0, 0 };
    bytes_text(&text, editor_text(console.editor));
    lend_terminal();
    if (user_command_edit(&text))
        editor_set(console.editor, bytes_string(&text), text.len);
    enter_raw_mode();
    bytes_release(&text);
}

/* The next event of the editor; false: no more keys. */
static bool next_event(enum editor_event *event, struct bytes *screen)
{
    size_t used = 0;
    if (console.ahead.len) {
        *event = editor_feed(console.editor, console.ahead.ptr,
                             console.ahead.len, &used, screen);
        bytes_skip(&console.ahead, used);
        return true;
    }
    *event = EDITOR_MORE;
    if (wait_for_keys(editor_timeout(console.editor)))
        return read_keys();
    update_size();
    if (editor_timeout(console.editor) >= 0)
        *event = editor_idle(console.editor, screen);
    else
        editor_draw(console.editor, screen);
    return true;
}

/* Leave the editor for a while, and show the line again. */
static void leave_editor(enum editor_event event, struct bytes *screen)
{
    if (event == EDITOR_STOP)
        stop_program();
    else
        open_editor();
    update_size();
    editor_draw(console.editor, screen);
}

enum console_end console_edit(const char *prompt, const char **line)
{
    struct bytes screen = { NULL, 0, 0 };
    enum editor_event event = EDITOR_MORE;
    bool more = true;
    update_size();
    editor_begin(console.editor, prompt, &screen);
    if (console.prefill.len) {
        editor_set(console.editor, console.prefill.ptr, console.prefill.len);
        bytes_clear(&console.prefill);
        editor_draw(console.editor, &screen);
    }
    while (more && (event == EDITOR_MORE || event >= EDITOR_STOP)) {
        write_screen(&screen);
        more = next_event(&event, &screen);
        if (more && event >= EDITOR_STOP) {
            write_screen(&screen);
            leave_editor(event, &screen);
        }
    }
    write_screen(&screen);
    bytes_release(&screen);
    *line = editor_text(console.editor);
    return !more || event == EDITOR_END ? CONSOLE_EOF
           : event == EDITOR_DROPPED    ? CONSOLE_DROPPED
                                        : CONSOLE_LINE;
}
