/*
 * allm_media.h - embeddings, images, moderation
 *
 *    1  Embeddings            strings as vectors
 *    2  Images                requests, responses and usage as plain data
 *    3  Making images         from a prompt, or from other images
 *    4  Moderation            is the content harmful?
 */
#ifndef ALLM_MEDIA_H
#define ALLM_MEDIA_H

#include "allm_stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------- 1  Embeddings --- */

/* What the vectors are for; some providers use it. */
typedef enum allm_embed_task {
    ALLM_EMBED_ANY, ALLM_EMBED_DOCUMENT, ALLM_EMBED_QUERY,
    ALLM_EMBED_CLASSIFICATION, ALLM_EMBED_CLUSTERING, ALLM_EMBED_SIMILARITY
} allm_embed_task;

/*
 * The strings to embed, any number.  More than the provider accepts in one
 * request are sent in several, one after the other.
 */
typedef struct allm_embed_request {
    size_t             size;
    const char        *model;         /* NULL: the call's, or the engine's  */
    size_t             input_count;
    const char *const *inputs;        /* none of them empty                 */
    allm_int           dimensions;    /* of the vectors; else the model's   */
    allm_embed_task    task;
    uint32_t           no_truncate;   /* 1: a string that is too long fails */
    const allm_json   *options;       /* the provider's own                 */
} allm_embed_request;

/* One vector for each input, in the same order. */
typedef struct allm_embeddings {
    size_t              size;
    size_t              count;
    size_t              dimensions;
    const float *const *vectors;
    const char         *model;        /* as the provider names it; or NULL  */
    const allm_usage   *usage;        /* of all requests; never NULL        */
} allm_embeddings;

/*
 * Requests embeddings.  A stream without events: wait for its end, alone or in
 * a hub, then read the vectors.  Retries, timeouts (of each request), keys and
 * cancel work as for allm_generate(), but any failure is a status < 0.
 */
ALLM_API allm_stream *allm_embed(const allm_engine *,
                                 const allm_embed_request *,
                                 const allm_call_opts *);
/*
 * The vectors, borrowed from the stream.  NULL until it has ended with
 * ALLM_OK.
 */
ALLM_API const allm_embeddings *allm_stream_embeddings(const allm_stream *);
/*
 * The cosine similarity of two vectors, from -1 to 1; 0 if one of them is all
 * zeros.
 */
ALLM_API double allm_embed_cosine(const float *, const float *, size_t n);

/* ------------------------------------------------------------ 2  Images --- */

/* What to do: make an image, edit some, or vary one. */
typedef enum allm_image_operation {
    ALLM_IMAGE_OP_GENERATE, ALLM_IMAGE_OP_EDIT, ALLM_IMAGE_OP_VARIATION
} allm_image_operation;

/* How the images are returned. */
typedef enum allm_image_format {
    ALLM_IMAGE_FORMAT_BINARY, ALLM_IMAGE_FORMAT_BASE64, ALLM_IMAGE_FORMAT_URL
} allm_image_format;

/* A request for images. */
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

/*
 * Creates an image request.  The caller frees it. allm_image_request_error()
 * returns why it was rejected, or NULL, and allm_image_request_json() returns
 * its JSON form.
 */
ALLM_API allm_image_request *
allm_image_request_new(const allm_image_request *fields);
ALLM_API void allm_image_request_free(allm_image_request *);
ALLM_API const allm_error *
allm_image_request_error(const allm_image_request *);
ALLM_API allm_text *allm_image_request_json(const allm_image_request *,
                                            allm_form form);

/* What the images cost. */
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

/*
 * Creates an image usage.  The caller frees it. allm_image_usage_error()
 * returns why it was rejected, or NULL, and allm_image_usage_json() returns
 * its JSON form.
 */
ALLM_API allm_image_usage *
allm_image_usage_new(const allm_image_usage *fields);
ALLM_API void allm_image_usage_free(allm_image_usage *);
ALLM_API const allm_error *allm_image_usage_error(const allm_image_usage *);
ALLM_API allm_text *allm_image_usage_json(const allm_image_usage *,
                                          allm_form form);

/* The images that a provider returned. */
typedef struct allm_image_response {
    size_t                   size;
    struct allm_home        *home;
    const char              *id;
    const char              *request_id;
    const char              *model;
    size_t                   image_count;
    const allm_image *const *images;
    const allm_image_usage  *usage;           /* never NULL in a result     */
    const allm_json         *raw;
    const allm_json         *metadata;
    const allm_json         *kept;
} allm_image_response;

/*
 * Creates an image response.  The caller frees it. allm_image_response_error()
 * returns why it was rejected, or NULL, and allm_image_response_json() returns
 * its JSON form.
 */
ALLM_API allm_image_response *
allm_image_response_new(const allm_image_response *fields);
ALLM_API void allm_image_response_free(allm_image_response *);
ALLM_API const allm_error *
allm_image_response_error(const allm_image_response *);
ALLM_API allm_text *allm_image_response_json(const allm_image_response *,
                                             allm_form form);

/*
 * Checks an image request.  Returns NULL if it is valid, else an error that
 * the caller frees.
 */
ALLM_API allm_error *allm_validate_image_request(const allm_image_request *);

/* ----------------------------------------------------- 3  Making images --- */

/*
 * Generates images, or edits some, as the operation of the request says.  The
 * request goes to the engine's image_adapter, else to the provider of the
 * model.  A stream without events, like that of allm_embed().  Failures of a
 * provider are of kind ALLM_ERR_IMAGE.
 */
ALLM_API allm_stream *allm_image_generate(const allm_engine *,
                                          const allm_image_request *,
                                          const allm_call_opts *);
/*
 * The images, borrowed from the stream.  NULL until it has ended with ALLM_OK.
 */
ALLM_API const allm_image_response *
allm_stream_image_response(const allm_stream *);

/* -------------------------------------------------------- 4  Moderation --- */

/*
 * The content to moderate.  Without images each string is judged by itself;
 * with images everything is judged together.
 */
typedef struct allm_moderation_request {
    size_t             size;
    const char        *model;         /* NULL: the call's; else the engine's
                                         if it is for moderation; else the
                                         provider's default                 */
    size_t             input_count;   /* at most 1000                       */
    const char *const *inputs;        /* none of them empty                 */
    size_t             image_count;
    const allm_image *const *images;
    const allm_json   *options;       /* the provider's own                 */
} allm_moderation_request;

/*
 * One judgement.  Each object has a member for each category; {} if the
 * provider reports none.
 */
typedef struct allm_moderation {
    size_t           size;
    uint32_t         flagged;         /* 1: in at least one category        */
    uint32_t         reserved;
    const allm_json *categories;      /* {"violence": true}                 */
    const allm_json *scores;          /* {"violence": 0.98}                 */
    const allm_json *input_types;     /* {"violence": ["text", "image"]}    */
} allm_moderation;

/* The judgements of a request. */
typedef struct allm_moderations {
    size_t            size;
    size_t            count;          /* one per input; 1 with images       */
    const allm_moderation *const *results;
    const char       *id;             /* of the response; or NULL           */
    const char       *request_id;
    const char       *model;          /* as the provider names it; or NULL  */
    const allm_usage *usage;          /* never NULL; often empty            */
    const allm_json  *raw;            /* the response as it came            */
} allm_moderations;

/*
 * Requests a moderation.  A stream without events, like that of allm_embed().
 */
ALLM_API allm_stream *allm_moderate(const allm_engine *,
                                    const allm_moderation_request *,
                                    const allm_call_opts *);
/*
 * The judgements, borrowed from the stream.  NULL until it has ended with
 * ALLM_OK.
 */
ALLM_API const allm_moderations *allm_stream_moderations(const allm_stream *);

#ifdef __cplusplus
}
#endif
#endif
