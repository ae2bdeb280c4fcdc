/*
 * encode.c - encode a request for /api/chat
 *
 *      model, messages, tools, format, options, think, keep_alive, stream,
 *      then the caller's options
 *
 * An option with the name of one of these members replaces it, and null removes
 * it.  The member "options" has the parameters of the model's runner.  Options
 * named in the table below are moved there; the caller's own "options" have
 * precedence.
 */
#include "provider/ollama/encode.h"

#include "base/status.h"
#include "provider/extra.h"
#include "provider/http.h"
#include "provider/image_source.h"
#include "provider/model_rules.h"
#include "provider/ollama/address.h"
#include "provider/ollama/context.h"
#include "provider/ollama/messages.h"
#include "provider/quirks.h"
#include "provider/tool_json.h"
#include "json/emit.h"
#include "json/json.h"

/* Options that are not sent as members of the body. */
static const char *const moved_options[] = {
    "temperature", "top_p", "top_k", "min_p", "typical_p", "tfs_z", "seed",
    "stop", "num_ctx", "num_predict", "num_keep", "num_batch", "num_gpu",
    "main_gpu", "num_thread", "numa", "low_vram", "f16_kv", "use_mmap",
    "use_mlock", "vocab_only", "repeat_last_n", "repeat_penalty",
    "presence_penalty", "frequency_penalty", "mirostat", "mirostat_tau",
    "mirostat_eta", "penalize_newline",
    /* the options up to here are sent in "options" */
    "options", "reasoning_effort", "reasoning_summary", "verbosity",
    "prompt_cache", "parallel_tool_calls", "max_tokens",
    "max_completion_tokens", NULL,
};

struct encoding {
    const allm_call *call;
    const allm_request *request;
    allm_http *http;
    struct arena *arena;
    struct emit emit;
    struct extra extra;
    const allm_json *caller_options;    /* the caller's "options", or NULL */
};

/* Write an option of the adapter, unless the call's options replace it. */
static void write_adapter_option(struct encoding *e, const char *name)
{
    const allm_json *v = extra_get(&e->extra, name);
    if (!v || !extra_leaves(&e->extra, name))
        return;
    emit_member_value(&e->emit, name, v);
}

/* -------------------------------------------------------------- tools --- */

static void write_tool(struct encoding *e, const allm_tool *tool)
{
    emit_open(&e->emit, '{');
    emit_member_word(&e->emit, "type", "function");
    emit_member_open(&e->emit, "function", '{');
    tool_json_write(&e->emit, tool);
    emit_close(&e->emit, '}');
    emit_close(&e->emit, '}');
}

/* There is no tool_choice: tools that must not be called are left out. */
static void write_tools(struct encoding *e)
{
    const allm_request *r = e->request;
    if (r->tool_choice_map && r->tool_count &&
        extra_leaves(&e->extra, "tool_choice")) {
        emit_at(&e->emit, "tool_choice");   /* in the caller's own format */
        emit_value(&e->emit, r->tool_choice_map);
    }
    if (!r->tool_count || !extra_leaves(&e->extra, "tools") ||
        (r->tool_choice && !strcmp(r->tool_choice, "none")))
        return;
    emit_member_open(&e->emit, "tools", '[');
    for (size_t i = 0; i < r->tool_count; i++)
        write_tool(e, r->tools[i]);
    emit_close(&e->emit, ']');
}

/* ------------------------------------------------------------- format --- */

static void write_format(struct encoding *e)
{
    const allm_json *f = e->request->response_format;
    const allm_json *type = allm_json_get(f, "type");
    const allm_json *schema = allm_json_get(f, "schema");
    if (!schema)                /* OpenAI's format */
        schema = allm_json_get(allm_json_get(f, "json_schema"), "schema");
    if (!extra_leaves(&e->extra, "format") ||
        (!json_is(type, "json_schema") && !json_is(type, "json_object")))
        return;
    emit_at(&e->emit, "format");
    if (json_is(type, "json_schema") && schema)
        emit_value(&e->emit, schema);
    else
        emit_word(&e->emit, "json");
}

/* ------------------------------------------------------------ options --- */

/* Is the option not set by the caller? */
static bool is_option_free(const struct encoding *e, const char *name)
{
    return extra_leaves(&e->extra, name) &&
           !allm_json_get(e->caller_options, name);
}

static void write_parameter(struct encoding *e, const char *name,
                            const allm_json *v)
{
    emit_at(&e->emit, name);
    if (!strcmp(name, "stop") && allm_json_type_of(v) == ALLM_JSON_TEXT) {
        emit_open(&e->emit, '[');
        emit_value(&e->emit, v);
        emit_close(&e->emit, ']');
    } else {
        emit_value(&e->emit, v);
    }
}

/* Write the options from the table. */
static void write_parameters(struct encoding *e)
{
    for (size_t i = 0; strcmp(moved_options[i], "options") != 0; i++) {
        const allm_json *v = allm_json_get(e->extra.options, moved_options[i]);
        if (v && allm_json_type_of(v) != ALLM_JSON_NULL &&
            !allm_json_get(e->caller_options, moved_options[i]))
            write_parameter(e, moved_options[i], v);
    }
}

/* Write the caller's own "options". */
static void write_caller_options(struct encoding *e)
{
    for (const allm_json *k = NULL; (k = allm_json_next(e->caller_options, k));)
        if (!json_is_type(allm_json_value(k), ALLM_JSON_NULL))
            emit_entry(&e->emit, k);
}

/* The value of "num_predict" under its other names; false: it is not set. */
static bool max_tokens_of(const struct encoding *e, int64_t *n)
{
    const allm_json *options = e->extra.options;
    *n = e->request->max_tokens.value;
    return allm_json_int64(allm_json_get(options, "max_completion_tokens"),
                           n) ||
           allm_json_int64(allm_json_get(options, "max_tokens"), n) ||
           e->request->max_tokens.set;
}

/* The maximum number of tokens in the response; 0 if unknown. */
static int64_t response_limit(const struct encoding *e)
{
    int64_t n = 0, max;
    const allm_json *v = allm_json_get(e->caller_options, "num_predict");
    if (!v)
        v = allm_json_get(e->extra.options, "num_predict");
    if (v)
        allm_json_int64(v, &n);
    else if (max_tokens_of(e, &max))
        n = max;
    return n;
}

static void write_context(struct encoding *e, size_t bytes)
{
    const allm_json *option = extra_get(&e->extra, "num_ctx");
    if (!is_option_free(e, "num_ctx"))
        return;
    int64_t n = ollama_context(e->request, bytes, response_limit(e));
    if (!option && !n)
        return;
    emit_at(&e->emit, "num_ctx");
    if (option)
        emit_value(&e->emit, option);
    else
        emit_int(&e->emit, n);
}

/* The object is written to a separate buffer because it may be empty. */
static void write_options(struct encoding *e)
{
    const allm_request *r = e->request;
    struct emit body = e->emit;
    int64_t max;
    struct buf inner = buf_in(e->arena, SIZE_MAX / 2);
    emit_init(&e->emit, &inner);
    emit_open(&e->emit, '{');
    if (r->temperature.set && is_option_free(e, "temperature"))
        emit_member_number(&e->emit, "temperature", r->temperature.value);
    if (is_option_free(e, "num_predict") && max_tokens_of(e, &max))
        emit_member_int(&e->emit, "num_predict", max);
    write_context(e, emit_len(&body));
    write_parameters(e);
    write_caller_options(e);
    emit_close(&e->emit, '}');
    e->emit = body;
    e->http->broken |= inner.broken;
    if (inner.broken || inner.len == 2)
        return;
    emit_member_raw(&e->emit, "options", buf_slice(&inner));
}

/* ----------------------------------------------------------- thinking --- */

static const struct {
    const char *name, *json;    /* JSON */
} efforts[] = {
    { "none", "false" },    { "minimal", "\"low\"" }, { "low", "\"low\"" },
    { "high", "\"high\"" }, { "xhigh", "\"high\"" },  { "max", "\"high\"" },
    { "medium", "\"medium\"" },
};

static const char *effort_of(const char *name)
{
    for (size_t i = 0; i < sizeof efforts / sizeof *efforts; i++)
        if (!strcmp(name, efforts[i].name))
            return efforts[i].json;
    return NULL;
}

/* Servers rejected named levels for years if the model had none. */
static const char *think_of(const struct encoding *e, const char *name)
{
    const char *json = effort_of(name);
    bool levels = model_rules(e->call->model) & MODEL_LEVELS;
    return levels || !strcmp(json, "false") ? json : "true";
}

static void write_think(struct encoding *e)
{
    const char *name = extra_text(&e->extra, "reasoning_effort");
    if (!name)
        write_adapter_option(e, "think");
    else if (extra_leaves(&e->extra, "think"))
        emit_member_raw(&e->emit, "think", slice_of(think_of(e, name)));
}

/* --------------------------------------------------------------- body --- */

static void write_body(struct encoding *e)
{
    http_emit(e->http, &e->emit);
    emit_open(&e->emit, '{');
    if (extra_leaves(&e->extra, "model"))
        emit_member(&e->emit, "model", e->call->model);
    if (extra_leaves(&e->extra, "messages")) {
        emit_at(&e->emit, "messages");
        if (!ollama_messages_write(e->call, &e->emit, e->arena))
            e->http->broken = true;
    }
    write_tools(e);
    write_format(e);
    write_options(e);
    write_think(e);
    write_adapter_option(e, "keep_alive");
    if (extra_leaves(&e->extra, "stream")) {
        emit_at(&e->emit, "stream");    /* do not rely on the default */
        emit_bool(&e->emit, true);
    }
    extra_write(&e->extra, &e->emit, moved_options);
    emit_close(&e->emit, '}');
}

/* ------------------------------------------------------------- checks --- */

static bool is_tool_forced(const allm_request *r)
{
    const char *choice = r->tool_choice;
    return r->tool_count && choice && strcmp(choice, "auto") != 0 &&
           strcmp(choice, "none") != 0;
}

static const allm_error *check_names(struct encoding *e)
{
    const char *name = extra_text(&e->extra, "reasoning_effort");
    const allm_error *error = quirks_check(quirks_ollama, e->call, e->arena);
    if (error)
        return error;
    return !name || effort_of(name) ? NULL
                                    : extra_refuse_effort(e->arena, name);
}

static const allm_error *request_prepare(struct encoding *e)
{
    const allm_request *r = e->request;
    const allm_error *error = extra_init(&e->extra, e->call, e->arena);
    if (!error)
        error = check_names(e);
    if (error)
        return error;
    e->caller_options = extra_get(&e->extra, "options");
    if (e->caller_options &&
        allm_json_type_of(e->caller_options) != ALLM_JSON_OBJECT)
        return status_error(
            e->arena, ALLM_ERR_MISUSE, "invalid_option",
            "options must be an object, such as {\"num_ctx\": 8192}");
    if (is_tool_forced(r))
        return status_error(
            e->arena, ALLM_ERR_ADAPTER, "unsupported_feature",
            "this provider cannot force a tool call; set tool_choice "
            "to auto or none, and ask for the tool in the prompt");
    error = image_source_check(r, e->arena);
    return error ? error : image_source_refuse_urls(r, e->arena);
}

static const allm_error *write_head(struct encoding *e)
{
    const allm_error *error = ollama_address_write(e->call, e->http, "chat");
    if (error)
        return error;
    http_headers(e->http, "application/x-ndjson");
    return extra_headers(&e->extra, e->http, e->arena);
}

allm_status ollama_encode(const allm_call *call, allm_http *out)
{
    struct encoding e = { .call = call,
                          .request = call->request,
                          .http = out,
                          .arena = out->arena };
    const allm_error *error = request_prepare(&e);
    if (!error)
        error = write_head(&e);
    if (error)
        return allm_http_fail(out, error);
    write_body(&e);
    return ALLM_OK;
}
