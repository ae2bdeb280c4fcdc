/* test_record.c - records: packing, sums, and texts that are damaged */
#include "store/record.h"

#include "harness/check.h"
#include "json/build.h"
#include "json/json.h"
#include "json/parse.h"
#include "json/write.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LONG = RECORD_BLOB_OVER + 1 };

/* ----------------------------------------------------- there and back --- */

static struct slice find_blob(void *ud, const char *hash)
{
    const struct record_blobs *blobs = ud;
    for (size_t i = 0; i < blobs->count; i++)
        if (!strcmp(blobs->list[i].hash, hash))
            return blobs->list[i].bytes;
    return (struct slice){ NULL, 0 };
}

static struct slice pack(struct arena *a, const allm_json *v,
                         struct record_blobs *blobs)
{
    struct buf text;
    struct emit e;
    *blobs = (struct record_blobs){ .arena = a };
    buf_init(&text, a, SIZE_MAX / 2);
    emit_init(&e, &text);
    record_pack(&e, v, blobs);
    return text.broken ? (struct slice){ NULL, 0 } : buf_slice(&text);
}

static const allm_json *parse(struct arena *a, struct slice text)
{
    const struct json_limits limits = { .max_bytes = SIZE_MAX / 2,
                                        .max_depth = UINT32_MAX };
    const allm_error *error = NULL;
    return json_parse(a, text, limits, &error);
}

/* The value that comes back must be the same, and all its blobs be found. */
static void check_round(struct arena *a, const allm_json *v)
{
    struct record_blobs blobs, found = { .arena = a };
    const allm_error *error = NULL;
    struct slice text = pack(a, v, &blobs);
    CHECK(text.ptr && !blobs.broken);
    const allm_json *packed = text.ptr ? parse(a, text) : NULL;
    CHECK(packed != NULL);
    if (!packed)
        return;
    const allm_json *back = record_unpack(a, packed, find_blob, &blobs, &error);
    CHECK_TEXT(error ? error->message : NULL, NULL);
    CHECK(back && allm_json_equal(back, v));
    record_find_blobs(text, &found);
    for (size_t i = 0; i < blobs.count; i++) {
        size_t k = 0;
        while (k < found.count &&
               strcmp(found.list[k].hash, blobs.list[i].hash))
            k++;
        CHECK(k < found.count);
    }
}

static void keeps_values(void)
{
    static const char *const rows[] = {
        "null", "true", "-1.5e300", "\"\"", "\"a\\u0000b\"", "[]", "{}",
        "{\"$blob\":1}", "{\"$plain\":{}}", "{\"$plain\":{\"$plain\":{}}}",
        "{\"$blob\":\"x\",\"len\":1}", "{\"$plain\":1,\"$blob\":2}",
        "[{\"$plain\":{\"$blob\":\"00000000000000000000000000000000"
        "00000000000000000000000000000000\",\"len\":1}}]",
        "{\"$blob\":\"00000000000000000000000000000000"
        "00000000000000000000000000000000\",\"len\":1}",
        "\"{\\\"$blob\\\":\\\"x\\\"}\"",
        "{\"\":{\"$blob \":[{\"a\":{\"$plain\":[{\"$blob\":null}]}}]}}",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        arena_init(&a, mem_default());
        check_row(rows[i]);
        const allm_json *v = parse(&a, slice_of(rows[i]));
        if (v)
            check_round(&a, v);
        arena_release(&a);
    }
}

/* Keys that matter, and others. */
static const char *any_key(struct random r)
{
    static const char *const keys[] = { "$blob", "$plain", "len", "", "a",
                                        "$blob\\" };
    return keys[random_below(r, sizeof keys / sizeof *keys)];
}

static void any_text(struct random r, struct build *b)
{
    static const uint32_t edges[] = { 0, 1, 64, LONG - 2, LONG - 1, LONG,
                                      LONG + 1, 9000 };
    static const char characters[][5] = { "a", "\"", "\\", "\n", "\x01",
                                          "\xc3\xa9", "\xf0\x9f\x98\x80" };
    size_t len = edges[random_below(r, 8)], n = 0;
    char *text = arena_alloc(b->arena, len + 8);
    bool zero = random_below(r, 4) == 0;
    while (text && n < len) {
        const char *c = characters[random_below(r, 7)];
        memcpy(text + n, c, strlen(c));
        n += strlen(c);
        if (zero && n < len)
            text[n++] = '\0';
    }
    if (text)
        build_text(b, (struct slice){ text, n });
}

static void any_value(struct random r, struct build *b, int depth)
{
    uint64_t kind = random_below(r, depth > 5 ? 4 : 6);
    size_t n = (size_t)random_below(r, 4);
    if (kind == 0) {
        build_int(b, (int64_t)random_below(r, 1000));
    } else if (kind == 1) {
        build_bool(b, n > 1);
    } else if (kind < 4) {
        any_text(r, b);
    } else if (kind == 4) {
        build_array(b);
        while (n--)
            any_value(r, b, depth + 1);
        build_end(b);
    } else {
        const char *first = any_key(r);
        build_object(b);
        for (size_t i = 0; i < n; i++) {
            const char *key = i ? any_key(r) : first;
            if (i && !strcmp(key, first))
                continue;
            if (i > 1)          /* two that may be equal: a key of its own */
                key = "z";
            build_key(b, slice_of(key));
            any_value(r, b, depth + 1);
        }
        build_end(b);
    }
}

static void keeps_any_value(void)
{
    struct random r = check_random();
    for (int i = 0; i < 2000; i++) {
        struct arena a;
        struct build b;
        arena_init(&a, mem_default());
        build_init(&b, &a);
        any_value(r, &b, 0);
        const allm_json *v = build_done(&b);
        if (v)
            check_round(&a, v);
        arena_release(&a);
    }
}

/* Deeper than packing looks: long strings stay in the text. */
static void keeps_deep_values(void)
{
    static const int depths[] = { 100, 255, 256, 257, 600 };
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        struct arena a;
        struct build b;
        char text[LONG];
        arena_init(&a, mem_default());
        build_init(&b, &a);
        memset(text, 'x', sizeof text);
        for (int k = 0; k < depths[i]; k++) {
            build_object(&b);
            build_key(&b, SLICE("$plain"));
        }
        build_text(&b, (struct slice){ text, sizeof text });
        for (int k = 0; k < depths[i]; k++)
            build_end(&b);
        const allm_json *v = build_done(&b);
        CHECK(v != NULL);
        if (v)
            check_round(&a, v);
        arena_release(&a);
    }
}

/* Bytes that are not UTF-8 come back as the writer of JSON repairs them, in a
 * blob as they were. */
static void survives_lone_surrogates(void)
{
    struct arena a;
    const allm_error *error = NULL;
    struct record_blobs blobs;
    arena_init(&a, mem_default());
    const allm_json *v = json_parse_loose(&a, SLICE("[\"\\ud800 \\udc00x\"]"),
                                          &error);
    struct slice text = v ? pack(&a, v, &blobs) : SLICE("null");
    CHECK(text.ptr && parse(&a, text));
    arena_release(&a);
}

/* The pages of the string are never touched. */
static void rejects_huge_strings(void)
{
    const size_t len = RECORD_MOST_TEXT + 1;
    int zero = open("/dev/zero", O_RDONLY);
    void *pages = mmap(NULL, len, PROT_READ, MAP_PRIVATE, zero, 0);
    close(zero);
    if (pages == MAP_FAILED)
        return;
    for (size_t over = 0; over < 2; over++) {
        struct arena a;
        struct build b;
        struct record_blobs blobs;
        arena_init(&a, mem_default());
        build_init(&b, &a);
        build_text(&b, (struct slice){ pages, over ? len : 5000 });
        const allm_json *v = build_done(&b);
        struct slice text = v ? pack(&a, v, &blobs) : (struct slice){ 0 };
        if (text.ptr)
            CHECK_INT(blobs.too_long, over ? len : 0);
        arena_release(&a);
    }
    munmap(pages, len);
}

/* ------------------------------------------------------------- damage --- */

static void reports_bad_blobs(void)
{
    static const struct {
        const char *why, *text;
        struct slice bytes;
        const char *reason;
    } rows[] = {
        { "missing", "{\"$blob\":\"%s\",\"len\":3}", { NULL, 0 },
          "damaged_session" },
        { "too short", "{\"$blob\":\"%s\",\"len\":3}", SLICE_INIT("ab"),
          "damaged_session" },
        { "no length", "{\"$blob\":\"%s\",\"x\":3}", SLICE_INIT("abc"),
          "damaged_session" },
        { "right", "{\"$blob\":\"%s\",\"len\":3}", SLICE_INIT("abc"), NULL },
        { "another member", "{\"$blob\":\"%s\",\"len\":3,\"x\":1}",
          { NULL, 0 }, NULL },
    };
    static const char hash[] = "0123456789abcdef0123456789abcdef"
                               "0123456789abcdef0123456789abcdef";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        char text[256], *at;
        struct backend_blob one = { hash, rows[i].bytes };
        struct record_blobs blobs = { .count = 1, .list = &one };
        const allm_error *error = NULL;
        arena_init(&a, mem_default());
        check_row(rows[i].why);
        snprintf(text, sizeof text, "%s", rows[i].text);
        if ((at = strstr(text, "%s"))) {
            memmove(at + 64, at + 2, strlen(at + 2) + 1);
            memcpy(at, hash, 64);
        }
        const allm_json *v = parse(&a, slice_of(text));
        if (v)
            record_unpack(&a, v, find_blob, &blobs, &error);
        CHECK_TEXT(error ? error->reason : NULL, rows[i].reason);
        arena_release(&a);
    }
}

static void reads_envelopes(void)
{
    static const struct {
        const char *text, *reason;
    } rows[] = {
        { "{\"v\":1,\"seq\":7,\"at\":\"x\",\"type\":\"end\",\"new\":1}", NULL },
        { "{\"v\":1,\"seq\":7,\"type\":\"unknown\"}", NULL },
        { "{\"v\":2,\"seq\":7,\"type\":\"end\"}", "store_too_new" },
        { "{\"v\":0,\"seq\":7,\"type\":\"end\"}", "damaged_session" },
        { "{\"v\":1,\"seq\":8,\"type\":\"end\"}", "damaged_session" },
        { "{\"v\":1,\"seq\":-7,\"type\":\"end\"}", "damaged_session" },
        { "{\"v\":1,\"seq\":7}", "damaged_session" },
        { "{\"v\":1,\"seq\":7,\"type\":3}", "damaged_session" },
        { "{\"seq\":7,\"type\":\"end\"}", "damaged_session" },
        { "[]", "damaged_session" },
        { "", "damaged_session" },
        { "{\"v\":1,\"seq\":7,\"type\":\"end\"", "damaged_session" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct record out = { 0 };
        struct backend_record row = { .seq = 7,
                                      .body = slice_of(rows[i].text) };
        arena_init(&a, mem_default());
        check_row(rows[i].text);
        const allm_error *error = record_read(&a, &row, &out);
        CHECK_TEXT(error ? error->reason : NULL, rows[i].reason);
        arena_release(&a);
    }
}

enum { CHAIN = 5 };

/* Records 3 to 7 of a log, and the sum of record 2. */
struct chain {
    char sums[CHAIN + 1][STORE_SUM_LEN + 1];
    char texts[CHAIN][64];
    struct backend_record rows[CHAIN];
};

static void make_chain(struct chain *c)
{
    record_sum("uid", SLICE("text"), c->sums[0]);
    for (size_t i = 0; i < CHAIN; i++) {
        struct backend_record *r = &c->rows[i];
        snprintf(c->texts[i], sizeof c->texts[i],
                 "{\"v\":1,\"seq\":%zu,\"type\":\"end\"}", i + 3);
        *r = (struct backend_record){ .seq = i + 3,
                                      .body = slice_of(c->texts[i]) };
        record_sum(c->sums[i], r->body, c->sums[i + 1]);
        r->sum = c->sums[i + 1];
    }
}

static const char *check_chain(const struct chain *c)
{
    struct arena a;
    arena_init(&a, mem_default());
    const allm_error *error = record_check(&a, c->sums[0], 3, CHAIN, c->rows);
    const char *reason = error ? error->reason : NULL;
    arena_release(&a);
    return reason;
}

/* Every byte of every record and of every sum is covered. */
static void notices_every_changed_byte(void)
{
    struct chain c;
    make_chain(&c);
    CHECK_TEXT(check_chain(&c), NULL);
    for (size_t i = 0; i < CHAIN; i++) {
        for (char *at = c.texts[i]; *at; at++) {
            *at ^= 1;
            CHECK_TEXT(check_chain(&c), "damaged_session");
            *at ^= 1;
        }
        for (char *at = c.sums[i]; *at; at++) {
            *at ^= 1;
            CHECK_TEXT(check_chain(&c), "damaged_session");
            *at ^= 1;
        }
    }
    c.rows[2].seq++;
    CHECK_TEXT(check_chain(&c), "damaged_session");
}

static void writes_times(void)
{
    static const struct {
        int64_t ms;
        const char *text;
    } rows[] = {
        { 0, "1970-01-01T00:00:00.000Z" },
        { 1794962400123, "2026-11-18T00:40:00.123Z" },
        { 253402300799999, "9999-12-31T23:59:59.999Z" },
        { 253402300800000, "1970-01-01T00:00:00.000Z" },
        { -1, "1970-01-01T00:00:00.000Z" },
        { INT64_MAX, "1970-01-01T00:00:00.000Z" },
        { INT64_MIN, "1970-01-01T00:00:00.000Z" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char out[32];
        record_time(rows[i].ms, out);
        CHECK_TEXT(out, rows[i].text);
    }
}

TESTS = {
    TEST(keeps_values),
    TEST_ONCE(keeps_any_value),
    TEST_ONCE(keeps_deep_values),
    TEST(survives_lone_surrogates),
    TEST(rejects_huge_strings),
    TEST(reports_bad_blobs),
    TEST(reads_envelopes),
    TEST_ONCE(notices_every_changed_byte),
    TEST(writes_times),
    TESTS_END
};
