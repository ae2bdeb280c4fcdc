/* sinking.h - a sink with its memory, and its events as text */
#pragma once

#include "base/buf.h"
#include "harness/play.h"
#include "provider/sink.h"

struct sinking {
    struct arena events, life, log;
    struct allm_sink sink;
    struct buf words;
};

static inline void sinking_begin(struct sinking *s)
{
    arena_init(&s->events, mem_default());
    arena_init(&s->life, mem_default());
    arena_init(&s->log, mem_default());
    buf_init(&s->words, &s->log, 65536);
    sink_init(&s->sink, &s->events, &s->life);
}

/* Take all events; events borrowed before are invalid then. */
static inline void sinking_take(struct sinking *s)
{
    allm_event *event;
    while ((event = sink_take(&s->sink))) {
        if (s->sink.status < 0)
            continue;           /* it may lack what there was no memory for */
        if (s->words.len)
            buf_byte(&s->words, ' ');
        buf_text(&s->words, play_word(event));
    }
    arena_reset(&s->events);
}

static inline void sinking_end(struct sinking *s)
{
    arena_release(&s->events);
    arena_release(&s->life);
    arena_release(&s->log);
}
