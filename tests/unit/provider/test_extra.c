/* test_extra.c - options on their way into a request */
#include "provider/extra.h"

#include "base/buf.h"
#include "harness/check.h"
#include "harness/noun.h"

static void later_ones_win_and_null_takes_away(void)
{
    struct arena a;
    struct buf out;
    struct emit e;
    struct extra x;
    const char *const but[] = { "mine", NULL };
    allm_json *engine = noun_json("{'a': 1, 'b': 1, 'extra_body': {'c': 3},"
                                  " 'base_url': 'x', 'mine': 1}");
    allm_json *request = noun_json("{'b': 2, 'a': null}");
    allm_json *own = noun_json("{'organization': 'o', 'b': 9}");
    const allm_request r = { .size = sizeof r, .options = request };
    const allm_call call = { .size = sizeof call,
                             .request = &r,
                             .options = engine,
                             .adapter_opts = own };
    arena_init(&a, mem_default());
    buf_init(&out, &a, 1000);
    emit_init(&e, &out);
    if (engine && request && own && !extra_init(&x, &call, &a)) {
        emit_open(&e, '{');
        extra_write(&x, &e, but);
        emit_close(&e, '}');
        CHECK_SLICE(buf_slice(&out), SLICE("{\"b\":2,\"c\":3}"));
        CHECK(!extra_leaves(&x, "a") && extra_leaves(&x, "d"));
        CHECK(!extra_get(&x, "a"));
        CHECK_TEXT(extra_text(&x, "organization"), "o");
    }
    allm_json_free(own);
    allm_json_free(request);
    allm_json_free(engine);
    arena_release(&a);
}

static void extra_body_is_an_object(void)
{
    struct arena a;
    struct extra x;
    allm_json *engine = noun_json("{'extra_body': [1]}");
    const allm_request r = { .size = sizeof r };
    const allm_call call = { .size = sizeof call,
                             .request = &r,
                             .options = engine };
    arena_init(&a, mem_default());
    if (engine)
        CHECK_MISUSE(extra_init(&x, &call, &a), "invalid_option", "extra_body");
    allm_json_free(engine);
    arena_release(&a);
}

TESTS = { TEST(later_ones_win_and_null_takes_away),
          TEST(extra_body_is_an_object), TESTS_END };
