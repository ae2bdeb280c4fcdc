/* mcp_prompts.c - templates as prompts for MCP clients */
#include "cli/mcp_prompts.h"

#include "cli/template_list.h"
#include "cli/template_use.h"

static void put_argument(allm_json_build *b, const char *name,
                         const allm_json *param)
{
    const allm_json *what = allm_json_get(param, "description");
    allm_json_build_object(b);
    allm_json_build_key(b, "name");
    allm_json_build_text(b, name, ALLM_NUL_ENDED);
    if (what) {
        allm_json_build_key(b, "description");
        allm_json_build_value(b, what);
    }
    allm_json_build_key(b, "required");
    allm_json_build_bool(b, !allm_json_get(param, "default"));
    allm_json_build_end(b);
}

static void put_prompt(allm_json_build *b, const char *name,
                       const struct template_file *t)
{
    const allm_json *params = allm_json_get(t->header, "params"), *k = NULL;
    allm_json_build_object(b);
    allm_json_build_key(b, "name");
    allm_json_build_text(b, name, ALLM_NUL_ENDED);
    allm_json_build_key(b, "arguments");
    allm_json_build_array(b);
    if (template_uses(t, "input"))
        put_argument(b, "input", NULL);
    while ((k = allm_json_next(params, k)))
        put_argument(b, allm_json_text(k, NULL), allm_json_value(k));
    allm_json_build_end(b);
    allm_json_build_end(b);
}

static void add_prompt(void *ud, const char *name, const char *path,
                       bool project)
{
    struct template_file t = { .header = NULL };
    if (!project && template_load(&t, path, false, template_use_notice, NULL))
        put_prompt(ud, name, &t);
    template_release(&t);
}

allm_json *mcp_prompts_list(void)
{
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_array(b);
    template_list_each(add_prompt, b);
    allm_json_build_end(b);
    return allm_json_build_done(b);
}

/* {"messages": [{"role": "user", "content": {"type": "text", "text"}}]} */
static allm_json *wrap_text(const struct bytes *text)
{
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_object(b);
    allm_json_build_key(b, "messages");
    allm_json_build_array(b);
    allm_json_build_object(b);
    allm_json_build_key(b, "role");
    allm_json_build_text(b, "user", 4);
    allm_json_build_key(b, "content");
    allm_json_build_object(b);
    allm_json_build_key(b, "type");
    allm_json_build_text(b, "text", 4);
    allm_json_build_key(b, "text");
    allm_json_build_text(b, bytes_string(text), text->len);
    allm_json_build_end(b);
    allm_json_build_end(b);
    allm_json_build_end(b);
    allm_json_build_end(b);
    return allm_json_build_done(b);
}

static void answer_filled(allm_mcp_server *server, const allm_mcp_request *r,
                          const struct template_file *t)
{
    struct bytes text = { NULL, 0, 0 }, why = { NULL, 0, 0 };
    struct template_values v = { .params = r->arguments };
    v.input = allm_json_text(allm_json_get(r->arguments, "input"),
                             &v.input_len);
    if (template_fill(t, &v, &text)) {
        allm_json *result = wrap_text(&text);
        allm_mcp_server_answer(server, r->id, result);
        allm_json_free(result);
    } else {
        bytes_format(&why, "the prompt needs a value for: %.200s",
                     bytes_string(&text));
        allm_mcp_server_fail(server, r->id, bytes_string(&why));
    }
    bytes_release(&why);
    bytes_release(&text);
}

void mcp_prompts_answer(allm_mcp_server *server, const allm_mcp_request *r)
{
    struct template_file t = { .header = NULL };
    char path[PLACES_PATH];
    if (template_users_path(r->name, path) &&
        template_load(&t, path, false, template_use_notice, NULL))
        answer_filled(server, r, &t);
    else
        allm_mcp_server_fail(server, r->id, "the template cannot be read");
    template_release(&t);
}
