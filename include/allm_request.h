/*
 * allm_request.h - requests, responses, and checking them
 *
 *    1  Usage                 tokens and costs
 *    2  Models                models and their names
 *    3  Requests
 *    4  Responses
 *    5  Validation            checks data before it is used
 *    6  Codec                 reads JSON forms
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

/* The tokens that a call used, and what they cost. */
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

/*
 * Creates a usage.  The caller frees it.  allm_usage_error() returns why it was
 * rejected, or NULL, and allm_usage_json() returns its JSON form.
 */
ALLM_API allm_usage *allm_usage_new(const allm_usage *fields);
ALLM_API void allm_usage_free(allm_usage *);
ALLM_API const allm_error *allm_usage_error(const allm_usage *);
ALLM_API allm_text *allm_usage_json(const allm_usage *, allm_form form);
/*
 * Sets *total to total_tokens, or to input + output if both are known.  False:
 * the total is not known.
 */
ALLM_API bool allm_usage_total(const allm_usage *, int64_t *total);

/* ------------------------------------------------------------ 2  Models --- */

/* A model of a catalog, or the parsed name of a model. */
typedef struct allm_model_ref {
    size_t            size;
    struct allm_home *home;
    const char       *provider;
    const char       *id;
    const allm_json  *capabilities;
    const allm_json  *limits;
    const allm_json  *pricing;        /* {"input", "output"}: US dollars per
                                         million tokens                     */
    const allm_json  *metadata;
    const allm_json  *kept;
} allm_model_ref;

/*
 * Creates a model reference, from its fields or from a name: "id",
 * "provider:id" or "id@provider".  The caller frees it.
 * allm_model_ref_error() returns why it was rejected, or NULL, and
 * allm_model_ref_json() returns its JSON form.
 */
ALLM_API allm_model_ref *allm_model_ref_new(const allm_model_ref *fields);
ALLM_API allm_model_ref *allm_model_ref_from_text(const char *name);
ALLM_API void allm_model_ref_free(allm_model_ref *);
ALLM_API const allm_error *allm_model_ref_error(const allm_model_ref *);
ALLM_API allm_text *allm_model_ref_json(const allm_model_ref *, allm_form form);

/* ---------------------------------------------------------- 3  Requests --- */

/* A request for one response. */
typedef struct allm_request {
    size_t                     size;
    struct allm_home          *home;
    size_t                     message_count;
    const allm_message *const *messages;
    const char                *model;
    const allm_model_ref      *model_ref;     /* "model", if resolved       */
    size_t                     tool_count;
    const allm_tool *const    *tools;
    const char                *tool_choice;   /* auto, none, required, name */
    const allm_json           *tool_choice_map;   /* "tool_choice"          */
    allm_num                   temperature;
    allm_int                   max_tokens;
    uint32_t                   stream;        /* 1: true; so below          */
    uint32_t                   structured_finalize;
    const allm_json           *response_format;
    const allm_json           *options;
    const allm_json           *metadata;
    const allm_json           *kept;
} allm_request;

/* Creates a request.  The caller frees it. */
ALLM_API allm_request *allm_request_new(const allm_request *fields);
/* Creates a request with the messages of a thread; fields may be NULL. */
ALLM_API allm_request *allm_request_from_thread(const allm_thread *,
                                                const allm_request *fields);
/*
 * allm_request_error() returns why a request was rejected, or NULL, and
 * allm_request_json() returns its JSON form.
 */
ALLM_API void allm_request_free(allm_request *);
ALLM_API const allm_error *allm_request_error(const allm_request *);
ALLM_API allm_text *allm_request_json(const allm_request *, allm_form form);
/*
 * Creates a response_format: {"type": "json_schema", "name", "schema",
 * "strict"}.  The caller frees it.
 */
ALLM_API allm_json *allm_request_json_schema(const char *name,
                                             const allm_json *schema,
                                             bool strict);

/* --------------------------------------------------------- 4  Responses --- */

/* Why a response ended. */
typedef enum allm_finish {
    ALLM_FINISH_NONE, ALLM_FINISH_STOP, ALLM_FINISH_LENGTH,
    ALLM_FINISH_TOOL_CALLS, ALLM_FINISH_CONTENT_FILTER, ALLM_FINISH_ERROR,
    ALLM_FINISH_OTHER
} allm_finish;

/* A response of a model. */
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
    const allm_usage            *usage;       /* never NULL in a result     */
    const allm_error            *error;       /* why it failed, or NULL;
                                                 "metadata.error"           */
    const allm_json             *raw;
    const allm_json             *metadata;
    const allm_json             *kept;
} allm_response;

/*
 * Creates a response.  The caller frees it.  allm_response_error() returns the
 * member `error`; if the response was rejected, that is why.
 * allm_response_json() returns its JSON form.
 */
ALLM_API allm_response *allm_response_new(const allm_response *fields);
ALLM_API void allm_response_free(allm_response *);
ALLM_API const allm_error *allm_response_error(const allm_response *);
ALLM_API allm_text *allm_response_json(const allm_response *, allm_form form);
/* Returns output_text, else the text of the message, else NULL. */
ALLM_API const char *allm_response_text(const allm_response *, size_t *len);

/* -------------------------------------------------------- 5  Validation --- */

/*
 * These check a value.  They return NULL if it is valid, else an error of kind
 * VALIDATION, which the caller frees; its `errors` lists every [path, reason],
 * in a fixed order.
 */
ALLM_API allm_error *allm_validate_request(const allm_request *);
ALLM_API allm_error *allm_validate_message(const allm_message *);
ALLM_API allm_error *allm_validate_thread(const allm_thread *);

/*
 * Checks a plain JSON form, which may contain values that a struct cannot.
 * type: request, message, tool, thread, session or image_request.
 */
ALLM_API allm_error *allm_validate_json(const char *type, const allm_json *);

/* ------------------------------------------------------------- 6  Codec --- */

/* The types that have a JSON form. */
typedef enum allm_type {
    ALLM_TYPE_NONE, ALLM_TYPE_MESSAGE, ALLM_TYPE_TOOL, ALLM_TYPE_TOOL_CALL,
    ALLM_TYPE_REQUEST, ALLM_TYPE_RESPONSE, ALLM_TYPE_THREAD,
    ALLM_TYPE_SESSION, ALLM_TYPE_STEP_RESULT, ALLM_TYPE_CHAT_RESULT,
    ALLM_TYPE_USAGE, ALLM_TYPE_ENGINE, ALLM_TYPE_MODEL_REF, ALLM_TYPE_ERROR,
    ALLM_TYPE_IMAGE, ALLM_TYPE_IMAGE_REQUEST, ALLM_TYPE_IMAGE_RESPONSE,
    ALLM_TYPE_IMAGE_USAGE, ALLM_TYPE_PART,
    ALLM_TYPE_JSON              /* tagged with an unknown name              */
} allm_type;

/* A value that was read from its JSON form. */
typedef struct allm_codec allm_codec;

/*
 * Reads a document.  The caller frees the result.  `as` is the type of a
 * document without a tag, "ALLM.Message" or "Message"; NULL: a tag is required.
 * An unknown tag gives ALLM_TYPE_JSON.  The options are those of
 * allm_json_parse().  allm_codec_error() returns why the document was rejected,
 * or NULL, and allm_codec_type() returns the type of the value.
 */
ALLM_API allm_codec *allm_codec_decode(const char *json, size_t len,
                                       const char *as, const allm_json_opts *);
ALLM_API const allm_error *allm_codec_error(const allm_codec *);
ALLM_API allm_type allm_codec_type(const allm_codec *);
/*
 * The value if it is of this type, else NULL: a pointer to an allm_message for
 * ALLM_TYPE_MESSAGE, and so on.  Borrowed from the codec.
 */
ALLM_API const void *allm_codec_value(const allm_codec *, allm_type);
/* The JSON form of the value; the caller frees it. */
ALLM_API allm_text *allm_codec_json(const allm_codec *, allm_form form);
/* Frees the codec and its value. */
ALLM_API void allm_codec_free(allm_codec *);

#ifdef __cplusplus
}
#endif
#endif
