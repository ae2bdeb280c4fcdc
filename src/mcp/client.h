/*
 * client.h - the client side of MCP, without I/O
 *
 *      bytes --feed--> client --out--> messages to send
 *      calls --request-->      --next--> events
 *      time  --tick-->
 *
 * The caller owns the transport and the clock: it feeds what arrives, sends
 * what mcp_client_out() returns, and calls mcp_client_tick() at the time that
 * mcp_client_deadline() names.  After each of these it reads the events.
 */
#pragma once

#include "base/home.h"
#include "mcp/revision.h"
#include "json/json.h"

struct mcp_client;

struct mcp_client_opts {
    bool http;                  /* one request per message; else stdio */
    bool elicits;               /* forms can be shown to a user */
    bool logs;                  /* a modern server is asked for its log */
    const char *root;           /* an absolute path that the server is told;
                                   NULL: none */
    unsigned listens;           /* a modern server that is known tells of
                                   changes of these lists */
    uint32_t start_ms;          /* until the first answer; 0: 10 s */
    uint32_t silence_ms;        /* of a request; 0: 60 s */
};

/* NULL: out of memory. */
struct mcp_client *mcp_client_new(struct mem mem,
                                  const struct mcp_client_opts *opts);
void mcp_client_free(struct mcp_client *c);

/*
 * Begin.  `known` is the revision that the server spoke the last time, so that
 * it need not be probed; NULL: probe.  A modern server that is known is ready
 * at once, and its greeting is empty.
 */
void mcp_client_start(struct mcp_client *c, const struct revision *known,
                      int64_t now);

/* Bytes of the server's output (stdio), or one message (HTTP). */
void mcp_client_feed(struct mcp_client *c, struct slice bytes, int64_t now);
void mcp_client_hear(struct mcp_client *c, struct slice message, int64_t now);

/*
 * HTTP: the request with this JSON-RPC id was answered with an error status and
 * this body; server/discover also with 2xx, but not as MCP says.  The target of
 * a redirect is for people; else NULL.
 */
void mcp_client_refused(struct mcp_client *c, uint64_t id, int status,
                        const char *target, struct slice body, int64_t now);

/* HTTP: is the answer to the request with this id still awaited? */
bool mcp_client_awaits(struct mcp_client *c, uint64_t id);

/* HTTP: this request is sent again at this time, as the server asked; until
 * then it is not late. */
void mcp_client_waits(struct mcp_client *c, uint64_t id, int64_t until);

/* HTTP: the answer to this request broke off. */
void mcp_client_broke(struct mcp_client *c, uint64_t id, const char *why,
                      int64_t now);

/* The server is gone, for this reason: every request fails. */
void mcp_client_gone(struct mcp_client *c, const char *why);

/* The next time at which something is due, and its handling. */
int64_t mcp_client_deadline(const struct mcp_client *c);
void mcp_client_tick(struct mcp_client *c, int64_t now);

/* ------------------------------------------------------------- requests --- */

enum mcp_method {
    MCP_NOTHING,
    MCP_TOOLS_LIST, MCP_TOOLS_CALL,
    MCP_RESOURCES_LIST, MCP_RESOURCES_READ, MCP_TEMPLATES_LIST,
    MCP_PROMPTS_LIST, MCP_PROMPTS_GET,
    MCP_DISCOVER, MCP_INITIALIZE, MCP_LISTEN    /* for the client only */
};

struct mcp_ask {
    enum mcp_method method;
    const char *name;           /* of a tool or prompt, or a URI */
    const allm_json *arguments; /* of a tool or prompt; NULL: none */
    void *ud;                   /* returned with its events */
    uint32_t total_ms;          /* 0: no limit but that of silence; neither
                                   counts the time of a user */
};

/*
 * Send a request once the client is ready.  The result is its number; 0: the
 * client has failed, or there is no memory.  Lists are read to the last page.
 */
uint64_t mcp_client_request(struct mcp_client *c, const struct mcp_ask *ask,
                            int64_t now);

/* Nobody awaits this request any more: no event of it follows. */
void mcp_client_cancel(struct mcp_client *c, uint64_t number, int64_t now);

/* --------------------------------------------------------------- events --- */

enum mcp_event_kind {
    MCP_READY,                  /* value: the greeting */
    MCP_FAILED,                 /* error: the server is of no use any more */
    MCP_ANSWER,                 /* value: a result, or the whole list; or error;
                                   cut: the list has more pages */
    MCP_PROGRESS,               /* value: {progress, total, message} */
    MCP_ELICIT,                 /* value: {message, requestedSchema} */
    MCP_WITHDRAWN,              /* the question needs no answer any more */
    MCP_CHANGED,                /* lists: a bit for each changed list */
    MCP_LOG                     /* value: {level, logger, data} */
};

enum { MCP_CHANGED_TOOLS = 1, MCP_CHANGED_RESOURCES = 2,
       MCP_CHANGED_PROMPTS = 4 };

struct mcp_event {
    enum mcp_event_kind kind;
    uint64_t number;            /* of the request; 0: none */
    void *ud;
    uint64_t question;
    const allm_json *value;
    const allm_error *error;
    unsigned lists;
    bool cut;
    struct allm_home *home;     /* of value and error; keep it to keep them */
};

/* The next event, borrowed until the next call of this function. */
bool mcp_client_next(struct mcp_client *c, struct mcp_event *event);

/*
 * What the server said about itself: {"revision", "serverInfo",
 * "capabilities", "instructions"}; {} before that.
 */
const allm_json *mcp_client_greeting(const struct mcp_client *c);
const struct revision *mcp_client_revision(const struct mcp_client *c);

/* The lists of whose changes it was asked to tell. */
unsigned mcp_client_listens(const struct mcp_client *c);

/* True if it was only probed, and has not answered. */
bool mcp_client_is_probed(const struct mcp_client *c);

/* True if the server has this: "tools", "resources", "prompts". */
bool mcp_client_has(const struct mcp_client *c, const char *capability);

enum mcp_action { MCP_ACCEPT, MCP_DECLINE, MCP_CANCEL };

/*
 * Answer a question.  The content of ACCEPT is an object; members that are
 * missing get their defaults.  NULL, or why the content does not fit the
 * schema: an array of faults in `a`, and the question is still open.  A
 * question that was withdrawn takes any answer.
 */
const allm_json *mcp_client_answer(struct mcp_client *c, uint64_t question,
                                   enum mcp_action action,
                                   const allm_json *content, struct arena *a,
                                   int64_t now);

/* The content of a form (NULL: none), with the defaults of its schema for
 * members that are missing; then what is wrong with it, an array.  In the
 * arena; NULL: out of memory. */
const allm_json *mcp_form_fill(struct arena *a, const allm_json *schema,
                               const allm_json *content);
const allm_json *mcp_form_faults(struct arena *a, const allm_json *schema,
                                 const allm_json *content);

/* --------------------------------------------------------------- output --- */

struct mcp_message {
    struct slice json;          /* without a line end */
    enum mcp_method method;     /* MCP_NOTHING: not a request */
    uint64_t number;            /* of the request */
    uint64_t id;                /* its JSON-RPC id; other ids may follow */
    const char *name;           /* of the tool or prompt, or the URI */
    const allm_json *arguments;
    const struct revision *revision;
    struct allm_home *home;
};

/* The oldest message that is not sent yet, or NULL; then say that it is. */
const struct mcp_message *mcp_client_out(const struct mcp_client *c);
void mcp_client_sent(struct mcp_client *c);

/* The name of a method, as in "tools/call". */
const char *mcp_method_name(enum mcp_method method);

/* What the server did wrong so far; all of it was ignored. */
struct mcp_counts {
    uint64_t bad;               /* lines that are not messages */
    uint64_t stray;             /* answers that nobody awaits */
    uint64_t ignored;           /* notifications without a meaning for us */
};
struct mcp_counts mcp_client_counts(const struct mcp_client *c);
