/*
 * allm_base.h - what every other chapter uses
 *
 *    1  Conventions           how to fill and read structs
 *    2  Status and errors     how a call ends
 *    3  Replaceable parts     memory, clock, random numbers
 *    4  Text                  strings that functions return, digests
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
/* What ALLM_INIT() is in C++: a struct whose size is set and the rest zero. */
template <class T> T allm_init()
{
    T fields = T();
    fields.size = sizeof fields;
    return fields;
}

extern "C" {
#endif

/* ------------------------------------------------------- 1  Conventions --- */

#ifdef __cplusplus
# define ALLM_INIT(T) allm_init<struct allm_##T>()
#else
/*
 * Fills a struct and returns a pointer to it (C only; in C++ use ALLM_INIT):
 *
 *      allm_message_new(ALLM(message, .role = ALLM_ROLE_USER, .text = "x"));
 *
 * The struct lives until the end of the enclosing block, like a local
 * variable.  Do not let the pointer leave that block; declare a variable with
 * ALLM_INIT() instead.  GCC warns about it (-Wall), and its address
 * sanitizer reports stack-use-after-scope.
 */
#define ALLM(T, ...) \
    (&(struct allm_##T){ .size = sizeof(struct allm_##T), __VA_ARGS__ })
/*
 * The initial value of a struct variable, in C and C++:
 *
 *      allm_call_opts opts = ALLM_INIT(call_opts);
 *      if (quick)
 *          opts.max_turns = 1;
 *      stream = allm_chat(engine, thread, &opts);
 */
#define ALLM_INIT(T) { .size = sizeof(struct allm_##T) }
#endif

/*
 * True if a struct that the library returned has this member.  A program that
 * was compiled with a newer header than the library checks this before it
 * reads a member that a later version added; p is not NULL.
 *
 *      if (ALLM_HAS(result, manual_tool_calls))
 *          count = result->manual_tool_call_count;
 */
#define ALLM_HAS(p, member) \
    ((p)->size >= (size_t)((const char *)&(p)->member - (const char *)(p)) + \
                      sizeof((p)->member))

/* A length that means "up to the terminating NUL". */
#define ALLM_NUL_ENDED ((size_t)-1)

typedef struct allm_json allm_json;
typedef struct allm_text allm_text;
struct allm_home;               /* the owner of a value; for the library only */

/* A number that may be absent; { 0 } is absent. */
typedef struct allm_num { double value; bool set; } allm_num;
typedef struct allm_int { int64_t value; bool set; } allm_int;
/* A number that is present, as an initializer of either type. */
#define ALLM_NUM(x) { (x), true }

/* ------------------------------------------------- 2  Status and errors --- */

/*
 * The result of a call.  Negative values are errors, and also the kinds of
 * errors.
 */
typedef enum allm_status {
    ALLM_OK    = 0,             /* done                                     */
    ALLM_EVENT = 1,             /* an event was returned                    */
    ALLM_AGAIN = 2,             /* nothing yet                              */

    ALLM_ERR_MISUSE     = -1,   /* a bug in the caller; nothing was changed */
    ALLM_ERR_NOMEM      = -2,   /* out of memory                            */
    ALLM_ERR_ENGINE     = -3,   /* the engine cannot run this call          */
    ALLM_ERR_VALIDATION = -4,   /* the data is not well formed              */
    ALLM_ERR_ADAPTER    = -5,   /* the provider or the network failed       */
    ALLM_ERR_STREAM     = -6,   /* the response broke off or is malformed   */
    ALLM_ERR_TOOL       = -7,   /* a tool failed                            */
    ALLM_ERR_SESSION    = -8,   /* a session cannot do this in its status   */
    ALLM_ERR_STORE      = -9,   /* a file or store failed                   */
    ALLM_ERR_IMAGE      = -10   /* as ADAPTER, for images                   */
} allm_status;

/* The name of a status in JSON: "ok", "misuse", "adapter", ... */
ALLM_API const char *allm_status_name(allm_status);

/*
 * An error.  The reason is an identifier from the list of its kind, which
 * later versions may extend; the message is for people.
 */
typedef struct allm_error {
    size_t            size;
    struct allm_home *home;
    allm_status       kind;
    uint32_t          derived;        /* 1: message is the reason's default */
    const char       *reason;
    const char       *message;        /* never NULL or empty                */
    const char       *provider;
    const char       *request_id;
    const char       *tool_name;
    const char       *tool_call_id;
    allm_int          http_status;    /* if a response arrived              */
    allm_int          retry_after_ms;
    allm_int          event_index;
    const allm_json  *errors;         /* validation: [[path, reason], ...]  */
    const allm_json  *cause;
    const allm_json  *metadata;
    const allm_json  *kept;
} allm_error;

/* The two JSON forms of a struct. */
typedef enum allm_form {
    ALLM_FORM_TAGGED,           /* {"__type__": "ALLM.Message", "data": {...}}
                                   around every struct, every member present,
                                   null included; for storing               */
    ALLM_FORM_PLAIN             /* the data alone; for reading              */
} allm_form;

/*
 * Creates an error; kind and reason are required.  With an unknown kind or
 * reason the result is an error of kind MISUSE.  Without a message it gets the
 * default message of its reason.  The caller frees it.  allm_error_json()
 * returns its JSON form.
 */
ALLM_API allm_error *allm_error_new(const allm_error *fields);
ALLM_API void allm_error_free(allm_error *);
ALLM_API allm_text *allm_error_json(const allm_error *, allm_form form);

/*
 * The reasons of a kind, in order, terminated by NULL.  NULL for a kind that
 * has none.
 */
ALLM_API const char *const *allm_error_reasons(allm_status kind);

/* ------------------------------------------------- 3  Replaceable parts --- */

/*
 * Allocates, resizes and frees memory: size 0 frees p, p NULL allocates, else
 * p is resized.  `old` is the size with which p was allocated.  The result is
 * aligned as that of malloc(); NULL means out of memory.
 */
typedef void *(*allm_alloc_fn)(void *ud, void *p, size_t old, size_t size);

/*
 * An allocator, used instead of malloc().  These three structs have no place
 * for an error: one that is rejected for its size is ignored, and the default
 * is used.
 */
typedef struct allm_allocator {
    size_t        size;
    allm_alloc_fn fn;
    void         *ud;
} allm_allocator;

/* A clock, used instead of the system's. */
typedef struct allm_clock {
    size_t    size;
    int64_t (*now_ns)(void *ud);      /* monotonic                          */
    int64_t (*unix_ms)(void *ud);     /* milliseconds since 1970            */
    void     *ud;
    bool    (*sleep_until)(void *ud, int64_t until_ns);
                                      /* for tests: set the clock to this
                                         time and return true; NULL: the
                                         library waits                      */
} allm_clock;

/* A source of random bytes, used instead of the system's. */
typedef struct allm_random {
    size_t  size;
    bool  (*fill)(void *ud, void *bytes, size_t len);
    void   *ud;
} allm_random;

/* -------------------------------------------------------------- 4  Text --- */

/*
 * A string that a function returns.  allm_text_bytes() returns its bytes,
 * borrowed, with a NUL after them; len may be NULL.  allm_text_error() returns
 * why there is none, or NULL.  The caller frees the text.
 */
ALLM_API const char *allm_text_bytes(const allm_text *, size_t *len);
ALLM_API const allm_error *allm_text_error(const allm_text *);
ALLM_API void allm_text_free(allm_text *);

/* The SHA-256 (FIPS 180-4) of some bytes as 64 hex digits, and a NUL. */
ALLM_API void allm_sha256(const void *bytes, size_t len, char hex[65]);

/* ----------------------------------------------------------- 5  Version --- */

/* The version of this header. */
#define ALLM_VERSION_MAJOR 0
#define ALLM_VERSION_MINOR 1
#define ALLM_VERSION_PATCH 0

/* The version of the library, "0.1.0"; the macros are for this header. */
ALLM_API const char *allm_version(void);

#ifdef __cplusplus
}
#endif
#endif
