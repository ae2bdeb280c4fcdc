/*
 * allm_record.h - real exchanges, kept in a file and played again
 *
 * Part of allm.h, which includes it.
 */
#ifndef ALLM_H
# include "allm.h"              /* which includes this file, in its turn */
#endif

#ifndef ALLM_RECORD_H
#define ALLM_RECORD_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What an engine's transport is asked and what comes back, kept in a file and
 * played again without a network: the same bytes, cut at the same places, with
 * the same ends and errors.  Keys are never kept.  docs/record-replay.md has
 * the form of the file and how to write one by hand.
 *
 * Give the transport to allm_engine_new(); recorder or replay must outlive the
 * engine and its streams.  Any number of threads may use the transport; the
 * functions below are for one at a time.
 */
typedef struct allm_recorder allm_recorder;

typedef struct allm_recorder_opts {
    size_t                size;
    const allm_transport *transport;          /* what is recorded; NULL: the
                                                 library's HTTP client      */
    uint32_t              flags;              /* ALLM_RECORDER_*              */
    uint32_t              reserved;
    const allm_clock     *clock;              /* the engine's               */
    const allm_allocator *allocator;
} allm_recorder_opts;

enum allm_recorder_flags {
    ALLM_RECORDER_APPEND = 1 << 0       /* go on with a file that is there,
                                         instead of replacing it            */
};

/* path NULL: into no file, for allm_recorder_text(). */
ALLM_API allm_recorder *allm_recorder_new(const char *path,
                                      const allm_recorder_opts *);
/* Why it could not be made: then its transport refuses every request.  Or why
 * the last flush failed; the next one that goes well clears it. */
ALLM_API const allm_error *allm_recorder_error(const allm_recorder *);
/* Lent by the recorder; never NULL. */
ALLM_API const allm_transport *allm_recorder_transport(const allm_recorder *);
/* Write the file, whole or not at all: the exchanges that have ended, in the
 * order in which they were begun. */
ALLM_API allm_status allm_recorder_flush(allm_recorder *);
/* The same as a text. */
ALLM_API allm_text *allm_recorder_text(const allm_recorder *);
/* Flushes, if there is something new. */
ALLM_API void allm_recorder_free(allm_recorder *);

typedef struct allm_player allm_player;

typedef struct allm_player_opts {
    size_t                size;
    uint32_t              flags;              /* ALLM_PLAYER_*              */
    uint32_t              reserved;
    size_t                text_len;
    const char           *text;               /* in place of a file         */
    const allm_clock     *clock;              /* the engine's               */
    const allm_allocator *allocator;
} allm_player_opts;

enum allm_player_flags {
    ALLM_PLAYER_TIMED    = 1 << 0,    /* bytes come when they came, by the
                                         clock; else at once                */
    ALLM_PLAYER_IN_ORDER = 1 << 1     /* the next exchange, whatever is asked;
                                         else the first one left that asks
                                         the same                           */
};

/*
 * Each exchange is played once.  For what is not there the call fails with
 * no_scripted_response, "replay miss: ..." and what differs from the nearest
 * request.  path NULL without a text is an empty recording: an engine that
 * uses it can ask nothing of anybody.
 */
ALLM_API allm_player *allm_player_new(const char *path,
                                      const allm_player_opts *);
/* A file that is missing, damaged or something else, with the line and the
 * reason; then the transport refuses every request. */
ALLM_API const allm_error *allm_player_error(const allm_player *);
/* Lent by the replay; never NULL: without memory it refuses everything, too. */
ALLM_API const allm_transport *allm_player_transport(const allm_player *);
/* Exchanges that were not played yet. */
ALLM_API size_t allm_player_left(const allm_player *);
ALLM_API void allm_player_free(allm_player *);

#ifdef __cplusplus
}
#endif
#endif
