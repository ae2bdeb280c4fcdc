/*
 * spans.c - the inline parts whose content is not Markdown: code, addresses,
 * HTML tags, the targets of links (CommonMark 0.30, 6.1, 6.3, 6.4 and 6.5)
 */
#include "term/token.h"

#include <string.h>

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static size_t run_length(const char *text, size_t len, size_t at)
{
    size_t end = at;
    while (end < len && text[end] == text[at])
        end++;
    return end - at;
}

long span_code(const char *text, size_t len, size_t at)
{
    size_t ticks = run_length(text, len, at);
    for (size_t i = at + ticks; i < len;) {
        const char *next = memchr(text + i, '`', len - i);
        if (!next)
            break;
        i = (size_t)(next - text);
        size_t n = run_length(text, len, i);
        i += n;
        if (n == ticks)
            return i == len ? SPAN_CUT : (long)(i - at);
    }
    return SPAN_CUT;
}

/* The text up to and including `mark`, which begins at or after `from`. */
static long find_end(const char *text, size_t len, size_t at, size_t from,
                     const char *mark)
{
    size_t n = strlen(mark);
    for (size_t i = from; i + n <= len; i++)
        if (!memcmp(text + i, mark, n))
            return (long)(i + n - at);
    return SPAN_CUT;
}

static long read_address(const char *text, size_t len, size_t at, size_t i)
{
    while (i < len && (unsigned char)text[i] > ' ' && text[i] != '<' &&
           text[i] != '>')
        i++;
    if (i == len)
        return SPAN_CUT;
    return text[i] == '>' ? (long)(i + 1 - at) : SPAN_NONE;
}

/* A label of a host name: letters, digits, hyphens inside. */
static size_t read_label(const char *text, size_t len, size_t i)
{
    size_t begin = i;
    while (i < len && (is_word(text[i]) || text[i] == '-'))
        i++;
    bool valid = i > begin && i - begin <= 63 && text[begin] != '-' &&
                 text[i - 1] != '-';
    return valid ? i : begin;
}

static long read_mail(const char *text, size_t len, size_t at)
{
    size_t i = at + 1;
    while (i < len && (is_word(text[i]) ||
                       (text[i] && strchr(".!#$%&'*+/=?^_`{|}~-", text[i]))))
        i++;
    if (i == len)
        return SPAN_CUT;
    if (text[i] != '@' || i == at + 1)
        return SPAN_NONE;
    do {
        size_t end = read_label(text, len, i + 1);
        if (end == len)
            return SPAN_CUT;
        if (end == i + 1)
            return SPAN_NONE;
        i = end;
    } while (text[i] == '.');
    return text[i] == '>' ? (long)(i + 1 - at) : SPAN_NONE;
}

long span_autolink(const char *text, size_t len, size_t at)
{
    size_t i = at + 1;
    while (i < len && (is_word(text[i]) || text[i] == '+' || text[i] == '.' ||
                       text[i] == '-'))
        i++;
    if (i == len)
        return SPAN_CUT;
    size_t scheme = i - at - 1;
    if (text[i] == ':' && scheme >= 2 && scheme <= 32 &&
        is_letter(text[at + 1]))
        return read_address(text, len, at, i + 1);
    return read_mail(text, len, at);
}

static size_t skip_blanks(const char *text, size_t len, size_t i)
{
    while (i < len && is_blank(text[i]))
        i++;
    return i;
}

/* The value of an attribute behind its "="; *end is behind it. */
static long read_value(const char *text, size_t len, size_t i, size_t *end)
{
    if (i == len)
        return SPAN_CUT;
    if (text[i] == '"' || text[i] == '\'') {
        const char *quote = memchr(text + i + 1, text[i], len - i - 1);
        if (!quote)
            return SPAN_CUT;
        *end = (size_t)(quote - text) + 1;
        return 1;
    }
    *end = i;
    while (*end < len && !strchr(" \t\"'=<>`", text[*end]))
        (*end)++;
    return *end == len ? SPAN_CUT : *end > i ? 1 : SPAN_NONE;
}

/* An attribute; *end is behind it. */
static long read_attribute(const char *text, size_t len, size_t i, size_t *end)
{
    if (!is_letter(text[i]) && text[i] != '_' && text[i] != ':')
        return SPAN_NONE;
    while (i < len &&
           (is_word(text[i]) || (text[i] && strchr("_.:-", text[i]))))
        i++;
    *end = i;
    i = skip_blanks(text, len, i);
    if (i == len)
        return SPAN_CUT;
    return text[i] == '='
               ? read_value(text, len, skip_blanks(text, len, i + 1), end)
               : 1;
}

/* The attributes of an opening tag, and its end. */
static long read_attributes(const char *text, size_t len, size_t at, size_t i)
{
    for (;;) {
        size_t next = skip_blanks(text, len, i);
        if (next < len && text[next] == '/')
            return next + 1 == len         ? SPAN_CUT
                   : text[next + 1] == '>' ? (long)(next + 2 - at)
                                           : SPAN_NONE;
        if (next == len)
            return SPAN_CUT;
        if (text[next] == '>')
            return (long)(next + 1 - at);
        long found = next > i ? read_attribute(text, len, next, &i) : SPAN_NONE;
        if (found != 1)
            return found;
    }
}

static long read_tag(const char *text, size_t len, size_t at)
{
    bool closing = text[at + 1] == '/';
    size_t i = at + 1 + closing;
    if (i == len)
        return SPAN_CUT;
    if (!is_letter(text[i]))
        return SPAN_NONE;
    while (i < len && (is_word(text[i]) || text[i] == '-'))
        i++;
    if (!closing)
        return read_attributes(text, len, at, i);
    i = skip_blanks(text, len, i);
    return i == len         ? SPAN_CUT
           : text[i] == '>' ? (long)(i + 1 - at)
                            : SPAN_NONE;
}

static bool begins_with(const char *text, size_t len, size_t at,
                        const char *mark)
{
    size_t n = strlen(mark);
    return len - at >= n ? !memcmp(text + at, mark, n)
                         : !memcmp(text + at, mark, len - at);
}

long span_html(const char *text, size_t len, size_t at)
{
    if (at + 1 == len)
        return SPAN_CUT;
    if (text[at + 1] == '?')
        return find_end(text, len, at, at + 2, "?>");
    if (text[at + 1] != '!')
        return read_tag(text, len, at);
    if (begins_with(text, len, at, "<!--")) {
        if (len > at + 4 && begins_with(text, len, at + 4, ">"))
            return SPAN_NONE;
        if (len > at + 5 && begins_with(text, len, at + 4, "->"))
            return SPAN_NONE;
        return find_end(text, len, at, at + 4, "-->");
    }
    if (begins_with(text, len, at, "<![CDATA["))
        return find_end(text, len, at, at + 9, "]]>");
    return at + 2 == len             ? SPAN_CUT
           : is_letter(text[at + 2]) ? find_end(text, len, at, at + 3, ">")
                                     : SPAN_NONE;
}

/* An address in angle brackets; *end is behind it. */
static long read_pointed(const char *text, size_t len, size_t i, size_t *from,
                         size_t *to, size_t *end)
{
    *from = i + 1;
    for (i++; i < len && text[i] != '>'; i++) {
        if (text[i] == '<')
            return SPAN_NONE;
        if (text[i] == '\\')
            i++;
    }
    if (i >= len)
        return SPAN_CUT;
    *to = i;
    *end = i + 1;
    return 1;
}

/* An address with balanced parentheses; *end is behind it. */
static long read_plain(const char *text, size_t len, size_t i, size_t *from,
                       size_t *to, size_t *end)
{
    int depth = 0;
    *from = i;
    for (; i < len && !is_blank(text[i]); i++) {
        if (text[i] == '\\' && i + 1 < len && !is_blank(text[i + 1]))
            i++;
        else if (text[i] == '(')
            depth++;
        else if (text[i] == ')' && !depth--)
            break;
    }
    *to = *end = i;
    return i >= len ? SPAN_CUT : depth > 0 ? SPAN_NONE : 1;
}

static long read_title(const char *text, size_t len, size_t i, size_t *end)
{
    char close = text[i] == '(' ? ')' : text[i];
    if (!strchr("\"'(", text[i]))
        return SPAN_NONE;
    for (i++; i < len && text[i] != close; i++) {
        if (text[i] == '(' && close == ')')
            return SPAN_NONE;
        if (text[i] == '\\')
            i++;
    }
    *end = i + 1;
    return i < len ? 1 : SPAN_CUT;
}

long span_target(const char *text, size_t len, size_t at, size_t *from,
                 size_t *to)
{
    size_t i = skip_blanks(text, len, at + 1), end = i;
    if (i == len)
        return SPAN_CUT;
    long found = text[i] == '<' ? read_pointed(text, len, i, from, to, &end)
                                : read_plain(text, len, i, from, to, &end);
    if (found != 1)
        return found;
    i = skip_blanks(text, len, end);
    if (i < len && text[i] != ')') {
        found = i > end ? read_title(text, len, i, &end) : SPAN_NONE;
        if (found != 1)
            return found;
        i = skip_blanks(text, len, end);
    }
    return i >= len         ? SPAN_CUT
           : text[i] == ')' ? (long)(i + 1 - at)
                            : SPAN_NONE;
}
