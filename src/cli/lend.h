/* lend.h - a transport that lends the bytes of a file as an answer's body */
#ifndef CLI_LEND_H
#define CLI_LEND_H

#include "allm.h"

struct lend {
    const char *path; /* NULL: standard input */
    int fd;
    bool begun;  /* the first piece was read */
    bool failed; /* reading failed, and was told */
    allm_transport transport;
    char piece[65536];
};

/* False: the file cannot be opened, and that was told. */
bool lend_open(struct lend *l, const char *path);
void lend_close(struct lend *l);

#endif
