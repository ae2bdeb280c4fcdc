/* test_reach.c - which files a process may access by default, and never */
#include "proc/reach.h"

#include "harness/check.h"
#include "harness/external.h"
#include "proc/orders.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A home in which .ssh exists, and a link to it. */
static const char *make_home(void)
{
    const char *folder = external_folder();
    char path[128];
    snprintf(path, sizeof path, "%s/.ssh", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/work", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/work/link", folder);
    CHECK_ALWAYS(!symlink("../.ssh", path));
    setenv("HOME", folder, 1);
    return folder;
}

static void never_allows_secrets(void)
{
    static const struct {
        const char *path;
        bool forbidden;
    } rows[] = {
        { "~/.ssh", true },       { "~/.ssh/id_rsa", true },
        { "~", true },            { "~/", true },
        { "/", true },            { "/tmp", true },
        { "..", true },           { "link", true },
        { "link/key", true },     { "~/.sshfoo", false },
        { "~/work", false },      { ".", false },
        { "/usr", false },        { "~/.config/allm/x", true },
        { "~/.config", true },    { "~/.config/other", false },
        { "/xdg/allm/keys", true }, { "/xdg/other", false },
        { "~/./.ssh//x/", true }, { "~/none/x", false },
        { "/own/config/keys.json", true }, { "/own", true },
        { "/own/state", true },   { "/own/work", false },
    };
    struct arena a;
    char dir[128];
    snprintf(dir, sizeof dir, "%s/work", make_home());
    setenv("XDG_DATA_HOME", "/xdg", 1);
    setenv("ALLM_HOME", "/own", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].path);
        arena_init(&a, mem_default());
        const char *path = reach_resolve(&a, rows[i].path, dir);
        if (path)
            CHECK((reach_forbidden(&a, path) != NULL) == rows[i].forbidden);
        arena_release(&a);
    }
    unsetenv("XDG_DATA_HOME");
    unsetenv("ALLM_HOME");
    external_clean();
}

/* As for a service: then the system knows the home. */
static void knows_the_home_without_the_variable(void)
{
    const struct passwd *user = getpwuid(geteuid());
    struct reach_secrets found;
    struct arena a;
    char path[256];
    if (!user) {
        check_skip("this user is not known to the system");
        return;
    }
    snprintf(path, sizeof path, "%s/.ssh/key", user->pw_dir);
    arena_init(&a, mem_default());
    unsetenv("HOME");
    CHECK(reach_forbidden(&a, path) != NULL);
    CHECK(reach_forbidden(&a, user->pw_dir) != NULL);
    reach_find_secrets(&found, &a, user->pw_dir);
    CHECK(reach_is_secret(&found, path));
    setenv("HOME", "no/path", 1);
    CHECK(reach_forbidden(&a, path) != NULL);
    arena_release(&a);
}

static void leaves_out_the_home(void)
{
    struct arena a;
    struct buf out;
    const char *home = make_home();
    char line[200], program[160];
    setenv("PATH", "/usr/bin:/no/such/bin", 1);
    snprintf(program, sizeof program, "%s/tool", home);
    arena_init(&a, mem_default());
    buf_init(&out, &a, ORDERS_LIMIT);
    bool whole = reach_default(&out, program, home, "/private");
    CHECK(!whole);
    snprintf(line, sizeof line, " %s\n", home);
    CHECK(out.ptr && !strstr(out.ptr, line));
    snprintf(line, sizeof line, "exec %s\n", program);
    CHECK(out.ptr && strstr(out.ptr, line));
    CHECK(out.ptr && strstr(out.ptr, "private /private\n"));
    CHECK(out.ptr && strstr(out.ptr, "exec /no/such/bin\n"));
    CHECK(out.ptr && !strstr(out.ptr, "shadow"));
    arena_release(&a);
    external_clean();
}

/* It was resolved when the toolbox was made. */
static void follows_no_link_to_the_working_directory(void)
{
    struct arena a;
    struct buf out;
    char other[160], dir[160];
    snprintf(other, sizeof other, "%s/other", make_home());
    snprintf(dir, sizeof dir, "%s/work/dir", getenv("HOME"));
    CHECK_ALWAYS(!mkdir(other, 0700) && !symlink(other, dir));
    arena_init(&a, mem_default());
    buf_init(&out, &a, ORDERS_LIMIT);
    CHECK(!reach_default(&out, "/bin/true", dir, "/private"));
    CHECK(out.ptr && !strstr(out.ptr, other) && !strstr(out.ptr, dir));
    arena_release(&a);
    external_clean();
}

/* A rule of the kernel for each would slow down every start. */
static void names_folders_below_usr_once(void)
{
    static const struct {
        const char *home;
        bool all, one;
    } rows[] = { { "/h/me", true, false }, { "/usr/h/me", false, true } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct buf out;
        setenv("HOME", rows[i].home, 1);
        setenv("PATH", "/usr/bin", 1);
        arena_init(&a, mem_default());
        buf_init(&out, &a, ORDERS_LIMIT);
        reach_least(&out, "/usr/bin/env");
        CHECK(out.ptr && !!strstr(out.ptr, "exec /usr\n") == rows[i].all);
        CHECK(out.ptr && !!strstr(out.ptr, "exec /usr/bin\n") == rows[i].one);
        arena_release(&a);
    }
}

static void refuses_long_paths(void)
{
    static char path[10000];
    struct arena a;
    memset(path, 'x', sizeof path - 1);
    arena_init(&a, mem_default());
    CHECK_ALWAYS(!reach_resolve(&a, path, "/"));
    CHECK_ALWAYS(!reach_resolve(&a, "/none/../etc", "/"));
    CHECK_TEXT(reach_resolve(&a, "//none//./x/", "/"), "/none/x");
    CHECK_TEXT(reach_resolve(&a, "none", "/usr/../usr"), "/usr/none");
    CHECK_TEXT(reach_resolve(&a, "/", "/"), "/");
    arena_release(&a);
}

TESTS = { TEST(never_allows_secrets), TEST(leaves_out_the_home),
          TEST(names_folders_below_usr_once), TEST(refuses_long_paths),
          TEST_ONCE(knows_the_home_without_the_variable),
          TEST(follows_no_link_to_the_working_directory),
          TESTS_END };
