/* journal.h - the entries of a turn or a chat, on their way to the journal */
#pragma once

#include "run/setup.h"
#include "tool/batch_opts.h"

struct journal_item;

/* Entries are written in the order in which they were added. */
struct journal {
    const struct setup *setup;
    struct arena *arena;        /* owns the entries */
    uint32_t turn, pass;
    struct journal_item *first, **last;     /* not yet written */
    const allm_error *error;    /* why journal_write() failed; static */
};

/* Setup and arena must outlive the journal. */
void journal_init(struct journal *j, const struct setup *u, struct arena *a,
                  uint32_t turn, int pass);

/* Add an entry, if the caller has a journal; false: out of memory. */
bool journal_add(struct journal *j, const allm_journal_entry *entry);

/* Write the entries.  OK: all are written.  AGAIN: one is not written yet; call
 * again when the waker is rung, or at *again_ns, if that becomes earlier.
 * < 0: see `error`. */
allm_status journal_write(struct journal *j, int64_t *again_ns);

/* Callbacks that write the calls of a batch to this journal. */
struct batch_journal journal_of_tools(struct journal *j);
