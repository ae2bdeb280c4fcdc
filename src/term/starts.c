/* starts.c - the beginnings of blocks (CommonMark 0.30, 4 and 5) */
#include "term/starts.h"

#include "term/token.h"

#include <string.h>

static size_t count_same(const char *line, size_t len, char c)
{
    size_t n = 0;
    while (n < len && line[n] == c)
        n++;
    return n;
}

/* Only spaces from here on? */
static bool is_rest_blank(const char *line, size_t len, size_t from)
{
    return count_same(line + from, len - from, ' ') == len - from;
}

enum start start_rule(const char *line, size_t len, bool whole)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i++) {
        if (line[i] != line[0] && line[i] != ' ')
            return START_NO;
        count += line[i] == line[0];
    }
    return !whole ? START_CUT : count >= 3 ? START_YES : START_NO;
}

enum start start_underline(const char *line, size_t len, bool whole)
{
    size_t n = count_same(line, len, line[0]);
    if (!is_rest_blank(line, len, n))
        return START_NO;
    return whole ? START_YES : START_CUT;
}

enum start start_definition(const char *line, size_t len, bool whole)
{
    enum { LONGEST_LABEL = 100 };
    size_t n = 1;
    while (n < len && n <= LONGEST_LABEL && line[n] != ']' && line[n] != '[')
        n += line[n] == '\\' ? 2 : 1;
    if (n > LONGEST_LABEL || (n < len && line[n] == '['))
        return START_NO;
    if (n + 1 < len)
        return n > 1 && line[n + 1] == ':' ? START_YES : START_NO;
    return whole ? START_NO : START_CUT;
}

enum start start_heading(const char *line, size_t len, bool whole,
                         size_t *level)
{
    size_t n = count_same(line, len, '#');
    *level = n;
    if (n > 6)
        return START_NO;
    if (n == len)
        return whole ? START_YES : START_CUT;
    return line[n] == ' ' ? START_YES : START_NO;
}

enum start start_fence(const char *line, size_t len, bool whole, size_t *run)
{
    *run = count_same(line, len, line[0]);
    if (*run < 3)
        return *run == len && !whole ? START_CUT : START_NO;
    if (line[0] == '`' && memchr(line + *run, '`', len - *run))
        return START_NO;
    return whole ? START_YES : START_CUT;
}

enum start start_fence_end(const char *line, size_t len, bool whole, char c,
                           size_t run)
{
    size_t n = count_same(line, len, c);
    if (!n || !is_rest_blank(line, len, n) || (n < run && n < len))
        return START_NO;
    return !whole ? START_CUT : n >= run ? START_YES : START_NO;
}

/* The marker of an item: its length; 0: none; SPAN_CUT. */
static long read_marker(const char *line, size_t len, struct start_item *item)
{
    size_t n = 0;
    item->number = 0;
    if (strchr("-+*", line[0])) {
        item->kind = line[0];
        return 1;
    }
    for (; n < len && n < 9 && line[n] >= '0' && line[n] <= '9'; n++)
        item->number = item->number * 10 + (line[n] - '0');
    if (n == len)
        return SPAN_CUT;
    item->kind = line[n];
    return n && (line[n] == '.' || line[n] == ')') ? (long)n + 1 : SPAN_NONE;
}

enum start start_item(const char *line, size_t len, bool whole,
                      struct start_item *item)
{
    long n = read_marker(line, len, item);
    if (n == SPAN_CUT)
        return whole ? START_NO : START_CUT;
    if (n == SPAN_NONE)
        return START_NO;
    item->marker = (size_t)n;
    size_t spaces = count_same(line + n, len - item->marker, ' ');
    item->blank = item->marker + spaces == len;
    if (!spaces && !item->blank)
        return START_NO;
    if (item->blank && !whole)
        return START_CUT;
    item->indent = item->marker + (item->blank || spaces > 4 ? 1 : spaces);
    return START_YES;
}

/* The length of a cell like ":--:"; 0: it is none. */
static size_t read_dashes(const char *cell, size_t len)
{
    size_t n = count_same(cell, len, ' ');
    n += n < len && cell[n] == ':';
    size_t dashes = count_same(cell + n, len - n, '-');
    n += dashes;
    n += n < len && cell[n] == ':';
    n += count_same(cell + n, len - n, ' ');
    return dashes ? n : 0;
}

bool start_table_row(const char *line, size_t len, size_t *columns)
{
    *columns = 0;
    if (!memchr(line, '|', len) && !memchr(line, ':', len))
        return false; /* the underline of a heading */
    while (len && line[len - 1] == ' ')
        len--;
    for (size_t at = len && *line == '|'; at < len; ++*columns) {
        size_t n = read_dashes(line + at, len - at);
        if (!n || (at + n < len && line[at + n] != '|'))
            return false;
        at += n + 1;
    }
    return *columns > 0;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Is the name of the tag at `at` in the list?  The names end in "|". */
static bool is_tag_of(const char *line, size_t len, size_t at,
                      const char *names)
{
    char name[16] = "|";
    size_t n = 0;
    while (n < 12 && at + n < len &&
           (is_letter(line[at + n]) ||
            (line[at + n] >= '1' && line[at + n] <= '6'))) {
        name[n + 1] = (char)(line[at + n] | (line[at + n] >= 'A' ? 0x20 : 0));
        n++;
    }
    if (!n || (at + n < len && !strchr(" />", line[at + n])))
        return false;
    name[n + 1] = '|';
    name[n + 2] = '\0';
    return strstr(names, name) != NULL;
}

static const char block_tags[] =
    "|address|article|aside|base|basefont|blockquote|body|caption|center|col|"
    "colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|"
    "footer|form|frame|frameset|h1|h2|h3|h4|h5|h6|head|header|hr|html|iframe|"
    "legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|"
    "section|source|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul|";

int start_html(const char *line, size_t len, bool in_paragraph)
{
    bool closing = len > 1 && line[1] == '/';
    if (is_tag_of(line, len, 1, "|script|pre|style|textarea|"))
        return 1;
    if (len >= 4 && !memcmp(line, "<!--", 4))
        return 2;
    if (len >= 2 && line[1] == '?')
        return 3;
    if (len >= 9 && !memcmp(line, "<![CDATA[", 9))
        return 5;
    if (len >= 3 && line[1] == '!' && is_letter(line[2]))
        return 4;
    if (is_tag_of(line, len, 1u + closing, block_tags))
        return 6;
    long tag = len > 1 && (is_letter(line[1]) || closing)
                   ? span_html(line, len, 0)
                   : SPAN_NONE;
    return tag > 0 && is_rest_blank(line, len, (size_t)tag) && !in_paragraph
               ? 7
               : 0;
}

static bool contains_mark(const char *line, size_t len, const char *mark)
{
    size_t n = strlen(mark);
    for (size_t i = 0; i + n <= len; i++) {
        size_t k = 0;
        while (k < n &&
               (line[i + k] == mark[k] ||
                (is_letter(line[i + k]) && (line[i + k] | 0x20) == mark[k])))
            k++;
        if (k == n)
            return true;
    }
    return false;
}

bool start_html_end(const char *line, size_t len, int kind)
{
    static const char *const ends[] = { "", "</script>", "-->", "?>", ">",
                                        "]]>" };
    if (kind == 1 && (contains_mark(line, len, "</pre>") ||
                      contains_mark(line, len, "</style>") ||
                      contains_mark(line, len, "</textarea>")))
        return true;
    return kind >= 1 && kind <= 5 && contains_mark(line, len, ends[kind]);
}
