/* error.h - the families of errors: their reasons, messages and JSON forms */
#pragma once

#include "data/path.h"
#include "data/shape.h"

extern const struct shape error_shape;

/* Reasons that are used in more than one file. */
#define REASON_BUDGET "budget_exceeded"
#define REASON_CANCELLED "cancelled"
#define REASON_PIPELINE "pipeline_error"

/* The error of every call that was cancelled. */
extern const allm_error error_cancelled;

/*
 * A validation error in the arena, with (path, reason) pairs as JSON. Never
 * NULL: if out of memory, it is the static error.
 */
const allm_error *error_validation(struct arena *a, const char *reason,
                                   const allm_json *errors);

/* The same for one fault. */
const allm_error *error_validation_at(struct arena *a, const char *reason,
                                      const struct path *where,
                                      const char *fault);

/* The error with all its members in another home.  Never NULL: if out of
 * memory, it is the static error. */
const allm_error *error_copy(struct allm_home *home, const allm_error *error);

/* Derive the message from the reason if there is none.  False: out of
 * memory. */
bool error_settle(struct arena *a, allm_error *error);

/* Copy everything that it points to into the arena.  False: out of memory. */
bool error_take(struct arena *a, allm_error *error);

/* A root that holds a copy of the error; NULL: out of memory. */
allm_error *error_root(const allm_error *error);
