/*
 * orders.h - write the instructions for a warden
 *
 * docs/sandbox.md describes them.  A failure shows as a broken buffer.
 */
#pragma once

#include "base/buf.h"

enum { ORDERS_LIMIT = 256 * 1024 - 8 };     /* what a warden accepts */
enum { ORDERS_HOME = 4096 };

enum orders_mode { ORDERS_ON, ORDERS_STRICT, ORDERS_OFF };

/* One line: a verb and its value, in which line ends are escaped. */
void orders_add(struct buf *out, const char *verb, const char *value);
void orders_env(struct buf *out, const char *name, const char *value);
/* "procs": also of all tasks, where the kernel does not count the processes
 * apart from those that the user runs already. */
void orders_limit(struct buf *out, const char *name, uint64_t most);

/*
 * The variables that every process gets from ours: PATH, LANG, LC_*, TZ, USER,
 * LOGNAME and SHELL; and TERM=dumb.  Nothing else is inherited.  With walls,
 * PATH has no folders below the home: the process could find programs there,
 * but not run them.
 */
void orders_environment(struct buf *out, enum orders_mode mode);

/* The next folder of a PATH, of which *path is moved to the rest; ptr NULL:
 * there is none. */
struct slice orders_next_folder(const char **path);
/* HOME; without it, as in services, what the system says: then the path is in
 * `room`.  NULL: not known. */
const char *orders_home(char room[ORDERS_HOME]);
/* Is it the home, or below it? */
bool orders_in_home(struct slice folder);

/* The modes of the sandbox. */
void orders_walls(struct buf *out, enum orders_mode mode);
