/* status.h - the names of statuses, and the construction of errors */
#pragma once

#include "base/arena.h"

#include <stdarg.h>

/*
 * An error in the arena; the message is formatted as by printf and truncated
 * after 64 KiB. The reason must be a literal or live as long as the arena.
 * Never NULL: if there is no memory, it is status_nomem().
 */
const allm_error *status_error(struct arena *a, allm_status kind,
                               const char *reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
const allm_error *status_verror(struct arena *a, allm_status kind,
                                const char *reason, const char *format,
                                va_list args)
    __attribute__((format(printf, 4, 0)));

/* The same for a caller that fills in more members; NULL if out of memory. */
allm_error *status_draft(struct arena *a, allm_status kind, const char *reason,
                         const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same error (kind, reason, message) in another arena.  Never NULL: if
 * there is no memory, it is status_nomem(). */
const allm_error *status_retell(struct arena *a, const allm_error *error);

/* The one error that needs no memory. */
const allm_error *status_nomem(void);

/* A constant error, which needs no memory. */
#define STATUS_ERROR(kind_, reason_, message_) \
    { .size = sizeof(allm_error), .kind = (kind_), .reason = (reason_), \
      .message = (message_) }

/* A zeroed error with its size and kind filled in. */
allm_error status_blank(allm_status kind);
