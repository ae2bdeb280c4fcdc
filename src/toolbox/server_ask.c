/*
 * server_ask.c - requests of the program to an MCP server, waited for
 *
 * A request is shared by the thread that waits and the thread of the toolbox;
 * the last one frees it.  If nobody waits any more, it is cancelled.
 */
#include "base/status.h"
#include "toolbox/server.h"
#include "json/json.h"

struct server_ask {
    struct crew_task start, cancel;
    struct server *server;
    struct server_job job;
    struct arena arena;         /* of the parameters */
    bool manifest;
    struct allm_home *home;     /* of the result */
    const allm_json *tools;     /* of a manifest */

    /* Guarded by the lock of the servers. */
    bool over;
    const allm_json *value;
    const allm_error *error;
};

static struct server_ask *ask_of(struct server_job *job)
{
    return (struct server_ask *)(void *)((char *)job -
                                         offsetof(struct server_ask, job));
}

static void free_ask(struct server_ask *q)
{
    struct mem mem = q->arena.mem;
    home_drop(q->home);
    arena_release(&q->arena);
    mem_free(mem, q, sizeof *q);
}

/* --------------------------------------------------------------- result --- */

/* The name of the list in the result of such a request; or NULL. */
static const char *list_name(enum mcp_method method)
{
    switch (method) {
    case MCP_TOOLS_LIST:     return "tools";
    case MCP_RESOURCES_LIST: return "resources";
    case MCP_TEMPLATES_LIST: return "resourceTemplates";
    case MCP_PROMPTS_LIST:   return "prompts";
    default:                 return NULL;
    }
}

static void add_member(struct build *b, const char *key, const allm_json *v)
{
    if (v)
        build_value_copy_at(b, key, v);
}

/* All lists have all of their pages. */
static const allm_json *make_result(struct server *s, struct server_ask *q,
                                    const allm_json *value, struct arena *a)
{
    const char *list = list_name(q->job.method);
    const allm_json *greeting = s->client ? mcp_client_greeting(s->client)
                                          : NULL;
    if (!list)
        return json_copy(a, value);
    struct build b = build_object_in(a);
    if (q->manifest) {
        add_member(&b, "revision", json_at(greeting, "revision"));
        add_member(&b, "serverInfo", json_at(greeting, "serverInfo"));
        add_member(&b, "instructions", json_at(greeting, "instructions"));
        add_member(&b, "tools", q->tools);
    }
    add_member(&b, list, value);
    return build_finish(&b);
}

static void end_ask(struct server *s, struct server_ask *q,
                    const struct mcp_event *ev)
{
    struct servers *all = s->owner;
    struct arena *a = q->home ? home_arena(q->home) : NULL;
    const allm_json *value = ev->error || !a ? NULL
                                             : make_result(s, q, ev->value, a);
    const allm_error *error = value            ? NULL
                              : ev->error && a ? status_retell(a, ev->error)
                                               : status_nomem();
    pthread_mutex_lock(&all->lock);
    q->value = value;
    q->error = error;
    q->over = true;
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->lock);
}

static void take_result(struct server *s, struct server_job *job,
                        const struct mcp_event *ev)
{
    end_ask(s, ask_of(job), ev);
}

/* The second half of a manifest, if the server has prompts. */
static void take_tools(struct server *s, struct server_job *job,
                       const struct mcp_event *ev)
{
    struct server_ask *q = ask_of(job);
    if (ev->error || !s->client || !mcp_client_has(s->client, "prompts")) {
        take_result(s, job, ev);
        return;
    }
    q->tools = q->home ? json_copy(home_arena(q->home), ev->value) : NULL;
    q->job.method = MCP_PROMPTS_LIST;
    q->job.done = take_result;
    server_add_job(s, &q->job);
}

/* --------------------------------------------------------------- thread --- */

static void start_ask(void *ud)
{
    struct server_ask *q = ud;
    server_add_job(q->server, &q->job);
}

static void cancel_ask(void *ud)
{
    struct server_ask *q = ud;
    if (!q->over)
        server_remove_job(q->server, &q->job);
    free_ask(q);
}

/* --------------------------------------------------------------- caller --- */

static const struct {
    const char *name;
    enum mcp_method method;
} asks[] = {
    { "tools/list", MCP_TOOLS_LIST },
    { "tools/call", MCP_TOOLS_CALL },
    { "resources/list", MCP_RESOURCES_LIST },
    { "resources/templates/list", MCP_TEMPLATES_LIST },
    { "resources/read", MCP_RESOURCES_READ },
    { "prompts/list", MCP_PROMPTS_LIST },
    { "prompts/get", MCP_PROMPTS_GET },
    { "manifest", MCP_TOOLS_LIST },
};

static bool find_method(const char *name, enum mcp_method *method)
{
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++)
        if (!strcmp(asks[i].name, name)) {
            *method = asks[i].method;
            return true;
        }
    return false;
}

/* The parameter that names what a request is about. */
static const char *name_member(enum mcp_method method)
{
    return method == MCP_RESOURCES_READ ? "uri" : "name";
}

static struct server_ask *new_ask(struct server *s, enum mcp_method method,
                                  const allm_json *params)
{
    struct mem mem = s->owner->mem;
    struct server_ask *q = mem_alloc(mem, sizeof *q);
    const allm_json *args = json_at(params, "arguments");
    const char *name = json_text_at(params, name_member(method)).ptr;
    if (!q)
        return NULL;
    memset(q, 0, sizeof *q);
    arena_init(&q->arena, mem);
    q->home = home_new(mem, 1024);
    q->server = s;
    q->start = (struct crew_task){ .run = start_ask, .ud = q };
    q->cancel = (struct crew_task){ .run = cancel_ask, .ud = q };
    bool calls = method == MCP_TOOLS_CALL;
    q->job = (struct server_job){ .method = method, .done = take_result,
                                  .harmless = !calls,
                                  .total_ms = calls ? s->conf.timeout_ms : 0,
                                  .name = arena_text(&q->arena, name),
                                  .arguments = json_copy(&q->arena, args) };
    if (q->home && !q->arena.broken)
        return q;
    free_ask(q);
    return NULL;
}

static bool ask_is_over(void *ud)
{
    return ((struct server_ask *)ud)->over;
}

/* Wait for it.  The result is a root; the request is freed here or by the
 * thread. */
static allm_json *wait_for_ask(struct servers *all, struct server_ask *q,
                               uint32_t timeout_ms)
{
    struct allm_home *home = NULL;
    const allm_json *value = NULL;
    const allm_error *error = NULL;
    pthread_mutex_lock(&all->lock);
    bool over = servers_wait(
        all, timeout_ms > INT32_MAX || !timeout_ms ? -1 : (int)timeout_ms,
        ask_is_over, q);
    if (over) {
        home = home_keep(q->home);
        value = q->value;
        error = q->error;
    }
    pthread_mutex_unlock(&all->lock);
    if (over)
        free_ask(q);
    else
        crew_post(all->opts.crew, &q->cancel);
    if (over)
        return json_root_of(home, value, error);
    home = home_new(all->mem, 256);
    return home ? json_root_of(home, NULL,
                               status_error(home_arena(home), ALLM_ERR_TOOL,
                                            "timeout",
                                            "the server did not answer within "
                                            "%u ms",
                                            timeout_ms))
                : NULL;
}

static allm_json *refuse_ask(struct mem mem, allm_status kind,
                             const char *reason, const char *before,
                             const char *what)
{
    struct allm_home *home = home_new(mem, 256);
    return home ? json_root_of(home, NULL,
                               status_error(home_arena(home), kind, reason,
                                            "%s%.64s", before, what))
                : NULL;
}

allm_json *servers_request(struct servers *all, const char *server,
                           const char *method, const allm_json *params,
                           uint32_t timeout_ms)
{
    enum mcp_method known;
    struct server *s = servers_find(all, server);
    if (!s)
        return refuse_ask(all->mem, ALLM_ERR_VALIDATION, "not_found",
                          "there is no server named ", server);
    if (!find_method(method, &known))
        return refuse_ask(all->mem, ALLM_ERR_MISUSE, "invalid_option",
                          "this request cannot be made: ", method);
    if (!list_name(known) && !json_text_at(params, name_member(known)).ptr)
        return refuse_ask(all->mem, ALLM_ERR_MISUSE, "invalid_option",
                          "the parameters have no ", name_member(known));
    const allm_json *args = json_at(params, "arguments");
    if (args && !json_is_type(args, ALLM_JSON_OBJECT))
        return refuse_ask(all->mem, ALLM_ERR_MISUSE, "invalid_option",
                          "the parameters must have an object as ",
                          "arguments");
    struct server_ask *q = new_ask(s, known, params);
    if (!q)
        return NULL;
    q->manifest = !strcmp(method, "manifest");
    if (q->manifest)
        q->job.done = take_tools;
    if (!crew_post(all->opts.crew, &q->start)) {
        free_ask(q);
        return NULL;
    }
    return wait_for_ask(all, q, timeout_ms);
}
