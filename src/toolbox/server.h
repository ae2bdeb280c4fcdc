/*
 * server.h - MCP servers as tools; for server*.c, elicitation.c and toolbox.c
 *
 *      server.c        all servers of a toolbox: add, wait, report
 *      server_conf     an entry, and what its process needs
 *      server_run      the life of one server: start, restart, end; its jobs
 *      server_pipe     its connection: a process
 *      server_http     its connection: HTTP; with server_talk and server_token
 *      server_tools    its tools, as entries of the toolbox
 *      server_call     calls of these tools
 *      server_ask      requests of the program
 *      server_trace    what it logs
 *      elicitation     forms for the user
 */
#pragma once

#include "base/clock.h"
#include "mcp/client.h"
#include "mcp/tools.h"
#include "proc/process.h"
#include "toolbox/crew.h"
#include "toolbox/list.h"
#include "toolbox/server_conf.h"
#include "json/build.h"

struct server;

/* ----------------------------------------------------------------- jobs --- */

/*
 * A request to a server: in line until the server is ready, then under way.
 * done() is called once, in the thread, after the job was removed; its event
 * has a value or an error.
 */
struct server_job {
    enum mcp_method method;
    const char *name;           /* of a tool or prompt, or a URI */
    const allm_json *arguments;
    uint32_t total_ms;          /* 0: no limit of its own */
    bool harmless;              /* may be sent again if the server dies */
    void (*done)(struct server *s, struct server_job *job,
                 const struct mcp_event *ev);
    void (*progress)(struct server *s, struct server_job *job,
                     const struct mcp_event *ev);       /* or NULL */
    const allm_json *schema;    /* of the tool, for headers; or NULL */

    struct server_job *next;
    uint64_t number;            /* under way; 0: in line */
    bool resent;
};

/* --------------------------------------------------------------- server --- */

enum server_state { SERVER_OFF, SERVER_STARTING, SERVER_READY, SERVER_FAILED };

/* What the thread is doing with it. */
enum server_phase { PHASE_OFF, PHASE_OPENING, PHASE_OPEN, PHASE_ENDING,
                    PHASE_RESTING, PHASE_FAILED };

/* The connection to a process. */
struct server_pipe {
    struct arena arena;
    struct jail jail;
    struct process process;
    size_t written;             /* of the oldest message */
    struct buf line;            /* of stderr, for the trace */
    unsigned stage;             /* of its end */
    bool running;
};

struct server_http;

struct server {
    struct servers *owner;
    struct server *next;        /* in the order of adding */
    struct server_conf conf;
    size_t order;               /* of its tools in the toolbox */
    struct crew_task begin;

    /* For the thread only. */
    struct server *next_live;   /* of those that were ever begun */
    bool is_live;
    enum server_phase phase;
    struct mcp_client *client;  /* NULL: not connected */
    struct server_pipe pipe;
    struct server_http *http;
    struct crew_timer timer;
    struct server_job *jobs, listing;
    allm_elicitation *forms;    /* not answered yet */
    const struct revision *known;       /* of the last time */
    unsigned listens;                   /* of the last time */
    bool was_ready, relist, is_listing, pumping;
    bool forgot;                /* the session of this connection */
    unsigned restarts;
    unsigned lists;             /* that were offered */
    char list_sum[SHA256_HEX + 1];

    /* Guarded by the lock of the owner. */
    enum server_state state;
    bool settled;               /* it has answered or failed, or is off */
    struct allm_home *error_home;
    const allm_error *error;
    const char *revision;       /* static; or NULL */
    int pid;
    size_t tool_count, left_out;
    struct mcp_counts counts;
};

/* What they get from their toolbox, and must outlive them. */
struct servers_opts {
    struct crew *crew;
    struct tool_list *list;
    const char *root;
    const allm_json *grants;    /* or NULL */
    enum orders_mode mode;
    const allm_net_opts *net;   /* or NULL */
    struct clock clock;         /* of the time between restarts */
    void (*elicit)(void *ud, allm_elicitation *root);
    void (*progress)(void *ud, const allm_tool_progress *p);
    void *ud;
    allm_trace_fn trace;        /* or NULL */
    void *trace_ud;
};

/* All servers of a toolbox. */
struct servers {
    struct crew_guest guest;    /* must be the first */
    struct servers_opts opts;
    struct mem mem;
    struct client *http;        /* for the thread only; made when needed */
    struct server *live;        /* for the thread only */
    bool stopping;              /* for the thread only */

    pthread_mutex_t lock;       /* guards the next ones, and see server */
    pthread_cond_t changed;
    struct server *first, **end;
    struct wake news;           /* fd < 0: there is none yet */
};

/* ----------------------------------------------------------- server.c --- */

/* NULL: out of memory. */
struct servers *servers_new(struct mem mem, const struct servers_opts *opts);
/* After the thread has ended. */
void servers_free(struct servers *all);

/* Add one; it lives in the home.  NULL, or the error in the home. */
const allm_error *servers_add(struct servers *all, struct allm_home *home,
                              const char *name, const allm_json *entry);

/* Wait until all have answered or failed; false: not within the timeout. */
bool servers_settle(struct servers *all, int timeout_ms);
/* Why a server that is required failed, in the arena; NULL: none did. */
const allm_error *servers_missing(struct servers *all, struct arena *a);
int servers_fd(struct servers *all);

/* The member "servers" of the report. */
void servers_report(struct servers *all, struct build *b);

/* Wait under the lock, until done() or the timeout (< 0: none).  Returns
 * done(). */
bool servers_wait(struct servers *all, int timeout_ms, bool (*done)(void *ud),
                  void *ud);

/* A server of this name, or NULL. */
struct server *servers_find(struct servers *all, const char *name);

/* Tell those who wait; error may be NULL and is copied. */
void server_tell(struct server *s, enum server_state state,
                 const allm_error *error);

/* ------------------------------------------------------- server_run.c --- */

/* All of these in the thread. */
void server_begin(struct server *s);
void server_stop(struct server *s);             /* the toolbox is freed */
void server_add_job(struct server *s, struct server_job *job);
void server_remove_job(struct server *s, struct server_job *job);

/* Handle the events of its client, send its messages, set its timer. */
void server_pump(struct server *s);

/* Its connection is closed; why is for people. */
void server_closed(struct server *s, const char *why);

/* End its connection: at once, or by the end of its input. */
void server_end(struct server *s, bool at_once);

int64_t server_now(void);

/* ------------------------------------------------------ server_pipe.c --- */

const allm_error *pipe_start(struct server *s, struct arena *a);
void pipe_flush(struct server *s);
void pipe_end(struct server *s, bool at_once);
void pipe_timeout(struct server *s);            /* while it ends */

/* ------------------------------------------------------ server_http.c --- */

const allm_error *http_start(struct server *s);
void http_flush(struct server *s);
void http_turn(struct server *s);               /* read what has arrived */
int64_t http_deadline(const struct server *s);
void http_end(struct server *s, bool at_once);
void http_timeout(struct server *s);            /* while it ends */
bool http_has_left(const struct server *s);     /* it need not wait longer */

/* ----------------------------------------------------- server_tools.c --- */

/* A tool of a server; it lives as long as the toolbox. */
struct server_tool {
    struct server *server;
    const char *name;           /* as the server knows it */
    allm_tool *tool;
    allm_json_schema *output;   /* or NULL */
};

/* Offer the tools of this list from the next chat on.  False: no memory. */
bool server_offer(struct server *s, const allm_json *list);

/* ------------------------------------------------------ server_call.c --- */

void server_execute(allm_toolbox *t, const struct entry *e, allm_tool_run *run,
                    const allm_json *args);

/* A user is asked from now on, or no longer: that time does not count for a
 * call. */
void server_call_pause(struct server_job *job, bool paused);

/* The user answers later: a call becomes a question; other jobs wait for the
 * server. */
void server_call_later(struct server *s, struct server_job *job,
                       const char *message, const allm_json *schema);

/* ------------------------------------------------------- server_ask.c --- */

allm_json *servers_request(struct servers *all, const char *server,
                           const char *method, const allm_json *params,
                           uint32_t timeout_ms);

/* ----------------------------------------------------- server_trace.c --- */

void server_trace_log(struct server *s, const allm_json *params);
void server_trace_line(struct server *s, struct slice line);
void server_trace_counts(struct server *s);

/* ------------------------------------------------------ elicitation.c --- */

void server_elicit(struct server *s, const struct mcp_event *ev);
void server_withdraw(struct server *s, uint64_t question);
void server_drop_forms(struct server *s);
