/*
 * crash.h - sessions in a store whose handle dies at commit n
 *
 * A crash is an on_commit function that returns an error: from there on the
 * handle writes nothing, as after kill -9.
 */
#pragma once

#include "allm.h"

/* A store for one test at a time: "memory" or "sqlite", new and empty. */
void crash_begin(bool on_disk);
void crash_end(void);

/* The same on a store that the caller has made and removes. */
void crash_begin_at(const char *uri);

/* Open it; it dies before (durable false) or after commit n; 0: never. */
allm_store *crash_open(uint64_t n, bool durable);
/* How many commits the last handle has begun. */
uint64_t crash_commits(void);

/* The records of a session: "created begin call response+..."; static. */
const char *crash_log(allm_store *s, const char *name);
/* The number of records of a type. */
size_t crash_count(allm_store *s, const char *name, const char *type);
