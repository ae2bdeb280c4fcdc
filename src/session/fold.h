/*
 * fold.h - records to state: what an open operation has done so far
 *
 *      begin --> call --> response --> intent, result, again --> turn --> call
 *                                                                  '--> end
 */
#pragma once

#include "allm.h"
#include "base/arena.h"

/* A tool call of the turn that is open. */
struct fold_call {
    const char *id, *name, *key, *at;   /* `at`: when it began */
    const allm_json *arguments;
    uint32_t index;
    allm_effect effect;
    bool begun;                 /* it has an intent that was not withdrawn */
    bool done;
    bool writes_now;            /* its tool is a write today */
    bool is_error;
    struct slice content;
    const char *reason;
    const allm_json *value;
};

/* A turn that is complete. */
struct fold_step {
    uint32_t turn;
    uint64_t seq;               /* of its `turn` record */
    const allm_json *response;
    uint64_t keep, count;       /* messages before it, and after it */
    const allm_json *manual;
};

/* The operation that is open; all in the arena. */
struct fold {
    struct arena *arena;
    uint64_t begin;             /* its seq; 0: nothing is open */
    const char *op, *request_id, *model;
    const allm_json *options;
    uint64_t keep, input;       /* messages before its input, and of it */
    uint64_t complete;          /* messages with its input, and the turns that
                                   are complete */
    uint64_t count;             /* messages with those that `call` added */
    bool called;                /* the turn below was requested */
    uint32_t turn, pass;
    const allm_json *counts;
    const allm_json *response;  /* of that turn, or NULL */
    size_t call_count, call_cap;
    struct fold_call *calls;
    size_t earlier_count, earlier_cap;
    struct fold_call *earlier;  /* results of the complete turns */
    size_t step_count, step_cap;
    struct fold_step *steps;
};

/* Nothing is open. */
void fold_init(struct fold *f, struct arena *a);

/* Add a record, unpacked; it must live as long as the arena.  False: out of
 * memory. */
bool fold_add(struct fold *f, const allm_json *record);

/* The same for an operation that runs here: a call begins, or is done; the
 * next turn begins.  Texts are copied. */
bool fold_note_call(struct fold *f, const char *id, const char *name,
                    bool done);
void fold_note_turn(struct fold *f);

/* Is the open turn that of an earlier operation, whose calls were decided
 * later?  Its answer was not requested here. */
bool fold_is_decided(const struct fold *f);

/* Is this call unknown: a write that began and has no result? */
bool fold_is_unknown(const struct fold_call *c);
size_t fold_count_unknown(const struct fold *f);
struct fold_call *fold_find(const struct fold *f, const char *id);

/* metadata.broken_off; NULL: out of memory. */
const allm_json *fold_broken_off(const struct fold *f, struct arena *a);
/* metadata.interrupted_tool_calls: NULL if no call had begun. */
const allm_json *fold_interrupted(const struct fold *f, struct arena *a);
