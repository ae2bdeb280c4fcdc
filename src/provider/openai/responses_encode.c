/*
 * responses_encode.c - encode a request for /responses
 *
 *      model, tools, tool_choice, text, reasoning, temperature,
 *      max_output_tokens, prompt_cache_key, store, include, stream, input,
 *      then the options
 *
 * An option with one of these names replaces the member; null removes it;
 * members of "text" and "reasoning" are merged with ours.  These options are
 * sent under other names: "reasoning_effort", "reasoning_summary",
 * "verbosity", "max_completion_tokens", "prompt_cache".
 *
 * Unless an option requests it, the server does not store responses: the caller
 * has the conversation, and a response contains its reasoning encrypted.
 */
#include "provider/openai/responses_encode.h"

#include "provider/extra.h"
#include "provider/http.h"
#include "provider/image_source.h"
#include "provider/model_rules.h"
#include "provider/openai/address.h"
#include "provider/openai/format.h"
#include "provider/openai/responses_input.h"
#include "provider/quirks.h"
#include "provider/tool_json.h"
#include "json/build.h"
#include "json/emit.h"
#include "json/json.h"

struct encoding {
    const allm_call *call;
    const allm_request *request;
    allm_http *http;
    struct arena *arena;
    struct emit emit;
    struct extra extra;
    uint64_t quirks;
    uint32_t rules;             /* of the model */
    bool stored;                /* the server stores the responses */
};

/* -------------------------------------------------------------- tools --- */

/* "strict" is always sent: the default of these servers is true, which rejects
 * many schemas. */
static void write_tool(struct encoding *e, const allm_tool *tool)
{
    const allm_json *strict = allm_json_get(tool->metadata, "strict");
    emit_open(&e->emit, '{');
    emit_member_word(&e->emit, "type", "function");
    tool_json_write(&e->emit, tool);
    emit_member_bool(&e->emit, "strict", allm_json_true(strict));
    emit_close(&e->emit, '}');
}

static void write_choice(struct encoding *e)
{
    const allm_request *r = e->request;
    const char *named = tool_json_choice(r->tool_choice_map);
    if (r->tool_choice_map && !named) {
        emit_member_value(&e->emit, "tool_choice", r->tool_choice_map);
        return;
    }
    if (!named && r->tool_choice && tool_json_is_choice(r->tool_choice)) {
        emit_member_word(&e->emit, "tool_choice", r->tool_choice);
        return;
    }
    if (!named && !r->tool_choice)
        return;
    emit_member_open(&e->emit, "tool_choice", '{');
    emit_member_word(&e->emit, "type", "function");
    emit_member(&e->emit, "name", named ? named : r->tool_choice);
    emit_close(&e->emit, '}');
}

static void write_tools(struct encoding *e)
{
    const allm_request *r = e->request;
    if (!r->tool_count)
        return;
    if (extra_leaves(&e->extra, "tools")) {
        emit_member_open(&e->emit, "tools", '[');
        for (size_t i = 0; i < r->tool_count; i++)
            write_tool(e, r->tools[i]);
        emit_close(&e->emit, ']');
    }
    if (extra_leaves(&e->extra, "tool_choice"))
        write_choice(e);
}

/* ---------------------------------------------------- text, reasoning --- */

/* {type, name, description, schema, strict}, flat. */
static void build_format(struct encoding *e, struct build *b)
{
    const allm_json *f = e->request->response_format;
    const allm_json *inner = allm_json_get(f, "json_schema");
    const allm_json *name;
    if (allm_json_type_of(f) != ALLM_JSON_OBJECT ||
        json_is(allm_json_get(f, "type"), "text"))
        return;
    build_key(b, SLICE("format"));
    if (!json_is(allm_json_get(f, "type"), "json_schema")) {
        build_value(b, f);      /* already in the provider's form */
        return;
    }
    if (allm_json_type_of(inner) == ALLM_JSON_OBJECT)
        f = inner;
    name = allm_json_get(f, "name");
    build_object(b);
    build_text_if(b, "type", "json_schema");
    build_text_if(b, "name", name ? allm_json_text(name, NULL) : "response");
    build_value_if(b, "description", allm_json_get(f, "description"));
    build_value_if(b, "schema", allm_json_get(f, "schema"));
    build_value_if(b, "strict", allm_json_get(f, "strict"));
    build_end(b);
}

/* End the object and write it, unless it is empty.  The members of the caller's
 * option override those in it. */
static void write_object(struct encoding *e, const char *name, struct build *b)
{
    const allm_json *option = extra_get(&e->extra, name);
    const allm_json *all = build_finish(b);
    if (all && option)
        all = json_merge(e->arena, all, option);
    e->http->broken |= !all;
    if (!allm_json_count(all))
        return;
    emit_member_value(&e->emit, name, all);
}

/* Is this option null, so that the member is removed? */
static bool is_removed(const struct encoding *e, const char *name)
{
    const allm_json *v = allm_json_get(e->extra.options, name);
    return allm_json_type_of(v) == ALLM_JSON_NULL;
}

static void write_text_controls(struct encoding *e)
{
    if (is_removed(e, "text"))
        return;
    struct build b = build_object_in(e->arena);
    build_format(e, &b);
    build_text_if(&b, "verbosity", extra_text(&e->extra, "verbosity"));
    write_object(e, "text", &b);
}

static void write_reasoning(struct encoding *e)
{
    if (is_removed(e, "reasoning"))
        return;
    struct build b = build_object_in(e->arena);
    build_text_if(&b, "effort", extra_text(&e->extra, "reasoning_effort"));
    build_text_if(&b, "summary", extra_text(&e->extra, "reasoning_summary"));
    write_object(e, "reasoning", &b);
}

/* ------------------------------------------------------ other members --- */

static void write_limits(struct encoding *e)
{
    const allm_request *r = e->request;
    const allm_json *limit_option = extra_get(&e->extra,
                                              "max_completion_tokens");
    if (extra_writes_temperature(&e->extra, e->rules))
        emit_member_number(&e->emit, "temperature", r->temperature.value);
    if (!extra_leaves(&e->extra, "max_output_tokens"))
        return;
    if (limit_option)
        emit_member_value(&e->emit, "max_output_tokens", limit_option);
    else if (r->max_tokens.set && extra_leaves(&e->extra, "max_tokens"))
        emit_member_int(&e->emit, "max_output_tokens", r->max_tokens.value);
}

/* May encrypted reasoning be requested?  OpenAI's models without reasoning
 * reject that; for unknown models it is requested, unless the server rejects
 * it. */
static bool may_include_reasoning(const struct encoding *e)
{
    return !(e->rules & MODEL_PLAIN) && !(e->quirks & RESPONSES_NO_INCLUDE);
}

static void write_storage(struct encoding *e)
{
    if (e->stored)
        return;
    if (!(e->quirks & RESPONSES_NO_STORE) && extra_leaves(&e->extra, "store"))
        emit_member_bool(&e->emit, "store", false);
    if (may_include_reasoning(e) && extra_leaves(&e->extra, "include")) {
        emit_member_open(&e->emit, "include", '[');
        emit_word(&e->emit, "reasoning.encrypted_content");
        emit_close(&e->emit, ']');
    }
}

static void write_body(struct encoding *e)
{
    static const char *const read_here[] = {
        "prompt_cache", "reasoning_effort", "reasoning_summary", "verbosity",
        "text", "reasoning", "max_completion_tokens", NULL,
    };
    http_emit(e->http, &e->emit);
    emit_open(&e->emit, '{');
    if (extra_leaves(&e->extra, "model"))
        emit_member(&e->emit, "model", e->call->model);
    write_tools(e);
    write_text_controls(e);
    if (e->quirks & RESPONSES_CHAT_FORMAT)
        openai_format_write(&e->emit, e->request, &e->extra);
    write_reasoning(e);
    write_limits(e);
    openai_format_write_cache(&e->emit, &e->extra, e->rules);
    write_storage(e);
    if (extra_leaves(&e->extra, "stream"))
        emit_member_bool(&e->emit, "stream", true);
    if (extra_leaves(&e->extra, "input")) {
        emit_at(&e->emit, "input");
        e->http->broken |= !openai_responses_input_write(e->call, e->stored,
                                                         &e->emit, e->arena);
    }
    extra_write(&e->extra, &e->emit, read_here);
    emit_close(&e->emit, '}');
}

/* ------------------------------------------------------------ address --- */

/* BASE/openai/v1/responses, or BASE/openai/responses?api-version=... if the
 * option api_version is set. */
static void add_azure(struct encoding *e, struct buf *url)
{
    const char *version = extra_text(&e->extra, "api_version");
    struct slice base = buf_slice(url);
    if (!slice_ends(base, SLICE("/v1")) && !slice_ends(base, SLICE("/openai")))
        buf_text(url, "/openai");
    if (!slice_ends(base, SLICE("/v1")) && !version)
        buf_text(url, "/v1");
    buf_text(url, "/responses");
    if (version) {
        buf_text(url, "?api-version=");
        buf_text(url, version);
    }
}

static const allm_error *write_address(struct encoding *e)
{
    const struct slice path = SLICE("/responses");
    struct slice base, query;
    const allm_error *error = http_base(e->http, e->call, &base, &query);
    if (error)
        return error;
    struct buf url = buf_in(e->arena, 64 * 1024);
    buf_add(&url, base);
    if ((e->quirks & RESPONSES_AZURE_PATHS) && !slice_ends(base, path) &&
        !query.len)
        add_azure(e, &url);
    else if (!slice_ends(base, path))
        buf_add(&url, path);
    buf_add(&url, query);
    http_address(e->http, &url);
    http_headers(e->http, "text/event-stream");
    return openai_address_headers(&e->extra, e->http);
}

/* ------------------------------------------------------------- public --- */

allm_int openai_responses_limit(const allm_call *call, struct arena *a)
{
    struct extra x;
    allm_int limit = { 0, false };
    if (!call->request || extra_init(&x, call, a))
        return limit;
    const allm_json *limit_option = allm_json_get(x.options,
                                                  "max_output_tokens");
    if (!limit_option)
        limit_option = extra_get(&x, "max_completion_tokens");
    if (!limit_option && extra_leaves(&x, "max_tokens"))
        return call->request->max_tokens;
    limit.set = allm_json_int64(limit_option, &limit.value);
    return limit;
}

static const allm_error *request_prepare(struct encoding *e)
{
    const allm_error *error = extra_init(&e->extra, e->call, e->arena);
    if (!error)
        error = quirks_check(quirks_responses, e->call, e->arena);
    if (error)
        return error;
    e->quirks = quirks_read(quirks_responses, e->call);
    e->rules = model_rules(e->call->model);
    e->stored = allm_json_true(extra_get(&e->extra, "store")) ||
                extra_get(&e->extra, "previous_response_id") ||
                extra_get(&e->extra, "conversation");
    return image_source_check(e->request, e->arena);
}

allm_status openai_responses_encode(const allm_call *call, allm_http *out)
{
    struct encoding e = { .call = call,
                          .request = call->request,
                          .http = out,
                          .arena = out->arena };
    const allm_error *error = request_prepare(&e);
    if (!error)
        error = write_address(&e);
    if (error)
        return allm_http_fail(out, error);
    write_body(&e);
    return ALLM_OK;
}
