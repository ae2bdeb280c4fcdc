/* file_transport.h - a transport that answers with the bytes of a file */
#pragma once

#include "allm.h"

struct file_transport {
    const char *path; /* NULL: standard input */
    int fd;
    bool begun;  /* the first piece was read */
    bool failed; /* reading failed; an error was printed */
    allm_transport transport;
    char piece[65536];
};

/* False: the file cannot be opened; an error was printed. */
bool file_transport_open(struct file_transport *t, const char *path);
void file_transport_close(struct file_transport *t);
