/* match.h - compare values with the patterns of scenario files */
#pragma once

#include <allm.h>

/* The state of a comparison, and its first difference. */
struct match {
    bool events;                /* a string matches an event with that tag */
    bool quiet;                 /* do not report differences */
    char where[1024];           /* JSON pointer */
    char expected[1024], got[1024];
    char fault[256];            /* why the pattern is not valid */
};

/*
 * Match by subset: an object matches if every member of the pattern does;
 * arrays match element by element, numbers by value.  Special objects: $len,
 * $any, $absent, $regex, $contains, $unordered, $not; all members must hold.
 * got NULL: the value is absent.  A pattern with a fault anywhere matches
 * nothing.
 */
bool match_value(struct match *m, const allm_json *pattern,
                 const allm_json *got);

/* Equal, except for request ids and generated ids. */
bool match_same(struct match *m, const allm_json *a, const allm_json *b);

/* Report a difference.  Always false. */
bool match_fail(struct match *m, const allm_json *expected,
                const allm_json *got);
