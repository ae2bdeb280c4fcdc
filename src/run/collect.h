/* collect.h - fold events into a response, a step result or a chat result */
#pragma once

#include "base/buf.h"
#include "base/home.h"

struct collect_call;            /* a tool call that is being assembled */
struct tool_result;

struct collect_step {           /* a completed step */
    struct collect_step *next;
    const allm_step_result *step;
    const struct tool_result *halt; /* of the call that halts; or NULL */
};

/*
 * The state of the fold.  It copies the content of events, and shares messages,
 * threads and responses.
 */
struct collect {
    struct allm_home *home;     /* owns what outlives an event */
    struct arena text_arena;    /* owns the text and the reasoning */
    struct buf text, reasoning;
    size_t reasoning_done;      /* bytes of completed reasoning blocks */
    const allm_thread *thread;  /* NULL: the fold has no thread */
    struct collect_call *calls, **last_call;
    size_t call_count;
    const allm_message *last_message;
    struct collect_result *results, **last_result;
    size_t result_count;
    size_t highest_index;       /* highest call index among the results */
    const struct tool_result *halt; /* of the first call that halts; or NULL */
    struct collect_step *steps, **last_step;
    size_t step_count;
    const allm_chat_result *chat_result;
    allm_usage *usage;          /* NULL: none so far */
    allm_finish finish_reason;
    const char *raw_finish_reason, *id, *model;
    const allm_error *error;
    const allm_json *metadata;
    bool borrows;               /* calls have values of the attempt */
    bool done;
    bool broken;                /* out of memory */
};

/* Use this home and hold a reference to it.  False: out of memory. */
bool collect_init(struct collect *c, struct allm_home *home,
                  const allm_thread *thread);
void collect_release(struct collect *c);

/* The bytes that texts and pieces of calls hold; free them, once the result is
 * made. */
size_t collect_held(const struct collect *c);
void collect_drop_texts(struct collect *c);

/* The usage so far, which the caller may change; NULL: out of memory. */
allm_usage *collect_usage(struct collect *c);

/* Returns OK, MISUSE for a usage with an unknown field, or NOMEM. */
allm_status collect_add(struct collect *c, const allm_event *event);

/*
 * The same for the completed event of a call whose values live as long as the
 * attempt: long arguments are not copied.  Before the attempt's memory ends,
 * collect_take_over() makes them those of the fold's message.  Its memory must
 * be that of the fold's home.  If `from` is needed, it is empty then.
 */
allm_status collect_borrow(struct collect *c, const allm_event *event);
void collect_take_over(struct collect *c, struct arena *from);

/* Add the result of a call, instead of the event that ends it.  The result is
 * borrowed and must live as long as the fold.  Returns OK or NOMEM. */
allm_status collect_result(struct collect *c, const struct tool_result *r);

/* New objects, which the caller frees.  NULL: out of memory, or (the last two)
 * the fold has no thread. */
allm_response *collect_response(const struct collect *c,
                                const char *request_id);
allm_step_result *collect_step_result(const struct collect *c);
allm_chat_result *collect_chat_result(const struct collect *c);

/* The last or the first completed step, which lives as long as the home; NULL
 * if there is none. */
const struct collect_step *collect_last_step(const struct collect *c);
const struct collect_step *collect_first_step(const struct collect *c);

/* What collect.c and collect_results.c share: the messages of the results so
 * far, in the arena (NULL: no memory); has the step come to an end; are the
 * calls of the message those of the events? */
const allm_message **collect_result_list(const struct collect *c,
                                         struct arena *a);
bool collect_is_step_done(const struct collect *c);
bool collect_has_same_calls(const struct collect *c, const allm_message *m);
