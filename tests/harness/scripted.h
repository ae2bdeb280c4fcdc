/*
 * scripted.h - a transport that plays exchanges from a script
 *
 *      static const struct scripted_step script[] = {
 *          STEP_HEAD(200), STEP_BYTES("data: 1\n\n"), STEP_DELAY(50),
 *          STEP_END, STEP_DONE };
 *      struct scripted play = { .steps = script, .clock = &clock };
 *      allm_transport t = scripted_transport(&play);
 *
 * An exchange ends with STEP_END, STEP_ERROR, STEP_REFUSE or STEP_STAY; the
 * next one follows.  Borrowed bytes are in separate blocks that are overwritten
 * before they are freed, so a late access is found.
 */
#pragma once

#include "allm.h"
#include "base/clock.h"

enum scripted_kind {
    SCRIPTED_DONE,              /* no further exchange */
    SCRIPTED_CONNECT,           /* connected after `ms`; < 0: never */
    SCRIPTED_HEAD,
    SCRIPTED_BYTES,             /* "": an empty piece */
    SCRIPTED_FILE,              /* under tests/fixture/ */
    SCRIPTED_DELAY,             /* nothing for `ms` */
    SCRIPTED_RING,              /* nothing until a thread has rung */
    SCRIPTED_END,
    SCRIPTED_ERROR,             /* the connection breaks */
    SCRIPTED_REFUSE,            /* open() fails: the only step */
    SCRIPTED_STAY               /* nothing, forever */
};

struct scripted_step {
    enum scripted_kind kind;
    int64_t ms;
    int32_t status;
    const char *const *header;  /* name, value, ..., NULL; or NULL */
    const char *bytes;          /* a file's name; an error's message */
    size_t len;
    size_t cut;                 /* bytes per piece; 0: one piece */
    const size_t *places;       /* or split here, ascending; 0 ends them */
    allm_status error;
    const char *reason;
};

#define STEP_DONE            { .kind = SCRIPTED_DONE }
#define STEP_CONNECT(n)      { .kind = SCRIPTED_CONNECT, .ms = (n) }
#define STEP_HEAD(n)         { .kind = SCRIPTED_HEAD, .status = (n) }
#define STEP_HEADERS(n, ...)                     \
    { .kind = SCRIPTED_HEAD, .status = (n),      \
      .header = (const char *const[]){ __VA_ARGS__, NULL } }
#define STEP_BYTES(text)                         \
    { .kind = SCRIPTED_BYTES, .bytes = (text), .len = sizeof(text) - 1 }
#define STEP_PIECES(text, n)                     \
    { .kind = SCRIPTED_BYTES, .bytes = (text),   \
      .len = sizeof(text) - 1, .cut = (n) }
#define STEP_FILE(name, n)                       \
    { .kind = SCRIPTED_FILE, .bytes = (name), .cut = (n) }
#define STEP_DELAY(n)        { .kind = SCRIPTED_DELAY, .ms = (n) }
#define STEP_RING            { .kind = SCRIPTED_RING }
#define STEP_END             { .kind = SCRIPTED_END }
#define STEP_STAY            { .kind = SCRIPTED_STAY }
#define STEP_FAILS(what, why, text)              \
    { .kind = (what), .error = ALLM_ERR_ADAPTER, \
      .reason = (why), .bytes = (text) }
#define STEP_ERROR(why, text)  STEP_FAILS(SCRIPTED_ERROR, why, text)
#define STEP_REFUSE(why, text) STEP_FAILS(SCRIPTED_REFUSE, why, text)

/* A request: its headers as "name: value" lines, without the secret. */
struct scripted_request {
    char method[16], url[256], headers[1024], body[1024];
    char secret_name[64], secret_value[256];    /* "" if there was none */
    int64_t at_ns;
};

enum { SCRIPTED_REQUESTS = 8 };

struct scripted {
    const struct scripted_step *steps;
    struct clock_manual *clock; /* NULL: the real one */
    size_t opens, closes, reads;        /* failed opens count, too */
    size_t open_now;
    size_t bytes;               /* returned so far */
    struct scripted_request request[SCRIPTED_REQUESTS];
};

/* `self` is the script, which must outlive the engine. */
allm_transport scripted_transport(struct scripted *s);
