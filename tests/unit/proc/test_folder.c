/* test_folder.c - a private folder, removed whatever a tool left in it */
#define _XOPEN_SOURCE 700       /* symlink, mkdirat */
#include "proc/folder.h"

#include "harness/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void fill_folder(int at)
{
    int fd = openat(at, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0400);
    close(fd);
    CHECK_ALWAYS(!symlinkat("/etc", at, "link"));
    CHECK_ALWAYS(!mkfifoat(at, "fifo", 0600));
    CHECK_ALWAYS(!mkdirat(at, "empty", 0700));
    CHECK_ALWAYS(!mkdirat(at, "moved-0", 0700));
}

/* Deeper than any path may be long. */
static void dig(int at, int depth)
{
    int fd = dup(at);
    for (int i = 0; i < depth; i++) {
        mkdirat(fd, "down-a-long-name", 0700);
        int next = openat(fd, "down-a-long-name", O_RDONLY | O_CLOEXEC);
        if (i % 100 == 0)
            fill_folder(next);
        close(fd);
        fd = next;
    }
    close(fd);
}

static void is_removed_with_everything(void)
{
    struct arena a;
    struct stat st;
    int error;
    arena_init(&a, mem_default());
    const char *path = folder_new(&a, &error);
    if (path) {
        CHECK_ALWAYS(!stat(path, &st) && (st.st_mode & 0777) == 0700);
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        fill_folder(fd);
        dig(fd, 700);
        mkdirat(fd, "closed", 0700);
        close(openat(fd, "closed/file", O_CREAT | O_WRONLY, 0600));
        fchmodat(fd, "closed", 0, 0);
        close(fd);
        folder_remove(path);
        CHECK_ALWAYS(stat(path, &st) && errno == ENOENT);
        CHECK_ALWAYS(!stat("/etc/passwd", &st));
    }
    folder_remove(NULL);
    folder_remove("/no/such/folder");
    arena_release(&a);
}

static void needs_a_place(void)
{
    struct arena a;
    int error;
    static char before[256];
    const char *place = getenv("TMPDIR");
    snprintf(before, sizeof before, "%s", place ? place : "/tmp");
    arena_init(&a, mem_default());
    setenv("TMPDIR", "/proc", 1);
    CHECK_ALWAYS(!folder_new(&a, &error) && error);
    setenv("TMPDIR", "relative", 1);        /* then /tmp */
    const char *path = folder_new(&a, &error);
    CHECK(path && !strncmp(path, "/tmp/", 5));
    folder_remove(path);
    setenv("TMPDIR", before, 1);
    arena_release(&a);
}

/* A process that could not be started has left nothing in it. */
static void is_removed_without_a_descriptor(void)
{
    struct arena a;
    struct rlimit before, none;
    int error;
    arena_init(&a, mem_default());
    const char *path = folder_new(&a, &error);
    CHECK(!getrlimit(RLIMIT_NOFILE, &before));
    none = (struct rlimit){ .rlim_cur = 0, .rlim_max = before.rlim_max };
    CHECK(!setrlimit(RLIMIT_NOFILE, &none));
    folder_remove(path);
    CHECK(!setrlimit(RLIMIT_NOFILE, &before));
    CHECK(path && access(path, F_OK) && errno == ENOENT);
    arena_release(&a);
}

TESTS = { TEST(is_removed_with_everything), TEST(needs_a_place),
          TEST_ONCE(is_removed_without_a_descriptor), TESTS_END };
