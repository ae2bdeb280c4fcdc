/*
 * test_random_faults.c - a system that interrupts, returns little, or fails
 *
 * The program's own getrandom() and read() take the place of the system's.
 */
#include "base/random.h"

#include "harness/check.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

/* What the two do, call by call: 'i' is interrupted, 'f' fails, '0' gives
 * nothing, '1' gives one byte; the end of the text gives all. */
static const char *kernel = "", *device = "";
static size_t kernel_calls, device_calls;

/* How many of `len` bytes to give; -1 to fail with errno. */
static ssize_t follow(const char **script, size_t len, int refusal)
{
    switch (**script ? *(*script)++ : 'a') {
    case 'i':
        errno = EINTR;
        return -1;
    case 'f':
        errno = refusal;
        return -1;
    case '0':
        return 0;
    case '1':
        return 1;
    default:
        return (ssize_t)len;
    }
}

ssize_t getrandom(void *bytes, size_t len, unsigned flags)
{
    (void)flags;
    kernel_calls++;
    ssize_t n = follow(&kernel, len, ENOSYS);
    if (n > 0)
        memset(bytes, 'k', (size_t)n);
    return n;
}

ssize_t read(int fd, void *bytes, size_t len)
{
    device_calls++;
    ssize_t n = follow(&device, len, EIO);
    if (n < 0)
        return n;
    struct iovec part = { bytes, (size_t)n };
    ssize_t got = readv(fd, &part, 1);
    if (got > 0)
        memset(bytes, 'd', (size_t)got);
    return got;
}

static void asks_until_it_has_all(void)
{
    static const struct {
        const char *why;
        const char *kernel, *device;
        const char *bytes;      /* NULL: it must fail */
        size_t kernel_calls, device_calls;
    } rows[] = {
        { "all at once", "", "", "kkkk", 1, 0 },
        { "interrupted", "iii", "", "kkkk", 4, 0 },
        { "byte by byte", "111", "", "kkkk", 4, 0 },
        { "refused: the device is asked", "f", "", "dddd", 1, 1 },
        { "refused in the middle: all anew", "1f", "", "dddd", 2, 1 },
        { "nothing from the kernel", "0", "", "dddd", 1, 1 },
        { "the device is interrupted", "f", "i1i", "dddd", 1, 4 },
        { "the device fails, too", "f", "f", NULL, 1, 1 },
        { "the device fails in the middle", "f", "1f", NULL, 1, 2 },
        { "the device has nothing", "f", "0", NULL, 1, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        char bytes[5] = { 0 };
        kernel = rows[i].kernel;
        device = rows[i].device;
        kernel_calls = device_calls = 0;
        bool filled = random_fill(random_system(), bytes, 4);
        CHECK(filled == (rows[i].bytes != NULL));
        if (filled)
            CHECK_TEXT(bytes, rows[i].bytes);
        CHECK_INT(kernel_calls, rows[i].kernel_calls);
        CHECK_INT(device_calls, rows[i].device_calls);
    }
}

TESTS = {
    TEST(asks_until_it_has_all),
    TESTS_END
};
