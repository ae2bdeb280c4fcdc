/*
 * client_parts.h - the state of a client; for the files client*.c only
 *
 * Every request, question, event and message lives in a home of its own, so
 * that each is one allocation and is freed alone.
 */
#pragma once

#include "base/buf.h"
#include "mcp/client.h"
#include "mcp/rpc.h"
#include "wire/ndjson.h"

enum {
    CLIENT_BAD_LINES = 100,     /* in a row end the connection */
    CLIENT_PAGES = 1000,        /* of a list */
    CLIENT_ROUNDS = 8,          /* of questions about one request */
    CLIENT_QUESTIONS = 100,     /* that are open at once */
    CLIENT_UNSENT = 1000,       /* replies that the server does not read */
    CLIENT_BURST_MS = 200,      /* changes within it are one event */
    CLIENT_LISTEN_MS = 500,     /* after a break, doubling up to: */
    CLIENT_LISTEN_MOST_MS = 30 * 1000
};

enum client_state {
    CLIENT_NEW,
    CLIENT_OPENING,             /* probing, or waiting for "initialize" */
    CLIENT_OPEN,
    CLIENT_LOST                 /* failed; nothing is sent any more */
};

struct page {                   /* of a list, in the home that it came in */
    struct page *next;
    const allm_json *items;
    struct allm_home *home;
    struct slice cursor;        /* of the next one */
};

/* What a modern server asks about a request, in the home that it came in. */
struct inputs {
    struct allm_home *home;
    const allm_json *requests;  /* an object, or NULL */
    const allm_json *state;     /* is returned to the server; or NULL */
    const allm_json **answers;  /* one for each request */
    size_t missing;
};

struct pending {
    struct pending *next;
    struct allm_home *home;
    uint64_t number;            /* the first id */
    uint64_t id;                /* the current id; 0: not under way */
    bool sent;                  /* at least once */
    enum mcp_method method;
    const char *name;
    const allm_json *arguments;
    void *ud;
    bool ours;                  /* no event tells of its answer */
    int64_t silent_at, total_at;
    struct page *pages, **last_page;
    size_t page_count, page_bytes;
    struct inputs inputs;
    unsigned rounds;
};

/* A form for the user.  The server asks in a request of its own (id), or about
 * one of ours (about, index). */
struct question {
    struct question *next;
    struct allm_home *home;
    uint64_t number;
    const allm_json *id;
    struct pending *about;
    size_t index;
    const allm_json *schema;
};

struct queued_event {
    struct queued_event *next;
    struct mcp_event event;
};

struct queued_message {
    struct queued_message *next;
    struct mcp_message message;
};

struct mcp_client {
    struct mem mem;
    struct allm_home *home;             /* of the options' strings */
    struct mcp_client_opts opts;
    struct ndjson lines;
    enum client_state state;
    const struct revision *revision;
    struct allm_home *greeting_home;
    const allm_json *greeting;

    uint64_t last_id, last_question;
    struct pending *pending;
    struct question *questions;
    int64_t asked_at;                   /* since when there is one; INT64_MAX:
                                           there is none */
    struct queued_event *events, **last_event, *lent;
    struct queued_message *messages, **last_message;
    size_t unsent;

    bool tried_discover, tried_initialize;
    bool probed_again, initialized_again;
    int64_t start_at;                   /* when patience ends */
    int64_t changed_at;
    unsigned changed;
    unsigned listens;                   /* the lists to listen for */
    unsigned breaks;                    /* in a row of listening */
    int64_t listen_at;                  /* when it begins again */
    int64_t heard_since;                /* when it began */
    unsigned bad_in_a_row;
    struct mcp_counts counts;
    bool no_memory, told_no_memory;
};

/* ---------------------------------------------------------- client_send --- */

/* A row for each method. */
struct method_row {
    const char *name;
    const char *list;           /* the member with the items of a list */
    const char *names;          /* the parameter that names what it is about */
    bool asks;                  /* may be answered with questions; tells of its
                                   progress */
};
extern const struct method_row client_methods[];

/* Queue an event in this home (NULL: a new one), which the queue takes over;
 * NULL: no memory.  The caller fills it in. */
struct mcp_event *client_event(struct mcp_client *c, enum mcp_event_kind kind,
                               struct allm_home *home);

/* The same about a request, with a value in this home. */
struct mcp_event *client_tell(struct mcp_client *c, enum mcp_event_kind kind,
                              const struct pending *p, const allm_json *value,
                              struct allm_home *home);

/* Create a request without sending it; NULL: no memory. */
struct pending *client_pend(struct mcp_client *c, const struct mcp_ask *ask,
                            int64_t now);

/* The request that is under way with this id, or NULL. */
struct pending *client_find(struct mcp_client *c, uint64_t id);

/* Send it, with a new id. */
void client_send(struct mcp_client *c, struct pending *p, int64_t now);

/* Begin a message that is not a request; then queue it. */
struct mcp_message *client_draft(struct mcp_client *c, struct buf *text);
void client_queue(struct mcp_client *c, struct mcp_message *m,
                  struct buf *text);

/* Remove a request, with its questions. */
void client_forget(struct mcp_client *c, struct pending *p);

/* It failed: queue its event, and forget it. */
void client_fail(struct mcp_client *c, struct pending *p, const char *reason,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Ask the server to stop working on it. */
void client_send_cancelled(struct mcp_client *c, const struct pending *p,
                           const char *why);

/* The server is of no use: all requests fail, then the client. */
void client_lose(struct mcp_client *c, const char *reason, const char *format,
                 ...) __attribute__((format(printf, 3, 4)));

/* A format, for the fault of an answer. */
#define CLIENT_NOT_VALID "the answer of the server is not valid: %s"

/* ---------------------------------------------------------- client_open --- */

/* The answer to server/discover or initialize, which may be BAD; h is the home
 * of the message. */
void client_opened(struct mcp_client *c, struct pending *p, const struct rpc *m,
                   struct allm_home *h, int64_t now);

/* The server listens no more: ask again, after a rest that becomes longer. */
void client_listen_later(struct mcp_client *c, struct pending *p, int64_t now);

/* The rest is over.  What has changed meanwhile is not known. */
void client_listen_again(struct mcp_client *c, int64_t now);

/* Patience has ended. */
void client_impatient(struct mcp_client *c, int64_t now);

/* ---------------------------------------------------------- client_hear --- */

/* Answer a request of the server, with the members of this object, or NULL. */
void client_reply(struct mcp_client *c, const allm_json *id,
                  const allm_json *members);

/* These lists have changed. */
void client_note_change(struct mcp_client *c, unsigned lists, int64_t now);

/* ---------------------------------------------------------- client_form --- */

/* A request of the server for a form.  False: refuse it. */
bool client_question(struct mcp_client *c, struct allm_home *h,
                     const allm_json *id, const allm_json *params);

/* A result that asks for input. */
void client_input(struct mcp_client *c, struct pending *p,
                  const allm_json *result, struct allm_home *h, int64_t now);

/* The server withdraws the question with this id. */
void client_withdraw(struct mcp_client *c, const allm_json *id);

/* Forms may have been added or removed.  While one is open, which may take
 * long, no time passes for the requests. */
void client_note_asking(struct mcp_client *c, int64_t now);

/* {"roots": [...]}, in the arena; NULL: no memory. */
const allm_json *client_roots(const struct mcp_client *c, struct arena *a);
