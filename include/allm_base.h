/*
 * allm_base.h - what every other chapter uses
 *
 *    1  Conventions           structs that you fill, lengths, absent numbers
 *    2  Status and errors     how a call ends
 *    3  The world             memory, time, chance: replaceable
 *    4  Text                  results that are bytes; the two forms of JSON
 *    5  Version
 */
#ifndef ALLM_BASE_H
#define ALLM_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
# define ALLM_API
#else
# define ALLM_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------- 1  Conventions --- */

/* Fill a struct:  allm_message_new(ALLM(message, .role = ..., .text = "x"))
 * In C++ and other languages: zero it, then set its size. */
#define ALLM(T, ...) \
    (&(struct allm_##T){ .size = sizeof(struct allm_##T), __VA_ARGS__ })

/* A length that means "up to the NUL". */
#define ALLM_NUL_ENDED ((size_t)-1)

typedef struct allm_json allm_json;
typedef struct allm_text allm_text;
struct allm_home;               /* who owns a value; ours, leave it alone   */

/* A number that may be absent; { 0 } is absent. */
typedef struct allm_num { double value; bool set; } allm_num;
typedef struct allm_int { int64_t value; bool set; } allm_int;
#define ALLM_NUM(x) { (x), true }

/* ------------------------------------------------- 2  Status and errors --- */

typedef enum allm_status {
    ALLM_OK    = 0,             /* done                                     */
    ALLM_EVENT = 1,             /* here is an event                         */
    ALLM_AGAIN = 2,             /* nothing yet                              */

    ALLM_ERR_MISUSE     = -1,   /* a bug in the caller; nothing was changed */
    ALLM_ERR_NOMEM      = -2,
    ALLM_ERR_ENGINE     = -3,   /* the engine cannot run this call          */
    ALLM_ERR_VALIDATION = -4,   /* the data is not well formed              */
    ALLM_ERR_ADAPTER    = -5,   /* the provider, or the way to it, failed   */
    ALLM_ERR_STREAM     = -6,   /* the answer broke off or made no sense    */
    ALLM_ERR_TOOL       = -7,
    ALLM_ERR_SESSION    = -8,
    ALLM_ERR_STORE      = -9,
    ALLM_ERR_IMAGE      = -10   /* as ADAPTER, for images                   */
} allm_status;

/* "ok", "misuse", "adapter", ...: the word that JSON forms use. */
ALLM_API const char *allm_status_name(allm_status);

/*
 * An error.  kind names its family, reason is one word from the family's list
 * below (text, so that lists may grow), message is for people.
 */
typedef struct allm_error {
    size_t            size;
    struct allm_home *home;
    allm_status       kind;
    uint32_t          derived;        /* message is the reason's default    */
    const char       *reason;
    const char       *message;        /* never NULL or empty                */
    const char       *provider;
    const char       *request_id;
    const char       *tool_name;
    const char       *tool_call_id;
    allm_int          http_status;    /* if an answer arrived               */
    allm_int          retry_after_ms;
    allm_int          event_index;
    const allm_json  *errors;         /* validation: [[path, reason], ...]  */
    const allm_json  *cause;
    const allm_json  *metadata;
    const allm_json  *kept;
} allm_error;

/* Needs kind and reason; with an unknown one the result is an error of kind
 * MISUSE.  The message, if absent, follows from the reason. */
ALLM_API allm_error *allm_error_new(const allm_error *fields);
ALLM_API void allm_error_free(allm_error *);
ALLM_API allm_text *allm_error_json(const allm_error *, uint32_t form);

/* The reasons of a family, in order; NULL ends the list.  NULL for kinds that
 * have none. */
ALLM_API const char *const *allm_error_reasons(allm_status kind);

/* --------------------------------------------------------- 3  The world --- */

/* Memory, in one function: size 0 frees p; p NULL allocates; else resizes.
 * `old` is the size p was asked with.  Aligned as malloc's is. */
typedef void *(*allm_alloc_fn)(void *ud, void *p, size_t old, size_t size);

typedef struct allm_allocator {
    size_t        size;
    allm_alloc_fn fn;
    void         *ud;
} allm_allocator;

typedef struct allm_clock {
    size_t    size;
    int64_t (*now_ns)(void *ud);      /* never goes back                    */
    int64_t (*unix_ms)(void *ud);     /* milliseconds since 1970            */
    void     *ud;
    bool    (*sleep_until)(void *ud, int64_t ns);
                                      /* a clock of tests: go to that time at
                                         once, and true; NULL: really wait  */
} allm_clock;

typedef struct allm_random {
    size_t  size;
    bool  (*fill)(void *ud, void *bytes, size_t len);
    void   *ud;
} allm_random;

/* -------------------------------------------------------------- 4  Text --- */

/* Bytes that a call made for you; a NUL stands behind them. */
ALLM_API const char *allm_text_bytes(const allm_text *, size_t *len);
ALLM_API const allm_error *allm_text_error(const allm_text *);
ALLM_API void allm_text_free(allm_text *);

/*
 * Two forms.  TAGGED: {"__type__": "ALLM.Message", "data": {...}} around every
 * struct, every field present, nulls included; what sessions are stored in.
 * PLAIN: the data alone, for reading.
 */
enum allm_form { ALLM_FORM_TAGGED, ALLM_FORM_PLAIN };

/* ----------------------------------------------------------- 5  Version --- */

#define ALLM_VERSION_MAJOR 0
#define ALLM_VERSION_MINOR 1
#define ALLM_VERSION_PATCH 0

ALLM_API const char *allm_version(void);

#ifdef __cplusplus
}
#endif
#endif
