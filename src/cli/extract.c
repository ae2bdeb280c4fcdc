/*
 * extract.c - print the fenced code blocks of an answer: -x, --xl, --xa
 *
 * A block begins with a line of at most three spaces, or more in an item of a
 * list, and three or more backticks or tildes (CommonMark 4.5).  It ends with a
 * line of at least as many, or with the text.  As many spaces as precede the
 * fence are removed from each line.
 */
#include "cli/extract.h"

#include "cli/print.h"

#include <string.h>

struct block {
    const char *at;
    size_t len, indent;
};

struct fence {
    size_t indent, count; /* 0: it is none */
    char mark;
};

struct scan {
    const char *text;
    size_t len, from, inner; /* the column of the text of a list's item */
};

static struct scan scan_text(const char *text, size_t len)
{
    return (struct scan){ text, len, 0, 0 };
}

static size_t count_spaces(const char *line, size_t len)
{
    size_t n = 0;
    while (n < len && line[n] == ' ')
        n++;
    return n;
}

/* The fence that a line has behind `at`. */
static struct fence read_fence(const char *line, size_t len, size_t at)
{
    struct fence f = { .indent = at + count_spaces(line + at, len - at) };
    const char *marks = line + f.indent;
    size_t most = len - f.indent, n = 0;
    if (most && (*marks == '`' || *marks == '~'))
        f.mark = *marks;
    while (f.mark && n < most && marks[n] == f.mark)
        n++;
    bool in_text = f.mark == '`' && memchr(marks + n, '`', most - n);
    f.count = n >= 3 && !in_text ? n : 0;
    return f;
}

/* Is there nothing but the fence in this line? */
static bool is_bare(const char *line, size_t len, char mark)
{
    for (size_t i = 0; i < len; i++)
        if (line[i] != mark && line[i] != ' ' && line[i] != '\t' &&
            line[i] != '\r')
            return false;
    return true;
}

/* The column behind "- " or "1. "; 0: there is none. */
static size_t find_item(const char *line, size_t len)
{
    size_t from = count_spaces(line, len), n = from;
    while (n < len && line[n] >= '0' && line[n] <= '9')
        n++;
    const char *ends = n > from ? ".)" : "-*+";
    if (n == len || !line[n] || !strchr(ends, line[n]))
        return 0;
    size_t spaces = count_spaces(line + n + 1, len - n - 1);
    return !spaces ? 0 : n + 1 + (spaces > 4 ? 1 : spaces);
}

/* Note in which item the line is; the column behind its own mark. */
static size_t enter_item(struct scan *s, const char *line, size_t len)
{
    size_t own = find_item(line, len), spaces = count_spaces(line, len);
    if (own)
        s->inner = own;
    else if (spaces < s->inner && !is_bare(line, len, ' '))
        s->inner = spaces;
    return own;
}

static size_t line_length(const char *text, size_t len)
{
    const char *end = memchr(text, '\n', len);
    return end ? (size_t)(end - text) : len;
}

/* Find the next block; false: none. */
static bool find_block(struct scan *s, struct block *out)
{
    struct fence open = { .count = 0 };
    while (s->from < s->len) {
        const char *line = s->text + s->from;
        size_t n = line_length(line, s->len - s->from);
        size_t at = open.count ? 0 : enter_item(s, line, n);
        struct fence f = read_fence(line, n, at);
        s->from += n + (s->from + n < s->len);
        if (!open.count && f.count && f.indent <= s->inner + 3) {
            open = f;
            *out = (struct block){ s->text + s->from, 0, f.indent };
        } else if (open.count && f.mark == open.mark && f.count >= open.count &&
                   f.indent <= open.indent + 3 && is_bare(line, n, f.mark)) {
            return true;
        } else if (open.count) {
            out->len = (size_t)(s->text + s->from - out->at);
        }
    }
    return open.count > 0;
}

bool extract_finds(const char *text, size_t len)
{
    struct block b;
    struct scan s = scan_text(text, len);
    return find_block(&s, &b);
}

static void put_block(struct bytes *out, const struct block *b)
{
    for (size_t at = 0; at < b->len;) {
        const char *line = b->at + at;
        size_t n = line_length(line, b->len - at), skip = count_spaces(line, n);
        skip = skip < b->indent ? skip : b->indent;
        bytes_add(out, line + skip, n - skip);
        bytes_byte(out, '\n');
        at += n + 1;
    }
}

size_t extract_put(struct bytes *out, const char *text, size_t len,
                   enum extract which)
{
    struct block b = { .at = NULL }, last = { .at = NULL };
    struct scan s = scan_text(text, len);
    size_t count = 0;
    while (find_block(&s, &b)) {
        count++;
        last = b;
        if (which == EXTRACT_ALL || (which == EXTRACT_FIRST && count == 1))
            put_block(out, &b);
    }
    if (count && which == EXTRACT_LAST)
        put_block(out, &last);
    return count;
}

size_t extract_print(const char *text, size_t len, enum extract which)
{
    struct bytes blocks = { NULL, 0, 0 };
    size_t count = extract_put(&blocks, text, len, which);
    print_bytes(bytes_string(&blocks), blocks.len);
    bytes_release(&blocks);
    return count;
}
