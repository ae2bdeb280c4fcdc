/* sandbox.h - what the kernel of this machine can confine */
#ifndef CLI_SANDBOX_H
#define CLI_SANDBOX_H

#include <stdbool.h>

/* Print each part of the sandbox as a finding. */
void sandbox_check(void);

#endif
