/* toolbox_names.h - the names of tools that the user has */
#pragma once

#include "allm.h"
#include "conf/places.h"

/* The folders with the user's tools, those of tools.dirs; false: no more. */
bool toolbox_names_folder(size_t index, char path[PLACES_PATH]);

/* Is it a built-in tool, or a group of them? */
bool toolbox_names_builtin(const char *name);

/* The program of a name in these folders; false: there is none. */
bool toolbox_names_program(const char *name, char path[PLACES_PATH]);

/* Call the function for each name that -T takes: groups and built-in tools,
 * programs, servers. */
typedef void (*toolbox_names_fn)(void *ud, const char *name, const char *kind);
void toolbox_names_each(toolbox_names_fn fn, void *ud);
