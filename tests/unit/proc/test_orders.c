/* test_orders.c - instructions for a warden */
#include "proc/orders.h"

#include "harness/check.h"

#include <stdlib.h>

static void escapes_values(void)
{
    struct arena a;
    struct buf out;
    arena_init(&a, mem_default());
    buf_init(&out, &a, ORDERS_LIMIT);
    orders_add(&out, "read", "/a b\nc\\d");
    orders_env(&out, "N", "x\n");
    orders_env(&out, "E", "");
    orders_limit(&out, "cpu", 30);
    CHECK_TEXT(out.ptr, "read /a b\\nc\\\\d\nenv N=x\\n\nenv E=\n"
                        "limit cpu 30\n");
    arena_release(&a);
}

static void passes_few_variables(void)
{
    struct arena a;
    struct buf out;
    setenv("LC_TIME", "C", 1);
    setenv("OPENAI_API_KEY", "sk-secret", 1);
    setenv("LCX", "no", 1);
    setenv("TERM", "xterm", 1);
    setenv("HOME", "/h/me/", 1);
    setenv("PATH", "/h/me/bin:/usr/bin:/h/me:/a\nread /:/h/men:/bin", 1);
    arena_init(&a, mem_default());
    buf_init(&out, &a, ORDERS_LIMIT);
    orders_environment(&out, ORDERS_ON);
    CHECK(out.ptr && strstr(out.ptr, "env LC_TIME=C\n"));
    CHECK(out.ptr && strstr(out.ptr, "env PATH=/usr/bin:/h/men:/bin\n"));
    CHECK(out.ptr && strstr(out.ptr, "env TERM=dumb\n"));
    CHECK(out.ptr && !strstr(out.ptr, "sk-secret"));
    CHECK(out.ptr && !strstr(out.ptr, "LCX"));
    CHECK(out.ptr && !strstr(out.ptr, "HOME"));
    arena_release(&a);
}

static void requires_walls(void)
{
    static const struct {
        enum orders_mode mode;
        const char *has, *lacks;
    } rows[] = {
        { ORDERS_ON, "wall staying required\n", "wall signals" },
        { ORDERS_STRICT, "wall mounts required\n", "wall pids" },
        { ORDERS_OFF, "wall pids off\n", "required" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct buf out;
        arena_init(&a, mem_default());
        buf_init(&out, &a, ORDERS_LIMIT);
        orders_walls(&out, rows[i].mode);
        CHECK(out.ptr && strstr(out.ptr, rows[i].has));
        CHECK(out.ptr && !strstr(out.ptr, rows[i].lacks));
        arena_release(&a);
    }
}

TESTS = { TEST(escapes_values), TEST(passes_few_variables),
          TEST(requires_walls), TESTS_END };
