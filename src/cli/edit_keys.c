/* edit_keys.c - the key bindings of the line editor */
#include "cli/edit_keys.h"

#include "cli/output.h"

#include <string.h>
#include <unistd.h>

#define CTRL(letter) ((letter) & 0x1f)

static void clear_screen(struct edit_text *t)
{
    (void)t;
    (void)output_write(STDERR_FILENO, "\033[H\033[2J", 7);
}

static void begin_paste(struct edit_text *t)
{
    t->pasting = true;
}

static void end_paste(struct edit_text *t)
{
    t->pasting = false;
}

static const struct {
    int key;
    void (*act)(struct edit_text *);
} controls[] = {
    { CTRL('A'), edit_text_home },      { CTRL('B'), edit_text_left },
    { CTRL('D'), edit_text_delete },    { CTRL('E'), edit_text_end },
    { CTRL('F'), edit_text_right },     { CTRL('H'), edit_text_backspace },
    { CTRL('K'), edit_text_kill_end },  { CTRL('L'), clear_screen },
    { CTRL('N'), edit_text_newer },     { CTRL('P'), edit_text_older },
    { CTRL('U'), edit_text_kill_begin }, { CTRL('W'), edit_text_kill_word },
    { 0x7f, edit_text_backspace },
};

/* The sequences of xterm, the Linux console and rxvt. */
static const struct {
    const char *name;
    void (*act)(struct edit_text *);
} escapes[] = {
    { "[A", edit_text_older },       { "OA", edit_text_older },
    { "[B", edit_text_newer },       { "OB", edit_text_newer },
    { "[C", edit_text_right },       { "OC", edit_text_right },
    { "[D", edit_text_left },        { "OD", edit_text_left },
    { "[H", edit_text_home },        { "OH", edit_text_home },
    { "[1~", edit_text_home },       { "[7~", edit_text_home },
    { "[F", edit_text_end },         { "OF", edit_text_end },
    { "[4~", edit_text_end },        { "[8~", edit_text_end },
    { "[3~", edit_text_delete },     { "\x7f", edit_text_kill_word },
    { "b", edit_text_word_left },    { "[1;5D", edit_text_word_left },
    { "f", edit_text_word_right },   { "[1;5C", edit_text_word_right },
    { "d", edit_text_kill_next },    { "[1;3D", edit_text_word_left },
    { "[1;3C", edit_text_word_right },
    { "[200~", begin_paste },        { "[201~", end_paste },
};

/* In a paste, line ends and tabs are text; other control characters are
 * dropped. */
static void insert_pasted(struct edit_text *t, int c)
{
    if (c == '\r' || c == '\n')
        edit_text_insert(t, "\n", 1);
    else if (c == '\t')
        edit_text_insert(t, "\t", 1);
}

enum edit_end edit_keys_control(struct edit_text *t, int c)
{
    if (t->pasting) {
        insert_pasted(t, c);
        return EDIT_CONTINUES;
    }
    if (c == '\r' || c == '\n')
        return EDIT_DONE;
    if (c == CTRL('C'))
        return EDIT_DROPPED;
    if (c == CTRL('D') && !t->line.len)
        return EDIT_EOF;
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
        if (controls[i].key == c)
            controls[i].act(t);
    return EDIT_CONTINUES;
}

enum edit_end edit_keys_escape(struct edit_text *t, const char *name)
{
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++)
        if (!strcmp(escapes[i].name, name) &&
            (!t->pasting || escapes[i].act == end_paste))
            escapes[i].act(t);
    return EDIT_CONTINUES;
}
