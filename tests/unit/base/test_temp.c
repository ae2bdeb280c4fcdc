/* test_temp.c - temporary files, and those that killed writers left */
#include "base/temp.h"

#include "base/file.h"
#include "harness/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/allm-temp-XXXXXX";
static char file[64];

static void begin(void)
{
    memcpy(folder + sizeof folder - 7, "XXXXXX", 6);
    CHECK_ALWAYS(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/notes", folder);
}

static const char *beside(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* How many files there are. */
static int count(void)
{
    int n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        n += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

static void end(void)
{
    unlink(file);
    CHECK_ALWAYS(rmdir(folder) == 0);
}

/* A process that writes half of a new file, says so, and waits to be killed or
 * told to go on: then it puts the file in place. */
static pid_t start_writer(int *from, int *to)
{
    int said[2], told[2];
    char c = 'x';
    CHECK_ALWAYS(pipe(said) == 0 && pipe(told) == 0);
    pid_t child = fork();
    if (child == 0) {
        struct arena a;
        const char *name;
        arena_init(&a, mem_default());
        close(told[1]);
        int fd = temp_open(&a, file, 0600, &name);
        bool ok = fd >= 0 && write(fd, "half", 4) == 4 &&
                  write(said[1], &c, 1) == 1 && read(told[0], &c, 1) == 1;
        _exit(ok && rename(name, file) == 0 ? 0 : 1);
    }
    close(said[1]);
    close(told[0]);
    *from = said[0];
    *to = told[1];
    CHECK_ALWAYS(child > 0 && read(said[0], &c, 1) == 1);
    return child;
}

static int wait_for(pid_t child, int from, int to)
{
    int status = -1;
    waitpid(child, &status, 0);
    close(from);
    close(to);
    return status;
}

static void what_a_killed_writer_left_goes(void)
{
    struct arena a;
    int from, to;
    begin();
    arena_init(&a, mem_default());
    for (int i = 0; i < 3; i++) {
        pid_t child = start_writer(&from, &to);
        kill(child, SIGKILL);
        CHECK_ALWAYS(WIFSIGNALED(wait_for(child, from, to)));
    }
    CHECK_INT(count(), 3);
    CHECK_INT(file_write(&a, file, SLICE("new")), 0);
    CHECK_INT(count(), 1);
    arena_release(&a);
    end();
}

static void what_a_living_writer_has_stays(void)
{
    struct arena a;
    int from, to;
    struct slice got = { NULL, 0 };
    begin();
    arena_init(&a, mem_default());
    pid_t child = start_writer(&from, &to);
    CHECK_INT(file_write(&a, file, SLICE("new")), 0);
    CHECK_INT(count(), 2);
    CHECK_ALWAYS(write(to, "x", 1) == 1);
    CHECK_ALWAYS(wait_for(child, from, to) == 0);
    CHECK_INT(count(), 1);
    CHECK_INT(file_read(&a, file, 100, &got), 0);
    CHECK_SLICE(got, SLICE("half"));
    arena_release(&a);
    end();
}

/* Names that almost have that form, and things that are not files. */
static void nothing_else_goes(void)
{
    static const char *const names[] = {
        "note.12345678.tmp", "notes.1234567.tmp", "notes.123456789.tmp",
        "notes.1234567X.tmp", "notes.12345678.tmp2", "notes_12345678.tmp",
        "xnotes.12345678.tmp", "notes.12345678.TMP",
    };
    enum { NAMES = sizeof names / sizeof *names };
    struct arena a;
    begin();
    arena_init(&a, mem_default());
    for (size_t i = 0; i < NAMES; i++)
        close(open(beside(names[i]), O_CREAT | O_WRONLY, 0600));
    CHECK_ALWAYS(mkfifo(beside("notes.0badf1f0.tmp"), 0600) == 0);
    CHECK_ALWAYS(symlink("note.12345678.tmp", beside("notes.01234567.tmp")) ==
                 0);
    CHECK_ALWAYS(mkdir(beside("notes.0000000d.tmp"), 0700) == 0);
    temp_sweep(&a, file);
    CHECK_INT(count(), NAMES + 3);
    close(open(beside("notes.12345678.tmp"), O_CREAT | O_WRONLY, 0600));
    temp_sweep(&a, file);
    CHECK_INT(count(), NAMES + 3);
    for (size_t i = 0; i < NAMES; i++)
        unlink(beside(names[i]));
    unlink(beside("notes.12345678.tmp"));   /* if memory was lacking */
    unlink(beside("notes.0badf1f0.tmp"));
    unlink(beside("notes.01234567.tmp"));
    rmdir(beside("notes.0000000d.tmp"));
    arena_release(&a);
    end();
}

static void a_file_of_this_folder_needs_no_slash(void)
{
    struct arena a;
    const char *name = NULL;
    char old[1024];
    begin();
    CHECK_ALWAYS(getcwd(old, sizeof old) && chdir(folder) == 0);
    arena_init(&a, mem_default());
    close(open("notes.12345678.tmp", O_CREAT | O_WRONLY, 0600));
    temp_sweep(&a, "notes");
    CHECK_INT(count(), 0);
    unlink("notes.12345678.tmp");
    int fd = temp_open(&a, "notes", 0600, &name);
    CHECK(fd >= 0);
    if (fd >= 0) {
        CHECK_ALWAYS(unlink(name) == 0);
        close(fd);
    }
    CHECK_ALWAYS(chdir(old) == 0);
    CHECK_ALWAYS(temp_open(&a, "/nonexistent/x", 0600, &name) < 0);
    temp_sweep(&a, "/nonexistent/x");
    arena_release(&a);
    end();
}

TESTS = {
    TEST_ONCE(what_a_killed_writer_left_goes),
    TEST_ONCE(what_a_living_writer_has_stays),
    TEST(nothing_else_goes),
    TEST(a_file_of_this_folder_needs_no_slash),
    TESTS_END,
};
