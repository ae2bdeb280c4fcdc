/*
 * database.h - a PostgreSQL server of one's own, and a pooler in front of it
 *
 * The server runs as an ordinary user (root becomes "postgres" or "nobody"),
 * with its socket and its files in a new temporary folder.  It does not sync
 * its files, unless ALLM_SYNC is set: processes die in tests, the machine does
 * not, and no test shall depend on the speed of a disk.
 */
#pragma once

#include <stdbool.h>

struct database {
    char folder[64];
    char uri[160];              /* of the newest database */
    char pooled[160];           /* through pgbouncer, or "" if it is missing */
    unsigned count;             /* of databases */
    int server, pooler;         /* processes; 0: none */
};

/* Start it.  NULL, or one word that says what is missing. */
const char *database_start(struct database *d);

/* Make a new database, to which the URIs refer from now on. */
bool database_new(struct database *d);

/* Run SQL statements in the newest database, as its owner. */
bool database_sql(struct database *d, const char *sql);

/* Stop it: "fast" waits for nothing, "immediate" is a crash. */
void database_stop(struct database *d, const char *mode);

/* Start it again after a stop; false: it did not come up. */
bool database_restart(struct database *d);

/* Stop everything and remove the folder. */
void database_remove(struct database *d);
