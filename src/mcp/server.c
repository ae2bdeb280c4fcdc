/*
 * server.c - offer tools, resources and prompts to MCP clients
 *
 * server_hear reads what a client says; server_write writes the messages.
 */
#include "mcp/server_parts.h"

#include "base/caller_struct.h"
#include "base/status.h"
#include "json/schema.h"

#include <math.h>

/* ------------------------------------------------------------------ new --- */

static const allm_error *refuse_options(allm_mcp_server *s, const char *what)
{
    return status_error(home_arena(s->home), ALLM_ERR_MISUSE, "misuse", "%s",
                        what);
}

/* NULL: it compiles, or there is none. */
static const allm_error *compile_schema(allm_mcp_server *s,
                                        const allm_json *schema,
                                        const char *name,
                                        allm_json_schema **out)
{
    if (!schema)
        return NULL;
    *out = allm_json_schema_new(schema);
    const allm_error *error = allm_json_schema_error(*out);
    if (!error || error->kind == ALLM_ERR_NOMEM)
        return error;
    return status_error(home_arena(s->home), ALLM_ERR_VALIDATION,
                        "invalid_tool", "a schema of the tool \"%s\": %s", name,
                        error->message);
}

static const allm_error *add_tool(allm_mcp_server *s, const allm_json *tool)
{
    struct slice name = json_text_at(tool, "name");
    struct served_tool *t = &s->tools[s->tool_count];
    if (!name.len)
        return status_error(home_arena(s->home), ALLM_ERR_VALIDATION,
                            "invalid_tool",
                            "a tool has no name; give each a "
                            "name");
    t->tool = tool;
    s->tool_count++;
    const allm_error *error = compile_schema(s, json_at(tool, "inputSchema"),
                                             name.ptr, &t->input);
    return error ? error
                 : compile_schema(s, json_at(tool, "outputSchema"), name.ptr,
                                  &t->output);
}

static const allm_error *add_tools(allm_mcp_server *s)
{
    const allm_error *error = NULL;
    const allm_json *v = NULL;
    size_t count = allm_json_count(s->opts.tools);
    s->tools = arena_zero(home_arena(s->home), count * sizeof *s->tools);
    if (!s->tools)
        return status_nomem();
    while (!error && s->opts.tools && (v = allm_json_next(s->opts.tools, v)))
        error = add_tool(s, v);
    return error;
}

/* Make everything in the options ours. */
static const allm_error *copy_options(allm_mcp_server *s)
{
    struct arena *a = home_arena(s->home);
    allm_mcp_server_opts *o = &s->opts;
    const allm_json **lists[] = { &o->tools, &o->resources, &o->templates,
                                  &o->prompts };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (*lists[i] && !json_is_type(*lists[i], ALLM_JSON_ARRAY))
            return refuse_options(s, "a list of the server is not an array; "
                                     "give arrays of objects, or NULL");
        *lists[i] = json_copy(a, *lists[i]);
    }
    if (!o->name || !*o->name || !o->version || !*o->version)
        return refuse_options(s, "the server has no name or no version; set "
                                 "both");
    o->name = arena_text(a, o->name);
    o->version = arena_text(a, o->version);
    o->instructions = arena_text(a, o->instructions);
    if (!o->page)
        o->page = SERVER_PAGE;
    return a->broken ? status_nomem() : add_tools(s);
}

/* A server without a client; NULL: no memory. */
static allm_mcp_server *make_server(const allm_mcp_server_opts *opts)
{
    struct mem mem = mem_from(opts->allocator);
    struct allm_home *h = home_new(mem, 1024);
    allm_mcp_server *s = h ? arena_zero(home_arena(h), sizeof *s) : NULL;
    if (!s) {
        home_drop(h);
        return NULL;
    }
    s->mem = mem;
    s->home = h;
    s->opts = *opts;
    ndjson_init(&s->lines, mem, RPC_LIMIT);
    arena_init(&s->out_arena, mem);
    buf_init(&s->out, &s->out_arena, SERVER_UNSENT);
    return s;
}

allm_mcp_server *allm_mcp_server_new(const allm_mcp_server_opts *given)
{
    allm_mcp_server_opts opts;
    bool known = caller_struct_take(&opts, sizeof opts, given);
    allm_mcp_server *s = make_server(&opts);
    if (!s)
        return NULL;
    s->error = known ? copy_options(s)
                     : refuse_options(s, "the options have a size that is not "
                                         "set, or a member that this library "
                                         "does not know");
    if (s->error && s->error->kind == ALLM_ERR_NOMEM) {
        allm_mcp_server_free(s);
        return NULL;
    }
    return s;
}

void allm_mcp_server_free(allm_mcp_server *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->tool_count; i++) {
        allm_json_schema_free(s->tools[i].input);
        allm_json_schema_free(s->tools[i].output);
    }
    struct serving **lists[] = { &s->servings, &s->cancelled };
    for (size_t i = 0; i < 2; i++)
        while (*lists[i]) {
            struct serving *v = *lists[i];
            *lists[i] = v->next;
            home_drop(v->home);
        }
    ndjson_release(&s->lines);
    arena_release(&s->out_arena);
    home_drop(s->home);
}

const allm_error *allm_mcp_server_error(const allm_mcp_server *s)
{
    return s ? s->error : status_nomem();
}

/* ---------------------------------------------------------------- bytes --- */

static allm_status status_of(const allm_mcp_server *s)
{
    return s->error ? s->error->kind : ALLM_OK;
}

allm_status allm_mcp_server_feed(allm_mcp_server *s, const char *bytes,
                                 size_t len)
{
    struct slice in = slice_given(bytes, len), line;
    enum wire_result result = WIRE_MORE;
    if (!s)
        return ALLM_ERR_NOMEM;
    while (!s->error &&
           (result = ndjson_next(&s->lines, &in, &line)) == WIRE_FRAME)
        server_hear(s, line);
    if (result == WIRE_TOO_LONG)
        server_lose(s, ALLM_ERR_STREAM, "malformed_event",
                    "the client sent a line of more than 16 MiB");
    else if (result == WIRE_NOMEM)
        server_lose(s, ALLM_ERR_NOMEM, NULL, NULL);
    return status_of(s);
}

const char *allm_mcp_server_out(const allm_mcp_server *s, size_t *len)
{
    size_t left = s && !s->out.broken ? s->out.len - s->sent : 0;
    if (len)
        *len = left;
    return left ? s->out.ptr + s->sent : NULL;
}

void allm_mcp_server_sent(allm_mcp_server *s, size_t len)
{
    if (!s)
        return;
    s->sent += len < s->out.len - s->sent ? len : s->out.len - s->sent;
    if (s->sent < s->out.len || s->out.broken)
        return;
    s->sent = 0;
    arena_release(&s->out_arena);       /* an idle server keeps nothing */
    arena_init(&s->out_arena, s->mem);
    buf_init(&s->out, &s->out_arena, SERVER_UNSENT);
}

/* ------------------------------------------------------------- requests --- */

const allm_mcp_request *allm_mcp_server_next(allm_mcp_server *s)
{
    if (!s)
        return NULL;
    struct serving *v = s->cancelled;
    if (v && !v->told) {                /* the caller has seen it */
        s->cancelled = v->next;
        home_drop(v->home);
        v = s->cancelled;
    }
    if (v) {
        v->told = false;
        return &v->request;
    }
    for (v = s->servings; v; v = v->next)
        if (!v->told && !v->asked_id) {
            v->told = true;
            return &v->request;
        }
    return NULL;
}

static struct serving **find_serving(allm_mcp_server *s, uint64_t id)
{
    struct serving **at = &s->servings;
    while (*at && (*at)->request.id != id)
        at = &(*at)->next;
    return at;
}

/* The request of this id, if it can be answered; else *status is what the
 * caller gets: a request may have been cancelled meanwhile. */
static struct serving **open_serving(allm_mcp_server *s, uint64_t id,
                                     allm_status *status)
{
    struct serving **at = s ? find_serving(s, id) : NULL;
    *status = s ? status_of(s) : ALLM_ERR_NOMEM;
    return at && *at && !s->error ? at : NULL;
}

static allm_status end_serving(allm_mcp_server *s, struct serving **at)
{
    struct serving *v = *at;
    *at = v->next;
    home_drop(v->home);
    return status_of(s);
}

/* Why a result does not fit the tool's outputSchema, in its arena; NULL: it
 * does.  Failed results need not. */
static const char *find_misfit(struct serving *v, const allm_json *result)
{
    const allm_json *value = json_at(result, "structuredContent");
    if (!v->tool || !v->tool->output ||
        allm_json_true(json_at(result, "isError")))
        return NULL;
    if (!value)
        return "The tool failed: its result has no structuredContent.";
    const allm_json *faults = schema_check(v->tool->output, value,
                                           home_arena(v->home));
    const allm_json *first = allm_json_at(faults, 0);
    if (!first)
        return NULL;
    struct buf b = buf_in(home_arena(v->home), 4096);
    buf_format(&b, "The tool failed: its result does not fit its schema: %s %s",
               json_text_at(first, "path").ptr,
               json_text_at(first, "message").ptr);
    return buf_slice(&b).ptr;
}

/* The members of a result, but not a resultType, which we know better. */
static void emit_result(struct emit *e, const allm_json *result)
{
    const allm_json *key = NULL;
    while ((key = allm_json_next(result, key)))
        if (!json_is(key, "resultType"))
            emit_entry(e, key);
}

allm_status allm_mcp_server_answer(allm_mcp_server *s, uint64_t id,
                                   const allm_json *result)
{
    struct emit e;
    allm_status status;
    struct serving **at = open_serving(s, id, &status);
    if (!at)
        return status;
    struct serving *v = *at;
    if (!json_is_type(result, ALLM_JSON_OBJECT))
        return ALLM_ERR_MISUSE;
    const char *misfit = find_misfit(v, result);
    if (misfit) {
        server_write_text(s, v->id, v->modern, slice_of(misfit), true);
        return end_serving(s, at);
    }
    server_begin_result(s, &e, v->id, v->modern);
    emit_result(&e, result);
    server_end_result(s, &e, v->modern,
                      v->request.kind == ALLM_MCP_REQUEST_READ &&
                          !json_at(result, "ttlMs"),
                      json_at(result, "_meta") != NULL);
    return end_serving(s, at);
}

allm_status allm_mcp_server_text(allm_mcp_server *s, uint64_t id,
                                 const char *text, size_t len, bool failed)
{
    allm_status status;
    struct serving **at = open_serving(s, id, &status);
    if (!at)
        return status;
    struct serving *v = *at;
    server_write_text(s, v->id, v->modern, slice_given(text, len), failed);
    return end_serving(s, at);
}

allm_status allm_mcp_server_fail(allm_mcp_server *s, uint64_t id,
                                 const char *message)
{
    allm_status status;
    struct serving **at = open_serving(s, id, &status);
    if (!at)
        return status;
    struct serving *v = *at;
    bool missing = v->request.kind == ALLM_MCP_REQUEST_READ && !v->modern;
    server_write_error(s, v->id, missing ? RPC_NO_RESOURCE : RPC_PARAMS,
                       message ? message : "the request failed", NULL);
    return end_serving(s, at);
}

/* ----------------------------------------------------------- questions --- */

static void emit_form(struct emit *e, const char *message,
                      const allm_json *schema)
{
    emit_member(e, "message", message);
    emit_member_value(e, "requestedSchema", schema);
}

/* A modern client gets the question as the result, and asks again. */
static allm_status ask_modern(allm_mcp_server *s, struct serving **at,
                              const char *message, const allm_json *schema)
{
    struct emit e;
    rpc_begin_result(&e, &s->out, (*at)->id);
    emit_member_word(&e, "resultType", "input_required");
    emit_member_open(&e, "inputRequests", '{');
    emit_member_open(&e, "answer", '{');
    emit_member_word(&e, "method", "elicitation/create");
    emit_member_open(&e, "params", '{');
    emit_member_word(&e, "mode", "form");
    emit_form(&e, message, schema);
    emit_close(&e, '}');
    emit_close(&e, '}');
    emit_close(&e, '}');
    server_end_result(s, &e, true, false, false);
    return end_serving(s, at);
}

static allm_status ask_legacy(allm_mcp_server *s, struct serving *v,
                              const char *message, const allm_json *schema)
{
    struct emit e;
    v->asked_id = ++s->last_id;
    rpc_begin_request(&e, &s->out, v->asked_id, "elicitation/create");
    emit_form(&e, message, schema);
    rpc_end(&e);
    server_end_line(s);
    return status_of(s);
}

allm_status allm_mcp_server_elicit(allm_mcp_server *s, uint64_t id,
                                   const char *message, const allm_json *schema)
{
    allm_status status;
    struct serving **at = open_serving(s, id, &status);
    if (!at)
        return status;
    struct serving *v = *at;
    if (!v->request.elicits || !message || v->asked_id ||
        !json_is_type(schema, ALLM_JSON_OBJECT))
        return ALLM_ERR_MISUSE;
    return v->modern ? ask_modern(s, at, message, schema)
                     : ask_legacy(s, v, message, schema);
}

allm_status allm_mcp_server_notify(allm_mcp_server *s, uint64_t id,
                                   double progress, double total,
                                   const char *message)
{
    struct emit e;
    allm_status status;
    struct serving **at = open_serving(s, id, &status);
    struct serving *v = at ? *at : NULL;
    if (s && (!isfinite(progress) || !isfinite(total)))
        return ALLM_ERR_MISUSE;         /* JSON cannot say it */
    if (!v || !v->token)
        return status;
    rpc_begin_notification(&e, &s->out, "notifications/progress");
    emit_member_value(&e, "progressToken", v->token);
    emit_member_number(&e, "progress", progress);
    if (total > 0)
        emit_member_number(&e, "total", total);
    if (message)
        emit_member(&e, "message", message);
    rpc_end(&e);
    server_end_line(s);
    return status_of(s);
}
