/* match.h - does a value look as expected?  Patterns of scenario files */
#ifndef SCENARIO_MATCH_H
#define SCENARIO_MATCH_H

#include <allm.h>

/* One comparison: how it is done, and where the first difference is. */
struct match {
    bool events;                /* a text stands for an event with that tag */
    bool quiet;                 /* nobody will read what follows */
    char where[1024];           /* JSON pointer */
    char expected[1024], got[1024];
    char fault[256];            /* the pattern itself cannot be meant */
};

/*
 * By subset: an object matches if every member that the pattern lists does;
 * arrays element by element; numbers by value.  Special objects: $len, $any,
 * $absent, $regex, $contains, $unordered, $not; all members must hold.  got
 * NULL: it is absent.  A pattern with a fault matches nothing, wherever the
 * fault stands in it.
 */
bool match_value(struct match *m, const allm_json *pattern,
                 const allm_json *got);

/* Equal but for request ids and ids that were made anew for each. */
bool match_same(struct match *m, const allm_json *a, const allm_json *b);

/* False, and told: expected this, got that. */
bool match_fail(struct match *m, const allm_json *expected,
                const allm_json *got);

#endif
