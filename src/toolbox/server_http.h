/*
 * server_http.h - the parts of an HTTP connection; for server_http.c,
 * server_talk.c and server_token.c
 */
#pragma once

#include "loop/waker.h"
#include "net/client.h"
#include "toolbox/server.h"
#include "wire/sse.h"

enum talk_kind {
    TALK_REQUEST,               /* POST; its answer is awaited */
    TALK_NOTE,                  /* POST; nothing is awaited */
    TALK_LISTEN,                /* GET: what a legacy server says unasked */
    TALK_LEAVE                  /* DELETE: the session is over */
};

/* One exchange; of a request also those that resume its answer. */
struct talk {
    struct talk *next;
    struct server *server;
    enum talk_kind kind;
    struct allm_home *home;     /* of the message; or NULL */
    const struct mcp_message *message;

    struct allm_waker waker;
    allm_exchange *exchange;    /* NULL: it waits for again_ns, or for the
                                   token */
    int64_t again_ns;
    unsigned tries;             /* without any event */
    bool read_once, over;
    bool first;                 /* nothing else is sent before its head */
    bool renewed;               /* sent again with a new token */
    unsigned token;             /* the number of the one it was sent with */

    struct arena arena;         /* of one exchange */
    struct buf body;
    struct sse sse;
    bool has_head, streams;
    int status;
    int64_t wait_ms;            /* that the server asked for; -1: none */
    const char *type;           /* of the content; or NULL */
    const char *target;         /* of a redirect; or NULL */
    struct arena id_arena;
    struct buf last_id;         /* of an event */
    int64_t retry_ms;
};

/* A token that a command prints; { 0 }: none was started. */
struct server_token {
    struct arena arena;
    struct jail jail;
    struct process process;
    bool running, late;
    unsigned number;            /* of commands that were started */
    int64_t due_ns;             /* of the command */
    const char *bearer;         /* NULL: it is not printed yet */
    const allm_error *fault;    /* for those that wait for it; or NULL */
};

struct server_http {
    struct talk *talks;
    struct server_token token;
    struct arena arena;
    const char *session;        /* or NULL */
    const char *why;            /* it was closed */
    int64_t begin_by;           /* a legacy server is being greeted; or 0 */
    bool listens;               /* a GET was tried */
};

/* ------------------------------------------------------ server_http.c --- */

/* How long a stream that ended rests before it is opened again: the time that
 * the server asked for, but not 0, and longer after each try without an
 * event. */
int64_t http_rest_ms(int64_t retry_ms, unsigned tries);

/* Send what has waited for the token. */
void http_wake(struct server *s);

/* ----------------------------------------------------- server_token.c --- */

enum { TOKEN_MS = 10 * 1000 };  /* for a command */

/* Is the token still to be printed?  Then its command runs. */
bool token_waits(struct server *s);
/* "Bearer TOKEN", in the arena or the connection's memory; NULL with *why NULL:
 * there is none to send. */
const char *token_read(const struct server *s, struct arena *a,
                       const allm_error **why);
/* The server refused the one with this number.  True: there is a newer one, or
 * there will be. */
bool token_renew(struct server *s, unsigned number);
int64_t token_deadline(const struct server_token *t);
void token_tick(struct server_token *t);
void token_release(struct server_token *t);

/* ------------------------------------------------------ server_talk.c --- */

/* Begin an exchange, or begin it again.  False: *why says why not. */
bool talk_open(struct talk *t, const allm_error **why);
/* Close the exchange, and forget what it has read. */
void talk_close(struct talk *t);
void talk_free(struct talk *t);

/* Is the value of the head's field this word, up to a ";"? */
bool talk_is_type(const struct talk *t, const char *type);

/* Take what the head says. */
void talk_head(struct talk *t);
