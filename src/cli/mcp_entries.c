/* mcp_entries.c - the entries of MCP servers: settings, files, manifests */
#include "cli/mcp_entries.h"

#include "cli/print.h"
#include "cli/reword.h"
#include "cli/settings.h"
#include "conf/expand.h"
#include "conf/file.h"
#include "conf/member.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool mcp_entries_is_name(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX"
                            "YZ0123456789_-");
    return n && n <= 64 && !name[n];
}

/* ---------------------------------------------------------------- files --- */

/* {NAME: entry} with another member; frees the object. */
static allm_json *set_member(allm_json *object, const char *name,
                             const allm_json *value)
{
    allm_json *more = allm_json_set(object, name, value);
    allm_json_free(object);
    return more;
}

allm_json *mcp_entries_expand(const char *path, const char *name,
                              const allm_json *entry)
{
    struct bytes text = { NULL, 0, 0 };
    char variable[64] = "";
    enum expand_result result = expand_json(&text, entry, true, variable);
    allm_json *all = result == EXPAND_DONE
                         ? allm_json_parse(bytes_string(&text), text.len, NULL)
                         : NULL;
    bytes_release(&text);
    if (result == EXPAND_UNSET)
        print_note("%.500s: the server %.100s needs the variable %s, which is "
                   "not set; it is left out",
                   path, name, variable);
    else if (result != EXPAND_DONE)
        print_note("%.500s: the server %.100s has a \"${\" that does not end; "
                   "it is left out",
                   path, name);
    return all;
}

static allm_json *expand_entries(const char *path, const allm_json *servers)
{
    allm_json *all = allm_json_parse("{}", 2, NULL);
    for (const allm_json *k = NULL; (k = allm_json_next(servers, k));) {
        const char *name = allm_json_text(k, NULL);
        allm_json *entry = mcp_entries_expand(path, name, allm_json_value(k));
        if (entry)
            all = set_member(all, name, entry);
        allm_json_free(entry);
    }
    return all;
}

static allm_json *parse_entries(const char *path, const struct bytes *text)
{
    allm_json *file =
        allm_json_parse(bytes_string(text), text->len,
                        ALLM(json_opts, .flags = ALLM_JSON_COMMENTS));
    const allm_error *error = allm_json_error(file);
    const allm_json *servers = allm_json_get(file, "mcpServers");
    if (!servers)
        servers = allm_json_get(file, "servers");
    allm_json *all = NULL;
    if (error)
        print_fault("%.500s: %.*s", path, reword_length(error->message),
                    error->message);
    else if (allm_json_type_of(servers) != ALLM_JSON_OBJECT)
        print_fault("%.500s has no object \"mcpServers\"", path);
    else
        all = expand_entries(path, servers);
    allm_json_free(file);
    return all;
}

allm_json *mcp_entries_load(const char *path)
{
    struct bytes text = { NULL, 0, 0 };
    int error = file_load(path, 0, &text);
    allm_json *all = NULL;
    if (error)
        print_fault("cannot read %.500s: %s", path, file_says(error));
    else
        all = parse_entries(path, &text);
    bytes_release(&text);
    return all;
}

/* ------------------------------------------------------------- settings --- */

/* All members of an object into another one, which is freed. */
static allm_json *set_members(allm_json *all, const allm_json *more)
{
    for (const allm_json *k = NULL; (k = allm_json_next(more, k));)
        if (allm_json_type_of(allm_json_value(k)) == ALLM_JSON_OBJECT)
            all = set_member(all, allm_json_text(k, NULL), allm_json_value(k));
    return all;
}

/* The servers of the files that a layer names. */
static allm_json *add_files(allm_json *all, const allm_json *files)
{
    char path[PLACES_PATH];
    for (const allm_json *f = NULL; (f = allm_json_next(files, f));) {
        const char *word = allm_json_text(f, NULL);
        allm_json *more = word && settings_path("mcp.config", word, path)
                              ? mcp_entries_load(path)
                              : NULL;
        all = set_members(all, more);
        allm_json_free(more);
    }
    return all;
}

/* The servers of a project; those that would read a key are left out. */
static allm_json *add_projects(allm_json *all, const allm_json *servers)
{
    if (allm_json_get(servers, "config"))
        print_note("mcp.config of a project is not read: these files could "
                   "change after you trusted it; .mcp.json is");
    for (const allm_json *k = NULL; (k = allm_json_next(servers, k));) {
        const allm_json *entry = allm_json_value(k);
        bool reads_key = allm_json_get(entry, "auth") != NULL;
        if (reads_key)
            print_note("the server %.100s of the project is left out: its "
                       "\"auth\" reads a key, which only your own file may do",
                       allm_json_text(k, NULL));
        else if (allm_json_type_of(entry) == ALLM_JSON_OBJECT)
            all = set_member(all, allm_json_text(k, NULL), entry);
    }
    return all;
}

/* The servers of --mcp-config; or NULL. */
static allm_json *added;

bool mcp_entries_add(const char *path)
{
    allm_json *more = mcp_entries_load(path);
    bool good = more != NULL;
    added = added ? set_members(added, more) : more;
    if (added != more)
        allm_json_free(more);
    return good;
}

/* An entry replaces one of a layer below as a whole: half of it would send a
 * header of the user to an address of a project. */
allm_json *mcp_entries_all(void)
{
    const struct config *c = settings_config();
    allm_json *all = allm_json_parse("{}", 2, NULL);
    for (size_t i = 0; i < c->count; i++) {
        const struct config_layer *l = &c->layers[i];
        const allm_json *servers = allm_json_get(l->value, "mcp");
        if (l->is_project) {
            all = add_projects(all, servers);
            continue;
        }
        all = add_files(all, allm_json_get(servers, "config"));
        all = set_members(all, servers);
    }
    return set_members(all, added);
}

allm_json *mcp_entries_find(const char *name)
{
    allm_json *all = mcp_entries_all();
    const allm_json *entry = allm_json_get(all, name);
    allm_json *own = entry ? allm_json_copy(entry) : NULL;
    allm_json_free(all);
    return own ? mcp_entries_with_manifest(name, own) : NULL;
}

/* ------------------------------------------------------------ manifests --- */

static bool manifest_path(const char *name, char path[PLACES_PATH])
{
    char file[96];
    snprintf(file, sizeof file, "mcp/%.64s.json", name);
    return mcp_entries_is_name(name) && places_find(PLACE_DATA, file, path);
}

static void digest_entry(const allm_json *entry, char hex[65])
{
    size_t len = 0;
    allm_text *text = allm_json_write(entry, 0);
    const char *bytes = allm_text_bytes(text, &len);
    allm_sha256(bytes ? bytes : "", bytes ? len : 0, hex);
    allm_text_free(text);
}

allm_json *mcp_entries_with_manifest(const char *name, allm_json *entry)
{
    char path[PLACES_PATH], hex[65];
    struct bytes text = { NULL, 0, 0 };
    if (!manifest_path(name, path) || file_load(path, 0, &text)) {
        bytes_release(&text);
        return entry;
    }
    allm_json *file = allm_json_parse(bytes_string(&text), text.len, NULL);
    const char *sum = member_read(file, "entry");
    const allm_json *manifest = allm_json_get(file, "manifest");
    digest_entry(entry, hex);
    if (sum && manifest && !strcmp(sum, hex))
        entry = set_member(entry, "manifest", manifest);
    allm_json_free(file);
    bytes_release(&text);
    return entry;
}

static allm_json *wrap_manifest(const allm_json *entry,
                                const allm_json *manifest)
{
    char hex[65];
    digest_entry(entry, hex);
    allm_json_build *b = member_new_object();
    member_text_n(b, "entry", hex, 64);
    member_value(b, "manifest", manifest);
    return member_done(b);
}

bool mcp_entries_keep(const char *name, const allm_json *entry,
                      const allm_json *manifest)
{
    char path[PLACES_PATH];
    if (!manifest_path(name, path))
        return false;
    if (!manifest)
        return !unlink(path);
    allm_json *file = wrap_manifest(entry, manifest);
    bool stored = !file_store_json(path, file);
    allm_json_free(file);
    return stored;
}
