/*
 * turns.h - turn after turn, until something ends it
 *
 * Chats and agents are two fronts of this machine: each brings its policies
 * and makes a result of its own.
 */
#ifndef RUN_TURNS_H
#define RUN_TURNS_H

#include "run/machine.h"
#include "run/setup.h"

struct turns;

struct tool_result;

struct turns_step {             /* a turn that is complete */
    struct turns_step *next;
    const allm_step_result *step;
    const struct tool_result *halt; /* what halts the chat; or NULL */
};

struct turns_front {
    /* Policies asked before the caller's, and after them; NULL ends. */
    const allm_policy *const *first, *const *last;
    /* A turn is over, and nothing was decided by policies yet; or NULL. */
    void (*observe)(struct turns *t, const allm_context *c);
    /* The verdict ends the loop.  True: go on after all (another pass). */
    bool (*extend)(struct turns *t);
    /* Make the results.  False: no memory. */
    bool (*finish)(struct turns *t);
    void (*release)(struct turns *t);
    /* A result of the front's own kind; or NULL. */
    const void *(*result)(const struct turns *t);
    bool keeps_failed_turn;          /* a turn that failed counts in the thread */
    bool failure_is_result;            /* the model's refusal of the first turn is a
                                   result, too, with what was given */
};

struct turns {
    struct machine machine;
    const struct turns_front *front;
    struct setup setup;
    struct mem mem;
    struct arena turn_arena;        /* of one turn: reset before the next */
    struct machine *step;           /* the turn that runs */
    allm_thread *thread;            /* behind all turns so far */
    size_t checked_count;                 /* of its messages */
    struct turns_step *steps, *newest;
    size_t step_count;
    uint32_t turn, max_turns;
    uint32_t model_turns;                 /* turns in which the model was asked */
    int pass;                       /* structured_finalize: 1, 2; else 0 */
    struct options pass_options;    /* of this pass */
    bool no_tools;
    int64_t began_ns;
    bool pulled;
    uint64_t tool_calls;
    allm_usage usage;               /* of all answers together */

    size_t policy_count;
    const allm_policy **policies;
    void **policy_states;
    size_t first_caller_policy,
        end_caller_policies;    /* which of them are the caller's */
    bool caller_retries;                /* one of those wants another answer: it
                                       counts as a turn */

    allm_verdict verdict;           /* what ends it, in the home */
    bool open_failed;               /* a turn could not begin */
    int state;
    const allm_error *error;        /* of the last error event, or why */
    allm_event last;
    struct trace_span span;

    allm_chat_result *chat;         /* roots */
    void *front_state;                  /* the front's, in the home */
};

/* It has failed for good; the error is copied. */
void turns_fail(struct turns *t, const allm_error *error);

/* The stream of a loop; `private_size` bytes, zeroed, for the front.  begin()
 * fills in what the front wants of the setup; NULL, or what is wrong. */
allm_stream *turns_stream(
    const allm_engine *e, const allm_thread *thread, const allm_call_opts *opts,
    const struct turns_front *front, size_t front_state_size,
    const allm_error *(*begin)(struct turns *t, const void *front_opts),
    const void *front_opts);

/* The last step, or NULL; and what halted it, or NULL. */
const allm_step_result *turns_last_step(const struct turns *t);
const struct tool_result *turns_halt(const struct turns *t);

/* Append a user's message to the conversation; false: no memory. */
bool turns_append_user(struct turns *t, const char *text);

/* Will this verdict cost a turn? */
bool turns_costs_turn(const struct turns *t, const allm_verdict *v);

/* An error in the home of the loop, as by printf; never NULL. */
const allm_error *turns_error(struct turns *t, allm_status kind,
                              const char *reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A chat result of what happened so far; the metadata are merged.  NULL: no
 * memory. */
allm_chat_result *turns_chat_result(struct turns *t, const char *reason,
                                    const allm_json *metadata);

/* policies.c: those of the front and the caller, with their states; false: no
 * memory. */
bool policies_gather(struct turns *t);
void policies_close(struct turns *t);

/* Before a call of the model. */
void policies_before(struct turns *t, allm_verdict *v);

/* After a turn, whose verdict this is so far. */
void policies_after(struct turns *t, const allm_context *c, allm_verdict *v);

/* Policies that both fronts have. */
extern const allm_policy output_policy;     /* answers that must fit a schema */
extern const allm_policy repeat_policy;     /* the same calls again and again */

#endif
