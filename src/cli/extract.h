/* extract.h - print the fenced code blocks of an answer: -x, --xl, --xa */
#pragma once

#include "term/bytes.h"

#include <stdbool.h>

enum extract {
    EXTRACT_NOTHING, /* print the answer */
    EXTRACT_FIRST,
    EXTRACT_LAST,
    EXTRACT_ALL
};

/* Does the text have a block? */
bool extract_finds(const char *text, size_t len);

/* Append the blocks without their fences; returns how many there are. */
size_t extract_put(struct bytes *out, const char *text, size_t len,
                   enum extract which);
/* The same on stdout. */
size_t extract_print(const char *text, size_t len, enum extract which);
