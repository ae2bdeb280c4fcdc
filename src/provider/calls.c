/*
 * calls.c - assemble tool calls from pieces
 *
 * A piece belongs to the first of these calls that exists:
 *
 *   (1) the one with its index, if their ids do not differ
 *   (2) the one with its id
 *   (3) a new one, if it has an id or an index that no call has
 *   (4) the one that was opened last, if it has neither
 *   (5) but a new one, if the arguments of the call found by (1) to (4) are
 *       complete and the piece begins new ones; a piece that repeats the same
 *       arguments is a copy and is ignored
 *
 * A piece without an id also begins a call if it names another tool, or if it
 * is in the same frame as the call that it would continue.
 */
#include "provider/calls.h"

#include "provider/hash.h"
#include "json/build.h"
#include "json/json.h"
#include "json/parse.h"

static void no_memory(allm_sink *sink)
{
    sink->status = ALLM_ERR_NOMEM;
}

void calls_init(struct calls *c, struct arena *life, const allm_call *call)
{
    const char *id = call->request_id ? call->request_id : "";
    size_t n = call->request ? call->request->message_count : 0;
    *c = (struct calls){ .life = life };
    c->end = &c->first;
    c->nonce = hash_add(hash_add(HASH_START, slice_of(id)),
                        (struct slice){ (const char *)&n, sizeof n });
}

/* ------------------------------------------------------ find the call --- */

static struct calls_slot *find_by_index(const struct calls *c, int64_t index)
{
    struct calls_slot *found = NULL;
    for (struct calls_slot *s = c->first; s; s = s->next)
        if (s->has_index && s->index == index)
            found = s;          /* the newest: older ones have ended */
    return found;
}

static struct calls_slot *find_by_id(const struct calls *c, struct slice id)
{
    struct calls_slot *found = NULL;
    for (struct calls_slot *s = c->first; id.len && s; s = s->next)
        if (s->wire_id.ptr && slice_eq(s->wire_id, id))
            found = s;
    return found;
}

static bool ids_differ(const struct calls_slot *s, struct slice id)
{
    return id.len && s->wire_id.ptr && !slice_eq(s->wire_id, id);
}

static bool is_other_name(const struct calls_slot *s, struct slice name)
{
    return s->name && name.len && !slice_is(name, s->name);
}

/* Some servers invent an id for every piece: a piece without a name whose text
 * continues the arguments of this call does not begin a call. */
static bool continues_text(const struct calls_slot *s,
                           const struct calls_piece *p)
{
    return s->raw.len && !s->scan.closed && !p->name.len && p->text.len &&
           *p->text.ptr != '{';
}

/* Rules (1) to (4); NULL: a new call. */
static struct calls_slot *slot_find(const struct calls *c,
                                    const struct calls_piece *p)
{
    struct calls_slot *s;
    if (p->has_index) {
        s = find_by_index(c, p->index);
        if (s && !ids_differ(s, p->id))
            return s;
        struct calls_slot *named = find_by_id(c, p->id);
        if (named && (s || !named->has_index))
            return named;
        return s && continues_text(s, p) ? s : NULL;
    }
    if (p->id.len)
        return find_by_id(c, p->id);
    s = c->last;
    return s && (is_other_name(s, p->name) || s->frame == c->frame) ? NULL : s;
}

/* ------------------------------------------------- complete arguments --- */

/* Where the text of a string may end, or escape something, at or after i. */
static size_t skip_text(struct slice text, size_t i)
{
    while (i < text.len && text.ptr[i] != '"' && text.ptr[i] != '\\')
        i++;
    return i;
}

static void brackets_scan(struct calls_scan *s, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (s->in_text && !s->escaped && (i = skip_text(text, i)) == text.len)
            return;
        char c = text.ptr[i];
        if (s->in_text) {
            s->in_text = s->escaped || c != '"';
            s->escaped = !s->escaped && c == '\\';
        } else if (c == '"') {
            s->in_text = true;
        } else if (c == '{' || c == '[') {
            s->depth++;
        } else if ((c == '}' || c == ']') && s->depth) {
            s->closed = --s->depth == 0;
        }
    }
}

static const allm_json *arguments_parse(struct arena *a, struct slice text,
                                        allm_sink *sink)
{
    const allm_error *error = NULL;
    const allm_json *v = json_parse_loose(a, text, &error);
    if (!v && error && error->kind == ALLM_ERR_NOMEM)
        no_memory(sink);
    return v;
}

/* Are the arguments received so far a complete value? */
static bool is_whole(struct calls_slot *s, allm_sink *sink)
{
    const struct calls_scan *at = &s->scan;
    if (!at->closed || at->depth || at->in_text || at->invalid)
        return false;
    s->scan.invalid = !arguments_parse(sink->arena, buf_slice(&s->raw), sink);
    return !s->scan.invalid;
}

enum repeat { CONTINUES, COPY, ANOTHER };

/* Rule (5). */
static enum repeat repeat_judge(const struct calls *c, struct calls_slot *s,
                                const struct calls_piece *p, allm_sink *sink)
{
    struct slice text = slice_strip(p->text);
    if (s->custom || !text.len || *text.ptr != '{' || !is_whole(s, sink))
        return CONTINUES;
    if (is_other_name(s, p->name) || (!p->id.len && s->frame == c->frame))
        return ANOTHER;
    if (slice_eq(p->text, buf_slice(&s->raw)))
        return COPY;
    if (!p->id.len)
        return ANOTHER;
    const allm_json *again = arguments_parse(sink->arena, text, sink);
    return again && allm_json_equal(again,
                                    arguments_parse(sink->arena,
                                                    buf_slice(&s->raw), sink))
               ? COPY
               : ANOTHER;
}

/* -------------------------------------------------------------- slots --- */

static struct calls_slot *add_slot(struct calls *c, allm_sink *sink)
{
    if (c->made >= CALLS_MOST) {
        sink_malformed(sink, "the response has more than 128 tool calls, so "
                             "none is run; ask the model for fewer at a time");
        return NULL;
    }
    struct calls_slot *s = arena_zero(c->life, sizeof *s);
    if (!s) {
        no_memory(sink);
        return NULL;
    }
    buf_init(&s->raw, c->life, SIZE_MAX / 2);
    *c->end = c->last = s;
    c->end = &s->next;
    c->made++;
    return s;
}

static bool is_id_used(const struct calls *c, const char *id)
{
    for (const struct calls_slot *s = c->first; s; s = s->next)
        if (s->id && !strcmp(s->id, id))
            return true;
    return false;
}

/* An id of our own, with a number, so that equal calls have different ids. */
static const char *make_id(struct calls *c)
{
    static const char digits[] = "0123456789abcdef";
    struct buf id;
    size_t n = 0;
    do {
        buf_init(&id, c->life, 64);
        buf_text(&id, "call_");
        for (int shift = 28; shift >= 0; shift -= 4)
            buf_byte(&id, digits[(c->nonce >> shift) & 15]);
        buf_byte(&id, '_');
        buf_uint(&id, c->count + n++);
    } while (!id.broken && is_id_used(c, id.ptr));
    return id.broken ? NULL : id.ptr;
}

/* The provider's id, with a number if another call has it.  It ends at a NUL:
 * ids that differ only after one are the same. */
static const char *take_id(struct calls *c, struct slice wire_id)
{
    const char *nul = memchr(wire_id.ptr, '\0', wire_id.len);
    if (nul)
        wire_id.len = (size_t)(nul - wire_id.ptr);
    if (!wire_id.len)
        return make_id(c);
    wire_id = utf8_copy(c->life, wire_id);
    const char *id = wire_id.ptr;
    for (size_t n = 2; id && is_id_used(c, id); n++) {
        struct buf other = buf_in(c->life, SIZE_MAX / 2);
        buf_add(&other, wire_id);
        buf_byte(&other, '_');
        buf_uint(&other, n);
        id = other.broken ? NULL : other.ptr;
    }
    return id;
}

static void call_start(struct calls *c, struct calls_slot *s, allm_sink *sink)
{
    if (!s->id)
        s->id = s->wire_id.ptr ? take_id(c, s->wire_id) : make_id(c);
    if (!s->name)
        s->name = "";
    allm_event *event = sink_add(sink, ALLM_EV_TOOL_CALL_STARTED);
    if (!s->id || !event) {
        no_memory(sink);
        return;
    }
    event->id = s->id;
    event->name = s->name;
    s->started = true;
    c->count++;
}

/* Emit the arguments that were not emitted yet. */
static void arguments_emit(struct calls_slot *s, allm_sink *sink)
{
    if (!s->started || s->emitted == s->raw.len)
        return;
    allm_event *event = sink_add(sink, ALLM_EV_TOOL_CALL_DELTA);
    char *text = arena_copy(sink->arena,
                            slice_skip(buf_slice(&s->raw), s->emitted));
    if (!event || !text) {
        no_memory(sink);
        return;
    }
    event->id = s->id;
    event->text = text;
    event->text_len = s->raw.len - s->emitted;
    s->emitted = s->raw.len;
}

/* Start a call once its name is known, and its id or the first arguments: an id
 * may still arrive before the arguments. */
static void call_advance(struct calls *c, struct calls_slot *s, allm_sink *sink)
{
    if (!s->started && s->name && (s->wire_id.ptr || s->raw.len))
        call_start(c, s, sink);
    arguments_emit(s, sink);
}

/* Add a piece to the arguments, as valid UTF-8. */
static void raw_grow(struct calls_slot *s, struct slice piece, allm_sink *sink)
{
    struct slice valid = utf8_pieces_take(&s->pieces, sink->arena, piece);
    buf_add(&s->raw, valid);
    brackets_scan(&s->scan, valid);
    if (!valid.ptr || s->raw.broken)
        no_memory(sink);
}

void calls_append(struct calls *c, struct calls_slot *s, struct slice text,
                  allm_sink *sink)
{
    if (s->closed)
        return;                 /* it was emitted as a whole */
    raw_grow(s, text, sink);
    call_advance(c, s, sink);
}

void calls_replace(struct calls *c, struct calls_slot *s, struct slice text,
                   allm_sink *sink)
{
    if (s->closed)
        return;
    buf_clear(&s->raw);
    s->pieces = (struct utf8_pieces){ .len = 0 };
    s->scan = (struct calls_scan){ .depth = 0 };
    raw_grow(s, text, sink);
    s->emitted = s->raw.len;
    call_advance(c, s, sink);
}

/* Set the id and the name of the call, if they are new. */
static void call_identify(struct calls *c, struct calls_slot *s,
                          struct slice id, struct slice name, allm_sink *sink)
{
    if (!s->wire_id.ptr && !s->id && id.len)
        s->wire_id = (struct slice){ arena_copy(c->life, id), id.len };
    if (!s->name && name.len)
        s->name = utf8_copy(c->life, name).ptr;
    if (c->life->broken)
        no_memory(sink);
}

static bool is_empty_piece(const struct calls_piece *p)
{
    return !p->id.len && !p->name.len && !p->text.len && !p->state;
}

struct calls_slot *calls_add(struct calls *c, allm_sink *sink,
                             const struct calls_piece *piece)
{
    struct calls_piece p = *piece;
    if (p.object)
        p.text = sink_json(sink, p.object);
    struct calls_slot *s = slot_find(c, &p);
    enum repeat repeat = s ? repeat_judge(c, s, &p, sink) : CONTINUES;
    if (!s && is_empty_piece(&p))
        return NULL;            /* a placeholder, not a call */
    if (!s || repeat == ANOTHER) {
        const char *name = s ? s->name : NULL;
        s = add_slot(c, sink);
        if (!s)
            return NULL;
        if (name && !p.name.len)
            s->name = name;
    }
    if (p.has_index && !s->has_index) {
        s->has_index = true;
        s->index = p.index;
    }
    s->custom = s->custom || p.custom;
    if (p.state)
        s->state = json_copy(c->life, p.state);
    s->frame = c->frame;
    c->last = s;
    call_identify(c, s, p.id, p.name, sink);
    calls_append(c, s, repeat == COPY ? SLICE("") : p.text, sink);
    return s;
}

struct calls_slot *calls_open(struct calls *c, struct slice id,
                              struct slice name, allm_sink *sink)
{
    struct calls_slot *s = add_slot(c, sink);
    if (!s)
        return NULL;
    call_identify(c, s, id, name, sink);
    call_advance(c, s, sink);
    return s;
}

/* ---------------------------------------------------------------- end --- */

/* Set the arguments, and metadata if they are not simply the text received. */
static void read_arguments(struct calls *c, struct calls_slot *s,
                           allm_tool_call *call, allm_sink *sink)
{
    struct slice text = slice_strip(buf_slice(&s->raw));
    call->arguments = json_empty_object();
    if (s->custom) {
        call->arguments = build_one_text(c->life, "input", buf_slice(&s->raw));
        call->metadata = build_one_text(c->life, "type", SLICE("custom"));
        return;
    }
    const allm_json *v = text.len ? arguments_parse(c->life, text, sink)
                                  : json_null();
    if (allm_json_type_of(v) == ALLM_JSON_TEXT) {
        const allm_json *inner = arguments_parse(c->life, json_slice(v), sink);
        if (allm_json_type_of(inner) == ALLM_JSON_OBJECT) {
            v = inner;
            call->metadata = build_one(c->life, "arguments_unwrapped",
                                       json_bool(true));
        }
    }
    if (allm_json_type_of(v) == ALLM_JSON_OBJECT)
        call->arguments = v;
    else if (allm_json_type_of(v) != ALLM_JSON_NULL)
        call->metadata = build_one(c->life, "arguments_invalid",
                                   json_bool(true));
}

static void call_complete(struct calls *c, struct calls_slot *s,
                          allm_tool_call *call, allm_sink *sink)
{
    struct slice raw = buf_slice(&s->raw);
    *call = (allm_tool_call){ .size = sizeof *call,
                              .id = s->id,
                              .name = s->name,
                              .raw_arguments = raw.ptr,
                              .raw_len = raw.len,
                              .provider_state = s->state };
    read_arguments(c, s, call, sink);
    allm_event *event = sink_add(sink, ALLM_EV_TOOL_CALL_COMPLETED);
    if (!event || c->life->broken) {
        no_memory(sink);
        return;
    }
    event->id = call->id;
    event->name = call->name;
    event->arguments = call->arguments;
    event->raw_arguments = call->raw_arguments;
    event->raw_len = call->raw_len;
    event->metadata = call->metadata;
    event->provider_state = call->provider_state;
    sink_last(event);           /* all of it is in c->life */
}

void calls_close(struct calls *c, struct calls_slot *s, allm_sink *sink)
{
    if (!s || !s->name || s->closed || sink->status < 0)
        return;
    if (!s->started)
        call_start(c, s, sink);
    buf_add(&s->raw, utf8_pieces_end(&s->pieces));
    arguments_emit(s, sink);
    allm_tool_call *call = arena_zero(c->life, sizeof *call);
    if (!call || s->raw.broken || sink->status < 0) {
        no_memory(sink);
        return;
    }
    call_complete(c, s, call, sink);
    s->closed = call;
}

void calls_flush(struct calls *c, allm_sink *sink)
{
    for (struct calls_slot *s = c->first; s; s = s->next) {
        if (s->closed)
            continue;
        buf_add(&s->raw, utf8_pieces_end(&s->pieces));
        bool empty = !s->name && slice_strip(buf_slice(&s->raw)).len == 0;
        if (!s->started && !empty)
            call_start(c, s, sink);
        arguments_emit(s, sink);
    }
}

const allm_tool_call *const *calls_end(struct calls *c, allm_sink *sink)
{
    size_t n = 0;
    const allm_tool_call **list = arena_zero(c->life,
                                             (c->count + 1) * sizeof *list);
    allm_tool_call *call = arena_zero(c->life, (c->count + 1) * sizeof *call);
    if (!list || !call || sink->status < 0) {
        no_memory(sink);
        return NULL;
    }
    for (struct calls_slot *s = c->first; s; s = s->next) {
        if (!s->started)
            continue;
        if (!s->closed)
            call_complete(c, s, &call[n], sink);
        list[n] = s->closed ? s->closed : &call[n];
        n++;
    }
    return list;
}

bool calls_cut(const struct calls *c)
{
    for (const struct calls_slot *s = c->first; s; s = s->next)
        if (!s->custom && (s->scan.depth || s->scan.in_text))
            return true;
    return false;
}
