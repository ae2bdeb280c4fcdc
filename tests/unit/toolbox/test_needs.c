/* test_needs.c - the declared reach of a tool */
#include "toolbox/needs.h"

#include "harness/check.h"
#include "harness/external.h"
#include "proc/orders.h"
#include "json/parse.h"
#include "json/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const allm_json *parse(struct arena *a, const char *text)
{
    const allm_error *error;
    struct json_limits limits;
    json_limits_from(&limits, NULL);
    return json_parse(a, slice_of(text), limits, &error);
}

/* More than a warden accepts, which could not say why. */
static void refuses_long_lists(void)
{
    static const struct {
        const char *key, *item;
        int count;
        const char *why;
    } rows[] = {
        { "read", "/srv", 200, NULL },
        { "read", "/srv", 201, "needs.read may have 200 paths" },
        { "write", "/srv", 201, "needs.write may have 200 paths" },
        { "env", "EDITOR", 201, "needs.env may have 200 names" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct buf text;
        arena_init(&a, mem_default());
        buf_init(&text, &a, 1 << 16);
        buf_format(&text, "{\"%s\":[\"x\"", rows[i].key);
        for (int k = 1; k < rows[i].count; k++)
            buf_format(&text, ",\"%s\"", rows[i].item);
        buf_text(&text, "]}");
        const allm_json *needs = text.broken ? NULL : parse(&a, text.ptr);
        if (needs) {
            const allm_error *e = needs_check(&a, &needs, "/w", NULL);
            CHECK_TEXT(e ? e->message : NULL, rows[i].why);
        }
        arena_release(&a);
    }
}

static void refuses_what_it_does_not_understand(void)
{
    static const struct {
        const char *needs, *why;        /* why NULL: it is valid */
    } rows[] = {
        { "{}", NULL },
        { "{\"read\":[\"/srv\",\"data\"],\"net\":[443],\"procs\":8}", NULL },
        { "{\"net\":true,\"env\":[\"EDITOR\"],\"memory\":512}", NULL },
        { "[]", "must be an object" },
        { "{\"root\":true}", "needs.root is not known" },
        { "{\"read\":\"/srv\"}", "list of paths" },
        { "{\"write\":[3]}", "list of paths" },
        { "{\"read\":[\"\"]}", "list of paths" },
        { "{\"read\":[\"~/.ssh\"]}", "no tool may access" },
        { "{\"write\":[\"/\"]}", "no tool may access" },
        { "{\"read\":[\"~\"]}", "no tool may access" },
        { "{\"read\":[\"/none/../x\"]}", "not a path" },
        { "{\"net\":\"yes\"}", "needs.net must be" },
        { "{\"net\":[0]}", "a port is" },
        { "{\"net\":[65536]}", "a port is" },
        { "{\"env\":[\"A=B\"]}", "list of names" },
        { "{\"env\":[\"A B\"]}", "list of names" },
        { "{\"env\":[\"A*\"]}", "list of names" },
        { "{\"env\":[\"A\\nB\"]}", "list of names" },
        { "{\"env\":[\"\"]}", "list of names" },
        { "{\"env\":[\"OPENAI_API_KEY\"]}", "key of a provider" },
        { "{\"env\":[\"GEMINI_API_KEY\"]}", "key of a provider" },
        { "{\"env\":[\"EDITOR\",\"HOME\"]}", "a HOME of its own" },
        { "{\"env\":[\"TMPDIR\"]}", "a TMPDIR of its own" },
        { "{\"env\":[\"TERM\"]}", "a TERM of its own" },
        { "{\"env\":[\"ALLM_SESSION\"]}", "of its own" },
        { "{\"procs\":0}", "from 1 to 512" },
        { "{\"procs\":513}", "from 1 to 512" },
        { "{\"seconds\":-1}", "from 1 to 86400" },
        { "{\"disk\":1.5}", "needs.disk must be a number" },
    };
    setenv("HOME", "/h/me", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        check_row(rows[i].needs);
        arena_init(&a, mem_default());
        const allm_json *needs = parse(&a, rows[i].needs);
        const allm_error *e = needs ? needs_check(&a, &needs, "/h/w", NULL)
                                    : NULL;
        if (rows[i].why)
            CHECK(e && strstr(e->message, rows[i].why));
        else
            CHECK(!e);
        arena_release(&a);
    }
}

/* Without the line of the limit that depends on the machine's load. */
static const char *steady_orders(struct buf *out)
{
    char *line = strstr(out->ptr, "limit tasks ");
    CHECK(line);
    char *rest = line ? strchr(line, '\n') + 1 : NULL;
    if (line)
        memmove(line, rest, strlen(rest) + 1);
    return out->ptr;
}

static void becomes_instructions(void)
{
    struct arena a;
    struct buf out;
    setenv("HOME", "/h/me", 1);
    setenv("EDITOR", "ed", 1);
    arena_init(&a, mem_default());
    buf_init(&out, &a, ORDERS_LIMIT);
    const allm_json *needs =
        parse(&a,
              "{\"read\":[\"~/notes\"],\"write\":[\"out\"],\"net\":[443,80],"
              "\"env\":[\"EDITOR\",\"NOT_SET_AT_ALL\"],\"memory\":2,"
              "\"seconds\":9}");
    CHECK(!needs_check(&a, &needs, "/h/w", NULL));
    CHECK(!needs_orders(&out, needs, 30));
    CHECK_TEXT(steady_orders(&out), "exec /h/me/notes\nwrite /h/w/out\n"
                                    "net tcp 443 80\nenv RES_OPTIONS=use-vc\n"
                                    "env EDITOR=ed\nlimit procs 64\n"
                                    "limit memory 2097152\nlimit cpu 9\n"
                                    "limit disk 67108864\nlimit files 256\n"
                                    "limit linger 100\n");
    buf_clear(&out);
    CHECK(!needs_orders(&out, NULL, 30));
    CHECK_TEXT(steady_orders(&out), "net none\nlimit procs 64\nlimit cpu 30\n"
                                    "limit disk 67108864\nlimit files 256\n"
                                    "limit linger 100\n");
    arena_release(&a);
}

static void is_shown_in_words(void)
{
    struct arena a;
    struct buf out;
    setenv("HOME", "/h/me", 1);
    arena_init(&a, mem_default());
    buf_init(&out, &a, 4096);
    const allm_json *needs =
        parse(&a, "{\"read\":[\"~/notes\"],\"write\":[\"out\"],\"net\":[443],"
                  "\"env\":[\"EDITOR\"]}");
    CHECK(!needs_check(&a, &needs, "/h/w", NULL));
    const allm_json *words = needs_words(&a, needs);
    if (words)
        json_write(&out, words, 0);
    CHECK_TEXT(out.ptr, "[\"read /h/me/notes\",\"write /h/w/out\","
                        "\"net 443\",\"env EDITOR\"]");
    arena_release(&a);
}

/* Only the exact path, and only of secrets: no folder around one. */
static void grants_what_the_user_names(void)
{
    static const struct {
        const char *grants, *needs;
        bool granted;
    } rows[] = {
        { "[\"~/.ssh/config\"]", "{\"read\":[\"~/.ssh/config\"]}", true },
        { "[\"/h/me/.ssh\"]", "{\"write\":[\"~/.ssh\"]}", true },
        { "[\"~/.ssh\"]", "{\"read\":[\"~/.ssh/config\"]}", false },
        { "[\"~/.ssh/config\"]", "{\"read\":[\"~/.ssh\"]}", false },
        { "[\"~\"]", "{\"read\":[\"~\"]}", false },
        { "[\"/\"]", "{\"read\":[\"/\"]}", false },
        { "[\".ssh\"]", "{\"read\":[\"~/.ssh\"]}", false },
        { "[3,\"GROQ_API_KEY\"]", "{\"env\":[\"GROQ_API_KEY\"]}", true },
        { "[\"GROQ_API_KEY\"]", "{\"env\":[\"OPENAI_API_KEY\"]}", false },
        { "\"GROQ_API_KEY\"", "{\"env\":[\"GROQ_API_KEY\"]}", false },
    };
    setenv("HOME", "/h/me", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        check_row(rows[i].needs);
        arena_init(&a, mem_default());
        const allm_json *needs = parse(&a, rows[i].needs);
        const allm_json *grants = parse(&a, rows[i].grants);
        const allm_error *e = needs_check(&a, &needs, "/h/w", grants);
        CHECK(rows[i].granted ? !e : e && strstr(e->message, "tools.grant"));
        arena_release(&a);
    }
}

/* A folder that was approved, and then replaced by a link to another. */
static void notices_a_link_that_came_later(void)
{
    struct arena a;
    struct buf out;
    const char *top = external_folder();
    char path[512], text[600];
    arena_init(&a, mem_default());
    buf_init(&out, &a, ORDERS_LIMIT);
    snprintf(path, sizeof path, "%s/out", top);
    snprintf(text, sizeof text, "{\"write\":[\"%s/new\"]}", path);
    const allm_json *needs = parse(&a, text);
    CHECK(!mkdir(path, 0700));
    CHECK(!needs_check(&a, &needs, top, NULL));
    CHECK(!needs_orders(&out, needs, 30));
    CHECK(!rmdir(path) && !symlink("/etc", path));
    const char *moved = needs_orders(&out, needs, 30);
    CHECK(moved && strstr(moved, "/out/new"));
    arena_release(&a);
    external_clean();
}

TESTS = { TEST(refuses_what_it_does_not_understand),
          TEST(refuses_long_lists),
          TEST(becomes_instructions), TEST(is_shown_in_words),
          TEST(grants_what_the_user_names),
          TEST(notices_a_link_that_came_later), TESTS_END };
