/* plain.h - write free-form JSON without the envelopes in it */
#ifndef DATA_PLAIN_H
#define DATA_PLAIN_H

#include "json/emit.h"

/* Write v with each of our envelopes replaced by its data; errors get a
 * "kind". */
void plain_write(struct emit *e, const allm_json *v);

#endif
