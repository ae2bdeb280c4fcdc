/*
 * script.c - read and check scripts
 *
 *      adapter_opts --> script          one call    [entry, entry, ...]
 *                       scripts         calls       [[entry, ...], ...]
 *                       stream_script   either; precedes the others
 *
 * An entry is a list: its tag, a value, and for some tags options.  Everything
 * is checked before a call starts, so the player can rely on it.  Each kind of
 * value has one reader, used for both checking and playing.
 */
#include "provider/fake/script.h"

#include "base/status.h"
#include "data/response.h"
#include "data/usage.h"
#include "json/json.h"

/* ------------------------------------------------------------ entries --- */

#define TAG(w) { (w), sizeof(w) - 1 }
static const struct tag {
    struct slice name;
    enum fake_tag tag;
} tags[] = {
    { TAG("text"), FAKE_TEXT },
    { TAG("text_delta"), FAKE_TEXT },
    { TAG("reasoning"), FAKE_REASONING },
    { TAG("tool_call"), FAKE_TOOL_CALL },
    { TAG("tool_call_delta"), FAKE_TOOL_CALL_DELTA },
    { TAG("usage"), FAKE_USAGE },
    { TAG("raw_chunk"), FAKE_RAW_CHUNK },
    { TAG("finish"), FAKE_FINISH },
    { TAG("delay"), FAKE_DELAY },
    { TAG("sleep"), FAKE_DELAY },
    { TAG("error"), FAKE_ERROR },
    { TAG("error_event"), FAKE_ERROR_EVENT },
    { TAG("stream_error"), FAKE_STREAM_ERROR },
    { TAG("preflight_error"), FAKE_PREFLIGHT_ERROR },
    { TAG("ok"), FAKE_OK },
};

static bool is_text(const allm_json *v)
{
    return allm_json_type_of(v) == ALLM_JSON_TEXT;
}

static bool is_list(const allm_json *v)
{
    return allm_json_type_of(v) == ALLM_JSON_ARRAY;
}

static bool is_object(const allm_json *v)
{
    return allm_json_type_of(v) == ALLM_JSON_OBJECT;
}

struct fake_entry fake_entry_read(const allm_json *entry)
{
    struct fake_entry e = { .tag = FAKE_UNKNOWN };
    const allm_json *name = allm_json_next(entry, NULL);
    struct slice text = json_slice(name);
    if (!text.ptr || !is_list(entry))
        return e;
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        if (slice_eq(text, tags[i].name)) {
            e.tag = tags[i].tag;
            break;
        }
    }
    e.value = allm_json_next(entry, name);
    if (e.value && e.tag >= FAKE_ERROR)
        e.opts = allm_json_next(entry, e.value);
    return e;
}

const allm_json *fake_member(const allm_json *object, const char *key)
{
    const allm_json *v = allm_json_get(object, key);
    return allm_json_type_of(v) == ALLM_JSON_NULL ? NULL : v;
}

/* ------------------------------------------------------------- values --- */

static bool read_int(const allm_json *v, allm_int *out)
{
    out->set = allm_json_type_of(v) == ALLM_JSON_INT &&
               allm_json_int64(v, &out->value);
    return out->set;
}

static bool read_num(const allm_json *v, allm_num *out)
{
    out->set = json_finite(v, &out->value);
    return out->set;
}

static bool read_field(const struct shape_field *f, const allm_json *v,
                       void *out)
{
    if (allm_json_type_of(v) == ALLM_JSON_NULL)
        return true;
    if (f->kind == SHAPE_INT)
        return read_int(v, shape_slot(f, out));
    if (f->kind == SHAPE_NUM)
        return read_num(v, shape_slot(f, out));
    shape_set_pointer(f, out, v);
    return is_object(v);
}

const char *fake_read_usage(const allm_json *map, allm_usage *out)
{
    *out = (allm_usage){ .size = sizeof *out };
    if (!is_object(map))
        return "an object with fields of a usage, such as "
               "{\"input_tokens\": 3}";
    for (const allm_json *k = NULL; (k = allm_json_next(map, k));) {
        const struct shape_field *f = usage_shape.fields;
        while (f->name && !json_is(k, f->name))
            f++;
        if (!f->name)
            return "made of fields of a usage only (input_tokens, "
                   "output_tokens, cached_input_tokens, reasoning_tokens, "
                   "total_tokens, input_cost, output_cost, total_cost, "
                   "tool_usage, extra)";
        if (!read_field(f, allm_json_value(k), out))
            return "an object whose tokens are integers, whose costs are "
                   "numbers, and whose tool_usage and extra are objects";
    }
    return NULL;
}

/* Fields of an error that an entry may set. */
static const struct error_field {
    const char *name;
    enum { TEXT, NUMBER, MAP, ANYTHING } kind;
    size_t at;
} error_fields[] = {
#define AT(m) offsetof(allm_error, m)
    { "message", TEXT, AT(message) },
    { "provider", TEXT, AT(provider) },
    { "request_id", TEXT, AT(request_id) },
    { "status", NUMBER, AT(http_status) },
    { "retry_after_ms", NUMBER, AT(retry_after_ms) },
    { "event_index", NUMBER, AT(event_index) },
    { "cause", ANYTHING, AT(cause) },
    { "metadata", MAP, AT(metadata) },
#undef AT
};

static bool read_error_field(const struct error_field *f, const allm_json *v,
                             allm_error *out)
{
    void *slot = (char *)out + f->at;
    const void *pointer = f->kind == TEXT
                              ? (const void *)allm_json_text(v, NULL)
                              : (const void *)v;
    if (allm_json_type_of(v) == ALLM_JSON_NULL)
        return true;
    if (f->kind == NUMBER)
        return read_int(v, slot);
    memcpy(slot, &pointer, sizeof pointer);
    return f->kind == ANYTHING || (f->kind == MAP ? is_object(v) : is_text(v));
}

static const char *read_error_opts(const allm_json *opts, allm_error *out)
{
    static const char expected[] =
        "[tag, reason, {fields}] with fields of an error only: message, "
        "provider and request_id (strings), status, retry_after_ms and "
        "event_index (integers), metadata (an object), cause";
    size_t n = sizeof error_fields / sizeof *error_fields;
    if (opts && allm_json_type_of(opts) != ALLM_JSON_NULL && !is_object(opts))
        return expected;
    for (const allm_json *k = NULL; (k = allm_json_next(opts, k));) {
        size_t i = 0;
        while (i < n && !json_is(k, error_fields[i].name))
            i++;
        if (i == n ||
            !read_error_field(&error_fields[i], allm_json_value(k), out))
            return expected;
    }
    return NULL;
}

static bool read_reason(const allm_json *name, allm_error *out)
{
    const char *const *list = allm_error_reasons(out->kind);
    for (; *list; list++) {
        if (json_is(name, *list)) {
            out->reason = *list;
            return true;
        }
    }
    return false;
}

const char *fake_read_error(const struct fake_entry *e, allm_error *out)
{
    bool is_stream = e->tag == FAKE_STREAM_ERROR;
    *out = status_blank(is_stream ? ALLM_ERR_STREAM : ALLM_ERR_ADAPTER);
    if (read_reason(e->value, out))
        return read_error_opts(e->opts, out);
    if (e->tag == FAKE_ERROR && !e->opts && e->value) {
        out->reason = "unknown";        /* any other value is the cause */
        out->cause = e->value;
        return NULL;
    }
    return is_stream ? "[\"stream_error\", reason] with a reason of "
                       "allm_error_reasons(ALLM_ERR_STREAM)"
                     : "[tag, reason] with a reason of "
                       "allm_error_reasons(ALLM_ERR_ADAPTER)";
}

const char *fake_read_finish(const allm_json *name, allm_finish *out)
{
    const struct shape_words *w = &response_finish_words;
    *out = ALLM_FINISH_NONE;
    if (allm_json_type_of(name) == ALLM_JSON_NULL)
        return NULL;
    for (size_t i = 1; i < w->count; i++) {
        if (json_is(name, w->word[i])) {
            *out = (allm_finish)i;
            return NULL;
        }
    }
    return "[\"finish\", reason] with stop, length, tool_calls, "
           "content_filter, error, other or null";
}

const char *fake_read_delay(const allm_json *ms, int64_t *out)
{
    enum { MAX_MS = 1000 * 3600 * 24 };
    if (allm_json_type_of(ms) == ALLM_JSON_INT && allm_json_int64(ms, out) &&
        *out >= 0 && *out <= MAX_MS)
        return NULL;
    return "[\"delay\", milliseconds] with an integer from 0 to 86400000 "
           "(a day)";
}

static const char *check_tool_call(const allm_json *v)
{
    const allm_json *args = fake_member(v, "arguments");
    const allm_json *raw = fake_member(v, "raw_arguments");
    const allm_json *metadata = fake_member(v, "metadata");
    if (!is_text(allm_json_get(v, "id")) || !is_text(allm_json_get(v, "name")))
        return "[\"tool_call\", {\"id\": string, \"name\": string, ...}]; both "
               "are required";
    if (args && !is_object(args))
        return "a tool_call whose arguments are an object; set malformed "
               "ones as raw_arguments, without arguments";
    if (raw && !is_text(raw))
        return "a tool_call whose raw_arguments is a string";
    if (metadata && !is_object(metadata))
        return "a tool_call whose metadata is an object";
    return NULL;
}

static const char *check_tool_delta(const allm_json *v)
{
    return is_text(allm_json_get(v, "id")) &&
                   is_text(allm_json_get(v, "arguments_delta"))
               ? NULL
               : "[\"tool_call_delta\", {\"id\": string, \"arguments_delta\": "
                 "string}]";
}

const allm_json *fake_response_text(const allm_json *r)
{
    const allm_json *text = fake_member(r, "output_text");
    if (!text)
        text = fake_member(r, "text");
    if (!text)
        text = allm_json_get(allm_json_get(r, "message"), "content");
    return is_text(text) ? text : NULL;
}

/* Check the members other than text, calls and usage. */
static const char *check_other_members(const allm_json *v)
{
    static const char *const texts[] = { "id", "model", "request_id",
                                         "raw_finish_reason" };
    const allm_json *message = fake_member(v, "message");
    const allm_json *metadata = fake_member(v, "metadata");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (fake_member(v, texts[i]) && !is_text(fake_member(v, texts[i])))
            return "a response whose id, model, request_id and "
                   "raw_finish_reason are strings";
    if (metadata && !is_object(metadata))
        return "a response whose metadata is an object";
    if (message && !json_is(allm_json_get(message, "role"), "assistant"))
        return "a response whose message is an object with the role "
               "\"assistant\"";
    return NULL;
}

static const char *check_response(const allm_json *v)
{
    const allm_json *text = fake_member(v, "output_text");
    const allm_json *calls = fake_member(v, "tool_calls");
    const allm_json *usage = fake_member(v, "usage");
    const allm_json *finish = fake_member(v, "finish_reason");
    allm_usage u;
    allm_finish f;
    const char *wrong = NULL;
    if (!is_object(v))
        return "[\"ok\", {fields of a response}]";
    text = text ? text : fake_member(v, "text");
    if (text && !is_text(text))
        return "a response whose output_text is a string";
    if (calls && allm_json_type_of(calls) != ALLM_JSON_ARRAY)
        return "a response whose tool_calls is a list";
    for (const allm_json *c = NULL; (c = allm_json_next(calls, c)) && !wrong;)
        wrong = check_tool_call(c);
    if (!wrong && usage)
        wrong = fake_read_usage(usage, &u);
    if (!wrong && finish)
        wrong = fake_read_finish(finish, &f);
    return wrong ? wrong : check_other_members(v);
}

/* NULL, or what is expected, to complete the error message. */
static const char *check_entry(const struct fake_entry *e)
{
    allm_usage usage;
    allm_error error;
    allm_finish finish;
    int64_t ms;

    switch (e->tag) {
    case FAKE_TEXT:
        return is_text(e->value) ? NULL : "[\"text\", string]";
    case FAKE_REASONING:
        return is_text(e->value) ? NULL : "[\"reasoning\", string]";
    case FAKE_TOOL_CALL:
        return check_tool_call(e->value);
    case FAKE_TOOL_CALL_DELTA:
        return check_tool_delta(e->value);
    case FAKE_USAGE:
        return fake_read_usage(e->value, &usage);
    case FAKE_RAW_CHUNK:
        return e->value ? NULL : "[\"raw_chunk\", value]";
    case FAKE_FINISH:
        return fake_read_finish(e->value, &finish);
    case FAKE_DELAY:
        return fake_read_delay(e->value, &ms);
    case FAKE_ERROR:
    case FAKE_ERROR_EVENT:
    case FAKE_STREAM_ERROR:
    case FAKE_PREFLIGHT_ERROR:
        return fake_read_error(e, &error);
    case FAKE_OK:
        return check_response(e->value);
    case FAKE_UNKNOWN:
        break;
    }
    return "a list that begins with text, text_delta, reasoning, tool_call, "
           "tool_call_delta, usage, raw_chunk, finish, delay, sleep, error, "
           "error_event, stream_error, preflight_error or ok";
}

/* ------------------------------------------------------------ scripts --- */

static const allm_error *script_error(struct arena *a, const char *message)
{
    return status_error(a, ALLM_ERR_MISUSE, "invalid_script", "%s", message);
}

const allm_error *fake_script_check_call(struct arena *a,
                                         const allm_json *entries,
                                         size_t number)
{
    size_t n = 0;
    if (!is_list(entries))
        return script_error(a, "a list of calls must contain only lists of "
                               "entries; for one call use script, a list of "
                               "entries");
    for (const allm_json *v = NULL; (v = allm_json_next(entries, v)); n++) {
        struct fake_entry e = fake_entry_read(v);
        const char *expected = check_entry(&e);
        if (!expected)
            continue;
        return status_error(
            a, ALLM_ERR_MISUSE, "invalid_script",
            "entry %zu of call %zu of the fake's script (both counted from 0) "
            "must be %s",
            n, number, expected);
    }
    return NULL;
}

const allm_error *fake_script_check(struct arena *a,
                                    const struct fake_script *s)
{
    size_t n = 0;
    const allm_error *error = NULL;
    if (s->only)
        return fake_script_check_call(a, s->only, 0);
    for (const allm_json *c = NULL;
         !error && (c = allm_json_next(s->calls, c));)
        error = fake_script_check_call(a, c, n++);
    return error;
}

/* Is it a list of calls?  An entry, in contrast, starts with a string. */
static bool holds_calls(const allm_json *list)
{
    const allm_json *first = allm_json_next(list, NULL);
    return is_list(first) && !is_text(allm_json_next(first, NULL));
}

static const char *check_options(const allm_json *opts)
{
    const allm_json *stream = fake_member(opts, "stream_script");
    const allm_json *until = fake_member(opts, "retry_until_call");
    const allm_json *record = fake_member(opts, "record");
    int64_t n;
    if (fake_member(opts, "script") && fake_member(opts, "scripts"))
        return "adapter_opts has both script and scripts; use script for one "
               "call, or scripts for a list of calls";
    if (fake_member(opts, "script") && !is_list(fake_member(opts, "script")))
        return "script must be a list of entries, such as "
               "[[\"text\", \"hi\"], [\"finish\", \"stop\"]]";
    if (fake_member(opts, "scripts") && !is_list(fake_member(opts, "scripts")))
        return "scripts must be a list of calls, each a list of entries; for "
               "one call use script";
    if (stream && !is_list(stream))
        return "stream_script must be a list of entries, or a list of calls";
    if (fake_member(opts, "script_cursor"))
        return "script_cursor cannot be set as data; call "
               "allm_fake_use_cursor() with the engine";
    if (until && (allm_json_type_of(until) != ALLM_JSON_INT ||
                  !allm_json_int64(until, &n) || n < 1))
        return "retry_until_call must be an integer, 1 or more: the call that "
               "succeeds";
    if (record && allm_json_type_of(record) != ALLM_JSON_BOOL)
        return "record must be true or false; allm_fake_requests() returns "
               "the recorded requests";
    return NULL;
}

const allm_error *fake_script_read(struct fake_script *out, struct arena *a,
                                   const allm_json *opts)
{
    const char *wrong = check_options(opts);
    const allm_json *usage = fake_member(opts, "usage");
    const allm_json *stream = fake_member(opts, "stream_script");
    allm_usage u;
    *out = (struct fake_script){ NULL, NULL };
    if (wrong)
        return script_error(a, wrong);
    wrong = usage ? fake_read_usage(usage, &u) : NULL;
    if (wrong)
        return status_error(a, ALLM_ERR_MISUSE, "invalid_script",
                            "usage of adapter_opts must be %s", wrong);
    if (stream && holds_calls(stream))
        out->calls = stream;
    else if (stream)
        out->only = stream;
    else if (fake_member(opts, "scripts"))
        out->calls = fake_member(opts, "scripts");
    else
        out->only = fake_member(opts, "script");
    return NULL;
}

const allm_json *fake_script_call(const struct fake_script *s, uint64_t index)
{
    if (s->only)
        return index == 0 ? s->only : NULL;
    return index < allm_json_count(s->calls)
               ? allm_json_at(s->calls, (size_t)index)
               : NULL;
}
