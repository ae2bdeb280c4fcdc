/* provider_models.h - list the models that a provider or a server offers */
#pragma once

#include "cli/model_table.h"

/* List the models of "PROVIDER:" that match.  Returns the exit code. */
int provider_models_list(const char *provider, const allm_catalog *catalog,
                         const struct model_filter *filter, bool json);
