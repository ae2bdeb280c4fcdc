/* session.c - conversations that are kept in a file: -S FILE */
#include "cli/session.h"

#include "cli/exit.h"
#include "cli/print.h"

int session_refuse(void)
{
    print_fault("-S FILE is not there yet: this version keeps no sessions");
    return END_USAGE;
}
