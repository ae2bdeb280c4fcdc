/* test_secret.c - secrets are wiped before their memory is freed */
#include "base/secret.h"

#include "base/arena.h"
#include "base/text.h"

#include "harness/check.h"
#include "harness/watch.h"

#define WORD "sk-Passw0rd"

static void wipes_every_byte(void)
{
    char bytes[64];
    for (size_t n = 0; n <= sizeof bytes; n++) {
        memset(bytes, 'x', sizeof bytes);
        secret_wipe(bytes, n);
        size_t zeros = 0;
        while (zeros < sizeof bytes && bytes[zeros] == 0)
            zeros++;
        CHECK_INT(zeros, n);
    }
    secret_wipe(NULL, 0);
}

/* The check itself must be able to find a secret. */
static void the_watch_sees_a_word(void)
{
    struct watch w = watch_for(WORD);
    char *p = mem_alloc(watch_mem(&w), 32);
    if (!p)
        return;
    memcpy(p, WORD, sizeof WORD);
    mem_free(watch_mem(&w), p, 32);
    CHECK_INT(w.leaked, 1);
    CHECK_INT(w.live, 0);
}

/* ----------------------------------------------------------- secret_mem --- */

static void a_block_is_wiped_when_freed(void)
{
    struct watch w = watch_for(WORD);
    struct mem inner = watch_mem(&w);
    struct mem m = secret_mem(&inner);
    char *p = mem_alloc(m, 32);
    if (!p)
        return;
    memcpy(p, WORD, sizeof WORD);
    CHECK_INT((uintptr_t)p % 16, 0);
    mem_free(m, p, 32);
    CHECK_ALWAYS(w.leaked == 0 && w.live == 0);
}

static void a_block_is_wiped_when_it_moves(void)
{
    static const struct {
        const char *why;
        size_t from, to;
    } rows[] = {
        { "grows", 32, 5000 }, { "shrinks", 5000, 32 }, { "stays", 32, 32 }
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        struct watch w = watch_for(WORD);
        struct mem inner = watch_mem(&w);
        struct mem m = secret_mem(&inner);
        char *p = mem_alloc(m, rows[i].from);
        if (!p)
            return;
        memcpy(p, WORD, sizeof WORD);
        char *q = mem_resize(m, p, rows[i].from, rows[i].to);
        CHECK_ALWAYS(!strcmp(q ? q : p, WORD));
        mem_free(m, q ? q : p, q ? rows[i].to : rows[i].from);
        CHECK_ALWAYS(w.leaked == 0 && w.live == 0);
    }
}

/* A text may outlive the store whose allocator it was made by. */
static void a_block_is_freed_without_its_allocator(void)
{
    struct watch w = watch_for(WORD);
    struct mem inner = watch_mem(&w);
    struct mem m = secret_mem(&inner);
    char *p = mem_alloc(m, 32);
    char *q = mem_alloc(m, 32);
    memset(&inner, 0xAA, sizeof inner);
    if (p) {
        char *moved = mem_resize(m, p, 32, 64);
        mem_free(m, moved ? moved : p, moved ? 64 : 32);
    }
    mem_free(m, q, 32);
    CHECK_ALWAYS(w.live == 0);
}

static void too_much_is_refused(void)
{
    struct watch w = watch_for(WORD);
    struct mem inner = watch_mem(&w);
    CHECK(!mem_alloc(secret_mem(&inner), SIZE_MAX - 8));
    CHECK_ALWAYS(w.live == 0);
}

static void an_arena_can_hold_secrets(void)
{
    struct watch w = watch_for(WORD);
    struct mem inner = watch_mem(&w);
    struct arena a;
    struct buf b;
    arena_init(&a, secret_mem(&inner));
    buf_init(&b, &a, 100000);
    for (int i = 0; i < 2000; i++)
        buf_text(&b, WORD " ");
    CHECK_INT(b.len, 2000 * sizeof WORD);
    arena_reset(&a);
    CHECK_ALWAYS(arena_copy(&a, SLICE(WORD)) || !check_whole());
    arena_release(&a);
    CHECK_ALWAYS(w.leaked == 0 && w.live == 0);
}

static void a_text_can_hold_a_secret(void)
{
    struct watch w = watch_for(WORD);
    struct mem inner = watch_mem(&w);
    allm_text *t = text_begin(secret_mem(&inner), 0);
    if (!t)
        return;
    char *copy = arena_copy(text_arena(t), SLICE(WORD));
    text_finish(t, slice_of(copy));
    CHECK_TEXT(allm_text_bytes(t, NULL), WORD);
    allm_text_free(t);
    CHECK_ALWAYS(w.leaked == 0 && w.live == 0);
}

/* --------------------------------------------------------------- secret --- */

static void a_secret_is_copied_and_wiped(void)
{
    struct watch w = watch_for(WORD);
    struct secret s = { .ptr = NULL };
    secret_release(&s);         /* none */
    if (!secret_set(&s, watch_mem(&w), SLICE(WORD)))
        return;
    CHECK_TEXT(s.ptr, WORD);
    CHECK_INT(s.len, sizeof WORD - 1);
    bool changed = secret_set(&s, watch_mem(&w), SLICE("other " WORD));
    CHECK_ALWAYS(!strcmp(s.ptr, changed ? "other " WORD : WORD));
    secret_release(&s);
    CHECK_ALWAYS(!s.ptr && s.len == 0);
    secret_release(&s);
    CHECK_ALWAYS(w.leaked == 0 && w.live == 0);
}

static void an_empty_secret_is_a_text(void)
{
    struct secret s = { .ptr = NULL };
    if (!secret_set(&s, mem_default(), (struct slice){ NULL, 0 }))
        return;
    CHECK_TEXT(s.ptr, "");
    secret_release(&s);
}

TESTS = {
    TEST(wipes_every_byte),
    TEST(the_watch_sees_a_word),
    TEST(a_block_is_wiped_when_freed),
    TEST(a_block_is_wiped_when_it_moves),
    TEST(a_block_is_freed_without_its_allocator),
    TEST(too_much_is_refused),
    TEST(an_arena_can_hold_secrets),
    TEST(a_text_can_hold_a_secret),
    TEST(a_secret_is_copied_and_wiped),
    TEST(an_empty_secret_is_a_text),
    TESTS_END
};
