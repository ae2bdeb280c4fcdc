/* mcp_prompts.c - templates as prompts for MCP clients */
#include "cli/mcp_prompts.h"

#include "cli/template_list.h"
#include "cli/template_use.h"
#include "conf/member.h"

static void put_argument(allm_json_build *b, const char *name,
                         const allm_json *param)
{
    const allm_json *what = allm_json_get(param, "description");
    allm_json_build_object(b);
    member_text(b, "name", name);
    if (what)
        member_value(b, "description", what);
    member_bool(b, "required", !allm_json_get(param, "default"));
    allm_json_build_end(b);
}

static void put_prompt(allm_json_build *b, const char *name,
                       const struct template_file *t)
{
    const allm_json *params = allm_json_get(t->header, "params"), *k = NULL;
    allm_json_build_object(b);
    member_text(b, "name", name);
    member_array(b, "arguments");
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
    allm_json_build *b = member_new_array();
    template_list_each(add_prompt, b);
    return member_done(b);
}

/* {"messages": [{"role": "user", "content": {"type": "text", "text"}}]} */
static allm_json *wrap_text(const struct bytes *text)
{
    allm_json_build *b = member_new_object();
    member_array(b, "messages");
    allm_json_build_object(b);
    member_text(b, "role", "user");
    member_object(b, "content");
    member_text(b, "type", "text");
    member_text_n(b, "text", bytes_string(text), text->len);
    allm_json_build_end(b);
    allm_json_build_end(b);
    allm_json_build_end(b);
    return member_done(b);
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
