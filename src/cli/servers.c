/*
 * servers.c - check the local servers by listing their models
 *
 * An open port is not enough: other web servers use these ports, too.  If the
 * address comes from a variable, we print the variable's name, since the
 * address may contain a password.
 */
#include "cli/servers.h"

#include "cli/print.h"
#include "cli/registry.h"
#include "cli/target.h"
#include "conf/member.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAIT_MS = 2000 };

/* Servers that are checked at their default addresses. */
static const struct {
    const char *provider, *name;
} default_servers[] = {
    { "ollama", "Ollama" },
    { "llamacpp", "llama.cpp" },
    { "lmstudio", "LM Studio" },
    { "vllm", "vLLM" },
};

struct server {
    const char *provider, *name;
    const char *place; /* address to show; NULL: do not check it */
};

static bool is_set(const char *variable)
{
    const char *value = variable ? getenv(variable) : NULL;
    return value && *value;
}

/* Does an earlier row have the same variable?  Then it is the same server with
 * another dialect. */
static bool is_duplicate(const allm_json *row)
{
    const char *own = member_read(row, "base_url_variable");
    const allm_json *at = NULL;
    while (own && (at = registry_next(at)) && at != row) {
        const char *other = member_read(at, "base_url_variable");
        if (other && !strcmp(other, own))
            return true;
    }
    return false;
}

static struct server find_server(const allm_json *row)
{
    const char *variable = member_read(row, "base_url_variable");
    struct server s = { .provider = member_read(row, "name") };
    if (!registry_is_http(row) || !registry_is_keyless(row) ||
        is_duplicate(row))
        return s;
    s.name = s.provider;
    s.place = is_set(variable) ? variable : NULL;
    for (size_t i = 0; i < sizeof default_servers / sizeof *default_servers;
         i++)
        if (!strcmp(default_servers[i].provider, s.provider)) {
            s.name = default_servers[i].name;
            s.place = s.place ? s.place : member_read(row, "base_url");
        }
    return s;
}

/* Why there is no list, in a few words. */
static const char *reason_of(const allm_error *error)
{
    static const char *const words[][2] = {
        { "network_error", "no server answers" },
        { "timeout", "no answer in time" },
        { "authentication_failed", "the server rejects the key" },
        { "invalid_engine", "not a valid address" },
        { "unreadable_dotenv", "cannot read .env, which may have its key" },
    };
    for (size_t i = 0; error->reason && i < sizeof words / sizeof *words; i++)
        if (!strcmp(error->reason, words[i][0]))
            return words[i][1];
    return error->kind == ALLM_ERR_MISUSE ? error->message
                                          : "the server does not list models";
}

/* Describe a server's answer; true: it has a model. */
static bool describe_result(const struct server *s, const allm_stream *stream,
                            char *text, size_t size)
{
    const allm_error *error = allm_stream_error(stream);
    const allm_json *list = allm_stream_models(stream);
    const allm_json *first = allm_json_next(list, NULL);
    size_t count = allm_json_count(list);
    if (error || !first)
        snprintf(text, size, "%s: %s", s->place,
                 error ? reason_of(error) : "the server has no models");
    else
        snprintf(text, size, "%s: %zu model%s; allm -m %s:%s ...", s->place,
                 count, count == 1 ? "" : "s", s->provider,
                 member_read(first, "id"));
    return !error && first;
}

static bool query_server(const struct server *s, char *text, size_t size)
{
    allm_keys *keys = target_keys();
    allm_json *once = allm_json_parse("false", ALLM_NUL_ENDED, NULL);
    allm_engine *engine = allm_engine_new(
        ALLM(engine_opts, .adapter = s->provider, .keys = keys, .retry = once));
    allm_stream *stream = allm_models(engine,
                                      ALLM(call_opts, .total_ms = WAIT_MS));
    allm_stream_wait(stream);
    bool good = describe_result(s, stream, text, size);
    allm_stream_free(stream);
    allm_engine_free(engine);
    allm_json_free(once);
    allm_keys_free(keys);
    return good;
}

bool servers_check(void)
{
    bool any = false;
    for (const allm_json *row = NULL; (row = registry_next(row));) {
        struct server s = find_server(row);
        char text[512];
        if (!s.place)
            continue;
        bool good = query_server(&s, text, sizeof text);
        print_finding(good, s.name, text);
        any = any || good;
    }
    return any;
}
