/*
 * history.h - a conversation as every provider accepts it
 *
 * Providers reject some valid conversations: a call without a result, a result
 * without a call, an id with characters of another provider.  history_next()
 * returns the messages of a request one by one, corrected.  The caller's own
 * messages are never changed.
 *
 *   - The results of an assistant's calls follow directly, in the order of the
 *     calls.  A missing result is replaced by "not executed".
 *   - The images of results are in a user message after them: not every
 *     provider accepts them in a result.
 *   - A result without a call becomes a user message.
 *   - An assistant's message that has no content for this model is left out,
 *     such as reasoning of another model.
 *
 * The same conversation always yields the same messages, and those of a longer
 * conversation begin with those of a shorter one.
 */
#pragma once

#include "allm.h"
#include "base/buf.h"
#include "json/emit.h"

struct history {
    const allm_call *reader;    /* the call that sends it */
    const allm_request *request;
    struct arena *arena;
    size_t at;                  /* the next message of the request */
    const allm_message *calling; /* its results are next; or NULL */
    size_t call;                /* its next call */
    bool has_images;            /* its results have some, which are next */
    size_t first, end;          /* its results are between them */
    size_t hint;                /* the next one is probably here */
    unsigned char *used;        /* by index: it was returned */
    bool broken;                /* out of memory */
};

/* One message as it is to be sent. */
struct history_item {
    const allm_message *message;
    size_t index;               /* of the message that it is based on */
    bool made;                  /* created here, in the arena */
};

void history_init(struct history *h, const allm_call *call, struct arena *a);

/* False at the end, or if h->broken. */
bool history_next(struct history *h, struct history_item *out);

/* The state, if the model of this call created it; otherwise NULL. */
const allm_json *history_state(const allm_call *call, const allm_json *state);

/*
 * Ids of calls.  An id that a provider does not accept is replaced by letters
 * and digits that depend only on the id, so that call and result still match.
 */
struct history_ids {
    size_t most;                /* the maximum length; 0: none */
    size_t exactly;             /* the only valid length; 0: none */
    bool dashes;                /* allow _ and -, too */
    bool any;                   /* allow all characters */
};

/* The id itself, or its replacement in the arena; NULL: out of memory. */
const char *history_id(const struct history_ids *rules, const char *id,
                       struct arena *a);

/*
 * The name of a call.  Models invent names that a provider rejects when it
 * reads them: a character that is not a letter, a digit, _ or - becomes _, the
 * name ends after 64 characters, and an empty one becomes "unnamed".  NULL: out
 * of memory.
 */
const char *history_name(const allm_tool_call *call, struct arena *a);

/*
 * The arguments of a call as a JSON object: the provider's own text if it is
 * an object, else the parsed arguments.  ptr NULL: out of memory.
 */
struct slice history_arguments(const allm_tool_call *call, struct arena *a);

/* The role of a message, as OpenAI names it. */
static inline const char *history_role(const allm_message *m)
{
    static const char *const roles[] = { "user", "system", "user",
                                         "assistant", "tool" };
    return roles[(size_t)m->role <= ALLM_ROLE_TOOL ? m->role : 0];
}

/* The text parts of a message, joined by line feeds.  ptr NULL: out of
 * memory. */
struct slice history_text(const allm_message *m, struct arena *a);

/* The text of one part; what a call was made with. */
static inline struct slice history_part(const allm_part *p)
{
    return (struct slice){ p->text ? p->text : "", p->text_len };
}

static inline struct slice history_raw(const allm_tool_call *call)
{
    return (struct slice){ call->raw_arguments ? call->raw_arguments : "",
                           call->raw_len };
}

/* Write a member with a result of these functions; ptr NULL breaks the
 * output. */
void history_write(struct emit *e, const char *name, struct slice text);
bool history_has_image(const allm_message *m);
