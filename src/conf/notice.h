/* notice.h - something to tell the user about the configuration */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct notice {
    bool fatal;         /* the program cannot use this configuration */
    const char *origin; /* a file or a variable; NULL: none */
    size_t line;        /* from 1; 0: unknown */
    const char *text;
    const char *unknown; /* the path of an unknown key; or NULL */
};

/* The notice is borrowed while the function runs. */
typedef void (*notice_fn)(void *ud, const struct notice *notice);
