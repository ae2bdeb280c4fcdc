/* jail.h - everything that one process needs before it starts */
#pragma once

#include "base/buf.h"
#include "proc/orders.h"
#include "proc/report.h"

/*
 * The caller fills in the first members.  jail_open() makes the private folder
 * and writes the instructions; jail_close() removes the folder.
 */
struct jail {
    const char *program;        /* absolute */
    const char *dir;            /* the working directory */
    const allm_json *needs;     /* checked; or NULL */
    enum orders_mode mode;
    uint64_t cpu_s;             /* limit if none is declared; 0: none */
    bool least;                 /* nothing but programs and libraries */
    bool real_home;             /* HOME is the user's, not the private one */
    bool agents;                /* with the variables of the user's agents */

    struct buf orders;
    const char *folder;         /* NULL: there is none */
    bool dir_hidden;            /* the working directory is not accessible */
};

/* Memory is from the arena.  NULL, or the error. */
const allm_error *jail_open(struct jail *j, struct arena *a);
void jail_close(struct jail *j);

/* The wall that ended the process, or NULL: "seccomp", "memory", "cpu time",
 * "file size". */
const char *jail_wall(const struct jail *j, const struct report *r);

/* The member "missing" of a report: a list of " mounts pids". */
struct build;
void jail_add_missing(struct build *b, const char *parts);

/* A line about a working directory that the process cannot access, or "". */
const char *jail_hint(const struct jail *j);

/* Why it did not run: which part of the sandbox is missing, or why the program
 * could not be started, and what to do.  NULL: it ran. */
const allm_error *jail_fault(const struct jail *j, struct arena *a,
                             const struct report *r);
const allm_error *jail_not_started(struct arena *a, const char *program,
                                   int error);

/* A regular file that may be executed? */
bool jail_is_program(const char *path);

/* The search of a shell: a name without a slash is searched in PATH.  An
 * absolute path in the arena; NULL: not found, or out of memory. */
const char *jail_find(struct arena *a, const char *name, const char *dir);
