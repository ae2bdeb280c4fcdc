/* server_call.c - calls of the tools of an MCP server */
#include "base/status.h"
#include "mcp/result.h"
#include "tool/run.h"
#include "toolbox/answer.h"
#include "toolbox/picture.h"
#include "toolbox/server.h"
#include "json/json.h"

struct server_call {
    struct crew_run run;        /* must be the first */
    struct server_job job;
    const struct server_tool *tool;
    struct arena arena;
};

static struct server_call *call_of(struct server_job *job)
{
    return (struct server_call *)(void *)((char *)job -
                                          offsetof(struct server_call, job));
}

static void free_server_call(struct crew_run *r)
{
    struct server_call *c = (struct server_call *)(void *)r;
    struct mem mem = c->arena.mem;
    arena_release(&c->arena);
    mem_free(mem, c, sizeof *c);
}

/* --------------------------------------------------------------- answer --- */

/* Those of the images that models can see. */
static const allm_json *visible(struct arena *a, const allm_json *images)
{
    struct pictures p;
    pictures_init(&p, a);
    for (const allm_json *v = NULL; (v = allm_json_next(images, v));)
        pictures_add_base64(&p, json_text_at(v, "data"));
    return pictures_done(&p);
}

static void answer_value(struct server_call *c, const allm_json *result)
{
    struct mcp_result r;
    allm_tool_run *run = c->run.run;
    if (!mcp_result_make(&c->arena, result, c->tool->output, &r))
        answer_fault(run, status_nomem());
    else if (r.failed)
        allm_tool_fail(run, r.text.len ? r.text.ptr
                                       : "the tool failed and did not say why");
    else
        run_answer(run, r.value, visible(&c->arena, r.images));
}

static void finish_call(struct server *s, struct server_job *job,
                        const struct mcp_event *ev)
{
    struct server_call *c = call_of(job);
    (void)s;
    if (ev->error)
        answer_failure(c->run.run, ev->error);
    else
        answer_value(c, ev->value);
    crew_run_end(&c->run);
}

static double number_at(const allm_json *v, const char *key)
{
    double x = 0;
    json_finite(json_at(v, key), &x);
    return x;
}

static void tell_progress(struct server *s, struct server_job *job,
                          const struct mcp_event *ev)
{
    struct server_call *c = call_of(job);
    const allm_json *v = ev->value;
    allm_tool_progress p = { .size = sizeof p, .server = s->conf.name,
                             .tool = c->tool->tool->name,
                             .call_id = allm_tool_run_call(c->run.run)->id,
                             .progress = number_at(v, "progress"),
                             .total = number_at(v, "total"),
                             .message = json_text_at(v, "message").ptr };
    if (s->owner->opts.progress)
        s->owner->opts.progress(s->owner->opts.ud, &p);
}

static const allm_json *question_opts(struct arena *a, const char *server,
                                      const allm_json *schema)
{
    struct build b = build_object_in(a);
    build_text_at(&b, "server", slice_of(server));
    if (schema)
        build_value_at(&b, "schema", schema);
    return build_finish(&b);
}

void server_call_pause(struct server_job *job, bool paused)
{
    if (job->done == finish_call)
        run_pause(call_of(job)->run.run, paused);
}

void server_call_later(struct server *s, struct server_job *job,
                       const char *message, const allm_json *schema)
{
    struct server_call *c = job->done == finish_call ? call_of(job) : NULL;
    if (!c)
        return;
    allm_tool_ask(c->run.run, message,
                  question_opts(&c->arena, s->conf.name, schema));
    server_remove_job(s, job);
    crew_run_end(&c->run);
}

/* ---------------------------------------------------------------- begin --- */

static void begin_call(struct crew_run *r)
{
    struct server_call *c = (struct server_call *)(void *)r;
    if (c->tool->server->owner->stopping || allm_tool_cancelled(r->run)) {
        /* is dropped if it was cancelled */
        answer_fault(r->run, &answer_toolbox_freed);
        crew_run_end(r);
        return;
    }
    server_add_job(c->tool->server, &c->job);
}

static void cancel_server_call(struct crew_run *r)
{
    struct server_call *c = (struct server_call *)(void *)r;
    server_remove_job(c->tool->server, &c->job);
    answer_fault(r->run, status_nomem());       /* is dropped */
    crew_run_end(r);
}

static struct server_call *new_server_call(struct mem mem,
                                           const struct server_tool *t,
                                           const allm_json *args)
{
    struct server_call *c = mem_alloc(mem, sizeof *c);
    if (!c)
        return NULL;
    memset(c, 0, sizeof *c);
    arena_init(&c->arena, mem);
    c->run = (struct crew_run){ .begin = begin_call,
                                .cancelled = cancel_server_call,
                                .drop = free_server_call };
    c->tool = t;
    c->job = (struct server_job){
        .method = MCP_TOOLS_CALL,
        .name = t->name,
        .arguments = args ? json_copy(&c->arena, args) : json_empty_object(),
        .harmless = t->tool->effect != ALLM_EFFECT_WRITE,
        .done = finish_call,
        .progress = tell_progress,
        .schema = t->tool->schema,
    };
    if (c->job.arguments)
        return c;
    free_server_call(&c->run);
    return NULL;
}

void server_execute(allm_toolbox *t, const struct entry *e, allm_tool_run *run,
                    const allm_json *args)
{
    const struct server_tool *tool = e->data;
    const struct servers *all = tool->server->owner;
    (void)t;
    if (!crew_ready(all->opts.crew, run))
        return;
    struct server_call *c = new_server_call(all->mem, tool, args);
    if (c)
        crew_run_post(all->opts.crew, &c->run, run);
    else
        answer_fault(run, status_nomem());
}
