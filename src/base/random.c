/*
 * random.c - random bytes: the system's, or a seeded sequence for tests
 *
 * The system's source is getrandom() where available, otherwise (or if it
 * fails) /dev/urandom.  Nothing is kept between calls, so a fork or a second
 * thread never sees the same bytes.
 *
 * Numbers are composed from bytes, least significant first, so the same source
 * gives the same numbers on every machine.
 */
#include "base/random.h"

#include "base/base64.h"
#include "base/caller_struct.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* ----------------------------------------------------------- the system --- */

#ifdef __linux__
#include <sys/random.h>

static bool fill_from_kernel(char *bytes, size_t len)
{
    while (len) {
        ssize_t n = getrandom(bytes, len, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}
#else
static bool fill_from_kernel(char *bytes, size_t len)
{
    (void)bytes;
    return len == 0;
}
#endif

static bool read_fully(int fd, char *bytes, size_t len)
{
    while (len) {
        ssize_t n = read(fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

static bool fill_from_device(char *bytes, size_t len)
{
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return false;
    bool filled = read_fully(fd, bytes, len);
    close(fd);
    return filled;
}

static bool fill_from_system(void *ud, void *bytes, size_t len)
{
    (void)ud;
    return fill_from_kernel(bytes, len) || fill_from_device(bytes, len);
}

struct random random_system(void)
{
    return (struct random){ fill_from_system, NULL };
}

/* A struct that is too small to contain its function counts as absent. */
struct random random_from(const allm_random *given)
{
    allm_random mine;
    if (!given || !caller_struct_take(&mine, sizeof mine, given) ||
        !MEM_REACHES(given, ud) || !mine.fill)
        return random_system();
    return (struct random){ mine.fill, mine.ud };
}

/* ----------------------------------------------------------- a sequence --- */

/* Sebastiano Vigna, splitmix64 (public domain): prng.di.unimi.it */
static uint64_t next_word(struct random_seeded *s)
{
    uint64_t z = s->state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* Each call starts with a fresh word and drops the bytes it does not need. */
static bool fill_from_seed(void *ud, void *bytes, size_t len)
{
    unsigned char *p = bytes;
    uint64_t word = 0;
    for (size_t i = 0; i < len; i++, word >>= 8) {
        if (i % 8 == 0)
            word = next_word(ud);
        p[i] = (unsigned char)word;
    }
    return true;
}

struct random random_of_seed(struct random_seeded *s, uint64_t seed)
{
    s->state = seed;
    return (struct random){ fill_from_seed, s };
}

/* --------------------------------------------------------- for everyone --- */

bool random_fill(struct random r, void *bytes, size_t len)
{
    return len == 0 || r.fill(r.ud, bytes, len);
}

/*
 * Words below 2^64 mod bound are drawn again, so the range of the others is a
 * multiple of bound.  Fewer than half are rejected: 100 rejections in a row
 * mean that the source is not random, for example always zero.
 */
uint64_t random_below(struct random r, uint64_t bound)
{
    if (bound == 0)
        return 0;
    uint64_t refused = (0 - bound) % bound;
    for (int tries = 0; tries < 100; tries++) {
        unsigned char bytes[8];
        if (!random_fill(r, bytes, sizeof bytes))
            return 0;
        uint64_t word = 0;
        for (size_t i = sizeof bytes; i-- > 0;)
            word = word << 8 | bytes[i];
        if (word >= refused)
            return word % bound;
    }
    return 0;
}

bool random_id(struct random r, struct buf *out)
{
    char bytes[16];
    if (!random_fill(r, bytes, sizeof bytes))
        return false;
    base64_add_url(out, (struct slice){ bytes, sizeof bytes });
    return !out->broken;
}
