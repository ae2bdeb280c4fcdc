/*
 * registry.c - providers by name: facts, one row each
 *
 * The module names are those that documents written by the Elixir library
 * carry.
 */
#include "provider/registry.h"

#include "provider/fake.h"

static const struct registry_row rows[] = {
    { .name = "fake",
      .module = "Elixir.ALLM.Providers.Fake",
      .adapter = &fake_adapter },
};

const struct registry_row *registry_find(struct slice name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (slice_is(name, rows[i].name) ||
            (rows[i].module && slice_is(name, rows[i].module)))
            return &rows[i];
    return NULL;
}

const struct registry_row *registry_at(size_t index)
{
    return index < sizeof rows / sizeof *rows ? &rows[index] : NULL;
}
