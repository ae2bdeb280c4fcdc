/* registry_list.c - allm_registry_list(): the providers as JSON */
#include "provider/tasks.h"

/* Write a string, or null if it is NULL. */
static void put_text(allm_json_build *b, const char *key, const char *text)
{
    allm_json_build_key(b, key);
    if (text)
        allm_json_build_text(b, text, ALLM_NUL_ENDED);
    else
        allm_json_build_null(b);
}

static void put_bool(allm_json_build *b, const char *key, bool value)
{
    allm_json_build_key(b, key);
    allm_json_build_bool(b, value);
}

/* 0 is null. */
static void put_limit(allm_json_build *b, const char *key, size_t most)
{
    allm_json_build_key(b, key);
    if (most)
        allm_json_build_uint(b, most);
    else
        allm_json_build_null(b);
}

allm_json *allm_registry_list(void)
{
    const struct registry_row *row;
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_array(b);
    for (size_t i = 0; (row = registry_at(i)); i++) {
        const struct tasks_way *embed = tasks_find(row, TASKS_EMBED);
        bool auth = row->auth_header || row->adapter->auth_header;
        allm_json_build_object(b);
        put_text(b, "name", row->name);
        put_text(b, "dialect", row->adapter->name);
        put_text(b, "base_url", row->base_url);
        put_text(b, "base_url_variable", row->base_url_env);
        put_bool(b, "keyless", row->keyless || !auth);
        put_bool(b, "http", row->adapter->encode != NULL);
        put_text(b, "schema_provider", row->schema_provider);
        put_limit(b, "embed_inputs", embed ? embed->most : 0);
        put_limit(b, "embed_bytes", embed ? embed->most_bytes : 0);
        allm_json_build_end(b);
    }
    allm_json_build_end(b);
    return allm_json_build_done(b);
}
