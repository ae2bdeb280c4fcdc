/*
 * dispatch.c - the fourth stage: tools are run, and their events told
 *
 *      calls --> manual ones    left to the caller
 *            --> replayed ones  their results are taken from a journal
 *            --> the others     one batch, pulled event by event
 *
 * Calls that were rejected before are told like those that ran, so that a fold
 * over the events sees every result.
 */
#include "turn/dispatch.h"

#include "base/buf.h"
#include "base/status.h"
#include "turn/pipeline.h"
#include "json/build.h"
#include "json/json.h"

enum { MARK_ROOM = 96 };        /* for the words in place of what is cut */

void dispatch_stop(struct turn_tools *t)
{
    if (t->batch)
        batch_stop(t->batch);
    batch_free(t->batch);
    t->batch = NULL;
}

/* ----------------------------------------------------------------- events --- */

/* {"error": text} or {"ok": text} */
static const allm_json *result_json(allm_context *c, const allm_call_result *r)
{
    struct build b;
    build_init(&b, c->arena);
    build_object(&b);
    build_key(&b, r->is_error ? SLICE("error") : SLICE("ok"));
    build_text(&b, (struct slice){ r->content, r->content_len });
    build_end(&b);
    return build_done(&b);
}

/* The three events of a result that no batch made. */
static void tell_result(allm_context *c, const allm_call_result *r)
{
    allm_event *started = context_put(c, ALLM_EV_TOOL_EXECUTION_STARTED);
    allm_event *completed = context_put(c, ALLM_EV_TOOL_EXECUTION_COMPLETED);
    allm_event *encoded = context_put(c, ALLM_EV_TOOL_RESULT_ENCODED);
    if (!started || !completed || !encoded)
        return;
    started->id = completed->id = encoded->id = r->call->id;
    started->name = completed->name = r->call->name;
    started->arguments = r->call->arguments;
    completed->result = result_json(c, r);
    encoded->text = r->content;
    encoded->text_len = r->content_len;
}

/* Results that stages before this one have given: their calls do not run. */
static void tell_rejected(allm_context *c)
{
    for (size_t i = 0; i < c->result_count; i++) {
        allm_call_result *r = arena_alloc(c->arena, sizeof *r);
        if (!r)
            return;             /* the arena remembers it */
        *r = *c->results[i];
        r->rejected = 1;
        c->results[i] = r;
        tell_result(c, r);
    }
}

/* ----------------------------------------------------------------- output --- */

/* Where a text may be cut: not inside a character. */
static size_t at_character(const char *text, size_t at, bool up, size_t len)
{
    while (at && at < len && ((unsigned char)text[at] & 0xc0) == 0x80)
        at += up ? 1 : (size_t)-1;
    return at;
}

/* Head and tail of a text that is too long for the model. */
static struct slice shorten(allm_context *c, struct slice text)
{
    size_t max = c->terms->max_output;
    struct buf out;
    if (!max || text.len <= max)
        return text;
    size_t keep = max > MARK_ROOM ? max - MARK_ROOM : 0;
    size_t head = at_character(text.ptr, keep - keep / 3, false, text.len);
    size_t tail = at_character(text.ptr, text.len - keep / 3, true, text.len);
    buf_init(&out, c->arena, SIZE_MAX / 2);
    buf_add(&out, (struct slice){ text.ptr, head });
    buf_format(&out, "\n[%zu of %zu bytes left out: bytes %zu to %zu]\n",
               tail - head, text.len, head, tail);
    buf_add(&out, slice_skip(text, tail));
    c->broken = c->broken || out.broken;
    return buf_slice(&out);
}

static void keep_whole(allm_context *c, const char *id, struct slice text)
{
    const struct turn_terms *t = c->terms;
    if (t->max_output && text.len > t->max_output && t->keep_whole &&
        !t->keep_whole(t->keep_ud, id, text))
        c->broken = true;
}

/* ----------------------------------------------------------------- replay --- */

static const allm_journal_tool *replayed(const struct turn_tools *t,
                                         const char *id)
{
    const allm_journal_replay *r = t->replay;
    for (size_t i = 0; r && i < r->tool_count; i++)
        if (!strcmp(r->tools[i]->tool_call_id, id))
            return r->tools[i];
    return NULL;
}

/* The halt that the journal tells of, and its event. */
static void replay_halt(allm_context *c, const allm_tool_call *call,
                        const allm_journal_tool *old)
{
    bool ask = !strcmp(old->reason, "ask_user");
    struct turn_halt halt = { .index = context_index(c, call->id), .ask = ask,
                              .id = call->id, .reason = old->reason };
    allm_event *e = context_put(c, ask ? ALLM_EV_ASK_USER_REQUESTED
                                       : ALLM_EV_TOOL_HALT);
    if (!e)
        return;
    e->id = call->id;
    e->name = call->name;
    e->reason = old->reason;
    if (ask) {
        halt.question = old->content;
        halt.opts = e->opts = old->value ? old->value : json_empty_object();
        e->text = old->content;
        e->text_len = strlen(old->content);
    } else {
        halt.result = e->result = old->value;
        e->text = old->content;
        e->text_len = old->content_len ? old->content_len
                                       : strlen(old->content);
    }
    context_halt(c, &halt);
}

/* Take the result of a call from the journal. */
static void replay_result(allm_context *c, const allm_tool_call *call,
                          const allm_journal_tool *old)
{
    bool ask = old->reason && !strcmp(old->reason, "ask_user");
    const char *content = ask ? "<awaiting user response>" : old->content;
    size_t len = ask || !old->content_len ? ALLM_NUL_ENDED : old->content_len;
    if (allm_context_add_result(c, call, content, len, old->is_error) < 0) {
        c->broken = true;
        return;
    }
    if (old->reason) {
        replay_halt(c, call, old);
        return;
    }
    for (size_t i = 0; i < c->result_count; i++)
        if (c->results[i]->call == call)
            tell_result(c, c->results[i]);
}

/* A write that was begun and is not known to have ended is not run again. */
static bool is_unknown(const allm_journal_tool *old, const allm_tool *tool)
{
    return old && !old->done && tool && tool->effect == ALLM_EFFECT_WRITE;
}

/* -------------------------------------------------------------- beginning --- */

/* Who answers this call?  True: a function, now. */
static bool runs_now(allm_context *c, const allm_tool_call *call)
{
    struct turn_tools *t = c->runner;
    const allm_tool *tool = context_tool(c, call->name, NULL);
    const allm_journal_tool *old = replayed(t, call->id);
    if (old && old->done) {
        replay_result(c, call, old);
        return false;
    }
    if (is_unknown(old, tool))
        t->unknown[t->unknown_count++] = call;
    if (is_unknown(old, tool) || (tool && tool->manual)) {
        c->manual[c->manual_count++] = call;
        return false;
    }
    return true;
}

static allm_status announce(const struct turn_tools *t, const allm_context *c,
                            size_t n, const allm_tool_call **calls)
{
    allm_status status = ALLM_OK;
    for (size_t i = 0; t->intent && status == ALLM_OK && i < n; i++)
        status = t->intent(t->ud, calls[i],
                           context_tool(c, calls[i]->name, NULL));
    return status;
}

static allm_status begin(allm_context *c)
{
    struct turn_tools *t = c->runner;
    size_t n = 0, room = (c->call_count + 1) * sizeof(void *);
    const allm_tool_call **mine = arena_alloc(c->arena, room);
    c->manual = arena_alloc(c->arena, room);
    t->unknown = arena_alloc(c->arena, room);
    t->begun = true;
    if (!mine || !c->manual || !t->unknown)
        return ALLM_ERR_NOMEM;
    tell_rejected(c);
    for (size_t i = 0; i < c->call_count; i++)
        if (runs_now(c, c->calls[i]))
            mine[n++] = c->calls[i];
    allm_status status = announce(t, c, n, mine);
    if (status < 0)
        return status;
    if (n) {
        t->batch = batch_new(&t->env, n, mine, c->tool_count, c->tools,
                             &t->opts);
        if (!t->batch)
            return ALLM_ERR_NOMEM;
        if (batch_error(t->batch))
            return allm_context_fail(c, batch_error(t->batch));
    }
    c->calls = mine;
    c->call_count = n;
    return c->events ? ALLM_EVENT : ALLM_OK;
}

/* ----------------------------------------------------------------- ending --- */

static const struct batch_result *result_of(const struct batch *b,
                                            const char *id)
{
    for (size_t i = 0; i < batch_count(b); i++) {
        const struct batch_result *r = batch_at(b, i);
        if (r && !strcmp(r->call->id, id))
            return r;           /* it is over */
    }
    return NULL;
}

static void note_halt(allm_context *c, const struct batch_result *r)
{
    const struct outcome *o = &r->outcome;
    struct turn_halt halt = {
        .index = context_index(c, r->call->id),
        .ask = o->kind == OUTCOME_ASK,
        .id = r->call->id,
        .reason = allm_json_text(allm_json_get(r->halt, "halted_reason"), NULL),
        .question = o->question,
        .result = o->value,
        .opts = o->opts,
        .error = r->error,
    };
    context_halt(c, &halt);
}

static allm_status gather(allm_context *c)
{
    struct batch *b = c->runner->batch;
    size_t n = b ? batch_count(b) : 0;
    for (size_t i = 0; i < n; i++) {
        const struct batch_result *r = batch_at(b, i);
        struct slice text = { r->message->text, r->message->text_len };
        keep_whole(c, r->call->id, text);
        text = shorten(c, text);
        if (allm_context_add_result(c, c->calls[i], text.ptr, text.len,
                                    r->is_error) < 0)
            return ALLM_ERR_NOMEM;
        if (r->halt)
            note_halt(c, r);
    }
    context_note_n(c, "dispatch", (int64_t)n);
    return c->broken ? ALLM_ERR_NOMEM : ALLM_OK;
}

static bool ends_a_call(allm_event_type type)
{
    return type == ALLM_EV_TOOL_RESULT_ENCODED || type == ALLM_EV_TOOL_HALT ||
           type == ALLM_EV_ASK_USER_REQUESTED;
}

/* Hand an event of the batch on. */
static allm_status pass(allm_context *c, const allm_event *event)
{
    struct turn_tools *t = c->runner;
    allm_event *mine = context_put(c, event->type);
    if (!mine)
        return ALLM_ERR_NOMEM;
    *mine = *event;
    if (!ends_a_call(event->type))
        return ALLM_EVENT;
    const struct batch_result *r = result_of(t->batch, event->id);
    if (event->type == ALLM_EV_TOOL_HALT && r)
        mine->error = r->error;
    if (event->type != ALLM_EV_ASK_USER_REQUESTED && mine->text) {
        struct slice text =
            shorten(c, (struct slice){ mine->text,
                                                       mine->text_len });
        mine->text = text.ptr;
        mine->text_len = text.len;
    }
    allm_status status = t->settled && r ? t->settled(t->ud, r) : ALLM_OK;
    return status < 0 ? status : ALLM_EVENT;
}

allm_status dispatch_run(allm_context *c, void *ud)
{
    struct turn_tools *t = c->runner;
    allm_event *event = NULL;
    (void)ud;
    if (!t->begun) {
        allm_status status = begin(c);
        if (status != ALLM_OK)
            return status;
    }
    if (!t->batch)
        return gather(c);
    allm_status status = batch_next(t->batch, &event, &c->again_ns);
    if (status == ALLM_EVENT)
        return pass(c, event);
    if (status < 0 && batch_error(t->batch))
        return allm_context_fail(c, batch_error(t->batch));
    return status == ALLM_OK ? gather(c) : status;
}
