/* registry_list.c - allm_registry_list(): the providers as JSON */
#include "base/home.h"
#include "base/status.h"
#include "provider/tasks.h"
#include "json/build.h"
#include "json/json.h"

enum { ROOM = 40 * 1024 }; /* for all values, so that they are never moved */

/* 0 is null. */
static void put_limit(struct build *b, const char *key, size_t most)
{
    build_key(b, slice_of(key));
    if (most)
        build_uint(b, most);
    else
        build_null(b);
}

static void put_row(struct build *b, const struct registry_row *row)
{
    const struct tasks_way *embed = tasks_find(row, TASKS_EMBED);
    bool auth = row->auth_header || row->adapter->auth_header;
    build_object(b);
    build_text_or_null_at(b, "name", row->name);
    build_text_or_null_at(b, "dialect", row->adapter->name);
    build_text_or_null_at(b, "base_url", row->base_url);
    build_text_or_null_at(b, "base_url_variable", row->base_url_env);
    build_bool_at(b, "keyless", row->keyless || !auth);
    build_bool_at(b, "http", row->adapter->encode != NULL);
    build_text_or_null_at(b, "schema_provider", row->schema_provider);
    put_limit(b, "embed_inputs", embed ? embed->most : 0);
    put_limit(b, "embed_bytes", embed ? embed->most_bytes : 0);
    build_end(b);
}

allm_json *allm_registry_list(void)
{
    struct allm_home *h = home_new(mem_default(), ROOM);
    const struct registry_row *row;
    if (!h)
        return NULL;
    struct build b = build_array_in(home_arena(h));
    for (size_t i = 0; (row = registry_at(i)); i++)
        put_row(&b, row);
    return json_root_of(h, build_finish(&b), status_nomem());
}
