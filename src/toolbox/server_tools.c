/*
 * server_tools.c - the tools of an MCP server, as entries of the toolbox
 *
 * A list that a chat may have seen stays in memory as long as the toolbox; of
 * those that nobody has seen, only the newest does.  A list that is the same as
 * the last one is not offered again.
 */
#include "toolbox/server.h"
#include "json/json.h"
#include "json/write.h"

/* One list of tools, in a home of its own. */
struct shelf {
    struct server *server;
    struct allm_home *home;
    struct server_tool *tools;
    struct entry *entries;
    size_t count, left_out;
};

static void free_tool(void *tool)
{
    struct server_tool *t = tool;
    allm_tool_free(t->tool);
    allm_json_schema_free(t->output);
}

/* Only a server that the user trusts is believed that a tool does no harm. */
static allm_effect effect_of(const struct server *s, const struct mcp_tool *t)
{
    return !s->conf.trust  ? ALLM_EFFECT_WRITE
           : t->read_only  ? ALLM_EFFECT_PURE
           : t->idempotent ? ALLM_EFFECT_IDEMPOTENT
                           : ALLM_EFFECT_WRITE;
}

/* True: it is valid, or memory is short. */
static bool compiles(const allm_json *schema)
{
    allm_json_schema *compiled = allm_json_schema_new(schema);
    const allm_error *why = allm_json_schema_error(compiled);
    bool good = !why || why->kind == ALLM_ERR_NOMEM;
    allm_json_schema_free(compiled);
    return good;
}

static allm_json_schema *compile_output(const allm_json *schema)
{
    allm_json_schema *compiled = schema ? allm_json_schema_new(schema) : NULL;
    if (!compiled || !allm_json_schema_error(compiled))
        return compiled;
    allm_json_schema_free(compiled);
    return NULL;
}

/* {"output_schema": schema}, of a schema that compiles; NULL: there is none. */
static const allm_json *output_metadata(struct arena *a,
                                        const struct server_tool *t,
                                        const allm_json *schema)
{
    if (!t->output)
        return NULL;
    struct build b = build_object_in(a);
    build_value_at(&b, "output_schema", schema);
    return build_finish(&b);
}

static const allm_json *reach_of(struct arena *a, const char *server,
                                 const char *tool)
{
    struct buf word = buf_in(a, SIZE_MAX / 2);
    buf_format(&word, "server %s %s", server, tool);
    struct build b = build_array_in(a);
    build_text(&b, buf_slice(&word));
    return word.broken ? NULL : build_finish(&b);
}

/* The bytes that it costs in a request. */
static size_t weigh_tool(const struct mcp_tool *t, struct mem mem)
{
    struct arena scratch = arena_in(mem);
    struct buf text = buf_in(&scratch, SIZE_MAX / 2);
    json_write(&text, t->schema, 0);
    size_t n = text.len + strlen(t->description);
    arena_release(&scratch);
    return n;
}

static void fill_entry(struct shelf *f, const struct mcp_tool *info,
                       const struct server_tool *t)
{
    struct server *s = f->server;
    bool automatic = s->conf.compact == SERVER_COMPACT_AUTO;
    f->entries[f->count] = (struct entry){
        .tool = t->tool, .execute = server_execute, .data = t,
        .kind = "server", .source = s->conf.name,
        .reach = reach_of(home_arena(f->home), s->conf.name, t->name),
        .confined = s->conf.sandbox && s->owner->opts.mode != ORDERS_OFF,
        .weight = automatic ? weigh_tool(info, s->owner->mem) : 0,
    };
    f->count++;
}

/* False: out of memory.  A tool that is not valid is left out. */
static bool shelve_tool(struct shelf *f, const struct mcp_tool *info)
{
    struct server *s = f->server;
    struct server_tool *t = &f->tools[f->count];
    if (!compiles(info->schema)) {
        f->left_out++;
        return true;
    }
    *t = (struct server_tool){ .server = s,
                               .output = compile_output(info->output) };
    t->name = arena_text(home_arena(f->home), info->name);
    t->tool = allm_tool_new(ALLM(
        tool, .name = info->shown,
        .description = *info->description ? info->description : t->name,
        .schema = info->schema, .effect = effect_of(s, info),
        .compact = s->conf.compact == SERVER_COMPACT_ON,
        .timeout_ms = s->conf.timeout_ms,
        .flags = ALLM_TOOL_INLINE | ALLM_TOOL_OWN_TIME,
        .metadata = output_metadata(home_arena(f->home), t, info->output)));
    const allm_error *why = allm_tool_error(t->tool);
    if (!home_on_free(f->home, free_tool, t) || !t->name ||
        (why && why->kind == ALLM_ERR_NOMEM))
        return false;
    if (why)
        f->left_out++;
    else
        fill_entry(f, info, t);
    return true;
}

static bool fill_shelf(struct shelf *f, const allm_json *list,
                       struct arena *scratch)
{
    const struct server_conf *c = &f->server->conf;
    struct mcp_tools_opts opts = { .server = c->name, .filter = c->filter,
                                   .http = !c->command };
    struct mcp_tools found;
    struct arena *a = home_arena(f->home);
    if (!mcp_tools_make(scratch, list, &opts, &found))
        return false;
    f->left_out = found.invalid;
    f->tools = arena_zero(a, (found.count + 1) * sizeof *f->tools);
    f->entries = arena_zero(a, (found.count + 1) * sizeof *f->entries);
    bool good = f->tools && f->entries;
    for (size_t i = 0; good && i < found.count; i++)
        good = shelve_tool(f, &found.tools[i]);
    return good && !a->broken;
}

/* Is it the list that is offered already?  Then there is nothing to do. */
static bool is_offered(struct server *s, const allm_json *list,
                       struct arena *scratch)
{
    char sum[SHA256_HEX + 1];
    struct buf text = buf_in(scratch, SIZE_MAX / 2);
    json_write(&text, list, 0);
    if (text.broken)
        return false;
    sha256_hex(buf_slice(&text), sum);
    bool same = !strcmp(sum, s->list_sum);
    memcpy(s->list_sum, sum, sizeof sum);
    return same;
}

static bool make_shelf(struct server *s, const allm_json *list,
                       struct arena *scratch)
{
    struct shelf f = { .server = s, .home = home_new(s->owner->mem, 4096) };
    if (!f.home)
        return false;
    if (!fill_shelf(&f, list, scratch) ||
        !list_replace(s->owner->opts.list, s->order, f.count, f.entries,
                      f.home)) {
        home_drop(f.home);
        return false;
    }
    pthread_mutex_lock(&s->owner->lock);
    s->tool_count = f.count;
    s->left_out = f.left_out;
    pthread_mutex_unlock(&s->owner->lock);
    s->lists++;
    return true;
}

bool server_offer(struct server *s, const allm_json *list)
{
    struct arena scratch = arena_in(s->owner->mem);
    bool good = is_offered(s, list, &scratch) || make_shelf(s, list, &scratch);
    if (!good)
        *s->list_sum = 0;
    arena_release(&scratch);
    return good;
}
