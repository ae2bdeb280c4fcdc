/*
 * sink.c - the queue of events that an adapter fills
 *
 * The queue rejects events that only the layers above emit, so a dialect cannot
 * forge the result of a tool.
 */
#include "provider/sink.h"

#include "base/caller_struct.h"
#include "base/status.h"
#include "data/error.h"
#include "data/response.h"
#include "json/parse.h"
#include "json/skeleton.h"
#include "json/write.h"

#include <stddef.h>

void sink_init(struct allm_sink *s, struct arena *arena, struct arena *life)
{
    *s = (struct allm_sink){ .arena = arena, .life = life, .status = ALLM_OK };
}

allm_event *sink_take(struct allm_sink *s)
{
    struct sink_item *item = s->first;
    if (!item)
        return NULL;
    s->first = item->next;
    if (!s->first)
        s->last = NULL;
    return &item->event;
}

/* Append a zeroed item to the queue. */
static struct sink_item *queue_item(struct allm_sink *s)
{
    struct sink_item *item = arena_zero(s->arena, sizeof *item);
    if (!item) {
        s->status = ALLM_ERR_NOMEM;
        return NULL;
    }
    if (s->last)
        s->last->next = item;
    else
        s->first = item;
    s->last = item;
    return item;
}

allm_event *sink_add(struct allm_sink *s, allm_event_type type)
{
    struct sink_item *item = queue_item(s);
    if (!item)
        return NULL;
    item->event.size = sizeof item->event;
    item->event.type = type;
    return &item->event;
}

void sink_last(allm_event *event)
{
    char *item = (char *)event - offsetof(struct sink_item, event);
    ((struct sink_item *)(void *)item)->lasting = true;
}

bool sink_lasts(const allm_event *event)
{
    const char *item = (const char *)event - offsetof(struct sink_item, event);
    return ((const struct sink_item *)(const void *)item)->lasting;
}

static bool is_adapter_event(allm_event_type type)
{
    switch (type) {
    case ALLM_EV_MESSAGE_STARTED:
    case ALLM_EV_TEXT_DELTA:
    case ALLM_EV_TEXT_COMPLETED:
    case ALLM_EV_TOOL_CALL_STARTED:
    case ALLM_EV_TOOL_CALL_DELTA:
    case ALLM_EV_TOOL_CALL_COMPLETED:
    case ALLM_EV_MESSAGE_COMPLETED:
    case ALLM_EV_RAW_CHUNK:
    case ALLM_EV_ERROR:
    case ALLM_EV_REASONING_DELTA:
    case ALLM_EV_REASONING_COMPLETED:
    case ALLM_EV_USAGE:
        return true;
    default:
        return false;
    }
}

static allm_status sink_misuse(allm_sink *s)
{
    return s->status = ALLM_ERR_MISUSE;
}

/* A copy of the error in the arena, with a message; NULL: see the status. */
static const allm_error *take_error(allm_sink *s, const allm_error *error)
{
    allm_error *mine = arena_alloc(s->arena, sizeof *mine);
    if (!mine) {
        s->status = ALLM_ERR_NOMEM;
        return NULL;
    }
    if (!caller_struct_take(mine, sizeof *mine, error) || mine->kind >= 0 ||
        !mine->reason) {
        sink_misuse(s);
        return NULL;
    }
    if (error_settle(s->arena, mine))
        return mine;
    s->status = ALLM_ERR_NOMEM;
    return NULL;
}

/* As in every public struct, text_length 0 means "up to the NUL". */
static size_t text_length(const char *text, size_t len)
{
    return shape_text(text, len).len;
}

/* Does the event have the members that its type requires? */
static bool is_complete(const allm_event *e)
{
    switch (e->type) {
    case ALLM_EV_ERROR:
        return e->error;
    case ALLM_EV_USAGE:
        return e->usage;
    case ALLM_EV_MESSAGE_STARTED:
        return true;            /* no message: the empty one is used */
    case ALLM_EV_MESSAGE_COMPLETED:
        return e->message;
    case ALLM_EV_TOOL_CALL_STARTED:
        return e->id && e->name;
    case ALLM_EV_TOOL_CALL_COMPLETED:
        return e->id && e->name && e->arguments;
    case ALLM_EV_TOOL_CALL_DELTA:
        return e->id && e->text;
    case ALLM_EV_RAW_CHUNK:
        return e->chunk;
    default:
        return e->text;
    }
}

static const allm_message empty_message = { .size = sizeof(allm_message),
                                      .role = ALLM_ROLE_ASSISTANT,
                                      .text = "" };

allm_status allm_sink_put(allm_sink *s, const allm_event *event)
{
    allm_event mine;
    if (!s || !event)
        return ALLM_ERR_NOMEM;
    if (s->status < 0)
        return s->status;
    if (!caller_struct_take(&mine, sizeof mine, event) ||
        !is_adapter_event(mine.type) ||
        (uint32_t)mine.finish_reason >= response_finish_words.count ||
        !is_complete(&mine))
        return sink_misuse(s);
    mine.home = NULL;
    if (mine.type == ALLM_EV_MESSAGE_STARTED && !mine.message)
        mine.message = &empty_message;
    mine.text_len = text_length(mine.text, mine.text_len);
    mine.raw_len = text_length(mine.raw_arguments, mine.raw_len);
    if (mine.type == ALLM_EV_ERROR)
        mine.error = take_error(s, mine.error);
    allm_event *queued = s->status < 0 ? NULL : sink_add(s, mine.type);
    if (queued)
        *queued = mine;
    return s->status;
}

void *allm_sink_alloc(allm_sink *s, size_t size)
{
    void *p = s ? arena_alloc(s->arena, size) : NULL;
    if (s && !p)
        s->status = ALLM_ERR_NOMEM;
    return p;
}

void *allm_sink_keep(allm_sink *s, size_t size)
{
    void *p = s ? arena_alloc(s->life ? s->life : s->arena, size) : NULL;
    if (s && !p)
        s->status = ALLM_ERR_NOMEM;
    return p;
}

void allm_sink_end(allm_sink *s)
{
    if (s)
        s->ended = true;
}

void allm_sink_settle(allm_sink *s)
{
    if (s)
        s->settled = true;
}

void allm_sink_idle(allm_sink *s)
{
    if (s)
        s->idle = true;
}

const allm_json *allm_sink_parse(allm_sink *s, const char *text, size_t len)
{
    const allm_error *error = NULL;
    if (!s)
        return NULL;
    const allm_json *v = json_parse_loose(s->arena, slice_given(text, len),
                                          &error);
    if (!v && error->kind == ALLM_ERR_NOMEM)
        s->status = ALLM_ERR_NOMEM;
    return v;
}

const allm_json *sink_parse_frame(struct allm_sink *s, struct slice data)
{
    const allm_error *error = NULL;
    if (!s->skeleton)
        return allm_sink_parse(s, data.ptr, data.len);
    const allm_json *v = skeleton_parse(s->skeleton, s->arena, data, &error);
    if (!v && error->kind == ALLM_ERR_NOMEM)
        s->status = ALLM_ERR_NOMEM;
    return v;
}

bool sink_fits(const struct allm_sink *s)
{
    return s->skeleton && skeleton_fits(s->skeleton);
}

bool sink_watch(struct allm_sink *s, const allm_json *text,
                const allm_json *const *others, size_t count)
{
    return s->skeleton && skeleton_watch(s->skeleton, text, others, count);
}

bool sink_watched(struct allm_sink *s, struct slice data, struct slice *text)
{
    return s->skeleton && skeleton_watched(s->skeleton, s->arena, data, text);
}

void sink_view(struct allm_sink *s, const allm_json *object,
               struct json_view *out)
{
    if (s->skeleton)
        skeleton_view(s->skeleton, object, out);
    else
        json_view_init(out, object);
}

allm_status allm_sink_fail(allm_sink *s, const allm_error *error, bool final)
{
    if (!s || !error)
        return ALLM_ERR_NOMEM;
    s->failure = take_error(s, error);
    s->final = final;
    return s->failure ? s->failure->kind : s->status;
}

struct slice sink_json(struct allm_sink *s, const allm_json *v)
{
    struct buf text = buf_in(s->arena, SIZE_MAX / 2);
    if (!json_write(&text, v, 0))
        s->status = ALLM_ERR_NOMEM;
    return buf_slice(&text);
}

allm_status sink_malformed(struct allm_sink *s, const char *message)
{
    allm_error e = STATUS_ERROR(ALLM_ERR_ADAPTER, "malformed_response",
                                message);
    return allm_sink_fail(s, &e, true);
}
