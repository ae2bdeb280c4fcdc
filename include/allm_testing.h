/*
 * allm_testing.h - a scripted model; exchanges recorded and played again
 *
 *    1  Fake                  a scripted model, for tests and demos
 *    2  Recorder              real exchanges, kept in a file
 *    3  Player                played again without a network
 */
#ifndef ALLM_TESTING_H
#define ALLM_TESTING_H

#include "allm_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------- 1  Fake --- */

/*
 * The adapter "fake" plays a script instead of asking a model.  Its options
 * (adapter_opts): script (one call), scripts (a list of calls), stream_script,
 * retry_until_call, usage, record.  docs/testing-with-fake.md has the grammar.
 *
 * An engine and all engines derived from it share one position in the script,
 * or that of a cursor.
 */
typedef struct allm_fake_cursor allm_fake_cursor;
ALLM_API allm_fake_cursor *allm_fake_cursor_new(void);
ALLM_API void allm_fake_cursor_free(allm_fake_cursor *);
ALLM_API uint64_t allm_fake_cursor_index(const allm_fake_cursor *);
/* Before the engine's first call. */
ALLM_API allm_status allm_fake_use_cursor(const allm_engine *,
                                          allm_fake_cursor *);

/* What the engine's calls did: calls that reached the adapter, streams let go,
 * and, with "record": true, the requests (an array of their plain forms). */
ALLM_API uint64_t allm_fake_calls(const allm_engine *);
ALLM_API uint64_t allm_fake_released(const allm_engine *);
ALLM_API allm_json *allm_fake_requests(const allm_engine *);

/* Scripts of one call, as values for "script" of adapter_opts. */
/* NULL: "Hello world". */
ALLM_API allm_json *allm_fake_plain_text(const char *text);
/* Its id is call_0; arguments NULL: {}. */
ALLM_API allm_json *allm_fake_single_tool_call(const char *name,
                                               const allm_json *arguments);
/* [[name, arguments], ...]; the ids are call_0, call_1, ... */
ALLM_API allm_json *allm_fake_parallel_tool_calls(const allm_json *calls);
/* The arguments in two pieces, id call_1. */
ALLM_API allm_json *allm_fake_streamed_arguments(const char *name,
                                                 const allm_json *arguments);
ALLM_API allm_json *allm_fake_mid_stream_error(const char *reason);
ALLM_API allm_json *allm_fake_delayed_text(const char *text, uint32_t ms);
ALLM_API allm_json *allm_fake_empty_response(void);
/* Several calls, for "scripts": the scripts one after the other. */
ALLM_API allm_json *allm_fake_multi_turn(size_t count,
                                         const allm_json *const *scripts);

/* ---------------------------------------------------------- 2  Recorder --- */

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

/* ------------------------------------------------------------ 3  Player --- */

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
