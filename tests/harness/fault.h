/*
 * fault.h - faulty answers of a server, and how the call must end
 *
 * A row is one answer, and how the call ends when it is pulled and when it is
 * waited for, alone and in a hub.
 */
#pragma once

#include "harness/front.h"
#include "harness/server.h"

#include "allm.h"

#define FAULT_KEY "sk-fault-0123456789"
#define MIB (1024 * 1024)

/* How the body is sent, and what follows it. */
enum manner {
    WHOLE,                      /* with its Content-Length */
    CLOSES,                     /* ends with the connection, no length */
    RESETS,                     /* ends with a connection reset */
    STAYS,                      /* the connection stays open, and is silent */
    SHORT,                      /* ten bytes too few, then closed */
    LONG,                       /* ten bytes too many */
    CUT_CHUNK,                  /* closed in the middle of a chunk */
    ONE_BYTE_CHUNKS,
    ZIPPED,                     /* by gzip */
    REPEATS,                    /* `again` follows forever */
    FLOODS,                     /* 256 MiB without a line end follow */
    MUTE,                       /* no answer, the connection stays open */
    GONE                        /* no answer, the connection is reset */
};

struct fault {
    const char *why;
    enum manner manner;
    const char *body, *again;
    const char *told;           /* "ok", or the error's kind/reason */
    const char *text;           /* the text received; NULL: it never began */
    const char *status;         /* NULL: 200 OK */
    const char *headers;        /* NULL: Content-Type: text/event-stream */
    const char *(*made)(size_t *len);   /* in place of body and manner */
    const char *retry;          /* of the engine; NULL: none */
    const char *opts;           /* of the call, such as deadlines; or NULL */
    size_t connections;         /* 0: one */
    size_t most_sent;           /* the most bytes that the server may send */
    const char *says;           /* part of the error's message; or NULL */
    int64_t after_ms;           /* the error's retry_after */
};

enum { NOT_TOLD = 0, AT_ONCE = -1, OVER_AN_HOUR = -2 };     /* after_ms */
/* The server's script for one row. */
struct fault_stage {
    char *bytes;
    size_t len, cap;
    struct server_step steps[4];
};

/* Where the calls go: to the server, or to the proxy in front of it. */
struct fault_place {
    struct server *server;
    struct front *front;        /* TLS and HTTP/2; or NULL */
    size_t answer_limit;        /* memory of an answer; 0: the default */
};

/* How the call is made, and its result. */
struct fault_way {
    bool pull, in_hub;
    bool completed;             /* message_completed was emitted */
};

/* The four ways. */
struct fault_way fault_way_of(int i);

#define FAULT_GZIP_HEAD "\x1f\x8b\x08\0\0\0\0\0\0\3"

/* A beginning, n times one piece, an end; built once and never freed. */
const char *fault_repeated(char **kept, const char *before, const char *piece,
                           size_t n, const char *behind, size_t *len);

/* `stage` must outlive the server; the caller frees its bytes. */
void fault_play(struct server *server, struct fault_stage *s,
                const struct fault *f);

allm_engine *fault_engine(struct fault_place at, const char *model,
                          const char *retry);

/* Run the call to its end. */
allm_status fault_run(allm_stream *s, struct fault_way *way);

/* "ok", or the error's kind/reason.  Static. */
const char *fault_reported(const allm_error *e);

void fault_check_call(const struct fault *f, struct fault_place at,
                      const char *model, struct fault_way way);

/* All rows in all four ways, each with its own server. */
void fault_check_all(const struct fault *faults, size_t n, const char *model);
