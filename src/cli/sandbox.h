/* sandbox.h - what the kernel of this machine can confine */
#ifndef CLI_SANDBOX_H
#define CLI_SANDBOX_H

#include <stdbool.h>

/* Report each part of the sandbox; for doctor. */
void sandbox_check(void (*report)(bool good, const char *what,
                                  const char *detail));

#endif
