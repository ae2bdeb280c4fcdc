/* exit.h - the table of exit codes */
#pragma once

#include "allm.h"

enum exit_code {
    END_DONE = 0,
    END_FAILED = 1,
    END_USAGE = 2,
    END_TRANSIENT = 3,
    END_KEY = 4,
    END_REQUEST = 5,
    END_SCHEMA = 6,
    END_REFUSED = 7,
    END_LIMIT = 8,
    END_TRUNCATED = 9,
    END_ASKED = 10,
    END_SESSION = 11,
    END_MISS = 12,
    END_SIGNAL = 128 /* plus the signal number */
};

/* The kind of an error; one of images counts as one of other models. */
allm_status exit_kind(const allm_error *error);

/* The exit code for an error; NULL: END_DONE. */
int exit_of_error(const allm_error *error);

/* The exit code for a chat that has ended; NULL: END_FAILED. */
int exit_of_chat(const allm_chat_result *result);

/* The code and its meaning at this index; NULL: no more. */
const char *exit_meaning(size_t index, int *code);
