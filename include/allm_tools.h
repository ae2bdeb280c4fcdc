/*
 * allm_tools.h - external tools: programs in a sandbox of the kernel
 *
 *    1  The sandbox           run one process; what this kernel can confine
 *    2  Toolboxes             programs and MCP servers as tools
 *    3  Approval              which calls may run
 *    4  Servers               MCP servers of a toolbox
 *    5  Forms                 questions of a server to the user
 */
#ifndef ALLM_TOOLS_H
#define ALLM_TOOLS_H

#include "allm_engine.h"
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
    ALLM_SANDBOX_STDIO = 1 << 0,      /* stdin, stdout and stderr are the
                                         caller's; else stdin is empty      */
    ALLM_SANDBOX_AGENTS = 1 << 1      /* with the variables by which password
                                         managers reach the user's agents   */
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

/* Sections 4 and 5. */
typedef struct allm_elicitation allm_elicitation;
struct allm_tool_progress;

/* The options of a toolbox. */
typedef struct allm_toolbox_opts {
    size_t            size;
    const char       *root;           /* the working directory of the tools;
                                         NULL: the current one              */
    allm_sandbox_mode sandbox;
    uint32_t          max_procs;      /* at once, others wait in line; 0: 16 */
    const allm_json  *rules;          /* section 3; copied                  */
    void            (*approve)(void *ud, allm_approval *root);
                                      /* decides about the calls for which
                                         the rules say "ask"; may be NULL   */
    void             *ud;             /* of these functions                 */
    const char       *state_dir;      /* for files of the toolbox; NULL:
                                         nothing is written                 */
    const allm_clock *clock;          /* NULL: the system's                 */
    const allm_allocator *allocator;
    const struct allm_net_opts *net;  /* of its HTTP client                 */
    const char       *approvals;      /* the file approvals.json; NULL: an
                                         answer "always" is not stored      */
    void            (*elicit)(void *ud, allm_elicitation *root);
                                      /* shows a form of a server; NULL:
                                         servers are told that there are none;
                                         see section 5                      */
    void            (*progress)(void *ud, const struct allm_tool_progress *);
                                      /* a server reports progress; may be
                                         NULL                               */
    const allm_json  *grants;         /* secret paths and variables of keys
                                         that the needs of a program, or the
                                         sandbox of a server, may name, as a
                                         list of texts; copied; NULL: none  */
    allm_trace_fn     trace;          /* what servers log; may be NULL; see
                                         section 4                          */
    void             *trace_ud;
} allm_toolbox_opts;

/*
 * Creates a toolbox; opts may be NULL.  It is reference-counted:
 * allm_toolbox_keep() returns it with one more reference, allm_toolbox_free()
 * drops one, and the last one ends every process and the thread; elicit(),
 * progress() and trace() must not drop that one.  Calls that run then fail;
 * streams that use its executor must not begin another one.
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
 * prints.  In a folder, programs that cannot be added are left out;
 * allm_toolbox_report() names them.  ALLM_ERR_VALIDATION: the description is
 * not valid, or a name is taken; ALLM_ERR_TOOL: the program did not start.
 */
ALLM_API allm_status allm_toolbox_add_program(allm_toolbox *, const char *path);

/*
 * Adds built-in tools: a list of names and groups, as in "code,http_get".
 * They access the files below the root of the toolbox and nothing outside it.
 *
 *      read    read_file, grep, glob, list_directory, tree, file_info
 *      code    those, write_file, edit_file, multi_edit, append_to_file, bash
 *      web     http_get
 *      all     all of them
 *
 * docs/tools-outside.md describes them.  A tool that was added before stays as
 * it is.  ALLM_ERR_VALIDATION: a name is not known, or a program has it.
 */
ALLM_API allm_status allm_toolbox_add_builtin(allm_toolbox *,
                                              const char *names);

/* The toolbox as an executor, which is valid as long as the toolbox. */
ALLM_API const allm_executor *allm_toolbox_executor(allm_toolbox *);

/*
 * Returns an object with "root", "sandbox", "tools": [{"name", "kind",
 * "source", "effect", "timeout_ms", "reach"}], and "failed": [{"source",
 * "reason", "error"}].  "reach" lists what a tool needs beyond the default, as
 * "read PATH", "write PATH", "net", "net PORT", "env NAME" and "server NAME
 * TOOL".  "servers" is [{"name", "state" (off, starting, ready, failed),
 * "revision", "transport" (stdio, http), "sandboxed", "tools", "left_out",
 * "error", "pid"?, "ignored"}]; left_out counts tools whose schema is not
 * valid, ignored counts messages without a meaning.  "missing" lists the parts
 * of the sandbox that were not in force when a tool ran.  The caller frees it.
 */
ALLM_API allm_json *allm_toolbox_report(const allm_toolbox *);

/* ---------------------------------------------------------- 3  Approval --- */

/*
 * Rules decide by the reach of a call, which the kernel enforces, never by its
 * text.  The option `rules` is {"call": [RULE...], "session": [...], "project":
 * [...], "user": [...]}, or an array, which counts as "user".  A rule is
 *
 *      {"tool": "write_*", "reach": ["write src"], "verdict": "auto"}
 *
 * tool      a name, or a pattern with * and ?
 * reach     "read PATH", "write PATH", "net", "net HOST", "env NAME", "server
 *           NAME TOOL"; a rule without it matches every reach.  With "auto" it
 *           must cover all that the call accesses; "ask" and "deny" match if
 *           they have any of it in common.
 * verdict   "auto", "ask" or "deny"
 *
 * A rule that denies wins, on any level.  Otherwise the first rule that matches
 * counts, in the order above, then those of the file `approvals`.  By default
 * reading the root is "auto", everything else that a call needs beyond the
 * default reach is "ask".  With "yes": true in the object, whatever the sandbox
 * confines is "auto"; this is rejected if the sandbox is off.
 *
 * If the rules or the file are not valid, allm_toolbox_error() says why, and
 * every call is denied.
 */

/*
 * The gate that applies the rules: set it as `gate` of the engine or the call.
 * For "ask" it calls approve(), which answers now or later; without that
 * function the call is left.  With ALLM_APPROVAL_SESSION, calls of this tool
 * and reach are "auto" for the rest of the session, with ALLM_APPROVAL_ALWAYS
 * such a rule is added to the file `approvals`.  The gate is valid as long as
 * the toolbox.
 *
 * Without it, the executor of the toolbox applies the rules itself, and "ask"
 * counts as "deny".
 */
ALLM_API const allm_gate *allm_toolbox_gate(allm_toolbox *);

/*
 * The rules in force, in the order in which they are consulted: [{"level",
 * "tool", "reach" (null: every one), "verdict", "date"?, "index"?}].  Those of
 * the file `approvals` have an index, from 1.  The caller frees it.
 */
ALLM_API allm_json *allm_toolbox_rules(const allm_toolbox *);

/* Removes a rule from the file `approvals`.  ALLM_ERR_VALIDATION: there is none
 * with this index, or the file cannot be changed. */
ALLM_API allm_status allm_toolbox_forget(allm_toolbox *, uint32_t index);

/* ----------------------------------------------------------- 4  Servers --- */

/*
 * Adds an MCP server.  The entry is one of an mcpServers file: {"command",
 * "args", "env", "cwd"} or {"type": "http", "url", "headers"}, and our own
 * members (docs/mcp.md); others are ignored.  Variables (${NAME}) must have
 * been replaced.  The server is started at once, in the thread of the toolbox,
 * and its tools are offered as SERVER__TOOL when it has answered.  An entry
 * with a "manifest", as allm_toolbox_request() returns it, offers those tools
 * at once, and its server is started by the first call.  The metadata of a tool
 * has the schema of its results, if there is one, as "output_schema".
 *
 * ALLM_ERR_VALIDATION: the entry is not valid, or the name is taken.  A server
 * that cannot be started is not an error here: see allm_toolbox_wait().
 */
ALLM_API allm_status allm_toolbox_add_server(allm_toolbox *, const char *name,
                                             const allm_json *entry);

/*
 * The trace function of a toolbox receives events of the span "server", in the
 * thread of the toolbox.  "log" is a message of the server: {"server", "level",
 * "logger", "data"}, as the server sent it.  "stderr" is a line of its process:
 * {"server", "line"}.  "ignored" counts what had no meaning so far: {"server",
 * "bad" (not messages), "stray" (answers to no request), "unknown"}.
 */

/*
 * Waits until every server has answered or failed; timeout_ms < 0: without a
 * limit.  ALLM_AGAIN: some have not.  ALLM_ERR_TOOL: a server with "required":
 * true has failed, and allm_toolbox_error() returns why.  Others that failed
 * are in the report.
 */
ALLM_API allm_status allm_toolbox_wait(allm_toolbox *, int timeout_ms);

/*
 * A descriptor that is readable when the state of a server has changed; -1:
 * there is none.  allm_toolbox_wait() clears it.
 */
ALLM_API int allm_toolbox_fd(const allm_toolbox *);

/*
 * Sends one request to a server and waits for the result, at most timeout_ms
 * (0: as long as the server is not silent).  elicit() and progress() must not
 * call it.  A server that is off or has failed is started.  Methods:
 *
 *      tools/list, resources/list, resources/templates/list, prompts/list
 *      tools/call, prompts/get     params: {"name", "arguments"}
 *      resources/read              params: {"uri"}
 *      manifest                    {"revision", "tools", "prompts", ...}
 *
 * Returns the result as in the protocol; lists have all of their pages.  The
 * caller frees it.  allm_json_error() returns why there is none.
 */
ALLM_API allm_json *allm_toolbox_request(allm_toolbox *, const char *server,
                                         const char *method,
                                         const allm_json *params,
                                         uint32_t timeout_ms);

/* A report of progress; borrowed during the call of progress(). */
typedef struct allm_tool_progress {
    size_t      size;
    const char *server;
    const char *tool;                 /* SERVER__TOOL                       */
    const char *call_id;
    double      progress;
    double      total;                /* 0: not known                       */
    const char *message;              /* or NULL                            */
} allm_tool_progress;

/* ------------------------------------------------------------- 5  Forms --- */

/*
 * A form that a server asks the user to fill in.  elicit() is called in the
 * thread of the toolbox and must return quickly.  The form is answered once,
 * from any thread, and then freed; freed without an answer it is cancelled.
 * It may outlive the toolbox.
 */

/* The name of the server, its message, and the schema of the content. */
ALLM_API const char *allm_elicitation_server(const allm_elicitation *);
ALLM_API const char *allm_elicitation_message(const allm_elicitation *);
ALLM_API const allm_json *allm_elicitation_schema(const allm_elicitation *);

/*
 * Sends the content, an object; members that are missing get their defaults.
 * ALLM_ERR_VALIDATION: it does not fit the schema, allm_elicitation_error()
 * returns why, and the form is still open.
 */
ALLM_API allm_status allm_elicitation_accept(allm_elicitation *,
                                             const allm_json *content);
/* The user does not want to answer. */
ALLM_API allm_status allm_elicitation_decline(allm_elicitation *);
/*
 * The user answers later: the form is cancelled, and the call that it is about
 * stops the chat with the message as its question.
 */
ALLM_API allm_status allm_elicitation_later(allm_elicitation *);
/* Why the last answer was rejected, or NULL. */
ALLM_API const allm_error *allm_elicitation_error(const allm_elicitation *);
/* Frees it. */
ALLM_API void allm_elicitation_free(allm_elicitation *root);

#ifdef __cplusplus
}
#endif
#endif
