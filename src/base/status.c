/* status.c - the names of statuses, and the construction of errors */
#include "base/status.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>

enum { MESSAGE_LIMIT = 64 * 1024 };     /* longer ones are truncated */

static const allm_error nomem = STATUS_ERROR(ALLM_ERR_NOMEM, "out_of_memory",
                                             "out of memory");

const allm_error *status_nomem(void)
{
    return &nomem;
}

allm_error status_blank(allm_status kind)
{
    return (allm_error){ .size = sizeof(allm_error), .kind = kind };
}

/* Like printf, in the arena, truncated at the limit but not within a
 * character. */
__attribute__((format(printf, 2, 0)))
static const char *make_message(struct arena *a, const char *format,
                                va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (n < 0)
        return "a message that cannot be printed";

    size_t len = n < MESSAGE_LIMIT ? (size_t)n : MESSAGE_LIMIT;
    char *text = arena_alloc(a, len + 1);
    if (!text)
        return NULL;
    vsnprintf(text, len + 1, format, args);
    if ((size_t)n > len)
        text[len - utf8_unfinished((struct slice){ text, len })] = '\0';
    return text;
}

static allm_error *make_error(struct arena *a, allm_status kind,
                              const char *reason, const char *format,
                              va_list args)
{
    const char *message = make_message(a, format, args);
    allm_error *e = message ? arena_alloc(a, sizeof *e) : NULL;
    if (!e)
        return NULL;
    *e = status_blank(kind);
    e->reason = reason;
    e->message = message;
    return e;
}

allm_error *status_draft(struct arena *a, allm_status kind, const char *reason,
                         const char *format, ...)
{
    va_list args;
    va_start(args, format);
    allm_error *e = make_error(a, kind, reason, format, args);
    va_end(args);
    return e;
}

const allm_error *status_verror(struct arena *a, allm_status kind,
                                const char *reason, const char *format,
                                va_list args)
{
    const allm_error *e = make_error(a, kind, reason, format, args);
    return e ? e : status_nomem();
}

const allm_error *status_error(struct arena *a, allm_status kind,
                               const char *reason, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const allm_error *e = status_verror(a, kind, reason, format, args);
    va_end(args);
    return e;
}

const allm_error *status_retell(struct arena *a, const allm_error *error)
{
    if (error == &nomem)
        return error;
    const char *reason = arena_text(a, error->reason);
    if (!reason && error->reason)
        return &nomem;
    return status_error(a, error->kind, reason, "%s", error->message);
}

const char *allm_status_name(allm_status s)
{
    switch (s) {
    case ALLM_OK:             return "ok";
    case ALLM_EVENT:          return "event";
    case ALLM_AGAIN:          return "again";
    case ALLM_ERR_MISUSE:     return "misuse";
    case ALLM_ERR_NOMEM:      return "nomem";
    case ALLM_ERR_ENGINE:     return "engine";
    case ALLM_ERR_VALIDATION: return "validation";
    case ALLM_ERR_ADAPTER:    return "adapter";
    case ALLM_ERR_STREAM:     return "stream";
    case ALLM_ERR_TOOL:       return "tool";
    case ALLM_ERR_SESSION:    return "session";
    case ALLM_ERR_STORE:      return "store";
    case ALLM_ERR_IMAGE:      return "image";
    }
    return "unknown";
}
