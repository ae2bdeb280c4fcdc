/* bomb.h - compressed answers that inflate to a very large size */
#pragma once

#include <stddef.h>

/* A head without its last line, and a gzip body: `first`, 258 bytes, followed
 * by more than a million copies of it.  The caller frees *kept. */
const char *bomb_once(char **kept, const char *head, const char *first,
                      size_t *len);

/* The same, compressed twice: a few kilobytes. */
const char *bomb_twice(char **kept, const char *head, const char *first,
                       size_t *len);
