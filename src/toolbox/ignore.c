/*
 * ignore.c - which files .gitignore excludes (gitignore(5))
 *
 * The last rule that matches decides.  The rules of a deeper folder come after
 * those of the folders above; those of .git/info/exclude come first of all.
 */
#include "toolbox/ignore.h"

#include "toolbox/wildcard.h"

struct ignore_rule {
    struct wildcard wildcard;
    bool negated;               /* !: it is not excluded */
    bool folders;               /* x/: folders only */
    bool anchored;              /* a slash: the path from this folder counts */
};

/* Spaces at the end do not count, unless a backslash precedes them. */
static struct slice strip_end(struct slice line)
{
    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    while (line.len && line.ptr[line.len - 1] == ' ' &&
           !(line.len > 1 && line.ptr[line.len - 2] == '\\'))
        line.len--;
    return line;
}

/* False: out of memory. */
static bool add_rule(struct ignore *i, struct arena *a, struct slice line)
{
    struct ignore_rule *r = &i->rules[i->count];
    *r = (struct ignore_rule){ .negated = false };
    line = strip_end(line);
    if (!line.len || *line.ptr == '#')
        return true;
    if (*line.ptr == '!') {
        r->negated = true;
        line = slice_skip(line, 1);
    }
    if (line.len && line.ptr[line.len - 1] == '/') {
        r->folders = true;
        line.len--;
    }
    r->anchored = line.len && memchr(line.ptr, '/', line.len);
    if (line.len && *line.ptr == '/')
        line = slice_skip(line, 1);
    if (!line.len)
        return true;
    i->count++;
    return wildcard_init(&r->wildcard, a, line, false);
}

static size_t count_lines_of(struct slice text)
{
    size_t n = 1;
    for (size_t i = 0; i < text.len; i++)
        n += text.ptr[i] == '\n';
    return n;
}

const struct ignore *ignore_new(struct arena *a, const struct ignore *above,
                                size_t dir, struct slice text)
{
    struct ignore *i = arena_alloc(a, sizeof *i);
    if (!i)
        return NULL;
    *i = (struct ignore){ .above = above, .dir = dir };
    if (slice_starts(text, SLICE("\xEF\xBB\xBF")))
        text = slice_skip(text, 3);
    i->rules = arena_alloc(a, count_lines_of(text) * sizeof *i->rules);
    if (!i->rules)
        return NULL;
    while (text.len)
        if (!add_rule(i, a, slice_take(&text, '\n')))
            return NULL;
    return i;
}

static struct slice last_name(struct slice path)
{
    size_t at = path.len;
    while (at && path.ptr[at - 1] != '/')
        at--;
    return slice_skip(path, at);
}

bool ignore_excludes(const struct ignore *rules, struct slice path,
                     bool is_folder, struct arena *scratch)
{
    struct slice name = last_name(path);
    for (const struct ignore *i = rules; i; i = i->above)
        for (size_t k = i->count; k > 0; k--) {
            const struct ignore_rule *r = &i->rules[k - 1];
            struct slice text = r->anchored ? slice_skip(path, i->dir) : name;
            if ((!r->folders || is_folder) &&
                wildcard_match(&r->wildcard, text, scratch))
                return !r->negated;
        }
    return false;
}
