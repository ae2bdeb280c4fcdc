/* settings.c - the table of settings */
#include "conf/settings.h"

#include <string.h>

#define SWITCH "auto|on|off"

static const struct setting rows[] = {
    { "model", SETTING_TEXT, NULL, NULL, TRUST_MODEL, false,
      "the model to ask: provider:model or an alias" },
    { "system", SETTING_TEXT, NULL, NULL, TRUST_NEEDED, false,
      "the system prompt" },
    { "template", SETTING_TEXT, NULL, NULL, TRUST_TEMPLATE, false,
      "the template of prompts that name none" },
    { "options.*", SETTING_OBJECT, NULL, NULL, TRUST_OPTIONS, false,
      "options for matching models, such as \"openai:*\"" },
    { "stream", SETTING_BOOL, NULL, "true", TRUST_NEEDED, false,
      "print the answer as it arrives" },
    { "keep", SETTING_BOOL, NULL, "false", TRUST_NEEDED, false,
      "keep every conversation in the store" },
    { "usage", SETTING_BOOL, NULL, "false", TRUST_NEEDED, false,
      "print tokens and cost on stderr" },
    { "reasoning", SETTING_LEVEL, NULL, "the model's own", TRUST_NEEDED, false,
      "how much the model reasons" },
    { "store", SETTING_TEXT, NULL, "sqlite:DATA/sessions.db", TRUST_NEEDED,
      true, "where sessions are stored" },
    { "timeout", SETTING_SECONDS, NULL, NULL, TRUST_FREE, false,
      "stop a call after this time" },
    { "max_cost", SETTING_NUMBER, NULL, NULL, TRUST_FREE, false,
      "stop before a call costs more than this, in US dollars" },
    { "max_turns", SETTING_COUNT, NULL, "8", TRUST_FREE, false,
      "stop after this many answers of the model" },
    { "retry", SETTING_COUNT, NULL, "3", TRUST_FREE, false,
      "tries of a request; in a batch, repetitions (5)" },
    { "output.markdown", SETTING_WORD, SWITCH, "auto", TRUST_FREE, false,
      "render Markdown" },
    { "output.color", SETTING_WORD, SWITCH, "auto", TRUST_FREE, false,
      "use colours" },
    { "output.width", SETTING_COUNT, NULL, "the terminal's, at most 100",
      TRUST_FREE, false, "columns of rendered text" },
    { "output.links", SETTING_WORD, SWITCH, "auto", TRUST_FREE, false,
      "make links that a terminal can open" },
    { "output.reasoning", SETTING_WORD, "show|hide", "show", TRUST_FREE, false,
      "show the model's reasoning" },
    { "tools.default", SETTING_LIST, NULL, "[]", TRUST_NEEDED, false,
      "tools that the model may always call" },
    { "tools.dirs", SETTING_LIST, NULL, "[\"CONFIG/tools\"]", TRUST_NEEDED,
      false, "directories with tools" },
    { "tools.root", SETTING_TEXT, NULL, ".", TRUST_NEEDED, false,
      "the directory that tools may change" },
    { "tools.grant", SETTING_LIST, NULL, "[]", TRUST_NEVER, false,
      "secret paths and variables that a tool may ask for" },
    { "sandbox", SETTING_WORD, "on|strict|off", "on", TRUST_STRICT, false,
      "what must confine tools: most, all, nothing" },
    { "approve.*", SETTING_WORD, "auto|ask|deny", NULL, TRUST_NEEDED, false,
      "how calls of this tool are decided" },
    { "mcp.config", SETTING_LIST, NULL, "[]", TRUST_NEEDED, false,
      "files with entries of MCP servers" },
    { "mcp.*", SETTING_OBJECT, NULL, NULL, TRUST_NEEDED, true,
      "an MCP server: an entry as in mcpServers" },
    { "providers.*.like", SETTING_TEXT, NULL, NULL, TRUST_NEEDED, false,
      "the known provider that it works like" },
    { "providers.*.base_url", SETTING_TEXT, NULL, NULL, TRUST_NEEDED, true,
      "the address of its server" },
    { "providers.*.key", SETTING_TEXT, NULL, NULL, TRUST_NEVER, true,
      "its key: env:V, file:P, cmd:C, or a name of allm keys" },
    { "providers.*.headers", SETTING_OBJECT, NULL, NULL, TRUST_NEEDED, true,
      "headers to send to it" },
    { "providers.*.models", SETTING_LIST, NULL, NULL, TRUST_NEEDED, false,
      "its models, for names without a provider" },
    { "providers.*.proxy", SETTING_TEXT, NULL, NULL, TRUST_NEEDED, true,
      "the proxy to reach it through" },
    { "providers.*.cacert", SETTING_TEXT, NULL, NULL, TRUST_NEEDED, false,
      "the file with the certificates to trust" },
    { "providers.*.rpm", SETTING_COUNT, NULL, NULL, TRUST_NEEDED, false,
      "requests per minute that it allows" },
    { "providers.*.tpm", SETTING_COUNT, NULL, NULL, TRUST_NEEDED, false,
      "tokens per minute that it allows" },
    { "aliases.*", SETTING_ALIAS, NULL, NULL, TRUST_NEEDED, false,
      "a name for a model, a system prompt and options" },
    { "routing.*", SETTING_MODELS, NULL, NULL, TRUST_MODEL, false,
      "the models for a task, tried in this order" },
    { "batch.jobs", SETTING_COUNT, NULL, "16", TRUST_NEEDED, false,
      "requests of a batch at the same time" },
    { "chat.editor", SETTING_TEXT, NULL, "$VISUAL or $EDITOR", TRUST_NEEDED,
      false, "the editor of allm chat and allm config edit" },
    { "chat.history", SETTING_BOOL, NULL, "true", TRUST_NEEDED, false,
      "remember the lines of a chat" },
};

const struct setting *setting_at(size_t index)
{
    return index < sizeof rows / sizeof *rows ? &rows[index] : NULL;
}

/* Is the path this key or, if `group`, a beginning of it?  The name for a "*"
 * may have dots. */
static bool fits_key(const char *key, const char *path, bool group)
{
    while (*key && *path) {
        if (*key == '*' && !key[1])
            return !group;
        if (*key == '*') {
            size_t len = strlen(path), rest = group ? 0 : strlen(++key);
            if (len <= rest)
                return false;
            path += len - rest;
            key += group;
        } else if (*key++ != *path++) {
            return false;
        }
    }
    return group ? !*path && *key == '.' : !*key && !*path;
}

const struct setting *setting_find(const char *path)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (fits_key(rows[i].key, path, false))
            return &rows[i];
    return NULL;
}

bool setting_has_members(const char *path)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (fits_key(rows[i].key, path, true))
            return true;
    return false;
}

bool setting_is_group(const char *path)
{
    const char *dot = strchr(path, '.');
    return setting_has_members(path) && !(dot && strchr(dot + 1, '.'));
}

bool setting_variable(const struct setting *s, char name[64])
{
    size_t n = strlen(s->key);
    if (strchr(s->key, '*') || s->kind >= SETTING_LIST || n + 6 > 64)
        return false;
    memcpy(name, "ALLM_", 5);
    for (size_t i = 0; i <= n; i++) {
        char c = s->key[i];
        name[5 + i] = (char)(c >= 'a' && c <= 'z' ? c - 32
                             : c == '.'           ? '_'
                                                  : c);
    }
    return true;
}

const char *setting_expects(const struct setting *s)
{
    static const char *const kinds[] = {
        "a string",
        "true or false",
        "a whole number from 0 on",
        "a number from 0 on",
        "a number of seconds, or a time such as \"5m\"",
        "none, low, medium, high or a number of tokens",
        NULL,
        "a list of strings",
        "a model, or a list of models",
        "a model, or an object with model, system and options",
        "an object",
    };
    return kinds[s->kind] ? kinds[s->kind] : s->words;
}

/* ------------------------------------------------- paths and pointers --- */

/* Append one byte, always with a NUL after it. */
static bool put_byte(char *out, size_t size, size_t *len, char c)
{
    if (*len + 1 >= size)
        return false;
    out[(*len)++] = c;
    out[*len] = '\0';
    return true;
}

static bool put_step(char *out, size_t size, size_t *len, const char *name,
                     size_t n)
{
    bool ok = put_byte(out, size, len, '/');
    for (size_t i = 0; ok && i < n; i++) {
        bool escape = name[i] == '~' || name[i] == '/';
        ok = put_byte(out, size, len, escape ? '~' : name[i]);
        if (ok && escape)
            ok = put_byte(out, size, len, name[i] == '~' ? '0' : '1');
    }
    return ok;
}

/* Dots in the name for a "*" are part of it. */
bool setting_pointer(const char *path, char *pointer, size_t size)
{
    const struct setting *s = setting_find(path);
    const char *key = s ? s->key : path;
    size_t len = 0;
    bool ok = size > 0, more = true;
    while (ok && more) {
        size_t part = strcspn(key, ".");
        size_t n = s && *key == '*' ? strlen(path) - strlen(key + 1)
                                    : strcspn(path, ".");
        ok = put_step(pointer, size, &len, path, n);
        more = key[part];
        path += n + more;
        key += part + more;
    }
    return ok;
}

bool setting_pointer_below(const char *parent, const char *name, char *pointer,
                           size_t size)
{
    size_t len = strlen(parent);
    if (len >= size)
        return false;
    memcpy(pointer, parent, len + 1);
    return put_step(pointer, size, &len, name, strlen(name));
}

bool setting_path(const char *pointer, char *path, size_t size)
{
    size_t len = 0;
    bool ok = size > 0;
    if (ok)
        *path = '\0';
    for (const char *c = pointer + (*pointer == '/'); ok && *c; c++) {
        if (*c == '~' && c[1])
            ok = put_byte(path, size, &len, *++c == '0' ? '~' : '/');
        else
            ok = put_byte(path, size, &len, *c == '/' ? '.' : *c);
    }
    return ok;
}
