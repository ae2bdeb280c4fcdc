/* show.h - a call on its way to the user: text, events or one document */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include "cli/session.h"

enum show_form {
    SHOW_STREAM, /* text as it comes */
    SHOW_WHOLE,  /* text at the end */
    SHOW_JSON,   /* one document */
    SHOW_EVENTS  /* a line of JSON for each event */
};

struct show {
    enum show_form form;
    bool usage; /* tell the tokens on stderr */
    bool verbose; /* tell all warnings, not only what was left out */
    bool value; /* the text is JSON: show it as a value, too */
    const struct session *session; /* what is asked, saved at its end */
    bool chat; /* a question is asked by the caller */
};

/* Run a stream, print its events.  Gives the exit code. */
int show_events(allm_stream *stream);

/* Run a stream of one answer, print its text, tell of a failure.  Gives the
 * exit code. */
int show_text(allm_stream *stream);

/* Run a chat of the session, show it and save it; Ctrl-C cancels it.  Gives the
 * exit code. */
int show_chat(allm_stream *stream, const struct show *how);

/* "usage: 12 tokens in, 5 out", to stderr. */
void show_usage(const allm_usage *usage);

#endif
