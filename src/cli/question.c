/*
 * question.c - ask the user something on the terminal
 *
 * In a terminal that supports editing, a key is an answer.  In a dumb one, it
 * is the first word of a line.
 */
#include "cli/question.h"

#include "cli/answer.h"
#include "cli/console.h"
#include "cli/print.h"
#include "term/escape.h"
#include "term/glyph.h"

#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { MOST_LINES = 12, SHORTEST = 16, KEYS = 9, ESCAPE_MS = 50 };

bool question_possible(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

/* ------------------------------------------------------------ drawing --- */

/* The columns that a line of text may use. */
static size_t text_columns(void)
{
    size_t columns = console_columns(STDERR_FILENO);
    columns = columns ? columns : 80;
    return columns > SHORTEST + 6 ? columns - 6 : SHORTEST;
}

/* Append a line of text: harmless, and cut unless it is whole. */
static void add_line(struct bytes *out, const char *text, size_t len,
                     bool whole)
{
    struct bytes safe = { NULL, 0, 0 };
    size_t columns = 0, limit = text_columns(), end = 0, next;
    escape_text(text, len, &safe);
    for (; end < safe.len; end = next) {
        next = glyph_next(safe.ptr, safe.len, end);
        columns += glyph_width(safe.ptr + end, next - end);
        if (columns > limit && !whole)
            break;
    }
    for (size_t i = 0; i < end; i++)
        bytes_byte(out, safe.ptr[i] == '\n' || safe.ptr[i] == '\t'
                            ? ' '
                            : safe.ptr[i]);
    bytes_text(out, end < safe.len ? "...\n" : "\n");
    bytes_release(&safe);
}

static void add_body(struct bytes *out, const struct question *q)
{
    size_t lines = 0;
    for (size_t at = 0; at < q->body_len; lines++) {
        const char *text = q->body + at;
        const char *end = memchr(text, '\n', q->body_len - at);
        size_t len = end ? (size_t)(end - text) : q->body_len - at;
        if (lines < MOST_LINES || q->whole) {
            bytes_text(out, "  | ");
            add_line(out, text, len, q->whole);
        }
        at += len + 1;
    }
    if (lines > MOST_LINES && !q->whole)
        bytes_format(out, "  (%zu more lines)\n", lines - MOST_LINES);
}

static void write_out(struct bytes *out)
{
    print_aside(bytes_string(out), out->len);
    bytes_release(out);
}

void question_show(const struct question *q)
{
    struct bytes out = { NULL, 0, 0 };
    answer_pause();
    bytes_text(&out, "? ");
    add_line(&out, q->title, strlen(q->title), true);
    if (q->body)
        add_body(&out, q);
    write_out(&out);
}

static void show_choices(const struct question *q)
{
    struct bytes out = { NULL, 0, 0 };
    bool keys = q->count && q->choices[0].key;
    if (keys)
        bytes_text(&out, "  ");
    for (size_t i = 0; keys && i < q->count; i++)
        bytes_format(&out, "%s%s", i ? ", " : "", q->choices[i].label);
    for (size_t i = 0; !keys && i < q->count; i++) {
        bytes_format(&out, "  %zu  ", i + 1);
        add_line(&out, q->choices[i].label, strlen(q->choices[i].label), false);
    }
    write_out(&out);
}

/* --------------------------------------------------------------- keys --- */

/* Skip the rest of a sequence that begins with ESC; of a paste, all of it. */
static void skip_sequence(void)
{
    static const char end[] = "\033[201~";
    char name[8] = "";
    size_t len = 0, matched = 0;
    int key = console_key_within(ESCAPE_MS);
    if (key != '[' && key != 'O')
        return;
    do {
        key = console_key_within(ESCAPE_MS);
        if (len + 1 < sizeof name)
            name[len++] = (char)key;
    } while (key >= ' ' && key < '@');
    if (strcmp(name, "200~") != 0)
        return;
    while (matched + 1 < sizeof end) {
        key = console_key();
        if (key < 0)
            return;
        matched = key == end[matched] ? matched + 1 : key == '\033';
    }
}

/* The choice of a key; QUESTION_LEFT: none. */
static int find_choice(const struct question *q, int key)
{
    if (q->skips && (key == '\r' || key == '\n'))
        return (int)q->count;
    if (key >= 'A' && key <= 'Z')
        key += 'a' - 'A';
    for (size_t i = 0; i < q->count; i++)
        if (key == (q->choices[i].key ? q->choices[i].key : '1' + (int)i))
            return (int)i;
    return QUESTION_LEFT;
}

static int choose_by_key(const struct question *q)
{
    int choice = QUESTION_LEFT, key;
    struct bytes echo = { NULL, 0, 0 };
    console_discard();
    console_write("> ");
    do {
        key = console_key();
        if (key == '\033')
            skip_sequence();
        else
            choice = find_choice(q, key);
    } while (choice < 0 && key >= 0 && key != 3 && key != 4);
    if (choice >= 0 && key > ' ')
        bytes_byte(&echo, (char)key);
    bytes_text(&echo, choice < 0 ? "^C\r\n" : "\r\n");
    console_write(bytes_string(&echo));
    bytes_release(&echo);
    return choice;
}

static int choice_of_line(const struct question *q, const char *line)
{
    char *end;
    line += strspn(line, " \t");
    if (!*line)
        return q->skips ? (int)q->count : QUESTION_LEFT;
    if (q->choices[0].key)
        return find_choice(q, (unsigned char)*line);
    unsigned long n = strtoul(line, &end, 10);
    bool fits = end > line && !end[strspn(end, " \t")] && n >= 1 &&
                n <= q->count;
    return fits ? (int)n - 1 : QUESTION_LEFT;
}

static int choose_by_line(const struct question *q)
{
    struct bytes line = { NULL, 0, 0 };
    int choice = QUESTION_LEFT;
    while (choice < 0 && question_line("> ", &line)) {
        choice = choice_of_line(q, bytes_string(&line));
        bytes_clear(&line);
    }
    bytes_release(&line);
    return choice;
}

/* Use the console of a chat, or one for this question; true: it is ours. */
static bool borrow_console(void)
{
    if (console_fd() >= 0 || !console_is_possible())
        return false;
    console_open(NULL);
    return true;
}

int question_choose(const struct question *q)
{
    if (!question_possible() || !q->count)
        return QUESTION_LEFT;
    bool ours = borrow_console();
    question_show(q);
    show_choices(q);
    bool by_key = console_fd() >= 0 && (q->choices[0].key || q->count <= KEYS);
    int choice = by_key ? choose_by_key(q) : choose_by_line(q);
    if (ours)
        console_close();
    return choice;
}

/* --------------------------------------------------------------- line --- */

/* A line of a dumb terminal, which edits it. */
static bool read_line(const char *prompt, struct bytes *line)
{
    char byte;
    ssize_t n;
    size_t before = line->len;
    tcflush(STDIN_FILENO, TCIFLUSH);
    console_write(prompt);
    while ((n = read(STDIN_FILENO, &byte, 1)) == 1 && byte != '\n')
        bytes_byte(line, byte);
    return n == 1 || line->len > before;
}

static bool edit_line(const char *prompt, struct bytes *line)
{
    const char *text;
    console_discard();
    bool typed = console_edit(prompt, &text) == CONSOLE_LINE;
    if (typed)
        bytes_text(line, text);
    return typed;
}

bool question_line(const char *prompt, struct bytes *line)
{
    if (!question_possible())
        return false;
    answer_pause();
    bool ours = borrow_console();
    bool typed = (console_fd() >= 0 ? edit_line : read_line)(prompt, line);
    if (ours)
        console_close();
    return typed;
}
