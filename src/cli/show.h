/* show.h - run a call and print it: as text, events or one JSON document */
#pragma once

#include "cli/answer.h"
#include "cli/extract.h"
#include "cli/session.h"

enum { SHOW_AGAIN = -1 }; /* no exit code: start another stream */

enum show_form {
    SHOW_STREAM, /* text as it arrives */
    SHOW_WHOLE,  /* text at the end */
    SHOW_JSON,   /* one document */
    SHOW_EVENTS  /* a line of JSON for each event */
};

struct show {
    enum show_form form;
    bool usage;   /* print the tokens on stderr */
    bool verbose; /* print all warnings, not only ignored options */
    bool value;   /* the text is JSON: print it as a value, too */
    const struct session *session; /* is saved at the end */
    enum extract extract; /* with SHOW_WHOLE */
    bool chat;    /* the caller prints the model's question */
    /* Asked after a failure, unless NULL; true: nothing is printed or saved,
     * and show_chat() returns SHOW_AGAIN. */
    bool (*try_next)(void *ud, const allm_error *error);
    void *ud;
    struct answer_look look;
};

/* Run a stream and print its events.  Returns the exit code. */
int show_events(allm_stream *stream);

/* Run a stream of one answer; print its text, or the error.  Returns the exit
 * code. */
int show_text(allm_stream *stream);

/* Run a chat, print it, and save the session; Ctrl-C cancels it.  Returns the
 * exit code. */
int show_chat(allm_stream *stream, const struct show *how);
