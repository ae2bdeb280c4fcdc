/* test_lock.c - a file lock excludes other processes and threads */
#include "base/lock.h"

#include "harness/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/allm-lock-XXXXXX";
static char path[64], lock[80];

static void begin(void)
{
    memcpy(folder + sizeof folder - 7, "XXXXXX", 6);
    CHECK_ALWAYS(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    snprintf(lock, sizeof lock, "%s/file.lock", folder);
}

static void end(void)
{
    unlink(lock);
    CHECK_ALWAYS(rmdir(folder) == 0);
}

static void one_has_it(void)
{
    struct lock a, b;
    struct stat info;
    char other[80];
    begin();
    CHECK_INT(lock_take(&a, mem_default(), path), 0);
    if (a.name) {
        CHECK_ALWAYS(stat(lock, &info) == 0 && (info.st_mode & 0777) == 0600);
        int why = lock_take(&b, mem_default(), path);
        CHECK_ALWAYS(why == EWOULDBLOCK || why == ENOMEM);
        CHECK_ALWAYS(!b.name);
        snprintf(other, sizeof other, "%s/./file", folder);
        CHECK_ALWAYS(lock_is_on(&a, path) && lock_is_on(&a, other));
        CHECK_ALWAYS(!lock_is_on(&a, folder) && !lock_is_on(&b, path));
    }
    lock_drop(&a);
    CHECK_ALWAYS(stat(lock, &info) != 0);
    CHECK_INT(lock_take(&b, mem_default(), path), 0);
    lock_drop(&b);
    lock_drop(&b);              /* none: nothing happens */
    end();
}

static void a_path_must_be_there(void)
{
    struct lock a;
    begin();
    CHECK_ALWAYS(lock_take(&a, mem_default(), NULL) == EINVAL);
    CHECK_ALWAYS(lock_take(&a, mem_default(), "") == EINVAL);
    CHECK_INT(lock_take(&a, mem_default(), "/nonexistent/x"), ENOENT);
    end();
}

/* The locks of a process are released when it ends, however it ends. */
static void it_goes_with_its_program(void)
{
    struct lock a;
    int status = 0;
    begin();
    pid_t child = fork();
    if (child == 0)
        _exit(lock_take(&a, mem_default(), path) == 0 ? 0 : 1);
    CHECK_ALWAYS(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_INT(status, 0);
    CHECK_INT(access(lock, F_OK), 0);   /* it was left behind */
    CHECK_INT(lock_take(&a, mem_default(), path), 0);
    lock_drop(&a);
    end();
}

/* Of many processes, only one has the lock at a time. */
static void a_lock_excludes_all_others(void)
{
    enum { PROGRAMS = 4, TIMES = 200 };
    char inside[80];
    begin();
    snprintf(inside, sizeof inside, "%s/inside", folder);
    pid_t child[PROGRAMS];
    for (int i = 0; i < PROGRAMS; i++) {
        child[i] = fork();
        if (child[i] != 0)
            continue;
        int bad = 0;
        for (int n = 0; n < TIMES;) {
            struct lock a;
            if (lock_take(&a, mem_default(), path) != 0)
                continue;
            bad += mkdir(inside, 0700) != 0;
            bad += rmdir(inside) != 0;
            lock_drop(&a);
            n++;
        }
        _exit(bad != 0);
    }
    for (int i = 0; i < PROGRAMS; i++) {
        int status = 1;
        waitpid(child[i], &status, 0);
        CHECK_INT(status, 0);
    }
    end();
}

TESTS = {
    TEST(one_has_it),
    TEST(a_path_must_be_there),
    TEST_ONCE(it_goes_with_its_program),
    TEST_ONCE(a_lock_excludes_all_others),
    TESTS_END,
};
