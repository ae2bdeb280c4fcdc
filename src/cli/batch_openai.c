/*
 * batch_openai.c - the body of a line of an OpenAI batch in our plain form
 *
 *      {"messages": [...], "tools": [...]}       /v1/chat/completions
 *      {"instructions", "input": "..." or [...]} /v1/responses
 *      {"prompt": "..."}                         /v1/completions
 *
 * What is not known stays as it is, and is rejected with its place.
 */
#include "cli/batch_openai.h"

#include "conf/member.h"

#include <string.h>

static bool is_array(const allm_json *value)
{
    return allm_json_type_of(value) == ALLM_JSON_ARRAY;
}

/* Append an array of what `put` makes of each value. */
static void put_each(allm_json_build *b, const char *key, const allm_json *list,
                     void (*put)(allm_json_build *, const allm_json *))
{
    member_array(b, key);
    for (const allm_json *v = NULL; (v = allm_json_next(list, v));)
        put(b, v);
    allm_json_build_end(b);
}

/* ------------------------------------------------------------ messages --- */

/* The bytes of "data:image/png;base64,..." or an address. */
static void put_source(allm_json_build *b, const char *url)
{
    static const char scheme[] = "data:", mark[] = ";base64,";
    const char *type = url + strlen(scheme), *data = strstr(url, mark);
    bool inside = !strncmp(url, scheme, strlen(scheme)) && data;
    if (inside)
        member_text_n(b, "mime_type", type, (size_t)(data - type));
    member_object(b, "source");
    member_text(b, "type", inside ? "base64" : "url");
    member_text(b, "value", inside ? data + strlen(mark) : url);
    allm_json_build_end(b);
}

static void put_part(allm_json_build *b, const allm_json *part)
{
    size_t len = 0;
    const allm_json *image = allm_json_get(part, "image_url");
    const char *text = allm_json_text(allm_json_get(part, "text"), &len);
    const char *url = allm_json_text(image, NULL);
    bool object = !url && image;
    url = object ? member_read(image, "url") : url;
    if (!url && !text) {
        allm_json_build_value(b, part);
        return;
    }
    allm_json_build_object(b);
    member_text(b, "type", url ? "image" : "text");
    if (url) {
        put_source(b, url);
        member_text(b, "detail", member_read(object ? image : part, "detail"));
    } else {
        member_text_n(b, "text", text, len);
    }
    allm_json_build_end(b);
}

static void put_call(allm_json_build *b, const allm_json *call)
{
    size_t len = 0;
    const allm_json *f = allm_json_get(call, "function");
    const char *raw = allm_json_text(allm_json_get(f, "arguments"), &len);
    allm_json *args = raw ? allm_json_parse(raw, len, NULL) : NULL;
    allm_json_build_object(b);
    member_text(b, "id", member_read(call, "id"));
    member_text(b, "name", member_read(f, "name"));
    if (allm_json_type_of(args) == ALLM_JSON_OBJECT) {
        member_value(b, "arguments", args);
    } else {
        member_object(b, "arguments");
        allm_json_build_end(b);
    }
    if (raw)
        member_text_n(b, "raw_arguments", raw, len);
    allm_json_build_end(b);
    allm_json_free(args);
}

static void put_content(allm_json_build *b, const allm_json *content)
{
    if (is_array(content))
        put_each(b, "content", content, put_part);
    else if (!content || allm_json_type_of(content) == ALLM_JSON_NULL)
        member_text(b, "content", "");
    else
        member_value(b, "content", content);
}

static void put_message(allm_json_build *b, const allm_json *message)
{
    const char *role = member_read(message, "role");
    const allm_json *calls = allm_json_get(message, "tool_calls");
    bool developer = role && !strcmp(role, "developer");
    allm_json_build_object(b);
    member_text(b, "role", developer ? "system" : role);
    put_content(b, allm_json_get(message, "content"));
    member_text(b, "name", member_read(message, "name"));
    member_text(b, "tool_call_id", member_read(message, "tool_call_id"));
    if (is_array(calls)) {
        member_object(b, "metadata");
        put_each(b, "tool_calls", calls, put_call);
        allm_json_build_end(b);
    }
    allm_json_build_end(b);
}

/* --------------------------------------------------------------- tools --- */

/* A function that is called elsewhere. */
static void put_tool(allm_json_build *b, const allm_json *tool)
{
    const allm_json *f = allm_json_get(tool, "function");
    f = f ? f : tool;
    const allm_json *schema = allm_json_get(f, "parameters");
    const allm_json *strict = allm_json_get(f, "strict");
    allm_json_build_object(b);
    member_text(b, "name", member_read(f, "name"));
    member_text(b, "description", member_or(f, "description", ""));
    member_bool(b, "manual", true);
    if (schema) {
        member_value(b, "schema", schema);
    } else {
        member_object(b, "schema");
        member_text(b, "type", "object");
        allm_json_build_end(b);
    }
    member_object(b, "metadata");
    if (strict)
        member_value(b, "strict", strict);
    allm_json_build_end(b);
    allm_json_build_end(b);
}

/* The name of the tool, if one must be called. */
static void put_choice(allm_json_build *b, const allm_json *choice)
{
    const allm_json *f = allm_json_get(choice, "function");
    const char *name = member_read(f ? f : choice, "name");
    if (name)
        member_text(b, "tool_choice", name);
    else
        member_value(b, "tool_choice", choice);
}

/* ---------------------------------------------------------------- body --- */

static void put_member(allm_json_build *b, const char *key,
                       const allm_json *value)
{
    bool list = is_array(value), input = !strcmp(key, "input");
    if (list && (input || !strcmp(key, "messages")))
        put_each(b, "messages", value, put_message);
    else if (list && !strcmp(key, "tools"))
        put_each(b, "tools", value, put_tool);
    else if (!strcmp(key, "tool_choice"))
        put_choice(b, value);
    else
        member_value(b,
                     input                          ? "prompt"
                     : !strcmp(key, "instructions") ? "system"
                                                    : key,
                     value);
}

allm_json *batch_openai_plain(const allm_json *body)
{
    if (allm_json_type_of(body) != ALLM_JSON_OBJECT)
        return NULL;
    allm_json_build *b = member_new_object();
    for (const allm_json *k = NULL; (k = allm_json_next(body, k));)
        put_member(b, allm_json_text(k, NULL), allm_json_value(k));
    return member_done(b);
}

bool batch_openai_handles(const char *key)
{
    static const char *const names[] = {
        "model", "messages",    "prompt", "input",          "instructions",
        "tools", "tool_choice", "stream", "stream_options",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(key, names[i]))
            return true;
    return false;
}
