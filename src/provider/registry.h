/* registry.h - adapters by name */
#ifndef PROVIDER_REGISTRY_H
#define PROVIDER_REGISTRY_H

#include "allm_ext.h"
#include "base/slice.h"

/* The adapter that a name stands for: "fake", or the model library's module
 * name ("Elixir.ALLM.Providers.Fake").  NULL: unknown. */
const allm_adapter *registry_adapter(struct slice name);

#endif
