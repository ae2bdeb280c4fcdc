/*
 * fault.h - a server that answers wrongly, and what must become of the call
 *
 * A row is one answer, and how the call ends by both doors (pulling events,
 * waiting for the end), alone and in a hub.
 */
#ifndef HARNESS_FAULT_H
#define HARNESS_FAULT_H

#include "harness/front.h"
#include "harness/server.h"

#include "allm.h"

#define FAULT_KEY "sk-fault-0123456789"
#define MIB (1024 * 1024)

/* How the body comes, and what follows it. */
enum manner {
    WHOLE,                      /* its length is told, and right */
    CLOSES,                     /* ends with the connection, no length told */
    RESETS,                     /* the same, rudely */
    STAYS,                      /* the connection stays, and is silent */
    SHORT,                      /* ten bytes fewer than told, then closed */
    LONG,                       /* ten bytes more than told */
    CUT_CHUNK,                  /* closed in the middle of a chunk */
    ONE_BYTE_CHUNKS,
    ZIPPED,                     /* by gzip */
    REPEATS,                    /* `again` follows for ever */
    FLOODS,                     /* 256 MiB without a line's end follow */
    MUTE,                       /* no answer, the connection stays */
    GONE                        /* no answer, the connection is reset */
};

struct fault {
    const char *why;
    enum manner manner;
    const char *body, *again;
    const char *told;           /* "ok", or the error's kind/reason */
    const char *text;           /* what is kept; NULL: it never began */
    const char *status;         /* NULL: 200 OK */
    const char *headers;        /* NULL: Content-Type: text/event-stream */
    const char *(*made)(size_t *len);   /* in place of body and manner */
    const char *retry;          /* of the engine; NULL: none */
    const char *opts;           /* of the call, such as deadlines; or NULL */
    size_t connections;         /* 0: one */
    size_t most_sent;           /* bytes that the server may get rid of */
    const char *says;           /* words of the error's message; or NULL */
    int64_t after_ms;           /* what the error says of waiting */
};

enum { NOT_TOLD = 0, AT_ONCE = -1, OVER_AN_HOUR = -2 };     /* after_ms */
/* What one row is played from. */
struct fault_stage {
    char *bytes;
    size_t len, cap;
    struct server_step steps[4];
};

/* Where the calls go: to the server, or to whoever stands in front of it. */
struct fault_place {
    struct server *server;
    struct front *front;        /* TLS and HTTP/2; or NULL */
    size_t answer_limit;        /* memory of an answer; 0: the usual */
};

/* How the call is made, and what was seen of it. */
struct fault_way {
    bool pull, in_hub;
    bool completed;             /* an event told the whole message */
};

/* The four ways. */
struct fault_way fault_way_of(int i);

#define FAULT_GZIP_HEAD "\x1f\x8b\x08\0\0\0\0\0\0\3"

/* Before, n times one piece, behind; made once, kept to the end. */
const char *fault_repeated(char **kept, const char *before, const char *piece,
                           size_t n, const char *behind, size_t *len);

/* `stage` must outlive the server; the caller frees its bytes. */
void fault_play(struct server *server, struct fault_stage *s,
                const struct fault *f);

allm_engine *fault_engine(struct fault_place at, const char *model,
                          const char *retry);

/* To its end. */
allm_status fault_run(allm_stream *s, struct fault_way *way);

/* "ok", or the error's kind/reason.  Static. */
const char *fault_told(const allm_error *e);

void fault_check_call(const struct fault *f, struct fault_place at,
                      const char *model, struct fault_way way);

/* All rows in all four ways, each with a server of its own. */
void fault_check_all(const struct fault *faults, size_t n, const char *model);

#endif
