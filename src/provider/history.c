/* history.c - a conversation as every provider accepts it */
#include "provider/history.h"

#include "provider/hash.h"
#include "json/json.h"
#include "json/parse.h"
#include "json/write.h"

#define NOT_EXECUTED "This tool call was not executed."
#define IMAGES_INTRO "The images of the tool results above:"

void history_init(struct history *h, const allm_call *call, struct arena *a)
{
    *h = (struct history){ .reader = call,
                           .request = call->request,
                           .arena = a };
}

static const allm_message *message_at(const struct history *h, size_t i)
{
    return h->request->messages[i];
}

static bool is_result(const allm_message *m, const char *id)
{
    return m->role == ALLM_ROLE_TOOL && m->tool_call_id &&
           !strcmp(m->tool_call_id, id);
}

/* ------------------------------------------------------------ results --- */

/* After a message of the assistant: the results of its calls are next. */
static void results_expect(struct history *h, const allm_message *m)
{
    size_t n = h->request->message_count;
    h->calling = m->tool_call_count ? m : NULL;
    if (!h->calling)
        return;
    h->call = 0;
    h->first = h->hint = h->end = h->at;
    while (h->end < n && message_at(h, h->end)->role != ALLM_ROLE_ASSISTANT)
        h->end++;
    if (!h->used)
        h->used = arena_zero(h->arena, n + 1);
    h->broken = h->broken || !h->used;
}

/* Find the result of a call; begin after the last one that was found. */
static bool find_result(struct history *h, const char *id, size_t *where)
{
    size_t n = h->end - h->first;
    for (size_t i = 0; i < n; i++) {
        size_t k = h->first + (h->hint - h->first + i) % n;
        if (!h->used[k] && is_result(message_at(h, k), id)) {
            *where = k;
            h->hint = k + 1;    /* at the end, continue at the first */
            return true;
        }
    }
    return false;
}

static allm_message *message_make(struct history *h, allm_role role,
                                  struct slice text)
{
    allm_message *m = arena_alloc(h->arena, sizeof *m);
    if (!m) {
        h->broken = true;
        return NULL;
    }
    *m = (allm_message){ .size = sizeof *m,
                         .role = role,
                         .text = text.ptr,
                         .text_len = text.len };
    return m;
}

static bool next_result(struct history *h, struct history_item *out)
{
    size_t where;
    const allm_tool_call *call = h->calling->tool_calls[h->call++];
    const char *id = call->id ? call->id : "";
    if (find_result(h, id, &where)) {
        h->used[where] = 1;
        h->has_images |= history_has_image(message_at(h, where));
        *out = (struct history_item){ .message = message_at(h, where),
                                      .index = where };
        return true;
    }
    allm_message *m = message_make(h, ALLM_ROLE_TOOL, SLICE(NOT_EXECUTED));
    if (!m)
        return false;
    m->tool_call_id = id;
    m->name = call->name;
    *out = (struct history_item){ .message = m,
                                  .index = h->first - 1,
                                  .made = true };
    return true;
}

static size_t count_parts(const struct history *h)
{
    size_t n = 0;
    for (size_t i = h->first; i < h->end; i++)
        n += message_at(h, i)->part_count;
    return n;
}

/* The images of the results before it. */
static bool next_images(struct history *h, struct history_item *out)
{
    static const allm_part intro = {
        .size = sizeof intro, .kind = ALLM_PART_TEXT,
        .text = IMAGES_INTRO, .text_len = sizeof IMAGES_INTRO - 1,
    };
    const allm_part **parts = arena_alloc(h->arena,
                                          (count_parts(h) + 1) * sizeof *parts);
    allm_message *m = message_make(h, ALLM_ROLE_USER, (struct slice){ 0 });
    h->has_images = false;
    h->broken = h->broken || !parts;
    if (h->broken)
        return false;
    m->parts = parts;
    parts[m->part_count++] = &intro;
    for (size_t i = h->first; i < h->end; i++)
        for (size_t k = 0; h->used[i] && k < message_at(h, i)->part_count; k++)
            if (message_at(h, i)->parts[k]->kind == ALLM_PART_IMAGE)
                parts[m->part_count++] = message_at(h, i)->parts[k];
    *out = (struct history_item){ .message = m, .index = h->end - 1,
                                  .made = true };
    return true;
}

/* ----------------------------------------------------------- messages --- */

const allm_json *history_state(const allm_call *call, const allm_json *state)
{
    return state &&
                   json_is(allm_json_get(state, "provider"),
                           call->provider ? call->provider : "") &&
                   json_is(allm_json_get(state, "model"),
                           call->model ? call->model : "")
               ? state
               : NULL;
}

static bool is_silent_message(const struct history *h, const allm_message *m)
{
    if (m->role != ALLM_ROLE_ASSISTANT || m->tool_call_count ||
        history_state(h->reader, m->provider_state) || m->text_len)
        return false;
    for (size_t i = 0; i < m->part_count; i++)
        if (m->parts[i]->kind != ALLM_PART_TEXT || m->parts[i]->text_len)
            return false;
    return true;
}

/* A result without a call, as a user message. */
static bool orphan_to_user(struct history *h, size_t index,
                           struct history_item *out)
{
    const allm_message *m = message_at(h, index);
    struct slice said = history_text(m, h->arena);
    struct buf text = buf_in(h->arena, SIZE_MAX / 2);
    buf_text(&text, "Result of the tool call ");
    buf_text(&text, m->tool_call_id ? m->tool_call_id : "");
    buf_text(&text, ": ");
    buf_add(&text, said);
    if (!said.ptr || text.broken)
        h->broken = true;
    allm_message *mine = message_make(h, ALLM_ROLE_USER, buf_slice(&text));
    if (h->broken)
        return false;
    *out =
        (struct history_item){ .message = mine,
                                  .index = index,
                                  .made = true };
    return true;
}

bool history_next(struct history *h, struct history_item *out)
{
    for (;;) {
        if (h->broken)
            return false;
        if (h->calling && h->call < h->calling->tool_call_count)
            return next_result(h, out);
        if (h->has_images)
            return next_images(h, out);
        if (h->at == h->request->message_count)
            return false;
        size_t index = h->at++;
        const allm_message *m = message_at(h, index);
        if (is_silent_message(h, m) || (h->used && h->used[index]))
            continue;
        if (m->role == ALLM_ROLE_TOOL)
            return orphan_to_user(h, index, out);
        if (m->role == ALLM_ROLE_ASSISTANT)
            results_expect(h, m);
        *out = (struct history_item){ .message = m, .index = index };
        return !h->broken;
    }
}

/* ------------------------------------------------------------- pieces --- */

static bool is_legal(const struct history_ids *rules, struct slice id)
{
    if (!id.len || (rules->most && id.len > rules->most) ||
        (rules->exactly && id.len != rules->exactly))
        return false;
    for (size_t i = 0; !rules->any && i < id.len; i++)
        if (!slice_alnum(id.ptr[i]) &&
            !(rules->dashes && (id.ptr[i] == '_' || id.ptr[i] == '-')))
            return false;
    return true;
}

static uint64_t scatter(uint64_t n)
{
    n = (n ^ n >> 30) * 0xBF58476D1CE4E5B9u;
    n = (n ^ n >> 27) * 0x94D049BB133111EBu;
    return n ^ n >> 31;
}

const char *history_id(const struct history_ids *rules, const char *id,
                       struct arena *a)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz";
    struct slice text = slice_of(id ? id : "");
    if (is_legal(rules, text))
        return id;
    size_t n = rules->exactly ? rules->exactly : 20;
    char *mine = arena_alloc(a, n + 1);
    uint64_t h = hash_add(HASH_START, text);
    for (size_t i = 0; mine && i < n; i++)
        mine[i] = digits[scatter(h + i) % 62];
    if (mine)
        mine[n] = '\0';
    return mine;
}

const char *history_name(const allm_tool_call *call, struct arena *a)
{
    const struct history_ids rules = { .most = 64, .dashes = true };
    struct slice name = slice_of(call->name ? call->name : "");
    if (!name.len)
        return "unnamed";
    if (is_legal(&rules, name))
        return call->name;
    size_t n = name.len < rules.most ? name.len : rules.most;
    char *mine = arena_alloc(a, n + 1);
    if (!mine)
        return NULL;
    for (size_t i = 0; i < n; i++)
        mine[i] = slice_alnum(name.ptr[i]) || name.ptr[i] == '-' ? name.ptr[i]
                                                                 : '_';
    mine[n] = '\0';
    return mine;
}

struct slice history_arguments(const allm_tool_call *call, struct arena *a)
{
    const allm_error *error = NULL;
    struct slice raw = { call->raw_arguments, call->raw_len };
    if (raw.ptr && raw.len &&
        json_is_type(json_parse_strict(a, raw, &error), ALLM_JSON_OBJECT))
        return raw;
    if (error && error->kind == ALLM_ERR_NOMEM)
        return (struct slice){ NULL, 0 };
    if (allm_json_type_of(call->arguments) != ALLM_JSON_OBJECT)
        return SLICE("{}");
    struct buf text = buf_in(a, SIZE_MAX / 2);
    return json_write(&text, call->arguments, 0) ? buf_slice(&text)
                                                 : (struct slice){ NULL, 0 };
}

struct slice history_text(const allm_message *m, struct arena *a)
{
    struct buf text;
    if (!m->parts)
        return (struct slice){ m->text ? m->text : "", m->text_len };
    buf_init(&text, a, SIZE_MAX / 2);
    bool any = false;
    for (size_t i = 0; i < m->part_count; i++) {
        const allm_part *p = m->parts[i];
        if (p->kind != ALLM_PART_TEXT)
            continue;
        if (any)
            buf_byte(&text, '\n');
        buf_add(&text, (struct slice){ p->text, p->text_len });
        any = true;
    }
    return text.broken ? (struct slice){ NULL, 0 } : buf_slice(&text);
}

void history_write(struct emit *e, const char *name, struct slice text)
{
    emit_at(e, name);
    if (!text.ptr)
        e->out->broken = true;
    emit_text(e, text.ptr ? text : SLICE(""));
}

bool history_has_image(const allm_message *m)
{
    for (size_t i = 0; i < m->part_count; i++)
        if (m->parts[i]->kind == ALLM_PART_IMAGE)
            return true;
    return false;
}
