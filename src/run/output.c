/*
 * output.c - a policy: the answer must match the schema of response_format
 *
 * Providers promise to follow a schema, but some only follow parts of it.  With
 * validate_output, this policy validates the last answer against the caller's
 * schema.  A wrong answer is sent back to the model with a list of its faults.
 * After a few retries the call fails, with the text of the answer in the error.
 */
#include "base/buf.h"
#include "base/status.h"
#include "run/turns.h"
#include "json/build.h"
#include "json/json.h"
#include "json/schema.h"

enum { RETRIES = 2, TEXT_LIMIT = 64 * 1024 };

struct output {
    allm_json_schema *schema;
    allm_json *value;           /* the answer as JSON */
};

/* The schema of a response_format; NULL if it has none. */
static const allm_json *find_schema(const allm_json *format)
{
    const allm_json *s = allm_json_get(format, "schema");
    if (!json_is(allm_json_get(format, "type"), "json_schema"))
        return NULL;
    return s ? s : allm_json_pointer(format, "/json_schema/schema");
}

/* Write the faults of the answer, one per line; nothing if it is valid. */
static void write_faults(struct output *o, struct buf *out, struct arena *a)
{
    const allm_error *error = allm_json_error(o->value);
    if (error) {
        buf_format(out, "- it is not JSON: %s\n", error->message);
        return;
    }
    const allm_json *faults = schema_check(o->schema, o->value, a);
    if (!faults)
        out->broken = true;
    for (const allm_json *f = NULL; (f = allm_json_next(faults, f));) {
        struct slice path = json_slice(json_get(f, SLICE("path")));
        buf_text(out, "- ");
        buf_add(out, path.len ? path : SLICE("the document"));
        buf_text(out, ": ");
        buf_add(out, json_slice(json_get(f, SLICE("message"))));
        buf_text(out, "\n");
    }
}

/* No retries are left: fail with an error that has the text. */
static void reject_answer(struct turns *t, struct slice faults,
                          struct slice text, allm_verdict *v)
{
    struct arena *a = home_arena(t->setup.home);
    struct build b = build_object_in(a);
    build_text_copy_at(&b, "raw_text", text);
    build_end(&b);
    allm_error *e = status_draft(
        a, ALLM_ERR_VALIDATION, "invalid_output",
        "the answer does not match the schema of response_format:\n%.*s",
        (int)(faults.len < TEXT_LIMIT / 2 ? faults.len : TEXT_LIMIT / 2),
        faults.ptr);
    if (e)
        e->metadata = build_done(&b);
    v->decision = ALLM_DECISION_ERROR;
    v->reason = "invalid_output";
    v->error = e ? e : status_nomem();
}

static void judge_answer(struct output *o, struct turns *t,
                         const allm_context *c, allm_verdict *v)
{
    struct buf faults, say;
    const allm_response *r = c->response;
    const allm_int given = t->setup.options.output_retries;
    const uint64_t retries = given.set ? (uint64_t)given.value : RETRIES;
    struct slice text = { r->output_text, r->output_len };
    allm_json_free(o->value);
    o->value = allm_json_parse(text.ptr ? text.ptr : "", text.len, NULL);
    buf_init(&faults, c->arena, TEXT_LIMIT);
    write_faults(o, &faults, c->arena);
    if (faults.len == 0 && !faults.broken && o->value) {
        v->metadata = build_one(c->arena, "structured", o->value);
        return;
    }
    if (t->output_retries >= retries) {
        reject_answer(t, buf_slice(&faults), text, v);
        return;
    }
    t->output_retries++;
    buf_init(&say, c->arena, 2 * TEXT_LIMIT);
    buf_text(&say, "Your answer does not fit the requested schema:\n");
    buf_add(&say, buf_slice(&faults));
    buf_text(&say, "Answer again, with JSON that fits it and nothing else.");
    v->decision = ALLM_DECISION_RETRY;
    v->say = say.ptr;
}

static allm_status check_output(void *state, const allm_loop_view *view,
                                const allm_context *c, allm_verdict *v,
                                void *ud)
{
    struct output *o = state;
    struct turns *t = ud;
    const allm_json *schema = find_schema(t->pass_options.response_format);
    (void)view;
    if (!t->setup.options.validate_output || !schema ||
        v->decision != ALLM_DECISION_DONE || c->terminal_call)
        return ALLM_OK;
    if (!o->schema)
        o->schema = allm_json_schema_new(schema);
    if (!o->schema)
        return ALLM_ERR_NOMEM;
    if (allm_json_schema_error(o->schema)) {
        v->decision = ALLM_DECISION_ERROR;
        v->reason = "invalid_output";
        v->error = allm_json_schema_error(o->schema);
        return ALLM_OK;
    }
    judge_answer(o, t, c, v);
    return c->arena->broken ? ALLM_ERR_NOMEM : ALLM_OK;
}

static void release_output(void *state, void *ud)
{
    struct output *o = state;
    (void)ud;
    allm_json_schema_free(o->schema);
    allm_json_free(o->value);
}

const allm_policy output_policy = {
    .size = sizeof output_policy,
    .name = "output",
    .state_size = sizeof(struct output),
    .after_turn = check_output,
    .close = release_output,
};
