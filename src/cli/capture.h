/* capture.h - a transport that keeps the request and sends nothing */
#ifndef CLI_CAPTURE_H
#define CLI_CAPTURE_H

#include "allm.h"

struct capture {
    allm_json *request; /* what would have been sent; NULL: nothing */
    allm_transport transport;
};

void capture_init(struct capture *c);
void capture_release(struct capture *c);

/* Print what was captured, or tell why there is nothing.  Gives the exit
 * code. */
int capture_show(const struct capture *c, const allm_stream *stream,
                 bool compact);

/* Keys that are not asked of the environment: only addresses are. */
allm_keys *capture_keys(void);

#endif
