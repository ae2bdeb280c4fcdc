/*
 * test_commonmark.c - the renderer shows the text that md4c finds
 *
 * Both texts are compared without white space and without the characters that
 * draw bullets, bars and rules.  The examples are those of the CommonMark
 * specification, as a package installs them; the exceptions are in
 * tests/data/markdown_exceptions.txt, each with a class that is checked, too.
 * Further texts are answers and random ones.
 */
#include "allm.h"
#include "harness/answers.h"
#include "harness/check.h"
#include "term/bytes.h"
#include "term/entity.h"
#include "term/escape.h"
#include "term/markdown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if ALLM_MD4C
#include <md4c.h>

/* --------------------------------------------------- the text of md4c --- */

struct seen {
    struct bytes text;
    struct {
        bool ordered;
        unsigned next;
        char mark;
    } lists[100];
    int depth;
    size_t links[32]; /* where the text of a link begins */
    int link_depth;
};

static void see(struct seen *s, const char *text, size_t len)
{
    escape_text(text, len, &s->text);
}

static void see_entity(struct seen *s, const char *text, size_t len)
{
    struct entity e;
    if (entity_read(text, len, &e) == ENTITY_WHOLE)
        see(s, e.bytes, e.count);
    else
        see(s, text, len);
}

static int on_text(MD_TEXTTYPE type, const char *text, MD_SIZE len, void *ud)
{
    if (type == MD_TEXT_ENTITY)
        see_entity(ud, text, len);
    else if (type == MD_TEXT_NULLCHAR)
        see(ud, "\\u0000", 6);
    else if (type != MD_TEXT_BR && type != MD_TEXT_SOFTBR)
        see(ud, text, len);
    return 0;
}

/* The text of an attribute, with its entities. */
static void see_attribute(struct seen *s, const MD_ATTRIBUTE *a)
{
    for (unsigned i = 0; a->text && a->substr_offsets[i] < a->size; i++)
        on_text(a->substr_types[i], a->text + a->substr_offsets[i],
                a->substr_offsets[i + 1] - a->substr_offsets[i], s);
}

static int on_block(MD_BLOCKTYPE type, void *detail, void *ud)
{
    struct seen *s = ud;
    if (type == MD_BLOCK_OL) {
        const MD_BLOCK_OL_DETAIL *ol = detail;
        s->depth++;
        s->lists[s->depth].ordered = true;
        s->lists[s->depth].next = ol->start;
        s->lists[s->depth].mark = ol->mark_delimiter;
    } else if (type == MD_BLOCK_UL) {
        s->lists[++s->depth].ordered = false;
    } else if (type == MD_BLOCK_LI && s->lists[s->depth].ordered) {
        bytes_format(&s->text, "%u%c", s->lists[s->depth].next++,
                     s->lists[s->depth].mark);
    } else if (type == MD_BLOCK_CODE) {
        see_attribute(s, &((MD_BLOCK_CODE_DETAIL *)detail)->lang);
    }
    return 0;
}

static int on_block_end(MD_BLOCKTYPE type, void *detail, void *ud)
{
    struct seen *s = ud;
    (void)detail;
    if (type == MD_BLOCK_OL || type == MD_BLOCK_UL)
        s->depth--;
    return 0;
}

static int on_span(MD_SPANTYPE type, void *detail, void *ud)
{
    struct seen *s = ud;
    (void)detail;
    if (type == MD_SPAN_IMG)
        see(s, "[image: ", 8);
    if (type == MD_SPAN_A)
        s->links[s->link_depth++ % 32] = s->text.len;
    return 0;
}

/* " (URL)" if it is one that is shown, and not the text of the link. */
static void see_target(struct seen *s, const MD_ATTRIBUTE *href)
{
    struct seen url = { .depth = 0 };
    size_t from = s->links[--s->link_depth % 32];
    const char *shown = bytes_string(&s->text) + from;
    see_attribute(&url, href);
    const char *to = bytes_string(&url.text);
    bool mail = !strncmp(to, "mailto:", 7);
    if ((mail || !strncmp(to, "http://", 7) || !strncmp(to, "https://", 8)) &&
        strcmp(to, shown) != 0 && !(mail && !strcmp(to + 7, shown)))
        bytes_format(&s->text, "(%s)", to);
    bytes_release(&url.text);
}

static int on_span_end(MD_SPANTYPE type, void *detail, void *ud)
{
    if (type == MD_SPAN_IMG)
        see(ud, "]", 1);
    if (type == MD_SPAN_A)
        see_target(ud, &((MD_SPAN_A_DETAIL *)detail)->href);
    return 0;
}

static void parse_by_md4c(const char *text, size_t len, struct bytes *out)
{
    MD_PARSER parser = {
        .flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH,
        .enter_block = on_block,
        .leave_block = on_block_end,
        .enter_span = on_span,
        .leave_span = on_span_end,
        .text = on_text,
    };
    struct seen s = { .depth = 0 };
    md_parse(text, (MD_SIZE)len, &parser, &s);
    *out = s.text;
}

/* --------------------------------------------------------- comparison --- */

/* Remove escape sequences, white space, and what draws the structure. */
static void reduce(struct bytes *b)
{
    static const char *const drawn[] = { "\xe2\x94\x82", "\xe2\x80\xa2",
                                         "\xe2\x94\x80", "\xe2\x95\x90",
                                         "\xe2\x94\xbc" };
    size_t to = 0;
    for (size_t at = 0; at < b->len;) {
        size_t n = 0;
        for (size_t i = 0; i < 5; i++)
            if (b->len - at >= 3 && !memcmp(b->ptr + at, drawn[i], 3))
                n = 3;
        if (b->ptr[at] == '\033')
            n = strcspn(b->ptr + at, "m") + 1;
        if (strchr(" \t\r\n", b->ptr[at]))
            n = 1;
        if (!n)
            b->ptr[to++] = b->ptr[at++];
        at += n;
    }
    b->len = to;
    bytes_text(b, "");
}

static void render(const char *text, size_t len, struct bytes *out)
{
    struct markdown *m = markdown_new(100000, MARKDOWN_COLOR);
    markdown_feed(m, text, len, out);
    markdown_end(m, out);
    markdown_free(m);
}

/* Does the renderer show what md4c finds? */
static bool agrees(const char *text, size_t len, struct bytes *ours,
                   struct bytes *theirs)
{
    *ours = (struct bytes){ NULL, 0, 0 };
    render(text, len, ours);
    parse_by_md4c(text, len, theirs);
    reduce(ours);
    reduce(theirs);
    return !strcmp(bytes_string(ours), bytes_string(theirs));
}

static bool check_text(const char *why, const char *text, size_t len)
{
    struct bytes ours, theirs;
    check_row(why);
    bool same = agrees(text, len, &ours, &theirs);
    if (!same)
        fprintf(stderr, "--- %s\n%.*s\n--- ours\n%s\n--- md4c\n%s\n", why,
                (int)len, text, bytes_string(&ours), bytes_string(&theirs));
    bytes_release(&ours);
    bytes_release(&theirs);
    return same;
}

/* ------------------------------------------------------- the examples --- */

static char *load(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    *len = 0;
    if (file) {
        bytes = calloc(1, 1 << 20);
        *len = fread(bytes, 1, (1 << 20) - 1, file);
        fclose(file);
    }
    return bytes;
}

/* The class of an exception, as the list has it; "": it is none. */
static void class_of(const char *list, const char *what, char name[16])
{
    char key[48];
    snprintf(key, sizeof key, "\n%s: ", what);
    const char *line = strstr(list, key);
    snprintf(name, 16, "%.*s",
             line ? (int)strcspn(line + strlen(key), "\n") : 0,
             line ? line + strlen(key) : "");
}

/* Does a line begin with a label and a colon, as the address of a link does? */
static bool is_definition(const char *line)
{
    const char *end = *line == '[' ? line + 1 : "";
    while (*end && *end != ']')
        end += *end == '\\' && end[1] ? 2 : 1;
    return *end && end[1] == ':';
}

/* A backslash before each definition, so it is none. */
static void undefine(const char *text, size_t len, struct bytes *out)
{
    bool begins = true; /* only blanks and the marks of quotes came before */
    for (size_t i = 0; i < len; i++) {
        if (begins && is_definition(text + i))
            bytes_byte(out, '\\');
        bytes_byte(out, text[i]);
        begins = text[i] == '\n' || (begins && strchr(" >", text[i]));
    }
}

/* A space instead of each line end between two lines that are not blank. */
static void join_lines(const char *text, size_t len, struct bytes *out)
{
    for (size_t i = 0; i < len; i++) {
        bool inner = text[i] == '\n' && i && text[i - 1] != '\n' &&
                     i + 1 < len && text[i + 1] != '\n';
        bytes_byte(out, inner ? ' ' : text[i]);
    }
}

/* Is the class of an exception true? */
static bool is_of_class(const char *name, const char *text, size_t len,
                        const struct bytes *ours)
{
    struct bytes changed = { NULL, 0, 0 }, want = { NULL, 0, 0 }, other;
    bool true_class = false;
    if (!strcmp(name, "line")) {
        join_lines(text, len, &changed);
        true_class = agrees(changed.ptr, changed.len, &other, &want);
        bytes_release(&other);
    } else if (!strcmp(name, "reference")) {
        undefine(text, len, &changed);
        parse_by_md4c(changed.ptr, changed.len, &want);
        reduce(&want);
        true_class = !strcmp(bytes_string(ours), bytes_string(&want));
    } else if (!strcmp(name, "written")) {
        bytes_add(&want, text, len);
        reduce(&want);
        true_class = !strcmp(bytes_string(ours), bytes_string(&want));
    }
    if (!true_class)
        fprintf(stderr, "--- %s\n%.*s\n--- ours\n%s\n--- wanted\n%s\n", name,
                (int)len, text, bytes_string(ours), bytes_string(&want));
    bytes_release(&changed);
    bytes_release(&want);
    return true_class;
}

/* A text shows what md4c finds, or is an exception of a true class. */
static void check_listed(const char *why, const char *text, size_t len,
                         const char *list)
{
    char name[16];
    struct bytes ours, theirs;
    class_of(list, why, name);
    if (!*name) {
        CHECK_WHY(check_text(why, text, len), "as md4c");
        return;
    }
    check_row(why);
    CHECK_WHY(!agrees(text, len, &ours, &theirs),
              "this is no exception any more");
    CHECK_WHY(is_of_class(name, text, len, &ours), "the class is wrong");
    bytes_release(&ours);
    bytes_release(&theirs);
}

static void check_example(const allm_json *example, const char *list)
{
    size_t len;
    char why[32];
    const char *text = allm_json_text(allm_json_get(example, "markdown"), &len);
    int64_t number = 0;
    allm_json_int64(allm_json_get(example, "example"), &number);
    snprintf(why, sizeof why, "example %ld", (long)number);
    check_listed(why, text, len, list);
}

static char *load_list(void)
{
    size_t len;
    char path[4096];
    const char *root = getenv("SOURCE_DIR");
    snprintf(path, sizeof path, "%s/tests/data/markdown_exceptions.txt",
             root ? root : ".");
    return load(path, &len);
}

static const char spec[] = "/usr/share/gocode/src/github.com/yuin/goldmark/"
                           "_test/spec.json";

static void shows_the_examples(void)
{
    size_t len;
    char *bytes = load(spec, &len), *list = load_list();
    if (!bytes) {
        check_skip("the package golang-github-yuin-goldmark-dev is missing");
    } else {
        allm_json *examples = allm_json_parse(bytes, len, NULL);
        for (const allm_json *e = NULL; (e = allm_json_next(examples, e));)
            check_example(e, list ? list : "");
        allm_json_free(examples);
    }
    free(bytes);
    free(list);
}

static void shows_the_answers(void)
{
    static char text[ANSWER_SIZE];
    char why[32];
    char *list = load_list();
    for (size_t i = 0; i < ANSWERS; i++) {
        size_t len = answer_write(i, text);
        snprintf(why, sizeof why, "answer %zu", i);
        check_listed(why, text, len, list ? list : "");
    }
    free(list);
}

/* ------------------------------------------------------- random texts --- */

/* Where md4c 0.4.8 departs from CommonMark (a blank line at the beginning
 * before a list, runs of * that can open and close, empty list items, fences in
 * quotes, tabs, nested ~~), no text is made. */
static const char *const inline_words[] = {
    " *a", "b* ", " **c", "d** ", " ***e", "f*** ", " _g", "h_ ", " __i",
    "j__ ", " *k* ", " **l** ", " `m` ", "`", "``", " ~~n~~ ", "[p",
    "](http://x.y)", "](/u \"t\")", "](<a b>)", "![q", "] ", "<http://a.b>",
    "<b>", "</i>", "<!-- c -->", "<x", "&amp;", "&#65;", "&x;", "\\*", "\\z",
    "r", " s t ", " ", "(", ")", "!", "\"", "\xc3\xa9", ".", "a_b_c", " * ",
};

static const char *const block_words[] = {
    "\n", "\n\n", "\n> ", "\n>", "\n> > ", "\n- w", "\n* w", "\n+ w",
    "\n1. w", "\n2) w", "\n10. w", "\n  - w", "\n    - w", "\n   w", "\n  w",
    "\n     w", "\n# w", "\n## w ##", "\n#w", "\n```", "\n~~~~", "\n``` w",
    "\n---", "\n***", "\n===", "\n - - -", "\nw w", "\n- # w", "\n- > w",
    "\n> - w", "\n<div>", "\n<b>", "w", "\n-w", "\n\n    w",
};

static void make_text(struct random r, const char *const *words, size_t count,
                      struct bytes *out)
{
    size_t n = random_below(r, 12) + 1;
    bytes_clear(out);
    while (n--)
        bytes_text(out, words[random_below(r, count)]);
}

static void check_random_texts(const char *why, const char *const *words,
                               size_t count, const char *before, size_t times)
{
    struct random r = check_random();
    struct bytes text = { NULL, 0, 0 };
    size_t faults = 0;
    for (size_t i = 0; i < times && faults < 5; i++) {
        make_text(r, words, count, &text);
        bytes_splice(&text, 0, 0, before, strlen(before));
        faults += !check_text(why, text.ptr, text.len);
    }
    CHECK_INT(faults, 0);
    bytes_release(&text);
}

static void shows_random_lines(void)
{
    check_random_texts("a line", inline_words,
                       sizeof inline_words / sizeof *inline_words, "x ",
                       20000 / check_stride());
}

static void shows_random_blocks(void)
{
    check_random_texts("blocks", block_words,
                       sizeof block_words / sizeof *block_words, "x\n",
                       20000 / check_stride());
}

TESTS = { TEST_ONCE(shows_the_examples), TEST_ONCE(shows_the_answers),
          TEST_ONCE(shows_random_lines),
          TEST_ONCE(shows_random_blocks), TESTS_END };

#else

static void needs_md4c(void)
{
    check_skip("md4c is missing");
}

TESTS = { TEST_ONCE(needs_md4c), TESTS_END };

#endif
