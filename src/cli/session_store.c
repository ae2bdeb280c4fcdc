/* session_store.c - the store of sessions: --store, ALLM_STORE, or a file */
#include "cli/session_store.h"

#include "cli/exit.h"
#include "cli/print.h"
#include "cli/settings.h"
#include "conf/file.h"
#include "conf/places.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char scheme[] = "sqlite:";

/* Write the URI of the file; false: there is no place for it. */
static bool write_default(char *uri, size_t size)
{
    char path[PLACES_PATH];
    if (!places_find(PLACE_DATA, "sessions.db", path))
        return false;
    int n = snprintf(uri, size, "%s%s", scheme, path);
    return n > 0 && (size_t)n < size;
}

/* The URI to use: the given one, or one in `text`; NULL: there is none. */
static const char *choose_uri(const char *uri, char *text, size_t size)
{
    if (!uri)
        uri = getenv("ALLM_STORE");
    if (!uri || !*uri)
        uri = settings_text("store");
    if (uri && *uri)
        return uri;
    return write_default(text, size) ? text : NULL;
}

static bool make_folders(const char *path)
{
    char folder[PLACES_PATH];
    int error = file_folders(path, folder);
    return !error || print_fault("cannot create %s for the store: %s", folder,
                                 strerror(error));
}

bool session_store_exists(const char *uri)
{
    char text[4096];
    const char *chosen = choose_uri(uri, text, sizeof text);
    size_t n = strlen(scheme);
    return chosen && (strncmp(chosen, scheme, n) != 0 || !chosen[n] ||
                      !access(chosen + n, F_OK) || errno != ENOENT);
}

int session_store_fail(const allm_error *error)
{
    print_fault("%s",
                error && error->message ? error->message : "out of memory");
    return error ? exit_of_error(error) : END_FAILED;
}

int session_store_open(allm_store **store, const char *uri, uint32_t flags,
                       uint32_t lease_ms)
{
    char text[4096];
    const char *chosen = choose_uri(uri, text, sizeof text);
    *store = NULL;
    if (!chosen)
        return print_misuse(
            "there is no place for the store: set HOME, or name one with "
            "--store URI or ALLM_STORE");
    if (chosen == text && flags && !session_store_exists(uri))
        return print_misuse(
            "there are no sessions yet: %s does not exist (allm -S NAME begins "
            "one)",
            text + strlen(scheme));
    if (chosen == text && !flags && !make_folders(text + strlen(scheme)))
        return END_USAGE;
    *store = allm_store_open(chosen, ALLM(store_opts, .flags = flags,
                                          .lease_ms = lease_ms));
    const allm_error *error = allm_store_error(*store);
    return *store && !error ? END_DONE : session_store_fail(error);
}

int session_store_schema(const char *uri)
{
    char text[4096];
    const char *chosen = choose_uri(uri, text, sizeof text);
    allm_store *store = allm_store_open(
        chosen ? chosen : scheme,
        ALLM(store_opts, .flags = ALLM_STORE_READ | ALLM_STORE_NO_CREATE));
    const allm_error *error = allm_store_error(store);
    const char *schema = allm_store_schema(store);
    int code = END_DONE;
    if (error && !*schema)
        code = session_store_fail(error);
    print_text(schema);
    allm_store_free(store);
    return code;
}

/* A password is in "//USER:PASSWORD@", or an option after "?". */
void session_store_describe(const char *uri, char *text, size_t size)
{
    char own[4096];
    const char *chosen = choose_uri(uri, own, sizeof own);
    const char *slashes = chosen ? strstr(chosen, "://") : NULL;
    if (!slashes) {
        bool plain = chosen && (!strncmp(chosen, scheme, strlen(scheme)) ||
                                !strncmp(chosen, "memory:", 7));
        snprintf(text, size, "%s",
                 plain    ? chosen
                 : chosen ? "not the URI of a store"
                          : "none: HOME is not set");
        return;
    }
    const char *at = strrchr(slashes, '@');
    const char *colon =
        at ? memchr(slashes + 3, ':', (size_t)(at - slashes - 3)) : NULL;
    const char *rest = colon ? at : slashes;
    int before = (int)((colon ? colon : slashes) - chosen);
    snprintf(text, size, "%.*s%s%.*s%s", before, chosen, colon ? ":***" : "",
             (int)strcspn(rest, "?"), rest, strchr(rest, '?') ? "?..." : "");
}
