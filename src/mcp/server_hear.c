/*
 * server_hear.c - what an MCP client says
 *
 * A request with the revision in its _meta is modern, and stands alone.  All
 * others are legacy and need an "initialize" before them.  Both kinds may
 * come over the same connection.
 */
#include "mcp/server_parts.h"

#include "json/build.h"
#include "json/schema.h"

/* --------------------------------------------------------------- sender --- */

static bool can_elicit(const allm_json *capabilities)
{
    const allm_json *elicitation = json_at(capabilities, "elicitation");
    return elicitation &&
           (!allm_json_count(elicitation) || json_at(elicitation, "form"));
}

/* {"supported": [...], "requested": R}; NULL: no memory. */
static const allm_json *revision_data(struct arena *a, const allm_json *asked)
{
    struct build b = build_object_in(a);
    build_array_at(&b, "supported");
    for (size_t i = 0; revision_at(i); i++)
        build_text(&b, slice_of(revision_at(i)->name));
    build_end(&b);
    build_value_at(&b, "requested", asked);
    return build_finish(&b);
}

/* A request without a revision is legacy; the first one must be initialize. */
static bool find_legacy(allm_mcp_server *s, const struct rpc *m,
                        struct sender *out)
{
    bool discover = slice_is(m->method, "server/discover");
    *out = (struct sender){ s->revision, s->elicits };
    if (s->revision || slice_is(m->method, "initialize") ||
        slice_is(m->method, "ping"))
        return true;
    server_write_error(s, m->id, discover ? RPC_PARAMS : RPC_INVALID,
                       "send initialize first, or name the protocol version in "
                       "_meta of each request",
                       NULL);
    return false;
}

/* Who asks?  False: the request is answered with an error. */
static bool find_sender(allm_mcp_server *s, const struct rpc *m,
                        struct arena *a, struct sender *out)
{
    const allm_json *meta = json_at(m->params, "_meta");
    const allm_json *name = json_at(meta, RPC_META("protocolVersion"));
    const allm_json *can = json_at(meta, RPC_META("clientCapabilities"));
    const struct revision *r = revision_find(json_slice(name));
    bool known = json_is_type(can, ALLM_JSON_OBJECT);
    if (!name)
        return find_legacy(s, m, out);
    *out = (struct sender){ r, can_elicit(can) };
    if (!r || !r->modern)
        server_write_error(s, m->id, RPC_NO_REVISION,
                           "this protocol version is not supported here",
                           revision_data(a, name));
    else if (!known)
        server_write_error(s, m->id, RPC_PARAMS,
                           "_meta has no clientCapabilities", NULL);
    return r && r->modern && known;
}

/* ------------------------------------------------------------- greeting --- */

static void emit_capability(struct emit *e, const char *name, bool has)
{
    if (!has)
        return;
    emit_member_open(e, name, '{');
    emit_close(e, '}');
}

static void emit_greeting(const allm_mcp_server *s, struct emit *e)
{
    emit_member_open(e, "capabilities", '{');
    emit_capability(e, "tools", s->opts.tools);
    emit_capability(e, "resources", s->opts.resources || s->opts.templates);
    emit_capability(e, "prompts", s->opts.prompts);
    emit_close(e, '}');
    if (s->opts.instructions)
        emit_member(e, "instructions", s->opts.instructions);
}

static void greet_legacy(allm_mcp_server *s, const struct rpc *m)
{
    struct emit e;
    const struct revision *r =
        revision_find(json_text_at(m->params, "protocolVersion"));
    s->revision = r && !r->modern ? r : revision_legacy();
    s->elicits = can_elicit(json_at(m->params, "capabilities"));
    server_begin_result(s, &e, m->id, false);
    emit_member_word(&e, "protocolVersion", s->revision->name);
    emit_greeting(s, &e);
    emit_member_open(&e, "serverInfo", '{');
    emit_member(&e, "name", s->opts.name);
    emit_member(&e, "version", s->opts.version);
    emit_close(&e, '}');
    server_end_result(s, &e, false, false, false);
}

static void greet_modern(allm_mcp_server *s, const struct rpc *m)
{
    struct emit e;
    server_begin_result(s, &e, m->id, true);
    emit_member_open(&e, "supportedVersions", '[');
    for (size_t i = 0; revision_at(i); i++)
        emit_word(&e, revision_at(i)->name);
    emit_close(&e, ']');
    emit_greeting(s, &e);
    server_end_result(s, &e, true, true, false);
}

/* Our lists never change, so there is nothing to tell. */
static void acknowledge_listen(allm_mcp_server *s, const struct rpc *m)
{
    struct emit e;
    rpc_begin_notification(&e, &s->out,
                           "notifications/subscriptions/acknowledged");
    emit_member_open(&e, "notifications", '{');
    emit_close(&e, '}');
    emit_member_open(&e, "_meta", '{');
    emit_member_value(&e, RPC_META("subscriptionId"), m->id);
    emit_close(&e, '}');
    rpc_end(&e);
    server_end_line(s);
}

/* ---------------------------------------------------------------- lists --- */

/* A cursor is the index of the first item.  False: it is not one of ours. */
static bool read_cursor(const allm_json *params, size_t count, size_t *from)
{
    const allm_json *cursor = json_at(params, "cursor");
    struct slice s = json_slice(cursor);
    *from = 0;
    if (!cursor || json_is_type(cursor, ALLM_JSON_NULL))
        return true;
    for (size_t i = 0; i < s.len && i < 9; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
        *from = *from * 10 + (size_t)(s.ptr[i] - '0');
    }
    return s.len && s.len < 10 && *from && *from < count;
}

static void emit_items(struct emit *e, const allm_json *list, size_t from,
                       size_t to)
{
    const allm_json *v = NULL;
    for (size_t i = 0; i < to && (v = allm_json_next(list, v)); i++)
        if (i >= from)
            emit_value(e, v);
}

static void answer_list(allm_mcp_server *s, const struct rpc *m,
                        const char *member, const allm_json *list,
                        struct arena *a, bool modern)
{
    struct emit e;
    struct buf cursor;
    size_t from, count = allm_json_count(list);
    if (!read_cursor(m->params, count, &from)) {
        server_write_error(s, m->id, RPC_PARAMS, "the cursor is not valid",
                           NULL);
        return;
    }
    size_t to = from + s->opts.page;
    server_begin_result(s, &e, m->id, modern);
    emit_member_open(&e, member, '[');
    emit_items(&e, list, from, to);
    emit_close(&e, ']');
    if (to < count) {
        buf_init(&cursor, a, 32);
        buf_uint(&cursor, to);
        emit_member_text(&e, "nextCursor", buf_slice(&cursor));
        s->out.broken = s->out.broken || cursor.broken;
    }
    server_end_result(s, &e, modern, true, false);
}

/* ------------------------------------------------------------- requests --- */

static const struct served_tool *find_tool(const allm_mcp_server *s,
                                           struct slice name)
{
    for (size_t i = 0; i < s->tool_count; i++)
        if (slice_eq(json_text_at(s->tools[i].tool, "name"), name))
            return &s->tools[i];
    return NULL;
}

static bool has_item(const allm_json *list, const char *key, struct slice name)
{
    const allm_json *v = NULL;
    if (!json_is_type(list, ALLM_JSON_ARRAY))
        return false;
    while ((v = allm_json_next(list, v)))
        if (slice_eq(json_text_at(v, key), name))
            return true;
    return false;
}

static bool has_id(const allm_mcp_server *s, const allm_json *id)
{
    for (const struct serving *v = s->servings; v; v = v->next)
        if (allm_json_equal(v->id, id))
            return true;
    return false;
}

/* Tell the model what is wrong with its arguments. */
static void answer_faults(allm_mcp_server *s, const struct rpc *m,
                          const allm_json *faults, struct arena *a, bool modern)
{
    const allm_json *fault = NULL;
    struct buf text = buf_in(a, 64 * 1024);
    buf_text(&text, "The arguments do not fit the schema of the tool.");
    while ((fault = allm_json_next(faults, fault))) {
        struct slice path = json_text_at(fault, "path");
        buf_byte(&text, '\n');
        buf_add(&text, path.len ? path : SLICE("arguments"));
        buf_text(&text, ": ");
        buf_add(&text, json_text_at(fault, "message"));
    }
    server_write_text(s, m->id, modern, buf_slice(&text), true);
}

/* Do they fit the schema?  Otherwise the request is answered. */
static bool check_arguments(allm_mcp_server *s, const struct rpc *m,
                            const struct served_tool *t, struct arena *a,
                            bool modern)
{
    const allm_json *args = json_at(m->params, "arguments");
    if (!t->input)
        return true;
    const allm_json *faults =
        schema_check(t->input, args ? args : json_empty_object(), a);
    if (!faults)
        server_lose(s, ALLM_ERR_NOMEM, NULL, NULL);
    else if (allm_json_count(faults))
        answer_faults(s, m, faults, a, modern);
    return faults && !allm_json_count(faults);
}

/* The first answer that a modern client sends with the request again. */
static const allm_json *first_answer(const allm_json *params)
{
    const allm_json *answers = json_at(params, "inputResponses");
    const allm_json *key = json_is_type(answers, ALLM_JSON_OBJECT)
                               ? allm_json_next(answers, NULL)
                               : NULL;
    return key ? allm_json_value(key) : NULL;
}

/* Keep a request for the caller; it lives in the home of its message. */
static void add_serving(allm_mcp_server *s, const struct rpc *m,
                        struct allm_home *h, struct serving fields,
                        struct slice name)
{
    struct serving *v = arena_zero(home_arena(h), sizeof *v);
    struct serving **end = &s->servings;
    if (!v) {
        server_lose(s, ALLM_ERR_NOMEM, NULL, NULL);
        return;
    }
    while (*end)
        end = &(*end)->next;
    *v = fields;
    v->home = home_keep(h);
    v->id = m->id;
    v->token = json_at(json_at(m->params, "_meta"), "progressToken");
    v->request.size = sizeof v->request;
    v->request.id = ++s->last_id;
    v->request.name = name.ptr;
    if (!v->request.arguments)
        v->request.arguments = json_empty_object();
    v->request.answer = v->modern ? first_answer(m->params) : NULL;
    *end = v;
}

struct wanted {
    const char *method, *key;
    allm_mcp_request_kind kind;
};

struct work {
    const struct wanted *wanted;
    struct slice name;
    const struct served_tool *tool;     /* NULL: it is not a call */
    bool modern;
};

/* A template may cover any URI: the caller knows. */
static bool exists(const allm_mcp_server *s, const struct work *w)
{
    switch (w->wanted->kind) {
    case ALLM_MCP_REQUEST_CALL:
        return w->tool != NULL;
    case ALLM_MCP_REQUEST_READ:
        return s->opts.templates || has_item(s->opts.resources, "uri", w->name);
    default:
        return has_item(s->opts.prompts, "name", w->name);
    }
}

static size_t count_servings(const allm_mcp_server *s)
{
    size_t n = 0;
    for (const struct serving *v = s->servings; v; v = v->next)
        n++;
    return n;
}

/* Why the server refuses a request, and its code; NULL: it does not. */
static const char *find_refusal(const allm_mcp_server *s, const struct rpc *m,
                                const struct work *w, int *code)
{
    const allm_json *args = json_at(m->params, "arguments");
    bool read = w->wanted->kind == ALLM_MCP_REQUEST_READ;
    *code = read && !w->modern && w->name.ptr ? RPC_NO_RESOURCE : RPC_PARAMS;
    if (!w->name.ptr || !exists(s, w))
        return "there is nothing of this name";
    *code = RPC_PARAMS;
    if (args && !json_is_type(args, ALLM_JSON_OBJECT))
        return "the arguments are not an object";
    *code = RPC_INVALID;
    if (has_id(s, m->id))
        return "a request with this id is under way";
    *code = RPC_INTERNAL;
    if (count_servings(s) >= SERVER_REQUESTS)
        return "too many requests are under way";
    return NULL;
}

static void take_work(allm_mcp_server *s, const struct rpc *m,
                      const struct wanted *wanted, struct allm_home *h,
                      struct sender who)
{
    int code;
    struct work w = { .wanted = wanted, .modern = who.revision->modern };
    w.name = json_text_at(m->params, wanted->key);
    if (wanted->kind == ALLM_MCP_REQUEST_CALL)
        w.tool = find_tool(s, w.name);
    const char *refusal = find_refusal(s, m, &w, &code);
    if (refusal)
        server_write_error(s, m->id, code, refusal, NULL);
    if (refusal ||
        (w.tool && !check_arguments(s, m, w.tool, home_arena(h), w.modern)))
        return;
    struct serving fields = { .tool = w.tool, .modern = w.modern };
    fields.request.kind = wanted->kind;
    fields.request.elicits = who.elicits;
    fields.request.arguments = json_at(m->params, "arguments");
    add_serving(s, m, h, fields, w.name);
}

/* A request that the lists answer.  False: it is another one. */
static bool take_list(allm_mcp_server *s, const struct rpc *m, struct arena *a,
                      bool modern)
{
    const struct {
        const char *method, *member;
        const allm_json *list, *also;
    } rows[] = {
        { "tools/list", "tools", s->opts.tools, NULL },
        { "resources/list", "resources", s->opts.resources, s->opts.templates },
        { "resources/templates/list", "resourceTemplates", s->opts.templates,
          s->opts.resources },
        { "prompts/list", "prompts", s->opts.prompts, NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (slice_is(m->method, rows[i].method) &&
            (rows[i].list || rows[i].also)) {
            answer_list(s, m, rows[i].member, rows[i].list, a, modern);
            return true;
        }
    return false;
}

static const struct wanted *find_wanted(const allm_mcp_server *s,
                                        struct slice method)
{
    static const struct wanted rows[] = {
        { "tools/call", "name", ALLM_MCP_REQUEST_CALL },
        { "resources/read", "uri", ALLM_MCP_REQUEST_READ },
        { "prompts/get", "name", ALLM_MCP_REQUEST_PROMPT },
    };
    const bool has[] = { s->opts.tools,
                         s->opts.resources || s->opts.templates,
                         s->opts.prompts };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (slice_is(method, rows[i].method) && has[i])
            return &rows[i];
    return NULL;
}

static void take_request(allm_mcp_server *s, const struct rpc *m,
                         struct allm_home *h)
{
    struct sender who;
    struct emit e;
    if (!find_sender(s, m, home_arena(h), &who))
        return;
    bool modern = who.revision && who.revision->modern;
    const struct wanted *w = find_wanted(s, m->method);
    if (w) {
        take_work(s, m, w, h, who);
    } else if (!modern && slice_is(m->method, "initialize")) {
        greet_legacy(s, m);
    } else if (modern && slice_is(m->method, "server/discover")) {
        greet_modern(s, m);
    } else if (modern && slice_is(m->method, "subscriptions/listen")) {
        acknowledge_listen(s, m);
    } else if (!modern && slice_is(m->method, "ping")) {
        server_begin_result(s, &e, m->id, false);
        server_end_result(s, &e, false, false, false);
    } else if (!take_list(s, m, home_arena(h), modern)) {
        server_write_error(s, m->id, RPC_NO_METHOD,
                           "this server has no such method", NULL);
    }
}

/* ------------------------------------------------------- other messages --- */

static void take_cancelled(allm_mcp_server *s, const struct rpc *m)
{
    const allm_json *id = json_at(m->params, "requestId");
    struct serving **at = &s->servings;
    if (!id)
        return;
    while (*at && !allm_json_equal((*at)->id, id))
        at = &(*at)->next;
    struct serving *v = *at;
    if (!v)
        return;
    *at = v->next;
    v->request.kind = ALLM_MCP_REQUEST_CANCEL;
    if (v->told) {
        v->next = s->cancelled;
        s->cancelled = v;
    } else {
        home_drop(v->home);             /* the caller never knew of it */
    }
}

/* The request about which we asked with this id, or NULL. */
static struct serving *find_asked(const allm_mcp_server *s, const struct rpc *m)
{
    uint64_t id = 0;
    struct serving *v = allm_json_uint64(m->id, &id) && id ? s->servings : NULL;
    while (v && v->asked_id != id)
        v = v->next;
    return v;
}

/* What the user said: the caller gets the request once more.  An answer that
 * is malformed says nothing. */
static void take_answer(allm_mcp_server *s, const struct rpc *m,
                        struct allm_home *h)
{
    struct serving *v = find_asked(s, m);
    if (!v)
        return;
    v->request.answer = m->kind == RPC_RESULT
                            ? m->result
                            : build_one_text(home_arena(h), "action",
                                             SLICE("cancel"));
    if (!v->request.answer || !home_hold(v->home, h))
        server_lose(s, ALLM_ERR_NOMEM, NULL, NULL);
    v->asked_id = 0;
    v->told = false;
}

void server_hear(allm_mcp_server *s, struct slice line)
{
    struct rpc m;
    struct allm_home *h = home_new(s->mem, 1024 + 2 * line.len);
    if (!h || !rpc_read(home_arena(h), line, &m))
        server_lose(s, ALLM_ERR_NOMEM, NULL, NULL);
    else if (m.kind == RPC_BAD && !(m.is_answer && find_asked(s, &m)))
        server_write_error(s, m.id, m.code, m.fault, NULL);
    else if (m.kind == RPC_REQUEST)
        take_request(s, &m, h);
    else if (m.kind != RPC_NOTIFICATION)
        take_answer(s, &m, h);
    else if (slice_is(m.method, "notifications/cancelled"))
        take_cancelled(s, &m);
    home_drop(h);
}
