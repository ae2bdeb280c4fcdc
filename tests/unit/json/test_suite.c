/*
 * test_suite.c - the public JSONTestSuite (github.com/nst/JSONTestSuite)
 *
 * Runs when ALLM_JSONTESTSUITE names the folder with its files, else skips.
 * The first letter of a name is the verdict: y must be accepted, n refused, of
 * i we only demand that nothing breaks.  What is accepted must come out of the
 * writer as something that is accepted, and equal.
 */
#include "base/buf.h"
#include "base/file.h"
#include "harness/check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* The suite accepts equal keys; so does the reader, with an option. */
static const allm_json_opts lenient = {
    .size = sizeof lenient, .max_depth = 1000, .flags = ALLM_JSON_DUPLICATES
};

static void check_again(const allm_json *v)
{
    allm_text *text = allm_json_write(v, 0);
    size_t len;
    const char *bytes = allm_text_bytes(text, &len);
    allm_json *again = allm_json_parse(bytes, len, &lenient);
    CHECK(!allm_json_error(again));
    CHECK(allm_json_equal(v, again));
    allm_json_free(again);
    allm_text_free(text);
}

static void check_file(struct arena *a, const char *folder, const char *name)
{
    char path[4096];
    struct slice text;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!CHECK_WHY(file_read(a, path, SIZE_MAX, &text) == 0, path))
        return;
    char *exact = arena_alloc(a, text.len + 1);
    memcpy(exact, text.ptr, text.len);
    exact[text.len] = '\0';
    allm_json *v = allm_json_parse(exact, text.len, &lenient);
    bool accepted = !allm_json_error(v);
    if (*name == 'y')
        CHECK_WHY(accepted, name);
    if (*name == 'n')
        CHECK_WHY(!accepted, name);
    if (accepted)
        check_again(v);
    bool complete;
    allm_json *part = allm_json_partial(exact, text.len, &complete);
    if (*name == 'n')
        CHECK_WHY(!complete, name);
    allm_json_free(part);
    allm_json_free(v);
}

static void runs_the_suite(void)
{
    const char *folder = getenv("ALLM_JSONTESTSUITE");
    DIR *dir = folder ? opendir(folder) : NULL;
    if (!dir) {
        check_skip("ALLM_JSONTESTSUITE names no folder");
        return;
    }
    static const char letters[] = "yni";
    size_t count[3] = { 0 };
    struct arena a;
    arena_init(&a, mem_default());
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        const char *letter = strchr(letters, e->d_name[0]);
        if (!letter || !*letter || e->d_name[1] != '_')
            continue;
        count[letter - letters]++;
        check_row(e->d_name);
        check_file(&a, folder, e->d_name);
        arena_reset(&a);
    }
    printf("# %zu accepted, %zu refused, %zu either way\n", count[0], count[1],
           count[2]);
    CHECK(count[0] + count[1] + count[2] > 0);
    arena_release(&a);
    closedir(dir);
}

TESTS = {
    TEST_ONCE(runs_the_suite),
    TESTS_END
};
