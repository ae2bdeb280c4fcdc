/* template_use.c - the template of a call: -t NAME, -p K V */
#include "cli/template_use.h"

#include "cli/exit.h"
#include "cli/input.h"
#include "cli/mcp_template.h"
#include "cli/print.h"
#include "cli/settings.h"
#include "cli/suggest.h"
#include "cli/template_list.h"
#include "conf/member.h"

#include <string.h>

void template_use_notice(void *ud, const struct notice *n)
{
    struct suggest s;
    (void)ud;
    suggest_begin(&s, n->unknown ? n->unknown : "");
    for (size_t i = 0; template_key_at(i); i++)
        suggest_try(&s, template_key_at(i));
    settings_print(n, n->unknown ? suggest_hint(&s) : "");
}

/* ------------------------------------------------------------ by name --- */

static void try_name(void *ud, const char *name, const char *path, bool project)
{
    (void)path;
    (void)project;
    suggest_try(ud, name);
}

static int report_no_template(const char *word)
{
    struct suggest s;
    suggest_begin(&s, word);
    template_list_each(try_name, &s);
    return print_misuse(
        "there is no template \"%.100s\"%s (allm templates lists them; a path "
        "needs a /)",
        word, suggest_hint(&s));
}

static bool is_server_prompt(const char *word)
{
    return !strncmp(word, "mcp:", 4);
}

static int report_server_prompt(const char *word)
{
    return print_misuse(
        "%.100s is a prompt of a server, which is used with -t; allm mcp "
        "prompt shows it",
        word);
}

int template_use_load(struct template_file *t, const char *word)
{
    char path[PLACES_PATH];
    bool project;
    if (is_server_prompt(word))
        return report_server_prompt(word);
    if (!template_find(word, path, &project))
        return report_no_template(word);
    return template_load(t, path, project, template_use_notice, NULL)
               ? END_DONE
               : END_USAGE;
}

/* ---------------------------------------------------------- parameters --- */

/* The value of "@FILE": its text, without line ends behind it. */
static allm_json *load_value(const char *path)
{
    struct input in;
    allm_json *value = NULL;
    if (!input_load(&in, path))
        return NULL;
    while (in.len && (in.ptr[in.len - 1] == '\n' || in.ptr[in.len - 1] == '\r'))
        in.len--;
    if (input_is_text(&in)) {
        value = member_alone(in.ptr ? in.ptr : "", in.len);
    } else {
        print_fault("%s is not UTF-8 text", path);
    }
    input_release(&in);
    return value;
}

static bool set_param(struct template_use *u, const char *name,
                      const char *word)
{
    allm_json *value;
    if (*word == '@') {
        value = load_value(word + 1);
    } else {
        value = member_alone(word, strlen(word));
    }
    if (!value)
        return false;
    allm_json *more = allm_json_set(u->params, name, value);
    bool ok = more && !allm_json_error(more);
    allm_json_free(u->params);
    allm_json_free(value);
    u->params = more;
    if (!ok)
        print_fault("-p %.100s: the value is not UTF-8 text", name);
    return ok;
}

/* Does the template know this parameter? */
static bool has_param(const struct template_use *u, const char *name)
{
    const char *system = template_text(&u->file, "system");
    return template_uses(&u->file, name) ||
           allm_json_get(allm_json_get(u->file.header, "params"), name) ||
           (system && strstr(system, name));
}

int template_use_params(struct template_use *u, const struct flag_list *pairs)
{
    u->params = allm_json_parse("{}", 2, NULL);
    for (size_t i = 0; pairs && i < pairs->count; i += 2) {
        if (!set_param(u, pairs->word[i], pairs->word[i + 1]))
            return END_USAGE;
        if (u->loaded && !has_param(u, pairs->word[i]))
            print_note("the template %.500s has no parameter \"%.100s\"",
                       u->file.path, pairs->word[i]);
    }
    return END_DONE;
}

static bool report_missing(const struct template_use *u, const char *names)
{
    struct bytes list = { NULL, 0, 0 };
    template_describe(&u->file, &list);
    print_fault("the template %.500s needs a value for: %.200s; use -p NAME "
                "VALUE.  Its parameters:",
                u->file.path, names);
    print_aside(list.ptr, list.len);
    bytes_release(&list);
    return false;
}

/* ---------------------------------------------------------------- use --- */

/* The template of the setting.  One of a project that is not trusted is left
 * out, with a note. */
static int open_default(struct template_use *u, const char *word)
{
    size_t line;
    char path[PLACES_PATH];
    bool project;
    const struct config_layer *l = config_origin(settings_config(), "template",
                                                 &line);
    bool is_projects = l && l->is_project;
    if (is_projects &&
        (strchr(word, '/') || !template_find(word, path, &project) ||
         (project && !template_is_trusted(path)))) {
        print_note(
            "the template \"%.100s\" of the project is ignored: it waits "
            "for \"allm config trust\"",
            word);
        return END_DONE;
    }
    int code = template_use_load(&u->file, word);
    u->loaded = code == END_DONE;
    return code;
}

int template_use_open(struct template_use *u, const char *word,
                      const struct flag_list *pairs)
{
    int code = word ? END_DONE : settings_open();
    *u = (struct template_use){ .named = word != NULL };
    const char *standard = word || code != END_DONE ? NULL
                                                    : settings_text("template");
    if (code != END_DONE)
        return code;
    if (word && is_server_prompt(word)) {
        code = mcp_template_load(&u->file, word + 4, pairs);
        u->loaded = code == END_DONE;
        return code == END_DONE ? template_use_params(u, NULL) : code;
    }
    if (word && strcmp(word, "none") != 0) {
        code = template_use_load(&u->file, word);
        u->loaded = code == END_DONE;
    } else if (standard && strcmp(standard, "none") != 0) {
        code = open_default(u, standard);
    }
    if (code == END_DONE && !u->loaded && pairs && pairs->count)
        return print_misuse(
            "-p sets a parameter of a template; name it with -t");
    return code == END_DONE && u->loaded ? template_use_params(u, pairs) : code;
}

void template_use_release(struct template_use *u)
{
    template_release(&u->file);
    allm_json_free(u->params);
    bytes_release(&u->system);
    *u = (struct template_use){ .loaded = false };
}

bool template_use_fill(const struct template_use *u, const char *input,
                       size_t len, struct bytes *out)
{
    const struct template_values v = { u->params, input, len };
    struct bytes text = { NULL, 0, 0 };
    bool whole = template_fill(&u->file, &v, &text);
    if (whole)
        bytes_add(out, bytes_string(&text), text.len);
    else
        report_missing(u, bytes_string(&text));
    bytes_release(&text);
    return whole;
}

bool template_use_fill_system(struct template_use *u)
{
    const struct template_values v = { u->params, NULL, 0 };
    bytes_clear(&u->system);
    bool whole = template_fill_system(&u->file, &v, &u->system);
    if (!whole)
        report_missing(u, bytes_string(&u->system));
    return whole;
}

const char *template_use_system(const struct template_use *u)
{
    return u->system.len ? u->system.ptr : NULL;
}

const allm_json *template_use_value(const struct template_use *u,
                                    const char *key)
{
    return allm_json_get(u->file.header, key);
}

const char *template_use_text(const struct template_use *u, const char *key)
{
    return allm_json_text(template_use_value(u, key), NULL);
}

enum extract template_use_extract(const struct template_use *u)
{
    static const struct {
        const char *word;
        enum extract extract;
    } words[] = { { "first", EXTRACT_FIRST },
                  { "last", EXTRACT_LAST },
                  { "all", EXTRACT_ALL } };
    const char *word = template_use_text(u, "extract");
    for (size_t i = 0; word && i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i].word, word))
            return words[i].extract;
    return EXTRACT_NOTHING;
}
