/*
 * client_form.c - the questions of a server: forms for the user, and roots
 *
 * A legacy server sends a request of its own and gets a response.  A modern
 * one answers our request with a list of questions; we send the request again
 * with all answers.  To the caller both are the same: an event with a form, and
 * mcp_client_answer().
 */
#include "mcp/client_parts.h"

#include "base/clock.h"
#include "json/build.h"
#include "json/schema.h"

/* ------------------------------------------------------------ questions --- */

static bool is_form(const struct mcp_client *c, const allm_json *params)
{
    const allm_json *mode = json_at(params, "mode");
    return c->opts.elicits && (!mode || json_is(mode, "form"));
}

void client_note_asking(struct mcp_client *c, int64_t now)
{
    if (c->questions && c->asked_at == INT64_MAX)
        c->asked_at = now;
    if (c->questions || c->asked_at == INT64_MAX)
        return;
    for (struct pending *p = c->pending; p; p = p->next) {
        if (p->silent_at != INT64_MAX)
            p->silent_at = clock_after(now, c->opts.silence_ms);
        p->total_at = clock_add(p->total_at, now - c->asked_at);
    }
    c->asked_at = INT64_MAX;
}

static bool has_many_questions(const struct mcp_client *c)
{
    size_t n = 0;
    for (const struct question *q = c->questions; q; q = q->next)
        n++;
    return n >= CLIENT_QUESTIONS;
}

/* Keep a question, and tell of it.  It shares the home of its message. */
static void add_question(struct mcp_client *c, struct allm_home *h,
                         const allm_json *params, struct question fields)
{
    struct question *q = arena_alloc(home_arena(h), sizeof *q);
    struct mcp_event *ev = q ? client_event(c, MCP_ELICIT, home_keep(h)) : NULL;
    if (!ev) {
        c->no_memory = true;
        return;
    }
    *q = fields;
    q->next = c->questions;
    q->home = home_keep(h);
    q->number = ++c->last_question;
    q->schema = json_at(params, "requestedSchema");
    c->questions = q;
    ev->question = q->number;
    ev->value = params;
    if (q->about) {
        ev->number = q->about->number;
        ev->ud = q->about->ud;
    }
}

bool client_question(struct mcp_client *c, struct allm_home *h,
                     const allm_json *id, const allm_json *params)
{
    if (!is_form(c, params) || has_many_questions(c))
        return false;
    add_question(c, h, params, (struct question){ .id = id });
    return true;
}

static struct question **find_question(struct mcp_client *c, uint64_t number)
{
    struct question **at = &c->questions;
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    return at;
}

void client_withdraw(struct mcp_client *c, const allm_json *id)
{
    struct question **at = &c->questions;
    while (*at && !((*at)->id && allm_json_equal((*at)->id, id)))
        at = &(*at)->next;
    struct question *q = *at;
    if (!q)
        return;
    *at = q->next;
    struct mcp_event *ev = client_event(c, MCP_WITHDRAWN, NULL);
    if (ev)
        ev->question = q->number;
    home_drop(q->home);
}

/* --------------------------------------------------------------- inputs --- */

static void add_uri_byte(struct buf *uri, unsigned char c)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    if (memchr(plain, c, sizeof plain - 1))
        buf_byte(uri, (char)c);
    else
        buf_format(uri, "%%%02X", c);
}

const allm_json *client_roots(const struct mcp_client *c, struct arena *a)
{
    struct build b = build_object_in(a);
    build_array_at(&b, "roots");
    if (c->opts.root) {
        struct buf uri = buf_in(a, SIZE_MAX - 1);
        buf_text(&uri, "file://");
        for (const char *s = c->opts.root; *s; s++)
            add_uri_byte(&uri, (unsigned char)*s);
        build_object(&b);
        build_text_at(&b, "uri", buf_slice(&uri));
        build_end(&b);
    }
    build_end(&b);
    return a->broken ? NULL : build_finish(&b);
}

/* One question about a request.  False: we cannot answer it. */
static bool take_input(struct mcp_client *c, struct pending *p, size_t i,
                       const allm_json *request)
{
    const allm_json *method = json_at(request, "method");
    const allm_json *params = json_at(request, "params");
    struct allm_home *h = p->inputs.home;
    if (json_is(method, "roots/list")) {
        p->inputs.answers[i] = client_roots(c, home_arena(h));
        c->no_memory = c->no_memory || !p->inputs.answers[i];
        p->inputs.missing--;
        return true;
    }
    if (!json_is(method, "elicitation/create") || !is_form(c, params) ||
        has_many_questions(c))
        return false;
    add_question(c, h, params, (struct question){ .about = p, .index = i });
    return true;
}

/* The server asks for what we do not offer; or for nothing. */
static void refuse_input(struct mcp_client *c, struct pending *p,
                         const allm_json *request)
{
    struct slice method = json_text_at(request, "method");
    client_fail(c, p, "handler_failed",
                "the server asks for input (%.*s) that is not available here",
                (int)(method.len < 60 ? method.len : 60),
                method.ptr ? method.ptr : "");
}

static void take_inputs(struct mcp_client *c, struct pending *p, int64_t now)
{
    const allm_json *key = NULL;
    size_t i = 0;
    while ((key = allm_json_next(p->inputs.requests, key))) {
        const allm_json *request = allm_json_value(key);
        if (!take_input(c, p, i++, request)) {
            refuse_input(c, p, request);
            return;
        }
    }
    if (!p->inputs.missing && !c->no_memory)
        client_send(c, p, now);
}

/* Is this a question at all?  Otherwise the request fails. */
static bool is_input(struct mcp_client *c, struct pending *p,
                     const allm_json *requests, const allm_json *state)
{
    bool named = (requests || state) &&
                 (!requests || json_is_type(requests, ALLM_JSON_OBJECT)) &&
                 (!state || json_is_type(state, ALLM_JSON_TEXT));
    if (named && p->rounds < CLIENT_ROUNDS)
        return true;
    client_fail(c, p, "handler_failed",
                named ? "the server asked for input more than %d times"
                      : "the server asks for input, but not for what",
                CLIENT_ROUNDS);
    return false;
}

void client_input(struct mcp_client *c, struct pending *p,
                  const allm_json *result, struct allm_home *h, int64_t now)
{
    const allm_json *requests = json_at(result, "inputRequests");
    const allm_json *state = json_at(result, "requestState");
    size_t count = allm_json_count(requests);
    if (!is_input(c, p, requests, state))
        return;
    home_drop(p->inputs.home);
    p->rounds++;
    p->id = 0;
    p->silent_at = INT64_MAX;
    p->inputs = (struct inputs){ .home = home_keep(h), .requests = requests,
                                 .state = state, .missing = count };
    p->inputs.answers = arena_zero(home_arena(h),
                                   count * sizeof *p->inputs.answers);
    if (p->inputs.answers)
        take_inputs(c, p, now);
    else
        c->no_memory = true;
}

/* -------------------------------------------------------------- answers --- */

const allm_json *mcp_form_fill(struct arena *a, const allm_json *schema,
                               const allm_json *content)
{
    const allm_json *properties = json_at(schema, "properties");
    const allm_json *key = NULL;
    const allm_json *full = content ? content : json_empty_object();
    if (!json_is_type(properties, ALLM_JSON_OBJECT))
        return full;
    while (full && (key = allm_json_next(properties, key))) {
        const allm_json *value = json_at(allm_json_value(key), "default");
        if (value && !json_get(full, json_slice(key)))
            full = json_set(a, full, json_slice(key), value);
    }
    return full;
}

const allm_json *mcp_form_faults(struct arena *a, const allm_json *schema,
                                 const allm_json *content)
{
    const allm_json *faults = json_empty_array();
    allm_json_schema *compiled = allm_json_schema_new(schema);
    /* A schema that does not compile restricts nothing: the server checks. */
    if (compiled && !allm_json_schema_error(compiled))
        faults = schema_check(compiled, content, a);
    allm_json_schema_free(compiled);
    return faults;
}

static const allm_json *make_answer(struct arena *a, enum mcp_action action,
                                    const allm_json *content)
{
    static const char *const words[] = { "accept", "decline", "cancel" };
    struct build b = build_object_in(a);
    build_text_at(&b, "action", slice_of(words[action]));
    if (action == MCP_ACCEPT)
        build_value_copy_at(&b, "content", content);
    return build_finish(&b);
}

/* Close a question, which is already removed from the list.  An answer about a
 * request of ours is kept until all of them are there. */
static void settle_question(struct mcp_client *c, struct question *q,
                            enum mcp_action action, const allm_json *content,
                            int64_t now)
{
    const allm_json *answer = make_answer(home_arena(q->home), action, content);
    if (!answer) {
        c->no_memory = true;
    } else if (!q->about) {
        client_reply(c, q->id, answer);
    } else {
        q->about->inputs.answers[q->index] = answer;
        if (!--q->about->inputs.missing)
            client_send(c, q->about, now);
    }
    home_drop(q->home);
    client_note_asking(c, now);
}

const allm_json *mcp_client_answer(struct mcp_client *c, uint64_t question,
                                   enum mcp_action action,
                                   const allm_json *content, struct arena *a,
                                   int64_t now)
{
    struct question **at = find_question(c, question);
    struct question *q = *at;
    if (!q)
        return NULL;
    if (action == MCP_ACCEPT) {
        content = mcp_form_fill(a, q->schema, content);
        const allm_json *faults = content
                                      ? mcp_form_faults(a, q->schema, content)
                                      : NULL;
        if (allm_json_count(faults))
            return faults;
        if (!faults) {
            c->no_memory = true;
            return NULL;
        }
    }
    *at = q->next;
    settle_question(c, q, action, content, now);
    return NULL;
}
