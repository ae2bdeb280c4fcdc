/*
 * expect.c - compare the outcome of an operation with its expectations
 *
 * Most expectations are a pattern for the member of the outcome with the same
 * name; the table lists the exceptions.
 */
#include "expect.h"

#include "match.h"

#include <string.h>

/* Check one expectation.  False: m has the difference, or m->fault says what is
 * wrong with the expectation itself. */
typedef bool expect_fn(const struct scenario *s, struct match *m,
                       const allm_json *want, const allm_json *got);

static bool set_fault(struct match *m, const char *sentence)
{
    snprintf(m->fault, sizeof m->fault, "%s", sentence);
    return false;
}

static bool expect_pattern(const struct scenario *s, struct match *m,
                           const allm_json *want, const allm_json *got)
{
    (void)s;
    return match_value(m, want, got);
}

static bool expect_events(const struct scenario *s, struct match *m,
                          const allm_json *want, const allm_json *got)
{
    m->events = true;
    return expect_pattern(s, m, want, got);
}

/* A boolean, a string that the message must contain, or a pattern for it. */
static bool expect_misuse(const struct scenario *s, struct match *m,
                          const allm_json *want, const allm_json *got)
{
    const char *message = allm_json_text(got, NULL);
    switch (allm_json_type_of(want)) {
    case ALLM_JSON_BOOL:
        return allm_json_true(want) == (got != NULL) ||
               match_fail(m, want, got);
    case ALLM_JSON_TEXT:
        return (message && strstr(message, allm_json_text(want, NULL))) ||
               match_fail(m, want, got);
    default:
        return expect_pattern(s, m, want, got);
    }
}

static bool expect_count(const struct scenario *s, struct match *m,
                         const allm_json *want, const allm_json *got)
{
    for (const allm_json *k = NULL; (k = allm_json_next(want, k));) {
        const char *tag = allm_json_text(k, NULL);
        if (*tag == '$' || allm_event_type_of(tag) != ALLM_EV_NONE)
            continue;
        snprintf(m->fault, sizeof m->fault, "unknown event \"%.64s\"", tag);
        return false;
    }
    return expect_pattern(s, m, want, got);
}

/* Counts by name: a name that is absent has the count 0. */
static bool expect_runs(const struct scenario *s, struct match *m,
                        const allm_json *want, const allm_json *got)
{
    bool all = true;
    if (allm_json_type_of(want) != ALLM_JSON_OBJECT)
        return set_fault(m, "must be an object of counts by name");
    allm_json *zero = allm_json_parse("0", ALLM_NUL_ENDED, NULL);
    for (const allm_json *k = NULL; all && (k = allm_json_next(want, k));) {
        const allm_json *n = allm_json_get(got, allm_json_text(k, NULL));
        all = expect_pattern(s, m, allm_json_value(k), n ? n : zero);
    }
    allm_json_free(zero);
    return all;
}

static bool expect_callback_runs(const struct scenario *s, struct match *m,
                                 const allm_json *want, const allm_json *got)
{
    allm_json *zero = allm_json_parse("0", ALLM_NUL_ENDED, NULL);
    bool is = expect_pattern(s, m, want, got ? got : zero);
    allm_json_free(zero);
    return is;
}

/* Here, `got` is the result. */
static bool expect_same(const struct scenario *s, struct match *m,
                        const allm_json *want, const allm_json *got)
{
    uint64_t k;
    if (!allm_json_uint64(want, &k) || k >= s->op_count)
        return set_fault(m, "must be the number of an earlier operation");
    const allm_json *other = allm_json_get(s->outcome[k], "result");
    if (!other)
        return set_fault(m, "that operation has no result");
    return match_same(m, other, got);
}

static const struct {
    const char *name;
    const char *member;         /* of the outcome */
    expect_fn *holds;
} kinds[] = {
    { "ok", "ok", expect_pattern },
    { "error", "error", expect_pattern },
    { "misuse", "misuse", expect_misuse },
    { "result", "result", expect_pattern },
    { "session", "session", expect_pattern },
    { "records", "records", expect_pattern },
    { "events", "events", expect_events },
    { "tags", "tags", expect_pattern },
    { "count", "count", expect_count },
    { "adapter_calls", "adapter_calls", expect_pattern },
    { "requests", "requests", expect_pattern },
    { "released", "released", expect_pattern },
    { "tool_runs", "tool_runs", expect_runs },
    { "callback_runs", "callback_runs", expect_callback_runs },
    { "trace", "trace", expect_pattern },
    { "same_as", "result", expect_same },
};

static void print_difference(const struct scenario *s, const char *name,
                             const struct match *m)
{
    fprintf(s->notes, "# /run/%zu/expect/%s", s->op_count, name);
    if (*m->fault)
        fprintf(s->notes, ": %s\n", m->fault);
    else
        fprintf(s->notes, "%s\n#   expected %s\n#   got      %s\n", m->where,
                m->expected, m->got);
}

static bool expect_one(struct scenario *s, const char *name,
                       const allm_json *want, const allm_json *outcome)
{
    struct match m = { .events = false };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, name) != 0)
            continue;
        const allm_json *got = allm_json_get(outcome, kinds[i].member);
        bool holds = kinds[i].holds(s, &m, want, got);
        if (!holds)
            print_difference(s, name, &m);
        return holds;
    }
    set_fault(&m, "unknown expectation");
    print_difference(s, name, &m);
    return false;
}

bool expect_all(struct scenario *s, const allm_json *expected,
                const allm_json *outcome)
{
    bool all = true;
    for (const allm_json *k = NULL; (k = allm_json_next(expected, k));)
        all = expect_one(s, allm_json_text(k, NULL), allm_json_value(k),
                         outcome) &&
              all;
    return all;
}
