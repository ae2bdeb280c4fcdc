/*
 * turns.h - run turns until a verdict ends them
 *
 * Chats and agents are two fronts of this machine: each has its own policies
 * and makes its own result.
 */
#pragma once

#include "run/journal.h"
#include "run/machine.h"
#include "run/setup.h"

struct turns;

struct build;
struct tool_result;

struct turns_step {             /* a completed turn */
    struct turns_step *next;
    const allm_step_result *step;
    const struct tool_result *halt; /* of the call that halts; or NULL */
};

struct turns_front {
    /* Policies before the caller's, and after them; NULL-terminated. */
    const allm_policy *const *first, *const *last;
    /* Called after a turn, before the policies; may be NULL. */
    void (*observe)(struct turns *t, const allm_context *c);
    /* Called when a verdict ends the turns; may be NULL.  True: continue with
     * another pass. */
    bool (*extend)(struct turns *t);
    /* Write the front's own counts into the open object, and restore them; may
     * be NULL.  restore() returns NULL, or the error. */
    void (*count)(const struct turns *t, struct build *b);
    const allm_error *(*restore)(struct turns *t, const allm_json *counts);
    /* Make the results.  False: out of memory. */
    bool (*finish)(struct turns *t);
    void (*release)(struct turns *t);
    /* The front's own result; may be NULL. */
    const void *(*result)(const struct turns *t);
    bool keeps_failed_turn;     /* its messages stay in the thread */
    bool failure_is_result;     /* if the model rejects the first turn, the call
                                   has a result, too */
};

struct turns {
    struct machine machine;
    const struct turns_front *front;
    struct setup setup;
    struct mem mem;
    struct arena turn_arena;    /* of one turn: reset before the next */
    struct machine *step;       /* the turn that runs */
    allm_thread *thread;        /* after all turns so far */
    size_t checked_count;       /* leading messages that are valid */
    struct turns_step *steps, *newest;
    size_t step_count;
    uint32_t turn, max_turns;
    uint32_t model_turns;       /* turns in which the model was called */
    int pass;                   /* structured_finalize: 1, 2; else 0 */
    struct options pass_options;    /* of this pass */
    bool no_tools;
    int64_t began_ns;
    bool pulled;
    uint64_t tool_calls;
    allm_usage usage;           /* of all answers together */
    uint32_t output_retries;    /* used by output.c */
    int64_t same_calls;         /* equal turns in a row, for repeat.c */
    const struct turns_step *restored;  /* the last of a replay, or NULL */
    bool replayed;              /* the turn of a replay has been opened */
    struct journal journal;     /* for its end */

    size_t policy_count;
    const allm_policy **policies;
    void **policy_states;
    size_t caller_begin, caller_end;    /* the caller's among them */
    bool caller_retries;        /* a caller's policy wants another answer, which
                                   costs a turn */

    allm_verdict verdict;       /* the last one, in the home */
    bool open_failed;           /* a turn could not begin */
    int state;
    const allm_error *error;    /* of the last error event, or the failure */
    allm_event last_event;
    struct trace_span span;

    allm_chat_result *chat;     /* owned */
    void *front_state;          /* the front's own data, in the home */
};

/* Fail with a copy of this error. */
void turns_fail(struct turns *t, const allm_error *error);

/* Make a stream that runs turns.  The front gets `front_state_size` zeroed
 * bytes; begin() sets its options in the setup, and returns NULL or the
 * error. */
allm_stream *turns_stream(
    const allm_engine *e, const allm_thread *thread, const allm_call_opts *opts,
    const struct turns_front *front, size_t front_state_size,
    const allm_error *(*begin)(struct turns *t, const void *front_opts),
    const void *front_opts);

/* The last step, and the tool result that halted it; or NULL. */
const allm_step_result *turns_last_step(const struct turns *t);
const struct tool_result *turns_halt(const struct turns *t);

/* Append a user message to the conversation; false: out of memory. */
bool turns_append_user(struct turns *t, const char *text);

/* Does this verdict cost a turn? */
bool turns_costs_turn(const struct turns *t, const allm_verdict *v);

/* Format an error in the home; never NULL. */
const allm_error *turns_error(struct turns *t, allm_status kind,
                              const char *reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A chat result of the turns so far, with these metadata.  NULL: out of
 * memory. */
allm_chat_result *turns_chat_result(struct turns *t, const char *reason,
                                    const allm_json *metadata);

/* counts.c: make what the turns have counted so far, if there is a journal.
 * False: out of memory. */
bool counts_json(const struct turns *t, struct arena *a, const allm_json **out);
/* Continue with the steps and counts of a replay.  Returns NULL, or the
 * error. */
const allm_error *counts_restore(struct turns *t,
                                 const allm_journal_replay *replay);

/* policies.c: collect the front's policies and the caller's, and allocate their
 * states; false: out of memory. */
bool policies_gather(struct turns *t);
void policies_close(struct turns *t);

/* Call the policies before a call of the model. */
void policies_before(struct turns *t, allm_verdict *v);

/* Call the policies after a turn; *v is the verdict so far. */
void policies_after(struct turns *t, const allm_context *c, allm_verdict *v);

/* Policies of both fronts. */
extern const allm_policy output_policy;     /* answers must match a schema */
extern const allm_policy repeat_policy;     /* stop repeated calls */
