/*
 * settings_schema.c - the JSON Schema of a file of settings
 *
 * The rows are in the order of the manual, so the rows of a group follow each
 * other: "output.color" and "output.width" share the object "output".
 */
#include "conf/settings.h"

#include "conf/member.h"

#include <string.h>

static void put_words(allm_json_build *b, const char *words)
{
    member_array(b, "enum");
    for (const char *w = words; *w; w += strspn(w, "|")) {
        size_t n = strcspn(w, "|");
        allm_json_build_text(b, w, n);
        w += n;
    }
    allm_json_build_end(b);
}

static void put_list(allm_json_build *b)
{
    member_text(b, "type", "array");
    member_object(b, "items");
    member_text(b, "type", "string");
    allm_json_build_end(b);
}

static void put_range(allm_json_build *b, const char *type)
{
    member_text(b, "type", type);
    member_int(b, "minimum", 0);
}

/* {"type": ["string", other]} */
static void put_text_or(allm_json_build *b, const char *other)
{
    member_array(b, "type");
    allm_json_build_text(b, "string", ALLM_NUL_ENDED);
    allm_json_build_text(b, other, ALLM_NUL_ENDED);
    allm_json_build_end(b);
}

/* A number, or a string of this form. */
static void put_number_or(allm_json_build *b, const char *pattern)
{
    put_text_or(b, "number");
    member_text(b, "pattern", pattern);
    member_int(b, "minimum", 0);
}

static void put_models(allm_json_build *b)
{
    put_text_or(b, "array");
    member_object(b, "items");
    member_text(b, "type", "string");
    allm_json_build_end(b);
    member_int(b, "minItems", 1);
}

static void put_member(allm_json_build *b, const char *key, const char *type)
{
    member_object(b, key);
    member_text(b, "type", type);
    allm_json_build_end(b);
}

static void put_alias(allm_json_build *b)
{
    put_text_or(b, "object");
    member_object(b, "properties");
    put_member(b, "model", "string");
    put_member(b, "system", "string");
    put_member(b, "options", "object");
    allm_json_build_end(b);
    member_array(b, "required");
    allm_json_build_text(b, "model", 5);
    allm_json_build_end(b);
    member_bool(b, "additionalProperties", false);
}

static void put_setting(allm_json_build *b, const struct setting *s)
{
    static const char *const types[] = { "string", "boolean", "integer",
                                         "number" };
    allm_json_build_object(b);
    member_text(b, "description", s->help);
    switch (s->kind) {
    case SETTING_TEXT:
    case SETTING_BOOL:
        member_text(b, "type", types[s->kind]);
        break;
    case SETTING_COUNT:
    case SETTING_NUMBER:
        put_range(b, types[s->kind]);
        break;
    case SETTING_SECONDS:
        put_number_or(b, "^[0-9]+(\\.[0-9]+)?[smh]?$");
        break;
    case SETTING_LEVEL:
        put_number_or(b, "^(none|low|medium|high|[0-9]+)$");
        break;
    case SETTING_WORD:
        put_words(b, s->words);
        break;
    case SETTING_LIST:
        put_list(b);
        break;
    case SETTING_MODELS:
        put_models(b);
        break;
    case SETTING_ALIAS:
        put_alias(b);
        break;
    case SETTING_OBJECT:
        member_text(b, "type", "object");
        break;
    }
    allm_json_build_end(b);
}

/* Do the first n bytes of both keys agree, and is there a step after them? */
static bool is_below(const struct setting *s, const char *key, size_t n)
{
    return s && !strncmp(s->key, key, n);
}

/*
 * The object of the rows from *at on whose keys begin with these n bytes, which
 * are empty or end in a dot.  "*" are the names that have no row.
 */
static void put_object(allm_json_build *b, size_t *at, const char *prefix,
                       size_t n);

static void put_step(allm_json_build *b, size_t *at, size_t n)
{
    const struct setting *s = setting_at(*at);
    size_t step = strcspn(s->key + n, ".");
    if (s->key[n + step]) {
        put_object(b, at, s->key, n + step + 1);
    } else {
        put_setting(b, s);
        ++*at;
    }
}

static void put_object(allm_json_build *b, size_t *at, const char *prefix,
                       size_t n)
{
    bool others = false;
    allm_json_build_object(b);
    member_text(b, "type", "object");
    member_object(b, "properties");
    if (!n)
        put_member(b, "$schema", "string");
    for (const struct setting *s;
         is_below(s = setting_at(*at), prefix, n) && s->key[n] != '*';) {
        char name[64] = "";
        memcpy(name, s->key + n, strcspn(s->key + n, "."));
        allm_json_build_key(b, name);
        put_step(b, at, n);
    }
    allm_json_build_end(b);
    allm_json_build_key(b, "additionalProperties");
    others = is_below(setting_at(*at), prefix, n);
    if (others)
        put_step(b, at, n);
    else
        allm_json_build_bool(b, false);
    allm_json_build_end(b);
}

allm_json *setting_schema(void)
{
    size_t at = 0;
    allm_json_build *b = allm_json_build_new(NULL);
    put_object(b, &at, "", 0);
    allm_json *body = allm_json_build_done(b);
    b = member_new_object();
    member_text(b, "$schema", "https://json-schema.org/draft/2020-12/schema");
    member_text(b, "title", "the configuration of allm");
    allm_json *head = member_done(b);
    allm_json *schema = allm_json_merge(head, body);
    allm_json_free(head);
    allm_json_free(body);
    return schema;
}
