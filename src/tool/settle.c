/*
 * settle.c - complete the result of a call whose outcome is known
 *
 *      RESULT, HALT   is encoded; becomes a FAILURE if the encoder fails
 *      QUESTION       has a fixed content
 *      FAILURE        is reported to the model, halts the chat, or is decided
 *                     by the on_tool_error callback
 *
 * The content is then cut if it is too long, and put into the tool message.
 */
#include "tool/batch_parts.h"
#include "tool/cut.h"
#include "json/build.h"
#include "json/json.h"

/* Encode a value as the content; false: *why is the failure. */
static bool encode_content(struct batch *b, struct tool_result *r,
                           const allm_json *value, struct outcome *why)
{
    const char *reason;
    if (encoder_value(b->opts.encoder, b->arena, value, &r->whole, &reason))
        return true;
    *why = reason ? outcome_failed(b->arena, FAILURE_ENCODING, "%s", reason)
                  : (struct outcome){ .kind = OUTCOME_NOMEM };
    return false;
}

/* Set the error, and encode it as the content. */
static void encode_failure(struct batch *b, struct tool_result *r)
{
    if (r->outcome.kind == OUTCOME_NOMEM) {
        batch_no_memory(b);
        return;
    }
    r->view.is_error = true;
    if (!r->error)
        r->error = outcome_error(b->arena, &r->outcome, r->view.call->name,
                                 r->view.call->id);
    if (!r->error || !encoder_failure(b->opts.encoder, b->opts.style, b->arena,
                                      &r->outcome, r->error, &r->whole))
        batch_no_memory(b);
}

/* The failure of a callback that failed itself, or gave an invalid answer. */
static struct outcome callback_failed(struct batch *b, const struct outcome *o)
{
    bool raised = o->kind == OUTCOME_FAILURE &&
                  !strcmp(o->reason, FAILURE_RAISED);
    struct outcome made = outcome_failed(
        b->arena, FAILURE_RETURN, "%s%s",
        raised ? "the on_tool_error callback failed: "
               : "the on_tool_error callback must answer with allm_tool_ok(), "
                 "_text(), _halt() or _raise()",
        raised ? o->detail : "");
    made.metadata = build_one(b->arena,
                              raised ? "on_tool_error_raised"
                                     : "on_tool_error_invalid",
                              json_bool(true));
    if (!made.metadata)
        made.kind = OUTCOME_NOMEM;
    return made;
}

/* Call on_tool_error: keeps (4) of batch.c. */
static struct outcome call_on_error(struct batch *b,
                                    const struct tool_result *r)
{
    struct allm_tool_run *run = run_new(b->shared, r->view.call, r->arguments,
                                        r->tool, NULL);
    if (!run)
        return (struct outcome){ .kind = OUTCOME_NOMEM };
    run->key = r->key;
    run->is_callback = run->is_verdict = run->busy = true;
    b->opts.on_error(run, r->error, b->opts.on_error_ud);
    return run->outcome;
}

/* Replace the failure by another, which halts the chat. */
static void replace_failure(struct batch *b, struct tool_result *r,
                            struct outcome o)
{
    r->outcome = o;
    r->error = NULL;
    encode_failure(b, r);
    r->halts = !b->error;
}

/* Replace the failure by the value of a result. */
static void replace_value(struct batch *b, struct tool_result *r,
                          const struct outcome *o)
{
    struct outcome why;
    if (!encode_content(b, r, o->value, &why)) {
        replace_failure(b, r, why);
        return;
    }
    r->outcome = *o;
    r->error = NULL;
    r->view.is_error = false;
}

static void apply_callback(struct batch *b, struct tool_result *r)
{
    struct outcome o = call_on_error(b, r);
    if (o.kind == OUTCOME_RESULT)
        replace_value(b, r, &o);
    else if (o.kind == OUTCOME_HALT)
        r->halts = true;
    else
        replace_failure(b, r,
                        o.kind == OUTCOME_NOMEM ? o : callback_failed(b, &o));
}

static void settle_failure(struct batch *b, struct tool_result *r)
{
    encode_failure(b, r);
    if (b->error)
        return;
    if (b->opts.policy == ALLM_TOOL_POLICY_HALT)
        r->halts = true;
    else if (b->opts.policy == ALLM_TOOL_POLICY_CALLBACK)
        apply_callback(b, r);
}

static void settle_outcome(struct batch *b, struct tool_result *r)
{
    struct outcome why;
    if (r->outcome.kind == OUTCOME_QUESTION) {
        r->whole = SLICE(OUTCOME_AWAITING);
        r->halts = true;
        return;
    }
    if (r->outcome.kind == OUTCOME_FAILURE) {
        settle_failure(b, r);
        return;
    }
    if (encode_content(b, r, r->outcome.value, &why)) {
        r->halts = r->outcome.kind == OUTCOME_HALT;
        return;
    }
    r->outcome = why;
    settle_failure(b, r);
}

/* What cannot be written to the journal becomes a failure, for the model and in
 * the journal alike. */
static void limit_content(struct batch *b, struct tool_result *r)
{
    size_t most = b->opts.journal.most;
    if (!most || r->whole.len <= most)
        return;
    r->outcome = outcome_failed(b->arena, FAILURE_ENCODING,
                                "the result has %zu bytes; at most %zu can be "
                                "recorded",
                                r->whole.len, most);
    r->error = NULL;
    r->halts = false;
    settle_failure(b, r);
}

void settle_slot(struct batch *b, struct slot *s)
{
    struct tool_result *r = &s->result;
    const struct batch_opts *o = &b->opts;
    settle_outcome(b, r);
    if (!b->error)
        limit_content(b, r);
    if (b->error)
        return;
    struct slice content = cut_text(b->arena, r->whole, o->max_output);
    bool cut = content.ptr != r->whole.ptr;
    bool kept = !cut || !o->keep_whole ||
                o->keep_whole(o->keep_ud, r->view.call->id, r->whole);
    if (!kept || !content.ptr || !result_close(r, content))
        batch_no_memory(b);
}
