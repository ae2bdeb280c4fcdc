/* live.c - the events of a running operation, written for its followers */
#include "session/live.h"

#include "data/encode.h"
#include "data/event.h"

#include <stdio.h>

/* Room for the first line of a row, before its events; what they usually
 * need. */
enum { LINE_ROOM = 32, USUAL_SIZE = 4000 };

struct live {
    struct mem mem;
    struct clock clock;
    struct store_session *session;  /* of the journal, which outlives this */
    uint64_t op;
    struct store_task *task;        /* has the row below; NULL: it is empty */
    struct buf body;
    uint64_t count;
    int64_t due_ns;                 /* when the row is written */
    /* A delta that later ones are added to; type NONE: there is none. */
    allm_event_type type;
    struct buf id, text;
    bool has_id;
    uint64_t head;                  /* before its first part */
};

struct live *live_open(struct store_session *t, struct clock clock, uint64_t op)
{
    allm_store *s = store_session_store(t);
    struct live *l = NULL;
    if (store_live_ms(s) != UINT32_MAX)
        l = mem_alloc(store_mem(s), sizeof *l);
    if (l)
        *l = (struct live){ .mem = store_mem(s), .clock = clock, .session = t,
                            .op = op };
    return l;
}

/* ------------------------------------------------------------ writing --- */

/* Begin a row; false: out of memory. */
static bool begin_row(struct live *l)
{
    allm_store *s = store_session_store(l->session);
    if (l->task)
        return true;
    l->task = store_task_new(s);
    if (!l->task)
        return false;
    buf_init(&l->body, store_task_arena(l->task), SIZE_MAX / 2);
    if (buf_reserve(&l->body, USUAL_SIZE)) {
        memset(l->body.ptr, ' ', LINE_ROOM);
        l->body.len = LINE_ROOM;
    }
    buf_init(&l->id, store_task_arena(l->task), SIZE_MAX / 2);
    buf_init(&l->text, store_task_arena(l->task), SIZE_MAX / 2);
    l->count = 0;
    l->due_ns = clock_after(clock_now_ns(l->clock), store_live_ms(s));
    return true;
}

static void put_line(struct live *l, const allm_event *event, uint64_t head)
{
    struct encoder e = { .arena = store_task_arena(l->task),
                         .form = ALLM_FORM_PLAIN };
    size_t before = l->body.len;
    buf_byte(&l->body, '\n');
    buf_uint(&l->body, head);
    buf_byte(&l->body, ' ');
    emit_init(&e.emit, &l->body);
    event_write(&e, event);
    if (e.error)                /* it has no JSON form */
        l->body.len = before;
    else
        l->count++;
}

static void put_delta(struct live *l)
{
    const allm_event event = { .size = sizeof event, .type = l->type,
                               .id = l->has_id ? l->id.ptr : NULL,
                               .text = l->text.ptr, .text_len = l->text.len };
    if (l->type != ALLM_EV_NONE)
        put_line(l, &event, l->head);
    l->type = ALLM_EV_NONE;
    buf_clear(&l->text);
}

/* Put the first line right before the events. */
static struct slice finish_row(struct live *l, bool ends)
{
    char line[LINE_ROOM];
    int n = snprintf(line, sizeof line, "%llu%s",
                     (unsigned long long)store_session_epoch(l->session),
                     ends ? " end" : "");
    size_t from = LINE_ROOM - (size_t)n;
    memcpy(l->body.ptr + from, line, (size_t)n);
    return slice_skip(buf_slice(&l->body), from);
}

/* Hand the row over; `ends`: it is the last one. */
static void flush_row(struct live *l, bool ends)
{
    if (!l->task)
        return;
    put_delta(l);
    struct backend_live row = { .op = l->op, .count = l->count ? l->count : 1 };
    if (!l->body.broken)
        row.body = finish_row(l, ends);
    if (l->body.broken || l->text.broken || l->id.broken)
        store_task_free(l->task);
    else
        store_task_live(l->task, l->session, &row);
    l->task = NULL;
}

static bool is_delta(allm_event_type type)
{
    return type == ALLM_EV_TEXT_DELTA || type == ALLM_EV_REASONING_DELTA ||
           type == ALLM_EV_TOOL_CALL_DELTA;
}

static bool joins_delta(const struct live *l, const allm_event *event)
{
    return l->type == event->type && l->has_id == (event->id != NULL) &&
           slice_eq(slice_of(event->id), buf_slice(&l->id));
}

static void add_delta(struct live *l, const allm_event *event, uint64_t head)
{
    if (!joins_delta(l, event)) {
        put_delta(l);
        l->type = event->type;
        l->head = head;
        l->has_id = event->id != NULL;
        buf_clear(&l->id);
        buf_text(&l->id, event->id ? event->id : "");
    }
    buf_add(&l->text, (struct slice){ event->text, event->text_len });
}

/* The cost of an event must not grow with the session: followers get messages
 * by session_changed. */
static void put_result(struct live *l, const allm_event *event, uint64_t head)
{
    if (!event->thread && !event->chat_result) {
        put_line(l, event, head);
        return;
    }
    allm_event mine = *event;
    allm_chat_result result;
    mine.thread = NULL;
    if (event->chat_result) {
        result = *event->chat_result;
        result.thread = NULL;
        result.steps = NULL;
        result.step_count = 0;
        mine.chat_result = &result;
    }
    put_line(l, &mine, head);
}

void live_add(struct live *l, const allm_event *event, uint64_t head)
{
    if (!begin_row(l))
        return;
    if (is_delta(event->type)) {
        add_delta(l, event, head);
        return;
    }
    put_delta(l);
    put_result(l, event, head);
}

void live_rest(struct live *l, int64_t *again_ns)
{
    if (!l->task)
        return;
    if (clock_now_ns(l->clock) >= l->due_ns)
        flush_row(l, false);
    else if (l->due_ns < *again_ns)
        *again_ns = l->due_ns;
}

void live_close(struct live *l)
{
    if (!l)
        return;
    if (begin_row(l))
        flush_row(l, true);
    mem_free(l->mem, l, sizeof *l);
}

/* ------------------------------------------------------------ reading --- */

/* Digits, and a space after them, if there is one. */
static bool take_number(struct slice *s, uint64_t *out)
{
    size_t i = 0;
    *out = 0;
    while (i < s->len && i < 19 && slice_digit(s->ptr[i]))
        *out = 10 * *out + (uint64_t)(s->ptr[i++] - '0');
    if (!i)
        return false;
    *s = slice_skip(*s, i + (i < s->len && s->ptr[i] == ' '));
    return true;
}

static bool take_line(struct slice *s, struct slice *line)
{
    bool any = s->len > 0;
    *line = slice_take(s, '\n');
    return any;
}

bool live_read(struct slice body, struct live_row *out)
{
    struct slice line;
    *out = (struct live_row){ .rest = body };
    if (!take_line(&out->rest, &line) || !take_number(&line, &out->epoch))
        return false;
    out->ends = slice_is(line, "end");
    return true;
}

bool live_next(struct live_row *r, uint64_t *head, struct slice *event)
{
    return take_line(&r->rest, event) && take_number(event, head);
}
