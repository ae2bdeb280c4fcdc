/* schema_words.c - the short form of a JSON Schema */
#include "cli/schema_words.h"

#include "cli/print.h"
#include "conf/member.h"

#include <string.h>

/* A piece of the text. */
struct piece {
    const char *at;
    size_t len;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct piece trim(struct piece p)
{
    while (p.len && is_space(*p.at)) {
        p.at++;
        p.len--;
    }
    while (p.len && is_space(p.at[p.len - 1]))
        p.len--;
    return p;
}

/* Take the piece before any of these characters off the front of p. */
static struct piece cut_at(struct piece *p, const char *ends)
{
    size_t n = 0;
    while (n < p->len && !strchr(ends, p->at[n]))
        n++;
    struct piece first = { p->at, n };
    if (n < p->len)
        n++; /* the separator */
    p->at += n;
    p->len -= n;
    return trim(first);
}

/* The name of a type in JSON Schema; NULL: it is unknown. */
static const char *type_of(struct piece word)
{
    static const char *const types[][2] = {
        { "str", "string" },
        { "int", "integer" },
        { "float", "number" },
        { "bool", "boolean" },
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i][0]) == word.len &&
            !memcmp(types[i][0], word.at, word.len))
            return types[i][1];
    return word.len ? NULL : "string";
}

static void put_type(allm_json_build *b, const char *type)
{
    member_text(b, "type", type);
}

/* Write the members of a type: T, or [T]. */
static bool put_types(allm_json_build *b, struct piece word)
{
    bool list = word.len >= 2 && word.at[0] == '[' &&
                word.at[word.len - 1] == ']';
    struct piece inner = list
                             ? trim((struct piece){ word.at + 1,
                                                     word.len - 2 })
                             : word;
    const char *type = type_of(inner);
    if (!type)
        return print_fault(
            "--schema: \"%.*s\" is not a type; the types are str, int, float, "
            "bool and [T]",
            (int)(word.len < 100 ? word.len : 100), word.at);
    if (!list) {
        put_type(b, type);
        return true;
    }
    put_type(b, "array");
    member_object(b, "items");
    put_type(b, type);
    allm_json_build_end(b);
    return true;
}

static bool is_name(struct piece p)
{
    for (size_t i = 0; i < p.len; i++) {
        char c = p.at[i];
        bool digit = c >= '0' && c <= '9';
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
              (i && (digit || c == '-'))))
            return false;
    }
    return p.len > 0 && p.len < 64;
}

/* Copy the name of a field; false: it is not a name, and an error was
 * printed. */
static bool read_name(struct piece field, char name[64])
{
    if (!is_name(field))
        return print_fault(
            "--schema: \"%.*s\" is not the name of a field; write 'name, age "
            "int, tags [str]', or name a file",
            (int)(field.len < 100 ? field.len : 100), field.at);
    memcpy(name, field.at, field.len);
    name[field.len] = 0;
    return true;
}

static bool put_field(allm_json_build *b, struct piece field)
{
    char name[64];
    struct piece about = field;
    struct piece head = cut_at(&about, ":");
    struct piece word = cut_at(&head, " \t");
    if (!read_name(word, name))
        return false;
    member_object(b, name);
    if (!put_types(b, trim(head)))
        return false;
    about = trim(about);
    if (about.len)
        member_text_n(b, "description", about.at, about.len);
    allm_json_build_end(b);
    return true;
}

static bool put_fields(allm_json_build *b, struct piece all, const char *ends)
{
    size_t count = 0;
    while (all.len) {
        struct piece field = cut_at(&all, ends);
        if (field.len && !put_field(b, field))
            return false;
        count += field.len > 0;
    }
    if (!count)
        print_fault("--schema: there is no field in it");
    return count > 0;
}

/* The names of the fields are those of `properties`. */
static allm_json *close_schema(allm_json *properties)
{
    allm_json_build *b = member_new_object();
    put_type(b, "object");
    member_value(b, "properties", properties);
    member_array(b, "required");
    for (const allm_json *k = NULL; (k = allm_json_next(properties, k));)
        allm_json_build_value(b, k);
    allm_json_build_end(b);
    member_bool(b, "additionalProperties", false);
    return member_done(b);
}

allm_json *schema_words_read(const char *text)
{
    allm_json_build *b = member_new_object();
    bool ok = put_fields(b, (struct piece){ text, strlen(text) },
                         strchr(text, '\n') ? "\n" : ",");
    if (ok)
        allm_json_build_end(b);
    allm_json *properties = allm_json_build_done(b);
    const allm_error *error = allm_json_error(properties);
    if (ok && error)
        print_fault("--schema: %s", strstr(error->message, "twice")
                                        ? "a field occurs twice"
                                        : error->message);
    allm_json *schema = ok && !error ? close_schema(properties) : NULL;
    allm_json_free(properties);
    return schema;
}
