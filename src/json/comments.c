/*
 * comments.c - JSON with comments becomes JSON of the same length
 *
 *      {"a": 1, // one              {"a": 1,
 *       "b": [2,], /+ two +/ }  ->   "b": [2 ]            }
 *
 * (A + stands for a star.)  Line feeds inside comments stay, too.
 */
#include "json/comments.h"

#include "base/utf8.h"
#include "json/scan.h"

/* The length of the comment that begins here; 0: it is none, or does not
 * end. */
static size_t comment_length(struct slice s)
{
    size_t end = 2;
    if (s.len < 2 || (s.ptr[1] != '/' && s.ptr[1] != '*'))
        return 0;
    bool line = s.ptr[1] == '/';
    while (end < s.len && (line ? s.ptr[end] != '\n' && s.ptr[end] != '\r'
                                : s.ptr[end] != '*' || end + 1 == s.len ||
                                      s.ptr[end + 1] != '/'))
        end++;
    return line ? end : end < s.len ? end + 2 : 0;
}

/* Blank a comment, up to its first byte that is not UTF-8. */
static void blank_comment(char *at, size_t len)
{
    size_t bad = len;
    utf8_valid((struct slice){ at, len }, &bad);
    for (size_t i = 0; i < len && i < bad; i++)
        if (at[i] != '\n' && at[i] != '\r')
            at[i] = ' ';
}

/* May a comma follow this character, and then a closing bracket? */
static bool ends_value(char c)
{
    return c && !strchr("[{,:", c);
}

static void blank_all(char *text, size_t len)
{
    char before = '\0';         /* the last character that is not blank */
    char *comma = NULL;         /* the last one, if a value is before it */
    for (size_t i = 0, step; i < len; i += step) {
        struct slice rest = { text + i, len - i };
        char c = text[i];
        size_t comment = c == '/' ? comment_length(rest) : 0;
        size_t quoted = c == '"' ? scan_quoted(rest) : 1;
        step = comment ? comment : quoted ? quoted : rest.len;
        if (comment)
            blank_comment(text + i, comment);
        if (comment || (c && strchr(" \t\r\n", c)))
            continue;
        if ((c == '}' || c == ']') && comma)
            *comma = ' ';
        comma = c == ',' && ends_value(before) ? text + i : NULL;
        before = c;
    }
}

struct slice comments_blank(struct arena *a, struct slice text)
{
    char *copy = arena_alloc(a, text.len + 1);
    if (!copy)
        return (struct slice){ NULL, 0 };
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    blank_all(copy, text.len);
    return (struct slice){ copy, text.len };
}
