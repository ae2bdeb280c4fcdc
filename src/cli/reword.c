/* reword.c - rewrite the library's errors for users of a shell */
#include "cli/reword.h"

#include "cli/exit.h"
#include "cli/print.h"
#include "cli/registry.h"
#include "conf/member.h"

#include <stdio.h>
#include <string.h>

/* Name the variable of the missing key. */
static void reword_missing_key(const allm_error *e, char *text, size_t size)
{
    const char *provider = e->provider ? e->provider : "this provider";
    allm_text *variable = allm_keys_variable(e->provider ? e->provider : "");
    const char *name = allm_text_bytes(variable, NULL);
    snprintf(text, size,
             "there is no key for %s: set %s in the environment or in ./.env "
             "(allm keys lists all variables)",
             provider, name && *name ? name : "its variable");
    allm_text_free(variable);
}

/* The message with `advice` instead of what begins with `old`. */
static void replace_advice(const allm_error *e, const char *old,
                           const char *advice, char *text, size_t size)
{
    const char *at = strstr(e->message, old);
    int len = (int)(at ? at - e->message : (long)strlen(e->message));
    snprintf(text, size, "%.*s%s", len, e->message, advice);
}

/* Remove the advice about an option of the library. */
static void reword_dotenv(const allm_error *e, char *text, size_t size)
{
    replace_advice(e, "; make it readable", "; make it readable, or remove it",
                   text, size);
}

static void reword_unknown_tool(const allm_error *e, char *text, size_t size)
{
    snprintf(text, size,
             "the model called the tool \"%.200s\", which this program does "
             "not have",
             member_or(e->metadata, "tool_name", ""));
}

/* Name the flag instead of the option of the library. */
static void reword_advice(const allm_error *e, char *text, size_t size)
{
    static const char *const words[][2] = {
        { "raise total_ms", "--timeout SECONDS waits longer" },
        { "raise first_ms", "-o first_ms N waits N milliseconds" },
        { "raise silence_ms", "-o silence_ms N waits N milliseconds" },
        { "set a key with api_key", "store a key with allm keys set NAME, and "
                                    "use --key NAME" },
    };
    snprintf(text, size, "%s", e->message);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char *advice = strstr(text, words[i][0]);
        if (advice)
            snprintf(advice, size - (size_t)(advice - text), "%s", words[i][1]);
    }
}

/* Say what to do instead of freeing the handle. */
static void reword_lost(const allm_error *e, char *text, size_t size)
{
    replace_advice(e, "; free this handle",
                   "; allm sessions says how it goes on", text, size);
}

static void reword_wrong_key(const allm_error *e, char *text, size_t size)
{
    snprintf(text, size, "%.1500s; allm keys shows where the key comes from",
             e->message);
}

static void reword_too_long(const allm_error *e, char *text, size_t size)
{
    snprintf(text, size,
             "%.1500s; shorten the prompt, or use a model with a longer "
             "context (allm models)",
             e->message);
}

/* Name the variable where the library's message names its option. */
static bool reword_address(const allm_error *e, char *text, size_t size)
{
    static const char option[] = "base_url", place[] = " in adapter_opts";
    const char *provider = e->provider ? e->provider : "";
    const char *at = strstr(e->message, option);
    const allm_json *row = registry_row(provider, strlen(provider));
    const char *variable = member_read(row, "base_url_variable");
    bool change = at && variable && !strstr(e->message, variable);
    if (change) {
        const char *rest = at + strlen(option);
        if (!strncmp(rest, place, strlen(place)))
            rest += strlen(place);
        snprintf(text, size, "%.*s%s or -o base_url%s", (int)(at - e->message),
                 e->message, variable, rest);
    }
    return change;
}

static const struct {
    allm_status kind;
    const char *reason;
    void (*write)(const allm_error *, char *text, size_t size);
} rows[] = {
    { ALLM_ERR_ENGINE, "missing_key", reword_missing_key },
    { ALLM_ERR_ENGINE, "unknown_tool", reword_unknown_tool },
    { ALLM_ERR_MISUSE, "unreadable_dotenv", reword_dotenv },
    { ALLM_ERR_ADAPTER, "timeout", reword_advice },
    { ALLM_ERR_MISUSE, "invalid_option", reword_advice },
    { ALLM_ERR_SESSION, "session_lost", reword_lost },
    { ALLM_ERR_ADAPTER, "authentication_failed", reword_wrong_key },
    { ALLM_ERR_ADAPTER, "context_length_exceeded", reword_too_long },
};

allm_error *reword_error(const allm_error *error)
{
    char text[2048];
    if (!error)
        return NULL;
    allm_error other = *error;
    other.home = NULL;
    bool changed = reword_address(error, text, sizeof text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (exit_kind(error) == rows[i].kind && error->reason &&
            !strcmp(error->reason, rows[i].reason)) {
            rows[i].write(error, text, sizeof text);
            changed = true;
        }
    if (!changed)
        return NULL;
    other.message = text;
    other.derived = 0;
    return allm_error_new(&other);
}

void reword_print(const allm_error *error)
{
    allm_error *reworded = reword_error(error);
    print_fault("%s", reworded ? reworded->message : error->message);
    allm_error_free(reworded);
}

int reword_length(const char *message)
{
    const char *advice = NULL;
    for (const char *at = message; (at = strstr(at, "; ")); at++)
        advice = at;
    bool ours = advice && (strstr(advice, "allm_") || strchr(advice, '`') ||
                           strstr(advice, "ALLM_JSON_"));
    return ours ? (int)(advice - message) : (int)strlen(message);
}
