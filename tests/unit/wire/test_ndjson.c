/*
 * test_ndjson.c - JSON lines: whole, split anywhere, byte by byte
 *
 * The lines of a text are written as one: "<line><line>" and then
 *
 *      .  the end          L  too long         N  no memory
 *
 * Each piece of the input is in a block of exactly its size, which is freed
 * as soon as it is used up: so the sanitizer sees a slice that is kept too
 * long.
 */
#include "wire/ndjson.h"

#include "harness/check.h"

#include <stdlib.h>

/* -------------------------------------------------------------- feeding --- */

struct story {
    struct arena arena;
    struct buf text;
};

static void begin_story(struct story *t)
{
    arena_init(&t->arena, mem_default());
    buf_init(&t->text, &t->arena, 1 << 20);
}

static void end_story(struct story *t)
{
    arena_release(&t->arena);
}

static void tell_line(struct story *t, struct slice line)
{
    buf_byte(&t->text, '<');
    buf_add(&t->text, line);
    buf_byte(&t->text, '>');
}

static void tell_end(struct story *t, enum wire_result result)
{
    buf_byte(&t->text, "MF.LN"[result]);
}

/* Feed one piece, in a new block; false if the stream is lost. */
static bool feed(struct ndjson *n, struct slice piece, struct story *t)
{
    char *block = malloc(piece.len ? piece.len : 1);
    if (!block)
        return false;
    if (piece.len)
        memcpy(block, piece.ptr, piece.len);
    struct slice in = { block, piece.len }, line;
    enum wire_result result;
    while ((result = ndjson_next(n, &in, &line)) == WIRE_FRAME) {
        tell_line(t, line);
        memset(block, '?', piece.len - in.len);     /* used up */
    }
    if (result == WIRE_MORE)
        CHECK_ALWAYS(in.len == 0);
    else
        tell_end(t, result);
    free(block);
    return result == WIRE_MORE;
}

static void end(struct ndjson *n, struct story *t)
{
    struct slice line;
    enum wire_result result;
    while ((result = ndjson_end(n, &line)) == WIRE_FRAME)
        tell_line(t, line);
    tell_end(t, result);
    CHECK_ALWAYS(ndjson_end(n, &line) == result);       /* it stays so */
}

/* Cut before each byte that has a 1 in `cuts`; cuts NULL: before each. */
static void tell_cut(struct slice text, size_t limit, const char *cuts,
                     struct story *t)
{
    struct ndjson n;
    size_t from = 0;
    bool well = true;
    ndjson_init(&n, mem_default(), limit);
    for (size_t i = 1; i <= text.len && well; i++) {
        if (i < text.len && cuts && !cuts[i])
            continue;
        struct slice piece = { text.ptr + from, i - from };
        well = feed(&n, SLICE(""), t) && feed(&n, piece, t);
        from = i;
    }
    if (well)
        end(&n, t);
    ndjson_release(&n);
    CHECK_ALWAYS(arena_held(&n.arena) == 0);
}

/* Whole, cut in two at every place, byte by byte. */
static void check_everywhere(struct slice text, size_t limit, struct slice want)
{
    char cuts[256] = { 0 };
    for (size_t at = 0; at <= text.len && at < sizeof cuts; at++) {
        struct story t;
        begin_story(&t);
        cuts[at] = 1;
        tell_cut(text, limit, at < text.len ? cuts : NULL, &t);
        cuts[at] = 0;
        CHECK_SLICE(buf_slice(&t.text), want);
        end_story(&t);
    }
}

/* --------------------------------------------------------------- tables --- */

#define T(literal) { (literal), sizeof(literal) - 1 }

static void follows_the_rules_at_every_cut(void)
{
    static const struct {
        const char *why;
        struct slice text;
        size_t limit;
        struct slice lines;
    } rows[] = {
        { "nothing", T(""), 0, T(".") },
        { "lines end with LF", T("{\"a\":1}\n{}\n"), 0,
          T("<{\"a\":1}><{}>.") },
        { "lines end with CRLF", T("{}\r\n{ }\r\n"), 0, T("<{}><{ }>.") },
        { "a CR alone ends none", T("{}\r{}\n"), 0, T("<{}\r{}>.") },
        { "one CR goes, not two (it is white space to JSON)",
          T("{}\r\r\n"), 0, T("<{}\r>.") },
        { "empty lines are skipped (Q028)", T("\n\n{}\n\r\n\n{}\n\n"), 0,
          T("<{}><{}>.") },
        { "so are lines of white space (Q163)", T("  \n\t\r\n \r \n{}\n  "),
          0, T("<{}>.") },
        { "white space around a value stays", T(" {} \n"), 0, T("< {} >.") },
        { "the last line has no LF (Q028)", T("{}\n{\"b\":2}"), 0,
          T("<{}><{\"b\":2}>.") },
        { "the last line has a CR only", T("{}\r"), 0, T("<{}>.") },
        { "cut in the middle of its JSON: the parser will see",
          T("{}\n{\"b\":"), 0, T("<{}><{\"b\":>.") },
        { "what is no object is given, too: the parser will see",
          T("[]\n1\nx\n"), 0, T("<[]><1><x>.") },
        { "a byte order mark at the start", T("\xEF\xBB\xBF{}\n{}\n"), 0,
          T("<{}><{}>.") },
        { "alone", T("\xEF\xBB\xBF"), 0, T(".") },
        { "alone in its line", T("\xEF\xBB\xBF\r\n{}"), 0, T("<{}>.") },
        { "two of them", T("\xEF\xBB\xBF\xEF\xBB\xBF{}"), 0,
          T("<\xEF\xBB\xBF{}>.") },
        { "later it is content", T("\n\xEF\xBB\xBF{}"), 0,
          T("<\xEF\xBB\xBF{}>.") },
        { "NUL is a byte", T("a\0b\n\0\n"), 0, T("<a\0b><\0>.") },
        { "a cut inside a character does no harm (Q020)",
          T("\"\xC3\xA4\xF0\x9F\x98\x80\"\n"), 0,
          T("<\"\xC3\xA4\xF0\x9F\x98\x80\">.") },

        { "as long as allowed", T("abcd\nefgh"), 4, T("<abcd><efgh>.") },
        { "one byte more", T("abcd\nabcde\nx\n"), 4, T("<abcd>L") },
        { "one byte more, unended", T("abcde"), 4, T("L") },
        { "the CR counts", T("abc\r\nabcd\r\n"), 4, T("<abc>L") },
        { "the byte order mark counts", T("\xEF\xBB\xBF{}\n"), 4, T("L") },
        { "white space counts", T("     \n"), 4, T("L") },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        check_everywhere(rows[i].text, rows[i].limit, rows[i].lines);
    }
}

/* ------------------------------------------------------- single matters --- */

static void a_line_in_the_input_is_not_copied(void)
{
    static const char text[] = "\n{1}\r\n{2}\n";
    struct slice in = T(text), line;
    struct ndjson n;
    ndjson_init(&n, mem_default(), 0);
    CHECK_ALWAYS(ndjson_next(&n, &in, &line) == WIRE_FRAME);
    CHECK_ALWAYS(line.ptr == text + 1 && line.len == 3);
    CHECK_ALWAYS(ndjson_next(&n, &in, &line) == WIRE_FRAME);
    CHECK_ALWAYS(line.ptr == text + 6 && line.len == 3);
    CHECK_ALWAYS(ndjson_next(&n, &in, &line) == WIRE_MORE);
    CHECK_ALWAYS(check_allocations() == 0);
    ndjson_release(&n);
}

static void at_rest_it_owns_nothing(void)
{
    struct story t;
    struct ndjson n;
    begin_story(&t);
    ndjson_init(&n, mem_default(), 0);
    feed(&n, SLICE("{\"a\""), &t);
    CHECK(arena_held(&n.arena) > 0);
    feed(&n, SLICE(":1}\n"), &t);
    CHECK(arena_held(&n.arena) == 0);
    feed(&n, SLICE("{}\n{"), &t);
    CHECK(arena_held(&n.arena) > 0);
    end(&n, &t);
    CHECK(arena_held(&n.arena) == 0);
    CHECK_SLICE(buf_slice(&t.text), SLICE("<{\"a\":1}><{}><{>."));
    ndjson_release(&n);
    end_story(&t);
}

static void after_the_end_there_is_nothing(void)
{
    struct slice in = SLICE("{}\n"), line;
    struct ndjson n;
    ndjson_init(&n, mem_default(), 0);
    CHECK_ALWAYS(ndjson_end(&n, &line) == WIRE_END);
    CHECK_ALWAYS(ndjson_next(&n, &in, &line) == WIRE_END);
    CHECK_ALWAYS(line.len == 0 && in.len == 3);
    ndjson_release(&n);
}

static void what_is_lost_stays_lost(void)
{
    struct slice in = SLICE("too long\n{}\n"), line;
    struct ndjson n;
    ndjson_init(&n, mem_default(), 4);
    CHECK_ALWAYS(ndjson_next(&n, &in, &line) == WIRE_TOO_LONG);
    in = SLICE("{}\n");
    CHECK_ALWAYS(ndjson_next(&n, &in, &line) == WIRE_TOO_LONG);
    CHECK_ALWAYS(ndjson_end(&n, &line) == WIRE_TOO_LONG);
    CHECK_ALWAYS(ndjson_next(&n, &in, &line) == WIRE_TOO_LONG);
    ndjson_release(&n);
}

/* With failing allocations, the output is the beginning of the expected one. */
static void without_memory_it_says_so(void)
{
    static const struct slice text = T("{\"a\":1}\r\n\n{\"b\":2}\n{\"c\":3}");
    static const struct slice want = T("<{\"a\":1}><{\"b\":2}><{\"c\":3}>.");
    char told[64] = { 0 };
    size_t len = 0;
    struct story t;
    begin_story(&t);
    tell_cut(text, 0, NULL, &t);
    if (!t.text.broken && t.text.len < sizeof told) {
        len = t.text.len;
        memcpy(told, t.text.ptr, len);
    }
    end_story(&t);
    bool lost = len && told[len - 1] == 'N';
    CHECK_SLICE(((struct slice){ told, len }), want);
    CHECK_ALWAYS(!memcmp(told, want.ptr, lost ? len - 1 : len));
}

static void sixteen_mebibytes_are_the_limit(void)
{
    char *text = malloc(WIRE_LIMIT + 2);
    if (!text)
        return;
    memset(text, 'x', WIRE_LIMIT + 1);
    text[WIRE_LIMIT + 1] = '\n';
    struct ndjson n;
    struct slice in = { text + 1, WIRE_LIMIT + 1 }, line;
    ndjson_init(&n, mem_default(), 0);
    CHECK(ndjson_next(&n, &in, &line) == WIRE_FRAME);
    CHECK_INT(line.len, WIRE_LIMIT);
    ndjson_release(&n);

    in = (struct slice){ text, WIRE_LIMIT + 1 };
    ndjson_init(&n, mem_default(), 0);
    CHECK(ndjson_next(&n, &in, &line) == WIRE_TOO_LONG);
    ndjson_release(&n);
    free(text);
}

/* ----------------------------------------------------------- a property --- */

static bool is_space(struct slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] != ' ' && s.ptr[i] != '\t' && s.ptr[i] != '\r')
            return false;
    return true;
}

/* A second cutter, which sees the whole text at once. */
static void model_tell(struct slice text, size_t limit, struct story *t)
{
    for (bool first = true; text.len; first = false) {
        size_t n = 0;
        while (n < text.len && text.ptr[n] != '\n')
            n++;
        struct slice line = { text.ptr, n };
        text = slice_skip(text, n < text.len ? n + 1 : n);
        if (line.len > limit) {
            tell_end(t, WIRE_TOO_LONG);
            return;
        }
        if (first && slice_starts(line, SLICE("\xEF\xBB\xBF")))
            line = slice_skip(line, 3);
        if (line.len && line.ptr[line.len - 1] == '\r')
            line.len--;
        if (!is_space(line))
            tell_line(t, line);
    }
    tell_end(t, WIRE_END);
}

static size_t make_text(struct random r, char *text, size_t limit)
{
    static const struct slice words[] = {
        T("\n"), T("\n"), T("\r"), T("\r\n"), T("{"), T("}"), T("\"a\":1"),
        T(" "), T("\t"), T("\0"), T("\xEF\xBB\xBF"), T("\xEF"), T("x"),
    };
    size_t count = random_below(r, 16), len = 0;
    while (count-- > 0) {
        struct slice w = words[random_below(r, sizeof words / sizeof *words)];
        if (len + w.len > limit)
            break;
        memcpy(text + len, w.ptr, w.len);
        len += w.len;
    }
    return len;
}

/* Valgrind, which is slow, asks for a light run. */
static int rounds(void)
{
    const char *how = getenv("ALLM_TORTURE");
    return how && !strcmp(how, "light") ? 10000 : 200000;
}

static void any_split_gives_the_same_lines(void)
{
    struct random r = check_random();
    struct story model, split;
    begin_story(&model);
    begin_story(&split);
    for (int i = rounds(); i > 0; i--) {
        char text[96], cuts[96];
        struct slice s = { text, make_text(r, text, sizeof text) };
        size_t limit = random_below(r, 4) ? 96 : 1 + random_below(r, 12);
        uint64_t one_in = 1 + random_below(r, 8);
        for (size_t k = 0; k < s.len; k++)
            cuts[k] = random_below(r, one_in) == 0;
        buf_clear(&model.text);
        buf_clear(&split.text);
        model_tell(s, limit, &model);
        tell_cut(s, limit, cuts, &split);
        if (!CHECK_SLICE(buf_slice(&split.text), buf_slice(&model.text)))
            break;
    }
    end_story(&model);
    end_story(&split);
}

TESTS = {
    TEST_ONCE(follows_the_rules_at_every_cut),
    TEST(a_line_in_the_input_is_not_copied),
    TEST(at_rest_it_owns_nothing),
    TEST(after_the_end_there_is_nothing),
    TEST(what_is_lost_stays_lost),
    TEST(without_memory_it_says_so),
    TEST_ONCE(sixteen_mebibytes_are_the_limit),
    TEST_ONCE(any_split_gives_the_same_lines),
    TESTS_END
};
