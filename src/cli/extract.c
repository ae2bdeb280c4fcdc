/*
 * extract.c - print the fenced code blocks of an answer: -x, --xl, --xa
 *
 * A block begins with a line of at most three spaces and three or more
 * backticks or tildes (CommonMark 4.5).  It ends with a line of at least as
 * many, or with the text.
 */
#include "cli/extract.h"

#include "cli/print.h"

#include <string.h>

struct block {
    const char *at;
    size_t len;
};

/* The number of marks that a fence begins with, and which; 0: no fence. */
static size_t count_marks(const char *line, size_t len, char *mark)
{
    size_t spaces = 0, n = 0;
    while (spaces < len && line[spaces] == ' ')
        spaces++;
    if (spaces > 3 || spaces == len ||
        (line[spaces] != '`' && line[spaces] != '~'))
        return 0;
    *mark = line[spaces];
    while (spaces + n < len && line[spaces + n] == *mark)
        n++;
    if (*mark == '`' && memchr(line + spaces + n, '`', len - spaces - n))
        return 0; /* it is code in a line of text */
    return n >= 3 ? n : 0;
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

static size_t line_length(const char *text, size_t len)
{
    const char *end = memchr(text, '\n', len);
    return end ? (size_t)(end - text) : len;
}

/* Find the next block from *from on; false: none.  *from is then behind it. */
static bool find_block(const char *text, size_t len, size_t *from,
                       struct block *out)
{
    char mark = 0, other = 0;
    size_t open = 0;
    while (*from < len) {
        const char *line = text + *from;
        size_t n = line_length(line, len - *from);
        size_t marks = count_marks(line, n, &other);
        *from += n + (*from + n < len);
        if (!open && marks) {
            open = marks;
            mark = other;
            *out = (struct block){ text + *from, 0 };
        } else if (open && marks >= open && other == mark &&
                   is_bare(line, n, mark)) {
            return true;
        } else if (open) {
            out->len = (size_t)(text + *from - out->at);
        }
    }
    return open > 0;
}

bool extract_finds(const char *text, size_t len)
{
    struct block b;
    size_t from = 0;
    return find_block(text, len, &from, &b);
}

static void put_block(struct bytes *out, const struct block *b)
{
    bytes_add(out, b->at, b->len);
    if (b->len && b->at[b->len - 1] != '\n')
        bytes_byte(out, '\n');
}

size_t extract_put(struct bytes *out, const char *text, size_t len,
                   enum extract which)
{
    struct block b = { NULL, 0 }, last = { NULL, 0 };
    size_t from = 0, count = 0;
    while (find_block(text, len, &from, &b)) {
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
