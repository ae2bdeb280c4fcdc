/*
 * dotenv.c - parse files with lines of the form NAME=value
 *
 *      # comment
 *      export NAME = "value"
 *
 * Lines end in LF or CRLF.  A leading "export " is removed, then white space
 * around the name and the value, then one pair of double quotes around the
 * value.  Escapes, single quotes, variables and multi-line values are not
 * supported.  Lines that are not assignments are skipped.  A byte order mark is
 * removed at the start of any line, because concatenated files have it in the
 * middle.
 */
#include "engine/dotenv.h"

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct slice trim_spaces(struct slice s)
{
    while (s.len && is_space(*s.ptr))
        s = slice_skip(s, 1);
    while (s.len && is_space(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

/* Split s at the first `end`.  Returns false if there is none; then *after is
 * empty. */
static bool split_at(struct slice s, char end, struct slice *before,
                     struct slice *after)
{
    const char *at = s.len ? memchr(s.ptr, end, s.len) : NULL;
    size_t n = at ? (size_t)(at - s.ptr) : s.len;
    *before = (struct slice){ s.ptr, n };
    *after = slice_skip(s, at ? n + 1 : n);
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
    line = trim_spaces(slice_starts(line, mark) ? slice_skip(line, mark.len)
                                                : line);
    if (line.len && *line.ptr == '#')
        return false;
    if (slice_starts(line, SLICE("export ")))
        line = slice_skip(line, 7);
    if (!split_at(line, '=', name, value))
        return false;
    *name = trim_spaces(*name);
    *value = unquote(trim_spaces(*value));
    return is_name(*name);
}

bool dotenv_next(struct slice *rest, struct slice *name, struct slice *value)
{
    while (rest->len) {
        struct slice line;
        split_at(*rest, '\n', &line, rest);
        if (read_line(line, name, value))
            return true;
    }
    return false;
}

bool dotenv_find(struct slice text, struct slice name, struct slice *value)
{
    struct slice each, its_value;
    bool found = false;
    while (dotenv_next(&text, &each, &its_value)) {
        if (!slice_eq(each, name))
            continue;
        *value = its_value;
        found = true;
    }
    return found;
}
