/*
 * encode.c - encode a request for /v1/messages
 *
 *      model, max_tokens, stream, system, tools, tool_choice, thinking,
 *      output_config, temperature, stop_sequences, cache_control, messages,
 *      then the options
 *
 * An option with the name of one of these members replaces it, and null removes
 * it; members of "output_config" are merged with ours.  The options "stop",
 * "parallel_tool_calls", "reasoning_effort" and "prompt_cache" are translated.
 * "api_version" and "beta" (a string, or a list) are sent as headers.
 */
#include "provider/anthropic/encode.h"

#include "base/status.h"
#include "data/error.h"
#include "data/request.h"
#include "provider/anthropic/messages.h"
#include "provider/anthropic/thinking.h"
#include "provider/history.h"
#include "provider/http.h"
#include "provider/image_source.h"
#include "provider/model_rules.h"
#include "provider/quirks.h"
#include "provider/tool_json.h"
#include "json/build.h"
#include "json/json.h"

#define API_VERSION "2023-06-01"

struct encoding {
    const allm_call *call;
    const allm_request *request;
    allm_http *http;
    struct arena *arena;
    struct emit emit;
    struct extra extra;
    struct anthropic_thinking thinking;
};

/* -------------------------------------------------------------- tools --- */

static void write_schema(struct encoding *e, const allm_json *schema)
{
    if (!allm_json_count(schema)) {
        emit_raw(&e->emit, SLICE("{\"type\":\"object\",\"properties\":{}}"));
        return;
    }
    if (allm_json_get(schema, "type")) {
        emit_value(&e->emit, schema);
        return;
    }
    emit_open(&e->emit, '{');   /* they require one */
    emit_member_word(&e->emit, "type", "object");
    for (const allm_json *k = NULL; (k = allm_json_next(schema, k));)
        emit_entry(&e->emit, k);
    emit_close(&e->emit, '}');
}

static void write_tool(struct encoding *e, const allm_tool *tool)
{
    static const char *const optional[] = { "strict", "eager_input_streaming",
                                        "cache_control" };
    emit_open(&e->emit, '{');
    emit_member(&e->emit, "name", tool->name);
    if (tool->description)
        emit_member(&e->emit, "description", tool->description);
    emit_at(&e->emit, "input_schema");
    write_schema(e, tool->schema);
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++) {
        const allm_json *v = allm_json_get(tool->metadata, optional[i]);
        if (v)
            emit_member_value(&e->emit, optional[i], v);
    }
    emit_close(&e->emit, '}');
}

/* If the history has calls, a request without tools is rejected.  So declare
 * the tool of one call, and forbid to call it. */
static void write_past_tool(struct encoding *e)
{
    const allm_tool_call *call = anthropic_messages_call(e->request);
    if (!call)
        return;
    const char *name = history_name(call, e->arena);
    e->http->broken |= !name;
    emit_member_open(&e->emit, "tools", '[');
    emit_open(&e->emit, '{');
    emit_member(&e->emit, "name", name);
    emit_at(&e->emit, "input_schema");
    write_schema(e, NULL);
    emit_close(&e->emit, '}');
    emit_close(&e->emit, ']');
    if (!extra_leaves(&e->extra, "tool_choice"))
        return;
    emit_member_open(&e->emit, "tool_choice", '{');
    emit_member_word(&e->emit, "type", "none");
    emit_close(&e->emit, '}');
}

/* Their name for a tool choice; "tool" needs the tool's name. */
static const char *choice_name(const char *choice)
{
    if (!choice || !strcmp(choice, "auto"))
        return "auto";
    if (!strcmp(choice, "none"))
        return "none";
    return !strcmp(choice, "required") ? "any" : "tool";
}

static void write_choice(struct encoding *e)
{
    const allm_request *r = e->request;
    const char *named = tool_json_choice(r->tool_choice_map);
    const char *choice = named ? "tool" : choice_name(r->tool_choice);
    const allm_json *parallel = extra_get(&e->extra, "parallel_tool_calls");
    bool one_call = allm_json_type_of(parallel) == ALLM_JSON_BOOL &&
                    !allm_json_true(parallel) && strcmp(choice, "none") != 0;
    if (!extra_leaves(&e->extra, "tool_choice"))
        return;
    if (r->tool_choice_map && !named) {
        emit_member_value(&e->emit, "tool_choice", r->tool_choice_map);
        return;
    }
    if (!strcmp(choice, "auto") && !one_call)
        return;
    emit_member_open(&e->emit, "tool_choice", '{');
    emit_member_word(&e->emit, "type", choice);
    if (!strcmp(choice, "tool"))
        emit_member(&e->emit, "name", named ? named : r->tool_choice);
    if (one_call)
        emit_member_bool(&e->emit, "disable_parallel_tool_use", true);
    emit_close(&e->emit, '}');
}

static void write_tools(struct encoding *e)
{
    const allm_request *r = e->request;
    if (!r->tool_count && extra_leaves(&e->extra, "tools")) {
        write_past_tool(e);
        return;
    }
    if (extra_leaves(&e->extra, "tools")) {
        emit_member_open(&e->emit, "tools", '[');
        for (size_t i = 0; i < r->tool_count; i++)
            write_tool(e, r->tools[i]);
        emit_close(&e->emit, ']');
    }
    write_choice(e);
}

/* ------------------------------------------------------ other members --- */

/* The effort, the format, and the caller's own members. */
static void write_output(struct encoding *e)
{
    const allm_json *caller_config = extra_get(&e->extra, "output_config");
    const allm_json *schema = request_schema(e->request);
    struct build b = build_object_in(e->arena);
    build_text_if(&b, "effort", e->thinking.effort);
    if (schema) {
        build_object_at(&b, "format");
        build_text_at(&b, "type", SLICE("json_schema"));
        build_value_at(&b, "schema", schema);
        build_end(&b);
    }
    const allm_json *all = build_finish(&b);
    if (all && caller_config)
        all = json_merge(e->arena, all, caller_config);
    e->http->broken |= !all;
    if (!allm_json_count(all))
        return;
    emit_member_value(&e->emit, "output_config", all);
}

static void write_stop(struct encoding *e)
{
    const allm_json *stop = extra_get(&e->extra, "stop");
    bool list = allm_json_type_of(stop) == ALLM_JSON_ARRAY;
    if (!stop || !extra_leaves(&e->extra, "stop_sequences"))
        return;
    emit_at(&e->emit, "stop_sequences");
    if (!list)
        emit_open(&e->emit, '[');
    emit_value(&e->emit, stop);
    if (!list)
        emit_close(&e->emit, ']');
}

/* Set a cache breakpoint on the last block that can have one, so it moves as
 * the conversation grows.  The option is {"key", "retention": "short" or
 * "long"}, or true. */
static void write_cache(struct encoding *e)
{
    const allm_json *cache = extra_get(&e->extra, "prompt_cache");
    if (!extra_leaves(&e->extra, "cache_control") ||
        (!allm_json_true(cache) &&
         allm_json_type_of(cache) != ALLM_JSON_OBJECT))
        return;
    emit_member_open(&e->emit, "cache_control", '{');
    emit_member_word(&e->emit, "type", "ephemeral");
    if (json_is(allm_json_get(cache, "retention"), "long"))
        emit_member_word(&e->emit, "ttl", "1h");
    emit_close(&e->emit, '}');
}

static void write_controls(struct encoding *e)
{
    const allm_request *r = e->request;
    anthropic_thinking_write(&e->thinking, &e->emit);
    write_output(e);
    if (!e->thinking.on &&                          /* thinking requires 1 */
        extra_writes_temperature(&e->extra, model_rules(e->call->model)))
        emit_member_number(&e->emit, "temperature", r->temperature.value);
    write_stop(e);
    write_cache(e);
}

static void write_body(struct encoding *e)
{
    static const char *const translated[] = {
        "prompt_cache", "reasoning_effort", "reasoning_summary", "verbosity",
        "thinking", "output_config", "stop", "parallel_tool_calls", "beta",
        NULL,
    };
    http_emit(e->http, &e->emit);
    emit_open(&e->emit, '{');
    if (extra_leaves(&e->extra, "model"))
        emit_member(&e->emit, "model", e->call->model);
    if (extra_leaves(&e->extra, "max_tokens"))
        emit_member_int(&e->emit, "max_tokens", e->thinking.max_tokens);
    if (extra_leaves(&e->extra, "stream"))
        emit_member_bool(&e->emit, "stream", true);
    if (extra_leaves(&e->extra, "system"))
        e->http->broken |= !anthropic_messages_write_system(e->call, &e->emit,
                                                            e->arena);
    write_tools(e);
    write_controls(e);
    if (extra_leaves(&e->extra, "messages")) {
        emit_at(&e->emit, "messages");
        e->http->broken |= !anthropic_messages_write(e->call, &e->emit,
                                                     e->arena);
    }
    extra_write(&e->extra, &e->emit, translated);
    emit_close(&e->emit, '}');
}

/* ---------------------------------------------------- URL and headers --- */

/* BASE/v1/messages.  The base may already contain all or part of this path. */
static const allm_error *write_address(struct encoding *e)
{
    struct slice base, query;
    const allm_error *error = http_base(e->http, e->call, &base, &query);
    if (error)
        return error;
    struct buf url = buf_in(e->arena, 64 * 1024);
    buf_add(&url, base);
    if (slice_ends(base, SLICE("/v1")))
        buf_text(&url, "/messages");
    else if (!slice_ends(base, SLICE("/messages")))
        buf_text(&url, "/v1/messages");
    buf_add(&url, query);
    http_address(e->http, &url);
    return NULL;
}

/* The names of beta features, one string or a list, joined by commas.  False: a
 * name is invalid. */
static bool join_betas(struct encoding *e, struct buf *out)
{
    const allm_json *beta = extra_get(&e->extra, "beta");
    bool list = allm_json_type_of(beta) == ALLM_JSON_ARRAY;
    size_t n = list ? allm_json_count(beta) : beta != NULL;
    for (size_t i = 0; i < n; i++) {
        struct slice name = json_slice(list ? allm_json_at(beta, i) : beta);
        if (!name.ptr || !name.len)
            return false;
        if (out->len)
            buf_byte(out, ',');
        buf_add(out, name);
    }
    for (size_t i = 0; i < out->len; i++)
        if ((unsigned char)out->ptr[i] <= ' ' || out->ptr[i] == 0x7f)
            return false;
    return true;
}

static const allm_error *write_headers(struct encoding *e)
{
    const char *version = extra_text(&e->extra, "api_version");
    struct slice v = slice_of(version);
    struct buf betas = buf_in(e->arena, 64 * 1024);
    for (size_t i = 0; i < v.len; i++)
        if ((unsigned char)v.ptr[i] <= ' ' || v.ptr[i] == 0x7f)
            return status_error(
                e->arena, ALLM_ERR_MISUSE, "invalid_option",
                "api_version must not contain spaces; an example "
                "is \"" API_VERSION "\"");
    if (!join_betas(e, &betas))
        return status_error(
            e->arena, ALLM_ERR_MISUSE, "invalid_option",
            "beta must be the name of a feature, or a list of such "
            "names, without spaces");
    e->http->broken |= betas.broken;
    http_headers(e->http, "text/event-stream");
    allm_http_header(e->http, "anthropic-version",
                     version ? version : API_VERSION);
    if (betas.len && !betas.broken)
        allm_http_header(e->http, "anthropic-beta", betas.ptr);
    return extra_headers(&e->extra, e->http, e->arena);
}

/* ------------------------------------------------------------- checks --- */

/* Reject what the provider does not support, before anything is sent. */
static const allm_error *request_check(struct encoding *e)
{
    const allm_request *r = e->request;
    const char *choice = choice_name(r->tool_choice);
    if (json_is(allm_json_get(r->response_format, "type"), "json_object"))
        return status_error(e->arena, ALLM_ERR_ENGINE,
                            "unsupported_response_format",
                            "this provider has no json_object format; use "
                            "json_schema, or ask for JSON in the prompt");
    if (!r->tool_count && extra_leaves(&e->extra, "tools") &&
        (!strcmp(choice, "any") || !strcmp(choice, "tool")))
        return error_validation_at(e->arena, "invalid_request",
                                   &(struct path)PATH_KEY(NULL, "tool_choice"),
                                   "no_tools");
    return image_source_check(r, e->arena);
}

static const allm_error *request_prepare(struct encoding *e)
{
    const allm_error *error = extra_init(&e->extra, e->call, e->arena);
    if (!error)
        error = quirks_check(quirks_anthropic, e->call, e->arena);
    if (!error)
        error = anthropic_thinking_plan(&e->thinking, &e->extra, e->arena);
    return error ? error : request_check(e);
}

allm_status anthropic_encode(const allm_call *call, allm_http *out)
{
    struct encoding e = { .call = call,
                          .request = call->request,
                          .http = out,
                          .arena = out->arena };
    const allm_error *error = request_prepare(&e);
    if (!error)
        error = write_address(&e);
    if (!error)
        error = write_headers(&e);
    if (error)
        return allm_http_fail(out, error);
    write_body(&e);
    return ALLM_OK;
}
