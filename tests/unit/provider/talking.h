/* talking.h - functions shared by the tests of dialects */
#pragma once

#include "harness/check.h"
#include "provider/http.h"
#include "unit/provider/sinking.h"

static inline void talking_decode(const allm_adapter *adapter, void *state,
                                  const allm_call *call, const char *data,
                                  bool whole, struct sinking *s)
{
    const allm_frame frame = { .size = sizeof frame,
                               .name = "",
                               .data = data,
                               .data_len = strlen(data),
                               .whole = whole };
    CHECK(adapter->decode(state, call, &frame, &s->sink) == ALLM_OK);
}

/* A frame, and the state of the protocol after it. */
struct talking_sign {
    const char *why, *data;
    bool idle, settled, ended;
};

static inline void talking_check_signs(const allm_adapter *adapter,
                                       const struct talking_sign *rows,
                                       size_t n)
{
    struct sinking s;
    allm_call call = { .size = sizeof call, .provider = adapter->name };
    sinking_begin(&s);
    void *state = arena_zero(&s.life, adapter->state_size);
    for (size_t i = 0; state && i < n; i++) {
        s.sink.idle = false;
        check_row(rows[i].why);
        talking_decode(adapter, state, &call, rows[i].data, false, &s);
        CHECK(s.sink.idle == rows[i].idle);
        CHECK(s.sink.settled == rows[i].settled);
        CHECK(s.sink.ended == rows[i].ended);
        sinking_take(&s);
    }
    sinking_end(&s);
}

/* A whole answer, collected. */
static inline void talking_hear(const allm_adapter *adapter, struct sinking *s,
                                void *state, const allm_call *call,
                                const char *data, allm_collector *c)
{
    allm_event *event;
    talking_decode(adapter, state, call, data, true, s);
    while (s->sink.status == ALLM_OK && (event = sink_take(&s->sink)))
        allm_collector_add(c, event);
}

/* The body of a request with this one message. */
static inline void talking_say(const allm_adapter *adapter,
                               const allm_message *m, const allm_call *how,
                               struct arena *a, struct buf *out)
{
    struct allm_sink sink;
    struct allm_http http;
    allm_http_view view;
    allm_call call = *how;
    allm_request r = { .size = sizeof r, .message_count = 1, .messages = &m };
    sink_init(&sink, a, NULL);
    http_init(&http, a, &sink);
    call.request = &r;
    adapter->encode(&call, &http);
    CHECK(http_view(&http, &view) && !sink.failure);
    buf_add(out, (struct slice){ view.body, view.body ? view.body_len : 0 });
}

/* Hear a whole answer, and send it back: to its own model, and to another. */
static inline void talking_send_back(const allm_adapter *adapter,
                                     struct sinking *s, allm_call call,
                                     const char *other_model,
                                     const char *answer, struct buf *mine,
                                     struct buf *other)
{
    allm_collector *c = allm_collector_new(NULL);
    void *state = arena_zero(&s->life, adapter->state_size);
    buf_init(mine, &s->log, 65536);
    buf_init(other, &s->log, 65536);
    if (state)
        talking_hear(adapter, s, state, &call, answer, c);
    allm_response *r = allm_collector_response(c);
    if (r && r->message) {
        talking_say(adapter, r->message, &call, &s->events, mine);
        call.model = other_model;
        talking_say(adapter, r->message, &call, &s->events, other);
    }
    allm_response_free(r);
    allm_collector_free(c);
}
