/* pull.c - pull the events of a stream into the report */
#include "pull.h"

bool pull_take(struct scenario *s, const allm_json *op, int64_t *take)
{
    const allm_json *v = allm_json_get(op, "take");
    *take = -1;
    if (!v || (allm_json_int64(v, take) && *take >= 0))
        return true;
    return scenario_reject(s, "\"take\" must be a non-negative integer");
}

/* The number of events of each type. */
struct tally {
    uint64_t of[ALLM_EV_SESSION_CHANGED + 1];
};

static void report_tally(struct report *r, const struct tally *t)
{
    allm_json_build_key(r->out, "count");
    allm_json_build_object(r->out);
    for (int i = ALLM_EV_MESSAGE_STARTED; i <= ALLM_EV_SESSION_CHANGED; i++) {
        allm_json_build_key(r->out, allm_event_tag((allm_event_type)i));
        allm_json_build_uint(r->out, t->of[i]);
    }
    allm_json_build_end(r->out);
}

static void report_event(struct report *r, const allm_event *event)
{
    size_t len = 0;
    allm_text *text = allm_event_json(event);
    const char *bytes = allm_text_bytes(text, &len);
    allm_json *v = allm_json_parse(bytes ? bytes : "", len, NULL);
    allm_json_build_value(r->out, v);
    allm_json_free(v);
    allm_text_free(text);
}

allm_status pull_events(struct report *r, allm_stream *stream, int64_t most,
                        allm_reducer *reducer)
{
    const allm_event *event;
    allm_status status = ALLM_EVENT;
    struct tally tally = { { 0 } };
    allm_json_build *tags = allm_json_build_new(NULL);
    allm_json_build_array(tags);
    allm_json_build_key(r->out, "events");
    allm_json_build_array(r->out);
    while (most-- != 0) {
        status = allm_stream_next(stream, &event);
        if (status != ALLM_EVENT)
            break;
        tally.of[event->type]++;
        allm_json_build_text(tags, allm_event_tag(event->type), ALLM_NUL_ENDED);
        report_event(r, event);
        if (reducer)
            allm_reducer_add(reducer, event);
    }
    allm_json_build_end(r->out);
    allm_json_build_end(tags);
    allm_json *list = allm_json_build_done(tags);
    report_json(r, "tags", list);
    report_tally(r, &tally);
    allm_json_free(list);
    return status;
}
