/* encoding.h - the output of an encoder: a string, or why there is none */
#pragma once

#include "allm.h"
#include "base/buf.h"

struct allm_encoding {
    struct buf text;
    bool has_text;              /* the encoder has set it */
    const char *why;            /* it failed; in the arena; or NULL */
};
