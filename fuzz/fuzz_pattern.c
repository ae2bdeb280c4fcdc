/*
 * fuzz_pattern.c - any pattern, on any text
 *
 * The input is a pattern, a line end, and a text.  A pattern that compiles
 * matches like equivalent patterns, forwards and backwards, and stays within
 * its budget.
 */
#include "json/pattern.h"

#include "base/buf.h"
#include "base/utf8.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 2000000 };

static void demand(bool truth)
{
    if (!truth)
        abort();
}

/* The result, or NOMEM if the pattern is rejected. */
static enum pattern_result ask(struct arena *a, struct slice pattern,
                               struct slice text)
{
    const char *fault = NULL;
    size_t budget = STEPS;
    const struct pattern *p = pattern_new(a, pattern, &fault);
    demand(p ? !fault : fault != NULL);
    if (!p)
        return PATTERN_NOMEM;
    enum pattern_result result = pattern_match(p, text, a, &budget);
    demand(budget < STEPS && result != PATTERN_NOMEM);
    return result;
}

static struct slice wrap(struct arena *a, const char *head,
                         struct slice pattern, const char *tail)
{
    struct buf b;
    buf_init(&b, a, (size_t)1 << 24);
    buf_text(&b, head);
    buf_add(&b, pattern);
    buf_text(&b, tail);
    return buf_slice(&b);
}

/* The second is larger, so it may be rejected or need more time. */
static void agree(enum pattern_result a, enum pattern_result b)
{
    demand(a == b || a > PATTERN_YES || b > PATTERN_YES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct slice text = { (const char *)data, size };
    struct slice pattern = { text.ptr, 0 };
    while (pattern.len < size && data[pattern.len] != '\n')
        pattern.len++;
    text = slice_skip(text, pattern.len);
    if (text.len)
        text = slice_skip(text, 1);

    arena_init(&a, mem_default());
    enum pattern_result found = ask(&a, pattern, text);
    if (found <= PATTERN_YES && pattern.len < 1000) {
        agree(found, ask(&a, wrap(&a, "(?:", pattern, ")"), text));
        agree(found, ask(&a, wrap(&a, "(?=", pattern, ")"), text));
        agree(found, ask(&a, wrap(&a, "(?<=", pattern, ")"), text));
        agree(found == PATTERN_NO,
              ask(&a, wrap(&a, "^(?![^]*(?:", pattern, "))"), text));
    }
    arena_release(&a);
    return 0;
}
