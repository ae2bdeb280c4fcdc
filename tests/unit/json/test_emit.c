/* test_emit.c - write JSON text from the outermost container inwards */
#include "json/emit.h"

#include "harness/check.h"
#include "random_value.h"
#include "json/json.h"
#include "json/write.h"

#include <float.h>
#include <math.h>

struct sheet {
    struct arena arena;
    struct buf out;
    struct emit emit;
};

static void begin(struct sheet *s, size_t limit)
{
    arena_init(&s->arena, mem_default());
    buf_init(&s->out, &s->arena, limit);
    emit_init(&s->emit, &s->out);
}

static void end(struct sheet *s, const char *want)
{
    CHECK_SLICE(buf_slice(&s->out), slice_of(want));
    CHECK_ALWAYS(!s->out.ptr || s->out.ptr[s->out.len] == '\0');
    arena_release(&s->arena);
}

static void puts_commas_between(void)
{
    struct sheet s;
    begin(&s, 4096);
    emit_open(&s.emit, '{');
    emit_name(&s.emit, SLICE("a"));
    emit_open(&s.emit, '[');
    emit_int(&s.emit, -1);
    emit_uint(&s.emit, UINT64_MAX);
    emit_bool(&s.emit, true);
    emit_bool(&s.emit, false);
    emit_null(&s.emit);
    emit_close(&s.emit, ']');
    emit_key(&s.emit, SLICE("b\n"));
    emit_open(&s.emit, '{');
    emit_close(&s.emit, '}');
    emit_name(&s.emit, SLICE("c"));
    emit_open(&s.emit, '[');
    emit_open(&s.emit, '[');
    emit_close(&s.emit, ']');
    emit_word(&s.emit, "w");
    emit_text(&s.emit, SLICE("\"\0"));
    emit_value(&s.emit, json_empty_array());
    emit_raw(&s.emit, SLICE("[7]"));
    emit_close(&s.emit, ']');
    emit_name(&s.emit, SLICE("d"));
    emit_value(&s.emit, json_null());
    emit_close(&s.emit, '}');
    end(&s, "{\"a\":[-1,18446744073709551615,true,false,null],\"b\\n\":{},"
            "\"c\":[[],\"w\",\"\\\"\\u0000\",[],[7]],\"d\":null}");
}

static void writes_numbers(void)
{
    static const struct {
        double number;
        const char *text;
    } rows[] = {
        { 0, "0.0" },
        { -0.0, "-0.0" },
        { 1, "1.0" },
        { 0.1, "0.1" },
        { -2.5, "-2.5" },
        { 1e300, "1e300" },
        { DBL_MAX, "1.7976931348623157e308" },
        { 5e-324, "5e-324" },
        { INFINITY, "null" },
        { -INFINITY, "null" },
        { NAN, "null" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sheet s;
        check_row(rows[i].text);
        begin(&s, 4096);
        emit_number(&s.emit, rows[i].number);
        end(&s, rows[i].text);
    }
}

static void writes_integers(void)
{
    struct sheet s;
    begin(&s, 4096);
    emit_open(&s.emit, '[');
    emit_int(&s.emit, INT64_MIN);
    emit_int(&s.emit, INT64_MAX);
    emit_int(&s.emit, 0);
    emit_uint(&s.emit, 0);
    emit_close(&s.emit, ']');
    end(&s, "[-9223372036854775808,9223372036854775807,0,0]");
}

/* A label needs no more room than its bytes. */
static void writes_labels_to_the_limit(void)
{
    static const struct emit_label label = EMIT_LABEL("key");
    const char *const text = "\"key\":null,\"key\":null";
    for (size_t limit = 0; limit < 90; limit++) {
        struct sheet s;
        begin(&s, limit);
        emit_label_null(&s.emit, &label);
        emit_label(&s.emit, &label);
        emit_null(&s.emit);
        CHECK(s.out.broken == (limit < strlen(text)));
        if (!s.out.broken)
            CHECK_ALWAYS(!strcmp(s.out.ptr, text));
        arena_release(&s.arena);
    }
}

static void breaks_at_the_limit(void)
{
    for (size_t limit = 0; limit < 12; limit++) {
        struct sheet s;
        begin(&s, limit);
        emit_open(&s.emit, '[');
        emit_text(&s.emit, SLICE("a\nb"));
        emit_int(&s.emit, 123);
        emit_close(&s.emit, ']');           /* ["a\nb",123] */
        CHECK_ALWAYS(s.out.broken);
        CHECK_ALWAYS(s.out.len <= limit);
        arena_release(&s.arena);
    }
    struct sheet s;
    begin(&s, 12);
    emit_open(&s.emit, '[');
    emit_text(&s.emit, SLICE("a\nb"));
    emit_int(&s.emit, 123);
    emit_close(&s.emit, ']');
    end(&s, "[\"a\\nb\",123]");
}

static void breaks_at_no_value(void)
{
    struct sheet s;
    begin(&s, 4096);
    emit_value(&s.emit, NULL);
    CHECK_ALWAYS(s.out.broken);
    emit_null(&s.emit);
    CHECK_INT(s.out.len, 0);
    arena_release(&s.arena);
}

/* A text alone is written as the writer of values writes it. */
static void writes_texts_as_values(void)
{
    struct random r = check_random();
    for (int i = 0; i < 2000; i++) {
        struct sheet s;
        struct build b;
        struct buf other;
        begin(&s, SIZE_MAX / 2);
        struct slice text = random_text(&s.arena, r);
        build_init(&b, &s.arena);
        build_text(&b, text);
        buf_init(&other, &s.arena, SIZE_MAX / 2);
        json_write(&other, build_done(&b), 0);
        emit_text(&s.emit, text);
        CHECK_SLICE(buf_slice(&s.out), buf_slice(&other));
        arena_release(&s.arena);
    }
}

TESTS = {
    TEST(puts_commas_between),
    TEST(writes_numbers),
    TEST(writes_integers),
    TEST(writes_labels_to_the_limit),
    TEST(breaks_at_the_limit),
    TEST(breaks_at_no_value),
    TEST_ONCE(writes_texts_as_values),
    TESTS_END,
};
