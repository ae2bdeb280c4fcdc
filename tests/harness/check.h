/*
 * check.h - the macros and functions of unit tests
 *
 *      static void adds_bytes(void) { ... CHECK_TEXT(got, "abc"); }
 *      TESTS = { TEST(adds_bytes), TEST_ONCE(property) };
 *
 * A test is a straight-line function.  It runs once normally, then again with
 * the n-th allocation failing, for every n (the torture run).  After that
 * failure, the CHECK macros accept all values, since a NULL may be anywhere;
 * the test then checks for crashes, leaks, and CHECK_ALWAYS.
 *
 * ALLM_TORTURE: "off", "light" (the first place and one of the others), unset
 * (200), "full" (all).
 * ALLM_SEED: the seed of property tests, printed on failure.
 * An argument names the one test to run.
 */
#pragma once

#include "base/mem.h"
#include "base/random.h"
#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct test {
    const char *name;
    void (*run)(void);
    bool once;                  /* no torture: it is slow, or another test
                                   covers this part */
};

#define TEST(fn)        { #fn, fn, false }
#define TEST_ONCE(fn)   { #fn, fn, true }
#define TESTS           const struct test tests[]
#define TESTS_END       { NULL, NULL, false }   /* the last row */
extern const struct test tests[];

/* A value check: counts unless an allocation was made to fail. */
#define CHECK(cond) check_true((cond), false, #cond, __FILE__, __LINE__)
#define CHECK_WHY(cond, why) \
    check_true((cond), false, (why), __FILE__, __LINE__)
/* Must hold even when memory ran out. */
#define CHECK_ALWAYS(cond) check_true((cond), true, #cond, __FILE__, __LINE__)
#define CHECK_INT(got, want) \
    check_int((int64_t)(got), (int64_t)(want), #got, __FILE__, __LINE__)
/* NUL-terminated strings; NULL equals only NULL. */
#define CHECK_TEXT(got, want) \
    check_slice(slice_of(got), slice_of(want), #got, __FILE__, __LINE__)
#define CHECK_SLICE(got, want) \
    check_slice((got), (want), #got, __FILE__, __LINE__)

/* Set the row of a table that is being checked; printed with a failure. */
void check_row(const char *why);

bool check_true(bool ok, bool always, const char *what, const char *file,
                int line);
bool check_int(int64_t got, int64_t want, const char *what, const char *file,
               int line);
bool check_slice(struct slice got, struct slice want, const char *what,
                 const char *file, int line);

/* True while no allocation has been made to fail in this run. */
bool check_whole(void);

/* The step for a test that tries every position: 1, but more in a quick run
 * (ALLM_TORTURE is "off" or "light"). */
size_t check_stride(void);

/* Count the test as skipped, with a reason. */
void check_skip(const char *why);

/* Random numbers for property tests, from ALLM_SEED or the time. */
struct random check_random(void);

/* A file in the data folder next to the project (see tests/harness/check.c);
 * NULL, and the test is skipped, if it does not exist. */
const char *check_data(const char *name);

/* Allocation statistics: live blocks and bytes, allocations so far. */
size_t check_live_blocks(void);
size_t check_live_bytes(void);
size_t check_allocations(void);

/* The maximum of live bytes; only for tests in which the library uses one
 * thread. */
void check_peak_begin(void);
size_t check_peak_bytes(void);
