/* test_ignore.c - .gitignore, compared with git itself */
#include "toolbox/ignore.h"

#include "harness/check.h"
#include "harness/external.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct row {
    const char *why, *rules, *path;
    bool excluded;
};

/* A path that ends with a slash is a folder. */
static const struct row rows[] = {
    { "a name anywhere", "a.o\n", "d/e/a.o", true },
    { "another name", "a.o\n", "d/b.o", false },
    { "a star", "*.o\n", "d/x.o", true },
    { "a star in the middle", "a*z\n", "abcz", true },
    { "a question mark", "a?c\n", "abc", true },
    { "it is no slash", "d?x\n", "d/x", false },
    { "it is one byte", "a?c\n", "a\xC3\xA9" "c", false },
    { "two of them are a letter", "a??c\n", "a\xC3\xA9" "c", true },
    { "a set is bytes, too", "a[^b]c\n", "a\xC3\xA9" "c", false },
    { "a star is any number", "a*c\n", "a\xC3\xA9" "c", true },
    { "a letter in a pattern", "\xC3\xA9?\n", "\xC3\xA9x", true },
    { "a set", "[a-c].o\n", "b.o", true },
    { "a negated set", "[!a-c].o\n", "b.o", false },
    { "the other sign", "[^a-c].o\n", "d.o", true },
    { "a named set", "[[:digit:]]x\n", "7x", true },
    { "a bracket in a set", "[]a]\n", "]", true },
    { "a set that does not end", "a[b\n", "a[b", false },
    { "a comment", "#x\n", "#x", false },
    { "an escaped sign", "\\#x\n", "#x", true },
    { "an escaped mark", "\\!x\n", "!x", true },
    { "an escaped star", "\\*x\n", "*x", true },
    { "only that star", "\\*x\n", "ax", false },
    { "a backslash at the end", "a\\\n", "a", false },
    { "blank lines", "\n\n*.o\n", "x.o", true },
    { "spaces at the end", "a.o  \n", "a.o", true },
    { "an escaped space", "a\\ \n", "a ", true },
    { "CRLF", "a.o\r\n", "a.o", true },
    { "no LF at the end", "a.o", "a.o", true },
    { "not this one", "*.o\n!a.o\n", "a.o", false },
    { "the last one decides", "*.o\n!a.o\na.*\n", "a.o", true },
    { "a folder", "build/\n", "build/", true },
    { "a file of that name", "build/\n", "build", false },
    { "a folder anywhere", "build/\n", "d/build/", true },
    { "anchored", "/a.o\n", "a.o", true },
    { "not below", "/a.o\n", "d/a.o", false },
    { "a slash anchors", "d/a.o\n", "d/a.o", true },
    { "so it is not found below", "d/a.o\n", "e/d/a.o", false },
    { "a star is no slash", "d/*x\n", "d/e/x", false },
    { "all of a folder", "d/*\n", "d/x", true },
    { "stars first", "**/a.o\n", "d/e/a.o", true },
    { "stars first, nothing", "**/a.o\n", "a.o", true },
    { "stars first and a path", "**/d/a.o\n", "x/d/a.o", true },
    { "stars last", "d/**\n", "d/e/f", true },
    { "stars last, the folder", "d/**\n", "d/", false },
    { "stars in the middle", "d/**/a\n", "d/x/y/a", true },
    { "stars for nothing", "d/**/a\n", "d/a", true },
    { "stars in a name", "a**z\n", "axxz", true },
    { "stars in a name are no slash", "d/a**z\n", "d/ax/z", false },
    { "braces are letters", "{a,b}\n", "a", false },
    { "braces", "{a,b}\n", "{a,b}", true },
    { "a mark of the byte order", "\xEF\xBB\xBF" "a.o\n", "a.o", true },
    { "letters beyond ASCII", "*.\xC3\xA9\n", "a.\xC3\xA9", true },
    { "a dot is a dot", "a.o\n", "aXo", false },
    { "signs of patterns", "a+(b)|^$\n", "a+(b)|^$", true },
    { "upper case differs", "A.O\n", "a.o", false },
    { "only a slash", "/\n", "a", false },
    { "only stars", "**\n", "a", true },
    { "a star and a folder", "*/x\n", "d/x", true },
};

enum { ROWS = sizeof rows / sizeof *rows };

static struct slice without_slash(const char *path)
{
    struct slice s = slice_of(path);
    if (s.ptr[s.len - 1] == '/')
        s.len--;
    return s;
}

static void follows_the_rules(void)
{
    for (size_t i = 0; i < ROWS; i++) {
        struct arena a, scratch;
        check_row(rows[i].why);
        arena_init(&a, mem_default());
        arena_init(&scratch, mem_default());
        const struct ignore *rules = ignore_new(&a, NULL, 0,
                                                slice_of(rows[i].rules));
        struct slice path = without_slash(rows[i].path);
        bool folder = path.ptr[path.len] == '/';
        CHECK(rules && ignore_excludes(rules, path, folder, &scratch) ==
                           rows[i].excluded);
        arena_release(&scratch);
        arena_release(&a);
    }
}

static void lets_deeper_folders_decide(void)
{
    struct arena a, scratch;
    arena_init(&a, mem_default());
    arena_init(&scratch, mem_default());
    const struct ignore *top = ignore_new(&a, NULL, 0, SLICE("*.o\n/x\n"));
    const struct ignore *deep = ignore_new(&a, top, 2, SLICE("!a.o\n/y\n"));
    CHECK(!deep || !ignore_excludes(deep, SLICE("d/a.o"), false, &scratch));
    CHECK(deep && ignore_excludes(deep, SLICE("d/b.o"), false, &scratch));
    CHECK(deep && ignore_excludes(deep, SLICE("d/y"), false, &scratch));
    CHECK(!deep || !ignore_excludes(deep, SLICE("d/x"), false, &scratch));
    CHECK(!ignore_excludes(NULL, SLICE("d/x"), false, &scratch));
    arena_release(&scratch);
    arena_release(&a);
}

/* Run a command in a folder; $NAME is the path. */
static int run_shell(const char *root, const char *command)
{
    char text[1024];
    snprintf(text, sizeof text, "cd %s && %s", root, command);
    return system(text);
}

/* What git says about a path in a repository with these rules. */
static bool git_excludes(const char *root, const struct row *row)
{
    char path[256];
    struct slice name = without_slash(row->path);
    snprintf(path, sizeof path, "%.*s", (int)name.len, name.ptr);
    external_file(".gitignore", row->rules);
    setenv("NAME", path, 1);
    if (row->path[name.len])
        run_shell(root, "mkdir -p -- \"$NAME\"");
    int code = run_shell(root, "git check-ignore -q --no-index -- \"$NAME\"");
    if (row->path[name.len])
        run_shell(root, "rmdir -- \"$NAME\"");
    return code == 0;
}

static void agrees_with_git(void)
{
    if (system("git --version >/dev/null 2>&1") != 0) {
        check_skip("git is not installed");
        return;
    }
    struct external_count before = external_count();
    const char *root = external_folder();
    CHECK(!run_shell(root, "git init -q"));
    for (size_t i = 0; i < ROWS; i++) {
        check_row(rows[i].why);
        CHECK(git_excludes(root, &rows[i]) == rows[i].excluded);
    }
    external_clean();
    CHECK_ALWAYS(external_same(before));
}

TESTS = {
    TEST(follows_the_rules),
    TEST(lets_deeper_folders_decide),
    TEST_ONCE(agrees_with_git),
    TESTS_END,
};
