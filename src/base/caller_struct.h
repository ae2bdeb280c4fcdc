/* caller_struct.h - structs that a caller filled in, by whatever header he has */
#ifndef BASE_CALLER_STRUCT_H
#define BASE_CALLER_STRUCT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Copy a struct that begins with its size into ours, of `size` bytes.  A
 * shorter one comes from an older header: the rest is zero, the default.  A
 * longer one is fine as long as what we do not know is zero.  NULL is all
 * default.  False, and ours is all default: its size was not filled in, or it
 * asks for what we do not know.
 */
bool caller_struct_take(void *ours, size_t size, const void *given);

#endif
