/* op_data.c - operations without a model: validate, encode, decode, collect */
#include "engine.h"
#include "ops.h"

#include <string.h>

/* A member that must be a string; NULL: rejected. */
static const char *text_member(struct scenario *s, const allm_json *op,
                               const char *key, size_t *len)
{
    const allm_json *v = allm_json_get(op, key);
    if (allm_json_type_of(v) == ALLM_JSON_TEXT)
        return allm_json_text(v, len);
    scenario_reject(s, "\"%s\" must be a string", key);
    return NULL;
}

void op_validate(struct scenario *s, const allm_json *op, struct report *r)
{
    const char *type = text_member(s, op, "type", NULL);
    const allm_json *value = allm_json_get(op, "value");
    if (!type)
        return;
    if (!value) {
        scenario_reject(s, "needs a \"value\"");
        return;
    }
    allm_error *error = allm_validate_json(type, value);
    report_end(r, error);
    allm_error_free(error);
}

/* Read the optional name of the type; tagged data need none. */
static bool read_as(struct scenario *s, const allm_json *op, const char **as)
{
    const allm_json *v = allm_json_get(op, "as");
    *as = NULL;
    if (!v || allm_json_type_of(v) == ALLM_JSON_NULL)
        return true;
    *as = text_member(s, op, "as", NULL);
    return *as != NULL;
}

static void report_codec(struct report *r, allm_codec *codec)
{
    const allm_error *error = allm_codec_error(codec);
    allm_text *text = error ? NULL : allm_codec_json(codec, ALLM_FORM_TAGGED);
    if (!error)
        error = report_text(r, "result", text);
    report_end(r, error);
    allm_text_free(text);
    allm_codec_free(codec);
}

void op_round_trip(struct scenario *s, const allm_json *op, struct report *r)
{
    const char *as;
    const allm_json *value = allm_json_get(op, "value");
    if (!value)
        scenario_reject(s, "needs a \"value\"");
    else if (read_as(s, op, &as))
        report_codec(r, engine_decode(value, as));
}

void op_decode(struct scenario *s, const allm_json *op, struct report *r)
{
    size_t len = 0;
    const char *as;
    const char *text = text_member(s, op, "text", &len);
    if (text && read_as(s, op, &as))
        report_codec(r, allm_codec_decode(text, len, as, NULL));
}

/* Read the optional initial thread: a thread, or a list of messages. */
static bool read_thread(struct scenario *s, const allm_json *op,
                        allm_codec **codec)
{
    const allm_json *form = allm_json_get(op, "thread");
    *codec = NULL;
    if (!form || allm_json_type_of(form) == ALLM_JSON_NULL)
        return true;
    allm_json *plain = engine_thread(form);
    *codec = engine_decode(plain, "Thread");
    allm_json_free(plain);
    if (allm_codec_value(*codec, ALLM_TYPE_THREAD))
        return true;
    const allm_error *error = allm_codec_error(*codec);
    return scenario_reject(s, "\"thread\": %s",
                           error ? error->message : "it is not a thread");
}

/* Skip what is not an event, as the collector does. */
static allm_status add_event(allm_collector *c, const allm_json *e)
{
    size_t len = 0;
    allm_text *text = allm_json_write(e, 0);
    const char *bytes = allm_text_bytes(text, &len);
    allm_event *event = allm_event_parse(bytes ? bytes : "", len);
    allm_status status = allm_event_error(event) ? ALLM_OK
                                                 : allm_collector_add(c, event);
    allm_event_free(event);
    allm_text_free(text);
    return status;
}

static void report_step(struct report *r, const allm_collector *c)
{
    allm_step_result *v = allm_collector_step_result(c);
    allm_text *text = allm_step_result_json(v, ALLM_FORM_PLAIN);
    report_end(r, report_text(r, "result", text));
    allm_text_free(text);
    allm_step_result_free(v);
}

static void report_chat(struct report *r, const allm_collector *c)
{
    allm_chat_result *v = allm_collector_chat_result(c);
    allm_text *text = allm_chat_result_json(v, ALLM_FORM_PLAIN);
    report_end(r, report_text(r, "result", text));
    allm_text_free(text);
    allm_chat_result_free(v);
}

static void report_response(struct report *r, const allm_collector *c)
{
    allm_response *v = allm_collector_response(c);
    allm_text *text = allm_response_json(v, ALLM_FORM_PLAIN);
    report_end(r, report_text(r, "result", text));
    allm_text_free(text);
    allm_response_free(v);
}

static const struct {
    const char *into;
    void (*report)(struct report *r, const allm_collector *c);
} results[] = {
    { "response", report_response },
    { "step_result", report_step },
    { "chat_result", report_chat },
};

static void report_refused(struct report *r, allm_status status, size_t index)
{
    char sentence[96];
    snprintf(sentence, sizeof sentence, "event %zu: rejected (%s)", index,
             allm_status_name(status));
    report_end(r, ALLM(error, .kind = status, .reason = "invalid_event",
                       .message = sentence));
}

static void collect(const allm_json *op, struct report *r, size_t into,
                    const allm_thread *thread)
{
    size_t index = 0;
    allm_status status = ALLM_OK;
    const allm_json *events = allm_json_get(op, "events");
    allm_collector *c = allm_collector_new(thread);
    for (const allm_json *e = NULL; (e = allm_json_next(events, e)); index++) {
        status = add_event(c, e);
        if (status < 0)
            break;
    }
    if (status < 0)
        report_refused(r, status, index);
    else
        results[into].report(r, c);
    allm_collector_free(c);
}

void op_collect(struct scenario *s, const allm_json *op, struct report *r)
{
    allm_codec *codec = NULL;
    const size_t most = sizeof results / sizeof *results;
    const allm_json *form = allm_json_get(op, "into");
    const char *into = allm_json_text(form, NULL);
    size_t i = 0;
    while (into && i < most && strcmp(results[i].into, into) != 0)
        i++;
    if ((form && !into) || i == most)
        scenario_reject(s, "\"into\" must be response, step_result or "
                           "chat_result");
    else if (allm_json_type_of(allm_json_get(op, "events")) != ALLM_JSON_ARRAY)
        scenario_reject(s, "\"events\" must be a list");
    else if (read_thread(s, op, &codec))
        collect(op, r, i, allm_codec_value(codec, ALLM_TYPE_THREAD));
    allm_codec_free(codec);
}
