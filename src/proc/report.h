/* report.h - what a warden reports about its process: bytes in, facts out */
#pragma once

#include "base/arena.h"
#include "base/slice.h"

enum report_kind {
    REPORT_NONE,                /* nothing is known yet */
    REPORT_ENDED,               /* the process ran: status or signal */
    REPORT_REFUSED,             /* a part of the sandbox is missing: subject */
    REPORT_FAILED               /* it did not start: subject is the stage */
};

/* { 0 } is valid. */
struct report {
    enum report_kind kind;
    bool ended;                 /* the last line came; nothing is left */
    int pid;                    /* of the process, or of its init */
    int status, signal;
    int error;                  /* errno of REFUSED and FAILED */
    char subject[24];           /* "files"; "exec", "dir" */
    char path[512];             /* that failed, cut */
    char missing[128];          /* parts not in force: " mounts pids" */
    int64_t cpu_us, rss_kib;
    char line[1024];            /* that has not ended yet */
    size_t len;
};

/* Add bytes from the warden.  What is not understood is ignored. */
void report_add(struct report *r, struct slice bytes);
