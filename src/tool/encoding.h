/* encoding.h - where an encoder puts its text, or why it has none */
#ifndef TOOL_ENCODING_H
#define TOOL_ENCODING_H

#include "allm.h"
#include "base/buf.h"

struct allm_encoding {
    struct buf text;
    bool told;                  /* a text was given */
    const char *why;            /* or this; in the arena */
};

#endif
