/*
 * test_approvals.c - the file approvals.json, and a gate that uses it
 *
 * tag: thread
 */
#include "toolbox/approvals.h"

#include "harness/check.h"
#include "harness/external.h"
#include "harness/noun.h"
#include "harness/turns.h"
#include "json/json.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---------------------------------------------------------------- file --- */

static char path[256];

/* A file with this text; NULL: no file. */
static void make_file(const char *text)
{
    external_clean();           /* an earlier one of this test */
    snprintf(path, sizeof path, "%s/new/approvals.json", external_folder());
    if (!text)
        return;
    snprintf(path, sizeof path, "%s", external_file("approvals.json", text));
    chmod(path, 0600);
}

/* The whole file; static. */
static const char *read_back(void)
{
    static char text[4096];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    if (f)
        fclose(f);
    return f ? text : "no file";
}

struct kept {
    struct approvals file;
    struct rules rules;
    struct arena scratch;
};

static const allm_error *open_kept(struct kept *k)
{
    *k = (struct kept){ .rules = { .root = "/h/w" } };
    approvals_init(&k->file, mem_default(), path);
    arena_init(&k->scratch, mem_default());
    return approvals_refresh(&k->file, &k->rules);
}

static void close_kept(struct kept *k)
{
    approvals_release(&k->file);
    arena_release(&k->scratch);
}

static size_t count_rules(const struct kept *k)
{
    size_t n = 0;
    for (const struct rule *r = k->rules.first[RULES_STORED]; r; r = r->next)
        n++;
    return n;
}

#define WRITTEN(tool) \
    "  {\n    \"tool\": \"" tool "\",\n" \
    "    \"reach\": [\"net\", \"read /x\"],\n" \
    "    \"verdict\": \"auto\",\n    \"date\": \"2026-11-18\"\n  }"

static const allm_error *add_rule(struct kept *k, const char *tool)
{
    allm_json *reach = noun_json("['net','read /x']");
    struct rule r = { .tool = tool, .reach = reach, .date = "2026-11-18" };
    const allm_error *error = approvals_add(&k->file, &k->rules, &r,
                                            &k->scratch);
    allm_json_free(reach);
    return error;
}

static void a_new_file_is_private_and_readable(void)
{
    struct kept k;
    struct stat st = { 0 };
    make_file(NULL);
    CHECK(!open_kept(&k));
    CHECK(!add_rule(&k, "a") && !add_rule(&k, "b"));
    CHECK_TEXT(read_back(), "[\n" WRITTEN("b") ",\n" WRITTEN("a") "\n]\n");
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
    CHECK_INT(count_rules(&k), 2);
    CHECK(!approvals_remove(&k.file, &k.rules, 1, &k.scratch));
    CHECK_TEXT(read_back(), "[\n" WRITTEN("a") "\n]\n");
    CHECK(!approvals_remove(&k.file, &k.rules, 1, &k.scratch));
    CHECK_INT(count_rules(&k), 0);
    const allm_error *e = approvals_remove(&k.file, &k.rules, 1, &k.scratch);
    CHECK_TEXT(e ? e->reason : NULL, "unknown_rule");
    CHECK(approvals_remove(&k.file, &k.rules, 0, &k.scratch) != NULL);
    CHECK_ALWAYS(!external_left("approvals.json.lock"));
    close_kept(&k);
    external_clean();
}

#define RULE(tool) "{\"tool\": \"" tool "\", \"verdict\": \"deny\"}"

static void what_a_person_wrote_stays(void)
{
    static const struct {
        const char *before;
        uint32_t index;         /* 0: add */
        const char *after;
    } rows[] = {
        { "// mine\n[ // all\n  " RULE("x") ", // why\n]\n", 0,
          "// mine\n[\n" WRITTEN("n") ", // all\n  " RULE("x")
          ", // why\n]\n" },
        { "[]", 0, "[\n" WRITTEN("n") "\n]" },
        { "/* [ */ [ ]\n", 0, "/* [ */ [\n" WRITTEN("n") "\n ]\n" },
        { "[\n  // first\n  " RULE("x") ",\n  // second\n  " RULE("y")
          " // last\n]\n",
          1, "[\n  // first\n  // second\n  " RULE("y") " // last\n]\n" },
        { "[\n  " RULE("x") ", // one\n  " RULE("y") " // two\n]\n", 2,
          "[\n  " RULE("x") " // one // two\n]\n" },
        { "[" RULE("x") "," RULE("y") "," RULE("z") "]", 2,
          "[" RULE("x") "," RULE("z") "]" },
        { "[" RULE("x") ",]", 1, "[,]" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct kept k;
        check_row(rows[i].before);
        make_file(rows[i].before);
        CHECK(!open_kept(&k));
        const allm_error *e = rows[i].index
                                  ? approvals_remove(&k.file, &k.rules,
                                                     rows[i].index, &k.scratch)
                                  : add_rule(&k, "n");
        CHECK(!e);
        CHECK_TEXT(read_back(), rows[i].after);
        close_kept(&k);
        external_clean();
    }
}

static void a_bad_file_is_an_error_and_stays(void)
{
    static const struct {
        const char *text;
        mode_t mode;
        const char *why;
    } rows[] = {
        { "[" RULE("x") "]", 0644, "by other users" },
        { "[" RULE("x") "]", 0620, "by other users" },
        { "[", 0600, "is not valid" },
        { "", 0600, "is not valid" },
        { "{}", 0600, "must be a list" },
        { "[{\"tool\": \"x\"}]", 0600, "rule 1 of" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct kept k;
        check_row(rows[i].text);
        make_file(rows[i].text);
        chmod(path, rows[i].mode);
        const allm_error *e = open_kept(&k);
        CHECK(e && strstr(e->message, rows[i].why) &&
              strstr(e->message, "approvals.json"));
        CHECK(approvals_refresh(&k.file, &k.rules) != NULL);
        CHECK(add_rule(&k, "n") != NULL);
        CHECK_TEXT(read_back(), rows[i].text);
        CHECK_INT(count_rules(&k), 0);
        close_kept(&k);
        external_clean();
    }
}

/* A rule that another process adds counts at once, and so does a repair. */
static void a_changed_file_is_read_again(void)
{
    struct kept k, other;
    make_file("[]");
    CHECK(!open_kept(&k));
    CHECK(!open_kept(&other));
    CHECK(!add_rule(&other, "a"));
    CHECK(!approvals_refresh(&k.file, &k.rules));
    CHECK_INT(count_rules(&k), 1);
    make_file("[3]");
    CHECK(approvals_refresh(&k.file, &k.rules) != NULL);
    make_file("[ ]");
    CHECK(!approvals_refresh(&k.file, &k.rules));
    unlink(path);
    CHECK(!approvals_refresh(&k.file, &k.rules));
    CHECK_INT(count_rules(&k), 0);
    close_kept(&k);
    close_kept(&other);
    external_clean();
}

enum { WRITERS = 4, EACH = 8 };

static void *write_rules(void *arg)
{
    struct kept k;
    (void)arg;
    open_kept(&k);
    for (int i = 0; i < EACH; i++)
        CHECK(!add_rule(&k, "t"));
    close_kept(&k);
    return NULL;
}

/* The lock is on the file, so threads are like processes here. */
static void no_rule_is_lost(void)
{
    pthread_t threads[WRITERS];
    struct kept k;
    make_file(NULL);
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, write_rules, NULL);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    CHECK(!open_kept(&k));
    CHECK_INT(count_rules(&k), WRITERS * EACH);
    close_kept(&k);
    external_clean();
}

/* A link is followed: the file that it names is changed. */
static void a_link_stays_a_link(void)
{
    struct kept k;
    struct stat st = { 0 };
    char real[300];
    make_file("[]");
    snprintf(real, sizeof real, "%s.real", path);
    CHECK(rename(path, real) == 0 && symlink(real, path) == 0);
    CHECK(!open_kept(&k));
    CHECK(!add_rule(&k, "a"));
    CHECK(lstat(path, &st) == 0 && S_ISLNK(st.st_mode));
    CHECK_INT(count_rules(&k), 1);
    close_kept(&k);
    external_clean();
}

TESTS = { TEST(a_new_file_is_private_and_readable),
          TEST(what_a_person_wrote_stays),
          TEST(a_bad_file_is_an_error_and_stays),
          TEST(a_changed_file_is_read_again),
          TEST_ONCE(no_rule_is_lost),
          TEST(a_link_stays_a_link),
          TESTS_END };
