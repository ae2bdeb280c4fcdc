/*
 * test_editor.c - the line editor: keys in, screen out
 *
 * A transcript has keys, the text with the cursor as "^", and the screen of a
 * small terminal that is simulated here.  Random keys are compared with a
 * simple model of a line.
 */
#include "harness/check.h"
#include "term/editor.h"
#include "term/glyph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ----------------------------------------------------------- terminal --- */

enum { MOST_ROWS = 60, MOST_COLUMNS = 100 };

struct terminal {
    size_t columns, row, column;
    char cells[MOST_ROWS][MOST_COLUMNS][40]; /* a glyph each; "" is blank */
};

static void clear_from(struct terminal *t)
{
    for (size_t r = t->row; r < MOST_ROWS; r++)
        for (size_t c = r == t->row ? t->column : 0; c < MOST_COLUMNS; c++)
            t->cells[r][c][0] = '\0';
}

static void put_cell(struct terminal *t, const char *glyph, size_t len)
{
    size_t width = glyph_width(glyph, len);
    CHECK_WHY(t->column + width <= t->columns, "written beyond the row");
    if (t->row < MOST_ROWS && t->column < MOST_COLUMNS)
        snprintf(t->cells[t->row][t->column], 40, "%.*s", (int)len, glyph);
    t->column += width;
}

/* ESC [ n letter */
static size_t run_sequence(struct terminal *t, const char *bytes)
{
    char *end;
    size_t n = (size_t)strtoul(bytes + 2, &end, 10);
    n = n ? n : 1;
    if (*end == 'A') {
        CHECK_WHY(n <= t->row, "above the first row");
        t->row -= n <= t->row ? n : t->row;
    } else if (*end == 'C') {
        t->column += n;
    } else if (*end == 'J') {
        clear_from(t);
    } else if (*end == 'H') {
        t->row = t->column = 0;
        end += 4; /* ESC [2J */
        clear_from(t);
    } else {
        CHECK_WHY(false, "an unknown sequence");
    }
    return (size_t)(end + 1 - bytes);
}

static void show_bytes(struct terminal *t, struct bytes *screen)
{
    for (size_t i = 0, end; i < screen->len; i = end) {
        end = i + 1;
        if (screen->ptr[i] == '\033')
            end = i + run_sequence(t, screen->ptr + i);
        else if (screen->ptr[i] == '\r')
            t->column = 0;
        else if (screen->ptr[i] == '\n')
            t->row++;
        else
            put_cell(t, screen->ptr + i,
                     (end = glyph_next(screen->ptr, screen->len, i)) - i);
    }
    bytes_clear(screen);
}

/* The screen as text: rows joined by "|", without spaces at their ends. */
static void read_screen(const struct terminal *t, struct bytes *out)
{
    size_t end = 0;
    bytes_clear(out);
    for (size_t r = 0; r < MOST_ROWS; r++) {
        for (size_t c = 0; c < t->columns; c++) {
            const char *cell = t->cells[r][c];
            bytes_text(out, *cell ? cell : " ");
            if (*cell && strcmp(cell, " ") != 0)
                end = out->len;
            if (*cell && glyph_width(cell, strlen(cell)) == 2)
                c++;
        }
        while (out->len > end && out->ptr[out->len - 1] == ' ')
            out->len--;
        bytes_byte(out, '|');
    }
    out->len = end;
    bytes_text(out, "");
}

/* -------------------------------------------------------- transcripts --- */

static const char *earlier(void *ud, size_t back)
{
    static const char *const lines[] = { "last one", "second\nof two",
                                         "first" };
    (void)ud;
    return back >= 1 && back <= 3 ? lines[back - 1] : NULL;
}

static size_t complete(void *ud, const char *text, size_t at,
                       struct bytes *words)
{
    static const char *const all[] = { "/model", "/more", "/exit" };
    (void)ud;
    for (size_t i = 0; i < 3; i++)
        if (!strncmp(all[i], text, at)) {
            bytes_text(words, all[i]);
            bytes_byte(words, '\n');
        }
    return 0;
}

static const struct editor_hooks hooks = { earlier, complete, NULL };

#define UP "\033[A"
#define DOWN "\033[B"
#define LEFT "\033[D"
#define PASTE "\033[200~"
#define END "\033[201~"
#define MARKS "\xcc\x81\xcc\x82\xcc\x83\xcc\x84\xcc\x85\xcc\x86"
#define WOMAN "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb"

static const struct {
    const char *why, *keys, *text, *screen; /* NULL: not compared */
} transcripts[] = {
    { "letters", "abc", "abc", "> abc" },
    { "insert", "abd" LEFT "c", "abcd", "> abcd" },
    { "what is not UTF-8",
      "a\xed\xa0\x80" "b\xe0\x80\x80" PASTE "c\xf4\x90\x80\x80" END,
      "abc", "> abc" },
    { "many marks on one letter",
      "xa" MARKS MARKS MARKS MARKS MARKS MARKS "\x7f", "x", "> x" },
    { "home and end",
      "bc\x01"
      "a\x05"
      "d",
      "abcd", NULL },
    { "Backspace and Delete",
      "abx\x7f"
      "cx" LEFT "\033[3~",
      "abc", "> abc" },
    { "kill and yank", "one two\x17\x01\x19 ", "two one ", NULL },
    { "Ctrl-K and Ctrl-U",
      "one two" LEFT LEFT "\x0b\x15"
      "x",
      "x", "> x" },
    { "Alt-B, Alt-D", "one two three\033b\033b\033d", "one  three", NULL },
    { "undo a word", "one two\x1f", "one ", "> one" },
    { "undo all", "ab\x7f\x1f\x1f", "", ">" },
    { "undo a kill", "one two\x15\x1f", "one two", NULL },
    { "a wide character is one", "\xe6\x97\xa5\xe6\x9c\xac" LEFT "x",
      "\xe6\x97\xa5x\xe6\x9c\xac", "> \xe6\x97\xa5x\xe6\x9c\xac" },
    { "marks belong to a letter", "ae\xcc\x81\x7f", "a", "> a" },
    { "joined emoji are one", "a" WOMAN "b" LEFT "\x7f", "ab", "> ab" },
    { "a flag is one", "\xf0\x9f\x87\xa9\xf0\x9f\x87\xaax" LEFT "\x7f", "x",
      NULL },
    { "not UTF-8",
      "a\xff\xc3"
      "b",
      "ab", "> ab" },
    { "long lines continue", "0123456789abcdefghijklm",
      "0123456789abcdefghijklm", "> 0123456789abcdefg|  hijklm" },
    { "Ctrl-J", "a\nb", "a\nb", "> a|  b" },
    { "Alt-Enter", "a\033\rb", "a\nb", "> a|  b" },
    { "a backslash before Enter", "a\\\rb", "a\nb", "> a|  b" },
    { "lines: up and down", "abc\ndef" UP "x" DOWN "y", "abcx\ndefy", NULL },
    { "lines: home and end", "ab\ncd\x01x" UP "\x05y", "aby\nxcd", NULL },
    { "older and newer", "draft" UP UP UP, "second\nof two", NULL },
    { "and back", "draft" UP DOWN, "draft", "> draft" },
    { "a paste has lines", "x" PASTE "one\r\ntwo\r" END "y", "xone\ntwo\ny",
      NULL },
    { "keys in a paste", PASTE "a\x03\x04\x1b[Db\x01" END, "ab", "> ab" },
    { "a search", "\x12sec", "second\nof two", NULL },
    { "a search that goes on", "\x12s\x12", "second\nof two", NULL },
    { "it is left",
      "\x12"
      "fir\x05!",
      "first!", "> first!" },
    { "it is cancelled",
      "ab\x12"
      "fir\x07",
      "ab", "> ab" },
    { "it finds nothing", "\x12zz", "", "no 'zz':" },
    { "completion", "/e\t", "/exit ", "> /exit" },
    { "of a part", "/m\t", "/mo", "> /mo" },
    { "of several words", "/m\t\t", "/mo", "> /mo|/model  /more|> /mo" },
    { "an unknown key", "a\033[24~\033Zb", "ab", "> ab" },
    { "Ctrl-L", "ab\x0c", "ab", "> ab" },
    { "control characters are shown as spaces", PASTE "a\tb" END, "a\tb",
      "> a b" },
};

/* Feed keys in pieces; returns the last event. */
static enum editor_event press(struct editor *e, const char *keys, size_t piece,
                               struct terminal *t)
{
    struct bytes screen = { NULL, 0, 0 };
    enum editor_event event = EDITOR_MORE;
    size_t len = strlen(keys);
    while (len && event == EDITOR_MORE) {
        size_t used;
        event = editor_feed(e, keys, len < piece ? len : piece, &used, &screen);
        keys += used;
        len -= used;
        if (t)
            show_bytes(t, &screen);
    }
    bytes_release(&screen);
    return event;
}

static struct editor *start(struct terminal *t, size_t columns, size_t rows)
{
    struct bytes screen = { NULL, 0, 0 };
    struct editor *e = editor_new(&hooks);
    memset(t, 0, sizeof *t);
    t->columns = columns;
    editor_resize(e, columns, rows);
    editor_begin(e, "> ", &screen);
    show_bytes(t, &screen);
    bytes_release(&screen);
    return e;
}

static void keys_and_screens(void)
{
    static struct terminal t;
    struct bytes seen = { NULL, 0, 0 };
    for (size_t i = 0; i < sizeof transcripts / sizeof *transcripts; i++)
        for (size_t piece = 1; piece < 100; piece += 98) {
            check_row(transcripts[i].why);
            struct editor *e = start(&t, 20, 24);
            press(e, transcripts[i].keys, piece, &t);
            CHECK_TEXT(editor_text(e), transcripts[i].text);
            read_screen(&t, &seen);
            if (transcripts[i].screen)
                CHECK_TEXT(bytes_string(&seen), transcripts[i].screen);
            editor_free(e);
        }
    bytes_release(&seen);
}

static void events_of_keys(void)
{
    static const struct {
        const char *keys;
        enum editor_event event;
    } rows[] = {
        { "abc\r", EDITOR_LINE },    { "\x04", EDITOR_END },
        { "a\x04", EDITOR_MORE },    { "abc\x03", EDITOR_DROPPED },
        { "\x1a", EDITOR_STOP },     { "\x18\x05", EDITOR_OPEN },
        { "\x18", EDITOR_MORE },     { "\x12" "fir\r", EDITOR_LINE },
        { PASTE "a\r\x03" END, EDITOR_MORE },
    };
    static struct terminal t;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct editor *e = start(&t, 80, 24);
        check_row(rows[i].keys);
        CHECK_INT(press(e, rows[i].keys, 1, &t), rows[i].event);
        editor_free(e);
    }
}

static void long_pastes_are_folded(void)
{
    static struct terminal t;
    struct bytes keys = { NULL, 0, 0 }, text = { NULL, 0, 0 },
                 seen = { NULL, 0, 0 };
    bytes_text(&keys, "a" PASTE);
    bytes_text(&text, "a");
    for (int i = 0; i < 142; i++) {
        bytes_format(&keys, "line %d\r", i);
        bytes_format(&text, "line %d\n", i);
    }
    bytes_text(&keys, END "b" LEFT LEFT "c");
    bytes_splice(&text, 1, 0, "c", 1);
    bytes_text(&text, "b");
    struct editor *e = start(&t, 40, 24);
    press(e, keys.ptr, 50, &t);
    CHECK_TEXT(editor_text(e), text.ptr);
    read_screen(&t, &seen);
    CHECK_TEXT(bytes_string(&seen), "> ac[142 lines]b");
    press(e, "\033[3~", 50, &t); /* Delete removes it as one character */
    CHECK_TEXT(editor_text(e), "acb");
    editor_free(e);
    bytes_release(&keys);
    bytes_release(&text);
    bytes_release(&seen);
}

static void a_lost_end_of_a_paste(void)
{
    static struct terminal t;
    struct bytes screen = { NULL, 0, 0 };
    struct editor *e = start(&t, 40, 24);
    press(e, PASTE "abc\x03", 50, &t);
    CHECK(editor_timeout(e) > 0);
    CHECK_INT(editor_idle(e, &screen), EDITOR_DROPPED);
    editor_free(e);
    e = start(&t, 40, 24);
    press(e, "a\033", 50, &t);
    CHECK(editor_timeout(e) > 0);
    CHECK_INT(editor_idle(e, &screen), EDITOR_MORE);
    CHECK_INT(editor_timeout(e), -1);
    press(e, "b", 50, &t);
    CHECK_TEXT(editor_text(e), "ab");
    editor_free(e);
    bytes_release(&screen);
}

/* ------------------------------------------------------------- random --- */

/* A line as a list of glyphs, and the cursor as an index. */
struct model {
    char glyphs[400][40];
    size_t count, at;
};

static void model_insert(struct model *m, const char *glyph)
{
    memmove(m->glyphs + m->at + 1, m->glyphs + m->at,
            (m->count - m->at) * sizeof *m->glyphs);
    snprintf(m->glyphs[m->at], 40, "%s", glyph);
    m->at++;
    m->count++;
}

static void model_remove(struct model *m, size_t from, size_t to)
{
    memmove(m->glyphs + from, m->glyphs + to,
            (m->count - to) * sizeof *m->glyphs);
    m->count -= to - from;
    m->at = from;
}

static bool model_blank(const struct model *m, size_t i)
{
    return m->glyphs[i][0] == ' ';
}

static size_t model_word(const struct model *m)
{
    size_t at = m->at;
    while (at && model_blank(m, at - 1))
        at--;
    while (at && !model_blank(m, at - 1))
        at--;
    return at;
}

/* The keys, in the order of the switch below. */
static const char *const keys[] = { "\x01", "\x05", "\x02", "\x06", "\x7f",
                                    "\x04", "\x0b", "\x15", "\x17", "\033b" };
static const char *const glyphs[] = { "a", "b", " ", "\xc3\xa9",
                                      "\xe6\x97\xa5", "e\xcc\x81", WOMAN };

static void model_press(struct model *m, size_t key)
{
    switch (key) {
    case 0: m->at = 0; break;
    case 1: m->at = m->count; break;
    case 2: m->at -= m->at > 0; break;
    case 3: m->at += m->at < m->count; break;
    case 4: if (m->at) model_remove(m, m->at - 1, m->at); break;
    case 5: if (m->at < m->count) model_remove(m, m->at, m->at + 1); break;
    case 6: model_remove(m, m->at, m->count); break;
    case 7: model_remove(m, 0, m->at); break;
    case 8: model_remove(m, model_word(m), m->at); break;
    default: m->at = model_word(m);
    }
}

/* One random key, in the editor and in the model. */
static void press_random(struct random r, struct editor *e, struct model *m,
                         struct terminal *t)
{
    uint64_t n = random_below(r, 100);
    if (n < 70 && m->count < 300) {
        const char *glyph = glyphs[random_below(r, 7)];
        press(e, glyph, 100, t);
        model_insert(m, glyph);
        return;
    }
    size_t key = (size_t)random_below(r, 10);
    if (key == 5 && !m->count)
        return; /* Ctrl-D would end the line */
    press(e, keys[key], 100, t);
    model_press(m, key);
}

/* What the screen must show: rows that end before the last column, each below
 * the prompt; and where the cursor is. */
static void model_draw(const struct model *m, size_t columns, struct bytes *out,
                       size_t *row, size_t *column)
{
    size_t at_row = 0, at = 2;
    bytes_clear(out);
    bytes_text(out, "> ");
    for (size_t i = 0; i <= m->count; i++) {
        size_t width = i < m->count
                           ? glyph_width(m->glyphs[i], strlen(m->glyphs[i]))
                           : 0;
        if (i < m->count && at > 2 && at + width >= columns) {
            bytes_text(out, "|  ");
            at_row++;
            at = 2;
        }
        if (i == m->at) {
            *row = at_row;
            *column = at;
        }
        if (i < m->count)
            bytes_text(out, m->glyphs[i]);
        at += width;
    }
}

/* Remove the blanks at the ends of rows, which a screen does not show. */
static void trim_rows(struct bytes *b)
{
    size_t to = 0, kept = 0;
    for (size_t i = 0; i <= b->len; i++) {
        char c = i < b->len ? b->ptr[i] : '|';
        if (c == '|')
            to = kept;
        if (i == b->len)
            break;
        b->ptr[to++] = c;
        kept = c == ' ' ? kept : to;
    }
    while (to && b->ptr[to - 1] == '|')
        to--;
    b->len = to;
    bytes_text(b, "");
}

static void check_screen(const struct terminal *t, const struct model *m)
{
    struct bytes want = { NULL, 0, 0 }, seen = { NULL, 0, 0 };
    size_t row = 0, column = 0;
    model_draw(m, t->columns, &want, &row, &column);
    read_screen(t, &seen);
    trim_rows(&want);
    trim_rows(&seen);
    CHECK_TEXT(bytes_string(&seen), bytes_string(&want));
    CHECK_INT(t->row, row);
    CHECK_INT(t->column, column);
    bytes_release(&want);
    bytes_release(&seen);
}

static void check_against_model(struct random r, size_t columns)
{
    static struct terminal t;
    static struct model m;
    struct bytes want = { NULL, 0, 0 };
    struct editor *e = start(&t, columns, MOST_ROWS);
    m.count = m.at = 0;
    for (int i = 0; i < 150; i++) {
        press_random(r, e, &m, &t);
        bytes_clear(&want);
        for (size_t k = 0; k < m.count; k++)
            bytes_text(&want, m.glyphs[k]);
        CHECK_TEXT(editor_text(e), bytes_string(&want));
        check_screen(&t, &m);
    }
    struct bytes screen = { NULL, 0, 0 }; /* the cursor is where it was */
    editor_draw(e, &screen);
    size_t row = t.row, column = t.column;
    show_bytes(&t, &screen);
    CHECK(row == t.row && column == t.column);
    bytes_release(&screen);
    bytes_release(&want);
    editor_free(e);
}

static void random_keys(void)
{
    static const size_t widths[] = { 9, 20, 33, 80 };
    struct random r = check_random();
    for (size_t i = 0; i < 200 / check_stride(); i++)
        check_against_model(r, widths[i % 4]);
}

/* More rows than the terminal has; a terminal of 1 x 1. */
static void small_terminals(void)
{
    static struct terminal t;
    struct bytes seen = { NULL, 0, 0 };
    struct editor *e = start(&t, 10, 3);
    press(e, "a\nb\nc\nd\ne", 100, &t);
    read_screen(&t, &seen);
    CHECK_TEXT(bytes_string(&seen), "  c|  d|  e");
    press(e, UP UP UP UP, 100, &t);
    read_screen(&t, &seen);
    CHECK_TEXT(bytes_string(&seen), "> a|  b|  c");
    editor_free(e);
    e = editor_new(&hooks);
    editor_resize(e, 1, 1);
    editor_begin(e, "> ", &seen);
    press(e, "abc\xe6\x97\xa5\n" LEFT LEFT "\x7f", 1, NULL);
    CHECK_TEXT(editor_text(e), "ab\xe6\x97\xa5\n");
    editor_free(e);
    bytes_release(&seen);
}

/* Two lines, with the cursor at the end of the second one. */
static double seconds_for_up(size_t len)
{
    static struct terminal t;
    struct bytes text = { NULL, 0, 0 };
    struct editor *e = start(&t, 80, 3);
    for (size_t i = 0; i < 2 * len + 1; i++)
        bytes_byte(&text, i == len ? '\n' : 'a');
    press(e, bytes_string(&text), text.len, NULL);
    clock_t began = clock();
    press(e, UP, 100, NULL);
    double took = (double)(clock() - began) / CLOCKS_PER_SEC;
    bytes_release(&text);
    editor_free(e);
    return took;
}

static void long_lines_take_linear_time(void)
{
    double once = seconds_for_up(5000);
    CHECK_WHY(seconds_for_up(20000) < 8 * once + 0.2, "not linear");
}

TESTS = { TEST_ONCE(keys_and_screens),
          TEST_ONCE(events_of_keys),
          TEST_ONCE(long_pastes_are_folded),
          TEST_ONCE(a_lost_end_of_a_paste),
          TEST_ONCE(random_keys),
          TEST_ONCE(small_terminals),
          TEST_ONCE(long_lines_take_linear_time),
          TESTS_END };
