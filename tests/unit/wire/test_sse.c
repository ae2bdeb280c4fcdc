/*
 * test_sse.c - server-sent events: whole, split anywhere, byte by byte
 *
 * The frames of a text are written as one line:
 *
 *      E<name>data;        an event            E#id<name>data;  with an id
 *      X<name>data;        an error field
 *      K<name>data;        no content          !  in front: unended
 *      .  the end          L  too long         N  no memory
 *
 * Each piece of the input is in a block of exactly its size, which is freed
 * as soon as it is used up: so the sanitizer sees a slice that is kept too
 * long.  S-numbers are the rules of the provider contract, Q-numbers its
 * quirks.
 */
#include "wire/sse.h"

#include "harness/check.h"

#include <stdlib.h>

/* -------------------------------------------------------------- telling --- */

struct story {
    struct arena arena;
    struct buf text;
};

static void begin_story(struct story *t)
{
    arena_init(&t->arena, mem_default());
    buf_init(&t->text, &t->arena, 1 << 26);
}

static void end_story(struct story *t)
{
    arena_release(&t->arena);
}

static void tell_frame(struct story *t, const struct sse_frame *f)
{
    static const char kinds[] = { 'E', 'X', 'K' };
    if (f->unended)
        buf_byte(&t->text, '!');
    buf_byte(&t->text, kinds[f->kind]);
    if (f->id.len) {
        buf_byte(&t->text, '#');
        buf_add(&t->text, f->id);
    }
    buf_byte(&t->text, '<');
    buf_add(&t->text, f->name);
    buf_byte(&t->text, '>');
    buf_add(&t->text, f->data);
    buf_byte(&t->text, ';');
}

static void tell_end(struct story *t, enum wire_result result)
{
    buf_byte(&t->text, "MF.LN"[result]);
}

/* -------------------------------------------------------------- feeding --- */

/* Feed one piece, in a new block; false if the stream is lost. */
static bool feed(struct sse *s, struct slice piece, struct story *t)
{
    char *block = malloc(piece.len ? piece.len : 1);
    if (!block)
        return false;
    if (piece.len)
        memcpy(block, piece.ptr, piece.len);
    struct slice in = { block, piece.len };
    struct sse_frame f;
    enum wire_result result;
    while ((result = sse_next(s, &in, &f)) == WIRE_FRAME) {
        tell_frame(t, &f);
        memset(block, '?', piece.len - in.len);     /* used up */
    }
    if (result == WIRE_MORE)
        CHECK_ALWAYS(in.len == 0);
    else
        tell_end(t, result);
    free(block);
    return result == WIRE_MORE;
}

static void end(struct sse *s, struct story *t)
{
    struct sse_frame f;
    enum wire_result result;
    while ((result = sse_end(s, &f)) == WIRE_FRAME)
        tell_frame(t, &f);
    tell_end(t, result);
    CHECK_ALWAYS(sse_end(s, &f) == result);     /* it stays so */
}

/* Cut before each byte that has a 1 in `cuts`; cuts NULL: before each.  An
 * empty read goes before each piece. */
static void feed_cut(struct sse *s, struct slice text, const char *cuts,
                     struct story *t)
{
    size_t from = 0;
    for (size_t i = 1; i <= text.len; i++) {
        if (i < text.len && cuts && !cuts[i])
            continue;
        struct slice piece = { text.ptr + from, i - from };
        if (!feed(s, SLICE(""), t) || !feed(s, piece, t))
            return;
        from = i;
    }
    end(s, t);
}

struct limits {
    size_t line, event;
};

static void tell_cut(struct slice text, struct limits l, const char *cuts,
                     struct story *t)
{
    struct sse s;
    sse_init(&s, mem_default(), l.line, l.event);
    feed_cut(&s, text, cuts, t);
    sse_release(&s);
    CHECK_ALWAYS(arena_held(&s.arena) == 0);
}

/* Whole, cut in two at every place, byte by byte. */
static void check_everywhere(struct slice text, struct limits l,
                             struct slice want)
{
    char cuts[512] = { 0 };
    for (size_t at = 0; at <= text.len && at < sizeof cuts; at++) {
        struct story t;
        begin_story(&t);
        cuts[at] = 1;
        tell_cut(text, l, at < text.len ? cuts : NULL, &t);
        cuts[at] = 0;
        CHECK_SLICE(buf_slice(&t.text), want);
        end_story(&t);
    }
}

/* --------------------------------------------------------------- tables --- */

struct row {
    const char *why;
    struct slice text;
    struct slice frames;
};

#define T(literal) { (literal), sizeof(literal) - 1 }

static const struct row rows[] = {
    { "nothing", T(""), T(".") },
    { "one event", T("data: x\n\n"), T("E<>x;.") },
    { "two events", T("data: x\n\ndata: y\n\n"), T("E<>x;E<>y;.") },
    { "a name", T("event: n\ndata: x\n\n"), T("E<n>x;.") },
    { "a name is for one event only", T("event: n\ndata: x\n\ndata: y\n\n"),
      T("E<n>x;E<>y;.") },

    { "S1 (Q020): bytes, not characters; a cut inside one does no harm",
      T("data: \xC3\xA4\xF0\x9F\x98\x80\n\n"),
      T("E<>\xC3\xA4\xF0\x9F\x98\x80;.") },
    { "S1: malformed UTF-8 goes through", T("data: \xFF\xC3\n\n"),
      T("E<>\xFF\xC3;.") },
    { "S1: U+0085 and U+2028 end no line", T("data: \xC2\x85 \xE2\x80\xA8\n\n"),
      T("E<>\xC2\x85 \xE2\x80\xA8;.") },

    { "S2 (Q004): CRLF", T("event: n\r\ndata: x\r\n\r\n"), T("E<n>x;.") },
    { "S2 (Q007): CR alone", T("event: n\rdata: x\r\rdata: y\r\r"),
      T("E<n>x;E<>y;.") },
    { "S2 (Q005): CRLF inside an event of several lines",
      T("data: x\r\ndata: y\r\n\r\n"), T("E<>x\ny;.") },
    { "S2 (Q006): CRLF behind the name", T("event: n\r\ndata: x\n\n"),
      T("E<n>x;.") },
    { "S2: mixed", T("data: a\r\ndata: b\rdata: c\n\r\n"), T("E<>a\nb\nc;.") },
    { "S2: LF CR are two ends", T("data: a\n\rdata: b\n\r"), T("E<>a;E<>b;.") },
    { "S2: CR CR LF is a line and a blank one", T("data: a\r\r\ndata: b\n\n"),
      T("E<>a;E<>b;.") },
    { "S2: one LF is swallowed, not two", T("data: a\r\n\ndata: b\n\n"),
      T("E<>a;E<>b;.") },
    { "S2 (Q008): the end on a lone CR", T("data: x\r"), T("!E<>x;.") },
    { "S2: the end on CRLF", T("data: x\r\n"), T("!E<>x;.") },
    { "S2: the end on two CRs", T("data: x\r\r"), T("E<>x;.") },
    { "S2: the end on CRLF CR", T("data: x\r\n\r"), T("E<>x;.") },

    { "S3 (Q009): a byte order mark at the start",
      T("\xEF\xBB\xBF"
        "data: x\n\n"),
      T("E<>x;.") },
    { "S3: before a comment", T("\xEF\xBB\xBF: c\n\n"), T("K<>c;.") },
    { "S3: alone in its line", T("\xEF\xBB\xBF\ndata: x\n\n"), T("E<>x;.") },
    { "S3: alone", T("\xEF\xBB\xBF"), T(".") },
    { "S3: one is stripped, not two",
      T("\xEF\xBB\xBF\xEF\xBB\xBF"
        "data: x\n\ndata: y\n\n"),
      T("K<>;E<>y;.") },
    { "S3 (Q010): later it is content", T("data: \xEF\xBB\xBFx\n\n"),
      T("E<>\xEF\xBB\xBFx;.") },
    { "S3: not behind a blank line",
      T("\n\xEF\xBB\xBF"
        "data: x\n\ndata: y\n\n"),
      T("K<>;E<>y;.") },
    { "S3: two of its three bytes are not one",
      T("\xEF\xBB"
        "data: x\n\ndata: y\n\n"),
      T("K<>;E<>y;.") },

    { "S4 (Q011): no space", T("data:x\n\n"), T("E<>x;.") },
    { "S4 (Q011): two spaces", T("data:  x\n\n"), T("E<> x;.") },
    { "S4: a tab is no space", T("data:\tx\n\n"), T("E<>\tx;.") },
    { "S4: spaces behind", T("data: x \n\n"), T("E<>x ;.") },
    { "S4: the first colon", T("data: a:b: c\n\n"), T("E<>a:b: c;.") },
    { "S4: the value begins with a colon", T("data::\n\n"), T("E<>:;.") },
    { "S4: space before the colon is part of the name",
      T("data : x\n\ndata: y\n\n"), T("K<>;E<>y;.") },
    { "S4: space before the name, too", T(" data: x\n\ndata: y\n\n"),
      T("K<>;E<>y;.") },
    { "S4: names are lower case", T("Data: x\n\n"), T("K<>;.") },
    { "S4 (Q001): comments", T(": OPENROUTER PROCESSING\n\n: ping\n\n"),
      T("K<>OPENROUTER PROCESSING;K<>ping;.") },
    { "S4: an empty comment", T(":\n\n"), T("K<>;.") },
    { "S4: a comment without space", T(":keep-alive\n"), T("K<>keep-alive;.") },
    { "S4: a comment before the data", T(": c\ndata: x\n\n"),
      T("K<>c;E<>x;.") },
    { "S4: a comment in the middle of an event",
      T("event: n\ndata: x\n: c\ndata: y\nid: 1\n: d\n\n"),
      T("K<>c;K<>d;E#1<n>x\ny;.") },
    { "S4: a comment that looks like data", T(":data: x\n\n"),
      T("K<>data: x;.") },
    { "S4: no colon at all", T("data\nevent\nx\n\n"), T("K<>;.") },

    { "S5 (Q012): several lines of data",
      T("data: {\ndata:   \"a\": 1\ndata: }\n\n"), T("E<>{\n  \"a\": 1\n};.") },
    { "S5: an empty line between", T("data: x\ndata:\ndata: y\n\n"),
      T("E<>x\n\ny;.") },
    { "S5: empty first and last", T("data:\ndata: x\ndata:\n\n"),
      T("E<>\nx\n;.") },
    { "S5: two empty lines are one LF (as the standard has it)",
      T("data\ndata\n\n"), T("E<>\n;.") },
    { "S5: the last name counts", T("event: a\nevent: b\ndata: x\n\n"),
      T("E<b>x;.") },
    { "S5: and may be empty", T("event: a\nevent:\ndata: x\n\n"), T("E<>x;.") },
    { "S5 (Q014): data before the name", T("data: x\nevent: n\n\n"),
      T("E<n>x;.") },
    { "S5 (Q015): id and retry change nothing",
      T("id: 7\nretry: 100\ndata: x\n\n"), T("E#7<>x;.") },
    { "S5: the last id counts, for one event",
      T("id: 7\nid: 8\ndata: x\n\ndata: y\n\n"), T("E#8<>x;E<>y;.") },

    { "S6 (Q016): the field error", T("error: {\"code\":500}\n\n"),
      T("X<>{\"code\":500};.") },
    { "S6 (Q016): and [DONE] behind it", T("error: {}\n\ndata: [DONE]\n\n"),
      T("X<>{};E<>[DONE];.") },
    { "S6 (Q162): the end behind it", T("error: {}\n"), T("!X<>{};.") },
    { "S6: several lines", T("error: a\nerror: b\n\n"), T("X<>a\nb;.") },
    { "S6: empty, but an error", T("error\n\n"), T("X<>;.") },
    { "S6: beside data: both, the data first",
      T("error: e\ndata: x\nevent: n\nid: 1\n\ndata: y\n\n"),
      T("E#1<n>x;X#1<n>e;E<>y;.") },
    { "S6: beside data, at the end", T("data: x\nerror: e"),
      T("!E<>x;!X<>e;.") },
    { "S6: beside empty data", T("data:\nerror: e\n\n"), T("X<>e;.") },
    { "S6 (Q161): an event of this name is an event",
      T("event: error\ndata: {}\n\n"), T("E<error>{};.") },
    { "S6: other fields are nothing",
      T("foo: 1\ndata: x\nbar\ndatax: y\ndat: z\n\n"), T("E<>x;.") },

    { "S7 (Q002): a name alone", T("event: ping\n\ndata: x\n\n"),
      T("K<ping>;E<>x;.") },
    { "S7 (Q003): empty data", T("data:\n\ndata: \n\ndata: x\n\n"),
      T("K<>;K<>;E<>x;.") },
    { "S7 (Q013): the bare word data", T("data\n\n"), T("K<>;.") },
    { "S7: named, with empty data", T("event: n\ndata:\n\ndata: x\n\n"),
      T("K<n>;E<>x;.") },
    { "S7: an id alone", T("id: 1\n\ndata: x\n\n"), T("K#1<>;E<>x;.") },
    { "S7 (Q163): blank lines in front", T("\n\n\r\n\rdata: x\n\n"),
      T("E<>x;.") },
    { "S7: blank lines behind", T("data: x\n\n\n\n"), T("E<>x;.") },

    { "S8 (Q017): the blank line is missing", T("data: x\n"), T("!E<>x;.") },
    { "S8: the line end, too", T("event: n\ndata: x"), T("!E<n>x;.") },
    { "S8: only the last one is unended", T("data: x\n\ndata: y"),
      T("E<>x;!E<>y;.") },
    { "S8 (Q018): cut in the middle of its JSON", T("data: {\"a\":"),
      T("!E<>{\"a\":;.") },
    { "S8: cut behind a line of several", T("data: {\ndata: "),
      T("!E<>{\n;.") },
    { "S8: cut in a field's name is no data", T("data: x\nda"), T("!E<>x;.") },
    { "S8: nothing of it is data", T("event: n\nid: 3"), T(".") },
    { "S8: a comment is nothing", T(": pi"), T(".") },
    { "S8: a comment behind data", T("data: x\n: pi"), T("!E<>x;.") },
    { "S8: the beginning of a byte order mark", T("\xEF\xBB"), T(".") },

    { "S9: [DONE] is not ours", T("data: [DONE]\n\ndata:[DONE] \n\n"),
      T("E<>[DONE];E<>[DONE] ;.") },
    { "S9 (Q165): named", T("event: data\ndata: [DONE]\n\n"),
      T("E<data>[DONE];.") },

    { "Q024: NUL is a byte", T("data: a\0b\n\n"), T("E<>a\0b;.") },
    { "Q030: the same again is given again", T("data: x\n\ndata: x\n\n"),
      T("E<>x;E<>x;.") },
};

static void follows_the_rules_at_every_cut(void)
{
    const struct limits none = { 0, 0 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        check_everywhere(rows[i].text, none, rows[i].frames);
    }
}

static void holds_its_limits_at_every_cut(void)
{
    static const struct {
        const char *why;
        struct slice text;
        struct limits limits;
        const char *frames;
    } cases[] = {
        { "S10: a line as long as allowed", T("data: abcd\n\n"), { 10, 4 },
          "E<>abcd;." },
        { "S10: one byte more", T("data: abcde\n\n"), { 10, 99 }, "L" },
        { "S10: unended, as long as allowed", T("data: abcd"), { 10, 99 },
          "!E<>abcd;." },
        { "S10: unended, one byte more", T("data: abcde"), { 10, 99 }, "L" },
        { "S10: what came before is given",
          T("data: x\n\ndata: abcde\n\ndata: y\n\n"), { 10, 99 },
          "E<>x;L" },
        { "S10: CR and LF do not count", T("data: abcd\r\n\r\n"), { 10, 4 },
          "E<>abcd;." },
        { "S10: a byte order mark does", T("\xEF\xBB\xBF" "data: abcd\n\n"),
          { 13, 4 }, "E<>abcd;." },
        { "S10: a byte order mark does, beyond",
          T("\xEF\xBB\xBF" "data: abcd\n\n"), { 12, 4 }, "L" },
        { "S10: comments are lines", T(": abcdefgh\n: abcdefghi\n"),
          { 10, 99 }, "K<>abcdefgh;L" },
        { "S10: unknown fields are lines", T("foooooooooo\n\n"), { 10, 99 },
          "L" },
        { "S10: an event as long as allowed", T("data: ab\ndata: cd\n\n"),
          { 99, 5 }, "E<>ab\ncd;." },
        { "S10: one byte more, by its LF", T("data: ab\ndata: cd\n\n"),
          { 99, 4 }, "L" },
        { "S10: one byte more in its first line", T("data: abcde\n\n"),
          { 99, 4 }, "L" },
        { "S10: each event counts for itself",
          T("data: abcd\n\ndata: efgh\n\n"), { 99, 4 },
          "E<>abcd;E<>efgh;." },
        { "S10: the name counts", T("event: n\ndata: abcd\n\n"), { 99, 4 },
          "L" },
        { "S10: so do id and error",
          T("id: 1\nevent: n\ndata: a\nerror: e\n\n"), { 99, 4 },
          "E#1<n>a;X#1<n>e;." },
        { "S10: so do id and error, beyond",
          T("id: 1\nevent: n\nerror: e\ndata: ab\n\n"), { 99, 4 }, "L" },
        { "S10: a name that is replaced counts no more",
          T("event: abcd\nevent: efgh\nevent: n\ndata: abc\n\n"), { 99, 4 },
          "E<n>abc;." },
        { "S10: data without end, without a blank line",
          T("data: a\ndata: b\ndata: c\ndata: d\ndata: e\ndata: f\n"),
          { 99, 9 }, "L" },
        { "S10: other fields may go on for ever",
          T("x: aaaa\nx: bbbb\nx: cccc\nretry: 1\nevent: n\nevent: m\n\n"),
          { 99, 2 }, "K<m>;." },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_row(cases[i].why);
        check_everywhere(cases[i].text, cases[i].limits,
                         slice_of(cases[i].frames));
    }
}

/* ------------------------------------------------------- single matters --- */

static void a_frame_in_the_input_is_not_copied(void)
{
    static const char text[] = ": c\nid: 1\nevent: n\r\ndata: x\n\n"
                               "data: y\r\r";
    struct slice in = T(text);
    struct sse_frame f;
    struct sse s;
    sse_init(&s, mem_default(), 0, 0);
    CHECK_ALWAYS(sse_next(&s, &in, &f) == WIRE_FRAME);
    CHECK_ALWAYS(f.data.ptr == text + 2);
    CHECK_ALWAYS(sse_next(&s, &in, &f) == WIRE_FRAME);
    CHECK_ALWAYS(f.data.ptr == text + 26);
    CHECK_ALWAYS(f.name.ptr == text + 17);
    CHECK_ALWAYS(f.id.ptr == text + 8);
    CHECK_ALWAYS(sse_next(&s, &in, &f) == WIRE_FRAME);
    CHECK_ALWAYS(f.data.ptr == text + 35);
    CHECK_ALWAYS(sse_next(&s, &in, &f) == WIRE_MORE);
    CHECK_ALWAYS(check_allocations() == 0);
    sse_release(&s);
}

static void at_rest_it_owns_nothing(void)
{
    struct story t;
    struct sse s;
    begin_story(&t);
    sse_init(&s, mem_default(), 0, 0);
    feed(&s, SLICE("data: a"), &t);
    CHECK(arena_held(&s.arena) > 0);
    feed(&s, SLICE("b\n"), &t);
    CHECK(arena_held(&s.arena) > 0);
    feed(&s, SLICE("\n"), &t);
    CHECK(arena_held(&s.arena) == 0);
    feed(&s, SLICE("event: n\n"), &t);
    CHECK(arena_held(&s.arena) > 0);
    feed(&s, SLICE("\n: c\r"), &t);
    CHECK(arena_held(&s.arena) == 0);
    feed(&s, SLICE("\ndata: c\r\n\r\nd"), &t);
    CHECK(arena_held(&s.arena) > 0);
    end(&s, &t);
    CHECK(arena_held(&s.arena) == 0);
    CHECK_SLICE(buf_slice(&t.text), SLICE("E<>ab;K<n>;K<>c;E<>c;."));
    sse_release(&s);
    end_story(&t);
}

/* Lines that are cut again and again do not add up. */
static void memory_is_bounded_for_an_endless_event(void)
{
    struct story t;
    struct sse s;
    begin_story(&t);
    sse_init(&s, mem_default(), 100, 100);
    for (int i = 0; i < 2000; i++) {
        feed(&s, SLICE("event: some"), &t);
        feed(&s, SLICE("thing\nid: 1"), &t);
        feed(&s, SLICE("23\n: c\nfoo"), &t);
        feed(&s, SLICE(": bar\n"), &t);
        buf_clear(&t.text);
    }
    CHECK(arena_held(&s.arena) <= 2048);
    feed(&s, SLICE("data: x\n\n"), &t);
    CHECK_SLICE(buf_slice(&t.text), SLICE("E#123<something>x;"));
    sse_release(&s);
    end_story(&t);
}

static void notes_the_retry_field(void)
{
    static const struct {
        const char *why;
        const char *text;
        int64_t ms;
    } cases[] = {
        { "none", "data: x\n\n", -1 },
        { "digits", "retry: 1500\n", 1500 },
        { "the last one", "retry: 1\nretry:2\n\n", 2 },
        { "not a number", "retry: 5\nretry: soon\n", 5 },
        { "negative", "retry: -1\n", -1 },
        { "a fraction", "retry: 1.5\n", -1 },
        { "empty", "retry\nretry:\n", -1 },
        { "the largest", "retry: 999999999999999\n", 999999999999999 },
        { "too large", "retry: 1000000000000000\n", -1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct story t;
        struct sse s;
        check_row(cases[i].why);
        begin_story(&t);
        sse_init(&s, mem_default(), 0, 0);
        feed(&s, slice_of(cases[i].text), &t);
        CHECK_INT(s.retry_ms, cases[i].ms);
        sse_release(&s);
        end_story(&t);
    }
}

static void after_the_end_there_is_nothing(void)
{
    struct slice in = SLICE("data: x\n\n");
    struct sse_frame f;
    struct sse s;
    sse_init(&s, mem_default(), 0, 0);
    CHECK_ALWAYS(sse_end(&s, &f) == WIRE_END);
    CHECK_ALWAYS(sse_next(&s, &in, &f) == WIRE_END);
    CHECK_ALWAYS(f.data.len == 0);
    CHECK_ALWAYS(in.len == 9);
    sse_release(&s);
}

static void what_is_lost_stays_lost(void)
{
    struct slice in = SLICE("data: too long\n\ndata: x\n\n");
    struct sse_frame f;
    struct sse s;
    sse_init(&s, mem_default(), 10, 0);
    CHECK_ALWAYS(sse_next(&s, &in, &f) == WIRE_TOO_LONG);
    CHECK_ALWAYS(sse_next(&s, &in, &f) == WIRE_TOO_LONG);
    in = SLICE("data: x\n\n");
    CHECK_ALWAYS(sse_next(&s, &in, &f) == WIRE_TOO_LONG);
    CHECK_ALWAYS(sse_end(&s, &f) == WIRE_TOO_LONG);
    CHECK_ALWAYS(sse_next(&s, &in, &f) == WIRE_TOO_LONG);
    sse_release(&s);
}

/* The torture run: whatever fails, what was told is the beginning of what
 * should be, and then that there is no memory. */
static void check_without_memory(const char *cuts)
{
    static const struct slice text = T(
        "\xEF\xBB\xBF: c\r\nevent: name\r\nid: 12\r\ndata: some text\r\n"
        ": d\ndata: more text\nerror: an error\n\ndata: x\n\ndata: last");
    static const struct slice want = T(
        "K<>c;K<>d;E#12<name>some text\nmore text;X#12<name>an error;"
        "E<>x;!E<>last;.");
    char told[256] = { 0 };
    size_t len = 0;
    struct sse s;
    struct story t;
    sse_init(&s, mem_default(), 0, 0);
    begin_story(&t);
    feed_cut(&s, text, cuts, &t);
    if (!t.text.broken && t.text.len < sizeof told) {
        len = t.text.len;
        memcpy(told, t.text.ptr, len);
    }
    end_story(&t);
    sse_release(&s);
    bool lost = len && told[len - 1] == 'N';
    CHECK_SLICE(((struct slice){ told, len }), want);
    CHECK_ALWAYS(!memcmp(told, want.ptr, lost ? len - 1 : len));
}

static void without_memory_it_says_so(void)
{
    static const char nowhere[256];
    check_without_memory(NULL);
    check_without_memory(nowhere);
}

/* The second line of data is the first that needs memory. */
static void joining_lines_needs_memory(void)
{
    struct slice in = SLICE("data: x\ndata: y\n\n");
    struct sse_frame f;
    struct sse s;
    sse_init(&s, mem_default(), 0, 0);
    enum wire_result result = sse_next(&s, &in, &f);
    CHECK(result == WIRE_FRAME);
    CHECK_ALWAYS(result == (check_whole() ? WIRE_FRAME : WIRE_NOMEM));
    sse_release(&s);
}

/* It may also be lacking later, when there is some already. */
static void long_lines_need_more_memory(void)
{
    enum { LEN = 5000 };
    static char text[4 * LEN];
    struct slice in = { text, 0 };
    for (int i = 0; i < 3; i++) {
        memcpy(text + in.len, "data: ", 6);
        memset(text + in.len + 6, 'x', LEN);
        text[in.len + 6 + LEN] = '\n';
        in.len += LEN + 7;
    }
    text[in.len++] = '\n';
    struct sse_frame f;
    struct sse s;
    sse_init(&s, mem_default(), 0, 0);
    enum wire_result result = sse_next(&s, &in, &f);
    CHECK_ALWAYS(result == (check_whole() ? WIRE_FRAME : WIRE_NOMEM));
    CHECK_ALWAYS(f.data.len == (check_whole() ? 3 * LEN + 2 : 0));
    sse_release(&s);
}

/* ----------------------------------------------------------- a property --- */

/*
 * A second decoder, which sees the whole text at once: slow and plain.  It
 * must tell the same story.
 */
struct model {
    struct slice name, id;
    char data[256], error[256];
    size_t data_len, error_len;
    bool has_data, has_error, any;
    struct limits limits;
    bool too_long;
};

static struct slice model_data(const struct model *m)
{
    return (struct slice){ m->data, m->data_len };
}

static void model_give(struct model *m, bool unended, struct story *t)
{
    struct sse_frame f = { SSE_EVENT, m->name, model_data(m), m->id, unended };
    if (m->data_len)
        tell_frame(t, &f);
    f.kind = SSE_ERROR;
    f.data = (struct slice){ m->error, m->error_len };
    if (m->has_error)
        tell_frame(t, &f);
    f.kind = SSE_KEEPALIVE;
    f.data = SLICE("");
    if (!m->data_len && !m->has_error && m->any && !unended)
        tell_frame(t, &f);
    *m = (struct model){ .limits = m->limits };
}

static void model_append(char *to, size_t *len, bool *has, struct slice v)
{
    if (*has)
        to[(*len)++] = '\n';
    memcpy(to + *len, v.ptr, v.len);
    *len += v.len;
    *has = true;
}

static void model_line(struct model *m, struct slice line, bool unended,
                       struct story *t)
{
    size_t n = 0;
    while (n < line.len && line.ptr[n] != ':')
        n++;
    struct slice field = { line.ptr, n };
    struct slice v = slice_skip(line, n < line.len ? n + 1 : n);
    if (v.len && v.ptr[0] == ' ')
        v = slice_skip(v, 1);
    if (n == 0 && !unended) {
        struct sse_frame f = { SSE_KEEPALIVE, { "", 0 }, v, { "", 0 }, false };
        tell_frame(t, &f);
    }
    if (n)
        m->any = true;
    if (slice_is(field, "data"))
        model_append(m->data, &m->data_len, &m->has_data, v);
    if (slice_is(field, "error"))
        model_append(m->error, &m->error_len, &m->has_error, v);
    if (slice_is(field, "event"))
        m->name = v;
    if (slice_is(field, "id"))
        m->id = v;
    if (m->name.len + m->id.len + m->data_len + m->error_len > m->limits.event)
        m->too_long = true;
}

static size_t model_line_end(struct slice text)
{
    size_t n = 0;
    while (n < text.len && text.ptr[n] != '\r' && text.ptr[n] != '\n')
        n++;
    return n;
}

static void model_tell(struct slice text, struct limits l, struct story *t)
{
    struct model m = { .limits = l };
    bool first = true;
    while (text.len && !m.too_long) {
        size_t n = model_line_end(text);
        bool unended = n == text.len;
        struct slice line = { text.ptr, n };
        size_t end = unended ? 0 : 1;
        if (!unended && text.len > n + 1 && text.ptr[n] == '\r' &&
            text.ptr[n + 1] == '\n')
            end = 2;
        text = slice_skip(text, n + end);
        if (n > l.line) {
            m.too_long = true;
            break;
        }
        if (first && slice_starts(line, SLICE("\xEF\xBB\xBF")))
            line = slice_skip(line, 3);
        first = false;
        if (line.len)
            model_line(&m, line, unended, t);
        else if (!unended)
            model_give(&m, false, t);
    }
    if (m.too_long) {
        tell_end(t, WIRE_TOO_LONG);
        return;
    }
    model_give(&m, true, t);
    tell_end(t, WIRE_END);
}

/* Random words, of which many mean something. */
static size_t make_text(struct random r, char *text, size_t limit)
{
    static const struct slice words[] = {
        T("\n"),     T("\n"),      T("\r"),    T("\r\n"),    T("\n\n"),
        T("data"),   T("data:"),   T("data: "), T("data: x"), T("event: n"),
        T("event:"), T("id: 1"),   T("error:"), T("error: e"), T("retry: 5"),
        T(":"),      T(": c"),     T(" "),     T("\xEF\xBB\xBF"), T("\xEF"),
        T("\xBB"),   T("\0"),      T("x"),     T("\xC3\xA4"), T("[DONE]"),
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

static void cut_anywhere(struct random r, char *cuts, size_t len)
{
    uint64_t one_in = 1 + random_below(r, 8);
    for (size_t i = 0; i < len; i++)
        cuts[i] = random_below(r, one_in) == 0;
}

/* Valgrind, which is slow, asks for a light run. */
static int rounds(void)
{
    const char *how = getenv("ALLM_TORTURE");
    return how && !strcmp(how, "light") ? 10000 : 200000;
}

static void any_split_gives_the_same_frames(void)
{
    struct random r = check_random();
    struct story model, split;
    begin_story(&model);
    begin_story(&split);
    for (int i = rounds(); i > 0; i--) {
        char text[128], cuts[128];
        struct slice s = { text, make_text(r, text, sizeof text) };
        struct limits l = { 128, 128 };
        if (random_below(r, 4) == 0)
            l = (struct limits){ 1 + random_below(r, 30),
                                 1 + random_below(r, 20) };
        cut_anywhere(r, cuts, s.len);
        buf_clear(&model.text);
        buf_clear(&split.text);
        model_tell(s, l, &model);
        tell_cut(s, l, cuts, &split);
        if (!CHECK_SLICE(buf_slice(&split.text), buf_slice(&model.text)))
            break;
    }
    end_story(&model);
    end_story(&split);
}

/* ----------------------------------------------------------- large ones --- */

static char *large_text(const char *head, char fill, size_t len)
{
    size_t n = strlen(head);
    char *text = malloc(n + len);
    if (text) {
        memcpy(text, head, n);
        memset(text + n, fill, len);
    }
    return text;
}

/* Pieces of 64 KiB, as a transport brings them. */
static enum wire_result feed_large(struct sse *s, struct slice text,
                                   struct sse_frame *f)
{
    enum { PIECE = 64 * 1024 };
    enum wire_result result = WIRE_MORE;
    while (text.len && result == WIRE_MORE) {
        struct slice in = { text.ptr, text.len < PIECE ? text.len : PIECE };
        text = slice_skip(text, in.len);
        result = sse_next(s, &in, f);
    }
    return result;
}

static void sixteen_mebibytes_are_the_limit(void)
{
    enum { HEAD = 6 };
    char *text = large_text("data: ", 'x', WIRE_LIMIT);
    struct slice all = { text, WIRE_LIMIT };
    struct sse_frame f;
    struct sse s;
    if (!text)
        return;
    sse_init(&s, mem_default(), 0, 0);
    CHECK(feed_large(&s, all, &f) == WIRE_MORE);
    CHECK(sse_end(&s, &f) == WIRE_FRAME);
    CHECK_INT(f.data.len, WIRE_LIMIT - HEAD);
    CHECK(arena_held(&s.arena) <= 4 * (size_t)WIRE_LIMIT);
    sse_release(&s);

    all.len++;
    sse_init(&s, mem_default(), 0, 0);
    CHECK(feed_large(&s, all, &f) == WIRE_TOO_LONG);
    sse_release(&s);

    sse_init(&s, mem_default(), 0, 0);
    CHECK(sse_next(&s, &all, &f) == WIRE_TOO_LONG);
    sse_release(&s);
    free(text);
}

/* Two lines of data, joined by a line's end, and each within its own limit. */
static void events_of_sixteen_mebibytes_are_the_limit(void)
{
    enum { HALF = WIRE_LIMIT / 2 };
    char *line = large_text("data: ", 'x', HALF);
    if (!line)
        return;
    for (size_t beyond = 0; beyond <= 1; beyond++) {
        struct sse_frame f;
        struct sse s;
        struct slice first = { line, 6 + HALF }, end = SLICE("\n");
        struct slice second = { line, 6 + HALF - 1 + beyond };
        sse_init(&s, mem_default(), 0, 0);
        CHECK(feed_large(&s, first, &f) == WIRE_MORE);
        CHECK(sse_next(&s, &end, &f) == WIRE_MORE);
        CHECK(feed_large(&s, second, &f) == WIRE_MORE);
        enum wire_result result = sse_end(&s, &f);
        CHECK_INT(result, beyond ? WIRE_TOO_LONG : WIRE_FRAME);
        if (result == WIRE_FRAME)
            CHECK_INT(f.data.len, WIRE_LIMIT);
        sse_release(&s);
    }
    free(line);
}

/* Were each line searched to the end of the input for the end it has not,
 * this would take minutes. */
static void lines_that_end_in_cr_cost_no_more(void)
{
    enum { LEN = 2 * 1024 * 1024 };
    char *text = large_text("", '\r', LEN);
    if (!text)
        return;
    struct slice in = { text, LEN };
    struct sse_frame f;
    struct sse s;
    sse_init(&s, mem_default(), 0, 0);
    CHECK(sse_next(&s, &in, &f) == WIRE_MORE);
    sse_release(&s);
    free(text);
}

TESTS = {
    TEST_ONCE(follows_the_rules_at_every_cut),
    TEST_ONCE(holds_its_limits_at_every_cut),
    TEST(a_frame_in_the_input_is_not_copied),
    TEST(at_rest_it_owns_nothing),
    TEST_ONCE(memory_is_bounded_for_an_endless_event),
    TEST(notes_the_retry_field),
    TEST(after_the_end_there_is_nothing),
    TEST(what_is_lost_stays_lost),
    TEST(without_memory_it_says_so),
    TEST(joining_lines_needs_memory),
    TEST(long_lines_need_more_memory),
    TEST_ONCE(any_split_gives_the_same_frames),
    TEST_ONCE(sixteen_mebibytes_are_the_limit),
    TEST_ONCE(events_of_sixteen_mebibytes_are_the_limit),
    TEST_ONCE(lines_that_end_in_cr_cost_no_more),
    TESTS_END
};
