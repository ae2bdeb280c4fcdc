/* template_save.c - write the flags of a call as a template: --save NAME */
#include "cli/template_save.h"

#include "cli/config_parts.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "conf/member.h"

#include <string.h>

static void put_list(allm_json_build *b, const char *key,
                     const struct flag_list *list)
{
    if (!list || !list->count)
        return;
    member_array(b, key);
    for (size_t i = 0; i < list->count; i++)
        allm_json_build_text(b, list->word[i], strlen(list->word[i]));
    allm_json_build_end(b);
}

/* {"NAME": {"default": VALUE}}; of a name that is repeated the last value
 * counts. */
static void put_params(allm_json_build *b, const allm_json *params)
{
    if (!allm_json_count(params))
        return;
    member_object(b, "params");
    for (const allm_json *k = NULL; (k = allm_json_next(params, k));) {
        member_object(b, allm_json_text(k, NULL));
        member_value(b, "default", allm_json_value(k));
        allm_json_build_end(b);
    }
    allm_json_build_end(b);
}

/* The header: the flags over that of the template. */
static allm_json *make_header(const struct template_save *s)
{
    allm_json_build *b = member_new_object();
    member_text(b, "model", s->model);
    member_text(b, "system", s->system);
    member_text(b, "schema", s->schema);
    put_list(b, "tools", s->tools);
    if (s->options)
        member_value(b, "options", s->options);
    put_list(b, "attach", s->attach);
    member_text(b, "extract", s->extract);
    put_params(b, s->over->params);
    allm_json *own = member_done(b);
    if (!s->over->loaded || allm_json_error(own))
        return own;
    allm_json *both = allm_json_patch(s->over->file.header, own);
    allm_json_free(own);
    return both;
}

int template_save_text(const char *path, const struct bytes *text)
{
    struct template_file t = { .header = NULL };
    bool fine = template_parse(&t, path, text, template_use_notice, NULL);
    template_release(&t);
    return config_store(path, text, fine);
}

/* The arguments, or the body of the template that this call uses. */
static void add_body(const struct template_save *s, int argc, char **argv,
                     struct bytes *body)
{
    for (int i = 0; i < argc; i++)
        bytes_format(body, "%s%s", i ? " " : "", argv[i]);
    if (!argc && s->over->loaded)
        bytes_text(body, bytes_string(&s->over->file.body));
}

static int report_name(const char *name)
{
    if (template_is_name(name) && strcmp(name, "none") != 0)
        return print_misuse("there is no home directory: set HOME, "
                            "XDG_CONFIG_HOME or ALLM_HOME");
    return print_misuse(
        "\"%.100s\" is not the name of a template: it has no / or :, does not "
        "begin with a dot, and is not \"none\"",
        name);
}

int template_save_write(const struct template_save *s, int argc, char **argv)
{
    char path[PLACES_PATH];
    struct bytes body = { NULL, 0, 0 }, text = { NULL, 0, 0 };
    if (!strcmp(s->name, "none") || !template_users_path(s->name, path))
        return report_name(s->name);
    allm_json *header = make_header(s);
    int code = END_USAGE;
    if (allm_json_error(header)) {
        print_fault("--save: a flag is not UTF-8 text");
    } else {
        add_body(s, argc, argv, &body);
        template_write(header, bytes_string(&body), &text);
        code = template_save_text(path, &text);
    }
    if (code == END_DONE)
        print_note("saved %s; use it with: allm -t %s", path, s->name);
    allm_json_free(header);
    bytes_release(&body);
    bytes_release(&text);
    return code;
}
