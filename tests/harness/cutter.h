/*
 * cutter.h - a proxy in front of a PostgreSQL server that cuts connections
 *
 * It passes on what both sides say, in a thread of its own.  Once told to, it
 * passes on n more bytes of one side, then closes the connection.
 */
#pragma once

#include <stdbool.h>

enum cutter_side { CUTTER_REQUEST, CUTTER_REPLY };

struct cutter;

/* In front of the server of a URI that ends in "host=FOLDER".  NULL: no. */
struct cutter *cutter_new(const char *uri);
void cutter_free(struct cutter *c);

/* The same URI through the proxy. */
const char *cutter_uri(const struct cutter *c);

/* Cut after so many bytes of a side from now on, once; < 0: do not cut. */
void cutter_arm(struct cutter *c, enum cutter_side side, long bytes);

/* Was the connection cut since it was told to? */
bool cutter_has_cut(struct cutter *c);

/* How many bytes a side has sent since the last cutter_arm(). */
long cutter_count(struct cutter *c, enum cutter_side side);
