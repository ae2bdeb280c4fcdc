/*
 * allm_tools.h - external tools: programs in a sandbox of the kernel
 *
 *    1  The sandbox           run one process; what this kernel can confine
 *    2  Toolboxes             programs as tools
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

/* --------------------------------------------------------- 2  Toolboxes --- */

/*
 * A toolbox is all external tools as one object.  It is an executor: give
 * allm_toolbox_executor() to an engine or a call, and the model may call its
 * tools.  Each call is a process in the sandbox; it is started and read by one
 * thread of the toolbox, so no thread of the caller waits for it.
 * docs/tools-outside.md shows how to write a tool.
 *
 *      allm_toolbox *box = allm_toolbox_new(NULL);
 *      allm_toolbox_add_program(box, "tools/weather");
 *      allm_engine *engine = allm_engine_new(
 *          ALLM(engine_opts, .executor = allm_toolbox_executor(box)));
 */
typedef struct allm_toolbox allm_toolbox;

/* The options of a toolbox. */
typedef struct allm_toolbox_opts {
    size_t            size;
    const char       *root;           /* the working directory of the tools;
                                         NULL: the current one              */
    allm_sandbox_mode sandbox;
    uint32_t          max_procs;      /* at once, others wait in line; 0: 16 */
    const allm_allocator *allocator;
} allm_toolbox_opts;

/*
 * Creates a toolbox; opts may be NULL.  It is reference-counted:
 * allm_toolbox_keep() returns it with one more reference, allm_toolbox_free()
 * drops one, and the last one ends every process and the thread.  Calls that
 * run then fail; streams that use its executor must not begin another one.
 * allm_toolbox_error() returns the last error, of the constructor or of an add
 * function, or NULL.  After fork(), the child may only free it, which does
 * nothing there.
 */
ALLM_API allm_toolbox *allm_toolbox_new(const allm_toolbox_opts *);
ALLM_API allm_toolbox *allm_toolbox_keep(allm_toolbox *);
ALLM_API void allm_toolbox_free(allm_toolbox *);
ALLM_API const allm_error *allm_toolbox_error(const allm_toolbox *);

/*
 * Adds the tools of a program, or of all programs in a folder.  A program is
 * described by the file PROGRAM.json, or by what PROGRAM --allm-describe
 * prints.  Of a folder, programs that cannot be added are left out;
 * allm_toolbox_report() names them.  ALLM_ERR_VALIDATION: the description is
 * not valid, or a name is taken; ALLM_ERR_TOOL: the program did not start.
 */
ALLM_API allm_status allm_toolbox_add_program(allm_toolbox *, const char *path);

/* The toolbox as an executor, which is valid as long as the toolbox. */
ALLM_API const allm_executor *allm_toolbox_executor(allm_toolbox *);

/*
 * Returns an object with "root", "sandbox", "tools": [{"name", "kind",
 * "source", "effect", "timeout_ms", "reach"}], and "failed": [{"source",
 * "reason", "error"}].  "reach" lists what a tool needs beyond the default, as
 * "read PATH", "write PATH", "net", "net PORT" and "env NAME".  The caller
 * frees it.
 */
ALLM_API allm_json *allm_toolbox_report(const allm_toolbox *);

#ifdef __cplusplus
}
#endif
#endif
