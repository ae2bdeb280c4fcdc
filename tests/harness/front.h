/* front.h - nghttpx in front of a test server, for TLS and HTTP/2 */
#pragma once

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

/* Start a proxy in front of a port.  False: openssl or nghttpx is missing, and
 * the test is skipped. */
bool front_init(struct front *f, int port, enum front_name name);
void front_release(struct front *f);

/* How many requests the proxy has completed, and how many of them came over a
 * connection whose TLS session was resumed. */
struct front_counts {
    size_t requests, resumed;
};
struct front_counts front_count(const struct front *f);

/* The certificate of the authority that signed both. */
const char *front_authority(void);

/* A folder with it, under the name that OpenSSL looks for. */
const char *front_authorities(void);

/* The certificate of an authority that signed neither. */
const char *front_stranger(void);
