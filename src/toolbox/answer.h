/* answer.h - the end of a tool's process becomes the answer of its run */
#pragma once

#include "proc/process.h"
#include "tool/run.h"
#include "toolbox/describe.h"
#include "toolbox/jail.h"

/* Answer the run by what the process wrote and how it ended. */
void answer_process(struct allm_tool_run *run, struct process *p,
                    const struct jail *j, enum describe_output output);

/* The same for a shell: what it wrote, then its status.  late_ms: it did not
 * end within that time, and was ended; 0: it ended. */
void answer_shell(struct allm_tool_run *run, struct process *p,
                  const struct jail *j, uint32_t late_ms);

/* Answer it: the process could not run, for this reason. */
void answer_fault(struct allm_tool_run *run, const allm_error *why);

/* The fault of a call that the end of the toolbox interrupts. */
extern const allm_error answer_toolbox_freed;

/* Answer it with this failure: its reason and message. */
void answer_failure(struct allm_tool_run *run, const allm_error *why);
