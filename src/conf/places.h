/*
 * places.h - where the program's files are
 *
 *      ALLM_HOME     config  ALLM_HOME/config
 *                    data, state and cache likewise
 *      otherwise     config  $XDG_CONFIG_HOME/allm or ~/.config/allm
 *                    data    $XDG_DATA_HOME/allm   or ~/.local/share/allm
 *                    state   $XDG_STATE_HOME/allm  or ~/.local/state/allm
 *                    cache   $XDG_CACHE_HOME/allm  or ~/.cache/allm
 *
 * A relative path in one of the variables counts as none.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { PLACES_PATH = 4096 }; /* bytes of a path, with its NUL */

enum place { PLACE_CONFIG, PLACE_DATA, PLACE_STATE, PLACE_CACHE };

/* The path of a file in a directory; "" is the directory itself.  False: there
 * is no home directory, or the path is too long. */
bool places_find(enum place place, const char *name, char path[PLACES_PATH]);

/*
 * The project's file: the nearest .allm.json in the current directory or one
 * above, not above the first that has a .git, and never the one in the home
 * directory.  False: there is none.  `folder` is where it is, or where the
 * search ended.
 */
bool places_project(char path[PLACES_PATH], char folder[PLACES_PATH]);

/* The same for another name, such as ".allm/templates". */
bool places_above(const char *name, char path[PLACES_PATH],
                  char folder[PLACES_PATH]);

/* Is it the current directory? */
bool places_is_here(const char *folder);
/* Is it the home directory? */
bool places_is_home(const char *folder);
