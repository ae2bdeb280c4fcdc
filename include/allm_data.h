/*
 * allm_data.h - conversations as plain data
 *
 *    1  Images                images in messages
 *    2  Messages              messages and their parts
 *    3  Tool calls            the calls that a model requests
 *    4  Threads               conversations that share their messages
 */
#ifndef ALLM_DATA_H
#define ALLM_DATA_H

#include "allm_json.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------ 1  Images --- */

/* What the data of an image is. */
typedef enum allm_image_source {
    ALLM_IMAGE_NONE, ALLM_IMAGE_BINARY, ALLM_IMAGE_BASE64, ALLM_IMAGE_URL,
    ALLM_IMAGE_FILE
} allm_image_source;

/* An image in a message, or made by a model. */
typedef struct allm_image {
    size_t            size;
    struct allm_home *home;
    allm_image_source source;         /* "source": {"type", "value"}        */
    uint32_t          reserved;
    size_t            data_len;
    const char       *data;           /* bytes, base64, URL or path         */
    const char       *mime_type;
    allm_int          width;
    allm_int          height;
    const char       *prompt;
    const char       *revised_prompt;
    const allm_json  *metadata;
    const allm_json  *kept;
} allm_image;

/* Creates an image.  The caller frees it. */
ALLM_API allm_image *allm_image_new(const allm_image *fields);
/*
 * Creates an image from a file, bytes, base64, a URL or a data URI.  The MIME
 * type of a file follows from its extension: png, jpg, jpeg, webp or gif.  The
 * file is read when the image is sent.
 */
ALLM_API allm_image *allm_image_from_file(const char *path);
ALLM_API allm_image *allm_image_from_binary(const void *bytes, size_t len,
                                            const char *mime_type);
ALLM_API allm_image *allm_image_from_base64(const char *text,
                                            const char *mime_type);
ALLM_API allm_image *allm_image_from_url(const char *url);
ALLM_API allm_image *allm_image_from_data_uri(const char *uri);
/*
 * allm_image_error() returns why an image was rejected, or NULL, and
 * allm_image_json() returns its JSON form.
 */
ALLM_API void allm_image_free(allm_image *);
ALLM_API const allm_error *allm_image_error(const allm_image *);
ALLM_API allm_text *allm_image_json(const allm_image *, allm_form form);
/*
 * The bytes of an image, or the image as "data:<type>;base64,<...>"; a file is
 * read now.  The caller frees the text.  It fails with remote_source,
 * missing_mime_type, invalid_base64, or the name of a system error such as
 * enoent.
 */
ALLM_API allm_text *allm_image_to_binary(const allm_image *);
ALLM_API allm_text *allm_image_to_data_uri(const allm_image *);

/* ---------------------------------------------------------- 2  Messages --- */

/* The kind of a part. */
typedef enum allm_part_kind {
    ALLM_PART_TEXT = 1, ALLM_PART_IMAGE,
    ALLM_PART_OTHER                   /* unknown: its JSON is in `kept`     */
} allm_part_kind;

/* How closely a model looks at an image. */
typedef enum allm_detail {
    ALLM_DETAIL_AUTO, ALLM_DETAIL_LOW, ALLM_DETAIL_HIGH
} allm_detail;

/* A part of a message. */
typedef struct allm_part {
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

/* Who a message is from. */
typedef enum allm_role {
    ALLM_ROLE_NONE, ALLM_ROLE_SYSTEM, ALLM_ROLE_USER, ALLM_ROLE_ASSISTANT,
    ALLM_ROLE_TOOL
} allm_role;

struct allm_tool_call;

/*
 * A message.  Its content is a text or a list of parts, not both (an empty
 * list has parts not NULL and the count 0).  Messages that the library created
 * are reference-counted: a thread shares them instead of copying.
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

/* Creates a message; role and content are required.  The caller frees it. */
ALLM_API allm_message *allm_message_new(const allm_message *fields);
/* Creates a message with a text, or a tool message with a result. */
ALLM_API allm_message *allm_message_from_text(allm_role, const char *text);
ALLM_API allm_message *allm_message_from_result(const char *tool_call_id,
                                                const char *text);
/* Adds a reference to a borrowed message; the caller frees the result. */
ALLM_API allm_message *allm_message_keep(const allm_message *);
/* Creates the same message with its text as a list of one part. */
ALLM_API allm_message *allm_message_normalize(const allm_message *);
/*
 * allm_message_error() returns why a message was rejected, or NULL, and
 * allm_message_json() returns its JSON form.
 */
ALLM_API void allm_message_free(allm_message *);
ALLM_API const allm_error *allm_message_error(const allm_message *);
ALLM_API allm_text *allm_message_json(const allm_message *, allm_form form);

/* -------------------------------------------------------- 3  Tool calls --- */

/* A call of a tool that a model requests. */
typedef struct allm_tool_call {
    size_t            size;
    struct allm_home *home;
    const char       *id;
    const char       *name;
    const allm_json  *arguments;      /* an object                          */
    size_t            raw_len;
    const char       *raw_arguments;  /* as the provider sent them          */
    const allm_json  *metadata;
    const allm_json  *provider_state;
    const allm_json  *kept;
} allm_tool_call;

/*
 * Creates a tool call; id, name and arguments are required.  The caller frees
 * it.  allm_tool_call_error() returns why it was rejected, or NULL, and
 * allm_tool_call_json() returns its JSON form.
 */
ALLM_API allm_tool_call *allm_tool_call_new(const allm_tool_call *fields);
ALLM_API void allm_tool_call_free(allm_tool_call *);
ALLM_API const allm_error *allm_tool_call_error(const allm_tool_call *);
ALLM_API allm_text *allm_tool_call_json(const allm_tool_call *, allm_form form);

/* ----------------------------------------------------------- 4  Threads --- */

/*
 * A conversation: messages in order, append-only.  Copies share the messages,
 * so a copy is cheap, and appending takes the same time however long the thread
 * is.  A message that is appended to a copy is not in the original.
 */
typedef struct allm_thread allm_thread;

/* The options of a thread. */
typedef struct allm_thread_opts {
    size_t                size;
    const allm_json      *metadata;
    const allm_allocator *allocator;
} allm_thread_opts;

/*
 * Creates an empty thread, or a copy.  The caller frees it.
 * allm_thread_error() returns why it was rejected, or NULL, and
 * allm_thread_json() returns its JSON form.
 */
ALLM_API allm_thread *allm_thread_new(const allm_thread_opts *);
ALLM_API allm_thread *allm_thread_copy(const allm_thread *);
ALLM_API void allm_thread_free(allm_thread *);
ALLM_API const allm_error *allm_thread_error(const allm_thread *);
ALLM_API allm_text *allm_thread_json(const allm_thread *, allm_form form);

/*
 * These append a text as a message, one message, or several; all of them or
 * none.  The message is not checked here, but by the call that sends it (reason
 * invalid_thread): a thread may contain messages that were loaded from
 * elsewhere.
 */
ALLM_API allm_status allm_thread_add(allm_thread *, allm_role,
                                     const char *text);
ALLM_API allm_status allm_thread_append(allm_thread *, const allm_message *);
ALLM_API allm_status allm_thread_append_all(allm_thread *, size_t count,
                                            const allm_message *const *);
/* Replaces the metadata. */
ALLM_API allm_status allm_thread_set_metadata(allm_thread *,
                                              const allm_json *);

/* The number of messages. */
ALLM_API size_t allm_thread_count(const allm_thread *);
/*
 * The message at an index, or the last one; NULL: there is none.  Borrowed
 * while any thread holds the message.
 */
ALLM_API const allm_message *allm_thread_at(const allm_thread *, size_t index);
ALLM_API const allm_message *allm_thread_last(const allm_thread *);
/* All messages as an array, borrowed until the next append. */
ALLM_API const allm_message *const *allm_thread_messages(const allm_thread *,
                                                         size_t *count);
/* The metadata, borrowed until it is replaced. */
ALLM_API const allm_json *allm_thread_metadata(const allm_thread *);

#ifdef __cplusplus
}
#endif
#endif
