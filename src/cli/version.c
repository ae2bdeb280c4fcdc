/* version.c - allm version: print the versions of program and library */
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/print.h"

#include "allm.h"

static int run_version_command(int argc, char **argv)
{
    if (!flags_read_all("version", NULL, NULL, argc, argv))
        return END_USAGE;
    print_format("allm %d.%d.%d (liballm %s)\n", ALLM_VERSION_MAJOR,
                 ALLM_VERSION_MINOR, ALLM_VERSION_PATCH, allm_version());
    return END_DONE;
}

const struct command version_command = {
    .name = "version",
    .usage = "",
    .summary = "print the versions of the program and of the library",
    .examples = "allm version\n",
    .group = GROUP_SETUP,
    .run = run_version_command,
};
