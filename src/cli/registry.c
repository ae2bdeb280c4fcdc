/* registry.c - find providers and dialects by the name that the user wrote */
#include "cli/registry.h"

#include "cli/print.h"
#include "cli/suggest.h"
#include "conf/member.h"

#include <stdio.h>
#include <string.h>

const allm_json *registry_list(void)
{
    static allm_json *list; /* as long as the process lives */
    if (!list)
        list = allm_registry_list();
    return list;
}

const allm_json *registry_next(const allm_json *row)
{
    return allm_json_next(registry_list(), row);
}

bool registry_is_http(const allm_json *row)
{
    return allm_json_true(allm_json_get(row, "http"));
}

bool registry_is_keyless(const allm_json *row)
{
    return allm_json_true(allm_json_get(row, "keyless"));
}

const allm_json *registry_row(const char *name, size_t len)
{
    for (const allm_json *row = NULL; (row = registry_next(row));) {
        const char *is = member_read(row, "name");
        if (is && strlen(is) == len && !memcmp(is, name, len))
            return row;
    }
    return NULL;
}

void registry_note_schema(const char *model)
{
    const char *colon = strchr(model, ':');
    const allm_json *row = colon ? registry_row(model, (size_t)(colon - model))
                                 : NULL;
    const char *other = member_read(row, "schema_provider");
    if (other)
        print_note("%s ignores --schema; -m %s%s uses the same server with it",
                   member_read(row, "name"), other, colon);
}

bool registry_fetches(const char *model, const char *url)
{
    static const char own[] = "https://generativelanguage.googleapis.com/";
    const allm_json *row = registry_row(model, strcspn(model, ":"));
    const char *dialect = member_read(row, "dialect");
    bool gemini = dialect && !strcmp(dialect, "gemini");
    bool ollama = dialect && !strcmp(dialect, "ollama");
    return !ollama && (!gemini || !strncmp(url, own, sizeof own - 1));
}

bool registry_is_first(const allm_json *row)
{
    const char *dialect = member_read(row, "dialect");
    const allm_json *at = NULL;
    while ((at = registry_next(at)) && at != row)
        if (!strcmp(member_read(at, "dialect"), dialect))
            return false;
    return true;
}

/* A list of names; those that do not fit are left out. */
struct names {
    char text[4096];
    size_t len;
    struct suggest near;
};

static void add_name(struct names *n, const char *name)
{
    suggest_try(&n->near, name);
    int more = snprintf(n->text + n->len, sizeof n->text - n->len, "%s%s",
                        n->len ? ", " : "", name);
    if (more > 0 && (size_t)more < sizeof n->text - n->len)
        n->len += (size_t)more;
    n->text[n->len] = 0;
}

static int reject_name(struct names *n, const char *what, const char *name)
{
    print_fault("unknown %s \"%.100s\"%s", what, name, suggest_hint(&n->near));
    return print_misuse("known %ss: %s", what, n->text);
}

const char *registry_hint(const char *name, size_t len)
{
    char word[SUGGEST_LONGEST + 1];
    static struct suggest s;
    if (len >= sizeof word)
        return "";
    snprintf(word, sizeof word, "%.*s", (int)len, name);
    suggest_begin(&s, word);
    for (const allm_json *row = NULL; (row = registry_next(row));)
        suggest_try(&s, member_read(row, "name"));
    return suggest_hint(&s);
}

int registry_reject_dialect(const char *name)
{
    struct names n = { .len = 0 };
    suggest_begin(&n.near, name);
    for (const allm_json *row = NULL; (row = registry_next(row));)
        if (registry_is_http(row) && registry_is_first(row))
            add_name(&n, member_read(row, "dialect"));
    return reject_name(&n, "dialect", name);
}

int registry_reject_provider(const char *name, size_t len)
{
    char word[101];
    struct names n = { .len = 0 };
    snprintf(word, sizeof word, "%.*s", len < 100 ? (int)len : 100, name);
    suggest_begin(&n.near, word);
    for (const allm_json *row = NULL; (row = registry_next(row));)
        if (registry_is_http(row))
            add_name(&n, member_read(row, "name"));
    return reject_name(&n, "provider", word);
}
