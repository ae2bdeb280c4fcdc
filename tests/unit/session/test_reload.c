/*
 * test_reload.c - a session can be loaded again, whatever a server sends
 *
 * The answers are those of the fixtures of all dialects, damaged by chance:
 * keys that are not UTF-8 or occur twice, bytes changed and cut out.
 */
#include "harness/check.h"

#define DEMAND(truth) CHECK_ALWAYS(truth)

#include "../../../fuzz/reload.h"

#include <dirent.h>

enum { MOST_BYTES = 16 * 1024, MOST_FILES = 400, ROUNDS = 6 };

/* By the index of its model in reload.h. */
static const char *const folders[] = { "openai_chat", "openai_responses",
                                       "anthropic", "gemini", "ollama" };

struct answers {
    char *text[MOST_FILES];
    size_t len[MOST_FILES];
    size_t count;
};

static void add_file(struct answers *all, const char *path)
{
    char bytes[MOST_BYTES];
    FILE *file = fopen(path, "rb");
    size_t n = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file)
        fclose(file);
    if (!n || n == sizeof bytes || all->count == MOST_FILES)
        return;
    char *mine = malloc(n);
    if (!mine)
        return;
    memcpy(mine, bytes, n);
    all->text[all->count] = mine;
    all->len[all->count++] = n;
}

/* The answers of a dialect's fixtures that are not too long. */
static void gather(struct answers *all, const char *dialect)
{
    static const char *const names[] = { "sse", "ndjson", "json" };
    char root[1024], path[2048];
    const char *source = getenv("SOURCE_DIR");
    snprintf(root, sizeof root, "%s/tests/fixture/%s", source ? source : ".",
             dialect);
    DIR *dir = opendir(root);
    all->count = 0;
    for (struct dirent *e; dir && (e = readdir(dir));)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            snprintf(path, sizeof path, "%s/%s/wire-response.%s", root,
                     e->d_name, names[i]);
            add_file(all, path);
        }
    if (dir)
        closedir(dir);
    CHECK_ALWAYS(all->count > 0);
}

static void drop(struct answers *all)
{
    for (size_t i = 0; i < all->count; i++)
        free(all->text[i]);
}

/* --------------------------------------------------------------- damage --- */

/* Members whose keys are almost equal once they are UTF-8. */
static const char *const members[] = {
    "\"\xFF\":1,\"\xFE\":2,", "\"\xFF\":{\"\xC0\":1,\"\xC1\":[]},",
    "\"\xEF\xBF\xBD\":1,\"\xFF\":2,\"\xEF\xBF\xBD_2\":3,",
    "\"\\ud800\":1,\"\\udc00\":2,\"\\ud801\":3,", "\"a\":1,\"a\":2,",
    "\"\x01\":1,\"\\u0001\":2,", "\"\":1,\"\":2,", "\"id\":0,\"\xFF\":[],",
    "\"\xFFn\":0.10000000000000001,\"\xFEn\":1e999,",
};

/* Members as text, like arguments that arrive in pieces. */
static void add_quoted(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            buf_byte(out, '\\');
        buf_byte(out, *text);
    }
}

/* Put the members behind some of the braces, and spoil some bytes. */
static void damage(struct buf *out, struct slice text, struct random r)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i], next = i + 1 < text.len ? text.ptr[i + 1] : 0;
        if (c == RELOAD_END || random_below(r, 2000) == 0)
            continue;
        buf_byte(out, random_below(r, 2000) ? c : (char)random_below(r, 256));
        if (c != '{' || random_below(r, 4) != 0)
            continue;
        size_t n = random_below(r, sizeof members / sizeof *members);
        if (next == '"')
            buf_text(out, members[n]);
        else if (next == '\\')
            add_quoted(out, members[n]);
    }
}

static void one_talk(const struct answers *all, size_t dialect, struct random r,
                     bool damaged)
{
    struct arena a;
    struct buf input;
    arena_init(&a, mem_default());
    buf_init(&input, &a, SIZE_MAX / 2);
    buf_byte(&input, (char)dialect);
    buf_byte(&input, (char)random_below(r, 128));
    for (uint64_t n = 1 + random_below(r, 3); n > 0; n--) {
        size_t i = random_below(r, all->count);
        struct slice text = { all->text[i], all->len[i] };
        buf_byte(&input, '2');
        if (damaged)
            damage(&input, text, r);
        else
            buf_add(&input, text);
        buf_byte(&input, RELOAD_END);
    }
    check_row(folders[dialect]);
    reload_check((const uint8_t *)input.ptr, input.len);
    arena_release(&a);
}

static void whatever_was_said_can_be_loaded(void)
{
    struct random r = check_random();
    for (size_t d = 0; d < sizeof folders / sizeof *folders; d++) {
        static struct answers all;
        gather(&all, folders[d]);
        for (size_t i = 0; i < ROUNDS * all.count; i++)
            one_talk(&all, d, r, i % 4 != 0);
        drop(&all);
    }
}

/* The case that made a session unreadable, in each dialect. */
static void keys_that_become_equal_do_not_spoil_it(void)
{
#define ODD "\"\xFF\":1,\"\xFE\":{\"a\xFF\":1,\"a\xFE\":2}"
    static const char *const answers[] = {
        "{\"choices\":[{\"message\":{\"content\":\"a\"},\"finish_reason\":"
        "\"stop\"}],\"usage\":{\"prompt_tokens\":1," ODD "}}",
        "{\"status\":\"completed\",\"output\":[{\"type\":\"reasoning\","
        "\"id\":\"r\",\"summary\":[]," ODD "}],\"usage\":{\"input_tokens\":1,"
        ODD "}}",
        "{\"type\":\"message\",\"content\":[{\"type\":\"later_kind\"," ODD
        "},{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":{" ODD
        "}}],\"stop_reason\":\"tool_use\"}",
        "{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":"
        "\"f\",\"args\":{" ODD "}}}]},\"finishReason\":\"STOP\"}],"
        "\"usageMetadata\":{\"promptTokenCount\":1," ODD "}}",
        "{\"message\":{\"content\":\"\",\"tool_calls\":[{\"function\":"
        "{\"name\":\"f\",\"arguments\":{" ODD "}}}]},\"done\":true,"
        "\"done_reason\":\"stop\"}\n",
    };
    for (uint8_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        static const uint8_t ways[] = { 0, 1, 0x40, 0x80 };
        for (size_t k = 0; k < sizeof ways; k++) {
            char input[1024];
            int n = snprintf(input, sizeof input, "%c%c2%s", i, ways[k],
                             answers[i]);
            check_row(folders[i]);
            reload_check((const uint8_t *)input, (size_t)n);
        }
    }
}

TESTS = {
    TEST_ONCE(keys_that_become_equal_do_not_spoil_it),
    TEST_ONCE(whatever_was_said_can_be_loaded),
    TESTS_END,
};
