/* model_table.c - filter models, and print them as a table */
#include "cli/model_table.h"

#include "cli/print.h"
#include "conf/member.h"

#include <stdio.h>
#include <string.h>

static const char *mode_of(const allm_model_ref *m)
{
    return member_or(m->metadata, "mode", "chat");
}

/* Does the model have this capability, or this purpose ("embedding")? */
static bool has_capability(const allm_model_ref *m, const char *what)
{
    const allm_json *has = allm_json_get(m->capabilities, what);
    return allm_json_true(has) ||
           allm_json_true(allm_json_get(has, "enabled")) ||
           !strcmp(mode_of(m), what);
}

/* Copy the next word of a list to `word`; false: end of the list. */
static bool next_word(const char **list, char word[64])
{
    *list += strspn(*list, ",");
    size_t n = strcspn(*list, ",");
    snprintf(word, 64, "%.*s", (int)(n < 63 ? n : 63), *list);
    *list += n;
    return n > 0;
}

static bool has_capabilities(const allm_model_ref *m, const char *list)
{
    char word[64];
    while (next_word(&list, word))
        if (!has_capability(m, word))
            return false;
    return true;
}

static bool any_model_has(const allm_catalog *catalog, const char *what)
{
    const allm_model_ref *m;
    for (size_t i = 0; (m = allm_catalog_at(catalog, i)); i++)
        if (has_capability(m, what))
            return true;
    return false;
}

bool model_filter_check_can(const struct model_filter *f,
                            const allm_catalog *catalog, char word[64])
{
    const char *list = f->can ? f->can : "";
    while (next_word(&list, word))
        if (!any_model_has(catalog, word))
            return false;
    return true;
}

bool model_filter_matches_name(const struct model_filter *f, const char *name)
{
    for (int i = 0; i < f->count; i++)
        if (!strstr(name, f->words[i]))
            return false;
    return true;
}

static void write_name(char *name, size_t size, const allm_model_ref *m)
{
    snprintf(name, size, "%s%s%s", m->provider ? m->provider : "",
             m->provider ? ":" : "", m->id);
}

bool model_filter_fits(const struct model_filter *f, const allm_model_ref *m)
{
    char name[512];
    write_name(name, sizeof name, m);
    if (f->provider && (!m->provider || strcmp(f->provider, m->provider) != 0))
        return false;
    return model_filter_matches_name(f, name) &&
           (!f->can || has_capabilities(m, f->can));
}

struct cells {
    char name[512], context[32], price[64], able[128];
};

/* 128000 is 128k, 1048576 is 1.05M. */
static void write_count(char *text, size_t size, int64_t n)
{
    if (n >= 1000000)
        snprintf(text, size, "%.3gM", (double)n / 1e6);
    else if (n >= 1000)
        snprintf(text, size, "%.3gk", (double)n / 1e3);
    else if (n > 0)
        snprintf(text, size, "%d", (int)n);
    else
        *text = 0;
}

static void write_price(char *text, size_t size, const allm_json *pricing)
{
    const allm_json *in = allm_json_get(pricing, "input");
    const allm_json *out = allm_json_get(pricing, "output");
    const allm_json *image = allm_json_get(pricing, "image");
    *text = 0;
    if (in && out)
        snprintf(text, size, "$%g/$%g", allm_json_number(in),
                 allm_json_number(out));
    else if (in || out)
        snprintf(text, size, "$%g", allm_json_number(in ? in : out));
    else if (image)
        snprintf(text, size, "$%g each", allm_json_number(image));
}

static void append_word(char *text, size_t size, const char *word)
{
    size_t len = strlen(text);
    snprintf(text + len, size - len, "%s%s", len ? " " : "", word);
}

static void write_abilities(char *text, size_t size, const allm_model_ref *m)
{
    static const char *const words[] = { "tools", "vision", "reasoning" };
    char until[32];
    const char *end = member_read(m->metadata, "deprecated");
    *text = 0;
    if (strcmp(mode_of(m), "chat") != 0)
        append_word(text, size, mode_of(m));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has_capability(m, words[i]))
            append_word(text, size, words[i]);
    snprintf(until, sizeof until, "until %.10s", end ? end : "");
    if (end)
        append_word(text, size, until);
}

static void write_cells(struct cells *c, const allm_model_ref *m)
{
    int64_t context = 0;
    allm_json_int64(allm_json_get(m->limits, "context"), &context);
    write_name(c->name, sizeof c->name, m);
    write_count(c->context, sizeof c->context, context);
    write_price(c->price, sizeof c->price, m->pricing);
    write_abilities(c->able, sizeof c->able, m);
}

static void widen_column(int *width, const char *text)
{
    int n = (int)strlen(text);
    if (n > *width)
        *width = n;
}

void model_table_measure(struct model_table *t, const allm_model_ref *m)
{
    struct cells c;
    write_cells(&c, m);
    widen_column(&t->name, c.name);
    widen_column(&t->context, c.context);
    widen_column(&t->price, c.price);
}

/* Print a row without spaces at the end of the line. */
static void print_row(const struct model_table *t, const struct cells *c)
{
    char line[1024];
    int n = snprintf(line, sizeof line - 1, "%-*s  %*s  %-*s  %s", t->name,
                     c->name, t->context, c->context, t->price, c->price,
                     c->able);
    size_t len = n > 0 ? strlen(line) : 0;
    while (len && line[len - 1] == ' ')
        len--;
    line[len++] = '\n';
    print_bytes(line, len);
}

void model_table_begin(const struct model_table *t)
{
    struct cells c = { "MODEL", "READS", "$ IN/OUT", "CAN" };
    if (print_is_terminal())
        print_row(t, &c);
}

void model_table_print(const struct model_table *t, const allm_model_ref *m)
{
    struct cells c;
    write_cells(&c, m);
    print_row(t, &c);
}
