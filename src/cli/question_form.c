/*
 * question_form.c - ask the user for values that fit a JSON Schema
 *
 * Choices are those of `enum`, with the names of `enumNames`, or of `oneOf` or
 * `anyOf` with `const` and `title`, as servers of MCP send them; of `items`, if
 * several can be chosen.
 */
#include "cli/question_form.h"

#include "cli/print.h"
#include "conf/member.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_CHOICES = 100 };

/* The schemas to which a value can be set. */
struct choice_list {
    size_t count;
    struct question_choice rows[MOST_CHOICES];
    const allm_json *values[MOST_CHOICES];
};

static void add_choice(struct choice_list *c, const allm_json *value,
                       const char *label)
{
    const char *text = label ? label : allm_json_text(value, NULL);
    if (!value || !text || c->count == MOST_CHOICES)
        return;
    c->rows[c->count].label = text;
    c->values[c->count++] = value;
}

static void list_choices(struct choice_list *c, const allm_json *schema)
{
    const allm_json *words = allm_json_get(schema, "enum");
    const allm_json *names = allm_json_get(schema, "enumNames");
    const allm_json *rows = allm_json_get(schema, "oneOf");
    if (!rows)
        rows = allm_json_get(schema, "anyOf");
    for (size_t i = 0; i < allm_json_count(words); i++)
        add_choice(c, allm_json_at(words, i),
                   allm_json_text(allm_json_at(names, i), NULL));
    for (const allm_json *r = NULL; (r = allm_json_next(rows, r));)
        add_choice(c, allm_json_get(r, "const"), member_read(r, "title"));
}

/* The message of the first fault; "": the value fits.  The caller frees *list,
 * which owns it. */
static const char *first_fault(const allm_json *schema, const allm_json *value,
                               allm_json **list)
{
    *list = NULL;
    if (!value)
        return "give the numbers of your choices, such as: 1 2";
    if (allm_json_error(value))
        return "this is not JSON";
    allm_json_schema *compiled = allm_json_schema_new(schema);
    const allm_error *wrong = allm_json_schema_error(compiled);
    *list = wrong ? NULL : allm_json_schema_check(compiled, value);
    const char *fault = *list ? member_read(allm_json_at(*list, 0), "message")
                              : "the question has an invalid schema";
    allm_json_schema_free(compiled);
    return fault ? fault : "";
}

/* "2, 1": the choices with these numbers; NULL: this is something else. */
static allm_json *read_numbers(const struct choice_list *c, const char *line)
{
    bool good = true;
    allm_json_build *b = member_new_array();
    while (good && *(line += strspn(line, " ,"))) {
        char *end;
        unsigned long n = strtoul(line, &end, 10);
        good = end > line && n && n <= c->count;
        if (good)
            allm_json_build_value(b, c->values[n - 1]);
        line = end;
    }
    allm_json *list = member_done(b);
    if (good)
        return list;
    allm_json_free(list);
    return NULL;
}

/* What a line means: numbers of choices, if there are some, text for a string,
 * else JSON, or the default. */
static allm_json *read_value(const allm_json *schema,
                             const struct choice_list *c,
                             const struct bytes *line)
{
    const char *type = member_read(schema, "type");
    const allm_json *preset = allm_json_get(schema, "default");
    if (!line->len && preset)
        return allm_json_copy(preset);
    if (c->count && !memchr(bytes_string(line), '[', line->len))
        return read_numbers(c, bytes_string(line));
    if (!type || !strcmp(type, "string"))
        return member_alone(bytes_string(line), line->len);
    return allm_json_parse(bytes_string(line), line->len, NULL);
}

/* Ask for a line until it fits.  NULL: the user left, or, if the value may be
 * missing, left it empty. */
static allm_json *ask_line(const allm_json *schema, const struct choice_list *c,
                           bool optional, bool *left)
{
    struct bytes line = { NULL, 0, 0 };
    allm_json *value = NULL, *faults = NULL;
    bool fits = false;
    while (!fits && (*left = !question_line("> ", &line)) == false) {
        bool none = optional && !line.len && !allm_json_get(schema, "default");
        value = none ? NULL : read_value(schema, c, &line);
        const char *fault = none ? "" : first_fault(schema, value, &faults);
        fits = !*fault;
        if (!fits) {
            print_note("  (%s)", fault);
            allm_json_free(value);
            value = NULL;
        }
        allm_json_free(faults);
        faults = NULL;
        bytes_clear(&line);
    }
    bytes_release(&line);
    return value;
}

/* One of the choices; Enter is the default, if there is one, or nothing. */
static allm_json *ask_choice(const struct question *q,
                             const struct choice_list *c,
                             const allm_json *preset, bool optional, bool *left)
{
    struct question with = *q;
    with.skips = preset || optional;
    with.count = c->count;
    with.choices = c->rows;
    int choice = question_choose(&with);
    *left = choice < 0;
    const allm_json *value = *left                    ? NULL
                             : choice < (int)c->count ? c->values[choice]
                                                      : preset;
    return value ? allm_json_copy(value) : NULL;
}

static allm_json *ask_yes_or_no(const struct question *q,
                                const allm_json *preset, bool optional,
                                bool *left)
{
    allm_json *both = allm_json_parse("[true, false]", ALLM_NUL_ENDED, NULL);
    const struct choice_list c = {
        .count = 2,
        .rows = { { 'y', "[y]es" }, { 'n', "[n]o" } },
        .values = { allm_json_at(both, 0), allm_json_at(both, 1) },
    };
    allm_json *value = ask_choice(q, &c, preset, optional, left);
    allm_json_free(both);
    return value;
}

/* The choices, as lines of the body, and a line with the numbers of some. */
static allm_json *ask_several(const struct question *q,
                              const struct choice_list *c,
                              const allm_json *schema, bool optional,
                              bool *left)
{
    struct question with = *q;
    struct bytes body = { NULL, 0, 0 };
    bytes_add(&body, q->body ? q->body : "", q->body_len);
    for (size_t i = 0; i < c->count; i++)
        bytes_format(&body, "%s%zu  %s", body.len ? "\n" : "", i + 1,
                     c->rows[i].label);
    with.body = bytes_string(&body);
    with.body_len = body.len;
    with.whole = true;
    question_show(&with);
    bytes_release(&body);
    return ask_line(schema, c, optional, left);
}

static allm_json *ask_value(const struct question *q, const allm_json *schema,
                            bool optional, bool *left)
{
    struct choice_list c = { 0 };
    const char *type = member_read(schema, "type");
    const allm_json *preset = allm_json_get(schema, "default");
    bool several = type && !strcmp(type, "array");
    *left = !question_possible();
    if (*left)
        return NULL;
    list_choices(&c, several ? allm_json_get(schema, "items") : schema);
    if (c.count && several)
        return ask_several(q, &c, schema, optional, left);
    if (c.count)
        return ask_choice(q, &c, preset, optional, left);
    if (type && !strcmp(type, "boolean"))
        return ask_yes_or_no(q, preset, optional, left);
    question_show(q);
    return ask_line(schema, &c, optional, left);
}

allm_json *question_form_value(const struct question *q,
                               const allm_json *schema)
{
    bool left;
    return ask_value(q, schema, false, &left);
}

static bool is_required(const allm_json *schema, const char *name)
{
    const allm_json *names = allm_json_get(schema, "required");
    for (const allm_json *n = NULL; (n = allm_json_next(names, n));) {
        const char *text = allm_json_text(n, NULL);
        if (text && !strcmp(text, name))
            return true;
    }
    return false;
}

/* "Size (optional, default 3)" */
static void write_title(struct bytes *title, const char *name,
                        const allm_json *schema, bool optional)
{
    const char *words = member_read(schema, "title");
    const allm_json *preset = allm_json_get(schema, "default");
    allm_text *text = preset ? allm_json_write(preset, 0) : NULL;
    const char *value = text ? allm_text_bytes(text, NULL) : NULL;
    bytes_text(title, words ? words : name);
    if (value)
        bytes_format(title, " (default %s)", value);
    else if (optional)
        bytes_text(title, " (optional)");
    allm_text_free(text);
}

/* Ask for one property and add it; false: the user left. */
static bool ask_property(allm_json_build *b, const char *name,
                         const allm_json *schema, bool optional)
{
    struct bytes title = { NULL, 0, 0 };
    const char *body = member_read(schema, "description");
    bool left = false;
    write_title(&title, name, schema, optional);
    const struct question q = { .title = bytes_string(&title), .body = body,
                                .body_len = body ? strlen(body) : 0 };
    allm_json *value = ask_value(&q, schema, optional, &left);
    if (value)
        member_value(b, name, value);
    allm_json_free(value);
    bytes_release(&title);
    return !left;
}

allm_json *question_form_fill(const struct question *q, const allm_json *schema)
{
    const allm_json *rows = allm_json_get(schema, "properties");
    allm_json_build *b = allm_json_build_new(NULL);
    bool all = question_possible();
    if (all)
        question_show(q);
    allm_json_build_object(b);
    for (const allm_json *k = NULL; all && (k = allm_json_next(rows, k));) {
        const char *name = allm_json_text(k, NULL);
        all = ask_property(b, name, allm_json_value(k),
                           !is_required(schema, name));
    }
    allm_json *value = member_done(b);
    if (all)
        return value;
    allm_json_free(value);
    return NULL;
}
