/* session_resume.h - continue a stored session: choose its model, begin */
#pragma once

#include "cli/session.h"

struct session_resume {
    const char *model;        /* NULL: that of the session */
    const allm_json *options; /* of -o */
    bool ask_user;            /* with the tool of --ask */
};

/*
 * Continue what is broken off, or answer what was sent.  END_DONE and a stream,
 * which the caller frees; or an exit code after an error was printed, and NULL.
 */
int session_resume_start(struct session *s, const struct session_resume *how,
                         allm_stream **stream);

/* Free the engines, after the streams. */
void session_resume_release(void);
