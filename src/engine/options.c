/*
 * options.c - read and check the options of a call, from one table of names
 *
 *      struct members --.
 *                       +--> one JSON object by name --check--> struct options
 *      opts.json -------'
 *
 * All options that are data go through the object, so the same rule checks a
 * name wherever it comes from.  Functions and tools are read from the struct.
 */
#include "engine/options.h"

#include "base/buf.h"
#include "base/caller_struct.h"
#include "base/status.h"
#include "data/decode.h"
#include "data/tool.h"
#include "engine/pairs.h"
#include "json/build.h"
#include "json/json.h"
#include "json/write.h"

enum type {
    ANY, TEXT, FLAG, POSITIVE, DURATION, COUNT, NUMBER, MAP, PAIRS, WORD_OR_MAP,
    MODE, TOOL_POLICY,          /* one of a few names */
    NO_DATA                     /* a function: never as JSON */
};

#define NO_MEMBER ((size_t)-1)
#define AT(m)   offsetof(allm_call_opts, m)

/* A row: its scope, its type, and the offset of the struct member. */
static const struct option {
    const char *name;
    enum option_scope scope;
    enum type type;
    size_t at;
    size_t to;                  /* in struct options, or NO_MEMBER */
} table[] = {
#define TO(m) offsetof(struct options, m)
#define BOTH(m) AT(m), TO(m)
#define OURS(m) NO_MEMBER, TO(m)
#define NEITHER NO_MEMBER, NO_MEMBER
    { "adapter", OPTION_ENGINE, ANY, NEITHER },
    { "adapter_opts", OPTION_ENGINE, PAIRS, BOTH(adapter_opts) },
    { "model", OPTION_ENGINE, TEXT, BOTH(model) },
    { "tools", OPTION_ENGINE, ANY, NEITHER },
    { "tool_executor", OPTION_ENGINE, ANY, NEITHER },
    { "tool_result_encoder", OPTION_ENGINE, ANY, NEITHER },
    { "image_adapter", OPTION_ENGINE, ANY, NEITHER },
    { "params", OPTION_ENGINE, ANY, BOTH(params) },
    { "context", OPTION_ENGINE, MAP, BOTH(context) },
    { "retry", OPTION_ENGINE, ANY, NEITHER },
    { "middleware", OPTION_ENGINE, ANY, NEITHER },
    { "metadata", OPTION_ENGINE, ANY, NEITHER },
    { "api_key", OPTION_ENGINE, TEXT, BOTH(api_key) },

    { "mode", OPTION_LOOP, MODE, BOTH(mode) },
    { "max_turns", OPTION_LOOP, POSITIVE, BOTH(max_turns) },
    { "halt_when", OPTION_LOOP, ANY, NEITHER },
    { "on_tool_error", OPTION_LOOP, TOOL_POLICY, BOTH(on_tool_error) },
    { "tool_timeout", OPTION_LOOP, DURATION, BOTH(tool_timeout_ms) },
    { "max_concurrency", OPTION_LOOP, POSITIVE, BOTH(max_concurrency) },
    { "structured_finalize", OPTION_LOOP, FLAG, BOTH(structured_finalize) },
    { "structured_finalize_nudge", OPTION_LOOP, TEXT,
      BOTH(structured_finalize_nudge) },
    { "live_tool_events", OPTION_LOOP, FLAG, BOTH(live_tool_events) },
    { "validate_arguments", OPTION_LOOP, FLAG, BOTH(validate_arguments) },
    { "validate_output", OPTION_LOOP, FLAG, BOTH(validate_output) },
    { "output_retries", OPTION_LOOP, COUNT, BOTH(output_retries) },
    { "max_tool_output", OPTION_LOOP, POSITIVE, BOTH(max_tool_output) },
    { "max_same_calls", OPTION_LOOP, POSITIVE, BOTH(max_same_calls) },
    { "terminal_tool", OPTION_LOOP, TEXT, OURS(terminal_tool) },
    { "max_iterations", OPTION_LOOP, POSITIVE, OURS(max_iterations) },
    { "max_blank_stops", OPTION_LOOP, POSITIVE, OURS(max_blank_stops) },
    { "max_repeats", OPTION_LOOP, POSITIVE, OURS(max_repeats) },
    { "blank_stop_nudge", OPTION_LOOP, TEXT, OURS(blank_stop_nudge) },
    { "on_iteration", OPTION_LOOP, ANY, NEITHER },
    { "pipeline", OPTION_LOOP, ANY, NEITHER },
    { "policies", OPTION_LOOP, ANY, NEITHER },
    { "budget", OPTION_LOOP, ANY, NEITHER },
    { "journal", OPTION_LOOP, ANY, NEITHER },
    { "replay", OPTION_LOOP, ANY, NEITHER },
    { "key_prefix", OPTION_LOOP, ANY, NEITHER },
    { "session_id", OPTION_LOOP, TEXT, BOTH(session_id) },

    { "emit_text_deltas", OPTION_FILTER, FLAG, OURS(emit_text_deltas) },
    { "emit_tool_deltas", OPTION_FILTER, FLAG, OURS(emit_tool_deltas) },
    { "include_raw_chunks", OPTION_FILTER, FLAG, OURS(include_raw_chunks) },
    { "on_event", OPTION_FILTER, NO_DATA, NEITHER },

    { "request_id", OPTION_CALL, TEXT, BOTH(request_id) },
    { "resolved_model", OPTION_CALL, ANY, NEITHER },
    { "connect_ms", OPTION_CALL, DURATION, BOTH(connect_ms) },
    { "first_ms", OPTION_CALL, DURATION, BOTH(first_ms) },
    { "silence_ms", OPTION_CALL, DURATION, BOTH(silence_ms) },
    { "stream_timeout", OPTION_CALL, DURATION, OURS(silence_ms) },
    { "total_ms", OPTION_CALL, DURATION, BOTH(total_ms) },
    { "request_timeout", OPTION_CALL, DURATION, OURS(total_ms) },

    { "temperature", OPTION_REQUEST, NUMBER, BOTH(temperature) },
    { "max_tokens", OPTION_REQUEST, POSITIVE, BOTH(max_tokens) },
    { "tool_choice", OPTION_REQUEST, WORD_OR_MAP, BOTH(tool_choice) },
    { "response_format", OPTION_REQUEST, ANY, BOTH(response_format) },
};

static const struct option *find_option(struct slice name)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (slice_is(name, table[i].name))
            return &table[i];
    return NULL;
}

enum option_scope options_scope(struct slice name)
{
    const struct option *o = find_option(name);
    return o ? o->scope : OPTION_PROVIDER;
}

const allm_json *options_only(struct arena *a, const allm_json *object,
                              uint32_t scopes)
{
    if (allm_json_count(object) == 0)
        return json_empty_object();
    struct build b = build_object_in(a);
    for (const allm_json *k = NULL; (k = allm_json_next(object, k));)
        if (scopes & (1u << options_scope(json_slice(k))))
            build_entry(&b, k);
    return build_finish(&b);
}

/* ------------------------------------------------------- from structs --- */

/* Names of enum values, indexed by value; the first is the default. */
static const char *const mode_names[] = { "auto", "manual", NULL };
static const char *const policy_names[] = { "continue", "halt", NULL };

static const char *const *names_of(enum type t)
{
    return t == MODE ? mode_names : policy_names;
}

/* Write a numeric member, if it is set and has a JSON form. */
static void write_member_number(struct build *b, const struct option *r,
                                uint32_t n)
{
    bool is_name = r->type == MODE || r->type == TOOL_POLICY;
    if (!n || (is_name && n > 1))
        return;                 /* a callback is read from the struct */
    build_key(b, slice_of(r->name));
    if (is_name)
        build_text(b, slice_of(names_of(r->type)[n]));
    else if (r->type == FLAG)
        build_bool(b, true);
    else
        build_uint(b, n);
}

static void write_member_pointer(struct build *b, const struct option *r,
                                 const void *pointer)
{
    if (!pointer || r->at == AT(api_key))
        return;                 /* a secret: see borrow_key() */
    build_key(b, slice_of(r->name));
    if (r->type == TEXT || r->type == WORD_OR_MAP)
        build_text_copy(b, slice_of(pointer));
    else
        build_value_copy(b, pointer);
}

/* Write the members of the struct that are set. */
static void write_members(struct build *b, const allm_call_opts *o)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct option *r = &table[i];
        const void *pointer = NULL;
        uint32_t n = 0;
        if (r->at == NO_MEMBER || r->type == NUMBER || r->type == COUNT ||
            r->at == AT(max_tokens))
            continue;           /* see write_numbers() */
        const char *at = (const char *)o + r->at;
        switch (r->type) {
        case POSITIVE:
        case DURATION:
        case FLAG:
        case MODE:
        case TOOL_POLICY:
            memcpy(&n, at, sizeof n);
            write_member_number(b, r, n);
            break;
        default:
            memcpy(&pointer, at, sizeof pointer);
            write_member_pointer(b, r, pointer);
        }
    }
}

static void write_numbers(struct build *b, const allm_call_opts *o)
{
    if (o->temperature.set)
        build_number_at(b, "temperature", o->temperature.value);
    if (o->max_tokens.set)
        build_int_at(b, "max_tokens", o->max_tokens.value);
    if (o->output_retries.set)
        build_int_at(b, "output_retries", o->output_retries.value);
}

static void write_filters(struct build *b, const allm_call_opts *o)
{
    if (o->hide_text_deltas)
        build_bool_at(b, "emit_text_deltas", false);
    if (o->hide_tool_deltas)
        build_bool_at(b, "emit_tool_deltas", false);
    if (o->include_raw_chunks)
        build_bool_at(b, "include_raw_chunks", true);
}

/* The struct as an object; NULL: out of memory. */
static const allm_json *members_of(const allm_call_opts *o, struct arena *a)
{
    struct build b = build_object_in(a);
    write_members(&b, o);
    write_numbers(&b, o);
    write_filters(&b, o);
    return build_finish(&b);
}

/* ------------------------------------------------------------ reading --- */

static const allm_error *invalid_option(struct arena *a, struct slice name,
                                        const char *expected)
{
    return status_error(a, ALLM_ERR_MISUSE, "invalid_option",
                        "option %.*s must be %s", (int)name.len, name.ptr,
                        expected);
}

/* The same for a number, with the value that was found. */
static const allm_error *invalid_number(struct arena *a, struct slice name,
                                        const char *expected,
                                        const allm_json *v)
{
    struct buf got = buf_in(a, 4096);
    json_write(&got, v, 0);
    return status_error(a, ALLM_ERR_MISUSE, "invalid_option",
                        "option %.*s must be %s; got: %.80s", (int)name.len,
                        name.ptr, expected, got.ptr ? got.ptr : "?");
}

static bool is_count(const allm_json *v, int64_t least, int64_t *n)
{
    return allm_json_type_of(v) == ALLM_JSON_INT && allm_json_int64(v, n) &&
           *n >= least;
}

static const char *store_number(const struct option *r, const allm_json *v,
                                struct options *out)
{
    int64_t n = 0;
    if (r->type == COUNT) {
        if (!is_count(v, 0, &n))
            return "an integer, 0 or greater";
        out->output_retries = (allm_int){ n, true };
        return NULL;
    }
    if (r->type == DURATION && json_is(v, "infinity"))
        n = UINT32_MAX;
    else if (!is_count(v, 1, &n))
        return "a positive integer";
    if (r->to == TO(max_tokens))
        out->max_tokens = (allm_int){ n, true };
    else
        memcpy((char *)out + r->to, &n, sizeof n);
    return NULL;
}

static const char expected_policy[] = "continue or halt, or a function of "
                                      "(tool_call, error) in on_tool_error_fn";

static const char *store_name(const struct option *r, const allm_json *v,
                              struct options *out)
{
    const char *const *names = names_of(r->type);
    for (int i = 0; names[i]; i++)
        if (json_is(v, names[i])) {
            memcpy((char *)out + r->to, &i, sizeof i);
            return NULL;
        }
    return r->type == MODE ? "auto or manual" : expected_policy;
}

/* max_turns may be false: then the next source that sets it counts. */
static bool is_left_out(const struct option *r, const allm_json *v)
{
    return r->to == TO(max_turns) && allm_json_type_of(v) == ALLM_JSON_BOOL &&
           !allm_json_true(v);
}

/* Store the value in the field that the row names.  NULL, or what is
 * expected. */
static const char *store_value(const struct option *r, const allm_json *v,
                               struct options *out)
{
    const char *text;
    char *to = (char *)out + r->to;
    if (r->type == NO_DATA)
        return "set in the struct, not in json";
    if (r->to == NO_MEMBER || is_left_out(r, v))
        return NULL;
    switch (r->type) {
    case TEXT:
        text = allm_json_text(v, NULL);
        if (allm_json_type_of(v) != ALLM_JSON_TEXT)
            return "a string";
        memcpy(to, &text, sizeof text);
        return NULL;
    case FLAG:
        if (allm_json_type_of(v) != ALLM_JSON_BOOL)
            return "true or false";
        *(bool *)to = allm_json_true(v);
        return NULL;
    case POSITIVE:
    case DURATION:
    case COUNT:
        return store_number(r, v, out);
    case NUMBER:
        out->temperature.set = json_finite(v, &out->temperature.value);
        return out->temperature.set ? NULL : "a number";
    case WORD_OR_MAP:
        out->tool_choice = allm_json_text(v, NULL);
        out->tool_choice_map = out->tool_choice ? NULL : v;
        return out->tool_choice || allm_json_type_of(v) == ALLM_JSON_OBJECT
                   ? NULL
                   : "a mode, the name of a tool, or an object";
    case MODE:
    case TOOL_POLICY:
        return store_name(r, v, out);
    case NO_DATA:
    case MAP:
        if (allm_json_type_of(v) != ALLM_JSON_OBJECT)
            return "an object";
        memcpy(to, &v, sizeof v);
        return NULL;
    case PAIRS:
    case ANY:
        memcpy(to, &v, sizeof v);
        return NULL;
    }
    return NULL;
}

static const allm_error *check_all(struct options *out, struct arena *a)
{
    for (const allm_json *k = NULL; (k = allm_json_next(out->all, k));) {
        const struct option *r = find_option(json_slice(k));
        const allm_json *v = allm_json_value(k);
        const char *expected = r ? store_value(r, v, out) : NULL;
        if (expected &&
            (r->type == POSITIVE || r->type == DURATION || r->type == COUNT))
            return invalid_number(a, json_slice(k), expected, v);
        if (expected)
            return invalid_option(a, json_slice(k), expected);
    }
    if (!out->adapter_opts)
        return NULL;
    out->adapter_opts = pairs_object(a, out->adapter_opts);
    return out->adapter_opts
               ? NULL
               : invalid_option(a, SLICE("adapter_opts"),
                                "an object or a list of [key, value]");
}

/* A member of the struct that is a rejected JSON document, or NULL. */
static const struct option *refused_member(const allm_call_opts *o)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct option *r = &table[i];
        const allm_json *v = NULL;
        if (r->at == NO_MEMBER ||
            (r->type != ANY && r->type != PAIRS && r->type != MAP))
            continue;
        memcpy(&v, (const char *)o + r->at, sizeof v);
        if (v && allm_json_type_of(v) == ALLM_JSON_NONE)
            return r;
    }
    return NULL;
}

/* The key is never copied into `all`, because that copy would not be wiped. */
static const allm_error *borrow_key(struct options *out, struct arena *a,
                                    const allm_json *key)
{
    if (out->given.api_key)
        return invalid_option(
            a, SLICE("api_key"),
            "set only once: it is set in the struct and in json");
    out->api_key = allm_json_text(key, NULL);
    return allm_json_type_of(key) == ALLM_JSON_TEXT
               ? NULL
               : invalid_option(a, SLICE("api_key"), "a string");
}

/* Add an option from opts.json. */
static const allm_error *add_option(struct options *out, struct arena *a,
                                    struct slice name, const allm_json *v)
{
    if (slice_is(name, "api_key"))
        return borrow_key(out, a, v);
    out->all = json_set(a, out->all, name, v);
    return out->all ? NULL : status_nomem();
}

/* Collect the members of the struct, then those of opts.json.  A name that is
 * in both is an error. */
static const allm_error *collect_options(struct options *out, struct arena *a,
                                         const allm_call_opts *given)
{
    const allm_call_opts *o = &out->given;
    out->all = json_empty_object();
    out->api_key = o->api_key;
    if (!given)
        return NULL;            /* most calls: needs no memory */
    const struct option *refused = refused_member(o);
    if (refused)
        return invalid_option(a, slice_of(refused->name),
                              "a valid JSON document; see allm_json_error()");
    const allm_json *members = members_of(o, a);
    if (!members)
        return status_nomem();
    out->all = members;
    if (!o->json || allm_json_type_of(o->json) == ALLM_JSON_NULL)
        return NULL;
    if (allm_json_type_of(o->json) != ALLM_JSON_OBJECT)
        return invalid_option(a, SLICE("json"), "an object of options by name");
    for (const allm_json *k = NULL; (k = allm_json_next(o->json, k));) {
        if (allm_json_type_of(allm_json_value(k)) == ALLM_JSON_NULL)
            continue;           /* null means absent */
        if (json_get(members, json_slice(k)))
            return invalid_option(
                a, json_slice(k),
                "set only once: it is set in the struct and in json");
        const allm_error *error = add_option(out, a, json_slice(k),
                                             allm_json_value(k));
        if (error)
            return error;
    }
    return NULL;
}

/* Tools are the caller's structs: check that each one is valid. */
static const allm_error *check_tools(struct arena *a, const allm_call_opts *o)
{
    if (!o->tools && o->tool_count)
        return invalid_option(a, SLICE("tools"),
                              "a list, since tool_count is not 0");
    for (size_t i = 0; i < o->tool_count; i++) {
        const allm_tool *t = o->tools[i];
        if (!t || shape_size_fault(t, sizeof(struct shape_head), sizeof *t))
            return invalid_option(
                a, SLICE("tools"),
                "a list of tools without NULL, each filled in with "
                "ALLM(tool, ...)");
        if (shape_error(t))
            return shape_error(t);
    }
    return NULL;
}

static void take_tools(struct options *out)
{
    out->tools = out->given.tools;
    out->tool_count = out->tools ? out->given.tool_count : 0;
    out->has_tools = out->tools != NULL;
}

/* Check members whose value in the struct can be invalid. */
static const allm_error *check_enums(struct options *out, struct arena *a)
{
    const allm_call_opts *o = &out->given;
    if (o->mode > ALLM_MODE_MANUAL)
        return invalid_option(a, SLICE("mode"),
                              "ALLM_MODE_AUTO or ALLM_MODE_MANUAL");
    if (o->on_tool_error > ALLM_TOOL_POLICY_CALLBACK)
        return invalid_option(a, SLICE("on_tool_error"),
                              "one of ALLM_TOOL_POLICY_*");
    if (o->on_tool_error_fn && json_get(out->all, SLICE("on_tool_error")))
        return invalid_option(a, SLICE("on_tool_error"),
                              "set only once: a policy and a function are set");
    if (o->on_tool_error == ALLM_TOOL_POLICY_CALLBACK ||
        (o->on_tool_error_fn && !o->on_tool_error))
        out->on_tool_error = ALLM_TOOL_POLICY_CALLBACK;
    if (out->on_tool_error == ALLM_TOOL_POLICY_CALLBACK && !o->on_tool_error_fn)
        return invalid_option(a, SLICE("on_tool_error"), expected_policy);
    return NULL;
}

const allm_error *options_read(struct options *out, struct allm_home *home,
                               const allm_call_opts *given)
{
    struct arena *a = home_arena(home);
    /* members that are not data are only in `given` */
    *out = (struct options){ .emit_text_deltas = true,
                             .emit_tool_deltas = true };
    if (!caller_struct_take(&out->given, sizeof out->given, given))
        return invalid_option(
            a, SLICE("struct"),
            "filled with ALLM(call_opts, ...); the header must not be "
            "newer than the library");
    const allm_error *error = collect_options(out, a, given);
    if (!error)
        error = check_all(out, a);
    if (!error)
        error = check_tools(a, &out->given);
    if (!error)
        error = check_enums(out, a);
    if (!error)
        take_tools(out);
    return error;
}

/* ----------------------------------------------------------- defaults --- */

static void inherit_flag(const struct options *o, const char *name, bool *to,
                         bool inherited)
{
    if (!json_get(o->all, slice_of(name)))
        *to = inherited;
}

static void inherit_timeout(int64_t *to, int64_t inherited)
{
    if (!*to)
        *to = inherited;
}

void options_inherit(struct options *o, const struct options *d)
{
    inherit_flag(o, "emit_text_deltas", &o->emit_text_deltas,
                 d->emit_text_deltas);
    inherit_flag(o, "emit_tool_deltas", &o->emit_tool_deltas,
                 d->emit_tool_deltas);
    inherit_flag(o, "include_raw_chunks", &o->include_raw_chunks,
                 d->include_raw_chunks);
    inherit_timeout(&o->connect_ms, d->connect_ms);
    inherit_timeout(&o->first_ms, d->first_ms);
    inherit_timeout(&o->silence_ms, d->silence_ms);
    inherit_timeout(&o->total_ms, d->total_ms);
    if (!o->max_turns)
        o->max_turns = d->max_turns;
    if (!o->structured_finalize_nudge)
        o->structured_finalize_nudge = d->structured_finalize_nudge;
}

void options_inherit_fields(struct options *o, const struct options *d)
{
    if (!o->temperature.set)
        o->temperature = d->temperature;
    if (!o->max_tokens.set)
        o->max_tokens = d->max_tokens;
    if (!o->tool_choice && !o->tool_choice_map) {
        o->tool_choice = d->tool_choice;
        o->tool_choice_map = d->tool_choice_map;
    }
    if (!o->response_format)
        o->response_format = d->response_format;
}

/* ---------------------------------------------------------------- key --- */

const allm_error *options_keep_key(struct options *o, struct secret *key,
                                   struct mem mem, struct arena *a)
{
    if (!o->api_key)
        return NULL;
    if (!secret_set(key, mem, slice_of(o->api_key)))
        return status_nomem();
    o->api_key = key->ptr;
    o->given.api_key = NULL;
    o->all = json_set(a, o->all, SLICE("api_key"), NULL);
    return o->all ? NULL : status_nomem();
}

/* -------------------------------------------------------------- tools --- */

const allm_error *options_tools(struct options *o, struct allm_home *home)
{
    struct decoder d;
    size_t count = 0;
    const void *const *tools = NULL;
    struct arena *a = home_arena(home);
    const allm_json *list = json_get(o->all, SLICE("tools"));
    if (!list)
        return NULL;
    if (o->given.tools)
        return invalid_option(
            a, SLICE("tools"),
            "set only once: it is set in the struct and in json");
    for (const allm_json *t = NULL; (t = allm_json_next(list, t));)
        if (allm_json_type_of(t) != ALLM_JSON_OBJECT)
            return invalid_option(a, SLICE("tools"), "a list of tools");
    decode_init(&d, home, a);
    if (!decode_list(&d, &tool_shape, list, &count, &tools))
        return d.error ? d.error
                       : invalid_option(a, SLICE("tools"), "a list of tools");
    o->tools = (const allm_tool *const *)tools;
    o->tool_count = count;
    o->has_tools = true;
    return NULL;
}
