/*
 * rules.h - which calls may run, must be approved, or are denied
 *
 * A rule names tools and a reach, and gives a verdict.  A reach is a list of
 * words: "read PATH", "write PATH", "net", "net HOST", "net PORT", "env NAME",
 * "server NAME TOOL", "sampling".
 */
#pragma once

#include "base/arena.h"

enum rules_verdict { RULES_AUTO, RULES_ASK, RULES_DENY };

/* In the order in which they are consulted.  STORED: approvals.json. */
enum rules_level {
    RULES_CALL,
    RULES_SESSION,
    RULES_PROJECT,
    RULES_USER,
    RULES_STORED,
    RULES_LEVELS
};

struct rule {
    struct rule *next;
    const char *tool;           /* a name, or a pattern with "*" and "?" */
    const allm_json *reach;     /* words; NULL: every reach */
    enum rules_verdict verdict;
    const char *date;           /* or NULL */
    const char *session;        /* the id; NULL: all sessions */
};

/* { 0 } has no rule. */
struct rules {
    struct rule *first[RULES_LEVELS];
    const char *root;           /* reading it is allowed by default */
    bool yes;                   /* calls that are confined need no approval */
};

/* What a rule is applied to. */
struct rules_call {
    const char *tool;
    const allm_json *reach;     /* NULL: not known, a function of the host */
    const char *session;        /* the id, or NULL */
    bool confined;              /* the kernel enforces the reach */
    bool process;               /* which may also read the root, and what
                                   every process may read */
};

/* The words of verdicts and levels. */
const char *rules_verdict_word(enum rules_verdict v);
const char *rules_level_word(enum rules_level level);

/*
 * Read {"call": [RULE...], "session": [...], "project": [...], "user": [...],
 * "yes": bool}, or an array, which is that of "user".  Paths are relative to
 * r->root, and "~" is the home.  NULL, or the error, which says what is wrong
 * and where.
 */
const allm_error *rules_read(struct rules *r, struct arena *a,
                             const allm_json *given);

/* Read one array of rules into a level, which must have none.  `where` names
 * it in errors. */
const allm_error *rules_read_level(struct rules *r, struct arena *a,
                                   enum rules_level level, const char *where,
                                   const allm_json *list);

/* Append a rule to a level. */
void rules_add(struct rules *r, enum rules_level level, struct rule *rule);

/*
 * The verdict: a rule that denies, of any level; else the first rule that
 * matches; else the default. *by is the rule, or NULL, and *level its level.
 */
enum rules_verdict rules_decide(const struct rules *r,
                                const struct rules_call *call,
                                const struct rule **by,
                                enum rules_level *level);

/* Does the reach of a rule cover one word of a call's?  For tests. */
bool rules_covers(struct slice rule, struct slice word);

/* Does a reach cover all words of a call's? */
bool rules_cover_all(const allm_json *reach, const allm_json *words);

/* Does the text match a pattern with "*" and "?"? */
bool rules_glob(struct slice pattern, struct slice text);
