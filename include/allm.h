/*
 * allm.h - the whole public interface of liballm, in reading order
 *
 *    1  Status and errors     how a call ends
 *    2  The world             memory, time, chance: replaceable
 *    3  Text                  results that are bytes
 *    4  JSON                  free-form values
 *    5  JSON Schema           is this value what was asked for?
 *    6  Messages              and the parts and images in them
 *    7  Tools                 what a model may call, and its calls
 *    8  Threads               conversations that share their messages
 *    9  Requests, responses   what goes out, what comes back
 *   10  Results               of a step, of a chat
 *   11  Records               sessions and engines as plain data
 *   12  Images                made by a model
 *   13  Events                what a stream tells
 *   14  Validation            is this well formed?
 *   15  Codec                 everything as JSON, and back
 *   16  Version
 *
 * Six rules hold everywhere, so the comments below do not repeat them.
 *
 *  Ownership  What a function named _new, _from..., _copy, _keep, _parse or
 *             _decode returns, and every result that is not const, is a root:
 *             free it once with its _free.  Every const pointer is lent by a
 *             root and dies with it, or sooner if its comment says so.  What
 *             you pass in is copied, or shared where it is counted; you may
 *             free yours at once.
 *  Errors     A constructor always returns an object; ask the object how it
 *             is.  NULL means out of memory and is accepted by every function,
 *             which then answers NULL, 0, false or ALLM_ERR_NOMEM.
 *  Zero       In a struct that you fill, zero means "the default", today and
 *             in every later version; so does NULL instead of an option
 *             struct.  Each begins with its size: ALLM() fills it in.
 *  Text       UTF-8, NUL-terminated.  Where a length stands beside it, NUL may
 *             occur inside; ALLM_NUL_ENDED means "up to the NUL", and so does
 *             length 0 in a struct that you fill.  NULL means absent.  Text is
 *             not checked on the way in; what is not UTF-8 is written to JSON
 *             as U+FFFD.
 *  JSON form  Each struct has one: the members carry their C names unless the
 *             comment gives another in quotes.  `kept` holds the members of a
 *             document that have no place in the struct, unknown ones and ones
 *             of a wrong type, as an object; they are written out again.  An
 *             element of a list that is no struct of ours becomes an empty one
 *             whose `kept` is an array of it alone.
 *  Threads    One object, one thread at a time.  Plain data is immutable, and
 *             roots of plain data may be read by any number of threads.
 */
#ifndef ALLM_H
#define ALLM_H

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

/* ------------------------------------------------- 1  Status and errors --- */

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

/* ---------------------------------------------------------- 2  The world --- */

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

/* --------------------------------------------------------------- 3  Text --- */

/* Bytes that a call made for you; a NUL stands behind them. */
ALLM_API const char *allm_text_bytes(const allm_text *, size_t *len);
ALLM_API const allm_error *allm_text_error(const allm_text *);
ALLM_API void allm_text_free(allm_text *);

/* --------------------------------------------------------------- 4  JSON --- */

typedef enum allm_json_type {
    ALLM_JSON_NONE,             /* no value: NULL, or a document that failed */
    ALLM_JSON_NULL,
    ALLM_JSON_BOOL,
    ALLM_JSON_INT,              /* fits int64_t or uint64_t                 */
    ALLM_JSON_REAL,             /* fits double                              */
    ALLM_JSON_BIG,              /* fits neither: its text is kept           */
    ALLM_JSON_TEXT,
    ALLM_JSON_ARRAY,
    ALLM_JSON_OBJECT
} allm_json_type;

/* Limits and leniency of the reader. */
typedef struct allm_json_opts {
    size_t   size;
    size_t   max_bytes;               /* 0: 256 MiB                         */
    uint32_t max_depth;               /* 0: 128                             */
    uint32_t flags;                   /* ALLM_JSON_*, below                 */
    const allm_allocator *allocator;
} allm_json_opts;

enum allm_json_flags {
    ALLM_JSON_DUPLICATES = 1 << 0,    /* read: let the first of equal keys
                                         win instead of refusing            */
    ALLM_JSON_PRETTY     = 1 << 1     /* write: indented by two spaces      */
};

/*
 * Read a document.  Ask allm_json_error(): a refused text gives a validation
 * error ("json", "malformed" and its like) whose metadata tells offset, line,
 * column and path, and a value of type NONE.
 */
ALLM_API allm_json *allm_json_parse(const char *text, size_t len,
                                    const allm_json_opts *);

/*
 * Make sense of the beginning of a document: what is there so far, open texts
 * and containers closed, half a key or number left out.  *complete tells
 * whether it was whole.  A text that cannot become JSON is an error.
 */
ALLM_API allm_json *allm_json_partial(const char *text, size_t len,
                                      bool *complete);
ALLM_API const allm_error *allm_json_error(const allm_json *root);
ALLM_API void allm_json_free(allm_json *root);
ALLM_API allm_json *allm_json_copy(const allm_json *);

/* The same value gives the same bytes.  Members keep their order. */
ALLM_API allm_text *allm_json_write(const allm_json *, uint32_t flags);

/* Every getter accepts NULL and any type, and answers NULL, 0 or false. */
ALLM_API allm_json_type allm_json_type_of(const allm_json *);
ALLM_API const allm_json *allm_json_get(const allm_json *, const char *key);
ALLM_API const allm_json *allm_json_at(const allm_json *, size_t index);
ALLM_API size_t allm_json_count(const allm_json *);
ALLM_API bool allm_json_true(const allm_json *);
ALLM_API double allm_json_number(const allm_json *);
ALLM_API bool allm_json_int64(const allm_json *, int64_t *out);
ALLM_API bool allm_json_uint64(const allm_json *, uint64_t *out);
/* Of a text; of a BIG number its digits.  len may be NULL. */
ALLM_API const char *allm_json_text(const allm_json *, size_t *len);
ALLM_API bool allm_json_equal(const allm_json *, const allm_json *);

/* Walk: the element (of an array) or key (of an object) after `previous`;
 * NULL starts, NULL ends.  allm_json_value() is what stands behind a key. */
ALLM_API const allm_json *allm_json_next(const allm_json *container,
                                         const allm_json *previous);
ALLM_API const allm_json *allm_json_value(const allm_json *key);

/* "/a/0/b", RFC 6901; "" is the value itself. */
ALLM_API const allm_json *allm_json_pointer(const allm_json *,
                                            const char *pointer);

/* New values from old ones: one member set (value NULL: removed); members of
 * b over those of a; merge patch, RFC 7396. */
ALLM_API allm_json *allm_json_set(const allm_json *object, const char *key,
                                  const allm_json *value);
ALLM_API allm_json *allm_json_merge(const allm_json *a, const allm_json *b);
ALLM_API allm_json *allm_json_patch(const allm_json *target,
                                    const allm_json *patch);

/*
 * Build a value from the outside in:
 *
 *      allm_json_build *b = allm_json_build_new(NULL);
 *      allm_json_build_object(b);
 *      allm_json_build_key(b, "city");
 *      allm_json_build_text(b, "Ulm", 3);
 *      allm_json_build_end(b);
 *      allm_json *v = allm_json_build_done(b);    (frees b)
 *
 * Check once, at the end: a wrong order of calls makes the result an error.
 */
typedef struct allm_json_build allm_json_build;
ALLM_API allm_json_build *allm_json_build_new(const allm_allocator *);
ALLM_API void allm_json_build_object(allm_json_build *);
ALLM_API void allm_json_build_array(allm_json_build *);
ALLM_API void allm_json_build_end(allm_json_build *);
ALLM_API void allm_json_build_key(allm_json_build *, const char *key);
ALLM_API void allm_json_build_text(allm_json_build *, const char *, size_t len);
ALLM_API void allm_json_build_int(allm_json_build *, int64_t);
ALLM_API void allm_json_build_uint(allm_json_build *, uint64_t);
ALLM_API void allm_json_build_number(allm_json_build *, double);
ALLM_API void allm_json_build_bool(allm_json_build *, bool);
ALLM_API void allm_json_build_null(allm_json_build *);
ALLM_API void allm_json_build_value(allm_json_build *, const allm_json *);
ALLM_API allm_json *allm_json_build_done(allm_json_build *);

/* -------------------------------------------------------- 5  JSON Schema --- */

/*
 * A compiled schema of JSON Schema 2020-12; docs/json-schema.md names the
 * keywords.  A schema that cannot be meant, such as a type that does not exist
 * or a $ref that leads nowhere, is an error of the object.
 */
typedef struct allm_json_schema allm_json_schema;
ALLM_API allm_json_schema *allm_json_schema_new(const allm_json *schema);
ALLM_API const allm_error *allm_json_schema_error(const allm_json_schema *);
ALLM_API void allm_json_schema_free(allm_json_schema *);

/*
 * Every fault of a value, in document order: an array, empty if there is none,
 * of { "path", "keyword", "schema_path", "message" }, the paths being JSON
 * Pointers.
 */
ALLM_API allm_json *allm_json_schema_check(const allm_json_schema *,
                                           const allm_json *value);

/* ----------------------------------------------------------- 6  Messages --- */

typedef enum allm_image_source {
    ALLM_IMAGE_NONE, ALLM_IMAGE_BINARY, ALLM_IMAGE_BASE64, ALLM_IMAGE_URL,
    ALLM_IMAGE_FILE
} allm_image_source;

typedef struct allm_image {
    size_t            size;
    struct allm_home *home;
    allm_image_source source;         /* "source": {"type", "value"}        */
    uint32_t          reserved;
    size_t            data_len;
    const char       *data;           /* bytes, base64 text, URL or path    */
    const char       *mime_type;
    allm_int          width;
    allm_int          height;
    const char       *prompt;
    const char       *revised_prompt;
    const allm_json  *metadata;
    const allm_json  *kept;
} allm_image;

ALLM_API allm_image *allm_image_new(const allm_image *fields);
/* The type follows from the extension: png, jpg, jpeg, webp, gif. */
ALLM_API allm_image *allm_image_from_file(const char *path);
ALLM_API allm_image *allm_image_from_binary(const void *bytes, size_t len,
                                            const char *mime_type);
ALLM_API allm_image *allm_image_from_base64(const char *text,
                                            const char *mime_type);
ALLM_API allm_image *allm_image_from_url(const char *url);
ALLM_API allm_image *allm_image_from_data_uri(const char *uri);
ALLM_API void allm_image_free(allm_image *);
ALLM_API const allm_error *allm_image_error(const allm_image *);
ALLM_API allm_text *allm_image_json(const allm_image *, uint32_t form);
/* Its bytes (a file is read here), or as "data:<type>;base64,<...>".  Errors:
 * remote_source, missing_mime_type, invalid_base64, enoent and its like. */
ALLM_API allm_text *allm_image_to_binary(const allm_image *);
ALLM_API allm_text *allm_image_to_data_uri(const allm_image *);

typedef enum allm_part_kind {
    ALLM_PART_TEXT = 1, ALLM_PART_IMAGE,
    ALLM_PART_OTHER                   /* not ours: its JSON is in `kept`    */
} allm_part_kind;

typedef enum allm_detail {
    ALLM_DETAIL_AUTO, ALLM_DETAIL_LOW, ALLM_DETAIL_HIGH
} allm_detail;

typedef struct allm_part {            /* one piece of a message             */
    size_t            size;
    struct allm_home *home;
    allm_part_kind    kind;
    allm_detail       detail;         /* of an image                        */
    size_t            text_len;
    const char       *text;
    const allm_image *image;
    const allm_json  *metadata;
    const allm_json  *provider_state;
    const allm_json  *kept;
} allm_part;

typedef enum allm_role {
    ALLM_ROLE_NONE, ALLM_ROLE_SYSTEM, ALLM_ROLE_USER, ALLM_ROLE_ASSISTANT,
    ALLM_ROLE_TOOL
} allm_role;

struct allm_tool_call;

/*
 * A message.  Its content is a text or a list of parts, not both (an empty
 * list is parts not NULL with count 0).  Messages that we made are counted: adding one
 * to a thread shares it.
 */
typedef struct allm_message {
    size_t                              size;
    struct allm_home                   *home;
    allm_role                           role;
    uint32_t                            reserved;
    size_t                              text_len;
    const char                         *text;       /* "content"            */
    size_t                              part_count;
    const allm_part *const             *parts;      /* "content"            */
    const char                         *name;
    const char                         *tool_call_id;
    size_t                              tool_call_count;
    const struct allm_tool_call *const *tool_calls; /* metadata.tool_calls  */
    const allm_json                    *metadata;
    const allm_json                    *provider_state;
    const allm_json                    *kept;
} allm_message;

/* Needs role and content. */
ALLM_API allm_message *allm_message_new(const allm_message *fields);
ALLM_API allm_message *allm_message_from_text(allm_role, const char *text);
ALLM_API allm_message *allm_message_from_result(const char *tool_call_id,
                                                const char *text);
/* A root for a message that was lent: counted, not copied. */
ALLM_API allm_message *allm_message_keep(const allm_message *);
/* The same message with its text as a list of one part. */
ALLM_API allm_message *allm_message_normalize(const allm_message *);
ALLM_API void allm_message_free(allm_message *);
ALLM_API const allm_error *allm_message_error(const allm_message *);
ALLM_API allm_text *allm_message_json(const allm_message *, uint32_t form);

/* -------------------------------------------------------------- 7  Tools --- */

typedef struct allm_tool_call {
    size_t            size;
    struct allm_home *home;
    const char       *id;
    const char       *name;
    const allm_json  *arguments;      /* an object                          */
    size_t            raw_len;
    const char       *raw_arguments;  /* the provider's own text            */
    const allm_json  *metadata;
    const allm_json  *provider_state;
    const allm_json  *kept;
} allm_tool_call;

/* Needs id, name and arguments. */
ALLM_API allm_tool_call *allm_tool_call_new(const allm_tool_call *fields);
ALLM_API void allm_tool_call_free(allm_tool_call *);
ALLM_API const allm_error *allm_tool_call_error(const allm_tool_call *);
ALLM_API allm_text *allm_tool_call_json(const allm_tool_call *, uint32_t form);

typedef enum allm_effect {            /* may a call be run again?           */
    ALLM_EFFECT_WRITE, ALLM_EFFECT_IDEMPOTENT, ALLM_EFFECT_PURE
} allm_effect;

typedef struct allm_tool_run allm_tool_run;   /* one call of one tool */
typedef void (*allm_tool_fn)(allm_tool_run *, const allm_json *args, void *ud);

typedef struct allm_tool {
    size_t            size;
    struct allm_home *home;
    const char       *name;           /* [A-Za-z0-9_-]{1,64}                */
    const char       *description;
    const allm_json  *schema;         /* JSON Schema of the arguments       */
    const char       *schema_text;    /* or as text, if schema is NULL      */
    allm_tool_fn      call;           /* "handler"; NULL: nobody            */
    void             *ud;
    uint32_t          manual;         /* 1: the caller answers by hand      */
    uint32_t          compact;        /* 1: announced by one line           */
    allm_effect       effect;
    uint32_t          flags;          /* ALLM_TOOL_*                        */
    const char       *summary;
    const allm_json  *metadata;
    const allm_json  *kept;
} allm_tool;

enum allm_tool_flags {
    ALLM_TOOL_INLINE = 1 << 0         /* never blocks: called in the thread
                                         that pulls, not in a worker        */
};

/* Needs name, description and a schema.  A tool with a function has no tagged
 * form: allm_tool_json() says so; the plain form leaves the function out. */
ALLM_API allm_tool *allm_tool_new(const allm_tool *fields);
ALLM_API void allm_tool_free(allm_tool *);
ALLM_API const allm_error *allm_tool_error(const allm_tool *);
ALLM_API allm_text *allm_tool_json(const allm_tool *, uint32_t form);

/* ------------------------------------------------------------ 8  Threads --- */

/*
 * A conversation: messages in order, append-only.  Copies share the messages;
 * appending costs the same however long the thread is, and n copies of a
 * growing thread cost what n messages cost.  A copy that is appended to
 * branches off: the other does not see it.
 */
typedef struct allm_thread allm_thread;

typedef struct allm_thread_opts {
    size_t                size;
    const allm_json      *metadata;
    const allm_allocator *allocator;
} allm_thread_opts;

ALLM_API allm_thread *allm_thread_new(const allm_thread_opts *);
ALLM_API allm_thread *allm_thread_copy(const allm_thread *);
ALLM_API void allm_thread_free(allm_thread *);
ALLM_API const allm_error *allm_thread_error(const allm_thread *);
ALLM_API allm_text *allm_thread_json(const allm_thread *, uint32_t form);

/* Append: a text as a message, a message, several.  Refused wholly or done
 * wholly.  A message is not checked here, but by the call that it is sent with
 * (invalid_thread): a thread may hold what was loaded from elsewhere. */
ALLM_API allm_status allm_thread_add(allm_thread *, allm_role,
                                     const char *text);
ALLM_API allm_status allm_thread_append(allm_thread *, const allm_message *);
ALLM_API allm_status allm_thread_append_all(allm_thread *, size_t count,
                                            const allm_message *const *);
ALLM_API allm_status allm_thread_set_metadata(allm_thread *,
                                              const allm_json *);

ALLM_API size_t allm_thread_count(const allm_thread *);
/* NULL beyond the end.  Lent as long as any thread holds the message. */
ALLM_API const allm_message *allm_thread_at(const allm_thread *, size_t index);
ALLM_API const allm_message *allm_thread_last(const allm_thread *);
/* All of them in a row, lent until the next append. */
ALLM_API const allm_message *const *allm_thread_messages(const allm_thread *,
                                                         size_t *count);
ALLM_API const allm_json *allm_thread_metadata(const allm_thread *);

/* ------------------------------------------------ 9  Requests, responses --- */

typedef struct allm_usage {
    size_t            size;
    struct allm_home *home;
    allm_int          input_tokens;
    allm_int          output_tokens;
    allm_int          cached_input_tokens;
    allm_int          reasoning_tokens;
    allm_int          total_tokens;
    allm_num          input_cost;     /* US dollars                         */
    allm_num          output_cost;
    allm_num          total_cost;
    const allm_json  *tool_usage;
    const allm_json  *extra;
    const allm_json  *kept;
} allm_usage;

ALLM_API allm_usage *allm_usage_new(const allm_usage *fields);
ALLM_API void allm_usage_free(allm_usage *);
ALLM_API const allm_error *allm_usage_error(const allm_usage *);
ALLM_API allm_text *allm_usage_json(const allm_usage *, uint32_t form);
/* total_tokens, else input + output if both are known; false: not known. */
ALLM_API bool allm_usage_total(const allm_usage *, int64_t *total);

/* A model of a catalog.  Spellings of a model's name, for reading one apart:
 * "id", "provider:id", "id@provider". */
typedef struct allm_model_ref {
    size_t            size;
    struct allm_home *home;
    const char       *provider;
    const char       *id;
    const allm_json  *capabilities;
    const allm_json  *limits;
    const allm_json  *pricing;        /* {"input", "output"} per million    */
    const allm_json  *metadata;
    const allm_json  *kept;
} allm_model_ref;

ALLM_API allm_model_ref *allm_model_ref_new(const allm_model_ref *fields);
ALLM_API allm_model_ref *allm_model_ref_from_text(const char *spelling);
ALLM_API void allm_model_ref_free(allm_model_ref *);
ALLM_API const allm_error *allm_model_ref_error(const allm_model_ref *);
ALLM_API allm_text *allm_model_ref_json(const allm_model_ref *, uint32_t form);

typedef struct allm_request {
    size_t                     size;
    struct allm_home          *home;
    size_t                     message_count;
    const allm_message *const *messages;
    const char                *model;
    const allm_model_ref      *model_ref;     /* "model", when resolved     */
    size_t                     tool_count;
    const allm_tool *const    *tools;
    const char                *tool_choice;   /* auto, none, required, name */
    const allm_json           *tool_choice_map;   /* "tool_choice"          */
    allm_num                   temperature;
    allm_int                   max_tokens;
    uint32_t                   stream;
    uint32_t                   structured_finalize;
    const allm_json           *response_format;
    const allm_json           *options;
    const allm_json           *metadata;
    const allm_json           *kept;
} allm_request;

ALLM_API allm_request *allm_request_new(const allm_request *fields);
/* The messages of a thread, and the other fields of a request (or NULL). */
ALLM_API allm_request *allm_request_from_thread(const allm_thread *,
                                                const allm_request *fields);
ALLM_API void allm_request_free(allm_request *);
ALLM_API const allm_error *allm_request_error(const allm_request *);
ALLM_API allm_text *allm_request_json(const allm_request *, uint32_t form);
/* {"type": "json_schema", "name", "schema", "strict"}: a response_format. */
ALLM_API allm_json *allm_request_json_schema(const char *name,
                                             const allm_json *schema,
                                             bool strict);

typedef enum allm_finish {
    ALLM_FINISH_NONE, ALLM_FINISH_STOP, ALLM_FINISH_LENGTH,
    ALLM_FINISH_TOOL_CALLS, ALLM_FINISH_CONTENT_FILTER, ALLM_FINISH_ERROR,
    ALLM_FINISH_OTHER
} allm_finish;

typedef struct allm_response {
    size_t                       size;
    struct allm_home            *home;
    const char                  *id;
    const char                  *request_id;
    const char                  *model;
    const allm_message          *message;
    size_t                       output_len;
    const char                  *output_text;
    size_t                       tool_call_count;
    const allm_tool_call *const *tool_calls;
    allm_finish                  finish_reason;
    uint32_t                     reserved;
    const char                  *raw_finish_reason;
    const allm_usage            *usage;       /* never NULL in ours         */
    const allm_error            *error;       /* metadata.error             */
    const allm_json             *raw;
    const allm_json             *metadata;
    const allm_json             *kept;
} allm_response;

ALLM_API allm_response *allm_response_new(const allm_response *fields);
ALLM_API void allm_response_free(allm_response *);
ALLM_API const allm_error *allm_response_error(const allm_response *);
ALLM_API allm_text *allm_response_json(const allm_response *, uint32_t form);
/* output_text, else the text of the message, else NULL. */
ALLM_API const char *allm_response_text(const allm_response *, size_t *len);

/* ----------------------------------------------------------- 10  Results --- */

typedef struct allm_step_result {
    size_t                     size;
    struct allm_home          *home;
    const allm_thread         *thread;
    const allm_response       *response;
    size_t                     tool_result_count;
    const allm_message *const *tool_results;
    uint32_t                   done;          /* "done?"                    */
    uint32_t                   reserved;
    const allm_error          *error;         /* metadata.error             */
    const allm_json           *metadata;
    const allm_json           *kept;
} allm_step_result;

ALLM_API allm_step_result *allm_step_result_new(const allm_step_result *);
ALLM_API void allm_step_result_free(allm_step_result *);
ALLM_API const allm_error *allm_step_result_error(const allm_step_result *);
ALLM_API allm_text *allm_step_result_json(const allm_step_result *,
                                          uint32_t form);

typedef struct allm_chat_result {
    size_t                         size;
    struct allm_home              *home;
    const allm_thread             *thread;
    const allm_response           *final_response;
    size_t                         step_count;
    const allm_step_result *const *steps;
    const char                    *halted_reason; /* completed, max_turns.. */
    const char                    *pending_question;
    const char                    *pending_tool_call_id;
    const allm_error              *error;         /* metadata.error         */
    const allm_json               *metadata;
    const allm_json               *kept;
} allm_chat_result;

ALLM_API allm_chat_result *allm_chat_result_new(const allm_chat_result *);
ALLM_API void allm_chat_result_free(allm_chat_result *);
ALLM_API const allm_error *allm_chat_result_error(const allm_chat_result *);
ALLM_API allm_text *allm_chat_result_json(const allm_chat_result *,
                                          uint32_t form);
/* True for every reason but "completed"; NULL counts as halted. */
ALLM_API bool allm_chat_result_halted(const allm_chat_result *);

/* ----------------------------------------------------------- 11  Records --- */

typedef enum allm_session_status {
    ALLM_SESSION_IDLE, ALLM_SESSION_AWAITING_USER, ALLM_SESSION_AWAITING_TOOLS,
    ALLM_SESSION_COMPLETED, ALLM_SESSION_ERROR
} allm_session_status;

typedef struct allm_session_record {
    size_t                       size;
    struct allm_home            *home;
    const char                  *id;
    const allm_thread           *thread;      /* never NULL in ours         */
    allm_session_status          status;
    uint32_t                     reserved;
    size_t                       pending_tool_call_count;
    const allm_tool_call *const *pending_tool_calls;
    const char                  *pending_question;
    const char                  *pending_tool_call_id;
    const allm_json             *context;
    const allm_error            *error;       /* metadata.error             */
    const allm_json             *metadata;
    const allm_json             *kept;
} allm_session_record;

ALLM_API allm_session_record *
allm_session_record_new(const allm_session_record *fields);
ALLM_API void allm_session_record_free(allm_session_record *);
ALLM_API const allm_error *
allm_session_record_error(const allm_session_record *);
ALLM_API allm_text *allm_session_record_json(const allm_session_record *,
                                             uint32_t form);

typedef struct allm_engine_record {
    size_t                  size;
    struct allm_home       *home;
    const char             *id;
    const char             *adapter;          /* by name                    */
    const allm_json        *adapter_opts;     /* an object or [[key, value]] */
    const char             *model;
    size_t                  tool_count;
    const allm_tool *const *tools;
    const char             *tool_executor;    /* names, for who stores it;  */
    const char             *tool_result_encoder;  /* nothing looks them up  */
    const char             *image_adapter;
    const allm_json        *params;
    const allm_json        *context;
    const allm_json        *retry;            /* "default", false or pairs  */
    const allm_json        *middleware;       /* stays []                   */
    const allm_json        *metadata;
    const allm_json        *kept;
} allm_engine_record;

ALLM_API allm_engine_record *
allm_engine_record_new(const allm_engine_record *fields);
ALLM_API void allm_engine_record_free(allm_engine_record *);
ALLM_API const allm_error *
allm_engine_record_error(const allm_engine_record *);
ALLM_API allm_text *allm_engine_record_json(const allm_engine_record *,
                                            uint32_t form);

/* ------------------------------------------------------------ 12  Images --- */

typedef enum allm_image_operation {
    ALLM_IMAGE_OP_GENERATE, ALLM_IMAGE_OP_EDIT, ALLM_IMAGE_OP_VARIATION
} allm_image_operation;

typedef enum allm_image_format {
    ALLM_IMAGE_FORMAT_BINARY, ALLM_IMAGE_FORMAT_BASE64, ALLM_IMAGE_FORMAT_URL
} allm_image_format;

typedef struct allm_image_request {
    size_t                   size;
    struct allm_home        *home;
    allm_image_operation     operation;
    allm_image_format        response_format;
    const char              *model;
    const char              *prompt;
    allm_int                 n;               /* absent: 1                  */
    const char              *size_text;       /* "size": "auto", "1024x.."  */
    allm_int                 width;           /* "size": [width, height]    */
    allm_int                 height;
    const char              *quality;
    const char              *style;
    const char              *background;
    size_t                   input_image_count;
    const allm_image *const *input_images;
    const allm_image        *mask;
    const allm_json         *options;
    const allm_json         *metadata;
    const allm_json         *kept;
} allm_image_request;

ALLM_API allm_image_request *
allm_image_request_new(const allm_image_request *fields);
ALLM_API void allm_image_request_free(allm_image_request *);
ALLM_API const allm_error *
allm_image_request_error(const allm_image_request *);
ALLM_API allm_text *allm_image_request_json(const allm_image_request *,
                                            uint32_t form);

typedef struct allm_image_usage {
    size_t            size;
    struct allm_home *home;
    allm_int          images;                 /* absent: 0                  */
    const allm_json  *size_json;              /* "size"                     */
    const char       *quality;
    allm_int          input_tokens;
    allm_int          output_tokens;
    allm_num          input_cost;
    allm_num          output_cost;
    allm_num          total_cost;
    const allm_json  *kept;
} allm_image_usage;

ALLM_API allm_image_usage *
allm_image_usage_new(const allm_image_usage *fields);
ALLM_API void allm_image_usage_free(allm_image_usage *);
ALLM_API const allm_error *allm_image_usage_error(const allm_image_usage *);
ALLM_API allm_text *allm_image_usage_json(const allm_image_usage *,
                                          uint32_t form);

typedef struct allm_image_response {
    size_t                   size;
    struct allm_home        *home;
    const char              *id;
    const char              *request_id;
    const char              *model;
    size_t                   image_count;
    const allm_image *const *images;
    const allm_image_usage  *usage;           /* never NULL in ours         */
    const allm_json         *raw;
    const allm_json         *metadata;
    const allm_json         *kept;
} allm_image_response;

ALLM_API allm_image_response *
allm_image_response_new(const allm_image_response *fields);
ALLM_API void allm_image_response_free(allm_image_response *);
ALLM_API const allm_error *
allm_image_response_error(const allm_image_response *);
ALLM_API allm_text *allm_image_response_json(const allm_image_response *,
                                             uint32_t form);

/* ------------------------------------------------------------ 13  Events --- */

typedef enum allm_event_type {
    ALLM_EV_NONE,
    ALLM_EV_MESSAGE_STARTED, ALLM_EV_TEXT_DELTA, ALLM_EV_TEXT_COMPLETED,
    ALLM_EV_TOOL_CALL_STARTED, ALLM_EV_TOOL_CALL_DELTA,
    ALLM_EV_TOOL_CALL_COMPLETED, ALLM_EV_TOOL_EXECUTION_STARTED,
    ALLM_EV_TOOL_EXECUTION_COMPLETED, ALLM_EV_TOOL_RESULT_ENCODED,
    ALLM_EV_ASK_USER_REQUESTED, ALLM_EV_TOOL_HALT, ALLM_EV_MESSAGE_COMPLETED,
    ALLM_EV_STEP_COMPLETED, ALLM_EV_CHAT_COMPLETED, ALLM_EV_RAW_CHUNK,
    ALLM_EV_ERROR,
    ALLM_EV_REASONING_DELTA, ALLM_EV_REASONING_COMPLETED, ALLM_EV_USAGE
} allm_event_type;

typedef enum allm_mode { ALLM_MODE_AUTO, ALLM_MODE_MANUAL } allm_mode;

/*
 * One flat struct for all events; the list tells which members each carries,
 * in the order of its JSON form, which begins with "type" and "seq".
 *
 *   message_started           message
 *   text_delta                id, delta
 *   text_completed            id, text
 *   tool_call_started         id, name
 *   tool_call_delta           id, arguments_delta
 *   tool_call_completed       id, name, arguments, raw_arguments, metadata?
 *   tool_execution_started    id, name, arguments
 *   tool_execution_completed  id, name, result
 *   tool_result_encoded       id, content
 *   ask_user_requested        tool_call_id, tool_name, question, opts
 *   tool_halt                 tool_call_id, reason, result, content?, error?
 *   message_completed         message, finish_reason, metadata?
 *   step_completed            response, thread, mode, manual_tool_calls
 *   chat_completed            result (a chat result)
 *   raw_chunk                 chunk
 *   error                     error
 *   reasoning_delta           id, delta
 *   reasoning_completed       id, text, provider_state
 *   usage                     the fields of a usage, flat
 */
typedef struct allm_event {
    size_t                       size;
    struct allm_home            *home;
    allm_event_type              type;
    allm_finish                  finish_reason;
    uint64_t                     seq;         /* from 1, without gaps       */
    const char                  *id;          /* or "tool_call_id"          */
    const char                  *name;        /* or "tool_name"             */
    size_t                       text_len;
    const char                  *text;        /* "delta", "text", "content",
                                                 "arguments_delta",
                                                 "question"                 */
    size_t                       raw_len;
    const char                  *raw_arguments;
    const char                  *reason;
    const allm_json             *arguments;
    const allm_json             *result;      /* of a tool                  */
    const allm_json             *opts;
    const allm_json             *chunk;
    const allm_json             *metadata;
    const allm_json             *provider_state;
    const allm_message          *message;
    const allm_response         *response;
    const allm_thread           *thread;
    allm_mode                    mode;
    uint32_t                     reserved;
    size_t                       manual_tool_call_count;
    const allm_tool_call *const *manual_tool_calls;
    const allm_chat_result      *chat_result; /* "result"                   */
    const allm_usage            *usage;
    const allm_error            *error;
    const allm_json             *kept;
} allm_event;

/* Needs a type and the members of that type. */
ALLM_API allm_event *allm_event_new(const allm_event *fields);
ALLM_API void allm_event_free(allm_event *);
ALLM_API const allm_error *allm_event_error(const allm_event *);
ALLM_API allm_text *allm_event_json(const allm_event *);
/* From its JSON form; unknown members are kept. */
ALLM_API allm_event *allm_event_parse(const char *json, size_t len);
/* "text_delta"; NULL for none.  And back: ALLM_EV_NONE for an unknown word. */
ALLM_API const char *allm_event_tag(allm_event_type);
ALLM_API allm_event_type allm_event_type_of(const char *tag);

/* -------------------------------------------------------- 14  Validation --- */

/*
 * NULL if the value is well formed, else a root: an error of kind VALIDATION
 * whose `errors` lists every (path, reason), in a fixed order.
 */
ALLM_API allm_error *allm_validate_request(const allm_request *);
ALLM_API allm_error *allm_validate_message(const allm_message *);
ALLM_API allm_error *allm_validate_tool(const allm_tool *);
ALLM_API allm_error *allm_validate_thread(const allm_thread *);
ALLM_API allm_error *allm_validate_session(const allm_session_record *);
ALLM_API allm_error *allm_validate_image_request(const allm_image_request *);

/* The same for a plain JSON form, which may hold what a struct cannot.  type:
 * request, message, tool, thread, session, image_request. */
ALLM_API allm_error *allm_validate_json(const char *type, const allm_json *);

/* ------------------------------------------------------------- 15  Codec --- */

/*
 * Two forms.  TAGGED: {"__type__": "ALLM.Message", "data": {...}} around every
 * struct, every field present, nulls included; what sessions are stored in.
 * PLAIN: the data alone, for reading.
 */
enum allm_form { ALLM_FORM_TAGGED, ALLM_FORM_PLAIN };

typedef enum allm_type {
    ALLM_TYPE_NONE, ALLM_TYPE_MESSAGE, ALLM_TYPE_TOOL, ALLM_TYPE_TOOL_CALL,
    ALLM_TYPE_REQUEST, ALLM_TYPE_RESPONSE, ALLM_TYPE_THREAD,
    ALLM_TYPE_SESSION, ALLM_TYPE_STEP_RESULT, ALLM_TYPE_CHAT_RESULT,
    ALLM_TYPE_USAGE, ALLM_TYPE_ENGINE, ALLM_TYPE_MODEL_REF, ALLM_TYPE_ERROR,
    ALLM_TYPE_IMAGE, ALLM_TYPE_IMAGE_REQUEST, ALLM_TYPE_IMAGE_RESPONSE,
    ALLM_TYPE_IMAGE_USAGE, ALLM_TYPE_PART,
    ALLM_TYPE_JSON              /* tagged with a name we do not know        */
} allm_type;

/*
 * Read a document.  `as` names the type of one that has no tag ("ALLM.Message"
 * or "Message"; NULL: it must have one).  Unknown tags give ALLM_TYPE_JSON.
 * Limits as in allm_json_parse(); opts may be NULL.
 */
typedef struct allm_codec allm_codec;
ALLM_API allm_codec *allm_codec_decode(const char *json, size_t len,
                                       const char *as, const allm_json_opts *);
ALLM_API const allm_error *allm_codec_error(const allm_codec *);
ALLM_API allm_type allm_codec_type(const allm_codec *);
/* The value, lent by the codec, if it is of that type; else NULL: a pointer to
 * allm_message for ALLM_TYPE_MESSAGE, and so on. */
ALLM_API const void *allm_codec_value(const allm_codec *, allm_type);
ALLM_API allm_text *allm_codec_json(const allm_codec *, uint32_t form);
ALLM_API void allm_codec_free(allm_codec *);

/* ----------------------------------------------------------- 16  Version --- */

#define ALLM_VERSION_MAJOR 0
#define ALLM_VERSION_MINOR 1
#define ALLM_VERSION_PATCH 0

ALLM_API const char *allm_version(void);

#ifdef __cplusplus
}
#endif

#include "allm_run.h"           /* the verbs: engines, streams, hubs */
#include "allm_session.h"       /* conversations that go on */
#include "allm_record.h"        /* exchanges recorded and played again */

#endif
