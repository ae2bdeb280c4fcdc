/* template_fill.c - replace the placeholders of a template by values */
#include "conf/template.h"

#include "conf/member.h"

#include <string.h>

enum { NAME = 64 };

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"

/* The length of the name at the beginning of a text; 0: there is none. */
static size_t name_length(const char *text)
{
    if (!*text || !strchr(LETTERS, *text))
        return 0;
    return strspn(text, LETTERS "0123456789");
}

/* The placeholder at a dollar sign: its length and its name; 0: it is none. */
static size_t read_placeholder(const char *at, char name[NAME])
{
    bool braces = at[1] == '{';
    size_t n = name_length(at + 1 + braces);
    if (!n || n >= NAME || (braces && at[2 + n] != '}'))
        return 0;
    memcpy(name, at + 1 + braces, n);
    name[n] = '\0';
    return n + 1 + 2 * (size_t)braces;
}

/* The next placeholder from *at on, which moves behind it; false: none. */
static bool next_placeholder(const char **at, char name[NAME])
{
    while ((*at = strchr(*at, '$'))) {
        size_t n = read_placeholder(*at, name);
        *at += n ? n : (*at)[1] == '$' ? 2 : 1;
        if (n)
            return true;
    }
    return false;
}

bool template_uses(const struct template_file *t, const char *name)
{
    char found[NAME];
    const char *at = bytes_string(&t->body);
    while (next_placeholder(&at, found))
        if (!strcmp(found, name))
            return true;
    return false;
}

static const allm_json *param_of(const struct template_file *t,
                                 const char *name)
{
    return allm_json_get(allm_json_get(t->header, "params"), name);
}

/* Append the value of a placeholder; false: it has none. */
static bool put_value(const struct template_file *t,
                      const struct template_values *v, const char *name,
                      struct bytes *out)
{
    const allm_json *value = allm_json_get(v->params, name);
    if (!value && v->input && !strcmp(name, "input")) {
        bytes_add(out, v->input, v->input_len);
        return true;
    }
    if (!value)
        value = allm_json_get(param_of(t, name), "default");
    if (value)
        member_show(out, value);
    return value != NULL;
}

/* Append a name to a list, unless it is there. */
static void add_name(struct bytes *list, const char *name)
{
    size_t n = strlen(name);
    const char *at = bytes_string(list);
    while ((at = strstr(at, name))) {
        bool begins = at == list->ptr || at[-1] == ' ';
        if (begins && (!at[n] || at[n] == ','))
            return;
        at += n;
    }
    bytes_format(list, "%s%s", list->len ? ", " : "", name);
}

/* Append the text with its placeholders replaced. */
static bool fill_text(const struct template_file *t,
                      const struct template_values *v, const char *text,
                      struct bytes *out)
{
    struct bytes missing = { NULL, 0, 0 };
    size_t before = out->len;
    char name[NAME];
    while (*text) {
        size_t n = strcspn(text, "$");
        bytes_add(out, text, n);
        text += n;
        n = *text ? read_placeholder(text, name) : 0;
        if (n && !put_value(t, v, name, out))
            add_name(&missing, name);
        else if (!n && *text)
            bytes_byte(out, '$');
        text += n ? n : !*text ? 0 : text[1] == '$' ? 2 : 1;
    }
    bool whole = !missing.len;
    if (!whole)
        bytes_splice(out, before, out->len - before, missing.ptr, missing.len);
    bytes_release(&missing);
    return whole;
}

bool template_fill(const struct template_file *t,
                   const struct template_values *v, struct bytes *out)
{
    return fill_text(t, v, bytes_string(&t->body), out);
}

bool template_fill_system(const struct template_file *t,
                          const struct template_values *v, struct bytes *out)
{
    const char *system = template_text(t, "system");
    return !system || fill_text(t, v, system, out);
}

/* ---------------------------------------------------------- describe --- */

static void describe_param(const struct template_file *t, const char *name,
                           struct bytes *out)
{
    const allm_json *param = param_of(t, name);
    const allm_json *standard = allm_json_get(param, "default");
    const char *about = member_read(param, "description");
    if (!about && !strcmp(name, "input"))
        about = "the piped text, or else the arguments";
    bytes_format(out, about || standard ? "  %-16s" : "  %s", name);
    if (about)
        bytes_format(out, " %s", about);
    if (standard) {
        bytes_text(out, " (default: ");
        member_show(out, standard);
        bytes_byte(out, ')');
    }
    bytes_byte(out, '\n');
}

void template_describe(const struct template_file *t, struct bytes *out)
{
    struct bytes done = { NULL, 0, 0 };
    const allm_json *params = allm_json_get(t->header, "params");
    char name[NAME];
    const char *const texts[] = { bytes_string(&t->body),
                                  template_text(t, "system") };
    for (const allm_json *k = NULL; (k = allm_json_next(params, k));) {
        describe_param(t, allm_json_text(k, NULL), out);
        add_name(&done, allm_json_text(k, NULL));
    }
    for (size_t i = 0; i < 2; i++)
        for (const char *at = texts[i] ? texts[i] : "";
             next_placeholder(&at, name);) {
            size_t before = done.len;
            add_name(&done, name);
            if (done.len > before)
                describe_param(t, name, out);
        }
    bytes_release(&done);
}
