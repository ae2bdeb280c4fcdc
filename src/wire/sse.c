/*
 * sse.c - server-sent events: bytes in, events out
 *
 * A blank line ends an event; "data: x" and "event: y" are its fields; ": z"
 * is a comment (WHATWG HTML, 9.2.6; rules S1 to S11 of the provider contract).
 *
 *      in --lines--> line --take_field--> name, data, error, id
 *                     |                              |
 *                  comment                       blank line
 *                     v                              v
 *                 KEEPALIVE              EVENT, then ERROR; or KEEPALIVE
 *
 * Invariants
 *   (1) A value is where its line is (the input, or the memory of `lines`) for
 *       the duration of a call; before any return that leaves an event open it
 *       is copied into memory of its own.  So an event that is complete in the
 *       input, with one line of data, is not copied.
 *   (2) The values of an event together never exceed event_limit.
 *   (3) When nothing is open and the input is used up, we own no memory.
 *
 * Deliberate differences from the standard: an event without its blank line is
 * emitted at the end (S8: proxies lose the line), one with empty data is not
 * an event (S7), the field "error" is an event (S6: old llama.cpp), and "id"
 * and "retry" are recorded, but there is no reconnection (S5).
 */
#include "wire/sse.h"

static void init_values(struct sse *s)
{
    struct sse_value *all[] = { &s->name, &s->data, &s->error, &s->id };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        *all[i] = (struct sse_value){ .text = SLICE("") };
        buf_init(&all[i]->own, &s->arena, s->event_limit);
    }
}

void sse_init(struct sse *s, struct mem mem, size_t line_limit,
              size_t event_limit)
{
    *s = (struct sse){
        .event_limit = event_limit ? event_limit : WIRE_LIMIT,
        .retry_ms = -1,
    };
    arena_init(&s->arena, mem);
    lines_init(&s->lines, &s->arena, LINES_ANY, line_limit);
    init_values(s);
}

/* Only if nothing in it is needed. */
static void free_memory(struct sse *s)
{
    if (!s->arena.block)
        return;
    arena_release(&s->arena);
    lines_forget(&s->lines);
    init_values(s);
}

void sse_release(struct sse *s)
{
    free_memory(s);
}

/* --------------------------------------------------------------- fields --- */

static bool lose_stream(struct sse *s, enum wire_result why)
{
    s->lost = why;
    return false;
}

static bool field_fits(struct sse *s, size_t more)
{
    size_t held = s->name.text.len + s->data.text.len + s->error.text.len +
                  s->id.text.len;
    return more <= s->event_limit - held;
}

/* Copy a value to memory of its own, unless it is there: keeps (1). */
static bool own_value(struct sse *s, struct sse_value *v)
{
    if (!v->given || v->text.ptr == v->own.ptr)
        return true;
    buf_clear(&v->own);
    buf_add(&v->own, v->text);
    if (v->own.broken)
        return lose_stream(s, WIRE_NOMEM);
    v->text = buf_slice(&v->own);
    return true;
}

static bool own_values(struct sse *s)
{
    return own_value(s, &s->name) && own_value(s, &s->data) &&
           own_value(s, &s->error) && own_value(s, &s->id);
}

/* The last value of a field counts. */
static bool set_value(struct sse *s, struct sse_value *v, struct slice text)
{
    v->text.len = 0;
    if (!field_fits(s, text.len))
        return lose_stream(s, WIRE_TOO_LONG);
    v->text = text;
    v->given = true;
    return true;
}

/* Values of several lines are joined with LF. */
static bool add_value(struct sse *s, struct sse_value *v, struct slice text)
{
    if (!v->given)
        return set_value(s, v, text);
    if (!field_fits(s, text.len + 1))
        return lose_stream(s, WIRE_TOO_LONG);
    if (!own_value(s, v))
        return false;
    buf_byte(&v->own, '\n');
    buf_add(&v->own, text);
    if (v->own.broken)
        return lose_stream(s, WIRE_NOMEM);
    v->text = buf_slice(&v->own);
    return true;
}

/* Digits only, as the standard requires; a number that is too large is
 * ignored. */
static void note_retry(struct sse *s, struct slice text)
{
    int64_t ms = 0;
    if (text.len == 0 || text.len > 15)
        return;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return;
        ms = ms * 10 + (text.ptr[i] - '0');
    }
    s->retry_ms = ms;
}

/* Is "data: x" the field of this name, and what is its value?  At most one
 * space after the colon is removed (S4); a line without a colon is only a
 * name. */
static inline bool is_field(struct slice line, struct slice name,
                            struct slice *text)
{
    if (!slice_starts(line, name))
        return false;
    *text = slice_skip(line, name.len);
    if (!text->len)
        return true;
    bool colon = *text->ptr == ':';
    *text = slice_skip(*text, 1);
    if (text->len && *text->ptr == ' ')
        *text = slice_skip(*text, 1);
    return colon;
}

static bool take_field(struct sse *s, struct slice line)
{
    struct slice text;
    s->any = true;
    if (is_field(line, SLICE("data"), &text))
        return add_value(s, &s->data, text);
    if (is_field(line, SLICE("event"), &text))
        return set_value(s, &s->name, text);
    if (is_field(line, SLICE("error"), &text))
        return add_value(s, &s->error, text);
    if (is_field(line, SLICE("id"), &text))
        return set_value(s, &s->id, text);
    if (is_field(line, SLICE("retry"), &text))
        note_retry(s, text);
    return true;
}

/* --------------------------------------------------------------- frames --- */

static void close_value(struct sse_value *v)
{
    v->text = SLICE("");
    v->given = false;
}

static void close_event(struct sse *s)
{
    close_value(&s->name);
    close_value(&s->data);
    close_value(&s->error);
    close_value(&s->id);
    s->any = s->complete = false;
}

static enum wire_result give_frame(struct sse *s, enum sse_kind kind,
                                   struct slice data, struct sse_frame *frame)
{
    *frame = (struct sse_frame){
        .kind = kind,
        .name = s->name.text,
        .data = data,
        .id = s->id.text,
        .unended = s->ended,
    };
    return WIRE_FRAME;
}

/*
 * After its blank line an event is emitted as one frame, or as two if it has
 * both data and an error.  WIRE_MORE: all of it was emitted.  The bytes of the
 * values outlive close_value().
 */
static enum wire_result give_event(struct sse *s, struct sse_frame *frame)
{
    enum wire_result result = WIRE_MORE;
    s->complete = true;
    if (s->data.text.len)
        result = give_frame(s, SSE_EVENT, s->data.text, frame);
    else if (s->error.given)
        result = give_frame(s, SSE_ERROR, s->error.text, frame);
    else if (s->any)
        result = give_frame(s, SSE_KEEPALIVE, SLICE(""), frame);

    if (s->data.text.len && s->error.given) {
        close_value(&s->data);
        return own_values(s) ? result : s->lost;
    }
    close_event(s);
    return result;
}

/* A comment may occur in the middle of an event. */
static enum wire_result give_comment(struct sse *s, struct slice text,
                                     struct sse_frame *frame)
{
    if (!own_values(s))
        return s->lost;
    *frame = (struct sse_frame){ .kind = SSE_KEEPALIVE, .data = text };
    return WIRE_FRAME;
}

/* WIRE_MORE: this line yields no frame. */
static enum wire_result take_line(struct sse *s, struct slice line,
                                  struct sse_frame *frame)
{
    struct slice text;
    if (line.len == 0)
        return give_event(s, frame);
    if (is_field(line, SLICE(""), &text))
        return give_comment(s, text, frame);
    return take_field(s, line) ? WIRE_MORE : s->lost;
}

/* The input is used up. */
static enum wire_result keep_rest(struct sse *s, struct slice *in)
{
    if (!own_values(s))
        return s->lost;
    enum wire_result result = lines_keep(&s->lines, in);
    if (result == WIRE_MORE && !s->any && lines_empty(&s->lines))
        free_memory(s);         /* keeps (3) */
    return result;
}

/* Remove "NAME: TEXT" and its LF; false if it is not there. */
static inline bool cut_field(struct slice *in, struct slice name,
                             struct slice *text)
{
    if (!slice_starts(*in, name))
        return false;
    struct slice rest = slice_skip(*in, name.len);
    const char *end = rest.len ? memchr(rest.ptr, '\n', rest.len) : NULL;
    if (!end)
        return false;
    *text = (struct slice){ rest.ptr, (size_t)(end - rest.ptr) };
    *in = slice_skip(rest, text->len + 1);
    return true;
}

/*
 * A fast path for an event that is complete in the input and has the usual
 * form: an optional "event: x", "data: y", a blank line.  False: anything
 * else, and nothing has changed.
 */
static bool take_plain(struct sse *s, struct slice *in, struct sse_frame *frame)
{
    struct slice rest = *in, name = SLICE(""), data;
    if (s->any || s->ended || s->lost || !lines_plain(&s->lines, rest))
        return false;
    cut_field(&rest, SLICE("event: "), &name);
    if (!cut_field(&rest, SLICE("data: "), &data) || !data.len || !rest.len ||
        *rest.ptr != '\n')
        return false;
    size_t used = in->len - rest.len;
    if (used > s->event_limit || used > s->lines.piece.limit)
        return false;
    *in = slice_skip(rest, 1);
    lines_passed(&s->lines, *in);
    *frame = (struct sse_frame){ SSE_EVENT, name, data, SLICE(""), false };
    return true;
}

static enum wire_result take_frame(struct sse *s, struct slice *in,
                                   struct sse_frame *frame)
{
    struct slice line;
    enum wire_result result;
    if (s->complete)
        return give_event(s, frame);
    while ((result = lines_next(&s->lines, in, &line)) == WIRE_FRAME) {
        result = take_line(s, line, frame);
        if (result == WIRE_MORE && lines_blank(&s->lines, in))
            result = give_event(s, frame);
        if (result != WIRE_MORE)
            return result;
    }
    return result == WIRE_MORE ? keep_rest(s, in) : result;
}

/* A lost stream stays lost. */
static enum wire_result next_frame(struct sse *s, struct slice *in,
                                   struct sse_frame *frame)
{
    *frame = (struct sse_frame){ .kind = SSE_KEEPALIVE };
    if (s->lost)
        return s->lost;
    enum wire_result result = take_frame(s, in, frame);
    if (result == WIRE_TOO_LONG || result == WIRE_NOMEM)
        s->lost = result;
    return result;
}

enum wire_result sse_next(struct sse *s, struct slice *in,
                          struct sse_frame *frame)
{
    if (take_plain(s, in, frame))
        return WIRE_FRAME;
    if (!s->ended)
        return next_frame(s, in, frame);
    *frame = (struct sse_frame){ .kind = SSE_KEEPALIVE };
    return s->lost ? s->lost : WIRE_END;
}

/* Two line ends after the input end its last line and its last event; the
 * first may be taken as the LF of a CRLF. */
enum wire_result sse_end(struct sse *s, struct sse_frame *frame)
{
    static const struct slice ends = { "\n\n", 2 };
    enum wire_result result;
    s->ended = true;
    do {
        struct slice in = slice_skip(ends, s->ending);
        result = next_frame(s, &in, frame);
        s->ending = ends.len - in.len;
    } while (result == WIRE_FRAME && frame->kind == SSE_KEEPALIVE);
    return result == WIRE_MORE ? WIRE_END : result;
}
