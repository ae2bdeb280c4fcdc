/* reword.c - errors of the library in the words of a shell */
#include "cli/reword.h"

#include <stdio.h>
#include <string.h>

/* What a user can do about a missing key. */
static void of_key(const allm_error *e, char *text, size_t size)
{
    const char *provider = e->provider ? e->provider : "this provider";
    allm_text *variable = allm_keys_variable(e->provider ? e->provider : "");
    const char *name = allm_text_bytes(variable, NULL);
    snprintf(text, size,
             "there is no key for %s: set %s in the environment or in ./.env "
             "(allm keys lists them all)",
             provider, name && *name ? name : "its variable");
    allm_text_free(variable);
}

static void of_tool(const allm_error *e, char *text, size_t size)
{
    const char *name = allm_json_text(allm_json_get(e->metadata, "tool_name"),
                                      NULL);
    snprintf(text, size,
             "the model called the tool \"%.200s\", which this program does "
             "not have",
             name ? name : "");
}

static const struct {
    const char *reason;
    void (*write)(const allm_error *, char *text, size_t size);
} rows[] = {
    { "missing_key", of_key },
    { "unknown_tool", of_tool },
};

allm_error *reword_error(const allm_error *error)
{
    char text[512];
    if (!error)
        return NULL;
    allm_error other = *error;
    other.home = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (error->kind == ALLM_ERR_ENGINE && error->reason &&
            !strcmp(error->reason, rows[i].reason)) {
            rows[i].write(error, text, sizeof text);
            other.message = text;
            other.derived = 0;
        }
    return allm_error_new(&other);
}
