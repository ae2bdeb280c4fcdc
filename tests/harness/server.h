/*
 * server.h - an HTTP/1.1 server on this machine that does as it is told
 *
 *      static const struct server_step answer[] = {
 *          SERVER_SAY("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"),
 *          SERVER_PAUSE,                   until server_go()
 *          SERVER_SAY("cd"), SERVER_END };
 *      struct server *s = server_new();
 *      server_play(s, answer);             to the next request
 *
 * It runs in a thread of its own and never sleeps; every change rings
 * server_news(), for whoever waits until server_look() shows what he wants.
 */
#ifndef HARNESS_SERVER_H
#define HARNESS_SERVER_H

#include "base/slice.h"
#include "loop/wake.h"

enum server_act {
    SERVER_ACT_SAY,             /* send bytes, as they are */
    SERVER_ACT_FLOOD,           /* send len bytes of filler */
    SERVER_ACT_PAUSE,           /* until server_go() */
    SERVER_ACT_BODY,            /* until the whole body has come; see hurry */
    SERVER_ACT_BACK,            /* len steps back, again and again */
    SERVER_ACT_CLOSE,           /* the connection ends */
    SERVER_ACT_RESET,           /* the same, rudely */
    SERVER_ACT_END              /* the answer is whole: wait for a request */
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
    size_t open;                /* of them not closed, by whomever */
    size_t requests;            /* read to their end */
    size_t paused;              /* stand at SERVER_PAUSE now */
    size_t sent;                /* bytes that the system took from us */
    size_t stalls;              /* how often it would take no more */
};

struct server;
struct server *server_new(void);            /* NULL: no sockets here */
void server_free(struct server *s);
int server_port(const struct server *s);

/* What to do with the next request that has nothing to do yet; the steps are
 * not copied. */
void server_play(struct server *s, const struct server_step *steps);

/* What to do with all that server_play() did not provide for. */
void server_play_always(struct server *s, const struct server_step *steps);

/* Answer from now on as soon as the head has come; SERVER_BODY waits for the
 * rest. */
void server_hurry(struct server *s);

/* Let one of the paused go on, now or when it comes there. */
void server_go(struct server *s);

struct server_seen server_look(struct server *s);

/* The same, as soon as there were so many connections, or after ten seconds: a
 * client may give up before a busy machine lets the server see it. */
struct server_seen server_look_for(struct server *s, size_t connections);

/* The n-th request (from 0), head and body, NUL behind it; "" if there is
 * none.  Until server_free(). */
const char *server_request(struct server *s, size_t n);

struct wake *server_news(struct server *s);

#endif
