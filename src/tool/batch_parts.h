/* batch_parts.h - private types shared by the files of a batch */
#pragma once

#include "base/status.h"
#include "tool/approval.h"
#include "tool/batch_opts.h"
#include "tool/run.h"

/* SETTLED and RECORDED only occur with a journal. */
enum state { WAITING, ANNOUNCED, RUNNING, READY, SETTLED, RECORDED, DONE };

struct slot {
    struct tool_result result;
    enum state state;
    bool is_help;
    bool early;                     /* with a journal: its outcome was known
                                       before it began */
    uint64_t stamp;                 /* its place in the order of answers */
    struct allm_tool_run *run;      /* NULL: not begun, or no function needed */
    struct recipe *recipe;          /* NULL: the tool has none */
    enum verdict verdict;           /* as far as the batch has read it */
    struct allm_approval *approval; /* NULL: no gate was asked */
    bool decided;                   /* before the batch began */
    const char *why;                /* then: of a denied call, or NULL */
    const allm_json *reach;         /* then: that was approved, or NULL */
};

struct batch {
    struct batch_shared *shared;
    struct arena *arena;            /* of shared->home; owns everything here */
    struct batch_opts opts;
    size_t tool_count;
    const allm_tool **tools;
    size_t count;
    struct slot *slots;
    struct slot **order;            /* in which they begin */
    size_t ordered;                 /* without those that a gate left */
    bool asked;                     /* the gate has been asked */
    size_t next;                    /* place of the first call not begun */
    size_t planned;                 /* calls that have an intent, or need none;
                                       with a journal only, as the next three */
    size_t cleared;                 /* those whose intents are written */
    size_t intended;                /* functions among the planned calls that
                                       are not cleared */
    bool writing;                   /* a commit is not yet written */
    size_t running, done;
    size_t limit;                   /* on concurrency; 0: not computed yet */
    int64_t timeout_ns;
    const allm_error *error;
    bool error_emitted, stopped;
    bool timed_out;                 /* the deadline ended a call */
    struct slot *ending;            /* its events are being emitted */
    int next_event;                 /* which of the three: 0, 1, 2 */
    const struct tool_result *ended;    /* by the last event, or NULL */
    allm_event event;
};

/* Record that memory ran out; returns false. */
static inline bool batch_no_memory(struct batch *b)
{
    b->error = status_nomem();
    return false;
}

static inline bool batch_has_journal(const struct batch *b)
{
    return b->opts.journal.flush != NULL;
}

/* May the call at this place begin while `more` others are about to? */
bool batch_has_room(struct batch *b, size_t place, size_t more);
/* Has the deadline of the whole chat or agent passed? */
bool batch_is_late(const struct batch *b);
/* Find the outcome of a call whose function need not run; false: it must. */
bool batch_decide_early(struct batch *b, struct slot *s, struct outcome *o);
/* The READY call, or the one in another state, that was answered first; NULL:
 * none. */
struct slot *batch_first(struct batch *b, enum state state);
/* Complete the result of a READY call. */
void batch_settle(struct batch *b, struct slot *s);

/* record.c: write the results of READY calls and the intents of the calls that
 * may begin next to the journal, as one commit.  Lowers *again_ns. */
void record_calls(struct batch *b, int64_t *again_ns);

/*
 * gate.c: ask the gate about all calls, and read its answers.  False: nothing
 * can begin yet, because the journal is being written, or an error occurred.
 * Lowers *again_ns.
 */
bool gate_poll(struct batch *b, int64_t *again_ns);
/* Is there a call that may begin at this place?  It is moved there. */
bool gate_bring(struct batch *b, size_t place);

/* settle.c: complete the result of a slot whose outcome is known. */
void settle_slot(struct batch *b, struct slot *s);
