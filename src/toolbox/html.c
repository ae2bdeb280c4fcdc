/*
 * html.c - the text of an HTML page
 *
 *      <h1>A &amp; B</h1><p>c  d        A & B
 *                                       (blank)
 *                                       c d
 *
 * This is no parser: it reads tags one by one, and does not know which of them
 * belong together.
 */
#include "toolbox/html.h"

#include "base/nocase.h"
#include "base/utf8.h"

struct page {
    struct slice rest;
    struct buf *out;
    size_t start;               /* where our text begins in `out` */
    unsigned pre;               /* open <pre> */
    bool space;                 /* white space before the next character */
};

/* -------------------------------------------------------------- writing --- */

/* Begin a line, with `blank` blank lines before it. */
static void break_line(struct page *p, unsigned blank)
{
    struct buf *out = p->out;
    unsigned have = 0;
    p->space = false;
    while (have < out->len - p->start && out->ptr[out->len - 1 - have] == '\n')
        have++;
    if (out->len == p->start)
        return;
    for (; have < blank + 1; have++)
        buf_byte(out, '\n');
}

static void add_bytes(struct page *p, struct slice s)
{
    bool begins = p->out->len == p->start ||
                  p->out->ptr[p->out->len - 1] == '\n';
    if (p->space && !begins)
        buf_byte(p->out, ' ');
    p->space = false;
    buf_add(p->out, s);
}

/* ------------------------------------------------------------- entities --- */

static const struct {
    const char *name;
    uint32_t point;
} entities[] = {
    { "amp", '&' },       { "lt", '<' },        { "gt", '>' },
    { "quot", '"' },      { "apos", '\'' },     { "nbsp", ' ' },
    { "copy", 0xA9 },     { "reg", 0xAE },      { "deg", 0xB0 },
    { "middot", 0xB7 },   { "laquo", 0xAB },    { "raquo", 0xBB },
    { "times", 0xD7 },    { "euro", 0x20AC },   { "pound", 0xA3 },
    { "sect", 0xA7 },     { "ndash", 0x2013 },  { "mdash", 0x2014 },
    { "lsquo", 0x2018 },  { "rsquo", 0x2019 },  { "ldquo", 0x201C },
    { "rdquo", 0x201D },  { "bull", 0x2022 },   { "hellip", 0x2026 },
    { "trade", 0x2122 },  { "larr", 0x2190 },   { "rarr", 0x2192 },
    { "auml", 0xE4 },     { "ouml", 0xF6 },     { "uuml", 0xFC },
    { "Auml", 0xC4 },     { "Ouml", 0xD6 },     { "Uuml", 0xDC },
    { "szlig", 0xDF },    { "eacute", 0xE9 },   { "egrave", 0xE8 },
    { "agrave", 0xE0 },   { "ccedil", 0xE7 },   { "ntilde", 0xF1 },
};

static uint32_t numeric_entity(struct slice name)
{
    uint32_t n = 0, base = 10;
    name = slice_skip(name, 1);
    if (name.len && (*name.ptr == 'x' || *name.ptr == 'X')) {
        base = 16;
        name = slice_skip(name, 1);
    }
    for (size_t i = 0; i < name.len; i++) {
        uint32_t digit = (uint32_t)slice_hex(name.ptr[i]);
        if (digit >= base || n > 0x10FFFF)      /* not a digit: UINT32_MAX */
            return 0;
        n = n * base + digit;
    }
    return n;
}

static uint32_t entity_point(struct slice name)
{
    if (name.len && *name.ptr == '#')
        return numeric_entity(name);
    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
        if (slice_is(name, entities[i].name))
            return entities[i].point;
    return 0;
}

/* At "&"; what is not an entity is text. */
static void take_entity(struct page *p)
{
    char bytes[4];
    size_t len = 1, most = p->rest.len < 12 ? p->rest.len : 12;
    while (len < most && p->rest.ptr[len] != ';' && p->rest.ptr[len] != ' ')
        len++;
    bool ends = len < most && p->rest.ptr[len] == ';';
    uint32_t point =
        ends ? entity_point((struct slice){ p->rest.ptr + 1,
                                                         len - 1 }) : 0;
    size_t n = point ? utf8_put(bytes, point) : 0;
    if (!n) {
        add_bytes(p, SLICE("&"));
        p->rest = slice_skip(p->rest, 1);
        return;
    }
    if (n == 1 && *bytes == ' ')
        p->space = true;
    else
        add_bytes(p, (struct slice){ bytes, n });
    p->rest = slice_skip(p->rest, len + 1);
}

/* ----------------------------------------------------------------- tags --- */

/* A byte of a tag's name; digits do not begin one. */
static bool is_tag(char c, bool begins)
{
    return slice_alnum(c) && !(begins && slice_digit(c));
}

/* Skip to the text, without it if it is not there. */
static void skip_past(struct page *p, const char *text)
{
    size_t len = strlen(text);
    while (p->rest.len && !slice_starts(p->rest, (struct slice){ text, len }))
        p->rest = slice_skip(p->rest, 1);
    p->rest = slice_skip(p->rest, p->rest.len < len ? p->rest.len : len);
}

/* To "</name", for what is no text. */
static void skip_element(struct page *p, const char *name)
{
    while (p->rest.len && !(slice_starts(p->rest, SLICE("</")) &&
                            nocase_starts(slice_skip(p->rest, 2), name)))
        p->rest = slice_skip(p->rest, 1);
}

/* The end of a tag; a ">" in quotes does not end it. */
static void skip_tag(struct page *p)
{
    char quote = 0;
    while (p->rest.len) {
        char c = *p->rest.ptr;
        p->rest = slice_skip(p->rest, 1);
        if (quote ? c == quote : c == '"' || c == '\'')
            quote = quote ? 0 : c;
        else if (c == '>' && !quote)
            return;
    }
}

static void apply_tag(struct page *p, const char *name, bool closes)
{
    static const char *const silent[] = { "script", "style", "noscript",
                                          "template", "svg", "iframe", NULL };
    static const char *const spaced[] = {
        "p", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "ul", "ol", "table",
        "blockquote", "title", "hr", "section", "article", NULL
    };
    static const char *const lines[] = {
        "div", "br", "tr", "dt", "dd", "header", "footer", "nav", "main",
        "form", "option", "figcaption", "aside", "body", NULL
    };
    if (!closes && slice_in(slice_of(name), silent))
        skip_element(p, name);
    else if (slice_in(slice_of(name), spaced))
        break_line(p, 1);
    else if (slice_in(slice_of(name), lines))
        break_line(p, 0);
    if (!strcmp(name, "pre"))
        p->pre = closes ? 0 : 1;
    if (!closes && !strcmp(name, "li")) {
        break_line(p, 0);
        buf_text(p->out, "- ");
    }
    if (closes && (!strcmp(name, "td") || !strcmp(name, "th")))
        add_bytes(p, SLICE(" |"));
}

/* At "<"; what is not a tag is text. */
static void take_tag(struct page *p)
{
    char name[16];
    size_t n = 0;
    struct slice rest = slice_skip(p->rest, 1);
    if (slice_starts(rest, SLICE("!--"))) {
        skip_past(p, "-->");
        return;
    }
    bool closes = rest.len && *rest.ptr == '/';
    rest = slice_skip(rest, closes);
    while (n < rest.len && n < sizeof name - 1 && is_tag(rest.ptr[n], !n)) {
        name[n] = nocase_lower(rest.ptr[n]);
        n++;
    }
    name[n] = 0;
    bool other = rest.len && (*rest.ptr == '!' || *rest.ptr == '?');
    if (!n && !other) {
        add_bytes(p, SLICE("<"));
        p->rest = slice_skip(p->rest, 1);
        return;
    }
    skip_tag(p);
    apply_tag(p, name, closes);
}

void html_text(struct buf *out, struct slice page)
{
    struct page p = { .rest = page, .out = out, .start = out->len };
    while (p.rest.len && !out->broken) {
        char c = *p.rest.ptr;
        size_t n = 1;
        if (c == '<') {
            take_tag(&p);
            continue;
        }
        if (c == '&') {
            take_entity(&p);
            continue;
        }
        if (slice_space(c) && !p.pre) {
            p.space = true;
        } else {
            while (n < p.rest.len && p.rest.ptr[n] != '<' &&
                   p.rest.ptr[n] != '&' && !slice_space(p.rest.ptr[n]))
                n++;
            add_bytes(&p, (struct slice){ p.rest.ptr, n });
        }
        p.rest = slice_skip(p.rest, n);
    }
    while (out->len > p.start && out->ptr[out->len - 1] == '\n')
        out->len--;
    break_line(&p, 0);
}
