/* check.c - run the tests of a file, normally and with failing allocations */
#include "harness/check.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Tests may allocate in threads, so the counters are atomic. */
static struct {
    atomic_size_t live_blocks, live_bytes, count;
    atomic_size_t peak_bytes;
    size_t fail_at;             /* 0: never */
    atomic_bool fired;
} heap;

static void *counted(void *ud, void *p, size_t old, size_t size)
{
    (void)ud;
    if (size == 0) {
        if (p) {
            heap.live_blocks--;
            heap.live_bytes -= old;
        }
        free(p);
        return NULL;
    }
    size_t number = atomic_fetch_add(&heap.count, 1) + 1;
    if (number == heap.fail_at) {
        heap.fired = true;
        return NULL;
    }
    void *q = realloc(p, size);
    if (!q)
        return NULL;
    if (!p)
        heap.live_blocks++;
    heap.live_bytes += size - (p ? old : 0);
    if (heap.live_bytes > heap.peak_bytes)
        heap.peak_bytes = heap.live_bytes;
    return q;
}

size_t check_live_blocks(void)
{
    return heap.live_blocks;
}

size_t check_live_bytes(void)
{
    return heap.live_bytes;
}

void check_peak_begin(void)
{
    heap.peak_bytes = heap.live_bytes;
}

size_t check_peak_bytes(void)
{
    return heap.peak_bytes;
}

size_t check_allocations(void)
{
    return heap.count;
}

bool check_whole(void)
{
    return !heap.fired;
}

static struct {
    const char *row;
    atomic_size_t failures;     /* in this run of this test */
    const char *skipped;
    uint64_t seed;
    struct random_seeded seeded;
} now;

static void tell(const char *what, const char *file, int line)
{
    if (atomic_fetch_add(&now.failures, 1) >= 10)
        return;
    printf("# %s:%d: %s\n", file, line, what);
    if (now.row)
        printf("#   row: %s\n", now.row);
    if (heap.fail_at)
        printf("#   allocation %zu was made to fail\n", heap.fail_at);
    printf("#   seed: %" PRIu64 "\n", now.seed);
}

bool check_true(bool ok, bool always, const char *what, const char *file,
                int line)
{
    if (!ok && (always || !heap.fired))
        tell(what, file, line);
    return ok;
}

bool check_int(int64_t got, int64_t want, const char *what, const char *file,
               int line)
{
    if (got != want && !heap.fired) {
        tell(what, file, line);
        printf("#   got %" PRId64 ", expected %" PRId64 "\n", got, want);
    }
    return got == want;
}

/* Print bytes on one line, control characters escaped; returns the columns. */
static int print_bytes(struct slice s)
{
    int columns = 0;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c < 0x20 || c == 0x7F)
            columns += printf("\\x%02X", c);
        else
            columns += putchar(c) != EOF && (c & 0xC0) != 0x80;
    }
    return columns;
}

/* Bytes around `at`, whole characters; returns the columns before it. */
static int print_around(const char *label, struct slice s, size_t at)
{
    enum { BEFORE = 40, AFTER = 60 };
    size_t from = at > BEFORE ? at - BEFORE : 0;
    size_t end = s.len - at > AFTER ? at + AFTER : s.len;
    while (from < at && (s.ptr[from] & 0xC0) == 0x80)
        from++;
    while (end < s.len && (s.ptr[end] & 0xC0) == 0x80)
        end++;
    int columns = printf("#   %s %s", label, from ? "..." : "");
    if (s.len)
        columns += print_bytes((struct slice){ s.ptr + from, at - from });
    if (s.len)
        print_bytes((struct slice){ s.ptr + at, end - at });
    printf("%s\n", !s.ptr ? "NULL" : end < s.len ? "..." : "");
    return columns;
}

/* Where two texts begin to differ; lines and bytes are counted from 1. */
static void print_difference(struct slice got, struct slice want)
{
    size_t at = 0, line = 1, line_start = 0;
    while (at < got.len && at < want.len && got.ptr[at] == want.ptr[at])
        if (got.ptr[at++] == '\n') {
            line++;
            line_start = at;
        }
    printf("#   differs at line %zu, byte %zu (got %zu bytes, expected %zu)\n",
           line, at - line_start + 1, got.len, want.len);
    print_around("got     ", got, at);
    int columns = print_around("expected", want, at);
    printf("#   %*s\n", columns - 3, "^");
}

bool check_slice(struct slice got, struct slice want, const char *what,
                 const char *file, int line)
{
    bool ok = !got.ptr == !want.ptr && slice_eq(got, want);
    if (!ok && !heap.fired) {
        tell(what, file, line);
        print_difference(got, want);
    }
    return ok;
}

void check_row(const char *why)
{
    now.row = why;
}

void check_skip(const char *why)
{
    now.skipped = why;
}

struct random check_random(void)
{
    return random_of_seed(&now.seeded, now.seed);
}

/* Test data that is not part of the project is next to it: ../shared/data,
 * or the folder that ALLM_TEST_DATA names. */
const char *check_data(const char *name)
{
    static char path[4096];
    const char *root = getenv("ALLM_TEST_DATA");
    const char *source = getenv("SOURCE_DIR");
    if (root)
        snprintf(path, sizeof path, "%s/%s", root, name);
    else
        snprintf(path, sizeof path, "%s/../shared/data/%s",
                 source ? source : ".", name);
    if (access(path, R_OK) == 0)
        return path;
    check_skip("the test data is missing");
    return NULL;
}

/* After the run, as many blocks and bytes must be live as before.  If only the
 * bytes differ, a block was freed with a wrong size. */
static void judge_memory(const struct test *t, size_t blocks, size_t bytes)
{
    if (heap.live_blocks == blocks && heap.live_bytes == bytes)
        return;
    now.row = NULL;
    bool lost = heap.live_blocks != blocks;
    tell(lost ? "memory leak" : "memory was freed with a wrong size", t->name,
         0);
    printf("#   blocks left: %td, bytes: %td\n",
           (ptrdiff_t)(heap.live_blocks - blocks),
           (ptrdiff_t)(heap.live_bytes - bytes));
    heap.live_blocks = blocks;
    heap.live_bytes = bytes;
}

/* One run; false if a check failed or memory leaked. */
static bool run_once(const struct test *t, size_t fail_at)
{
    size_t blocks = heap.live_blocks, bytes = heap.live_bytes;
    heap.count = 0;
    heap.fail_at = fail_at;
    heap.fired = false;
    now.failures = 0;
    now.row = NULL;
    t->run();
    judge_memory(t, blocks, bytes);
    heap.fail_at = 0;
    heap.fired = false;
    return now.failures == 0;
}

static size_t torture_places(void)
{
    const char *how = getenv("ALLM_TORTURE");
    if (!how)
        return 200;
    if (!strcmp(how, "off"))
        return 0;
    return !strcmp(how, "full") ? SIZE_MAX : 1;
}

size_t check_stride(void)
{
    return torture_places() < 2 ? 20 : 1;
}

/* Every allocation up to the limit, then as many random ones. */
static bool torture(const struct test *t, size_t count)
{
    size_t places = torture_places();
    size_t first = count < places ? count : places;
    for (size_t n = 1; n <= first; n++)
        if (!run_once(t, n))
            return false;
    if (places == 0 || count <= first)
        return true;
    struct random_seeded state;
    struct random r = random_of_seed(&state, now.seed);
    for (size_t i = 0; i < places; i++)
        if (!run_once(t, first + 1 + random_below(r, count - first)))
            return false;
    return true;
}

static uint64_t choose_seed(void)
{
    const char *given = getenv("ALLM_SEED");
    return given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
}

int main(int argc, char **argv)
{
    size_t passed = 0, failed = 0, skipped = 0, number = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    mem_set_default((struct mem){ counted, NULL });
    now.seed = choose_seed();
    for (const struct test *t = tests; t->name; t++) {
        if (argc > 1 && strcmp(argv[1], t->name) != 0)
            continue;
        now.skipped = NULL;
        bool ok = run_once(t, 0);
        size_t count = heap.count;
        if (ok && !t->once && !now.skipped)
            ok = torture(t, count);
        printf("%s %zu - %s%s%s\n", ok ? "ok" : "not ok", ++number, t->name,
               now.skipped ? " # SKIP " : "", now.skipped ? now.skipped : "");
        *(!ok ? &failed : now.skipped ? &skipped : &passed) += 1;
    }
    printf("1..%zu\n", number);
    printf("%zu passed, %zu failed", passed, failed);
    if (skipped)
        printf(", %zu skipped", skipped);
    printf("\n");
    return failed != 0;
}
