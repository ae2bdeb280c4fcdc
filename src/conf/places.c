/* places.c - where the program's files are */
#include "conf/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *name, *variable, *below_home;
} dirs[] = {
    [PLACE_CONFIG] = { "config", "XDG_CONFIG_HOME", ".config" },
    [PLACE_DATA] = { "data", "XDG_DATA_HOME", ".local/share" },
    [PLACE_STATE] = { "state", "XDG_STATE_HOME", ".local/state" },
    [PLACE_CACHE] = { "cache", "XDG_CACHE_HOME", ".cache" },
};

static const char *absolute_variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value == '/' ? value : NULL;
}

static bool fits_path(int n)
{
    return n > 0 && n < PLACES_PATH;
}

bool places_find(enum place place, const char *name, char path[PLACES_PATH])
{
    const char *all = absolute_variable("ALLM_HOME");
    const char *own = absolute_variable(dirs[place].variable);
    const char *home = absolute_variable("HOME");
    const char *slash = *name ? "/" : "";
    if (all)
        return fits_path(snprintf(path, PLACES_PATH, "%s/%s%s%s", all,
                                  dirs[place].name, slash, name));
    if (own)
        return fits_path(
            snprintf(path, PLACES_PATH, "%s/allm%s%s", own, slash, name));
    return home && fits_path(snprintf(path, PLACES_PATH, "%s/%s/allm%s%s", home,
                                      dirs[place].below_home, slash, name));
}

static bool is_same_folder(const char *a, const char *b)
{
    struct stat one, other;
    return !stat(a, &one) && !stat(b, &other) && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

bool places_is_here(const char *folder)
{
    return is_same_folder(folder, ".");
}

bool places_is_home(const char *folder)
{
    const char *home = absolute_variable("HOME");
    return home && is_same_folder(home, folder);
}

static bool has_entry(const char *folder, const char *name,
                      char path[PLACES_PATH])
{
    struct stat about;
    const char *slash = folder[1] ? "/" : "";
    return fits_path(
               snprintf(path, PLACES_PATH, "%s%s%s", folder, slash, name)) &&
           !lstat(path, &about);
}

bool places_above(const char *name, char path[PLACES_PATH],
                  char folder[PLACES_PATH])
{
    char git[PLACES_PATH];
    if (!getcwd(folder, PLACES_PATH) || *folder != '/')
        return false;
    while (!places_is_home(folder)) {
        if (has_entry(folder, name, path))
            return true;
        if (!folder[1] || has_entry(folder, ".git", git))
            return false;
        char *slash = strrchr(folder, '/');
        slash[slash == folder] = '\0';
    }
    return false;
}

bool places_project(char path[PLACES_PATH], char folder[PLACES_PATH])
{
    return places_above(".allm.json", path, folder);
}
