/*
 * test_file_faults.c - a read() that is interrupted, returns little, or fails,
 * and a file that grows or shrinks while it is read
 *
 * The program's own read() takes the place of the system's.
 */
#include "base/file.h"

#include "harness/check.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/*
 * What read() does, call by call: 'i' is interrupted, 'f' fails, '1' gives one
 * byte, 'a' as many as requested; the file ends with the script.  The file it
 * opens only provides the size.
 */
static const char *script = "";
static size_t most_asked, given;

ssize_t read(int fd, void *bytes, size_t len)
{
    (void)fd;
    if (len > most_asked)
        most_asked = len;
    if (!*script)
        return 0;
    switch (*script++) {
    case 'i':
        errno = EINTR;
        return -1;
    case 'f':
        errno = EIO;
        return -1;
    case '1':
        len = 1;
        break;
    default:
        break;
    }
    memset(bytes, 'x', len);
    given += len;
    return (ssize_t)len;
}

/* An existing file with a known size, and one without. */
static const char sized[] = "/etc/passwd", unsized[] = "/dev/null";

static void reads_to_the_end_come_what_may(void)
{
    static const struct {
        const char *why;
        const char *path;
        const char *script;
        size_t limit;
        int error;
    } rows[] = {
        { "empty, whatever its size said", sized, "", 1 << 20, 0 },
        { "shorter than it said", sized, "1", 1 << 20, 0 },
        { "longer than it said", sized, "aaaa", 1 << 20, 0 },
        { "interrupted", unsized, "i1ii1i", 100, 0 },
        { "byte by byte", unsized, "11111111", 100, 0 },
        { "byte by byte, to the limit", unsized, "11111111", 8, 0 },
        { "byte by byte, beyond the limit", unsized, "111111111", 8, EFBIG },
        { "much at once, beyond the limit", unsized, "a", 8, EFBIG },
        { "much, and much more", unsized, "aaaa", 1 << 20, 0 },
        { "much, and a byte", unsized, "aaa1", 1 << 20, 0 },
        { "a failure at once", unsized, "f", 100, EIO },
        { "a failure later", unsized, "11af", 1 << 20, EIO },
        { "a failure of a file with a size", sized, "1f", 1 << 20, EIO },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        struct arena a;
        struct slice got = SLICE("untouched");
        arena_init(&a, mem_default());
        script = rows[i].script;
        most_asked = given = 0;
        int error = file_read(&a, rows[i].path, rows[i].limit, &got);
        CHECK_INT(error, rows[i].error);
        CHECK_ALWAYS(given <= rows[i].limit + 1);
        CHECK_ALWAYS(most_asked <= rows[i].limit + 1);
        if (error) {
            CHECK_ALWAYS(slice_is(got, "untouched"));
        } else {
            CHECK_ALWAYS(got.len == given && got.ptr[got.len] == '\0');
            CHECK_ALWAYS(strspn(got.ptr, "x") == got.len);
        }
        arena_release(&a);
    }
}

TESTS = {
    TEST(reads_to_the_end_come_what_may),
    TESTS_END
};
