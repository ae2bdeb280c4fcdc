/* servers.h - servers of one's own, and whether they list their models */
#ifndef CLI_SERVERS_H
#define CLI_SERVERS_H

#include "allm.h"

/* Ask each where it is by default, or where its variable says; tell what was
 * found.  Can one of them be asked? */
bool servers_check(void (*report)(bool good, const char *what,
                                  const char *detail));

#endif
