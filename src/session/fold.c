/*
 * fold.c - records to state: what an open operation has done so far
 *
 *      record                messages              what is open
 *      created, change, end  first `keep`, `add`   nothing
 *      begin                 first `keep`, `add`   this operation
 *      call                  all, `add`            turn k: no answer, no calls
 *      response                                    turn k has its answer
 *      intent                                      a call has begun
 *      result                                      a call is done
 *      again                                       a call has not begun
 *      turn                  first `keep`, `add`   turn k is complete
 *      taken, unknown types
 */
#include "session/fold.h"

#include "json/build.h"
#include "json/json.h"

void fold_init(struct fold *f, struct arena *a)
{
    *f = (struct fold){ .arena = a };
}

static uint64_t number_at(const allm_json *v, const char *name)
{
    int64_t n = 0;
    json_int64(json_at(v, name), &n);
    return n > 0 ? (uint64_t)n : 0;
}

static const char *text_at(const allm_json *v, const char *name)
{
    return json_text_at(v, name).ptr;
}

static uint64_t added(const allm_json *record)
{
    return allm_json_count(json_at(record, "add"));
}

/* Make room for one more element; false: out of memory. */
static bool reserve(struct fold *f, void *list, size_t count, size_t *cap,
                    size_t size)
{
    return arena_grow(f->arena, list, count, cap, 4, size);
}

/* ------------------------------------------------------------ records --- */

static bool add_end(struct fold *f, const allm_json *r)
{
    (void)r;
    fold_init(f, f->arena);
    return true;
}

static bool add_begin(struct fold *f, const allm_json *r)
{
    fold_init(f, f->arena);
    f->begin = number_at(r, "seq");
    f->op = text_at(r, "op");
    f->request_id = text_at(r, "request_id");
    f->model = text_at(r, "model");
    f->options = json_at(r, "options");
    f->keep = number_at(r, "keep");
    f->input = added(r);
    f->complete = f->count = f->keep + f->input;
    return true;
}

static void begin_turn(struct fold *f, uint32_t turn, bool called)
{
    f->turn = turn;
    f->called = called;
    f->response = NULL;
    f->call_count = 0;
}

static bool add_call(struct fold *f, const allm_json *r)
{
    begin_turn(f, (uint32_t)number_at(r, "turn"), true);
    f->pass = (uint32_t)number_at(r, "pass");
    f->counts = json_at(r, "counts");
    f->count += added(r);
    return true;
}

static bool add_response(struct fold *f, const allm_json *r)
{
    f->response = json_at(r, "response");
    return true;
}

struct fold_call *fold_find(const struct fold *f, const char *id)
{
    for (size_t i = 0; id && i < f->call_count; i++)
        if (f->calls[i].id && !strcmp(f->calls[i].id, id))
            return &f->calls[i];
    return NULL;
}

/* The call with this id, made if it is new; NULL: out of memory. */
static struct fold_call *find_or_add(struct fold *f, const char *id)
{
    struct fold_call *c = fold_find(f, id);
    if (c)
        return c;
    if (!reserve(f, &f->calls, f->call_count, &f->call_cap, sizeof *c))
        return NULL;
    c = &f->calls[f->call_count++];
    *c = (struct fold_call){ .id = id, .effect = ALLM_EFFECT_WRITE };
    return c;
}

static allm_effect effect_of(const char *word)
{
    return word && !strcmp(word, "pure")         ? ALLM_EFFECT_PURE
           : word && !strcmp(word, "idempotent") ? ALLM_EFFECT_IDEMPOTENT
                                                 : ALLM_EFFECT_WRITE;
}

static bool add_intent(struct fold *f, const allm_json *r)
{
    const allm_json *call = json_at(r, "call");
    const allm_json *data = json_at(call, "data");
    if (data)
        call = data;
    struct fold_call *c = find_or_add(f, text_at(call, "id"));
    if (!c)
        return false;
    c->name = text_at(call, "name");
    c->arguments = json_at(call, "arguments");
    c->index = (uint32_t)number_at(r, "index");
    c->effect = effect_of(text_at(r, "effect"));
    c->key = text_at(r, "key");
    c->at = text_at(r, "at");
    c->begun = true;
    c->done = false;
    return true;
}

static bool add_result(struct fold *f, const allm_json *r)
{
    struct fold_call *c = find_or_add(f, text_at(r, "id"));
    if (!c)
        return false;
    c->done = true;
    c->is_error = allm_json_true(json_at(r, "is_error"));
    c->content = json_text_at(r, "content");
    c->reason = text_at(r, "reason");
    c->value = json_at(r, "value");
    if (json_is_type(c->value, ALLM_JSON_NULL))
        c->value = NULL;
    return true;
}

static bool add_again(struct fold *f, const allm_json *r)
{
    struct fold_call *c = fold_find(f, text_at(r, "id"));
    if (c)
        c->begun = false;
    return true;
}

/* A later turn may read the whole of a result that was cut. */
static bool keep_results(struct fold *f)
{
    for (size_t i = 0; i < f->call_count; i++) {
        if (!f->calls[i].done)
            continue;
        if (!reserve(f, &f->earlier, f->earlier_count, &f->earlier_cap,
                     sizeof *f->earlier))
            return false;
        f->earlier[f->earlier_count++] = f->calls[i];
    }
    return true;
}

static bool add_turn(struct fold *f, const allm_json *r)
{
    if (!keep_results(f))
        return false;
    if (!reserve(f, &f->steps, f->step_count, &f->step_cap, sizeof *f->steps))
        return false;
    f->complete = f->count = number_at(r, "keep") + added(r);
    f->steps[f->step_count++] =
        (struct fold_step){ .turn = f->turn, .seq = number_at(r, "seq"),
                            .response = f->response,
                            .keep = number_at(r, "keep"), .count = f->count,
                            .manual = json_at(r, "manual") };
    begin_turn(f, f->turn + 1, false);
    return true;
}

static const struct {
    const char *type;
    bool (*add)(struct fold *f, const allm_json *record);
} types[] = {
    { "created", add_end },   { "change", add_end },
    { "end", add_end },       { "begin", add_begin },
    { "call", add_call },     { "response", add_response },
    { "intent", add_intent }, { "result", add_result },
    { "again", add_again },   { "turn", add_turn },
};

bool fold_add(struct fold *f, const allm_json *record)
{
    const allm_json *type = json_at(record, "type");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (json_is(type, types[i].type))
            return types[i].add(f, record);
    return true;
}

bool fold_note_call(struct fold *f, const char *id, const char *name, bool done)
{
    struct fold_call *c = fold_find(f, id);
    if (!c)
        c = find_or_add(f, arena_text(f->arena, id));
    if (!c || !c->id)
        return false;
    if (!c->name)
        c->name = arena_text(f->arena, name);
    c->begun = c->begun || !done;
    c->done = done;
    return c->name != NULL;
}

void fold_note_turn(struct fold *f)
{
    f->call_count = 0;
}

/* ---------------------------------------------------------- questions --- */

bool fold_is_decided(const struct fold *f)
{
    return f->response && !f->called && !f->step_count;
}

bool fold_is_unknown(const struct fold_call *c)
{
    return c->begun && !c->done &&
           (c->effect == ALLM_EFFECT_WRITE || c->writes_now);
}

size_t fold_count_unknown(const struct fold *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->call_count; i++)
        n += fold_is_unknown(&f->calls[i]);
    return n;
}

/* A string, or null. */
static void build_word(struct build *b, const char *name, const char *word)
{
    build_key(b, slice_of(name));
    if (word)
        build_text_copy(b, slice_of(word));
    else
        build_null(b);
}

static void build_unknown(struct build *b, const struct fold_call *c)
{
    build_object(b);
    build_word(b, "id", c->id);
    build_word(b, "name", c->name);
    build_value_at(b, "arguments", c->arguments ? c->arguments : json_null());
    build_word(b, "key", c->key);
    build_word(b, "at", c->at);
    build_end(b);
}

const allm_json *fold_broken_off(const struct fold *f, struct arena *a)
{
    struct build b = build_object_in(a);
    build_uint_at(&b, "begin", f->begin);
    build_word(&b, "op", f->op);
    build_uint_at(&b, "turn", f->turn);
    build_bool_at(&b, "answered", f->response != NULL);
    build_array_at(&b, "unknown_tool_calls");
    for (size_t i = 0; i < f->call_count; i++)
        if (fold_is_unknown(&f->calls[i]))
            build_unknown(&b, &f->calls[i]);
    build_end(&b);
    return build_finish(&b);
}

const allm_json *fold_interrupted(const struct fold *f, struct arena *a)
{
    size_t n = 0;
    struct build b = build_array_in(a);
    for (size_t i = 0; i < f->call_count; i++) {
        const struct fold_call *c = &f->calls[i];
        if (!c->begun)
            continue;
        n++;
        build_object(&b);
        build_word(&b, "id", c->id);
        build_word(&b, "name", c->name);
        build_bool_at(&b, "done", c->done);
        build_end(&b);
    }
    return n ? build_finish(&b) : NULL;
}
