/*
 * registry.c - adapters by name
 *
 * One row an adapter.  The module names are those that documents written by
 * the Elixir library carry.
 */
#include "provider/registry.h"

#include "provider/fake.h"

static const struct {
    const char *name, *module;
    const allm_adapter *adapter;
} rows[] = {
    { "fake", "Elixir.ALLM.Providers.Fake", &fake_adapter },
};

const allm_adapter *registry_adapter(struct slice name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (slice_is(name, rows[i].name) || slice_is(name, rows[i].module))
            return rows[i].adapter;
    return NULL;
}
