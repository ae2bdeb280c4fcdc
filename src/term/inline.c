/*
 * inline.c - the inline part of Markdown: emphasis, code, links
 *
 *      the *quick [brown](http://f
 *          ^      ^
 *          |      u: this link may still end, so nothing behind it is certain
 *          safe: everything before it is written
 *
 * Held text is parsed again when something may have ended in it; it has at most
 * 1 KiB, so the time is linear in the length of the text.
 */
#include "term/inline.h"

#include "term/entity.h"
#include "term/escape.h"
#include "term/glyph.h"
#include "term/token.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

/* The state of one parse of the held text. */
struct parse {
    struct inline_text *in;
    struct tokens t;
    bool final;       /* nothing follows: what is open is literal */
    size_t at;
    size_t brackets[TOKEN_MOST]; /* the open ones */
    size_t depth;
    size_t stop;      /* nothing behind it is certain */
};

static const char specials[] = "*_~`[]!<&\\";

static bool is_special(char c)
{
    return c && strchr(specials, c);
}

static bool is_ascii_punctuation(char c)
{
    return c > ' ' && c < 0x7f && !(c >= '0' && c <= '9') &&
           !((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* ------------------------------------------------------------- tokens --- */

static struct token *add_token(struct parse *p, enum token_kind kind,
                               size_t len)
{
    struct token *t = &p->t.list[p->t.count++];
    *t = (struct token){ .kind = kind, .at = (uint16_t)p->at,
                         .len = (uint16_t)len };
    p->at += len;
    return t;
}

static void take_text(struct parse *p)
{
    size_t n = 1;
    while (p->at + n < p->t.len && !is_special(p->t.text[p->at + n]))
        n++;
    add_token(p, TOKEN_TEXT, n);
}

/* The text ends within what begins here: is it literal, or unknown? */
static bool is_cut(struct parse *p)
{
    if (!p->final)
        p->stop = p->at;
    return !p->final;
}

static void take_escape(struct parse *p)
{
    if (p->at + 1 == p->t.len) {
        if (!is_cut(p))
            add_token(p, TOKEN_BREAK, 1);
    } else if (is_ascii_punctuation(p->t.text[p->at + 1])) {
        struct token *t = add_token(p, TOKEN_TEXT, 2);
        t->at++;
        t->len--;
    } else {
        take_text(p);
    }
}

static void take_code(struct parse *p)
{
    const char *text = p->t.text;
    size_t ticks = strspn(text + p->at, "`");
    /* the end of the line ends the last run of backticks, too */
    size_t len = p->t.len + p->final;
    long n = span_code(text, len, p->at);
    if (n == SPAN_CUT) {
        if (!is_cut(p))
            add_token(p, TOKEN_TEXT, ticks);
        return;
    }
    size_t from = p->at + ticks, to = p->at + (size_t)n - ticks;
    bool padded = to - from > 2 && text[from] == ' ' && text[to - 1] == ' ' &&
                  strspn(text + from, " ") < to - from;
    struct token *t = add_token(p, TOKEN_CODE, (size_t)n);
    t->from = (uint16_t)(from + padded);
    t->to = (uint16_t)(to - padded);
}

static void take_pointed(struct parse *p)
{
    const char *text = p->t.text;
    long link = span_autolink(text, p->t.len, p->at);
    long html = link > 0 ? SPAN_NONE : span_html(text, p->t.len, p->at);
    if (link > 0) {
        struct token *t = add_token(p, TOKEN_URL, (size_t)link);
        t->from = (uint16_t)(t->at + 1);
        t->to = (uint16_t)(t->at + link - 1);
    } else if (html > 0) {
        add_token(p, TOKEN_TEXT, (size_t)html);
    } else if ((link != SPAN_CUT && html != SPAN_CUT) || !is_cut(p)) {
        take_text(p);
    }
}

static void take_entity(struct parse *p)
{
    struct entity e;
    enum entity_found found = entity_read(p->t.text + p->at, p->t.len - p->at,
                                          &e);
    if (found == ENTITY_WHOLE)
        add_token(p, TOKEN_ENTITY, e.len);
    else if (found == ENTITY_NONE || !is_cut(p))
        take_text(p);
}

/* The code point before `at`. */
static uint32_t point_before(const struct parse *p, size_t at)
{
    size_t begin = at;
    if (!at)
        return p->in->before;
    do {
        begin--;
    } while (begin && ((unsigned char)p->t.text[begin] & 0xc0) == 0x80);
    return glyph_point(p->t.text, at, &begin);
}

static void take_delimiters(struct parse *p)
{
    size_t end = p->at;
    while (end < p->t.len && p->t.text[end] == p->t.text[p->at])
        end++;
    if (end == p->t.len && is_cut(p))
        return;
    size_t next = end;
    uint32_t after = end < p->t.len ? glyph_point(p->t.text, p->t.len, &next)
                                    : 0;
    emphasis_add(&p->t, p->at, end - p->at, point_before(p, p->at), after);
    p->at = end;
}

static void take_bracket(struct parse *p)
{
    bool image = p->t.text[p->at] == '!';
    if (image && p->at + 1 == p->t.len && is_cut(p))
        return;
    if (image && p->t.text[p->at + 1] != '[') {
        take_text(p);
        return;
    }
    p->brackets[p->depth++] = p->t.count;
    struct token *t = add_token(p, TOKEN_BRACKET, 1 + image);
    t->image = image;
    t->active = true;
}

/* The bracket and what follows it are a link. */
static void make_link(struct parse *p, size_t open, size_t len, size_t from,
                      size_t to)
{
    struct token *first = &p->t.list[open];
    first->kind = TOKEN_LINK;
    first->from = (uint16_t)from;
    first->to = (uint16_t)to;
    emphasis_pair(&p->t, open, true);
    for (size_t i = 0; !first->image && i < p->depth; i++)
        if (!p->t.list[p->brackets[i]].image)
            p->t.list[p->brackets[i]].active = false; /* no link in a link */
    struct token *t = add_token(p, TOKEN_LINK_END, len);
    t->image = first->image;
    t->from = (uint16_t)from;
    t->to = (uint16_t)to;
    t->count = (uint16_t)open;
}

static void close_bracket(struct parse *p)
{
    size_t open = p->depth ? p->brackets[p->depth - 1] : 0;
    size_t from = 0, to = 0;
    long n = SPAN_NONE;
    if (!open) {
        take_text(p);
        return;
    }
    if (p->at + 1 == p->t.len && is_cut(p))
        return;
    if (p->t.list[open].active && p->t.text[p->at + 1] == '(')
        n = span_target(p->t.text, p->t.len, p->at + 1, &from, &to);
    if (n == SPAN_CUT && is_cut(p))
        return;
    p->depth--;
    if (n > 0)
        make_link(p, open, (size_t)n + 1, from, to);
    else
        take_text(p);
}

static void take_token(struct parse *p)
{
    switch (p->t.text[p->at]) {
    case '\\': take_escape(p); break;
    case '`': take_code(p); break;
    case '<': take_pointed(p); break;
    case '&': take_entity(p); break;
    case '*': case '_': case '~': take_delimiters(p); break;
    case '[': case '!': take_bracket(p); break;
    case ']': close_bracket(p); break;
    default: take_text(p);
    }
}

/* Make tokens; nothing behind p->stop is certain. */
static void take_tokens(struct parse *p)
{
    p->t.count = 1;
    p->stop = SIZE_MAX;
    while (p->at < p->t.len && p->stop == SIZE_MAX)
        take_token(p);
    if (p->stop == SIZE_MAX)
        p->stop = p->t.len;
    for (size_t i = 0; i < p->depth && !p->final; i++) {
        const struct token *t = &p->t.list[p->brackets[i]];
        if (t->active && t->at < p->stop)
            p->stop = t->at;
    }
}

/* ------------------------------------------------------------ writing --- */

static void set_mark(struct inline_text *in, unsigned more, struct bytes *out)
{
    unsigned style = in->base | more | (in->em > 0 ? STYLE_ITALIC : 0u) |
                     (in->strong > 0 ? STYLE_BOLD : 0u) |
                     (in->strike > 0 ? STYLE_STRIKE : 0u) |
                     (in->link > 0 ? STYLE_UNDERLINE : 0u) |
                     (in->url.len ? STYLE_LINK : 0u);
    if (style != in->marked && in->url.len)
        style_mark_link(out, style, &in->url);
    else if (style != in->marked)
        style_mark(out, style);
    in->marked = style;
}

static void write_repeated(struct bytes *out, char c, size_t n)
{
    while (n--)
        bytes_byte(out, c);
}

static void write_delimiter(struct inline_text *in, const struct token *t,
                            char c, struct bytes *out)
{
    int *two = c == '~' ? &in->strike : &in->strong;
    if (!in->color) {
        write_repeated(out, c, t->len);
        return;
    }
    in->em -= t->em_close;
    *two -= t->strong_close;
    set_mark(in, 0, out);
    write_repeated(out, c, t->count);
    in->em += t->em_open;
    *two += t->strong_open;
}

void inline_unescape(const char *text, size_t len, struct bytes *out)
{
    for (size_t i = 0, step; i < len; i += step) {
        struct entity e;
        bool escaped = text[i] == '\\' && i + 1 < len &&
                       is_ascii_punctuation(text[i + 1]);
        i += escaped;
        step = 1;
        if (!escaped && text[i] == '&' &&
            entity_read(text + i, len - i, &e) == ENTITY_WHOLE) {
            if (!strchr("\t\n", *e.bytes))
                escape_text(e.bytes, e.count, out);
            step = e.len;
        } else {
            bytes_add(out, text + i, 1);
        }
    }
}

/* Is it the \uXXXX or \xXX of escape.h?  Its length, or 0. */
static size_t escaped_length(const char *text, size_t len)
{
    size_t n = len > 1 && text[0] == '\\' ? text[1] == 'u'   ? 6
                                            : text[1] == 'x' ? 4
                                                             : 0
                                          : 0;
    for (size_t i = 2; i < n; i++)
        if (i >= len || !strchr("0123456789abcdef", text[i]) || !text[i])
            return 0;
    return n;
}

/* Append the address without control characters; nothing, if it is not one
 * that may be opened. */
static void read_url(const char *text, size_t len, struct bytes *url)
{
    static const char *const schemes[] = { "http://", "https://", "mailto:" };
    struct bytes whole = { NULL, 0, 0 };
    size_t n, i;
    inline_unescape(text, len, &whole);
    for (size_t at = 0; at < whole.len; at += n ? n : 1) {
        n = escaped_length(whole.ptr + at, whole.len - at);
        if (!n && whole.ptr[at] != '\t')
            bytes_byte(url, whole.ptr[at]);
    }
    for (i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (url->len > strlen(schemes[i]) &&
            !strncasecmp(url->ptr, schemes[i], strlen(schemes[i])))
            break;
    if (i == sizeof schemes / sizeof *schemes)
        bytes_clear(url);
    bytes_release(&whole);
}

/* " (URL)", unless the text of the link says the same. */
static void write_target(struct parse *p, const struct token *t,
                         struct bytes *out)
{
    const struct token *first = &p->t.list[t->count];
    const char *shown = p->t.text + first->at + first->len;
    size_t len = (size_t)(t->at - first->at - first->len);
    struct bytes url = { NULL, 0, 0 };
    read_url(p->t.text + t->from, (size_t)(t->to - t->from), &url);
    bool same = url.len == len && !memcmp(bytes_string(&url), shown, len);
    if (url.len && !same) {
        bytes_text(out, " (");
        bytes_add(out, url.ptr, url.len);
        bytes_byte(out, ')');
    }
    bytes_release(&url);
}

static void write_link(struct parse *p, const struct token *t,
                       struct bytes *out)
{
    struct inline_text *in = p->in;
    bool begins = t->kind == TOKEN_LINK;
    if (t->image) {
        set_mark(in, 0, out);
        bytes_text(out, begins ? "[image: " : "]");
        return;
    }
    in->link += begins ? 1 : -1;
    bytes_clear(&in->url);
    if (begins && in->links)
        read_url(p->t.text + t->from, (size_t)(t->to - t->from), &in->url);
    set_mark(in, 0, out);
    if (!begins && !in->links)
        write_target(p, t, out);
}

/* <http://...> or <name@...> */
static void write_pointed(struct parse *p, const struct token *t,
                          struct bytes *out)
{
    struct inline_text *in = p->in;
    const char *text = p->t.text + t->from;
    size_t len = (size_t)(t->to - t->from);
    struct bytes whole = { NULL, 0, 0 };
    bool marked = in->links && !in->url.len;
    if (marked) {
        if (!memchr(text, ':', len))
            bytes_text(&whole, "mailto:");
        bytes_add(&whole, text, len);
        read_url(whole.ptr, whole.len, &in->url);
        in->marked = UINT_MAX; /* the one before had its own address */
    }
    set_mark(in, STYLE_UNDERLINE, out);
    bytes_add(out, text, len);
    if (marked)
        bytes_clear(&in->url);
    bytes_release(&whole);
}

static void write_entity(const struct parse *p, const struct token *t,
                         struct bytes *out)
{
    struct entity e;
    if (entity_read(p->t.text + t->at, t->len, &e) == ENTITY_WHOLE)
        escape_text(e.bytes, e.count, out);
}

static void write_token(struct parse *p, const struct token *t,
                        struct bytes *out)
{
    const char *text = p->t.text;
    bool plain_code = t->kind == TOKEN_CODE && !p->in->color;
    if (t->kind == TOKEN_DELIMITER) {
        write_delimiter(p->in, t, text[t->at], out);
        return;
    }
    if (t->kind == TOKEN_LINK || t->kind == TOKEN_LINK_END) {
        write_link(p, t, out);
        return;
    }
    if (t->kind == TOKEN_URL) {
        write_pointed(p, t, out);
        return;
    }
    set_mark(p->in, t->kind == TOKEN_CODE ? STYLE_CODE : 0u, out);
    if (t->kind == TOKEN_ENTITY)
        write_entity(p, t, out);
    else if (t->kind == TOKEN_CODE && !plain_code)
        bytes_add(out, text + t->from, (size_t)(t->to - t->from));
    else if (t->kind != TOKEN_BREAK)
        bytes_add(out, text + t->at, t->len);
}

/* ------------------------------------------------------------ holding --- */

/* The text before this place is certain. */
static size_t find_safe(const struct parse *p)
{
    size_t safe = p->stop;
    for (uint16_t n = p->t.last; n; n = p->t.list[n].before)
        if (p->t.list[n].opens && p->t.list[n].at < safe)
            safe = p->t.list[n].at;
    for (size_t i = p->t.count; i-- > 1;) { /* keep pairs together */
        const struct token *t = &p->t.list[i];
        if (t->kind == TOKEN_DELIMITER && t->from && t->at >= safe &&
            p->t.list[t->from].at < safe)
            safe = p->t.list[t->from].at;
    }
    return safe;
}

/* Parse the held text and write what is certain; all of it if `final`. */
static bool resolve_held(struct inline_text *in, bool final, struct bytes *out)
{
    struct parse p;
    p.in = in;
    p.t.text = in->held.ptr;
    p.t.len = in->held.len;
    p.t.last = 0;
    p.final = final;
    p.at = p.depth = 0;
    take_tokens(&p);
    size_t last = 1;
    for (; last < p.t.count && p.t.list[last].at < p.stop; last++)
        ;
    while (p.t.last >= last) /* behind the stop */
        p.t.last = p.t.list[p.t.last].before;
    if (p.t.last)
        p.t.list[p.t.last].after = 0;
    emphasis_pair(&p.t, 0, final);
    size_t safe = find_safe(&p);
    for (size_t i = 1; i < last && p.t.list[i].at < safe; i++)
        write_token(&p, &p.t.list[i], out);
    bool ends_in_break = final && p.t.count > 1 &&
                         p.t.list[p.t.count - 1].kind == TOKEN_BREAK;
    in->waits[0] = in->waits[1] = '\0';
    if (safe < p.t.len) {
        in->waits[0] = p.t.text[safe];
        in->waits[1] = p.stop < p.t.len ? p.t.text[p.stop] : '\0';
    }
    in->before = safe ? point_before(&p, safe) : in->before;
    bytes_skip(&in->held, safe);
    return ends_in_break;
}

/* May a part that begins with `opener` be complete, now that `c` follows
 * `last`? */
static bool may_end(char opener, char last, char c)
{
    switch (opener) {
    case '\0': return false;
    case '[': case '!': return c == ')' || last == ']' || last == '!';
    case '<': return c == '>' || c == ' ' || last == '<';
    case '&': return c <= ' ' || (c != '#' && is_ascii_punctuation(c));
    case '\\': return true;
    default: return last == opener && c != opener;
    }
}

/* The text goes on with one code point, while some is held back. */
static void hold_point(struct inline_text *in, const char *text, size_t len,
                       struct bytes *out)
{
    char last = in->held.ptr[in->held.len - 1];
    bytes_add(&in->held, text, len);
    if (may_end(in->waits[0], last, *text) ||
        may_end(in->waits[1], last, *text))
        resolve_held(in, false, out);
    if (in->held.len >= INLINE_HELD)
        resolve_held(in, true, out);
}

static size_t plain_length(const char *text, size_t len)
{
    size_t n = 0;
    while (n < len && !is_special(text[n]))
        n++;
    return n;
}

void inline_feed(struct inline_text *in, const char *text, size_t len,
                 struct bytes *out)
{
    while (len) {
        size_t n = 0;
        if (in->held.len) {
            glyph_point(text, len, &n);
            hold_point(in, text, n, out);
        } else if (is_special(*text)) {
            n = 1;
            in->waits[0] = *text;
            bytes_byte(&in->held, *text);
        } else {
            n = plain_length(text, len);
            set_mark(in, 0, out);
            bytes_add(out, text, n);
            size_t last = n - 1;
            while (last && ((unsigned char)text[last] & 0xc0) == 0x80)
                last--;
            in->before = glyph_point(text, n, &last);
        }
        text += n;
        len -= n;
    }
}

bool inline_end(struct inline_text *in, struct bytes *out)
{
    bool ends_in_break = in->held.len && resolve_held(in, true, out);
    in->before = '\n';
    return ends_in_break;
}

void inline_begin(struct inline_text *in, unsigned base)
{
    in->base = base;
    in->before = 0;
    in->em = in->strong = in->strike = in->link = 0;
    bytes_clear(&in->url);
}

void inline_release(struct inline_text *in)
{
    bytes_release(&in->held);
    bytes_release(&in->url);
}
