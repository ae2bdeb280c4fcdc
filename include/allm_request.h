/*
 * allm_request.h - what goes out, what comes back, and checking it
 *
 *    1  Usage                 tokens and what they cost
 *    2  Models                and how they are spelled
 *    3  Requests
 *    4  Responses
 *    5  Validation            is this well formed?
 *    6  Codec                 everything as JSON, and back
 */
#ifndef ALLM_REQUEST_H
#define ALLM_REQUEST_H

#include "allm_data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Declared by later chapters. */
typedef struct allm_tool allm_tool;

/* ------------------------------------------------------------- 1  Usage --- */

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

/* ------------------------------------------------------------ 2  Models --- */

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

/* ---------------------------------------------------------- 3  Requests --- */

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

/* --------------------------------------------------------- 4  Responses --- */

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

/* -------------------------------------------------------- 5  Validation --- */

/*
 * NULL if the value is well formed, else a root: an error of kind VALIDATION
 * whose `errors` lists every (path, reason), in a fixed order.
 */
ALLM_API allm_error *allm_validate_request(const allm_request *);
ALLM_API allm_error *allm_validate_message(const allm_message *);
ALLM_API allm_error *allm_validate_thread(const allm_thread *);

/* The same for a plain JSON form, which may hold what a struct cannot.  type:
 * request, message, tool, thread, session, image_request. */
ALLM_API allm_error *allm_validate_json(const char *type, const allm_json *);

/* ------------------------------------------------------------- 6  Codec --- */

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

#ifdef __cplusplus
}
#endif
#endif
