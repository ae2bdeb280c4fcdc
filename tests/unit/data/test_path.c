/* test_path.c - the path from the root of a document to a value */
#include "data/path.h"

#include "documents.h"
#include "json/json.h"
#include "json/write.h"

/* The JSON that was built. */
static void check_built(struct build *b, const char *want)
{
    struct buf out;
    buf_init(&out, b->arena, 4096);
    json_write(&out, build_done(b), 0);
    CHECK_SLICE(buf_slice(&out), slice_of(want));
}

/* messages / 3 / role, and its surroundings */
static const struct path messages = { NULL, { "messages", 8 }, 0 };
static const struct path third = { &messages, { NULL, 0 }, 3 };
static const struct path role = { &third, { "role", 4 }, 0 };
static const struct path index_only = { NULL, { NULL, 0 }, 7 };
static const struct path empty_key = { NULL, { "", 0 }, 0 };
static const struct path odd_key = { &messages, { "a\"/~\n", 5 }, 0 };

static const struct {
    const char *why;
    const struct path *path;
    bool listed;
    const char *json, *spelled;
} rows[] = {
    { "one name is a name", &messages, false, "\"messages\"", "/messages" },
    { "unless a list is wanted", &messages, true, "[\"messages\"]",
      "/messages" },
    { "names and indices are a list", &role, false, "[\"messages\",3,\"role\"]",
      "/messages/3/role" },
    { "a list is a list", &role, true, "[\"messages\",3,\"role\"]",
      "/messages/3/role" },
    { "an index alone is a list", &index_only, false, "[7]", "/7" },
    { "the root is an empty list", NULL, false, "[]", "" },
    { "an empty name is a name", &empty_key, false, "\"\"", "/" },
    { "any name can stand there", &odd_key, false,
      "[\"messages\",\"a\\\"/~\\n\"]", "/messages/a\"/~\n" },
};

static void writes_paths(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_row(rows[i].why);
        struct arena a;
        struct build b;
        arena_init(&a, mem_default());
        build_init(&b, &a);
        path_write(&b, rows[i].path, rows[i].listed);
        check_built(&b, rows[i].json);
        arena_release(&a);
    }
}

static void spells_paths(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_row(rows[i].why);
        struct arena a;
        struct buf out;
        arena_init(&a, mem_default());
        buf_init(&out, &a, 4096);
        path_spell(&out, rows[i].path);
        CHECK_SLICE(buf_slice(&out), slice_of(rows[i].spelled));
        arena_release(&a);
    }
}

static void writes_pairs(void)
{
    struct arena a;
    struct build b;
    arena_init(&a, mem_default());
    build_init(&b, &a);
    build_array(&b);
    path_write_pair(&b, &messages, false, "empty");
    path_write_pair(&b, &role, false, "unknown");
    build_end(&b);
    check_built(&b, "[[\"messages\",\"empty\"],"
                    "[[\"messages\",3,\"role\"],\"unknown\"]]");
    arena_release(&a);
}

/* Steps are on the stack: the result must not refer to them. */
static void keeps_no_pointer_to_names(void)
{
    struct arena a;
    struct build b;
    arena_init(&a, mem_default());
    build_init(&b, &a);
    char name[] = "gone";
    struct path step = PATH_KEY(NULL, name);
    path_write(&b, &step, false);
    memset(name, 'x', sizeof name - 1);
    check_built(&b, "\"gone\"");
    arena_release(&a);
}

TESTS = {
    TEST(writes_paths),
    TEST(spells_paths),
    TEST(writes_pairs),
    TEST(keeps_no_pointer_to_names),
    TESTS_END,
};
