/* keyring.c - the keys that the user has stored: CONFIG/keys.json */
#include "conf/keyring.h"

#include "conf/file.h"
#include "conf/member.h"
#include "conf/places.h"
#include "term/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

void keyring_wipe(struct bytes *key)
{
    volatile char *at = key->ptr;
    for (size_t i = 0; i < key->len; i++)
        at[i] = 0;
    bytes_release(key);
}

/* The names of variables with keys, each with a NUL. */
static struct bytes variables;

/* Remember the name, up to the end of a text or a brace. */
static void note_variable(const char *name)
{
    size_t n = strcspn(name, ":}");
    bytes_add(&variables, name, n);
    bytes_byte(&variables, '\0');
}

void keyring_note(const allm_json *value)
{
    const char *text = allm_json_text(value, NULL);
    bool object = allm_json_type_of(value) == ALLM_JSON_OBJECT;
    if (text && !strncmp(text, "env:", 4))
        note_variable(text + 4);
    for (; text && (text = strstr(text, "${")); text += 2)
        note_variable(text + 2);
    for (const allm_json *v = NULL; (v = allm_json_next(value, v));)
        keyring_note(object ? allm_json_value(v) : v);
}

allm_json *keyring_load(int *error)
{
    char path[PLACES_PATH];
    struct bytes text = { NULL, 0, 0 };
    allm_json *all = NULL;
    *error = 0;
    if (!places_find(PLACE_CONFIG, "keys.json", path))
        return NULL;
    *error = file_load(path, FILE_PRIVATE, &text);
    if (!*error) {
        all = allm_json_parse(bytes_string(&text), text.len, NULL);
        if (allm_json_type_of(all) != ALLM_JSON_OBJECT)
            *error = EBADMSG;
    }
    keyring_wipe(&text);
    if (*error) {
        allm_json_free(all);
        all = NULL;
    }
    if (*error == ENOENT || *error == ENOTDIR)
        *error = 0;
    keyring_note(all);
    return all;
}

static allm_json *make_entry(const char *key, const char *from)
{
    if (!key && !from)
        return NULL;
    allm_json_build *b = member_new_object();
    member_text(b, key ? "key" : "from", key ? key : from);
    return member_done(b);
}

int keyring_set(const char *name, const char *key, const char *from)
{
    char path[PLACES_PATH];
    int error;
    if (!places_find(PLACE_CONFIG, "keys.json", path))
        return EXDEV;
    int lock = file_lock(path, key || from);
    allm_json *all = keyring_load(&error);
    if (!all)
        all = allm_json_parse("{}", 2, NULL);
    allm_json *entry = make_entry(key, from);
    allm_json *changed = allm_json_set(all, name, entry);
    if (!error)
        error = file_store_json(path, changed);
    allm_json_free(changed);
    allm_json_free(entry);
    allm_json_free(all);
    if (lock >= 0)
        close(lock);
    return error;
}

bool keyring_is_reference(const char *text)
{
    return !strncmp(text, "env:", 4) || !strncmp(text, "file:", 5) ||
           !strncmp(text, "cmd:", 4);
}

/* The first line, without white space around it. */
static enum keyring_result take_line(const char *text, struct bytes *key)
{
    text += strspn(text, " \t");
    size_t n = strcspn(text, "\r\n");
    while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
        n--;
    bytes_add(key, text, n);
    return n ? KEYRING_FOUND : KEYRING_EMPTY;
}

/* The first line that a shell command prints; it may take ten seconds. */
static enum keyring_result ask_command(const char *command, struct bytes *key)
{
    const char *const argv[] = { "/bin/sh", "-c", command, NULL };
    int64_t status = 1, signal = 1;
    allm_json *result = allm_sandbox_run(NULL, ALLM_SANDBOX_OFF, argv,
                                         ALLM_SANDBOX_AGENTS, 10000);
    const char *text = member_read(result, "stdout");
    allm_json_int64(allm_json_get(result, "status"), &status);
    allm_json_int64(allm_json_get(result, "signal"), &signal);
    bool late = allm_json_true(allm_json_get(result, "timed_out"));
    enum keyring_result r = !text || status || signal || late
                                ? KEYRING_COMMAND
                                : take_line(text, key);
    allm_json_free(result);
    return r;
}

/* A command runs once; its key is kept as long as the process lives. */
static enum keyring_result run_command(const char *command, struct bytes *key)
{
    enum { MOST = 16 };
    static struct {
        char *command;
        struct bytes key;
    } known[MOST];
    size_t i = 0;
    while (i < MOST && known[i].command &&
           strcmp(known[i].command, command) != 0)
        i++;
    if (i == MOST || !known[i].command) {
        enum keyring_result r = ask_command(command, key);
        if (i < MOST && r == KEYRING_FOUND) {
            known[i].command = term_copy(command, strlen(command));
            bytes_add(&known[i].key, key->ptr, key->len);
        }
        return r;
    }
    bytes_add(key, known[i].key.ptr, known[i].key.len);
    return KEYRING_FOUND;
}

enum keyring_result keyring_follow(const char *from, struct bytes *key)
{
    if (!strncmp(from, "env:", 4)) {
        const char *value = getenv(from + 4);
        return value ? take_line(value, key) : KEYRING_EMPTY;
    }
    if (!strncmp(from, "cmd:", 4))
        return run_command(from + 4, key);
    struct bytes text = { NULL, 0, 0 }, path = { NULL, 0, 0 };
    const char *home = getenv("HOME");
    bool below_home = !strncmp(from + 5, "~/", 2) && home;
    bytes_format(&path, "%s%s", below_home ? home : "",
                 from + (below_home ? 6 : 5));
    enum keyring_result r = KEYRING_EMPTY;
    if (!file_load(path.ptr, 0, &text))
        r = take_line(bytes_string(&text), key);
    keyring_wipe(&text);
    bytes_release(&path);
    return r;
}

/* With `asks`, a command is run. */
static enum keyring_result find_key(const char *name, struct bytes *key,
                                    bool asks)
{
    int error;
    allm_json *all = keyring_load(&error);
    const allm_json *entry = allm_json_get(all, name);
    const char *own = member_read(entry, "key");
    const char *from = member_read(entry, "from");
    bool waits = from && !strncmp(from, "cmd:", 4) && !asks;
    enum keyring_result r = error   ? KEYRING_UNUSABLE
                            : own   ? take_line(own, key)
                            : waits ? KEYRING_FOUND
                            : from  ? keyring_follow(from, key)
                                    : KEYRING_NONE;
    allm_json_free(all);
    return r;
}

enum keyring_result keyring_find(const char *name, struct bytes *key)
{
    return find_key(name, key, true);
}

bool keyring_has(const char *name)
{
    struct bytes key = { NULL, 0, 0 };
    enum keyring_result r = !strncmp(name, "cmd:", 4) ? KEYRING_FOUND
                            : keyring_is_reference(name)
                                ? keyring_follow(name, &key)
                                : find_key(name, &key, false);
    keyring_wipe(&key);
    return r == KEYRING_FOUND;
}

static bool is_variable(const char *name)
{
    return !name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

bool keyring_looks_secret(const char *name)
{
    static const char *const begins[] = { "sk-",  "sk_", "AIza", "gsk_",
                                          "xai-", "hf_", "ghp_", "Bearer " };
    bool env = !strncmp(name, "env:", 4);
    name += env ? 4 : 0;
    if (env ? is_variable(name) : keyring_is_reference(name))
        return false;
    size_t n = strlen(name), digits = 0;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (!strncmp(name, begins[i], strlen(begins[i])))
            return true;
    for (size_t i = 0; i < n; i++)
        digits += name[i] >= '0' && name[i] <= '9';
    return n > 40 || (n >= 20 && digits >= 3);
}

bool keyring_names_secret(const char *name, size_t len)
{
    static const char *const parts[] = { "key",   "token", "secret",
                                         "passw", "auth",  "header" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (size_t at = 0, n = strlen(parts[i]); at + n <= len; at++)
            if (!strncasecmp(name + at, parts[i], n))
                return true;
    return false;
}

/* --------------------------------------------------------- variables --- */

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

static bool is_key_of_provider(const char *name)
{
    bool found = false;
    allm_json *list = allm_registry_list();
    for (const allm_json *row = NULL;
         !found && (row = allm_json_next(list, row));) {
        allm_text *variable = allm_keys_variable(member_read(row, "name"));
        const char *text = allm_text_bytes(variable, NULL);
        found = text && !strcmp(text, name);
        allm_text_free(variable);
    }
    allm_json_free(list);
    return found;
}

static bool is_noted(const char *name)
{
    static bool loaded;
    int error;
    if (!loaded)
        allm_json_free(keyring_load(&error));
    loaded = true;
    for (size_t at = 0; at < variables.len;
         at += strlen(variables.ptr + at) + 1)
        if (!strcmp(variables.ptr + at, name))
            return true;
    return false;
}

bool keyring_holds(const char *name)
{
    static const char *const ends[] = { "_KEY", "_TOKEN", "_SECRET",
                                        "_PASSWORD", "_CREDENTIALS" };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_in(name, ends[i]))
            return true;
    return is_noted(name) || is_key_of_provider(name);
}
