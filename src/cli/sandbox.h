/* sandbox.h - what the kernel of this machine can confine */
#pragma once

#include "cli/flags.h"

#include "allm.h"

/* What a process may access, from flags. */
struct sandbox_needs {
    struct flag_list read, write;
    bool net;
};

/* The object "needs" or "sandbox"; the caller frees it. */
allm_json *sandbox_needs_json(const struct sandbox_needs *n);

/* Print each part of the sandbox as a finding. */
void sandbox_check(void);
