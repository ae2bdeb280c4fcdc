/*
 * allm_media.h - embeddings, images, moderation
 *
 *    1  Embeddings            texts as vectors
 *    2  Images                requests, responses and usage as plain data
 *    3  Making images         by words, or of other images
 *    4  Moderation            is it harmful?
 */
#ifndef ALLM_MEDIA_H
#define ALLM_MEDIA_H

#include "allm_stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------- 1  Embeddings --- */

/* What the vectors are for, where the provider wants to know. */
typedef enum allm_embed_task {
    ALLM_EMBED_ANY, ALLM_EMBED_DOCUMENT, ALLM_EMBED_QUERY,
    ALLM_EMBED_CLASSIFICATION, ALLM_EMBED_CLUSTERING, ALLM_EMBED_SIMILARITY
} allm_embed_task;

/* Texts to be made vectors of, any number: what is too much for one request
 * of the provider is sent in several, one after the other. */
typedef struct allm_embed_request {
    size_t             size;
    const char        *model;         /* NULL: the call's, or the engine's  */
    size_t             input_count;
    const char *const *inputs;        /* none of them empty                 */
    allm_int           dimensions;    /* of the vectors; else the model's   */
    allm_embed_task    task;
    uint32_t           no_truncate;   /* 1: a text that is too long fails   */
    const allm_json   *options;       /* the provider's own                 */
} allm_embed_request;

/* A vector for each input, in their order. */
typedef struct allm_embeddings {
    size_t              size;
    size_t              count;
    size_t              dimensions;
    const float *const *vectors;
    const char         *model;        /* as the provider names it; or NULL  */
    const allm_usage   *usage;        /* of all requests; never NULL        */
} allm_embeddings;

/*
 * A stream without events: wait for its end (or let a hub do so), then ask for
 * the vectors.  Retries, deadlines (of each request), keys and cancel are as
 * with allm_generate(); but a failure, whenever it comes, is a status < 0.
 */
ALLM_API allm_stream *allm_embed(const allm_engine *,
                                 const allm_embed_request *,
                                 const allm_call_opts *);
/* Lent by the stream; NULL until it has ended with ALLM_OK. */
ALLM_API const allm_embeddings *allm_stream_embeddings(const allm_stream *);
/* How alike two vectors are: -1 to 1; 0 if one of them is all zeros. */
ALLM_API double allm_embed_cosine(const float *, const float *, size_t n);

/* ------------------------------------------------------------ 2  Images --- */

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

ALLM_API allm_error *allm_validate_image_request(const allm_image_request *);

/* ----------------------------------------------------- 3  Making images --- */

/*
 * Generate images, or edit some, as the operation of the request says.  The
 * engine's image_adapter is asked, else the provider of the model.  A stream
 * without events, as allm_embed() gives one; failures of a provider are of kind
 * ALLM_ERR_IMAGE.
 */
ALLM_API allm_stream *allm_image_generate(const allm_engine *,
                                          const allm_image_request *,
                                          const allm_call_opts *);
/* Lent by the stream; NULL until it has ended with ALLM_OK. */
ALLM_API const allm_image_response *
allm_stream_image_response(const allm_stream *);

/* -------------------------------------------------------- 4  Moderation --- */

/* What is to be judged.  Without images each text by itself; with images all
 * of it together, as one thing. */
typedef struct allm_moderation_request {
    size_t             size;
    const char        *model;         /* NULL: the call's; else the engine's if
                                         it is for moderation; else whatever
                                         the provider takes                 */
    size_t             input_count;   /* at most 1000 texts                 */
    const char *const *inputs;        /* none of them empty                 */
    size_t             image_count;
    const allm_image *const *images;
    const allm_json   *options;       /* the provider's own                 */
} allm_moderation_request;

/* Objects with a member for each category; {}: nothing was told. */
typedef struct allm_moderation {
    size_t           size;
    uint32_t         flagged;         /* 1: it is in one of them            */
    uint32_t         reserved;
    const allm_json *categories;      /* {"violence": true}                 */
    const allm_json *scores;          /* {"violence": 0.98}                 */
    const allm_json *input_types;     /* {"violence": ["text", "image"]}    */
} allm_moderation;

typedef struct allm_moderations {
    size_t            size;
    size_t            count;          /* of the inputs; 1 with images       */
    const allm_moderation *const *results;
    const char       *id;             /* of the answer; or NULL             */
    const char       *request_id;
    const char       *model;          /* as the provider names it; or NULL  */
    const allm_usage *usage;          /* never NULL; mostly nothing is set  */
    const allm_json  *raw;            /* the answer as it came              */
} allm_moderations;

/* A stream without events, as allm_embed() gives one. */
ALLM_API allm_stream *allm_moderate(const allm_engine *,
                                    const allm_moderation_request *,
                                    const allm_call_opts *);
/* Lent by the stream; NULL until it has ended with ALLM_OK. */
ALLM_API const allm_moderations *allm_stream_moderations(const allm_stream *);

#ifdef __cplusplus
}
#endif
#endif
