/* catalog.c - open the catalog of models, and compute its age */
#include "cli/catalog.h"

#include "cli/input.h"
#include "cli/print.h"
#include "conf/member.h"
#include "conf/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* The path of the user's catalog; false: there is none. */
static bool find_user_catalog(char path[PLACES_PATH])
{
    const char *own = getenv("ALLM_CATALOG");
    struct stat about;
    if (own)
        return (size_t)snprintf(path, PLACES_PATH, "%s", own) < PLACES_PATH;
    return places_find(PLACE_CONFIG, "catalog.json", path) &&
           !stat(path, &about);
}

/* Only regular files are accepted: reading a pipe could block. */
static allm_json *read_user_catalog(const char *path)
{
    struct stat about;
    if (!stat(path, &about) && !S_ISREG(about.st_mode)) {
        print_fault("the catalog %.500s is not a regular file", path);
        return NULL;
    }
    return input_json(path);
}

static allm_catalog *open_user_catalog(const char *path)
{
    allm_json *document = read_user_catalog(path);
    allm_catalog *c = document ? allm_catalog_over(document) : NULL;
    const allm_error *error = document ? allm_catalog_error(c) : NULL;
    allm_json_free(document);
    if (!error)
        return c;
    print_fault("%.500s: %s", path, error->message);
    allm_catalog_free(c);
    return NULL;
}

allm_catalog *catalog_open(void)
{
    char path[PLACES_PATH];
    if (find_user_catalog(path))
        return open_user_catalog(path);
    allm_catalog *c = allm_catalog_new(NULL);
    if (!c)
        print_fault("%s", allm_catalog_error(c)->message);
    return c;
}

bool catalog_has(const allm_catalog *catalog, const char *provider)
{
    const allm_model_ref *m;
    for (size_t i = 0; (m = allm_catalog_at(catalog, i)); i++)
        if (m->provider && !strcmp(m->provider, provider))
            return true;
    return false;
}

/* Days from 1970-01-01 to a date in the Gregorian calendar. */
static long days_since_1970(long year, long month, long day)
{
    year -= month <= 2;
    long era = year / 400;
    long of_era = year - era * 400;
    long of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year -
           719468;
}

/* Parse "2026-11-16"; false: it is not a date. */
static bool parse_date(const char *text, long *year, long *month, long *day)
{
    char *end;
    if (!text || strspn(text, "0123456789-") != 10 || strlen(text) != 10)
        return false;
    *year = strtol(text, &end, 10);
    if (end != text + 4)
        return false;
    *month = strtol(text + 5, &end, 10);
    if (end != text + 7)
        return false;
    *day = strtol(text + 8, &end, 10);
    return end == text + 10;
}

long catalog_age(const allm_catalog *catalog, char day[11])
{
    long year, month, date;
    allm_json *about = allm_catalog_summary(catalog);
    const char *text = member_read(about, "updated");
    bool known = parse_date(text, &year, &month, &date);
    snprintf(day, 11, "%s", known ? text : "");
    allm_json_free(about);
    if (!known)
        return -1;
    long age = (long)(time(NULL) / 86400) - days_since_1970(year, month, date);
    return age > 0 ? age : 0;
}
