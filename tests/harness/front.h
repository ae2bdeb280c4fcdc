/* front.h - TLS and HTTP/2 in front of a server of the tests, by nghttpx */
#ifndef HARNESS_FRONT_H
#define HARNESS_FRONT_H

#include <stdbool.h>
#include <sys/types.h>

enum front_name {
    FRONT_HERE,                 /* a certificate for 127.0.0.1 */
    FRONT_OTHER                 /* a certificate for another host */
};

struct front {
    pid_t pid;
    int port;
    char url[64];               /* https://127.0.0.1:PORT */
};

/* Stand in front of a port.  False: openssl or nghttpx is missing, and the
 * test is skipped. */
bool front_init(struct front *f, int port, enum front_name name);
void front_release(struct front *f);

/* The certificate of the authority that vouches for both. */
const char *front_authority(void);

/* A folder with it, by the name that OpenSSL looks for. */
const char *front_authorities(void);

/* The certificate of an authority that vouches for neither. */
const char *front_stranger(void);

#endif
