/* caller_struct.h - structs filled in by a caller with another header
 * version */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Copy a struct that begins with its size into ours, of `size` bytes.  A
 * shorter one comes from an older header: the rest is zero, the default.  A
 * longer one is accepted if all members that we do not know are zero.  NULL
 * means all defaults.  False, with ours all defaults, if the size was not
 * filled in or an unknown member is set.
 */
bool caller_struct_take(void *ours, size_t size, const void *given);
