/* reader.c - read a file of settings: parse, expand variables, check */
#include "conf/reader.h"

#include "conf/expand.h"
#include "conf/keyring.h"
#include "conf/member.h"

#include <stdio.h>
#include <string.h>

enum { POINTER = 1024, TEXT = 700, MOST_FAULTS = 30 };

static const allm_json_opts allowed = { .size = sizeof allowed,
                                        .flags = ALLM_JSON_COMMENTS };

void reader_release(struct reader *r)
{
    allm_json_schema_free(r->schema);
    r->schema = NULL;
}

static void report_notice(struct reader *r, struct notice n)
{
    n.fatal = n.fatal && !r->soft;
    r->failed |= n.fatal;
    if (!n.origin)
        n.origin = r->file;
    r->report(r->ud, &n);
}

void reader_skip_mark(struct bytes *text)
{
    if (text->len >= 3 && !memcmp(text->ptr, "\xEF\xBB\xBF", 3))
        bytes_skip(text, 3);
}

/* ------------------------------------------------------------- parse --- */

static size_t line_of(const char *text, size_t at)
{
    size_t line = 1;
    for (size_t i = 0; i < at; i++)
        line += text[i] == '\n';
    return line;
}

size_t reader_line(const struct bytes *text, const char *pointer)
{
    size_t from, to;
    if (!text || allm_json_span(bytes_string(text), text->len, &allowed,
                                pointer, &from, &to) != ALLM_OK)
        return 0;
    return line_of(text->ptr, from);
}

/* The line of the first of two equal keys in the object at the pointer; 0:
 * unknown.  The second one, at `at`, is made a different one, so that the text
 * can be read. */
static size_t line_of_first(const struct bytes *text, size_t at,
                            const char *pointer)
{
    char path[2 * POINTER];
    struct bytes copy = { NULL, 0, 0 };
    size_t end = at + 1, line = 0;
    bytes_add(&copy, text->ptr, text->len);
    while (end < copy.len && copy.ptr[end] != '"')
        end += copy.ptr[end] == '\\' ? 2 : 1;
    allm_json *key = end > at + 1 && end < copy.len
                         ? allm_json_parse(copy.ptr + at, end - at + 1, NULL)
                         : NULL;
    const char *name = allm_json_text(key, NULL);
    if (name && setting_pointer_below(pointer, name, path, sizeof path)) {
        copy.ptr[at + 1] = copy.ptr[at + 1] == '~' ? '-' : '~';
        line = reader_line(&copy, path);
    }
    allm_json_free(key);
    bytes_release(&copy);
    return line;
}

/* "the JSON text was refused: WHY at line 3, column 4 (path ..); ADVICE": only
 * WHY, since the line is reported apart. */
static void shorten_reason(char *out, size_t size, const char *message)
{
    const char *why = strstr(message, ": ");
    why = why ? why + 2 : message;
    const char *end = strstr(why, " at line ");
    snprintf(out, size, "%.*s", (int)(end ? end - why : (long)strlen(why)),
             why);
}

static void report_syntax(struct reader *r, const struct bytes *text,
                          const allm_error *e)
{
    char why[TEXT], message[TEXT + 100];
    uint64_t line = 0, offset = 0;
    const char *detail = member_read(e->metadata, "detail");
    const char *path = member_read(e->metadata, "path");
    allm_json_uint64(allm_json_get(e->metadata, "line"), &line);
    allm_json_uint64(allm_json_get(e->metadata, "offset"), &offset);
    shorten_reason(why, sizeof why, e->message);
    size_t first = detail && path && !strcmp(detail, "key")
                       ? line_of_first(text, (size_t)offset, path)
                       : 0;
    snprintf(message, sizeof message, "%s", why);
    if (first)
        snprintf(message, sizeof message, "%s; it is in line %zu, too", why,
                 first);
    report_notice(r, (struct notice){ .fatal = true,
                                      .line = (size_t)line,
                                      .text = message });
}

allm_json *reader_parse(struct reader *r, const struct bytes *text)
{
    const char *bytes = bytes_string(text);
    bool empty = strspn(bytes, " \t\r\n") == text->len;
    allm_json *value = empty ? allm_json_parse("{}", 2, NULL)
                             : allm_json_parse(bytes, text->len, &allowed);
    const allm_error *error = allm_json_error(value);
    if (!error && allm_json_type_of(value) == ALLM_JSON_OBJECT)
        return value;
    if (error)
        report_syntax(r, text, error);
    else
        report_notice(
            r,
            (struct notice){
                .fatal = true,
                .line = 1,
                .text =
                    "expected an object with settings: { \"model\": ... }" });
    allm_json_free(value);
    return NULL;
}

/* ------------------------------------------------------------ expand --- */

struct expansion {
    struct reader *reader;
    const struct bytes *text;
};

static void report_variable(struct expansion *x, const char *path,
                            enum expand_result result, const char *name)
{
    char text[TEXT], pointer[POINTER];
    size_t line = setting_pointer(path, pointer, sizeof pointer)
                      ? reader_line(x->text, pointer)
                      : 0;
    if (result == EXPAND_OPEN)
        snprintf(
            text, sizeof text,
            "%.200s has a \"${\" that is not followed by a name and \"}\"; "
            "write ${NAME}, ${NAME:-default}, or $$ for a dollar sign",
            path);
    else if (result == EXPAND_SECRET)
        snprintf(text, sizeof text,
                 "%.200s is ignored: a project may not use the key in $%s",
                 path, name);
    else
        snprintf(text, sizeof text,
                 "%.200s is ignored: the variable %s is not set; write "
                 "${%s:-default} to give a default",
                 path, name, name);
    report_notice(x->reader, (struct notice){ .fatal = result == EXPAND_OPEN,
                                              .line = line,
                                              .text = text });
}

/* Is it a key, or where a key may be sent? */
static bool has_keys(const struct setting *s)
{
    return s && (!strcmp(s->key, "providers.*.key") ||
                 !strcmp(s->key, "providers.*.headers"));
}

static allm_json *expand_setting(void *ud, const char *path,
                                 const struct setting *s,
                                 const allm_json *value)
{
    struct expansion *x = ud;
    struct bytes out = { NULL, 0, 0 };
    char name[64];
    if (has_keys(s) && x->reader->keys)
        keyring_note(value);
    if (!s || !expand_wanted(value))
        return allm_json_copy(value);
    enum expand_result result = expand_json(&out, value, x->reader->keys, name);
    allm_json *expanded = NULL;
    if (result == EXPAND_DONE)
        expanded = allm_json_parse(out.ptr, out.len, NULL);
    else
        report_variable(x, path, result, name);
    bytes_release(&out);
    return expanded;
}

static allm_json *note_keys(void *ud, const char *path, const struct setting *s,
                            const allm_json *value)
{
    (void)ud;
    (void)path;
    if (has_keys(s))
        keyring_note(value);
    return NULL;
}

void reader_note_keys(const struct bytes *text)
{
    allm_json *value = allm_json_parse(bytes_string(text), text->len, &allowed);
    allm_json_free(setting_map(value, note_keys, NULL));
    allm_json_free(value);
}

/* ------------------------------------------------------------- check --- */

static bool open_schema(struct reader *r)
{
    if (r->schema)
        return true;
    allm_json *document = setting_schema();
    r->schema = allm_json_schema_new(document);
    allm_json_free(document);
    return r->schema && !allm_json_schema_error(r->schema);
}

/* The setting of a path, or that of its beginning. */
static const struct setting *setting_above(char *path)
{
    const struct setting *s;
    while (!(s = setting_find(path))) {
        char *dot = strrchr(path, '.');
        if (!dot)
            return NULL;
        *dot = '\0';
    }
    return s;
}

static void report_unknown(struct reader *r, const char *path, size_t line)
{
    char text[TEXT];
    bool dotted = setting_find(path) != NULL;
    snprintf(text, sizeof text, "unknown setting \"%.200s\"", path);
    if (dotted)
        snprintf(text, sizeof text,
                 "unknown setting \"%.200s\" with a dot; write it in an "
                 "object: { \"%.*s\": { ... } }",
                 path, (int)strcspn(path, "."), path);
    report_notice(r, (struct notice){ .line = line,
                                      .text = text,
                                      .unknown = dotted ? NULL : path });
}

static void report_fault(struct reader *r, const struct bytes *text,
                         const allm_json *fault)
{
    char path[POINTER], message[TEXT], variable[64];
    const char *pointer = member_read(fault, "path");
    const char *keyword = member_read(fault, "keyword");
    size_t line = reader_line(text, pointer);
    if (!setting_path(pointer, path, sizeof path))
        return;
    if (!strcmp(keyword, "additionalProperties")) {
        report_unknown(r, path, line);
        return;
    }
    char whole[POINTER];
    memcpy(whole, path, sizeof whole);
    const struct setting *s = setting_above(path);
    snprintf(message, sizeof message, "%.200s: expected %s", whole,
             s ? setting_expects(s) : "an object");
    report_notice(r,
                  (struct notice){
                      .fatal = true,
                      .line = line,
                      .text = message,
                      .origin = !r->file && s && setting_variable(s, variable)
                                    ? variable
                                    : NULL });
}

/* A file may have very many faults; to find the line of each takes time. */
static bool report_faults(struct reader *r, const struct bytes *text,
                          const allm_json *faults)
{
    size_t shown[2] = { 0, 0 };
    bool whole = true;
    for (const allm_json *f = NULL; (f = allm_json_next(faults, f));) {
        const char *keyword = member_read(f, "keyword");
        bool fatal = strcmp(keyword, "additionalProperties") != 0;
        whole &= strcmp(keyword, "too_many_errors") != 0;
        if (whole && shown[fatal]++ < MOST_FAULTS)
            report_fault(r, text, f);
    }
    if (!whole || shown[0] > MOST_FAULTS || shown[1] > MOST_FAULTS)
        report_notice(r, (struct notice){ .fatal = !whole,
                                .text = "more settings are wrong" });
    return whole && !shown[1];
}

bool reader_check(struct reader *r, const struct bytes *text,
                  const allm_json *value)
{
    if (!open_schema(r)) {
        report_notice(r, (struct notice){ .fatal = true,
                                          .text = "out of memory" });
        return false;
    }
    allm_json *faults = allm_json_schema_check(r->schema, value);
    bool fine = report_faults(r, text, faults);
    allm_json_free(faults);
    return fine;
}

allm_json *reader_settle(struct reader *r, const struct bytes *text,
                         allm_json *value)
{
    struct expansion x = { r, text };
    bool failed = r->failed;
    r->failed = false;
    allm_json *expanded = setting_map(value, expand_setting, &x);
    allm_json_free(value);
    bool fine = !r->failed && reader_check(r, text, expanded);
    r->failed |= failed;
    if (fine)
        return expanded;
    allm_json_free(expanded);
    return NULL;
}
