/*
 * match.c - compare values with the patterns of scenario files
 *
 *      pattern {"steps": [{"done?": true}]}
 *                  |      |    '--- place "done?" --.
 *                  |      '-------- place 0 --------+--> "/steps/0/done?"
 *                  '--------------- place "steps" --'
 *
 * A place knows only its parent; the JSON pointer is written when a difference
 * is reported.  Recursion is bounded, since the JSON reader limits the depth of
 * the file.
 */
#include "match.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct place {
    const struct place *up;
    const char *key;            /* NULL: an index */
    size_t index;
};

/* Write a value on one line; a long one is truncated. */
static void write_value(char *out, size_t size, const allm_json *v)
{
    allm_text *text = v ? allm_json_write(v, 0) : NULL;
    const char *bytes = allm_text_bytes(text, NULL);
    int n = snprintf(out, size, "%s", v ? (bytes ? bytes : "?") : "nothing");
    if (n >= 0 && (size_t)n >= size)
        memcpy(out + size - 4, "...", 4);
    allm_text_free(text);
}

static void write_pointer(char *out, size_t size, const struct place *at)
{
    if (!at)
        return;
    write_pointer(out, size, at->up);
    size_t n = strlen(out);
    if (!at->key) {
        snprintf(out + n, size - n, "/%zu", at->index);
        return;
    }
    if (n + 1 < size)
        out[n++] = '/';
    for (const char *c = at->key; *c && n + 2 < size; c++) {
        if (*c == '~' || *c == '/')
            out[n++] = '~';
        out[n++] = *c == '~' ? '0' : *c == '/' ? '1' : *c;
    }
    out[n < size ? n : size - 1] = '\0';
}

static bool note_difference(struct match *m, const struct place *at,
                            const allm_json *expected, const allm_json *got)
{
    if (m->quiet)
        return false;
    *m->where = '\0';
    write_pointer(m->where, sizeof m->where, at);
    write_value(m->expected, sizeof m->expected, expected);
    write_value(m->got, sizeof m->got, got);
    return false;
}

bool match_fail(struct match *m, const allm_json *expected,
                const allm_json *got)
{
    return note_difference(m, NULL, expected, got);
}

/* The pattern is not valid; only the first such fault is reported. */
static bool reject_pattern(struct match *m, const char *key,
                           const char *expected)
{
    if (!*m->fault)
        snprintf(m->fault, sizeof m->fault, "\"%.64s\" %s", key, expected);
    return false;
}

static bool match_at(struct match *m, const allm_json *pattern,
                     const allm_json *got, const struct place *at);

/* Match without reporting a difference. */
static bool matches_quietly(struct match *m, const allm_json *pattern,
                            const allm_json *got)
{
    bool quiet = m->quiet;
    m->quiet = true;
    bool matches = match_at(m, pattern, got, NULL);
    m->quiet = quiet;
    return matches;
}

static bool is_any(struct match *m, const allm_json *want, const allm_json *got)
{
    if (allm_json_type_of(want) != ALLM_JSON_BOOL)
        return reject_pattern(m, "$any", "must be true or false");
    return allm_json_true(want) == (got != NULL);
}

static bool is_absent(struct match *m, const allm_json *want,
                      const allm_json *got)
{
    if (allm_json_type_of(want) != ALLM_JSON_BOOL)
        return reject_pattern(m, "$absent", "must be true or false");
    return allm_json_true(want) == (got == NULL);
}

/* Characters of a text, not its bytes. */
static size_t count_characters(const allm_json *text)
{
    size_t len = 0, n = 0;
    const char *bytes = allm_json_text(text, &len);
    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)bytes[i] & 0xc0) != 0x80;
    return n;
}

static bool has_length(struct match *m, const allm_json *want,
                       const allm_json *got)
{
    uint64_t n;
    if (!allm_json_uint64(want, &n))
        return reject_pattern(m, "$len",
                              "must be an integer that is not negative");
    switch (allm_json_type_of(got)) {
    case ALLM_JSON_ARRAY:
    case ALLM_JSON_OBJECT:
        return n == allm_json_count(got);
    case ALLM_JSON_TEXT:
        return n == count_characters(got);
    default:
        return false;
    }
}

static bool fits_regex(struct match *m, const allm_json *want,
                       const allm_json *got)
{
    regex_t re;
    const char *source = allm_json_type_of(want) == ALLM_JSON_TEXT
                             ? allm_json_text(want, NULL)
                             : NULL;
    if (!source || regcomp(&re, source, REG_EXTENDED | REG_NOSUB) != 0)
        return reject_pattern(m, "$regex",
                              "must be a POSIX extended expression");
    bool fits = allm_json_type_of(got) == ALLM_JSON_TEXT &&
                regexec(&re, allm_json_text(got, NULL), 0, NULL, 0) == 0;
    regfree(&re);
    return fits;
}

static bool contains_all(struct match *m, const allm_json *want,
                         const allm_json *got)
{
    if (allm_json_type_of(want) != ALLM_JSON_ARRAY)
        return reject_pattern(m, "$contains", "must be a list of patterns");
    bool all = allm_json_type_of(got) == ALLM_JSON_ARRAY;
    for (const allm_json *p = NULL; (p = allm_json_next(want, p));) {
        bool found = false;
        const allm_json *e = allm_json_next(got, NULL);
        if (!e || allm_json_type_of(got) != ALLM_JSON_ARRAY)
            matches_quietly(m, p, NULL);  /* to find its faults */
        for (; all && e && !found; e = allm_json_next(got, e))
            found = matches_quietly(m, p, e);
        all = all && found;
    }
    return all;
}

/*
 * Pair patterns and elements one to one.  An element that is already taken is
 * released if its pattern can take another.
 */
struct pairing {
    size_t count;
    bool *fits;                 /* [pattern * count + element] */
    bool *seen;                 /* elements, in this search */
    size_t *taken_by;           /* a pattern's index + 1; 0: free */
};

static bool find_partner(struct pairing *p, size_t pattern)
{
    for (size_t e = 0; e < p->count; e++) {
        if (!p->fits[pattern * p->count + e] || p->seen[e])
            continue;
        p->seen[e] = true;
        if (p->taken_by[e] && !find_partner(p, p->taken_by[e] - 1))
            continue;
        p->taken_by[e] = pattern + 1;
        return true;
    }
    return false;
}

static void try_all(struct match *m, struct pairing *p, const allm_json *want,
                    const allm_json *got)
{
    bool *fits = p->fits;
    for (const allm_json *w = NULL; (w = allm_json_next(want, w));)
        for (const allm_json *e = NULL; (e = allm_json_next(got, e));)
            *fits++ = matches_quietly(m, w, e);
}

static bool is_unordered(struct match *m, const allm_json *want,
                         const allm_json *got)
{
    if (allm_json_type_of(want) != ALLM_JSON_ARRAY)
        return reject_pattern(m, "$unordered", "must be a list of patterns");
    size_t n = allm_json_count(want);
    if (allm_json_type_of(got) != ALLM_JSON_ARRAY || n != allm_json_count(got))
        return false;
    struct pairing p = { .count = n,
                         .fits = calloc(n * n + 1, sizeof(bool)),
                         .seen = calloc(n + 1, sizeof(bool)),
                         .taken_by = calloc(n + 1, sizeof(size_t)) };
    bool all = p.fits && p.seen && p.taken_by;
    if (all)
        try_all(m, &p, want, got);
    for (size_t i = 0; all && i < n; i++) {
        memset(p.seen, 0, n * sizeof *p.seen);
        all = find_partner(&p, i);
    }
    free(p.fits);
    free(p.seen);
    free(p.taken_by);
    return all;
}

static bool is_not(struct match *m, const allm_json *want, const allm_json *got)
{
    return !matches_quietly(m, want, got);
}

static const struct special {
    const char *name;
    bool (*holds)(struct match *m, const allm_json *want, const allm_json *got);
} specials[] = {
    { "$any", is_any },
    { "$absent", is_absent },
    { "$len", has_length },
    { "$regex", fits_regex },
    { "$contains", contains_all },
    { "$unordered", is_unordered },
    { "$not", is_not },
};

static const struct special *find_special(const char *name)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (!strcmp(specials[i].name, name))
            return &specials[i];
    return NULL;
}

/* Keywords of JSON Schema, and of strings in records, are ordinary members;
 * other names with $ are typos. */
static bool is_keyword(const char *key)
{
    static const char *const words[] = { "$ref",           "$defs",
                                         "$schema",        "$id",
                                         "$anchor",        "$comment",
                                         "$dynamicAnchor", "$dynamicRef",
                                         "$vocabulary",    "$blob",
                                         "$plain" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i], key))
            return true;
    return false;
}

static bool match_member(struct match *m, const allm_json *pattern,
                         const allm_json *key, const allm_json *got,
                         const struct place *at)
{
    const char *name = allm_json_text(key, NULL);
    const allm_json *want = allm_json_value(key);
    const struct special *special = find_special(name);
    const struct place inner = { .up = at, .key = name };
    if (special)
        return special->holds(m, want, got) ||
               note_difference(m, at, pattern, got);
    if (*name == '$' && !is_keyword(name))
        return reject_pattern(m, name, "is not a special object");
    const allm_json *member = allm_json_type_of(got) == ALLM_JSON_OBJECT
                                  ? allm_json_get(got, name)
                                  : NULL;
    return match_at(m, want, member, &inner);
}

/* Special members describe the value; any other member requires an object. */
static bool match_object(struct match *m, const allm_json *pattern,
                         const allm_json *got, const struct place *at)
{
    size_t specials_seen = 0;
    bool all = true;
    for (const allm_json *k = NULL; (k = allm_json_next(pattern, k));)
        specials_seen += find_special(allm_json_text(k, NULL)) != NULL;
    if ((specials_seen == 0 || specials_seen < allm_json_count(pattern)) &&
        allm_json_type_of(got) != ALLM_JSON_OBJECT)
        all = note_difference(m, at, pattern, got);
    for (const allm_json *k = NULL; (k = allm_json_next(pattern, k));) {
        bool quiet = m->quiet;
        m->quiet = quiet || !all;       /* then only look for faults */
        all = match_member(m, pattern, k, got, at) && all;
        m->quiet = quiet;
    }
    return all;
}

static bool match_array(struct match *m, const allm_json *pattern,
                        const allm_json *got, const struct place *at)
{
    struct place inner = { .up = at };
    const allm_json *g = NULL;
    bool is = allm_json_type_of(got) == ALLM_JSON_ARRAY;
    bool all = (is && allm_json_count(got) == allm_json_count(pattern)) ||
               note_difference(m, at, pattern, got);
    for (const allm_json *p = NULL; (p = allm_json_next(pattern, p));) {
        bool quiet = m->quiet;
        m->quiet = quiet || !all;
        if (is && (g || !inner.index))
            g = allm_json_next(got, g);
        all = match_at(m, p, g, &inner) && all;
        m->quiet = quiet;
        inner.index++;
    }
    return all;
}

/* In a list of events, a string matches an event with that type. */
static bool is_tag_of(const allm_json *word, const allm_json *event)
{
    return allm_json_type_of(event) == ALLM_JSON_OBJECT &&
           allm_json_get(event, "seq") &&
           allm_json_equal(word, allm_json_get(event, "type"));
}

static bool match_at(struct match *m, const allm_json *pattern,
                     const allm_json *got, const struct place *at)
{
    switch (allm_json_type_of(pattern)) {
    case ALLM_JSON_OBJECT:
        return match_object(m, pattern, got, at);
    case ALLM_JSON_ARRAY:
        return match_array(m, pattern, got, at);
    case ALLM_JSON_TEXT:
        if (m->events && is_tag_of(pattern, got))
            return true;
        break;
    default:
        break;
    }
    return (got && allm_json_equal(pattern, got)) ||
           note_difference(m, at, pattern, got);
}

bool match_value(struct match *m, const allm_json *pattern,
                 const allm_json *got)
{
    bool matches = match_at(m, pattern, got, NULL);
    return matches && !*m->fault;
}

/* 22 characters that are safe in a URL, as the library generates them. */
static bool is_generated_id(const allm_json *v)
{
    static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst"
                               "uvwxyz0123456789-_";
    size_t len = 0;
    const char *text = allm_json_text(v, &len);
    return allm_json_type_of(v) == ALLM_JSON_TEXT && len == 22 &&
           strspn(text, safe) == len;
}

static bool is_generated_member(const char *key, const allm_json *a,
                                const allm_json *b)
{
    size_t n = strlen(key);
    if (!strcmp(key, "request_id"))
        return true;
    bool names_id = !strcmp(key, "id") ||
                    (n > 3 && !strcmp(key + n - 3, "_id"));
    return names_id && is_generated_id(a) && is_generated_id(b);
}

static bool same_at(struct match *m, const allm_json *a, const allm_json *b,
                    const struct place *at)
{
    allm_json_type type = allm_json_type_of(a);
    struct place inner = { .up = at };
    const allm_json *y = NULL;
    if (type != ALLM_JSON_ARRAY && type != ALLM_JSON_OBJECT)
        return (a && b && allm_json_equal(a, b)) ||
               note_difference(m, at, a, b);
    if (type != allm_json_type_of(b) ||
        allm_json_count(a) != allm_json_count(b))
        return note_difference(m, at, a, b);
    for (const allm_json *x = NULL; (x = allm_json_next(a, x));) {
        const allm_json *v = type == ALLM_JSON_OBJECT ? allm_json_value(x) : x;
        if (type == ALLM_JSON_OBJECT) {
            inner.key = allm_json_text(x, NULL);
            y = allm_json_get(b, inner.key);
        } else {
            y = allm_json_next(b, y);
        }
        bool skip = inner.key && y && is_generated_member(inner.key, v, y);
        if (!skip && !same_at(m, v, y, &inner))
            return false;
        inner.index++;
    }
    return true;
}

bool match_same(struct match *m, const allm_json *a, const allm_json *b)
{
    return same_at(m, a, b, NULL);
}
