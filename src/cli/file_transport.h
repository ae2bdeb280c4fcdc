/* lend.h - a transport that lends the bytes of a file as an answer's body */
#ifndef CLI_FILE_TRANSPORT_H
#define CLI_FILE_TRANSPORT_H

#include "allm.h"

struct file_transport {
    const char *path; /* NULL: standard input */
    int fd;
    bool begun;  /* the first piece was read */
    bool failed; /* reading failed, and was told */
    allm_transport transport;
    char piece[65536];
};

/* False: the file cannot be opened, and that was told. */
bool file_transport_open(struct file_transport *t, const char *path);
void file_transport_close(struct file_transport *t);

#endif
