/* approvals.h - the file approvals.json: rules that were added by answers */
#pragma once

#include "toolbox/rules.h"

#include <stdint.h>

/* The file as it was when it was read. */
struct approvals_mark {
    uint64_t device, file, size;
    int64_t changed_ns;
};

/* One file; `path` NULL: there is none. */
struct approvals {
    const char *path;
    struct arena memory;        /* of its rules and errors */
    struct approvals_mark mark; /* zero: not read, or it does not exist */
    const allm_error *error;    /* why it could not be read, in `memory` */
};

/* The path must outlive it. */
void approvals_init(struct approvals *f, struct mem mem, const char *path);
void approvals_release(struct approvals *f);

/*
 * Make RULES_STORED the rules of the file, which is read if it has changed.  A
 * file that does not exist has none.  NULL, or the error: it is not valid, or
 * others can read or change it.
 */
const allm_error *approvals_refresh(struct approvals *f, struct rules *r);

/*
 * Add a rule before the others, or remove one (from 1): the rest of the file
 * stays as it is, comments included.  It is written atomically, with mode 0600
 * and under a lock, and read again.  NULL, or the error in the arena; then the
 * file is unchanged.
 */
const allm_error *approvals_add(struct approvals *f, struct rules *r,
                                const struct rule *rule, struct arena *a);
const allm_error *approvals_remove(struct approvals *f, struct rules *r,
                                   uint32_t index, struct arena *a);
