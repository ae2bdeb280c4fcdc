/* test_file.c - read and write whole files, within a limit */
#include "base/file.h"

#include "harness/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* A temporary folder for each test. */
struct place {
    char folder[200];
    char file[300];
};

static bool make_place(struct place *p)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(p->folder, sizeof p->folder, "%.150s/allm-test-XXXXXX",
             tmp ? tmp : "/tmp");
    if (!mkdtemp(p->folder)) {
        check_skip("no temporary folder");
        return false;
    }
    snprintf(p->file, sizeof p->file, "%s/file", p->folder);
    return true;
}

static void clear_place(struct place *p)
{
    unlink(p->file);
    rmdir(p->folder);
}

/* A file of so many bytes, which are not all the same. */
static void write_file(const char *path, size_t size)
{
    FILE *f = fopen(path, "wb");
    for (size_t i = 0; f && i < size; i++)
        putc((int)(i * 7 % 251), f);
    CHECK_ALWAYS(f && fclose(f) == 0);
}

static bool is_as_written(struct slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] != i * 7 % 251)
            return false;
    return s.ptr[s.len] == '\0';
}

/* The number the next open() would give: equal before and after, no leak. */
static int next_descriptor(void)
{
    int fd = open("/dev/null", O_RDONLY);
    close(fd);
    return fd;
}

/* -------------------------------------------------------- regular files --- */

static void reads_what_was_written(void)
{
    static const struct {
        const char *why;
        size_t size, limit;
        int error;
    } rows[] = {
        { "an empty file", 0, 100, 0 },
        { "an empty file, nothing allowed", 0, 0, 0 },
        { "a byte, nothing allowed", 1, 0, EFBIG },
        { "less than the limit", 99, 100, 0 },
        { "exactly the limit", 100, 100, 0 },
        { "a byte too much", 101, 100, EFBIG },
        { "much too much", 50000, 100, EFBIG },
        { "a page", 4096, 100000, 0 },
        { "many pages", 300000, 1 << 20, 0 },
        { "no limit", 5000, SIZE_MAX, 0 },
    };
    struct place here;
    if (!make_place(&here))
        return;
    int descriptor = next_descriptor();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        struct arena a;
        struct slice got = SLICE("untouched");
        arena_init(&a, mem_default());
        write_file(here.file, rows[i].size);
        int error = file_read(&a, here.file, rows[i].limit, &got);
        CHECK_INT(error, rows[i].error);
        if (error) {
            CHECK_ALWAYS(slice_is(got, "untouched"));
            CHECK_ALWAYS(error == rows[i].error || error == ENOMEM);
        } else {
            CHECK_ALWAYS(got.len == rows[i].size && is_as_written(got));
        }
        arena_release(&a);
    }
    CHECK_ALWAYS(next_descriptor() == descriptor);
    clear_place(&here);
}

static void a_known_size_needs_one_allocation(void)
{
    struct place here;
    struct arena a;
    struct slice got;
    if (!make_place(&here))
        return;
    write_file(here.file, 300000);
    arena_init(&a, mem_default());
    CHECK_INT(file_read(&a, here.file, 1 << 20, &got), 0);
    CHECK_INT(check_allocations(), 1);
    CHECK(arena_held(&a) < 300000 + 100);
    arena_release(&a);
    clear_place(&here);
}

static void lack_of_memory_is_reported(void)
{
    struct place here;
    struct arena a;
    struct slice got;
    if (!make_place(&here))
        return;
    write_file(here.file, 10);
    arena_init(&a, mem_default());
    int error = file_read(&a, here.file, 100, &got);
    CHECK_ALWAYS(error == (check_whole() ? 0 : ENOMEM));
    CHECK_ALWAYS(check_whole() || a.broken);
    arena_release(&a);
    clear_place(&here);
}

static void the_arena_goes_on(void)
{
    struct place here;
    struct arena a;
    struct slice got = { NULL, 0 };
    if (!make_place(&here))
        return;
    write_file(here.file, 20);
    arena_init(&a, mem_default());
    char *before = arena_text(&a, "before");
    int error = file_read(&a, here.file, 100, &got);
    char *between = arena_text(&a, "between");
    struct slice none;
    CHECK_ALWAYS(file_read(&a, here.file, 19, &none) != 0);
    char *after = arena_text(&a, "after");
    CHECK_TEXT(before, "before");
    CHECK_TEXT(between, "between");
    CHECK_TEXT(after, "after");
    CHECK_ALWAYS(error || is_as_written(got));
    arena_release(&a);
    clear_place(&here);
}

/* --------------------------------------------------------------- errors --- */

static void tells_why_it_cannot(void)
{
    struct place here;
    if (!make_place(&here))
        return;
    write_file(here.file, 10);
    char inside[320], missing[320], looping[320];
    snprintf(inside, sizeof inside, "%s/inside", here.file);
    snprintf(missing, sizeof missing, "%s/missing", here.folder);
    snprintf(looping, sizeof looping, "%s/loop", here.folder);
    CHECK_ALWAYS(symlink(looping, looping) == 0);
    const struct {
        const char *why;
        const char *path;
        int error;
    } rows[] = {
        { "a missing file", missing, ENOENT },
        { "an empty path", "", ENOENT },
        { "no path", NULL, EINVAL },
        { "a folder", here.folder, EISDIR },
        { "a file used as a folder", inside, ENOTDIR },
        { "a link to itself", looping, ELOOP },
    };
    int descriptor = next_descriptor();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        struct arena a;
        struct slice got = SLICE("untouched");
        arena_init(&a, mem_default());
        CHECK_INT(file_read(&a, rows[i].path, 100, &got), rows[i].error);
        CHECK_ALWAYS(slice_is(got, "untouched"));
        CHECK_INT(arena_held(&a), 0);
        arena_release(&a);
    }
    CHECK_ALWAYS(next_descriptor() == descriptor);
    unlink(looping);
    clear_place(&here);
}

/* None of these blocks, although no process writes to them. */
static void reads_regular_files_only(void)
{
    struct place here;
    char fifo[320], link[320], local[320];
    if (!make_place(&here))
        return;
    write_file(here.file, 10);
    snprintf(fifo, sizeof fifo, "%s/fifo", here.folder);
    snprintf(link, sizeof link, "%s/link", here.folder);
    snprintf(local, sizeof local, "%s/socket", here.folder);
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    snprintf(name.sun_path, sizeof name.sun_path, "%.100s", local);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK_ALWAYS(mkfifo(fifo, 0600) == 0 && symlink(fifo, link) == 0 &&
                 bind(fd, (struct sockaddr *)&name, sizeof name) == 0);
    const struct {
        const char *why, *path;
        int error;
    } rows[] = {
        { "a file", here.file, 0 },          { "a pipe", fifo, ENOTSUP },
        { "a link to one", link, ENOTSUP },  { "a socket", local, ENOTSUP },
        { "a device", "/dev/zero", ENOTSUP }, { "no path", NULL, EINVAL },
        { "a folder", here.folder, EISDIR }, { "nothing", "", ENOENT },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        struct arena a;
        struct slice got = SLICE("untouched");
        arena_init(&a, mem_default());
        int error = file_read_regular(&a, rows[i].path, 100, &got);
        CHECK_INT(error, rows[i].error);
        CHECK_ALWAYS(error ? slice_is(got, "untouched") : is_as_written(got));
        arena_release(&a);
    }
    close(fd);
    unlink(fifo);
    unlink(link);
    unlink(local);
    clear_place(&here);
}

static void a_closed_file_stays_closed(void)
{
    struct place here;
    struct arena a;
    struct slice got;
    if (!make_place(&here))
        return;
    write_file(here.file, 10);
    chmod(here.file, 0);
    arena_init(&a, mem_default());
    uid_t self = geteuid();     /* the superuser may read everything */
    if (self == 0 && seteuid(65534) != 0)
        check_skip("the superuser cannot be somebody else");
    else
        CHECK_INT(file_read(&a, here.file, 100, &got), EACCES);
    CHECK_ALWAYS(self != 0 || seteuid(0) == 0);
    arena_release(&a);
    clear_place(&here);
}

/* ------------------------------------------------ places without a size --- */

/* A pipe with so many bytes in it, ended; its path, or "" if there is none. */
static int make_pipe(size_t size, char path[64])
{
    int ends[2];
    *path = '\0';
    if (pipe(ends) != 0)
        return -1;
    for (size_t i = 0; i < size; i++) {
        char byte = (char)(unsigned char)(i * 7 % 251);
        CHECK_ALWAYS(write(ends[1], &byte, 1) == 1);
    }
    close(ends[1]);
    snprintf(path, 64, "/dev/fd/%d", ends[0]);
    return ends[0];
}

static void reads_pipes(void)
{
    static const struct {
        const char *why;
        size_t size, limit;
        int error;
    } rows[] = {
        { "nothing in it", 0, 100, 0 },
        { "exactly the limit", 100, 100, 0 },
        { "a byte too much", 101, 100, EFBIG },
        { "more than the first room", 30000, SIZE_MAX, 0 },
        { "more than the first room, exactly the limit", 30000, 30000, 0 },
        { "more than the first room, too much", 30001, 30000, EFBIG },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        char path[64];
        struct arena a;
        struct slice got = SLICE("untouched");
        int fd = make_pipe(rows[i].size, path);
        if (access(path, R_OK) != 0) {
            check_skip("no /dev/fd");
            close(fd);
            return;
        }
        arena_init(&a, mem_default());
        int error = file_read(&a, path, rows[i].limit, &got);
        CHECK_INT(error, rows[i].error);
        CHECK_ALWAYS(error ? slice_is(got, "untouched")
                           : got.len == rows[i].size && is_as_written(got));
        arena_release(&a);
        close(fd);
    }
}

/* Of a pipe with more than the limit, one byte more is taken and no further. */
static void reads_at_most_a_byte_too_much(void)
{
    char path[64], rest[64];
    struct arena a;
    struct slice got;
    int fd = make_pipe(50, path);
    arena_init(&a, mem_default());
    if (access(path, R_OK) != 0)
        check_skip("no /dev/fd");
    else if (file_read(&a, path, 10, &got) == EFBIG)
        CHECK_INT(read(fd, rest, sizeof rest), 50 - 11);
    arena_release(&a);
    close(fd);
}

static void reads_devices(void)
{
    struct arena a;
    struct slice got = { NULL, 0 };
    arena_init(&a, mem_default());
    CHECK_INT(file_read(&a, "/dev/null", 100, &got), 0);
    CHECK_SLICE(got, SLICE(""));
    int error = file_read(&a, "/dev/zero", 100000, &got);
    CHECK_INT(error, EFBIG);
    CHECK_ALWAYS(error != 0);
    arena_release(&a);
}

/* A file of /proc says that it is empty. */
static void reads_files_that_hide_their_size(void)
{
    struct arena a;
    struct slice got = { NULL, 0 };
    if (access("/proc/self/status", R_OK) != 0) {
        check_skip("no /proc");
        return;
    }
    arena_init(&a, mem_default());
    CHECK_INT(file_read(&a, "/proc/self/status", 1 << 20, &got), 0);
    CHECK(slice_starts(got, SLICE("Name:")));
    arena_release(&a);
}

/* -------------------------------------------------------------- writing --- */

static void is_content(const char *path, const char *want)
{
    struct arena a;
    struct slice got = { NULL, 0 };
    arena_init(&a, mem_default());
    CHECK_INT(file_read(&a, path, 1 << 20, &got), 0);
    CHECK_SLICE(got, slice_of(want));
    arena_release(&a);
}

static void writes_new_and_old_files(void)
{
    struct place p;
    struct arena a;
    struct stat info;
    if (!make_place(&p))
        return;
    int before = next_descriptor();
    arena_init(&a, mem_default());
    CHECK_INT(file_write(&a, p.file, SLICE("one")), 0);
    is_content(p.file, "one");
    chmod(p.file, 0640);
    CHECK_INT(file_write(&a, p.file, SLICE("")), 0);
    is_content(p.file, "");
    CHECK(stat(p.file, &info) == 0 && (info.st_mode & 07777) == 0640);
    CHECK_INT(file_write_private(&a, p.file, SLICE("two")), 0);
    is_content(p.file, "two");
    CHECK(stat(p.file, &info) == 0 && (info.st_mode & 07777) == 0600);
    CHECK_ALWAYS(next_descriptor() == before);
    arena_release(&a);
    clear_place(&p);
}

/* A write that fails leaves the old file, and no other one. */
static void a_write_that_fails_changes_nothing(void)
{
    struct place p;
    struct arena a;
    if (!make_place(&p))
        return;
    write_file(p.file, 0);
    arena_init(&a, mem_default());
    CHECK_INT(file_write(&a, NULL, SLICE("x")), EINVAL);
    CHECK_INT(file_write(&a, "", SLICE("x")), EINVAL);
    CHECK_INT(file_write(&a, p.folder, SLICE("x")), EISDIR);
    char inside[400];
    snprintf(inside, sizeof inside, "%s/more", p.file);
    CHECK_INT(file_write(&a, inside, SLICE("x")), ENOTDIR);
    snprintf(inside, sizeof inside, "%s/none/more", p.folder);
    CHECK_INT(file_write(&a, inside, SLICE("x")), ENOENT);
    snprintf(inside, sizeof inside, "%s/pipe", p.folder);
    CHECK_ALWAYS(mkfifo(inside, 0600) == 0);
    CHECK_INT(file_write(&a, inside, SLICE("x")), ENOTSUP);
    CHECK_ALWAYS(unlink(inside) == 0);
    arena_release(&a);
    CHECK_ALWAYS(unlink(p.file) == 0 && rmdir(p.folder) == 0);
}

/* ---------------------------------------------------------------- names --- */

static void links_are_followed(void)
{
    static const struct {
        const char *why, *to, *leads;
        int error;
    } rows[] = {
        { "a neighbour", "file", "file", 0 },
        { "from the root", "/nonexistent/x", "/nonexistent/x", 0 },
        { "further up", "../none/x", "../none/x", 0 },
        { "itself", "link", NULL, ELOOP },
    };
    struct place p;
    if (!make_place(&p))
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char link[400], wanted[400];
        struct arena a;
        const char *found = NULL;
        check_row(rows[i].why);
        arena_init(&a, mem_default());
        snprintf(link, sizeof link, "%s/link", p.folder);
        CHECK_ALWAYS(symlink(rows[i].to, link) == 0);
        CHECK_INT(file_follow(&a, link, &found), rows[i].error);
        bool whole = rows[i].leads && *rows[i].leads == '/';
        snprintf(wanted, sizeof wanted, "%s%s%s", whole ? "" : p.folder,
                 whole ? "" : "/", rows[i].leads ? rows[i].leads : "");
        if (rows[i].leads)
            CHECK_TEXT(found, wanted);
        CHECK_INT(file_follow(&a, p.file, &found), 0);
        CHECK_TEXT(found, p.file);
        unlink(link);
        arena_release(&a);
    }
    clear_place(&p);
}

static void errors_have_names(void)
{
    static const struct {
        int error;
        const char *name;
    } rows[] = {
        { ENOENT, "enoent" }, { EACCES, "eacces" }, { EISDIR, "eisdir" },
        { ENOTDIR, "enotdir" }, { EFBIG, "efbig" }, { ENOMEM, "enomem" },
        { EINVAL, "einval" }, { EMFILE, "emfile" }, { ELOOP, "eloop" },
        { ENAMETOOLONG, "enametoolong" }, { EROFS, "erofs" }, { EIO, "eio" },
        { 0, "eio" }, { -1, "eio" }, { 99999, "eio" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].name);
        CHECK_TEXT(file_error_name(rows[i].error), rows[i].name);
    }
}

static void messages_are_in_words(void)
{
    CHECK_TEXT(file_error_words(ENOENT), "there is no such file or folder");
    CHECK_TEXT(file_error_words(ENOSPC), "the disk is full");
    CHECK_TEXT(file_error_words(ESPIPE), "espipe");
    CHECK_TEXT(file_error_words(-1), "eio");
}

TESTS = {
    TEST(reads_what_was_written),
    TEST(a_known_size_needs_one_allocation),
    TEST(lack_of_memory_is_reported),
    TEST(the_arena_goes_on),
    TEST(tells_why_it_cannot),
    TEST(reads_regular_files_only),
    TEST(a_closed_file_stays_closed),
    TEST(reads_pipes),
    TEST(reads_at_most_a_byte_too_much),
    TEST(reads_devices),
    TEST(reads_files_that_hide_their_size),
    TEST(writes_new_and_old_files),
    TEST(a_write_that_fails_changes_nothing),
    TEST(links_are_followed),
    TEST(errors_have_names),
    TEST(messages_are_in_words),
    TESTS_END
};
