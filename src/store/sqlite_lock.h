/*
 * sqlite_lock.h - the leases of an SQLite store: locks of the operating system
 *
 * A session is held by a lock on byte `id` of the file PATH-lock.  The system
 * releases it when the process ends, however it ends; a process that is
 * stopped keeps it.  The file is never removed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Open the lock file; only reading, it is not created.  Returns a descriptor,
 * or -1 and errno. */
int sqlite_lock_open(const char *path, bool read_only);

/* Take the lock of a session.  False: another process, or another handle of
 * this process, has it. */
bool sqlite_lock_take(int fd, int64_t id);
/* The same, but others may share it. */
bool sqlite_lock_share(int fd, int64_t id);
void sqlite_lock_drop(int fd, int64_t id);

/* Does another descriptor have it? */
bool sqlite_lock_is_taken(int fd, int64_t id);

/* Which other process has locked one of these bytes of a file?  0: unknown. */
long sqlite_lock_owner(const char *path, int64_t first, int64_t last);
