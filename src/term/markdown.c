/*
 * markdown.c - Markdown as a terminal shows it: the line parser
 *
 *      > - text
 *      ^^^^ CONTAINERS: markers of open containers are matched, one by one
 *          ^ START: the first characters decide which block it is
 *           ^^^ TEXT: words are written as they arrive
 *
 * The beginning of a line waits in `line` until it is clear what it is.  It is
 * looked at again for each character, unless `hold` says that it decides
 * nothing; so the time is linear.
 */
#include "term/markdown.h"

#include "term/block.h"
#include "term/escape.h"
#include "term/glyph.h"
#include "term/mem.h"

#include <string.h>

enum phase { PHASE_CONTAINERS, PHASE_START, PHASE_TEXT, PHASE_CODE, PHASE_HTML,
             PHASE_TABLE, PHASE_SKIP };

enum { LINE_HELD = 1024, HOLD_LINE = '\n' };

struct markdown {
    struct blocks b;
    struct escape escape;
    struct bytes safe;    /* the input, escaped */
    enum phase phase;
    struct bytes line;    /* the part that waits, tabs expanded */
    size_t column;        /* where it begins */
    size_t matched;       /* containers of this line */
    char hold;            /* bytes like this decide nothing; 0: all do */
    bool whole;           /* the line has ended */
    bool fresh;           /* it has no byte yet */
    bool opened;          /* it has opened a container */
    bool after_cr;
    char fence;           /* its character */
    size_t fence_run, fence_indent;
    int html;             /* the kind of the HTML block */
};

/* What a step of the parser found. */
enum step { STEP_MORE, STEP_AGAIN, STEP_DONE, STEP_NO };

static enum step wait_for(struct markdown *m, char hold)
{
    m->hold = hold;
    return STEP_MORE;
}

/* Remove the first n bytes of the line. */
static void consume_line(struct markdown *m, size_t n)
{
    bytes_skip(&m->line, n);
    m->column += n;
}

static size_t count_indent(const struct markdown *m)
{
    size_t n = 0;
    while (n < m->line.len && m->line.ptr[n] == ' ')
        n++;
    return n;
}

static enum step end_of(struct markdown *m, enum phase phase)
{
    m->phase = phase;
    bytes_clear(&m->line);
    return STEP_DONE;
}

/* Is the whole line here, or as much of it as we wait for? */
static bool is_whole(const struct markdown *m)
{
    return m->whole || m->line.len >= LINE_HELD;
}

/* --------------------------------------------------------- containers --- */

static enum step fail_match(struct markdown *m)
{
    m->phase = PHASE_START;
    return STEP_AGAIN;
}

static enum step match_quote(struct markdown *m)
{
    size_t indent = count_indent(m);
    bool blank = indent == m->line.len;
    if (indent <= 3 && blank && !m->whole)
        return STEP_MORE;
    if (indent > 3 || blank || m->line.ptr[indent] != '>')
        return fail_match(m);
    if (indent + 1 == m->line.len && !m->whole)
        return STEP_MORE;
    consume_line(m, indent + 1);
    if (m->line.len && *m->line.ptr == ' ')
        consume_line(m, 1);
    m->matched++;
    return STEP_AGAIN;
}

static enum step match_item(struct markdown *m, const struct container *c)
{
    size_t indent = count_indent(m);
    bool blank = indent == m->line.len;
    if (blank && !m->whole)
        return wait_for(m, ' ');
    if (blank ? c->empty : indent < c->indent)
        return fail_match(m);
    consume_line(m, blank ? 0 : c->indent);
    m->matched++;
    return STEP_AGAIN;
}

static enum step match_container(struct markdown *m)
{
    if (m->matched == m->b.count)
        return fail_match(m);
    const struct container *c = &m->b.open[m->matched];
    return c->quote ? match_quote(m) : match_item(m, c);
}

/* -------------------------------------------------------------- lines --- */

static enum step take_blank(struct markdown *m)
{
    struct blocks *b = &m->b;
    if (b->leaf == LEAF_INDENTED && m->matched == b->count)
        b->blanks++;
    else if (b->leaf != LEAF_NONE || m->matched < b->count)
        block_close(b, m->matched);
    b->blank = b->blank || !m->opened;
    return end_of(m, PHASE_SKIP);
}

static enum step take_fence_line(struct markdown *m)
{
    struct blocks *b = &m->b;
    size_t indent = count_indent(m);
    enum start end = START_NO;
    if (indent == m->line.len && !m->whole)
        return wait_for(m, ' ');
    if (indent <= 3 && indent < m->line.len)
        end = start_fence_end(m->line.ptr + indent, m->line.len - indent,
                              is_whole(m), m->fence, m->fence_run);
    if (end == START_CUT)
        return wait_for(m, m->fence);
    if (end == START_YES && m->whole) {
        if (!b->wrap.color)
            block_fence(b, m->line.ptr + indent, m->fence_run, m->fence_run);
        block_close(b, b->count);
        return end_of(m, PHASE_SKIP);
    }
    consume_line(m, indent < m->fence_indent ? indent : m->fence_indent);
    block_code(b, bytes_string(&m->line), m->line.len, true);
    return end_of(m, PHASE_CODE);
}

static enum step take_html_line(struct markdown *m)
{
    struct blocks *b = &m->b;
    if (!is_whole(m))
        return wait_for(m, HOLD_LINE);
    if (m->html >= 6 && count_indent(m) == m->line.len)
        return take_blank(m);
    block_code(b, bytes_string(&m->line), m->line.len, false);
    if (!m->whole)
        return end_of(m, PHASE_HTML);
    block_code_end(b);
    if (start_html_end(bytes_string(&m->line), m->line.len, m->html))
        block_close(b, b->count);
    return end_of(m, PHASE_SKIP);
}

static enum step take_indented(struct markdown *m)
{
    if (m->b.leaf != LEAF_INDENTED || m->matched < m->b.count)
        block_begin(&m->b, m->matched, LEAF_INDENTED);
    m->b.blank = false;
    consume_line(m, 4);
    block_code(&m->b, bytes_string(&m->line), m->line.len, true);
    return end_of(m, PHASE_CODE);
}

static enum step take_text(struct markdown *m)
{
    struct blocks *b = &m->b;
    if (b->leaf == LEAF_PARAGRAPH)
        block_continue(b);
    else
        block_begin(b, m->matched, LEAF_PARAGRAPH);
    consume_line(m, count_indent(m));
    block_text(b, bytes_string(&m->line), m->line.len);
    return end_of(m, PHASE_TEXT);
}

/* ----------------------------------------------- beginnings of blocks --- */

/* The line without its indentation. */
struct rest {
    const char *ptr;
    size_t len, indent;
};

static enum step try_quote(struct markdown *m, struct rest r)
{
    if (m->matched == BLOCK_DEPTH)
        return STEP_NO;
    if (r.len == 1 && !m->whole)
        return STEP_MORE;
    block_quote(&m->b, m->matched);
    m->matched = m->b.count;
    m->opened = true;
    consume_line(m, r.indent + 1);
    if (m->line.len && *m->line.ptr == ' ')
        consume_line(m, 1);
    return STEP_AGAIN;
}

static enum step try_heading(struct markdown *m, struct rest r)
{
    size_t level;
    enum start found = start_heading(r.ptr, r.len, m->whole, &level);
    if (found != START_YES)
        return found == START_CUT ? STEP_MORE : STEP_NO;
    block_heading(&m->b, m->matched, level);
    consume_line(m, r.indent + level);
    block_text(&m->b, bytes_string(&m->line), m->line.len);
    return end_of(m, PHASE_TEXT);
}

static enum step try_fence(struct markdown *m, struct rest r)
{
    size_t run;
    enum start found = start_fence(r.ptr, r.len, is_whole(m), &run);
    if (found == START_CUT)
        return run < 3 ? STEP_MORE : wait_for(m, HOLD_LINE);
    if (found == START_NO)
        return STEP_NO;
    m->fence = r.ptr[0];
    m->fence_run = run;
    m->fence_indent = r.indent;
    block_begin(&m->b, m->matched, LEAF_FENCE);
    block_fence(&m->b, r.ptr, r.len, run);
    return end_of(m, PHASE_SKIP);
}

static bool in_paragraph(const struct markdown *m)
{
    return m->b.leaf == LEAF_PARAGRAPH && m->matched == m->b.count;
}

static enum step try_underline(struct markdown *m, struct rest r)
{
    enum start found = in_paragraph(m) && (*r.ptr == '=' || *r.ptr == '-')
                           ? start_underline(r.ptr, r.len, is_whole(m))
                           : START_NO;
    if (found == START_CUT)
        return wait_for(m, *r.ptr);
    if (found == START_NO || !m->whole)
        return STEP_NO;
    block_underline(&m->b, *r.ptr);
    return end_of(m, PHASE_SKIP);
}

static enum step try_rule(struct markdown *m, struct rest r)
{
    enum start found = *r.ptr == '=' || *r.ptr == '+'
                           ? START_NO
                           : start_rule(r.ptr, r.len, is_whole(m));
    if (found == START_CUT)
        return wait_for(m, *r.ptr);
    if (found == START_NO || !m->whole)
        return STEP_NO;
    block_rule(&m->b, m->matched);
    return end_of(m, PHASE_SKIP);
}

static enum step try_item(struct markdown *m, struct rest r)
{
    struct start_item item;
    if (*r.ptr == '=' || *r.ptr == '_' || m->matched == BLOCK_DEPTH)
        return STEP_NO;
    enum start found = start_item(r.ptr, r.len, m->whole, &item);
    if (found == START_CUT)
        return wait_for(m, ' ');
    if (found == START_NO)
        return STEP_NO;
    bool ordered = item.kind == '.' || item.kind == ')';
    if (in_paragraph(m) && (item.blank || (ordered && item.number != 1)))
        return STEP_NO;
    size_t indent = r.indent + item.indent;
    block_item(&m->b, m->matched, &item);
    m->b.open[m->matched].indent = indent;
    m->matched = m->b.count;
    m->opened = true;
    consume_line(m, item.blank ? m->line.len : indent);
    return STEP_AGAIN;
}

/* - * _ + = and digits: an underline, a rule or an item. */
static enum step try_marker(struct markdown *m, struct rest r)
{
    enum step step = try_underline(m, r);
    if (step == STEP_NO && (*r.ptr < '0' || *r.ptr > '9'))
        step = try_rule(m, r);
    return step == STEP_NO ? try_item(m, r) : step;
}

static enum step try_html(struct markdown *m, struct rest r)
{
    if (!is_whole(m))
        return wait_for(m, HOLD_LINE);
    bool lazy = m->b.leaf == LEAF_PARAGRAPH;
    int kind = start_html(r.ptr, r.len, lazy);
    if (!kind)
        return STEP_NO;
    m->html = kind;
    block_begin(&m->b, m->matched, LEAF_HTML);
    return take_html_line(m);
}

/* In a paragraph, an address of a link by reference begins a line. */
static enum step try_definition(struct markdown *m, struct rest r)
{
    enum start found = in_paragraph(m)
                           ? start_definition(r.ptr, r.len, is_whole(m))
                           : START_NO;
    if (found == START_YES)
        m->b.hard = true;
    return found == START_CUT ? STEP_MORE : STEP_NO;
}

static enum step try_table(struct markdown *m, struct rest r)
{
    bool all = m->matched == m->b.count;
    if (m->b.leaf == LEAF_TABLE ? all : m->b.leaf == LEAF_PARAGRAPH && !all)
        return STEP_NO;
    block_table_open(&m->b, m->matched);
    consume_line(m, r.indent);
    m->phase = PHASE_TABLE;
    return STEP_DONE;
}

static enum step try_block(struct markdown *m, struct rest r)
{
    switch (*r.ptr) {
    case '>': return try_quote(m, r);
    case '#': return try_heading(m, r);
    case '`': case '~': return try_fence(m, r);
    case '-': case '*': case '_': case '+': case '=': return try_marker(m, r);
    case '<': return try_html(m, r);
    case '|': return try_table(m, r);
    case '[': return try_definition(m, r);
    default:
        return *r.ptr >= '0' && *r.ptr <= '9' ? try_marker(m, r) : STEP_NO;
    }
}

/* The second line of what may be a table. */
static enum step take_second_row(struct markdown *m, struct rest r)
{
    bool all = m->matched == m->b.count;
    if (!all || r.indent > 3 || !strchr("|-:", *r.ptr)) {
        block_table_fail(&m->b);
        return STEP_AGAIN;
    }
    if (!m->whole && m->line.len < BLOCK_TABLE)
        return wait_for(m, HOLD_LINE);
    if (m->whole && block_table_begin(&m->b, r.ptr, r.len))
        return end_of(m, PHASE_SKIP);
    block_table_fail(&m->b);
    return STEP_AGAIN;
}

static enum step start_block(struct markdown *m)
{
    struct blocks *b = &m->b;
    size_t indent = count_indent(m);
    bool all = m->matched == b->count;
    if (all && b->leaf == LEAF_FENCE)
        return take_fence_line(m);
    if (all && b->leaf == LEAF_HTML)
        return take_html_line(m);
    if (indent == m->line.len)
        return m->whole ? take_blank(m) : wait_for(m, ' ');
    struct rest r = { m->line.ptr + indent, m->line.len - indent, indent };
    if (b->leaf == LEAF_TABLE && b->rows == 1)
        return take_second_row(m, r);
    if (indent >= 4 && b->leaf != LEAF_PARAGRAPH && b->leaf != LEAF_TABLE)
        return take_indented(m);
    enum step step = indent >= 4 ? STEP_NO : try_block(m, r);
    if (step != STEP_NO)
        return step;
    if (b->leaf == LEAF_TABLE && all) {
        m->phase = PHASE_TABLE;
        return STEP_DONE;
    }
    return take_text(m);
}

static void parse_line(struct markdown *m)
{
    enum step step = STEP_AGAIN;
    m->hold = '\0';
    while (step == STEP_AGAIN)
        step = m->phase == PHASE_CONTAINERS ? match_container(m)
                                            : start_block(m);
}

/* -------------------------------------------------------------- bytes --- */

static void end_table_row(struct markdown *m)
{
    block_table_row(&m->b, bytes_string(&m->line), m->line.len);
}

static void end_line(struct markdown *m)
{
    m->whole = true;
    if (m->phase <= PHASE_START)
        parse_line(m);
    if (m->phase == PHASE_TEXT)
        block_text_end(&m->b);
    if (m->phase == PHASE_CODE || m->phase == PHASE_HTML)
        block_code_end(&m->b);
    if (m->phase == PHASE_TABLE)
        end_table_row(m);
    bytes_clear(&m->line);
    m->phase = PHASE_CONTAINERS;
    m->column = m->matched = 0;
    m->whole = m->opened = false;
    m->fresh = true;
}

/* A character of the part that waits; returns its length. */
static size_t hold_character(struct markdown *m, const char *text)
{
    char c = *text;
    size_t len = glyph_length(c);
    if (c == '\t')
        bytes_add(&m->line, "    ", 4 - (m->column + m->line.len) % 4);
    else
        bytes_add(&m->line, text, len);
    bool more = m->hold == HOLD_LINE || c == m->hold || c == ' ' || c == '\t';
    size_t most = m->b.leaf == LEAF_TABLE ? BLOCK_TABLE : LINE_HELD;
    bool decides = !m->hold || !more;
    if (decides || (m->line.len >= most && m->hold != ' '))
        parse_line(m);
    return len;
}

/* A row that is longer than what is held back of a table. */
static void hold_row(struct markdown *m, const char *text, size_t len)
{
    struct blocks *b = &m->b;
    bytes_add(&m->line, text, len);
    if (m->line.len + b->table.len <= BLOCK_TABLE)
        return;
    if (!b->rows) {
        block_table_text(b, m->line.ptr, m->line.len);
        end_of(m, PHASE_TEXT);
        return;
    }
    block_table_plain(b);
    block_code(b, m->line.ptr, m->line.len, false);
    end_of(m, PHASE_HTML);
}

/* Use a part of the text, which has no line end; returns its length. */
static size_t take_part(struct markdown *m, const char *text, size_t len)
{
    size_t n = 0;
    m->fresh = false;
    if (m->phase <= PHASE_START)
        return hold_character(m, text);
    while (n < len && text[n] != '\n' && text[n] != '\r')
        n++;
    if (m->phase == PHASE_TEXT)
        block_text(&m->b, text, n);
    else if (m->phase == PHASE_CODE || m->phase == PHASE_HTML)
        block_code(&m->b, text, n, m->phase == PHASE_CODE);
    else if (m->phase == PHASE_TABLE)
        hold_row(m, text, n);
    return n;
}

static void take_safe(struct markdown *m, const char *text, size_t len)
{
    while (len) {
        size_t n = 1;
        if (*text == '\n' || *text == '\r') {
            if (*text == '\r' || !m->after_cr)
                end_line(m);
            m->after_cr = *text == '\r';
        } else {
            m->after_cr = false;
            n = take_part(m, text, len);
        }
        text += n;
        len -= n;
    }
}

void markdown_feed(struct markdown *m, const char *text, size_t len,
                   struct bytes *out)
{
    m->b.wrap.out = out;
    bytes_clear(&m->safe);
    escape_feed(&m->escape, text, len, &m->safe);
    take_safe(m, bytes_string(&m->safe), m->safe.len);
}

void markdown_end(struct markdown *m, struct bytes *out)
{
    m->b.wrap.out = out;
    bytes_clear(&m->safe);
    escape_end(&m->escape, &m->safe);
    take_safe(m, bytes_string(&m->safe), m->safe.len);
    if (!m->fresh)
        end_line(m);
    block_close(&m->b, 0);
    memset(m->b.lists, 0, sizeof m->b.lists);
    m->b.blank = m->b.wrote = m->after_cr = false;
}

void markdown_resize(struct markdown *m, size_t columns)
{
    m->b.wrap.limit = columns ? columns : 1;
}

struct markdown *markdown_new(size_t columns, enum markdown_look look)
{
    struct markdown *m = term_alloc(sizeof *m);
    m->b.wrap.color = m->b.text.color = look != MARKDOWN_PLAIN;
    m->b.text.links = look == MARKDOWN_LINKS;
    m->escape.returns = m->fresh = true;
    markdown_resize(m, columns);
    return m;
}

void markdown_free(struct markdown *m)
{
    if (!m)
        return;
    block_release(&m->b);
    bytes_release(&m->safe);
    bytes_release(&m->line);
    term_free(m);
}
