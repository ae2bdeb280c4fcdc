/*
 * server.h - a scripted HTTP/1.1 server on this machine
 *
 *      static const struct server_step answer[] = {
 *          SERVER_SAY("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"),
 *          SERVER_PAUSE,                   until server_go()
 *          SERVER_SAY("cd"), SERVER_END };
 *      struct server *s = server_new();
 *      server_play(s, answer);             to the next request
 *
 * It runs in its own thread and never sleeps.  Every change signals
 * server_news(); the test then checks server_look().
 */
#pragma once

#include "base/slice.h"
#include "loop/wake.h"

enum server_act {
    SERVER_ACT_SAY,             /* send bytes */
    SERVER_ACT_FLOOD,           /* send len bytes of filler */
    SERVER_ACT_PAUSE,           /* until server_go() */
    SERVER_ACT_BODY,            /* until the whole body arrived; see hurry */
    SERVER_ACT_BACK,            /* go back len steps, forever */
    SERVER_ACT_CLOSE,           /* close the connection */
    SERVER_ACT_RESET,           /* reset the connection */
    SERVER_ACT_END              /* the answer is complete: wait for a request */
};

struct server_step {
    enum server_act act;
    const char *bytes;
    size_t len;
};

#define SERVER_SAY(text)    { SERVER_ACT_SAY, (text), sizeof(text) - 1 }
#define SERVER_SLICE(p, n)  { SERVER_ACT_SAY, (p), (n) }
#define SERVER_FLOOD(n)     { SERVER_ACT_FLOOD, NULL, (n) }
#define SERVER_PAUSE        { SERVER_ACT_PAUSE, NULL, 0 }
#define SERVER_BODY         { SERVER_ACT_BODY, NULL, 0 }
#define SERVER_BACK(n)      { SERVER_ACT_BACK, NULL, (n) }
#define SERVER_CLOSE        { SERVER_ACT_CLOSE, NULL, 0 }
#define SERVER_RESET        { SERVER_ACT_RESET, NULL, 0 }
#define SERVER_END          { SERVER_ACT_END, NULL, 0 }

struct server_seen {
    size_t connections;         /* accepted so far */
    size_t open;                /* of them, not closed by either side */
    size_t requests;            /* read to their end */
    size_t paused;              /* at SERVER_PAUSE now */
    size_t sent;                /* bytes that the system accepted */
    size_t stalls;              /* how often it accepted no more */
};

struct server;
struct server *server_new(void);            /* NULL: no sockets */
void server_free(struct server *s);
int server_port(const struct server *s);

/* The answer to the next request that has none yet; the steps are not
 * copied. */
void server_play(struct server *s, const struct server_step *steps);

/* The answer to one request that contains this text, before all others; in the
 * order of these calls. */
void server_play_when(struct server *s, const char *part,
                      const struct server_step *steps);

/* The answer to all requests that server_play() did not cover. */
void server_play_always(struct server *s, const struct server_step *steps);

/* From now on, answer as soon as the head has arrived; SERVER_BODY waits for
 * the rest. */
void server_hurry(struct server *s);

/* Let one paused connection continue, now or when it pauses. */
void server_go(struct server *s);

struct server_seen server_look(struct server *s);

/* Like server_look(), but wait for so many connections, at most ten seconds: on
 * a busy machine a client may give up before the server sees it. */
struct server_seen server_look_for(struct server *s, size_t connections);

/* The n-th request (from 0), head and body, with a NUL at the end; "" if there
 * is none.  Valid until server_free(). */
const char *server_request(struct server *s, size_t n);

struct wake *server_news(struct server *s);
