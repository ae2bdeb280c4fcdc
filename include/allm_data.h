/*
 * allm_data.h - conversations as plain data
 *
 *    1  Images                in messages
 *    2  Messages              and the parts in them
 *    3  Tool calls            what a model wants to have called
 *    4  Threads               conversations that share their messages
 */
#ifndef ALLM_DATA_H
#define ALLM_DATA_H

#include "allm_json.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------ 1  Images --- */

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

/* ---------------------------------------------------------- 2  Messages --- */

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
 * list is parts not NULL with count 0).  Messages that we made are counted:
 * adding one to a thread shares it.
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

/* -------------------------------------------------------- 3  Tool calls --- */

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

/* ----------------------------------------------------------- 4  Threads --- */

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

#ifdef __cplusplus
}
#endif
#endif
