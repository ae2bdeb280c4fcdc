/* test_members.c - find keys and duplicates in small and large objects */
#include "json/members.h"

#include "base/buf.h"
#include "harness/check.h"
#include "json/build.h"

/* An object of n members; the value of each is the length of a list. */
static const yyjson_val *object_of(struct arena *a, size_t n,
                                   const char *format)
{
    struct build b;
    build_init(&b, a);
    build_object(&b);
    for (size_t i = 0; i < n; i++) {
        struct buf key;
        buf_init(&key, a, 64);
        buf_text(&key, format);
        buf_uint(&key, i * 7919 % n);
        build_key(&b, buf_slice(&key));
        build_array(&b);
        for (size_t k = i % 3; k > 0; k--)
            build_null(&b);
        build_end(&b);
    }
    build_end(&b);
    return val_of(build_done(&b));
}

static void finds_every_key(void)
{
    static const size_t sizes[] = { 0, 1, 2, 31, 32, 33, 34, 64, 100, 257 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct arena a;
        struct members k;
        arena_init(&a, mem_default());
        const yyjson_val *v = object_of(&a, sizes[s], "key ");
        bool ok = members_init(&k, v, mem_default());
        CHECK(ok);
        for (size_t i = 0; ok && i <= sizes[s]; i++) {
            struct buf key;
            buf_init(&key, &a, 64);
            buf_format(&key, "key %zu", i);
            const yyjson_val *found = members_find(&k, buf_slice(&key));
            CHECK((found != NULL) == (i < sizes[s]));
            CHECK(!found || slice_eq(val_slice(found), buf_slice(&key)));
        }
        CHECK(!ok || !members_find(&k, SLICE("")));
        members_release(&k);
        arena_release(&a);
    }
}

static void what_is_no_object_has_no_keys(void)
{
    static const yyjson_val array[1] = {
        { .tag = YYJSON_TYPE_ARR, .uni.ofs = sizeof(yyjson_val) }
    };
    struct members k;
    CHECK_ALWAYS(members_init(&k, NULL, mem_default()));
    CHECK_ALWAYS(!members_find(&k, SLICE("a")));
    members_release(&k);
    CHECK_ALWAYS(members_init(&k, array, mem_default()));
    CHECK_ALWAYS(!members_find(&k, SLICE("a")));
    members_release(&k);
}

/* Put the same key at two places of an object of n. */
static const yyjson_val *with_repeat(struct arena *a, size_t n, size_t first,
                                     size_t second)
{
    struct build b;
    build_init(&b, a);
    build_object(&b);
    for (size_t i = 0; i < n; i++) {
        struct buf key;
        buf_init(&key, a, 64);
        buf_text(&key, "k");
        buf_uint(&key, i == second ? first : i);
        build_key(&b, buf_slice(&key));
        build_uint(&b, i);
    }
    build_end(&b);
    return val_of(build_done(&b));
}

static void finds_repeats_at_every_place(void)
{
    static const size_t sizes[] = { 2, 3, 10, 32, 33, 40 };
    struct arena a;
    arena_init(&a, mem_default());
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t n = sizes[s];
        for (size_t second = 1; second < n; second++) {
            const yyjson_val *twice;
            const yyjson_val *v = with_repeat(&a, n, second / 2, second);
            if (!v)
                continue;
            CHECK(!members_differ(v, mem_default(), &twice));
            CHECK(twice == v + 1 + 2 * second);
            v = with_repeat(&a, n, second, second);
            CHECK(v && members_differ(v, mem_default(), &twice));
            arena_reset(&a);
        }
    }
    arena_release(&a);
}

static void looks_into_members(void)
{
    struct arena a;
    struct build b;
    arena_init(&a, mem_default());
    build_init(&b, &a);
    build_array(&b);
    build_object(&b);
    build_key(&b, SLICE("x"));
    build_value(&b, val_json(with_repeat(&a, 3, 0, 2)));
    build_end(&b);
    build_end(&b);
    const yyjson_val *twice = NULL;
    const allm_json *v = build_done(&b);
    if (v) {
        CHECK(!members_differ_deep(val_of(v), mem_default(), &twice));
        CHECK(twice && slice_eq(val_slice(twice), SLICE("k0")));
    }
    arena_release(&a);
}

TESTS = {
    TEST(finds_every_key),
    TEST(what_is_no_object_has_no_keys),
    TEST(finds_repeats_at_every_place),
    TEST(looks_into_members),
    TESTS_END
};
