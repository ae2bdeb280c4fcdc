/*
 * history.h - earlier lines of chats, in memory and in STATE/history
 *
 * Chats that run at the same time append to the same file, and read what the
 * others have appended.
 */
#pragma once

#include <stddef.h>

/* Read the file; without it, lines are kept in memory only. */
void history_open(void);
void history_close(void);

/* Remember a line in memory. */
void history_add(const char *line);
/* Remember a line that was typed: also in the file, unless it begins with a
 * space or with "/key". */
void history_record(const char *line);

/* An earlier line, 1 being the last one; NULL: there is none.  `ud` is not
 * used: a hook of the editor. */
const char *history_line(void *ud, size_t back);
