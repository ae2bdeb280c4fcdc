/* collect.h - fold events into a response, a step result, a chat result */
#ifndef RUN_COLLECT_H
#define RUN_COLLECT_H

#include "base/buf.h"
#include "base/home.h"

struct collect_call;            /* a tool call being put together */
struct tool_result;

struct collect_step {           /* a step that is complete */
    struct collect_step *next;
    const allm_step_result *step;
    const struct tool_result *halt; /* what halts the chat; or NULL */
};

/*
 * The state of the fold.  What events bring is copied; messages, threads and
 * responses are shared.
 */
struct collect {
    struct allm_home *home;         /* owns what must stay */
    struct arena text_arena;             /* text and reasoning, which grow */
    struct buf text, reasoning;
    size_t reasoning_done;                 /* bytes of reasoning that are completed */
    const allm_thread *thread;      /* NULL: none was given */
    struct collect_call *calls, **last_call;
    size_t call_count;
    const allm_message *last_message;
    struct collect_result *results, **last_result;
    size_t result_count;
    size_t highest_index;                 /* index of a call among them */
    const struct tool_result *halt; /* the first call's that halts; or NULL */
    struct collect_step *steps, **last_step;
    size_t step_count;
    const allm_chat_result *chat_result;
    allm_usage *usage;              /* NULL: none yet */
    allm_finish finish_reason;
    const char *raw_finish_reason, *id, *model;
    const allm_error *error;
    const allm_json *metadata;
    bool done;
    bool broken;                    /* memory ran out */
};

/* In this home, which is kept.  False: no memory. */
bool collect_init(struct collect *c, struct allm_home *home,
                  const allm_thread *thread);
void collect_release(struct collect *c);

/* The usage so far, to be changed; NULL: no memory. */
allm_usage *collect_usage(struct collect *c);

/* OK; MISUSE for a usage with an unknown field; NOMEM. */
allm_status collect_add(struct collect *c, const allm_event *event);

/* In place of the event that ends a call: its result, borrowed as long as the
 * fold.  OK, or NOMEM. */
allm_status collect_result(struct collect *c, const struct tool_result *r);

/* Roots; NULL: no memory, or (the last two) there is no thread. */
allm_response *collect_response(const struct collect *c,
                                const char *request_id);
allm_step_result *collect_step_result(const struct collect *c);
allm_chat_result *collect_chat_result(const struct collect *c);

/* The last, or first, step that is complete, valid as long as the home; NULL:
 * none. */
const struct collect_step *collect_last_step(const struct collect *c);
const struct collect_step *collect_first_step(const struct collect *c);

#endif
