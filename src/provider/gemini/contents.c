/*
 * contents.c - encode the conversation for Gemini
 *
 *      {"role": "user",  "parts": [text | inlineData | fileData, ...]}
 *      {"role": "model", "parts": [text | functionCall | unchanged, ...]}
 *      {"role": "user",  "parts": [functionResponse, ...]}
 *
 *   (1) The first content is the user's, and two of the model are never
 *       adjacent.
 *   (2) A content with calls is followed by one with only their results, in the
 *       order of the calls.  A result has the name of its call.
 *   (3) No text is empty unless it has a signature, and no list is empty.
 *   (4) A call's id is sent only if the model created it.
 *   (5) Newer models reject a content whose first call has no signature.  For
 *       calls of other models there is a special signature.
 */
#include "provider/gemini/contents.h"

#include "provider/hash.h"
#include "provider/history.h"
#include "provider/image_source.h"
#include "provider/layout.h"
#include "provider/memo.h"
#include "provider/model_rules.h"
#include "json/json.h"
#include "json/parse.h"

static const char memo_name;    /* its address is the key of memos */

/* The user's message that precedes a model that spoke first. */
#define OPENING "(The conversation begins with the model.)"

/* The signature for calls that another model made. */
#define FOREIGN_SIGNATURE "skip_thought_signature_validator"

enum turn { NO_TURN, USER, MODEL, RESULTS };

struct writer {
    const allm_call *call;
    struct emit *emit;
    struct arena *arena;
    const allm_message *calls_of;   /* its calls are being answered */
    size_t answered;
    enum turn open;             /* the content being written */
    enum turn turn;             /* the content of the next part */
    size_t from;                /* where this message's parts start */
    bool has_part;              /* this message has a part */
    bool has_call;              /* ...and one of them is a call */
    bool needs_signature;       /* keeps (5) */
    bool broken;
};

/* -------------------------------------------------------------- turns --- */

static void close_turn(struct writer *w)
{
    if (w->open == NO_TURN)
        return;
    emit_close(w->emit, ']');
    emit_close(w->emit, '}');
}

static void open_turn(struct writer *w, enum turn turn)
{
    close_turn(w);
    emit_open(w->emit, '{');
    emit_member_word(w->emit, "role", turn == MODEL ? "model" : "user");
    emit_member_open(w->emit, "parts", '[');
    w->open = turn;
}

/* Open the turn that the next part belongs to. */
static void turn_enter(struct writer *w)
{
    if (w->open == NO_TURN && w->turn == MODEL) {
        open_turn(w, USER);     /* keeps (1) */
        emit_open(w->emit, '{');
        history_write(w->emit, "text", SLICE(OPENING));
        emit_close(w->emit, '}');
    }
    if (w->open != w->turn)
        open_turn(w, w->turn);
    if (!w->has_part)
        w->from = w->emit->out->len + w->emit->comma;
    w->has_part = true;
}

static void open_part(struct writer *w)
{
    turn_enter(w);
    emit_open(w->emit, '{');
}

/* -------------------------------------------------------------- parts --- */

static void write_signature(struct writer *w, const allm_json *from)
{
    const allm_json *signature = allm_json_get(from, "thoughtSignature");
    if (allm_json_type_of(signature) == ALLM_JSON_TEXT)
        history_write(w->emit, "thoughtSignature", json_slice(signature));
}

/* `state`: our state of this text, which may have its signature; or NULL. */
static void write_text(struct writer *w, struct slice text,
                       const allm_json *state)
{
    if (!text.ptr)
        w->broken = true;
    if (!text.len && !allm_json_get(state, "thoughtSignature"))
        return;
    open_part(w);
    history_write(w->emit, "text", text);
    write_signature(w, state);
    emit_close(w->emit, '}');
}

static void write_image(struct writer *w, const allm_image *image)
{
    bool is_url = image->source == ALLM_IMAGE_URL;
    const char *type = image_source_type(image);
    open_part(w);
    emit_member_open(w->emit, is_url ? "fileData" : "inlineData", '{');
    if (type)
        history_write(w->emit, "mimeType", slice_of(type));
    if (is_url) {
        history_write(w->emit, "fileUri",
                      (struct slice){ image->data, image->data_len });
    } else {
        emit_name(w->emit, SLICE("data"));
        image_source_write(w->emit, image, false, w->arena);
    }
    emit_close(w->emit, '}');
    emit_close(w->emit, '}');
}

static void write_content(struct writer *w, const allm_message *m)
{
    if (!history_has_image(m)) {
        write_text(w, history_text(m, w->arena), NULL);
        return;
    }
    for (size_t i = 0; i < m->part_count; i++) {
        const allm_part *p = m->parts[i];
        if (p->kind == ALLM_PART_TEXT)
            write_text(w, history_part(p), NULL);
        else if (p->kind == ALLM_PART_IMAGE && p->image)
            write_image(w, p->image);
    }
}

/* -------------------------------------------------------------- model --- */

/* The id that the model itself created; ptr is NULL if there is none. */
static struct slice id_of(const struct writer *w, const allm_tool_call *call)
{
    const allm_json *state = history_state(w->call, call->provider_state);
    return json_slice(allm_json_get(state, "id"));
}

static void write_call(struct writer *w, const allm_tool_call *call)
{
    const allm_json *state = history_state(w->call, call->provider_state);
    struct slice args = history_arguments(call, w->arena);
    open_part(w);
    emit_member_open(w->emit, "functionCall", '{');
    if (id_of(w, call).len)
        history_write(w->emit, "id", id_of(w, call));
    history_write(w->emit, "name", slice_of(history_name(call, w->arena)));
    emit_name(w->emit, SLICE("args"));
    if (!args.ptr)
        w->broken = true;
    emit_raw(w->emit, args.ptr ? args : SLICE("{}"));
    emit_close(w->emit, '}');
    if (allm_json_get(state, "thoughtSignature"))
        write_signature(w, state);
    else if (w->needs_signature && !w->has_call)
        history_write(w->emit, "thoughtSignature", SLICE(FOREIGN_SIGNATURE));
    emit_close(w->emit, '}');
    w->has_call = true;
}

static enum layout_kind kind_of(const allm_json *part)
{
    return allm_json_true(allm_json_get(part, "call")) ? LAYOUT_CALL
                                                       : LAYOUT_TEXT;
}

static void write_as_is(struct writer *w, const allm_json *part)
{
    if (!allm_json_count(part) || allm_json_type_of(part) != ALLM_JSON_OBJECT)
        return;                 /* not our state */
    turn_enter(w);
    emit_value(w->emit, part);
}

/* Write the parts in their original order. */
static void write_layout(struct writer *w, const allm_message *m,
                         const allm_json *layout)
{
    size_t at = 0, call = 0;
    const char *text = m->text ? m->text : "";
    for (const allm_json *p = NULL; (p = allm_json_next(layout, p));) {
        if (allm_json_true(allm_json_get(p, "call"))) {
            write_call(w, m->tool_calls[call++]);
        } else if (allm_json_get(p, "bytes")) {
            write_text(w, (struct slice){ text + at, layout_bytes(p) }, p);
            at += layout_bytes(p);
        } else {
            write_as_is(w, allm_json_get(p, "part"));
        }
    }
}

/* If the message was changed, its parts that are neither text nor calls come
 * first. */
static void write_model(struct writer *w, const allm_message *m)
{
    const allm_json *layout = layout_of(w->call, m, "parts");
    if (layout && layout_fits(layout, m, kind_of)) {
        write_layout(w, m, layout);
        return;
    }
    for (const allm_json *p = NULL; (p = allm_json_next(layout, p));)
        write_as_is(w, allm_json_get(p, "part"));
    write_content(w, m);
    for (size_t i = 0; i < m->tool_call_count; i++)
        write_call(w, m->tool_calls[i]);
}

/* ------------------------------------------------------------ results --- */

/* The call that the next result answers, as history.h returns results in order;
 * NULL if there is none. */
static const allm_tool_call *next_call(struct writer *w)
{
    return w->calls_of && w->answered < w->calls_of->tool_call_count
               ? w->calls_of->tool_calls[w->answered++]
               : NULL;
}

/* The text as an object; NULL if it is not one. */
static const allm_json *object_in(struct writer *w, struct slice text)
{
    const allm_error *error = NULL;
    if (!text.len || *text.ptr != '{')
        return NULL;
    const allm_json *v = json_parse_strict(w->arena, text, &error);
    if (error && error->kind == ALLM_ERR_NOMEM)
        w->broken = true;
    return allm_json_type_of(v) == ALLM_JSON_OBJECT ? v : NULL;
}

/* A response must be an object: if it is not, wrap it as "output" or
 * "error". */
static void write_response(struct writer *w, const struct history_item *item)
{
    const allm_message *m = item->message;
    struct slice text = history_text(m, w->arena);
    const allm_json *failed = allm_json_get(m->metadata, "is_error");
    bool error = item->made || allm_json_true(failed);
    const allm_json *object = error ? NULL : object_in(w, text);
    emit_name(w->emit, SLICE("response"));
    if (object) {
        emit_value(w->emit, object);
        return;
    }
    emit_open(w->emit, '{');
    history_write(w->emit, error ? "error" : "output", text);
    emit_close(w->emit, '}');
}

static void write_result(struct writer *w, const struct history_item *item,
                         const allm_tool_call *call)
{
    open_part(w);
    emit_member_open(w->emit, "functionResponse", '{');
    if (call && id_of(w, call).len)
        history_write(w->emit, "id", id_of(w, call));
    history_write(w->emit, "name",
                  call ? slice_of(history_name(call, w->arena))
                       : SLICE("unnamed"));
    write_response(w, item);
    emit_close(w->emit, '}');
    emit_close(w->emit, '}');
}

/* ----------------------------------------------------------- messages --- */

/* The key of a message's memo: everything that its bytes depend on. */
static struct home_key memo_key_of(const struct writer *w,
                                   const allm_message *m,
                                   const allm_tool_call *call)
{
    uint64_t hash = HASH_START + w->needs_signature;
    if (call) {
        hash = hash_add(hash, slice_of(call->name ? call->name : ""));
        hash = hash_add(hash, SLICE("\xFF"));
        hash = hash_add(hash, id_of(w, call));
    }
    return memo_key(&memo_name, hash, w->call, m);
}

static void write_message(struct writer *w, const struct history_item *item)
{
    const allm_message *m = item->message;
    const allm_tool_call *call = w->turn == RESULTS ? next_call(w) : NULL;
    struct home_key k = memo_key_of(w, m, call);
    bool memoizable = !item->made;
    struct slice memo = memoizable ? memo_find(m, k)
                                   : (struct slice){ NULL, 0 };
    if (memo.ptr) {
        turn_enter(w);
        emit_borrowed(w->emit, memo);
        return;
    }
    if (w->turn == RESULTS)
        write_result(w, item, call);
    else if (w->turn == MODEL)
        write_model(w, m);
    else
        write_content(w, m);
    if (memoizable && w->has_part && !w->broken)
        memo_keep_written(m, k, w->emit->out, w->from);
}

static void write_item(struct writer *w, const struct history_item *item)
{
    const allm_message *m = item->message;
    w->has_part = w->has_call = false;
    w->turn = m->role == ALLM_ROLE_ASSISTANT ? MODEL
              : m->role == ALLM_ROLE_TOOL    ? RESULTS
                                             : USER;
    if (w->turn == MODEL) {
        w->calls_of = m;
        w->answered = 0;
    }
    write_message(w, item);
}

bool gemini_contents_write(const allm_call *call, struct emit *e,
                           struct arena *a)
{
    struct history h;
    struct history_item item;
    struct writer w = { .call = call,
                         .emit = e,
                         .arena = a,
                         .needs_signature = model_rules(call->model) &
                                  MODEL_LEVELS };
    history_init(&h, call, a);
    emit_open(e, '[');
    while (!w.broken && history_next(&h, &item))
        if (item.message->role != ALLM_ROLE_SYSTEM)
            write_item(&w, &item);
    close_turn(&w);
    emit_close(e, ']');
    return !w.broken && !h.broken && !e->out->broken;
}

/* ------------------------------------------------------------- system --- */

void gemini_contents_write_text(struct emit *e, const char *name,
                                struct slice text)
{
    emit_member_open(e, name, '{');
    emit_member_open(e, "parts", '[');
    emit_open(e, '{');
    emit_member_text(e, "text", text);
    emit_close(e, '}');
    emit_close(e, ']');
    emit_close(e, '}');
}

bool gemini_contents_write_system(const allm_call *call, struct emit *e,
                                  struct arena *a)
{
    const allm_request *r = call->request;
    struct buf all = buf_in(a, SIZE_MAX / 2);
    for (size_t i = 0; i < r->message_count; i++) {
        const allm_message *m = r->messages[i];
        if (m->role != ALLM_ROLE_SYSTEM)
            continue;
        struct slice text = history_text(m, a);
        if (!text.ptr)
            return false;
        if (all.len && text.len)
            buf_text(&all, "\n\n");
        buf_add(&all, text);
    }
    if (all.len && !all.broken)
        gemini_contents_write_text(e, "systemInstruction", buf_slice(&all));
    return !all.broken;
}

/* ------------------------------------------------------------- images --- */

bool gemini_contents_takes_url(const allm_image *image)
{
    struct slice url = { image->data, image->data_len };
    return slice_starts(url, SLICE("gs://")) ||
           slice_starts(url,
                        SLICE("https://generativelanguage.googleapis.com/"));
}
