/* op_resolve.c - the parameters, model and tools that a call would use */
#include "call.h"
#include "ops.h"

static void report_resolved(struct report *r, allm_json *v)
{
    const allm_error *error = allm_json_error(v);
    if (!error)
        report_json(r, "result", v);
    report_end(r, error);
    allm_json_free(v);
}

void op_resolve_params(struct scenario *s, const allm_json *op,
                       struct report *r)
{
    struct call call;
    call_init(&call, s, op);
    report_resolved(r, allm_engine_resolve_params(s->engine, &call.opts));
    call_release(&call);
}

void op_resolve_model(struct scenario *s, const allm_json *op, struct report *r)
{
    struct call call;
    call_init(&call, s, op);
    report_resolved(r, allm_engine_resolve_model(s->engine, &call.opts));
    call_release(&call);
}

/* Report only the tools of a record. */
static void report_tools(struct report *r, const allm_engine_record *record)
{
    size_t len = 0;
    allm_text *text = allm_engine_record_json(record, ALLM_FORM_PLAIN);
    const char *bytes = allm_text_bytes(text, &len);
    const allm_error *error = allm_text_error(text);
    allm_json *v = error ? NULL : allm_json_parse(bytes, len, NULL);
    report_json(r, "result", allm_json_get(v, "tools"));
    report_end(r, error);
    allm_json_free(v);
    allm_text_free(text);
}

void op_resolve_tools(struct scenario *s, const allm_json *op, struct report *r)
{
    struct call call;
    call_init(&call, s, op);
    allm_engine_record *record = allm_engine_resolve_tools(s->engine,
                                                           &call.opts);
    const allm_error *error = allm_engine_record_error(record);
    if (error)
        report_end(r, error);
    else
        report_tools(r, record);
    allm_engine_record_free(record);
    call_release(&call);
}

void op_merge_opts(struct scenario *s, const allm_json *op, struct report *r)
{
    struct call call;
    call_init(&call, s, op);
    allm_engine *merged = allm_engine_merge_opts(s->engine, &call.opts);
    const allm_error *error = allm_engine_error(merged);
    allm_text *text = error ? NULL : allm_engine_json(merged, ALLM_FORM_PLAIN);
    if (!error)
        error = report_text(r, "result", text);
    report_end(r, error);
    allm_text_free(text);
    allm_engine_free(merged);
    call_release(&call);
}
