/*
 * allm_tools.h - external tools: programs in a sandbox of the kernel
 *
 *    1  The sandbox           run one process; what this kernel can confine
 */
#ifndef ALLM_TOOLS_H
#define ALLM_TOOLS_H

#include "allm_executor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------- 1  The sandbox --- */

/*
 * Every external process runs in a sandbox that the kernel enforces: it
 * accesses the files, the network and the variables that it was granted, and
 * nothing else.  docs/sandbox.md describes the parts.  Processes are started
 * by the program allm-warden, which is searched in the path of the variable
 * ALLM_WARDEN, then in ../libexec/allm/ relative to the library, then where it
 * was installed.  Linux only.
 */

/* The modes of the sandbox. */
typedef enum allm_sandbox_mode {
    ALLM_SANDBOX_ON,            /* files, net, privileges, kernel and staying
                                   must be in force, else nothing runs      */
    ALLM_SANDBOX_STRICT,        /* every part must be in force              */
    ALLM_SANDBOX_OFF            /* no sandbox                               */
} allm_sandbox_mode;

/* The flags of allm_sandbox_run(). */
typedef enum allm_sandbox_flags {
    ALLM_SANDBOX_STDIO = 1 << 0       /* stdin, stdout and stderr are the
                                         caller's; else stdin is empty      */
} allm_sandbox_flags;

/*
 * Returns what this kernel can confine: an object with "landlock" (the version
 * of the kernel's interface; 0: none), "on" and "strict" (true: this mode can
 * run processes), "warden" (its path) and "parts", an array of {"part",
 * "first", "second", "required", "note"}.  "first" and "second" are the two
 * walls: without privileges, and with user namespaces; null: that wall has no
 * such part.  The caller frees it.  allm_json_error() returns why there is no
 * report (reason warden_missing).
 */
ALLM_API allm_json *allm_sandbox_report(void);

/*
 * Runs one process and waits until it and all its descendants have ended.
 * argv is terminated by NULL; its first element is searched in PATH.  needs is
 * the reach of the process in addition to the default, as in the description
 * of a tool (docs/sandbox.md), or NULL.  After timeout_ms (0: never) the
 * process gets SIGTERM, two seconds later SIGKILL.
 *
 * Returns an object with "status" (the exit status), "signal" (0: none),
 * "wall" (which part of the sandbox caused the signal, or null), "timed_out",
 * "stdout" and "stderr" (the last 4 KiB; both are null with
 * ALLM_SANDBOX_STDIO) and "missing", an array of the parts of the sandbox that
 * are not in force.  The caller frees it.  allm_json_error() returns why the
 * process did not run: warden_missing, sandbox_unavailable, invalid_tool (the
 * needs), handler_exit.
 */
ALLM_API allm_json *allm_sandbox_run(const allm_json *needs,
                                     allm_sandbox_mode mode,
                                     const char *const *argv, uint32_t flags,
                                     uint32_t timeout_ms);

#ifdef __cplusplus
}
#endif
#endif
