/* capture.h - a transport that captures the request and sends nothing */
#pragma once

#include "allm.h"

struct capture {
    allm_json *request; /* NULL: none was captured */
    allm_transport transport;
};

void capture_init(struct capture *c);
void capture_release(struct capture *c);

/* Print the captured request, or the reason why there is none.  Returns the
 * exit code. */
int capture_show(const struct capture *c, const allm_stream *stream,
                 bool compact);

/* Keys that read only addresses, no keys, from the environment. */
allm_keys *capture_keys(void);
