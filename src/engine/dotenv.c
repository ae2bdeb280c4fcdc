/*
 * dotenv.c - files with lines of NAME=value
 *
 *      # comment
 *      export NAME = "value"
 *
 * Lines end in LF or CRLF.  "export " in front is dropped; white space around
 * name and value, too, then one pair of double quotes around the value.  There
 * are no escapes, no single quotes, no variables and no values of several
 * lines.  What is not an assignment to a name is passed over.  A byte order
 * mark in front of a line is dropped: files that are joined have it inside,
 * too.
 */
#include "engine/dotenv.h"

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct slice trim(struct slice s)
{
    while (s.len && is_space(*s.ptr))
        s = slice_skip(s, 1);
    while (s.len && is_space(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

/* What stands before the first `end`, and, if it is there, what is behind. */
static bool cut(struct slice s, char end, struct slice *before,
                struct slice *behind)
{
    const char *at = s.len ? memchr(s.ptr, end, s.len) : NULL;
    size_t n = at ? (size_t)(at - s.ptr) : s.len;
    *before = (struct slice){ s.ptr, n };
    *behind = slice_skip(s, at ? n + 1 : n);
    return at != NULL;
}

static bool is_name(struct slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                      c == '_';
        if (!letter && (i == 0 || c < '0' || c > '9'))
            return false;
    }
    return s.len > 0;
}

static struct slice unquote(struct slice s)
{
    if (s.len < 2 || *s.ptr != '"' || s.ptr[s.len - 1] != '"')
        return s;
    return (struct slice){ s.ptr + 1, s.len - 2 };
}

static bool read_line(struct slice line, struct slice *name,
                      struct slice *value)
{
    const struct slice mark = SLICE("\xEF\xBB\xBF");
    line = trim(slice_starts(line, mark) ? slice_skip(line, mark.len) : line);
    if (line.len && *line.ptr == '#')
        return false;
    if (slice_starts(line, SLICE("export ")))
        line = slice_skip(line, 7);
    if (!cut(line, '=', name, value))
        return false;
    *name = trim(*name);
    *value = unquote(trim(*value));
    return is_name(*name);
}

bool dotenv_next(struct slice *rest, struct slice *name, struct slice *value)
{
    while (rest->len) {
        struct slice line;
        cut(*rest, '\n', &line, rest);
        if (read_line(line, name, value))
            return true;
    }
    return false;
}

bool dotenv_find(struct slice text, struct slice name, struct slice *value)
{
    struct slice each, its;
    bool found = false;
    while (dotenv_next(&text, &each, &its)) {
        if (!slice_eq(each, name))
            continue;
        *value = its;
        found = true;
    }
    return found;
}
