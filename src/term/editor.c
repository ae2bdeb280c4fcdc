/*
 * editor.c - a line editor as a state machine
 *
 *      byte --> a paste?  a search?  an escape sequence?  a key?  a character?
 *
 * The state between two bytes is in the struct, so they may arrive in any
 * pieces.  The screen is drawn once for all bytes of a call.
 */
#include "term/editor.h"

#include "term/escape.h"
#include "term/glyph.h"
#include "term/line.h"
#include "term/mem.h"
#include "term/view.h"

#include <string.h>

#define CTRL(letter) ((letter) & 0x1f)

enum {
    ESCAPE_MS = 50,
    PASTE_MS = 250, /* the longest gap between bytes of a paste */
    COLUMNS = 80,
    ROWS = 24
};

struct editor {
    const struct editor_hooks *hooks;
    const char *prompt;
    struct line line;
    struct view view;
    bool escaping;         /* ESC was read, and `name` follows */
    char name[16];
    size_t name_len;
    char point[4];         /* a character of which more bytes follow */
    size_t have, want;
    bool pasting;
    struct bytes paste;
    bool after_x;          /* Ctrl-X was read */
    bool tabbed;           /* the last key was Tab */
    size_t back;           /* the line of the history; 0: the draft */
    struct bytes draft;
    bool searching;
    struct bytes query, search_prompt;
    size_t found;          /* the line of the history */
    struct bytes whole;    /* of editor_text() */
    struct bytes *screen;
};

/* ------------------------------------------------------------ history --- */

static const char *earlier_line(const struct editor *e, size_t back)
{
    return e->hooks && e->hooks->history ? e->hooks->history(e->hooks->ud, back)
                                         : NULL;
}

static void show_earlier(struct editor *e, size_t back)
{
    const char *text = back ? earlier_line(e, back) : bytes_string(&e->draft);
    if (!text)
        return;
    if (!e->back) {
        bytes_clear(&e->draft);
        bytes_add(&e->draft, bytes_string(&e->line.text), e->line.text.len);
    }
    if (!back)
        text = bytes_string(&e->draft);
    e->back = back;
    line_set(&e->line, text, strlen(text));
}

static void go_older(struct editor *e)
{
    if (!line_up(&e->line))
        show_earlier(e, e->back + 1);
}

static void go_newer(struct editor *e)
{
    if (!line_down(&e->line) && e->back)
        show_earlier(e, e->back - 1);
}

/* ------------------------------------------------------------- search --- */

static void set_search_prompt(struct editor *e, bool failed)
{
    bytes_clear(&e->search_prompt);
    bytes_format(&e->search_prompt, "%s '%s': ", failed ? "no" : "find",
                 bytes_string(&e->query));
}

/* Find a line that contains the query, from this one on. */
static void search_from(struct editor *e, size_t back)
{
    const char *text = NULL;
    for (; e->query.len && (text = earlier_line(e, back)); back++)
        if (strstr(text, bytes_string(&e->query)))
            break;
    set_search_prompt(e, e->query.len && !text);
    if (!text)
        return;
    e->found = back;
    line_set(&e->line, text, strlen(text));
    e->line.at = (size_t)(strstr(text, bytes_string(&e->query)) - text);
}

static void begin_search(struct editor *e)
{
    e->searching = true;
    e->found = 1;
    bytes_clear(&e->query);
    bytes_clear(&e->draft);
    bytes_add(&e->draft, bytes_string(&e->line.text), e->line.text.len);
    set_search_prompt(e, false);
}

static void cancel_search(struct editor *e)
{
    e->searching = false;
    line_set(&e->line, bytes_string(&e->draft), e->draft.len);
}

/* --------------------------------------------------------- completion --- */

/* The length of what all the words have in common. */
static size_t common_length(const char *words)
{
    size_t common = strcspn(words, "\n");
    for (const char *w = words; *w; w += strcspn(w, "\n") + 1) {
        size_t n = 0;
        while (n < common && w[n] == words[n])
            n++;
        common = n;
    }
    while (common && ((unsigned char)words[common] & 0xc0) == 0x80)
        common--;
    return common;
}

static void list_words(struct editor *e, const char *words)
{
    size_t column = 0;
    struct bytes word = { NULL, 0, 0 };
    view_draw(&e->view, e->prompt, &e->line, true, e->screen);
    bytes_text(e->screen, "\r\n");
    e->view.cursor_row = 0;
    for (const char *w = words; *w; w += strcspn(w, "\n") + 1) {
        bytes_clear(&word);
        escape_text(w, strcspn(w, "\n"), &word);
        size_t width = glyph_width(word.ptr, word.len) + 2;
        if (column && column + width > e->view.columns) {
            bytes_text(e->screen, "\r\n");
            column = 0;
        }
        bytes_add(e->screen, word.ptr, word.len);
        bytes_text(e->screen, "  ");
        column += width;
    }
    bytes_text(e->screen, "\r\n");
    bytes_release(&word);
}

static void complete_word(struct editor *e)
{
    struct bytes words = { NULL, 0, 0 };
    if (!e->hooks || !e->hooks->complete)
        return;
    size_t from = e->hooks->complete(e->hooks->ud, bytes_string(&e->line.text),
                                     e->line.at, &words);
    const char *list = bytes_string(&words);
    size_t common = common_length(list);
    bool one = words.len && common + 1 == words.len;
    if (common > e->line.at - from || one) {
        line_replace(&e->line, from, list, common);
        if (one && (!common || list[common - 1] != '/'))
            line_type(&e->line, " ", 1);
    } else if (words.len && e->tabbed) {
        list_words(e, list);
    }
    e->tabbed = words.len > 0;
    bytes_release(&words);
}

/* --------------------------------------------------------------- keys --- */

static void clear_screen(struct editor *e)
{
    bytes_text(e->screen, "\033[H\033[2J");
    e->view.cursor_row = 0;
}

static void begin_paste(struct editor *e)
{
    e->pasting = true;
    bytes_clear(&e->paste);
}

/* A key acts on the line, or on the editor. */
struct action {
    void (*line)(struct line *);
    void (*editor)(struct editor *);
};

static const struct {
    int key;
    struct action act;
} controls[] = {
    { CTRL('A'), { .line = line_home } },
    { CTRL('B'), { .line = line_left } },
    { CTRL('D'), { .line = line_delete } },
    { CTRL('E'), { .line = line_end } },
    { CTRL('F'), { .line = line_right } },
    { CTRL('H'), { .line = line_backspace } },
    { CTRL('I'), { .editor = complete_word } },
    { CTRL('K'), { .line = line_kill_end } },
    { CTRL('L'), { .editor = clear_screen } },
    { CTRL('N'), { .editor = go_newer } },
    { CTRL('P'), { .editor = go_older } },
    { CTRL('R'), { .editor = begin_search } },
    { CTRL('U'), { .line = line_kill_begin } },
    { CTRL('W'), { .line = line_kill_word } },
    { CTRL('Y'), { .line = line_yank } },
    { CTRL('_'), { .line = line_undo } },
    { 0x7f, { .line = line_backspace } },
};

/* The sequences of xterm, the Linux console and rxvt. */
static const struct {
    const char *name;
    struct action act;
} escapes[] = {
    { "[A", { .editor = go_older } },
    { "OA", { .editor = go_older } },
    { "[B", { .editor = go_newer } },
    { "OB", { .editor = go_newer } },
    { "[C", { .line = line_right } },
    { "OC", { .line = line_right } },
    { "[D", { .line = line_left } },
    { "OD", { .line = line_left } },
    { "[H", { .line = line_home } },
    { "OH", { .line = line_home } },
    { "[1~", { .line = line_home } },
    { "[7~", { .line = line_home } },
    { "[F", { .line = line_end } },
    { "OF", { .line = line_end } },
    { "[4~", { .line = line_end } },
    { "[8~", { .line = line_end } },
    { "[3~", { .line = line_delete } },
    { "\x7f", { .line = line_kill_word } },
    { "b", { .line = line_word_left } },
    { "[1;5D", { .line = line_word_left } },
    { "f", { .line = line_word_right } },
    { "[1;5C", { .line = line_word_right } },
    { "d", { .line = line_kill_next } },
    { "[1;3D", { .line = line_word_left } },
    { "[1;3C", { .line = line_word_right } },
    { "[200~", { .editor = begin_paste } },
};

static void run_action(struct editor *e, struct action act)
{
    if (act.editor != complete_word)
        e->tabbed = false;
    if (act.line)
        act.line(&e->line);
    else
        act.editor(e);
}

static void end_escape(struct editor *e)
{
    e->name[e->name_len] = '\0';
    e->escaping = false;
    if (!strcmp(e->name, "\r") || !strcmp(e->name, "\n"))
        line_type(&e->line, "\n", 1);
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++)
        if (!strcmp(escapes[i].name, e->name))
            run_action(e, escapes[i].act);
}

/* A byte behind ESC. */
static void feed_escape(struct editor *e, char c)
{
    bool more = e->name_len ? c >= ' ' && c < '@' : c == '[' || c == 'O';
    e->name[e->name_len++] = c;
    if (!more || e->name_len + 1 == sizeof e->name)
        end_escape(e);
}

/* Enter: the text ends, unless a backslash is before the cursor. */
static enum editor_event press_enter(struct editor *e)
{
    struct line *l = &e->line;
    if (l->at && l->at == l->text.len && l->text.ptr[l->at - 1] == '\\') {
        line_replace(l, l->at - 1, "\n", 1);
        return EDITOR_MORE;
    }
    return EDITOR_LINE;
}

static enum editor_event press_control(struct editor *e, char c)
{
    bool after_x = e->after_x;
    e->after_x = c == CTRL('X');
    if (c == '\r')
        return press_enter(e);
    if (c == CTRL('C'))
        return EDITOR_DROPPED;
    if (c == CTRL('D') && !e->line.text.len)
        return EDITOR_END;
    if (c == CTRL('Z'))
        return EDITOR_STOP;
    if (c == CTRL('E') && after_x)
        return EDITOR_OPEN;
    if (c == '\n')
        line_type(&e->line, "\n", 1);
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
        if (controls[i].key == c)
            run_action(e, controls[i].act);
    return EDITOR_MORE;
}

/* A character is typed; some code points stand for pastes. */
static void type_point(struct editor *e)
{
    size_t at = 0;
    uint32_t point = glyph_point(e->point, e->want, &at);
    if (escape_is_invalid(point, e->want) ||
        (point >= LINE_FOLD_POINT && point < LINE_FOLD_POINT + LINE_FOLDS))
        return;
    e->tabbed = false;
    if (!e->searching) {
        line_type(&e->line, e->point, e->want);
        return;
    }
    bytes_add(&e->query, e->point, e->want);
    search_from(e, e->found);
}

/* A byte of a character; it is typed once it is complete. */
static void feed_point(struct editor *e, char c)
{
    if (e->have && ((unsigned char)c & 0xc0) != 0x80)
        e->have = 0;
    if (!e->have)
        e->want = glyph_length(c);
    if (!e->want)
        return;
    e->point[e->have++] = c;
    if (e->have < e->want)
        return;
    e->have = 0;
    type_point(e);
}

/* A control key while searching; false: it ends the search and acts. */
static bool search_control(struct editor *e, char c)
{
    if (c == CTRL('R')) {
        search_from(e, e->found + 1);
    } else if (c == CTRL('G') || c == CTRL('C')) {
        cancel_search(e);
    } else if (c == 0x7f || c == CTRL('H')) {
        if (e->query.len)
            e->query.len = glyph_before(e->query.ptr, e->query.len);
        bytes_text(&e->query, "");
        search_from(e, 1);
    } else {
        e->searching = false;
        return false;
    }
    return true;
}

/* -------------------------------------------------------------- paste --- */

/* Is the character from..to of a paste kept? */
static bool is_kept(const struct bytes *b, size_t from, size_t to, uint32_t c)
{
    if (to - from != glyph_length(b->ptr[from]) ||
        escape_is_invalid(c, to - from) ||
        (c >= LINE_FOLD_POINT && c < LINE_FOLD_POINT + LINE_FOLDS))
        return false;
    if (c == '\n') /* "\r\n" is one line end */
        return !from || b->ptr[from - 1] != '\r';
    return c == '\t' || c == '\r' ||
           (c >= ' ' && c != 0x7f && (c < 0x80 || c >= 0xa0));
}

/* The end of an escape sequence that begins at `at`. */
static size_t skip_sequence(const struct bytes *b, size_t at)
{
    size_t end = at + 1;
    if (end < b->len && (b->ptr[end] == '[' || b->ptr[end] == 'O'))
        for (end++; end < b->len && b->ptr[end] >= ' ' && b->ptr[end] < '@';)
            end++;
    return end < b->len ? end + 1 : end;
}

/* Line ends become line feeds; escape sequences and other control characters
 * are dropped, and what is not UTF-8. */
static void clean_paste(const struct bytes *b, struct bytes *clean)
{
    for (size_t i = 0, end; i < b->len; i = end) {
        end = i;
        uint32_t c = glyph_point(b->ptr, b->len, &end);
        if (c == '\033')
            end = skip_sequence(b, i);
        else if (is_kept(b, i, end, c))
            bytes_add(clean, c == '\r' ? "\n" : b->ptr + i, end - i);
    }
}

static void end_paste(struct editor *e)
{
    struct bytes clean = { NULL, 0, 0 };
    e->pasting = e->searching = false;
    clean_paste(&e->paste, &clean);
    if (clean.len)
        line_paste(&e->line, clean.ptr, clean.len);
    bytes_clear(&e->paste);
    bytes_release(&clean);
}

static void feed_paste(struct editor *e, char c)
{
    static const char mark[] = "\033[201~";
    size_t n = sizeof mark - 1;
    bytes_byte(&e->paste, c);
    if (e->paste.len < n ||
        memcmp(e->paste.ptr + e->paste.len - n, mark, n) != 0)
        return;
    e->paste.len -= n;
    end_paste(e);
}

/* -------------------------------------------------------------- bytes --- */

static enum editor_event feed_byte(struct editor *e, char c)
{
    if (e->pasting) {
        feed_paste(e, c);
    } else if (e->escaping) {
        feed_escape(e, c);
    } else if (c == '\033') {
        e->escaping = true;
        e->name_len = 0;
        e->searching = false;
    } else if ((unsigned char)c >= ' ' && c != 0x7f) {
        feed_point(e, c);
    } else if (!e->searching || !search_control(e, c)) {
        return press_control(e, c);
    }
    return EDITOR_MORE;
}

void editor_draw(struct editor *e, struct bytes *screen)
{
    view_draw(&e->view,
              e->searching ? bytes_string(&e->search_prompt) : e->prompt,
              &e->line, false, screen);
}

/* The line ends, or is left: show all of it. */
static void finish_line(struct editor *e, const char *after)
{
    view_draw(&e->view, e->prompt, &e->line, true, e->screen);
    bytes_text(e->screen, after);
    e->view.cursor_row = 0;
}

static enum editor_event finish_event(struct editor *e, enum editor_event event)
{
    if (event == EDITOR_MORE)
        editor_draw(e, e->screen);
    else
        finish_line(e, event == EDITOR_DROPPED ? "^C\r\n" : "\r\n");
    return event;
}

enum editor_event editor_feed(struct editor *e, const char *bytes, size_t len,
                              size_t *used, struct bytes *screen)
{
    enum editor_event event = EDITOR_MORE;
    e->screen = screen;
    for (*used = 0; *used < len && event == EDITOR_MORE; ++*used)
        event = feed_byte(e, bytes[*used]);
    return finish_event(e, event);
}

/* In a paste, Ctrl-C and Ctrl-D are text, and more bytes follow.  If none
 * follow, its end was lost, and the user presses the key to get out. */
static bool is_stuck(const struct editor *e)
{
    char last = e->paste.len ? e->paste.ptr[e->paste.len - 1] : '\0';
    return e->pasting && (last == CTRL('C') || last == CTRL('D'));
}

int editor_timeout(const struct editor *e)
{
    return is_stuck(e) ? PASTE_MS : e->escaping ? ESCAPE_MS : -1;
}

enum editor_event editor_idle(struct editor *e, struct bytes *screen)
{
    enum editor_event event = EDITOR_MORE;
    e->screen = screen;
    if (is_stuck(e)) {
        char key = e->paste.ptr[--e->paste.len];
        end_paste(e);
        event = press_control(e, key);
    }
    e->escaping = false;
    return finish_event(e, event);
}

void editor_begin(struct editor *e, const char *prompt, struct bytes *screen)
{
    e->prompt = prompt;
    e->view.cursor_row = 0;
    e->back = 0;
    e->searching = e->tabbed = e->after_x = false;
    line_reset(&e->line);
    editor_draw(e, screen);
}

const char *editor_text(struct editor *e)
{
    bytes_clear(&e->whole);
    line_expand(&e->line, &e->whole);
    return bytes_string(&e->whole);
}

void editor_set(struct editor *e, const char *text, size_t len)
{
    line_set(&e->line, text, len);
}

void editor_resize(struct editor *e, size_t columns, size_t rows)
{
    e->view.columns = columns ? columns : COLUMNS;
    e->view.rows = rows ? rows : ROWS;
}

struct editor *editor_new(const struct editor_hooks *hooks)
{
    struct editor *e = term_alloc(sizeof *e);
    e->hooks = hooks;
    e->prompt = "";
    editor_resize(e, 0, 0);
    return e;
}

void editor_free(struct editor *e)
{
    if (!e)
        return;
    line_release(&e->line);
    bytes_release(&e->paste);
    bytes_release(&e->draft);
    bytes_release(&e->query);
    bytes_release(&e->search_prompt);
    bytes_release(&e->whole);
    term_free(e);
}
