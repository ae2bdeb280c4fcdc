/*
 * orders.h - write the instructions for a warden
 *
 * warden/orders.c describes them.  A failure shows as a broken buffer.
 */
#ifndef PROC_ORDERS_H
#define PROC_ORDERS_H

#include "base/buf.h"

enum { ORDERS_LIMIT = 256 * 1024 - 8 };     /* what a warden accepts */

/* One line: a verb and its value, in which line ends are escaped. */
void orders_add(struct buf *out, const char *verb, const char *value);
void orders_env(struct buf *out, const char *name, const char *value);
void orders_limit(struct buf *out, const char *name, uint64_t most);

/*
 * The variables that every process gets from ours: PATH, LANG, LC_*, TZ, USER,
 * LOGNAME and SHELL; and TERM=dumb.  Nothing else is inherited.
 */
void orders_environment(struct buf *out);

/* The modes of the sandbox. */
enum orders_mode { ORDERS_ON, ORDERS_STRICT, ORDERS_OFF };
void orders_walls(struct buf *out, enum orders_mode mode);

#endif
