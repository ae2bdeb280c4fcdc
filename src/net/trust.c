/*
 * trust.c - where the CA certificates are that vouch for servers
 *
 * Parsing a bundle of 145 certificates takes 20 ms, which is most of what a
 * first request costs.  A hashed directory costs a look-up for each certificate
 * of a chain.  Both are the system's, and libcurl and OpenSSL by default trust
 * what is in either; so a server is trusted if the directory vouches for it or,
 * as before, the bundle.  To look into the directory takes 0.1 ms, and is left
 * for the first connection that needs certificates.
 */
#include "net/trust.h"

#include <curl/curl.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static const char *from_environment(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* Eight hexadecimal digits, a dot, and a number. */
static bool is_hashed_name(const char *name)
{
    size_t hex = strspn(name, "0123456789abcdef");
    if (hex != 8 || name[8] != '.')
        return false;
    size_t digits = strspn(name + 9, "0123456789");
    return digits && !name[9 + digits];
}

/* False also if the directory is missing or cannot be read. */
static bool has_hashed_names(const char *path)
{
    const struct dirent *entry;
    bool found = false;
    DIR *dir = opendir(path);
    if (!dir)
        return false;
    while (!found && (entry = readdir(dir)))
        found = is_hashed_name(entry->d_name);
    closedir(dir);
    return found;
}

/* The directory of the system, or the one that its bundle is in; in the
 * arena. */
static const char *system_dir(const struct trust_system *system,
                              struct arena *a)
{
    if (system->dir || !system->bundle)
        return arena_text(a, system->dir);
    const char *slash = strrchr(system->bundle, '/');
    if (!slash || slash == system->bundle)
        return NULL;
    return arena_copy(a, (struct slice){ system->bundle,
                                         (size_t)(slash - system->bundle) });
}

struct trust_system trust_system(void)
{
    const curl_version_info_data *v = curl_version_info(CURLVERSION_NOW);
    const char *tls = v->ssl_version ? v->ssl_version : "";
    return (struct trust_system){
        .bundle = v->cainfo,
        .dir = v->capath,
        .by_hash = !strncmp(tls, "OpenSSL/", 8) ||
                   !strncmp(tls, "LibreSSL/", 9),
    };
}

bool trust_find(struct trust *t, struct arena *a, const char *ca_file,
                const struct trust_system *system)
{
    *t = (struct trust){ .file = arena_text(a, ca_file) };
    if (!ca_file) {
        t->file = arena_text(a, from_environment("SSL_CERT_FILE"));
        t->dir = arena_text(a, from_environment("SSL_CERT_DIR"));
    }
    if (a->broken || t->file || t->dir)
        return !a->broken;
    t->file = arena_text(a, system->bundle);
    t->unread = system->by_hash ? system_dir(system, a) : NULL;
    return !a->broken;
}

bool trust_read_dir(struct trust *t)
{
    const char *dir = t->unread;
    t->unread = NULL;
    if (!dir || !has_hashed_names(dir))
        return false;
    *t = (struct trust){ .dir = dir, .bundle = t->file };
    return true;
}

bool trust_fall_back(struct trust *t)
{
    if (!t->bundle)
        return false;
    *t = (struct trust){ .file = t->bundle };
    return true;
}
