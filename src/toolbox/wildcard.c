/*
 * wildcard.c - patterns for paths, as regular expressions
 *
 *      src/ ** /[a-c]*.{h,c}   (without blanks)
 *      ^src\/(?:[^]*\/)?[a-c][^\/]*\.(?:h|c)$
 */
#include "toolbox/wildcard.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "json/pattern.h"

/* Any character: the engine knows no [^]. */
#define ANY "[\\s\\S]"

struct translation {
    struct slice text, rest;
    struct buf out;
    unsigned open;              /* braces */
    bool braces, never;
};

static bool is_special(char c, bool braces)
{
    return c == '*' || c == '?' || c == '[' || c == '\\' ||
           (braces && (c == '{' || c == '}'));
}

static void add_literal(struct translation *t, char c)
{
    bool plain = slice_alnum(c) || (unsigned char)c >= 0x80 || c == ' ' ||
                 c == '_';
    if ((unsigned char)c < ' ') {
        buf_format(&t->out, "\\x%02x", (unsigned)(unsigned char)c);
        return;
    }
    if (!plain)
        buf_byte(&t->out, '\\');
    buf_byte(&t->out, c);
}

static char next_char(struct translation *t)
{
    char c = *t->rest.ptr;
    t->rest = slice_skip(t->rest, 1);
    return c;
}

/* After "*". */
static void add_stars(struct translation *t)
{
    const char *first = t->rest.ptr - 1;
    size_t n = 1;
    for (; t->rest.len && *t->rest.ptr == '*'; n++)
        next_char(t);
    bool begins = first == t->text.ptr || first[-1] == '/';
    bool ends = !t->rest.len || *t->rest.ptr == '/';
    if (n < 2 || !begins || !ends) {
        buf_text(&t->out, "[^\\/]*");
    } else if (t->rest.len) {
        next_char(t);
        buf_text(&t->out, "(?:" ANY "*\\/)?");
    } else {
        buf_text(&t->out, ANY "*");
    }
}

/* [:alpha:] and so on, after its "["; false: it is not such a class. */
static bool add_named(struct translation *t)
{
    static const struct {
        const char *name, *set;
    } rows[] = {
        { ":alpha:]", "a-zA-Z" },  { ":digit:]", "0-9" },
        { ":alnum:]", "a-zA-Z0-9" }, { ":upper:]", "A-Z" },
        { ":lower:]", "a-z" },     { ":space:]", " \\t\\n\\v\\f\\r" },
        { ":xdigit:]", "0-9a-fA-F" }, { ":blank:]", " \\t" },
        { ":punct:]", "!-.:-@\\[-`{-~" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (slice_starts(t->rest, slice_of(rows[i].name))) {
            buf_text(&t->out, rows[i].set);
            t->rest = slice_skip(t->rest, strlen(rows[i].name));
            return true;
        }
    return false;
}

/* After "[". */
static void add_class(struct translation *t)
{
    bool first = true;
    buf_byte(&t->out, '[');
    if (t->rest.len && (*t->rest.ptr == '!' || *t->rest.ptr == '^')) {
        next_char(t);
        buf_text(&t->out, "^\\/");
    }
    while (t->rest.len) {
        char c = next_char(t);
        if (c == ']' && !first) {
            buf_byte(&t->out, ']');
            return;
        }
        first = false;
        if (c == '[' && add_named(t))
            continue;
        bool range = c == '-' && t->out.ptr[t->out.len - 1] != '[' &&
                     t->rest.len && *t->rest.ptr != ']';
        if (c == '\\' && t->rest.len)
            add_literal(t, next_char(t));
        else if (range)
            buf_byte(&t->out, '-');
        else
            add_literal(t, c);
    }
    t->never = true;            /* it does not end */
}

static void add_brace(struct translation *t, char c)
{
    bool opens = c == '{' && memchr(t->rest.ptr, '}', t->rest.len);
    if (opens) {
        t->open++;
        buf_text(&t->out, "(?:");
    } else if (c == '}' && t->open) {
        t->open--;
        buf_byte(&t->out, ')');
    } else if (c == ',' && t->open) {
        buf_byte(&t->out, '|');
    } else {
        add_literal(t, c);
    }
}

static void translate_all(struct translation *t)
{
    buf_byte(&t->out, '^');
    while (t->rest.len && !t->never) {
        char c = next_char(t);
        if (c == '*')
            add_stars(t);
        else if (c == '?')
            buf_text(&t->out, "[^\\/]");
        else if (c == '[')
            add_class(t);
        else if (c == '\\' && !t->rest.len)
            t->never = true;
        else if (c == '\\')
            add_literal(t, next_char(t));
        else if (t->braces)
            add_brace(t, c);
        else
            add_literal(t, c);
    }
    for (; t->open; t->open--)
        buf_byte(&t->out, ')');
    buf_byte(&t->out, '$');
}

static bool has_special(struct slice text, bool braces)
{
    for (size_t i = 0; i < text.len; i++)
        if (is_special(text.ptr[i], braces))
            return true;
    return false;
}

static bool is_ascii(struct slice s)
{
    while (s.len && !(s.ptr[s.len - 1] & 0x80))
        s.len--;
    return !s.len;
}

/* Each byte as a character: for git, "?" and a set match one byte.  ptr is NULL
 * if memory is short. */
static struct slice widen(struct arena *a, struct slice text)
{
    struct buf b = buf_in(a, SIZE_MAX / 2);
    for (size_t i = 0; i < text.len; i++) {
        char bytes[4];
        size_t n = utf8_put(bytes, (unsigned char)text.ptr[i]);
        buf_add(&b, (struct slice){ bytes, n });
    }
    return b.broken ? (struct slice){ NULL, 0 } : buf_slice(&b);
}

bool wildcard_init(struct wildcard *w, struct arena *a, struct slice text,
                   bool braces)
{
    *w = (struct wildcard){ .bytes = !braces };
    struct slice copy = SLICE("");
    if (text.len && braces)
        copy = utf8_copy(a, text);
    else if (text.len)
        copy = (struct slice){ arena_copy(a, text), text.len };
    if (!copy.ptr)
        return false;
    w->suffix = copy.len && *copy.ptr == '*' &&
                !has_special(slice_skip(copy, 1), braces) &&
                !memchr(copy.ptr, '/', copy.len);
    w->literal = w->suffix ? slice_skip(copy, 1) : copy;
    if (w->suffix || !has_special(copy, braces))
        return true;
    if (w->bytes && !is_ascii(copy) && !(copy = widen(a, copy)).ptr)
        return false;
    struct translation t = { .text = copy, .rest = copy, .braces = braces };
    const char *fault = NULL;
    buf_init(&t.out, a, 1 << 20);
    translate_all(&t);
    if (t.out.broken)
        return false;
    if (!t.never)
        w->pattern = pattern_new(a, buf_slice(&t.out), &fault);
    w->never = t.never || fault;
    return w->pattern || w->never;
}

bool wildcard_match(const struct wildcard *w, struct slice path,
                    struct arena *scratch)
{
    size_t budget = SIZE_MAX / 2;
    if (w->never)
        return false;
    if (w->suffix)
        return slice_ends(path, w->literal) &&
               !memchr(path.ptr, '/', path.len - w->literal.len);
    if (!w->pattern)
        return slice_eq(path, w->literal);
    if (w->bytes && !is_ascii(path))
        path = widen(scratch, path);
    if (!path.ptr)
        return false;           /* the caller looks at its arena */
    enum pattern_result got = pattern_match(w->pattern, path, scratch, &budget);
    arena_reset(scratch);
    return got == PATTERN_YES;
}
