/* report.c - the outcome of an operation, under the names of `expect` */
#include "report.h"

#include "kept.h"

void report_begin(struct report *r, struct scenario *s)
{
    allm_json *seen = allm_fake_requests(s->engine);
    *r = (struct report){ .out = allm_json_build_new(NULL),
                          .calls = allm_fake_calls(s->engine),
                          .released = allm_fake_released(s->engine),
                          .requests = allm_json_count(seen) };
    s->runs = (struct runs){ .count = 0 };
    allm_json_build_object(r->out);
    allm_json_free(seen);
}

/* Report the current session. */
static void report_session(struct report *r, const struct scenario *s)
{
    if (!s->session)
        return;
    allm_session_record fields = *allm_session_fields(s->session);
    if (kept_is_hidden(s, fields.id))
        fields.id = NULL;
    allm_text *text = allm_session_record_json(&fields, ALLM_FORM_PLAIN);
    report_text(r, "session", text);
    allm_text_free(text);
}

allm_json *report_finish(struct report *r, const struct scenario *s)
{
    allm_json *seen = allm_fake_requests(s->engine);
    allm_json_build_key(r->out, "adapter_calls");
    allm_json_build_uint(r->out, allm_fake_calls(s->engine) - r->calls);
    allm_json_build_key(r->out, "released");
    allm_json_build_uint(r->out, allm_fake_released(s->engine) - r->released);
    runs_write(&s->runs, r->out);
    report_session(r, s);
    allm_json_build_key(r->out, "requests");
    allm_json_build_array(r->out);
    for (size_t i = r->requests; i < allm_json_count(seen); i++)
        allm_json_build_value(r->out, allm_json_at(seen, i));
    allm_json_build_end(r->out);
    allm_json_build_end(r->out);
    allm_json_free(seen);
    return allm_json_build_done(r->out);
}

void report_json(struct report *r, const char *name, const allm_json *v)
{
    if (!v)
        return;
    allm_json_build_key(r->out, name);
    allm_json_build_value(r->out, v);
}

const allm_error *report_text(struct report *r, const char *name,
                              const allm_text *json)
{
    size_t len = 0;
    const allm_error *error = allm_text_error(json);
    const char *bytes = allm_text_bytes(json, &len);
    allm_json *v = error ? NULL : allm_json_parse(bytes, len, NULL);
    report_json(r, name, v);
    allm_json_free(v);
    return error;
}

void report_end(struct report *r, const allm_error *error)
{
    allm_json_build_key(r->out, "ok");
    allm_json_build_bool(r->out, !error);
    if (!error)
        return;
    allm_text *text = allm_error_json(error, ALLM_FORM_PLAIN);
    report_text(r, "error", text);
    allm_text_free(text);
    if (error->kind != ALLM_ERR_MISUSE)
        return;
    allm_json_build_key(r->out, "misuse");
    allm_json_build_text(r->out, error->message, ALLM_NUL_ENDED);
}
