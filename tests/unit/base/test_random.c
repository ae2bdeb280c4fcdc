/* test_random.c - random bytes, numbers and ids, from the system or a caller */
#include "base/random.h"

#include "harness/check.h"

#include <string.h>

/* Sources that are not random at all. */
static bool give_nothing(void *ud, void *bytes, size_t len)
{
    (void)bytes;
    (void)len;
    ++*(int *)ud;
    return false;
}

static bool give_zeros(void *ud, void *bytes, size_t len)
{
    memset(bytes, 0, len);
    ++*(int *)ud;
    return true;
}

static bool give_ones(void *ud, void *bytes, size_t len)
{
    memset(bytes, 0xFF, len);
    ++*(int *)ud;
    return true;
}

/* -------------------------------------------------------------- sources --- */

static void the_system_gives_fresh_bytes(void)
{
    char a[64] = { 0 }, b[64] = { 0 }, zero[64] = { 0 };
    CHECK(random_fill(random_system(), a, sizeof a));
    CHECK(random_fill(random_system(), b, sizeof b));
    CHECK(memcmp(a, b, sizeof a) != 0);
    CHECK(memcmp(a, zero, sizeof a) != 0);
    CHECK(memcmp(a + 32, zero, 32) != 0);
}

static void the_system_gives_many_bytes(void)
{
    static unsigned char bytes[100000];
    size_t seen[256] = { 0 };
    CHECK(random_fill(random_system(), bytes, sizeof bytes));
    for (size_t i = 0; i < sizeof bytes; i++)
        seen[bytes[i]]++;
    for (size_t i = 0; i < 256; i++)
        CHECK(seen[i] > 200 && seen[i] < 600);  /* 390 expected */
}

static void no_bytes_are_always_there(void)
{
    int calls = 0;
    CHECK(random_fill((struct random){ give_nothing, &calls }, NULL, 0));
    CHECK_INT(calls, 0);
    CHECK(random_fill(random_system(), NULL, 0));
}

static void takes_the_callers_source(void)
{
    int calls = 0;
    size_t whole = sizeof(allm_random);
    const struct {
        const char *why;
        allm_random given;
        bool taken;
    } rows[] = {
        { "a filled struct", { whole, give_zeros, &calls }, true },
        { "a longer one, of a later version",
          { whole + 8, give_zeros, &calls }, true },
        { "no function", { whole, NULL, &calls }, false },
        { "a forgotten size", { 0, give_zeros, &calls }, false },
        { "a size that ends before ud", { whole - 1, give_zeros, &calls },
          false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        struct {
            allm_random known;
            char later[8];
        } given = { rows[i].given, "" };
        struct random r = random_from(&given.known);
        CHECK((r.fill == give_zeros) == rows[i].taken);
        CHECK((r.ud == &calls) == rows[i].taken);
        char bytes[4];
        CHECK(random_fill(r, bytes, sizeof bytes));
    }
    CHECK_INT(calls, 2);
    check_row("none at all");
    CHECK(random_from(NULL).fill == random_system().fill);
}

/* --------------------------------------------------------- the sequence --- */

/* Draw a word as it is: below 2^64 - 1 nothing changes but the last value. */
static uint64_t draw(struct random r)
{
    return random_below(r, UINT64_MAX);
}

static void the_sequence_is_splitmix64(void)
{
    /* the first words of the author's C program */
    static const uint64_t of_1234567[] = {
        UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
        UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
        UINT64_C(16408922859458223821),
    };
    struct random_seeded s;
    struct random r = random_of_seed(&s, 1234567);
    for (size_t i = 0; i < 5; i++)
        CHECK(draw(r) == of_1234567[i]);
    r = random_of_seed(&s, 0);
    CHECK(draw(r) == UINT64_C(0xE220A8397B1DCDAF));
}

static void bytes_come_least_significant_first(void)
{
    struct random_seeded s;
    unsigned char bytes[11];
    struct random r = random_of_seed(&s, 0);
    CHECK(random_fill(r, bytes, sizeof bytes));
    CHECK(!memcmp(bytes, "\xAF\xCD\x1D\x7B\x39\xA8\x20\xE2", 8));

    /* unused bytes are dropped: the next call has new ones */
    struct random_seeded other;
    struct random q = random_of_seed(&other, 0);
    draw(q);
    draw(q);
    CHECK(draw(r) == draw(q));
}

static void a_seed_begins_it_anew(void)
{
    struct random_seeded s;
    struct random r = random_of_seed(&s, 99);
    uint64_t first = draw(r), second = draw(r);
    CHECK(first != second);
    r = random_of_seed(&s, 99);
    CHECK(draw(r) == first && draw(r) == second);
    r = random_of_seed(&s, 100);
    CHECK(draw(r) != first);
}

/* -------------------------------------------------------------- numbers --- */

static void numbers_stay_below_their_bound(void)
{
    static const uint64_t bounds[] = {
        1, 2, 3, 7, 10, 100, 255, 256, 257, UINT64_C(1) << 32,
        (UINT64_C(1) << 63) - 1, UINT64_C(1) << 63, (UINT64_C(1) << 63) + 1,
        UINT64_MAX - 1, UINT64_MAX,
    };
    struct random r = check_random();
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        for (int n = 0; n < 1000; n++)
            if (!CHECK(random_below(r, bounds[i]) < bounds[i]))
                break;
    CHECK(random_below(r, 0) == 0);
    CHECK(random_below(r, 1) == 0);
}

static void numbers_are_uniform(void)
{
    struct random_seeded s;
    struct random r = random_of_seed(&s, 4711);
    size_t seen[7] = { 0 };
    for (int i = 0; i < 70000; i++)
        seen[random_below(r, 7)]++;
    for (size_t i = 0; i < 7; i++)
        CHECK(seen[i] > 9600 && seen[i] < 10400);   /* four sigma and more */
}

/* With a bound just above half, a careless remainder would give the lower half
 * twice as often. */
static void numbers_have_no_bias(void)
{
    struct random_seeded s;
    struct random r = random_of_seed(&s, 4711);
    uint64_t bound = UINT64_C(3) << 62;     /* three quarters of all */
    size_t low = 0;
    for (int i = 0; i < 30000; i++)
        low += random_below(r, bound) < bound / 3;
    CHECK(low > 9500 && low < 10500);       /* a third; biased: a half */
}

static void a_failing_source_gives_zero(void)
{
    int calls = 0;
    CHECK(random_below((struct random){ give_nothing, &calls }, 10) == 0);
    CHECK_INT(calls, 1);
}

static void a_source_of_zeros_does_not_hang(void)
{
    int calls = 0;
    struct random r = { give_zeros, &calls };
    CHECK(random_below(r, 10) == 0);        /* refused each time: it gives up */
    CHECK(calls > 10 && calls < 1000);
    CHECK(random_below(r, 16) == 0);        /* a power of two refuses none */
    r.fill = give_ones;
    CHECK(random_below(r, 10) == UINT64_MAX % 10);
}

/* ------------------------------------------------------------------ ids --- */

static bool is_url_safe(struct slice s)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "abcdefghijklmnopqrstuvwxyz0123456789-_";
    for (size_t i = 0; i < s.len; i++)
        if (!s.ptr[i] || !strchr(alphabet, s.ptr[i]))
            return false;
    return true;
}

static void an_id_is_22_characters(void)
{
    struct buf out;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&out, &a, 100);
    CHECK(random_id(random_system(), &out));
    CHECK_INT(out.len, 22);
    CHECK(is_url_safe(buf_slice(&out)));
    CHECK(random_id(random_system(), &out));
    CHECK_INT(out.len, 44);
    CHECK(out.len == 44 && memcmp(out.ptr, out.ptr + 22, 22) != 0);
    arena_release(&a);
}

static void an_id_is_its_bytes(void)
{
    int calls = 0;
    struct buf out;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&out, &a, 100);
    CHECK(random_id((struct random){ give_ones, &calls }, &out));
    CHECK_TEXT(out.ptr, "_____________________w");
    arena_release(&a);
}

static void an_id_that_fails_adds_nothing(void)
{
    int calls = 0;
    struct buf out;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&out, &a, 25);
    buf_text(&out, "id-");
    CHECK_ALWAYS(!random_id((struct random){ give_nothing, &calls }, &out));
    CHECK_TEXT(out.ptr, "id-");
    CHECK(!out.broken);
    CHECK(random_id((struct random){ give_zeros, &calls }, &out));
    CHECK_TEXT(out.ptr, "id-AAAAAAAAAAAAAAAAAAAAAA");
    CHECK_ALWAYS(!random_id((struct random){ give_zeros, &calls }, &out));
    CHECK_INT(out.len, 25);
    arena_release(&a);
}

TESTS = {
    TEST(the_system_gives_fresh_bytes),
    TEST(the_system_gives_many_bytes),
    TEST(no_bytes_are_always_there),
    TEST(takes_the_callers_source),
    TEST(the_sequence_is_splitmix64),
    TEST(bytes_come_least_significant_first),
    TEST(a_seed_begins_it_anew),
    TEST(numbers_stay_below_their_bound),
    TEST(numbers_are_uniform),
    TEST(numbers_have_no_bias),
    TEST(a_failing_source_gives_zero),
    TEST(a_source_of_zeros_does_not_hang),
    TEST(an_id_is_22_characters),
    TEST(an_id_is_its_bytes),
    TEST(an_id_that_fails_adds_nothing),
    TESTS_END
};
