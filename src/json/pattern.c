/*
 * pattern.c - parse the regular expressions of JSON Schema
 *
 *      alternatives = sequence { "|" sequence }
 *      sequence     = { term [ quantifier [ "?" ] ] }
 *      term         = letter | "." | class | escape | group | assertion
 *
 * We accept what ECMA-262 accepts with its u flag, and are as lenient as
 * browsers are without it where the meaning is clear: an escaped punctuation
 * mark stands for itself, and so do "]", "}" and a "{" that begins no
 * quantifier.
 *
 * Invariants
 *   (1) No tree is larger than PATTERN_MAX_CODE, so sizes never overflow.
 *   (2) After a fault nothing more is read: `rest` is empty.
 */
#include "json/pattern.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "json/pattern_parts.h"

struct reader {
    struct arena *arena;
    struct slice text, rest;
    const char *fault;
    struct look *looks;         /* the newest first */
    uint32_t look_count;
    unsigned depth;
    uint64_t size;              /* of all looks */
};

enum { FAULT_LIMIT = 400 };

/* Report what is wrong at `at`; the first fault counts. */
static void fail_at(struct reader *r, const char *at, const char *what)
{
    struct buf b = buf_in(r->arena, FAULT_LIMIT);
    buf_text(&b, what);
    buf_text(&b, " at character ");
    struct slice before = { r->text.ptr, (size_t)(at - r->text.ptr) };
    buf_uint(&b, utf8_count(before) + 1);
    if (!r->fault && !b.broken)
        r->fault = b.ptr;
    r->rest = slice_skip(r->rest, r->rest.len);     /* keeps (2) */
}

static void fail_here(struct reader *r, const char *what)
{
    fail_at(r, r->rest.ptr, what);
}

static bool next_is(const struct reader *r, const char *text)
{
    return slice_starts(r->rest, slice_of(text));
}

static bool accept_text(struct reader *r, const char *text)
{
    if (!next_is(r, text))
        return false;
    r->rest = slice_skip(r->rest, strlen(text));
    return true;
}

/* The next byte, 0 at the end (a NUL in a pattern is read as a code point). */
static char peek(const struct reader *r)
{
    return r->rest.len ? *r->rest.ptr : '\0';
}

static uint32_t take_point(struct reader *r)
{
    uint32_t point = 0;
    if (!utf8_take(&r->rest, &point))
        fail_here(r, r->rest.len ? "malformed UTF-8" : "unexpected end");
    return point;
}

/* ---------------------------------------------------------------- trees --- */

static struct tree *new_tree(struct reader *r, struct tree fields)
{
    struct tree *t = arena_alloc(r->arena, sizeof *t);
    if (!t) {
        r->rest = slice_skip(r->rest, r->rest.len);
        return NULL;
    }
    *t = fields;
    return t;
}

static struct tree *leaf(struct reader *r, enum tree_kind kind, uint32_t point)
{
    return new_tree(r,
                    (struct tree){ .kind = kind, .point = point,
                                      .size = 1 });
}

/* Add to the number of instructions that the tree becomes. */
static void add_size(struct reader *r, struct tree *t, uint64_t more)
{
    t->size += more;
    if (t->size + r->size <= PATTERN_MAX_CODE)
        return;
    fail_here(r, "the pattern is too large (repeats are written out)");
    t->size = PATTERN_MAX_CODE;                     /* keeps (1) */
}

static void add_part(struct reader *r, struct tree *t, struct tree *part)
{
    if (!t || !part)
        return;
    part->prev = t->last;
    *(t->last ? &t->last->next : &t->first) = part;
    t->last = part;
    bool splits = t->kind == TREE_ANY && part->prev;
    add_size(r, t, part->size + (splits ? 2 : 0));
}

static struct tree *repeat(struct reader *r, struct tree *part, uint32_t min,
                           uint32_t max)
{
    struct tree *t = new_tree(
        r, (struct tree){ .kind = TREE_REPEAT,
                                                .min = min, .max = max });
    if (!t || !part || part->size == 0)
        return t;
    t->first = t->last = part;
    uint64_t size = part->size * min;
    if (max == FOR_EVER)
        size += min ? 1 : part->size + 2;
    else
        size += (part->size + 1) * (max - min);
    add_size(r, t, size);
    return t;
}

/* -------------------------------------------------------------- escapes --- */

/* Exactly n hexadecimal digits; false if they are not there. */
static bool take_hex(struct reader *r, size_t n, uint32_t *value)
{
    struct slice s = r->rest;
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        int digit = i < s.len ? slice_hex(s.ptr[i]) : -1;
        if (digit < 0)
            return false;
        sum = sum * 16 + (uint32_t)digit;
    }
    r->rest = slice_skip(s, n);
    *value = sum;
    return true;
}

/* After "\u{". */
static uint32_t take_braced(struct reader *r)
{
    uint32_t point = 0, digit;
    if (next_is(r, "}"))
        fail_here(r, "expected hexadecimal digits");
    while (!accept_text(r, "}")) {
        if (!take_hex(r, 1, &digit)) {
            fail_here(r, "expected a hexadecimal digit or \"}\"");
            return 0;
        }
        point = point * 16 + digit;
        if (point > LAST_POINT) {
            fail_here(r, "there is no such code point");
            return 0;
        }
    }
    return point;
}

/* After "\u": four digits, twice four for a surrogate pair, or braces. */
static uint32_t take_unicode(struct reader *r)
{
    uint32_t high, low;
    if (accept_text(r, "{"))
        return take_braced(r);
    if (!take_hex(r, 4, &high)) {
        fail_here(r, "expected four hexadecimal digits");
        return 0;
    }
    struct slice before = r->rest;
    if (high >> 10 == 0xD800 >> 10 && accept_text(r, "\\u") &&
        take_hex(r, 4, &low) && low >> 10 == 0xDC00 >> 10)
        return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
    r->rest = before;
    return high;
}

/* After "\c". */
static uint32_t take_control(struct reader *r)
{
    char c = peek(r);
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
        return take_point(r) % 32;
    fail_here(r, "expected a letter behind \"\\c\"");
    return 0;
}

static void refuse_escape(struct reader *r, const char *at, char c)
{
    if (c >= '1' && c <= '9')
        fail_at(r, at, "back references are not supported");
    else if (c == 'k')
        fail_at(r, at, "named back references are not supported");
    else if (c == '0')
        fail_at(r, at, "octal escapes are not supported");
    else
        fail_at(r, at, "unknown escape");
}

/* An escape for one code point, after its "\". */
static uint32_t take_escaped(struct reader *r)
{
    static const char letters[] = "tnvfr", meanings[] = "\t\n\v\f\r";
    const char *at = r->rest.ptr - 1;
    uint32_t point = take_point(r), value;
    if (point >= 0x80) {
        fail_at(r, at, "unknown escape");
        return 0;
    }
    char c = (char)point;
    const char *found = c ? strchr(letters, c) : NULL;
    if (found)
        return (uint32_t)meanings[found - letters];
    if (c == '0' && !(peek(r) >= '0' && peek(r) <= '9'))
        return 0;
    if (c == 'u')
        return take_unicode(r);
    if (c == 'c')
        return take_control(r);
    if (c == 'x' && take_hex(r, 2, &value))
        return value;
    bool is_alphanumeric = slice_hex(c) >= 0 || (c >= 'g' && c <= 'z') ||
                           (c >= 'G' && c <= 'Z');
    if (is_alphanumeric || c < ' ')
        refuse_escape(r, at, c);
    return point;
}

/* After "\p" or "\P". */
static void take_property(struct reader *r, struct class_draft *d, bool negated)
{
    const char *at = r->rest.ptr;
    if (!accept_text(r, "{")) {
        fail_here(r, "expected \"{\" behind \"\\p\"");
        return;
    }
    struct slice name = { r->rest.ptr, 0 };
    while (name.len < r->rest.len && name.ptr[name.len] != '}')
        name.len++;
    r->rest = slice_skip(r->rest, name.len);
    if (!accept_text(r, "}"))
        fail_here(r, "expected \"}\"");
    else if (!class_add_property(d, name, negated))
        fail_at(r, at,
                "unknown property (we know general categories, Any, "
                "ASCII and Assigned)");
}

/* \d and similar, \p and \P: a set, after its "\". */
static bool take_set(struct reader *r, struct class_draft *d)
{
    char c = peek(r);
    if (c == 'p' || c == 'P') {
        r->rest = slice_skip(r->rest, 1);
        take_property(r, d, c == 'P');
        return true;
    }
    if (!class_add_escape(d, c))
        return false;
    r->rest = slice_skip(r->rest, 1);
    return true;
}

/* -------------------------------------------------------------- classes --- */

static struct tree *class_leaf(struct reader *r, struct class_draft *d,
                               bool negated)
{
    struct tree *t = leaf(r, TREE_CLASS, 0);
    if (t)
        t->class = class_done(d, negated);
    return t;
}

/* One character of a class, or a set, which is added; false: it was a set. */
static bool take_class_atom(struct reader *r, struct class_draft *d,
                            uint32_t *point)
{
    if (!accept_text(r, "\\")) {
        *point = take_point(r);
        return true;
    }
    if (take_set(r, d))
        return false;
    if (accept_text(r, "b"))
        *point = '\b';
    else
        *point = take_escaped(r);
    return true;
}

/* An atom, or two with "-" between them. */
static void take_class_range(struct reader *r, struct class_draft *d)
{
    uint32_t first = 0, last = 0;
    const char *at = r->rest.ptr;
    bool has_first = take_class_atom(r, d, &first);
    if (!next_is(r, "-") || next_is(r, "-]")) {
        if (has_first)
            class_add(d, first, first);
        return;
    }
    accept_text(r, "-");
    bool has_last = take_class_atom(r, d, &last);
    if (has_first && has_last) {
        if (first > last)
            fail_at(r, at, "a range runs backwards");
        else
            class_add(d, first, last);
        return;
    }
    class_add(d, '-', '-');     /* [\w-.]: the hyphen is a literal */
    if (has_first)
        class_add(d, first, first);
    if (has_last)
        class_add(d, last, last);
}

/* After "[". */
static struct tree *take_class(struct reader *r)
{
    const char *at = r->rest.ptr - 1;
    struct class_draft d = { .arena = r->arena };
    bool negated = accept_text(r, "^");
    while (r->rest.len && !next_is(r, "]"))
        take_class_range(r, &d);
    if (!accept_text(r, "]"))
        fail_at(r, at, "\"[\" without \"]\"");
    return class_leaf(r, &d, negated);
}

/* "." matches everything except line ends. */
static struct tree *any_letter(struct reader *r)
{
    struct class_draft d = { .arena = r->arena };
    class_add(&d, '\n', '\n');
    class_add(&d, '\r', '\r');
    class_add(&d, 0x2028, 0x2029);
    return class_leaf(r, &d, true);
}

/* --------------------------------------------------------------- groups --- */

static struct tree *take_alternatives(struct reader *r);

/* The kind of a group, after its "(". */
struct group {
    bool looks, ahead, negated;
};

/* The name of a group, after "(?<"; it is not used. */
static void skip_name(struct reader *r)
{
    const char *at = r->rest.ptr;
    while (r->rest.len && !next_is(r, ">"))
        take_point(r);
    if (r->rest.ptr == at || !accept_text(r, ">"))
        fail_at(r, at, "expected the name of a group");
}

static struct group take_group_kind(struct reader *r)
{
    static const struct {
        const char *text;
        struct group group;
    } kinds[] = {
        { "?:",  { false, false, false } },
        { "?=",  { true, true, false } },
        { "?!",  { true, true, true } },
        { "?<=", { true, false, false } },
        { "?<!", { true, false, true } },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (accept_text(r, kinds[i].text))
            return kinds[i].group;
    if (accept_text(r, "?<"))
        skip_name(r);
    else if (next_is(r, "?"))
        fail_here(r,
                  "unknown kind of group (flags and others are not supported)");
    return (struct group){ false, false, false };
}

/* Store the body of a lookaround; returns the node that refers to it. */
static struct tree *new_look(struct reader *r, struct group g,
                             const struct tree *body)
{
    struct look *l = arena_alloc(r->arena, sizeof *l);
    struct tree *t = leaf(r, TREE_LOOK, r->look_count);
    if (!l || !t || !body)
        return NULL;
    t->negated = g.negated;
    *l = (struct look){ r->looks, body, g.ahead };
    r->looks = l;
    r->size += body->size + 1;
    if (++r->look_count > PATTERN_MAX_LOOKS)
        fail_here(r, "too many lookaheads");
    return t;
}

/* After "(". */
static struct tree *take_group(struct reader *r, bool *is_assertion)
{
    const char *at = r->rest.ptr - 1;
    if (++r->depth > PATTERN_MAX_GROUPS)
        fail_at(r, at, "too many groups inside each other");
    struct group g = take_group_kind(r);
    struct tree *body = take_alternatives(r);
    if (!accept_text(r, ")"))
        fail_at(r, at, "\"(\" without \")\"");
    r->depth--;
    *is_assertion = g.looks;
    return g.looks ? new_look(r, g, body) : body;
}

/* ---------------------------------------------------------------- terms --- */

enum { COUNT_LIMIT = 1000000 };     /* far beyond PATTERN_MAX_CODE */

static bool take_count(struct slice *s, uint32_t *count)
{
    size_t n = 0;
    *count = 0;
    for (; n < s->len && s->ptr[n] >= '0' && s->ptr[n] <= '9'; n++)
        if (*count < COUNT_LIMIT)
            *count = *count * 10 + (uint32_t)(s->ptr[n] - '0');
    *s = slice_skip(*s, n);
    return n > 0;
}

/* {n}, {n,} or {n,m}; otherwise false, and nothing is read. */
static bool take_braces(struct reader *r, uint32_t *min, uint32_t *max)
{
    struct slice s = r->rest;
    if (!slice_starts(s, SLICE("{")))
        return false;
    s = slice_skip(s, 1);
    if (!take_count(&s, min))
        return false;
    *max = *min;
    if (slice_starts(s, SLICE(","))) {
        s = slice_skip(s, 1);
        if (!take_count(&s, max))
            *max = FOR_EVER;
    }
    if (!slice_starts(s, SLICE("}")))
        return false;
    r->rest = slice_skip(s, 1);
    return true;
}

static bool take_quantifier(struct reader *r, uint32_t *min, uint32_t *max)
{
    *min = 0;
    *max = FOR_EVER;
    if (accept_text(r, "?"))
        *max = 1;
    else if (accept_text(r, "+"))
        *min = 1;
    else if (!accept_text(r, "*") && !take_braces(r, min, max))
        return false;
    accept_text(r, "?");             /* lazy: makes no difference to us */
    return true;
}

static struct tree *take_escape(struct reader *r, bool *is_assertion)
{
    bool outside = accept_text(r, "B");
    if (outside || accept_text(r, "b")) {
        *is_assertion = true;
        return leaf(r, TREE_ASSERT, outside ? NOT_AT_WORD_EDGE : AT_WORD_EDGE);
    }
    struct class_draft d = { .arena = r->arena };
    if (take_set(r, &d))
        return class_leaf(r, &d, false);
    return leaf(r, TREE_CHAR, take_escaped(r));
}

static struct tree *take_term(struct reader *r, bool *is_assertion)
{
    uint32_t min, max;
    const char *at = r->rest.ptr;
    if (take_quantifier(r, &min, &max)) {
        fail_at(r, at, "nothing to repeat");
        return NULL;
    }
    bool begin = accept_text(r, "^");
    if (begin || accept_text(r, "$")) {
        *is_assertion = true;
        return leaf(r, TREE_ASSERT, begin ? AT_BEGIN : AT_END);
    }
    if (accept_text(r, "("))
        return take_group(r, is_assertion);
    if (accept_text(r, "["))
        return take_class(r);
    if (accept_text(r, "\\"))
        return take_escape(r, is_assertion);
    if (accept_text(r, "."))
        return any_letter(r);
    return leaf(r, TREE_CHAR, take_point(r));
}

static struct tree *take_sequence(struct reader *r)
{
    struct tree *all = new_tree(r, (struct tree){ .kind = TREE_ALL });
    while (r->rest.len && !next_is(r, "|") && !next_is(r, ")")) {
        bool is_assertion = false;
        struct tree *part = take_term(r, &is_assertion);
        const char *at = r->rest.ptr;
        uint32_t min, max;
        if (take_quantifier(r, &min, &max)) {
            if (is_assertion)
                fail_at(r, at, "nothing to repeat");
            if (max < min)
                fail_at(r, at, "a repeat runs backwards");
            part = repeat(r, part, min, max);
        }
        add_part(r, all, part);
    }
    return all;
}

static struct tree *take_alternatives(struct reader *r)
{
    struct tree *first = take_sequence(r);
    if (!next_is(r, "|"))
        return first;
    struct tree *any = new_tree(r, (struct tree){ .kind = TREE_ANY });
    add_part(r, any, first);
    while (accept_text(r, "|"))
        add_part(r, any, take_sequence(r));
    return any;
}

static struct pattern *make_pattern(struct arena *a, struct slice text,
                                    const char **fault)
{
    if (!text.ptr)
        text = SLICE("");
    struct reader r = { .arena = a, .text = text, .rest = text };
    struct tree *main = take_alternatives(&r);
    if (r.rest.len)
        fail_here(&r, "\")\" without \"(\"");
    *fault = r.fault;
    if (r.fault || a->broken || !main)
        return NULL;
    struct pattern *p = pattern_code(a, main, r.looks, main->size + r.size + 1);
    return p && pattern_set_needle(p, a, main) ? p : NULL;
}

const struct pattern *pattern_new(struct arena *a, struct slice text,
                                  const char **fault)
{
    return make_pattern(a, text, fault);
}

const struct pattern *pattern_new_folded(struct arena *a, struct slice text,
                                         const char **fault)
{
    struct pattern *p = make_pattern(a, text, fault);
    if (p)
        p->fold = true;
    return p;
}
