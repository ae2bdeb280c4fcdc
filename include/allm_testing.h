/*
 * allm_testing.h - a scripted model, and recorded HTTP exchanges
 *
 *    1  Fake                  a scripted model, for tests and demos
 *    2  Recorder              records real exchanges in a file
 *    3  Player                plays them back without a network
 */
#ifndef ALLM_TESTING_H
#define ALLM_TESTING_H

#include "allm_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------- 1  Fake --- */

/*
 * The adapter "fake" plays a script instead of calling a model.  Its options,
 * in adapter_opts: script (one call), scripts (a list of calls),
 * stream_script, retry_until_call, usage, record. docs/testing-with-fake.md
 * has the grammar.
 */

/*
 * A position in a script.  An engine and all engines derived from it share one
 * position; a cursor of your own makes it visible, or shares it between
 * engines.
 */
typedef struct allm_fake_cursor allm_fake_cursor;

/* Creates a cursor, frees it, and returns its position. */
ALLM_API allm_fake_cursor *allm_fake_cursor_new(void);
ALLM_API void allm_fake_cursor_free(allm_fake_cursor *);
ALLM_API uint64_t allm_fake_cursor_index(const allm_fake_cursor *);
/*
 * Makes the engine use this cursor.  Call it before the engine's first call.
 */
ALLM_API allm_status allm_fake_use_cursor(const allm_engine *,
                                          allm_fake_cursor *);

/*
 * What the calls of this engine did: the number of calls that reached the
 * adapter, the number of streams released, and, with "record": true, the
 * requests as an array of their plain forms, which the caller frees.
 */
ALLM_API uint64_t allm_fake_calls(const allm_engine *);
ALLM_API uint64_t allm_fake_released(const allm_engine *);
ALLM_API allm_json *allm_fake_requests(const allm_engine *);

/*
 * These seven create the script of one call, a value for "script" in
 * adapter_opts, which the caller frees.  This one answers with a text; NULL:
 * "Hello world".
 */
ALLM_API allm_json *allm_fake_plain_text(const char *text);
/* One tool call with the id call_0. arguments NULL: {}. */
ALLM_API allm_json *allm_fake_single_tool_call(const char *name,
                                               const allm_json *arguments);
/*
 * Several tool calls, [[name, arguments], ...], with the ids call_0, call_1,
 * ...
 */
ALLM_API allm_json *allm_fake_parallel_tool_calls(const allm_json *calls);
/* One tool call with the id call_1, whose arguments come in two deltas. */
ALLM_API allm_json *allm_fake_streamed_arguments(const char *name,
                                                 const allm_json *arguments);
/* A text, then an error with this reason. */
ALLM_API allm_json *allm_fake_mid_stream_error(const char *reason);
/* A text that comes after a delay. */
ALLM_API allm_json *allm_fake_delayed_text(const char *text,
                                           uint32_t delay_ms);
/* A response without content. */
ALLM_API allm_json *allm_fake_empty_response(void);
/* The scripts of several calls, one after the other: a value for "scripts". */
ALLM_API allm_json *allm_fake_multi_turn(size_t count,
                                         const allm_json *const *scripts);

/* ---------------------------------------------------------- 2  Recorder --- */

/*
 * A recorder keeps the requests of an engine and their responses in a file.  A
 * player plays them back without a network: the same bytes, split at the same
 * places, with the same ends and errors.  Keys are never recorded.
 * docs/record-replay.md describes the format, which a person can write, too.
 *
 * Pass the transport to allm_engine_new().  The recorder or player must
 * outlive the engine and its streams.  Any number of threads may use the
 * transport; only one thread at a time may call the functions below.
 */

/* A recorder. */
typedef struct allm_recorder allm_recorder;

/* The options of a recorder. */
typedef struct allm_recorder_opts {
    size_t                size;
    const allm_transport *transport;          /* what to record; NULL: the
                                                 library's HTTP client      */
    uint32_t              flags;              /* ALLM_RECORDER_*            */
    uint32_t              reserved;
    const allm_clock     *clock;              /* the engine's               */
    const allm_allocator *allocator;
} allm_recorder_opts;

/* The flags of a recorder. */
typedef enum allm_recorder_flags {
    ALLM_RECORDER_APPEND = 1 << 0     /* append to an existing file instead
                                         of replacing it                    */
} allm_recorder_flags;

/*
 * Creates a recorder. path NULL: no file; read the recording with
 * allm_recorder_text().
 */
ALLM_API allm_recorder *allm_recorder_new(const char *path,
                                          const allm_recorder_opts *);
/*
 * Why it could not be created: then its transport rejects every request.  Or
 * why the last flush failed; the next successful one clears it.  NULL: no
 * error.
 */
ALLM_API const allm_error *allm_recorder_error(const allm_recorder *);
/* The transport, borrowed from the recorder; never NULL. */
ALLM_API const allm_transport *allm_recorder_transport(const allm_recorder *);
/*
 * Writes the file, completely or not at all: the exchanges that have ended, in
 * the order in which they began.
 */
ALLM_API allm_status allm_recorder_flush(allm_recorder *);
/* The same as a string, which the caller frees. */
ALLM_API allm_text *allm_recorder_text(const allm_recorder *);
/* Flushes if there is something new, and frees the recorder. */
ALLM_API void allm_recorder_free(allm_recorder *);

/* ------------------------------------------------------------ 3  Player --- */

/* A player. */
typedef struct allm_player allm_player;

/* The options of a player. */
typedef struct allm_player_opts {
    size_t                size;
    uint32_t              flags;              /* ALLM_PLAYER_*              */
    uint32_t              reserved;
    size_t                text_len;
    const char           *text;               /* instead of a file          */
    const allm_clock     *clock;              /* the engine's               */
    const allm_allocator *allocator;
} allm_player_opts;

/* The flags of a player. */
typedef enum allm_player_flags {
    ALLM_PLAYER_TIMED    = 1 << 0,    /* bytes arrive at the recorded times,
                                         by the clock; else at once         */
    ALLM_PLAYER_IN_ORDER = 1 << 1     /* play the next exchange, whatever the
                                         request; else the first one left
                                         with an equal request              */
} allm_player_flags;

/*
 * Creates a player.  Each exchange is played once.  A request that is not in
 * the recording fails with no_scripted_response and "replay miss: ...", which
 * names what differs from the nearest request. path NULL without a text is an
 * empty recording: an engine that uses it cannot reach anything.
 */
ALLM_API allm_player *allm_player_new(const char *path,
                                      const allm_player_opts *);
/*
 * Why it could not be created, with the line: the file is missing, damaged or
 * something else.  Then its transport rejects every request.  NULL: no error.
 */
ALLM_API const allm_error *allm_player_error(const allm_player *);
/*
 * The transport, borrowed from the player; never NULL.  Without memory it
 * rejects every request.
 */
ALLM_API const allm_transport *allm_player_transport(const allm_player *);
/* The number of exchanges that have not been played. */
ALLM_API size_t allm_player_left(const allm_player *);
/* Frees the player. */
ALLM_API void allm_player_free(allm_player *);

#ifdef __cplusplus
}
#endif
#endif
