/* template.c - prompts in files: find them, read their header */
#include "conf/template.h"

#include "conf/file.h"
#include "conf/member.h"
#include "conf/reader.h"
#include "conf/trusted.h"
#include "term/glyph.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum kind { KIND_TEXT, KIND_LIST, KIND_OBJECT, KIND_SCHEMA, KIND_EXTRACT };

static const struct {
    const char *key;
    enum kind kind;
} keys[] = {
    { "model", KIND_TEXT },     { "system", KIND_TEXT },
    { "schema", KIND_SCHEMA },  { "tools", KIND_LIST },
    { "options", KIND_OBJECT }, { "attach", KIND_LIST },
    { "extract", KIND_EXTRACT }, { "params", KIND_OBJECT },
};

static const char *const expected[] = {
    [KIND_TEXT] = "text",
    [KIND_LIST] = "a list of strings: [\"a\", \"b\"]",
    [KIND_OBJECT] = "a JSON object in one line",
    [KIND_SCHEMA] = "a file, words such as 'name, age int', or a JSON object",
    [KIND_EXTRACT] = "first, last, all, true or false",
};

const char *template_key_at(size_t index)
{
    return index < sizeof keys / sizeof *keys ? keys[index].key : NULL;
}

const char *template_text(const struct template_file *t, const char *key)
{
    return member_read(t->header, key);
}

void template_release(struct template_file *t)
{
    allm_json_free(t->header);
    t->header = NULL;
    bytes_release(&t->body);
}

/* -------------------------------------------------------------- find --- */

bool template_is_name(const char *word)
{
    return *word && *word != '.' && !strpbrk(word, "/:\n") &&
           strlen(word) < 200;
}

static bool join_path(const char *folder, const char *name,
                      char path[PLACES_PATH])
{
    int n = snprintf(path, PLACES_PATH, "%s/%s.md", folder, name);
    return n > 0 && n < PLACES_PATH;
}

bool template_users_path(const char *name, char path[PLACES_PATH])
{
    char folder[PLACES_PATH];
    if (!name)
        return places_find(PLACE_CONFIG, "templates", path);
    return template_is_name(name) &&
           places_find(PLACE_CONFIG, "templates", folder) &&
           join_path(folder, name, path);
}

bool template_projects_path(char path[PLACES_PATH])
{
    char folder[PLACES_PATH];
    return places_above(".allm/templates", path, folder);
}

static bool is_there(const char *path)
{
    struct stat about;
    return !lstat(path, &about);
}

/* Is the file below the project's directory of templates? */
static bool is_projects(const char *path)
{
    return strstr(path, ".allm/templates/") != NULL;
}

bool template_find(const char *word, char path[PLACES_PATH], bool *project)
{
    char folder[PLACES_PATH];
    *project = false;
    if (strchr(word, '/')) {
        *project = is_projects(word);
        return (size_t)snprintf(path, PLACES_PATH, "%s", word) < PLACES_PATH;
    }
    if (template_users_path(word, path) && is_there(path))
        return true;
    *project = true;
    return template_is_name(word) && template_projects_path(folder) &&
           join_path(folder, word, path) && is_there(path);
}

/* ------------------------------------------------------------ header --- */

/* A header while it is read. */
struct header {
    struct template_file *into;
    const char *name;
    size_t line;
    notice_fn report;
    void *ud;
    bool failed;
};

static void report_line(struct header *h, const char *text)
{
    struct notice n = { true, h->name, h->line, text, NULL };
    h->failed = true;
    h->report(h->ud, &n);
}

/* "a, b" as a list. */
static allm_json *make_list(const char *text, size_t len)
{
    allm_json_build *b = member_new_array();
    while (len) {
        const char *comma = memchr(text, ',', len);
        size_t n = comma ? (size_t)(comma - text) : len, word = n;
        const char *from = text;
        for (; word && *from == ' '; word--)
            from++;
        while (word && from[word - 1] == ' ')
            word--;
        if (word)
            allm_json_build_text(b, from, word);
        text += n + (comma != NULL);
        len -= n + (comma != NULL);
    }
    return member_done(b);
}

static bool is_list_of_text(const allm_json *value)
{
    if (allm_json_type_of(value) != ALLM_JSON_ARRAY)
        return false;
    for (const allm_json *v = NULL; (v = allm_json_next(value, v));)
        if (!allm_json_text(v, NULL))
            return false;
    return true;
}

/* "true" is the first one; NULL: it is none of the words. */
static allm_json *make_extract(const allm_json *value)
{
    static const char *const words[] = { "first", "last", "all", "none" };
    const char *text = allm_json_text(value, NULL);
    if (allm_json_type_of(value) == ALLM_JSON_BOOL)
        text = allm_json_true(value) ? "first" : "none";
    for (size_t i = 0; text && i < sizeof words / sizeof *words; i++)
        if (!strcmp(text, words[i]))
            return member_alone(words[i], strlen(words[i]));
    return NULL;
}

/* Each parameter is an object. */
static bool are_params(const allm_json *value)
{
    for (const allm_json *k = NULL; (k = allm_json_next(value, k));)
        if (allm_json_type_of(allm_json_value(k)) != ALLM_JSON_OBJECT)
            return false;
    return true;
}

/* The value in the form that its kind has; NULL: it is of another kind.  json
 * is the text as JSON, or NULL. */
static allm_json *convert_value(enum kind kind, const char *text, size_t len,
                                const allm_json *json)
{
    allm_json_type type = json ? allm_json_type_of(json) : ALLM_JSON_NULL;
    switch (kind) {
    case KIND_TEXT:
        return type == ALLM_JSON_TEXT ? allm_json_copy(json)
                                      : member_alone(text, len);
    case KIND_SCHEMA:
        if (type == ALLM_JSON_OBJECT || type == ALLM_JSON_TEXT)
            return allm_json_copy(json);
        return len && *text != '{' ? member_alone(text, len) : NULL;
    case KIND_LIST:
        if (type == ALLM_JSON_ARRAY)
            return is_list_of_text(json) ? allm_json_copy(json) : NULL;
        return *text != '[' ? make_list(text, len) : NULL;
    case KIND_OBJECT:
        return type == ALLM_JSON_OBJECT ? allm_json_copy(json) : NULL;
    case KIND_EXTRACT:
        break;
    }
    allm_json *word = json ? NULL : member_alone(text, len);
    allm_json *found = make_extract(json ? json : word);
    allm_json_free(word);
    return found;
}

static void set_key(struct header *h, size_t at, const char *text, size_t len)
{
    struct template_file *t = h->into;
    char message[200];
    allm_json *json = allm_json_parse(text, len, NULL);
    allm_json *value = convert_value(keys[at].kind, text, len,
                                     allm_json_error(json) ? NULL : json);
    bool fits = value && !allm_json_error(value) &&
                (strcmp(keys[at].key, "params") != 0 || are_params(value));
    allm_json_free(json);
    if (!fits) {
        snprintf(message, sizeof message, "%s: expected %s", keys[at].key,
                 !strcmp(keys[at].key, "params")
                     ? "{\"NAME\": {\"default\": ..., \"description\": ...}} "
                       "in one line"
                     : expected[keys[at].kind]);
        report_line(h, message);
    } else {
        allm_json *more = allm_json_set(t->header, keys[at].key, value);
        allm_json_free(t->header);
        t->header = more;
    }
    allm_json_free(value);
}

static void report_unknown(struct header *h, const char *key, size_t len)
{
    char name[64], text[128];
    snprintf(name, sizeof name, "%.*s", (int)(len < 60 ? len : 60), key);
    snprintf(text, sizeof text, "unknown key \"%s\"", name);
    struct notice n = { false, h->name, h->line, text, name };
    h->report(h->ud, &n);
}

/* "key: value" */
static void read_line(struct header *h, const char *line, size_t len)
{
    const char *colon = memchr(line, ':', len);
    size_t n = colon ? (size_t)(colon - line) : 0, at = 0;
    while (n && line[n - 1] == ' ')
        n--;
    if (!n) {
        report_line(h, "expected \"key: value\", or --- to end the header");
        return;
    }
    while (at < sizeof keys / sizeof *keys &&
           (strlen(keys[at].key) != n || memcmp(keys[at].key, line, n) != 0))
        at++;
    if (at == sizeof keys / sizeof *keys) {
        report_unknown(h, line, n);
        return;
    }
    const char *value = colon + 1, *end = line + len;
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    if (allm_json_get(h->into->header, keys[at].key))
        report_line(h, "this key is set twice");
    else
        set_key(h, at, value, (size_t)(end - value));
}

/* The length of a line without its end and white space before that; *next is
 * behind it. */
static size_t take_line(const char *text, const char **next)
{
    size_t n = strcspn(text, "\n");
    *next = text + n + (text[n] != '\0');
    while (n && strchr(" \t\r", text[n - 1]))
        n--;
    return n;
}

static bool is_fence(const char *line, size_t len)
{
    return len == 3 && !memcmp(line, "---", 3);
}

/* Read the header; returns the body. */
static const char *read_header(struct header *h, const char *text)
{
    const char *next, *body;
    h->line = 1;
    if (!is_fence(text, take_line(text, &body)))
        return text;
    for (const char *line = body; *line; line = next) {
        size_t n = take_line(line, &next);
        h->line++;
        if (is_fence(line, n))
            return next;
        if (n)
            read_line(h, line, n);
    }
    h->line = 1;
    report_line(h, "the header has no end: a second line with ---");
    return body;
}

/* -------------------------------------------------------------- load --- */

static bool is_text(const struct bytes *text)
{
    for (size_t i = 0; i < text->len;) {
        size_t n = glyph_length(text->ptr[i++]);
        if (!n || !text->ptr[i - 1])
            return false;
        while (--n && i < text->len && (text->ptr[i] & 0xc0) == 0x80)
            i++;
        if (n)
            return false;
    }
    return true;
}

bool template_parse(struct template_file *t, const char *name,
                    const struct bytes *text, notice_fn report, void *ud)
{
    struct header h = { t, name, 0, report, ud, false };
    struct bytes plain = { NULL, 0, 0 };
    t->header = allm_json_parse("{}", 2, NULL);
    bytes_add(&plain, bytes_string(text), text->len);
    reader_skip_mark(&plain);
    if (!is_text(&plain)) {
        report_line(&h, "it is not UTF-8 text");
    } else {
        const char *body = read_header(&h, bytes_string(&plain));
        size_t len = strlen(body);
        while (len && (body[len - 1] == '\n' || body[len - 1] == '\r'))
            len--;
        bytes_add(&t->body, body, len);
    }
    bytes_release(&plain);
    return !h.failed && t->header && !allm_json_error(t->header);
}

static void report_file(const char *path, const char *text, notice_fn report,
                        void *ud)
{
    struct notice n = { true, path, 0, text, NULL };
    report(ud, &n);
}

static bool is_trusted(const char *path, const struct bytes *text)
{
    char real[PLACES_PATH];
    return file_real(path, real) && trusted_knows(real, text);
}

bool template_is_trusted(const char *path)
{
    struct bytes text = { NULL, 0, 0 };
    bool trusted = !file_load(path, FILE_NO_LINKS, &text) &&
                   is_trusted(path, &text);
    bytes_release(&text);
    return trusted;
}

bool template_load(struct template_file *t, const char *path, bool project,
                   notice_fn report, void *ud)
{
    struct bytes text = { NULL, 0, 0 };
    char message[256];
    bool fine = false;
    snprintf(t->path, sizeof t->path, "%s", path);
    int error = file_load(path, project ? FILE_NO_LINKS : 0, &text);
    snprintf(message, sizeof message, "cannot be read: %s", file_says(error));
    if (error)
        report_file(path, message, report, ud);
    else if (project && !is_trusted(path, &text))
        report_file(path,
                    "this template of the project waits for \"allm config "
                    "trust\"",
                    report, ud);
    else
        fine = template_parse(t, path, &text, report, ud);
    if (fine && project &&
        trusted_sets_address(allm_json_get(t->header, "options"))) {
        report_file(path,
                    "the options of a project's template may not set an "
                    "address: your key would be sent there",
                    report, ud);
        fine = false;
    }
    bytes_release(&text);
    return fine;
}

/* ------------------------------------------------------------- write --- */

/* Would the value be read as the same string again? */
static bool is_plain(const char *text)
{
    size_t n = strlen(text);
    return n && !strpbrk(text, "\r\n") && !strchr("\"{[ \t", *text) &&
           !strchr(" \t", text[n - 1]);
}

void template_write(const allm_json *header, const char *body,
                    struct bytes *out)
{
    if (allm_json_count(header))
        bytes_text(out, "---\n");
    for (const allm_json *k = NULL; (k = allm_json_next(header, k));) {
        const allm_json *value = allm_json_value(k);
        const char *text = allm_json_text(value, NULL);
        allm_text *json = allm_json_write(value, 0);
        const char *written = text && is_plain(text)
                                  ? text
                                  : allm_text_bytes(json, NULL);
        bytes_format(out, "%s: %s\n", allm_json_text(k, NULL),
                     written ? written : "");
        allm_text_free(json);
    }
    if (allm_json_count(header) || !strncmp(body, "---", 3))
        bytes_text(out, allm_json_count(header) ? "---\n" : "---\n---\n");
    bytes_format(out, "%s\n", body);
}
