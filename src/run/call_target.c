/*
 * call_target.c - the dialect, address and key of a call
 *
 * Precedence: the call, the engine, the environment, the provider's default.
 */
#include "run/call_target.h"

#include "base/status.h"
#include "engine/keys.h"
#include "net/request_json.h"
#include "json/json.h"

/* Remove trailing slashes. */
static const char *trim_url(struct arena *a, const char *url)
{
    struct slice s = slice_of(url);
    while (s.len && s.ptr[s.len - 1] == '/')
        s.len--;
    return arena_copy(a, s);
}

static const char *option_text(const allm_json *options, const char *name)
{
    return allm_json_text(allm_json_get(options, name), NULL);
}

/* Select the provider's dialect: the caller's choice, or the one that fits the
 * model. */
const allm_error *call_target_dialect(struct call_plan *p)
{
    const char *api = option_text(p->call.options, "api");
    if (!api)
        api = option_text(p->call.adapter_opts, "api");
    if (!registry_for(p->row, p->call.model, api, &p->chosen))
        return status_error(
            home_arena(p->home), ALLM_ERR_MISUSE, "invalid_option",
            "api must be \"chat\" or \"responses\"; omit it to let the model's "
            "name decide");
    p->row = &p->chosen;
    return NULL;
}

/* An address that we cannot read is an error: the request must not go to the
 * default address instead. */
static bool is_invalid_url(const allm_json *options)
{
    const allm_json *url = allm_json_get(options, "base_url");
    const char *text = allm_json_text(url, NULL);
    return text ? !text[strspn(text, "/")]
                : url && !json_is_type(url, ALLM_JSON_NULL);
}

/* The path of a request would become part of the fragment, which is never
 * sent. */
static const allm_error *check_fragment(struct call_plan *p)
{
    struct arena *a = home_arena(p->home);
    if (!p->call.base_url || !strchr(p->call.base_url, '#'))
        return NULL;
    struct slice shown = request_json_url(a, slice_of(p->call.base_url), NULL);
    if (!shown.ptr)
        return status_nomem();
    return status_error(a, ALLM_ERR_ENGINE, "invalid_engine",
                        "base_url is \"%.1000s\" and must not have a fragment; "
                        "remove the \"#\" and what follows it",
                        shown.ptr);
}

/* The address is the caller's, the environment's or the provider's.  A server
 * of an unknown provider may have a name, which selects its key. */
const allm_error *call_target_address(struct call_plan *p)
{
    struct arena *a = home_arena(p->home);
    const struct registry_row *row = p->row;
    const char *name = option_text(p->call.adapter_opts, "provider");
    const char *url = option_text(p->call.options, "base_url");
    if (is_invalid_url(p->call.options) || is_invalid_url(p->call.adapter_opts))
        return status_error(home_arena(p->home), ALLM_ERR_MISUSE,
                            "invalid_option",
                            "base_url must be a string such as "
                            "\"https://example.org/v1\"; omit it to use the "
                            "provider's own address");
    p->call.quirks = row->quirks;
    if (!row->base_url && name)
        p->call.provider = name;
    if (!url)
        url = option_text(p->call.adapter_opts, "base_url");
    if (url)
        p->call.base_url = trim_url(a, url);
    else if (row->base_url_env)
        p->call.base_url = trim_url(a, keys_env(engine_core(p->engine)->keys,
                                                row->base_url_env, a));
    if (!p->call.base_url || !*p->call.base_url)
        p->call.base_url = row->base_url;
    return a->broken ? status_nomem() : check_fragment(p);
}

/* The header's value: prefix and key. */
static bool write_header_value(struct secret *out, struct mem mem,
                               const char *prefix, const struct secret *key)
{
    struct mem inner = mem;
    struct arena a = arena_in(secret_mem(&inner));
    struct buf text = buf_in(&a, 64 * 1024);
    buf_text(&text, prefix ? prefix : "");
    buf_add(&text, (struct slice){ key->ptr, key->len });
    bool ok = !text.broken && secret_set(out, mem, buf_slice(&text));
    arena_release(&a);
    return ok;
}

/* Such a byte could end the header and begin another one. */
static bool has_control_byte(const struct secret *key)
{
    for (size_t i = 0; i < key->len; i++)
        if ((unsigned char)key->ptr[i] < ' ' || key->ptr[i] == 0x7f)
            return true;
    return false;
}

static const allm_error *store_key(struct call_plan *p,
                                   const struct secret *key)
{
    const struct registry_row *row = p->row;
    const char *prefix = row->auth_header ? row->auth_prefix
                                          : row->adapter->auth_prefix;
    if (has_control_byte(key))
        return status_error(
            home_arena(p->home), ALLM_ERR_MISUSE, "invalid_key",
            "the key contains a control character, such as a line break at its "
            "end; remove it");
    p->key = arena_zero(home_arena(p->home), sizeof *p->key);
    if (!p->key ||
        !write_header_value(p->key, engine_core(p->engine)->mem, prefix, key))
        return status_nomem();
    return NULL;
}

/* Send a key only where it belongs.  A provider with an address of its own gets
 * its own key; any other address gets the key of the model's provider. */
const allm_error *call_target_key(struct call_plan *p, const char *api_key)
{
    const struct registry_row *row = p->row;
    const char *whose = row->base_url ? row->name : p->call.provider;
    struct secret key = { .ptr = NULL };
    const char *source;
    if (!row->auth_header && !row->adapter->auth_header)
        return NULL;
    const allm_error *error = keys_look_up(engine_core(p->engine)->keys, whose,
                                           api_key, row->keyless,
                                           home_arena(p->home), &key, &source);
    if (error && row->keyless && error->kind == ALLM_ERR_ENGINE)
        return NULL;
    if (!error && source)
        error = store_key(p, &key);
    secret_release(&key);
    return error;
}
