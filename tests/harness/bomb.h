/* bomb.h - answers that are short on the way and large when they are inflated */
#ifndef HARNESS_BOMB_H
#define HARNESS_BOMB_H

#include <stddef.h>

/* A head without its last line, and a body by gzip: `first`, 258 bytes, and
 * then a thousand thousand copies of it and more.  The caller keeps it. */
const char *bomb_once(char **kept, const char *head, const char *first,
                      size_t *len);

/* The same by gzip once more: some kilobytes in all. */
const char *bomb_twice(char **kept, const char *head, const char *first,
                       size_t *len);

#endif
