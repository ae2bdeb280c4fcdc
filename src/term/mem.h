/*
 * mem.h - the program's memory
 *
 * Only this file of the program calls malloc.  If there is no memory left, the
 * program ends with a message and the exit code 1, so no caller checks for
 * NULL.
 */
#pragma once

#include <stddef.h>

/* Zeroed memory; the caller frees it with term_free(). */
void *term_alloc(size_t size);
/* Room for `size` bytes instead; the new ones are not zeroed.  p may be NULL.
 */
void *term_resize(void *p, size_t size);
/* A copy of the bytes, followed by a NUL. */
char *term_copy(const char *bytes, size_t len);
void term_free(void *p);
