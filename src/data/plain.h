/* plain.h - free-form JSON without the envelopes of the structs inside it */
#ifndef DATA_PLAIN_H
#define DATA_PLAIN_H

#include "json/emit.h"

/* Write v, each envelope of ours replaced by its data; errors gain their
 * "kind". */
void plain_write(struct emit *e, const allm_json *v);

#endif
