/* error.h - the families of errors: their reasons, messages and JSON forms */
#ifndef DATA_ERROR_H
#define DATA_ERROR_H

#include "data/shape.h"

extern const struct shape error_shape;

/*
 * A validation error in the arena: (path, reason) pairs as JSON.  Lack of
 * memory gives the static error; never NULL.
 */
const allm_error *error_validation(struct arena *a, const char *reason,
                                   const allm_json *errors);

/* The error with all its members in another home.  Never NULL: lack of memory
 * is told by the static error. */
const allm_error *error_copy(struct allm_home *home, const allm_error *error);

/* A message that follows from the reason, where it has none.  False: no
 * memory. */
bool error_settle(struct arena *a, allm_error *error);

/* Everything that it points to is copied into the arena.  False: no memory. */
bool error_take(struct arena *a, allm_error *error);

/* A root that holds a copy of the error; NULL: no memory. */
allm_error *error_root(const allm_error *error);

#endif
