/* offered.h - what a provider or a server says that it offers */
#ifndef CLI_OFFERED_H
#define CLI_OFFERED_H

#include "cli/model_table.h"

/* List the models of "PROVIDER:" whose names fit.  Gives the exit code. */
int offered_list(const char *provider, const allm_catalog *catalog,
                 const struct model_filter *filter, bool json);

#endif
