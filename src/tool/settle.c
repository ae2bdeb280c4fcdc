/*
 * settle.c - what the outcome of a call comes to: content, halt, error
 *
 *      ok, halt, ask_user   encoded, or a failure if that is impossible
 *      a failure            told to the model, halts, or asks the callback
 */
#include "tool/batch_parts.h"
#include "json/build.h"
#include "json/json.h"

/* What a halting call says in the metadata of a result. */
static const allm_json *halt_json(struct batch *b, const struct slot *s)
{
    const struct outcome *o = &s->result.outcome;
    bool ask = o->kind == OUTCOME_ASK, own = o->kind == OUTCOME_HALT;
    struct build m;
    build_init(&m, b->arena);
    build_object(&m);
    build_key(&m, SLICE("halted_reason"));
    build_text(&m, ask   ? SLICE("ask_user")
                   : own ? slice_of(o->reason)
                         : SLICE("tool_error"));
    if (ask) {
        build_key(&m, SLICE("pending_question"));
        build_text(&m, slice_of(o->question));
    }
    build_key(&m,
              ask ? SLICE("pending_tool_call_id") : SLICE("halt_tool_call_id"));
    build_text(&m, slice_of(s->result.call->id));
    if (ask || own) {
        build_key(&m, ask ? SLICE("ask_user_opts") : SLICE("halt_result"));
        build_value(&m, ask ? o->opts : o->value);
    }
    build_end(&m);
    return build_done(&m);
}

static void halt(struct batch *b, struct slot *s)
{
    s->result.halt = halt_json(b, s);
    if (!s->result.halt)
        batch_no_memory(b);
}

/* The content of a value; false: it has none, and the outcome says why. */
static bool encode(struct batch *b, struct slot *s, const allm_json *value,
                   struct outcome *why)
{
    const char *reason;
    if (encoder_value(b->opts.encoder, b->arena, value, &s->content, &reason))
        return true;
    *why = reason ? outcome_failed(b->arena, "encoding_failed", "%s", reason)
                  : (struct outcome){ .kind = OUTCOME_NOMEM };
    return false;
}

/* The error of the outcome, and its text for the model. */
static void write_failure(struct batch *b, struct slot *s)
{
    struct batch_result *r = &s->result;
    if (r->outcome.kind == OUTCOME_NOMEM) {
        batch_no_memory(b);
        return;
    }
    r->is_error = true;
    r->error = outcome_error(b->arena, &r->outcome, r->call->name, r->call->id);
    if (!r->error || !encoder_failure(b->opts.encoder, b->opts.style, b->arena,
                                      &r->outcome, r->error, &s->content))
        batch_no_memory(b);
}

static const allm_json *mark(struct batch *b, struct slice key)
{
    struct build m;
    build_init(&m, b->arena);
    build_object(&m);
    build_key(&m, key);
    build_bool(&m, true);
    build_end(&m);
    return build_done(&m);
}

/* The callback failed, or answered what makes no sense. */
static struct outcome callback_failed(struct batch *b, const struct outcome *o)
{
    bool raised = o->kind == OUTCOME_FAILED &&
                  !strcmp(o->reason, "handler_raised");
    struct outcome made = outcome_failed(
        b->arena, "invalid_return", "%s%s",
        raised ? "the on_tool_error function failed: "
               : "the on_tool_error function must answer with allm_tool_ok(), "
                 "_text(), _halt() or _raise()",
        raised ? o->detail : "");
    made.metadata = mark(b, raised ? SLICE("on_tool_error_raised")
                                   : SLICE("on_tool_error_invalid"));
    if (!made.metadata)
        made.kind = OUTCOME_NOMEM;
    return made;
}

/* Ask the function what to do: keeps (4). */
static struct outcome ask_callback(struct batch *b, struct slot *s)
{
    struct allm_tool_run *run = run_new(b->desk, s->result.call, s->arguments,
                                        s->result.tool, NULL);
    if (!run)
        return (struct outcome){ .kind = OUTCOME_NOMEM };
    run->is_callback = run->is_verdict = run->busy = true;
    b->opts.on_error(run, s->result.error, b->opts.on_error_ud);
    return run->outcome;
}

/* Put the replacement in place of the failure; false: it cannot be read. */
static bool replace(struct batch *b, struct slot *s, const struct outcome *o)
{
    struct outcome why;
    if (!encode(b, s, o->value, &why)) {
        s->result.outcome = why;
        return false;
    }
    s->result.outcome = *o;
    s->result.error = NULL;
    s->result.is_error = false;
    return true;
}

static void call_back(struct batch *b, struct slot *s)
{
    struct outcome o = ask_callback(b, s);
    if (o.kind == OUTCOME_OK && replace(b, s, &o))
        return;
    if (o.kind == OUTCOME_NOMEM)
        s->result.outcome = o;
    else if (o.kind != OUTCOME_OK && o.kind != OUTCOME_HALT)
        s->result.outcome = callback_failed(b, &o);
    if (o.kind != OUTCOME_HALT)
        write_failure(b, s);    /* another one than before */
    if (!b->error)
        halt(b, s);
}

static void failure(struct batch *b, struct slot *s)
{
    write_failure(b, s);
    if (b->error)
        return;
    if (b->opts.policy == ALLM_TOOL_POLICY_HALT)
        halt(b, s);
    else if (b->opts.policy == ALLM_TOOL_POLICY_CALLBACK)
        call_back(b, s);
}

void settle_slot(struct batch *b, struct slot *s)
{
    struct outcome *o = &s->result.outcome, why;
    switch (o->kind) {
    case OUTCOME_ASK:
        s->content = SLICE("<awaiting user response>");
        halt(b, s);
        return;
    case OUTCOME_OK:
    case OUTCOME_HALT:
        if (!encode(b, s, o->value, &why))
            break;
        if (o->kind == OUTCOME_HALT)
            halt(b, s);
        return;
    default:
        failure(b, s);
        return;
    }
    *o = why;
    failure(b, s);
}
