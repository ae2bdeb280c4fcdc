/*
 * encode.c - encode a request for streamGenerateContent
 *
 *      systemInstruction, tools, toolConfig, generationConfig, options of the
 *      body, contents
 *
 * An option with the name of one of these members replaces it, and null removes
 * it.  The conversation is last, so a longer one starts with the same bytes as
 * a shorter one.
 */
#include "provider/gemini/encode.h"

#include "base/status.h"
#include "provider/gemini/address.h"
#include "provider/gemini/config.h"
#include "provider/gemini/contents.h"
#include "provider/gemini/losses.h"
#include "provider/gemini/schema.h"
#include "provider/http.h"
#include "provider/image_source.h"
#include "provider/tool_json.h"
#include "json/json.h"

struct encoding {
    const allm_call *call;
    const allm_request *request;
    allm_http *http;
    struct arena *arena;
    struct emit emit;
    struct extra extra;
    const allm_json *config;
};

/* The option that replaces a member of the body; NULL if there is none. */
static const allm_json *replacement_of(const struct encoding *e,
                                       const char *name)
{
    for (const allm_json *k = NULL;
         (k = allm_json_next(e->extra.options, k));) {
        const char *member = gemini_config_body(&e->extra, json_slice(k));
        if (member && !strcmp(member, name))
            return allm_json_value(k);
    }
    return NULL;
}

/* -------------------------------------------------------------- tools --- */

/* Gemini rejects an object without properties, so leave it out. */
static void write_parameters(struct encoding *e, const allm_json *schema)
{
    const struct gemini_schema_losses ignored = { NULL, NULL };
    bool as_is = gemini_losses_off(&e->extra);
    if (!allm_json_count(schema))
        return;
    if (!as_is)
        schema = gemini_schema_adapt(e->arena, schema, false, ignored);
    e->http->broken |= !schema;
    if (!as_is &&
        (!schema || (json_is(allm_json_get(schema, "type"), "OBJECT") &&
                     !allm_json_get(schema, "properties"))))
        return;
    emit_member_value(&e->emit, as_is ? "parametersJsonSchema" : "parameters",
                      schema);
}

static void write_tool(struct encoding *e, const allm_tool *tool)
{
    emit_open(&e->emit, '{');
    emit_member(&e->emit, "name", tool->name);
    if (tool->description)
        emit_member(&e->emit, "description", tool->description);
    write_parameters(e, tool->schema);
    emit_close(&e->emit, '}');
}

static void write_tools(struct encoding *e)
{
    const allm_request *r = e->request;
    if (!r->tool_count || replacement_of(e, "tools"))
        return;
    emit_member_open(&e->emit, "tools", '[');
    emit_open(&e->emit, '{');
    emit_member_open(&e->emit, "functionDeclarations", '[');
    for (size_t i = 0; i < r->tool_count; i++)
        write_tool(e, r->tools[i]);
    emit_close(&e->emit, ']');
    emit_close(&e->emit, '}');
    emit_close(&e->emit, ']');
}

/* Their name for a tool choice; *name is the only tool that may be called, or
 * NULL. */
static const char *mode_of(const allm_request *r, const char **name)
{
    const char *choice = r->tool_choice;
    *name = tool_json_choice(r->tool_choice_map);
    if (*name)
        return "ANY";
    if (!choice || !strcmp(choice, "auto"))
        return "AUTO";
    if (!strcmp(choice, "none"))
        return "NONE";
    if (strcmp(choice, "required") != 0)
        *name = choice;
    return "ANY";
}

static void write_mode(struct encoding *e, const char *mode, const char *name)
{
    emit_member_open(&e->emit, "toolConfig", '{');
    emit_member_open(&e->emit, "functionCallingConfig", '{');
    emit_member(&e->emit, "mode", mode);
    if (name) {
        emit_member_open(&e->emit, "allowedFunctionNames", '[');
        emit_text(&e->emit, slice_of(name));
        emit_close(&e->emit, ']');
    }
    emit_close(&e->emit, '}');
    emit_close(&e->emit, '}');
}

/* Without tools there is no choice to write. */
static void write_choice(struct encoding *e)
{
    const char *name;
    const allm_request *r = e->request;
    const char *mode = mode_of(r, &name);
    if (replacement_of(e, "toolConfig") ||
        (!r->tool_count && !replacement_of(e, "tools")))
        return;
    if (r->tool_choice_map && !name)
        emit_member_value(&e->emit, "toolConfig", r->tool_choice_map);
    else if (name || r->tool_choice)
        write_mode(e, mode, name);
}

/* --------------------------------------------------------------- body --- */

static void write_options(struct encoding *e)
{
    for (const allm_json *k = NULL;
         (k = allm_json_next(e->extra.options, k));) {
        const char *member = gemini_config_body(&e->extra, json_slice(k));
        const allm_json *v = allm_json_value(k);
        if (!member || allm_json_type_of(v) == ALLM_JSON_NULL ||
            replacement_of(e, member) != v)
            continue;           /* an option may have two spellings */
        emit_key(&e->emit, slice_of(member));
        emit_value(&e->emit, v);
    }
}

static void write_body(struct encoding *e)
{
    bool broken = false;
    http_emit(e->http, &e->emit);
    emit_open(&e->emit, '{');
    if (!replacement_of(e, "systemInstruction"))
        broken = !gemini_contents_write_system(e->call, &e->emit, e->arena);
    write_tools(e);
    write_choice(e);
    if (allm_json_count(e->config))
        emit_member_value(&e->emit, "generationConfig", e->config);
    write_options(e);
    if (!replacement_of(e, "contents")) {
        emit_at(&e->emit, "contents");
        broken |= !gemini_contents_write(e->call, &e->emit, e->arena);
    }
    emit_close(&e->emit, '}');
    e->http->broken |= broken;
}

/* ------------------------------------------------------------- checks --- */

bool gemini_needs_finalize(const allm_request *r)
{
    const allm_json *type = allm_json_get(r->response_format, "type");
    return r->tool_count &&
           (json_is(type, "json_schema") || json_is(type, "json_object"));
}

static bool has_foreign_url(const allm_request *r)
{
    for (size_t i = 0; i < r->message_count; i++)
        for (size_t k = 0; k < r->messages[i]->part_count; k++) {
            const allm_part *p = r->messages[i]->parts[k];
            if (p->kind == ALLM_PART_IMAGE && p->image &&
                p->image->source == ALLM_IMAGE_URL &&
                !gemini_contents_takes_url(p->image))
                return true;
        }
    return false;
}

/* Reject what the provider does not support, before anything is sent. */
static const allm_error *request_check(struct encoding *e)
{
    const allm_request *r = e->request;
    if (has_foreign_url(r)) {
        allm_error *error =
            status_draft(e->arena, ALLM_ERR_ADAPTER, "unsupported_feature",
                         "this provider does not fetch images from the web; "
                         "pass the bytes of the image, or the URL of a file "
                         "uploaded to the provider");
        if (!error)
            return status_nomem();
        error->provider = e->call->provider;
        return error;
    }
    return image_source_check(r, e->arena);
}

static const allm_error *request_prepare(struct encoding *e)
{
    const allm_error *error = extra_init(&e->extra, e->call, e->arena);
    if (!error)
        error = request_check(e);
    if (error)
        return error;
    e->config = gemini_config(&e->extra, e->arena, &error);
    if (!error && !e->config)
        error = status_nomem();
    return error;
}

allm_status gemini_encode(const allm_call *call, allm_http *out)
{
    struct encoding e = { .call = call,
                          .request = call->request,
                          .http = out,
                          .arena = out->arena };
    const allm_error *error = request_prepare(&e);
    if (!error)
        error = gemini_address_write(call, out, "streamGenerateContent",
                                     "alt=sse");
    http_headers(out, "text/event-stream");
    if (!error)
        error = extra_headers(&e.extra, out, e.arena);
    if (error)
        return allm_http_fail(out, error);
    write_body(&e);
    return ALLM_OK;
}
