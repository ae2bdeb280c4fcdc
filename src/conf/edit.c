/*
 * edit.c - change one setting in a text, and keep every other byte
 *
 *      { // mine                 { // mine
 *        "model": "a" // one  ->   "model": "a", // one
 *      }                           "system": "b"
 *                                }
 *
 * A new member goes after the last one, in a line of its own if that has one.
 */
#include "conf/edit.h"

#include "conf/member.h"
#include "conf/settings.h"

#include <string.h>

enum { POINTER = 1024 };

static const allm_json_opts allowed = { .size = sizeof allowed,
                                        .flags = ALLM_JSON_COMMENTS };

/* The bytes of a value. */
struct extent {
    size_t from, to;
};

static bool find_value(const struct bytes *text, const char *pointer,
                       struct extent *out)
{
    return allm_json_span(bytes_string(text), text->len, &allowed, pointer,
                          &out->from, &out->to) == ALLM_OK;
}

#define NO_COMMA ((size_t)-1)

/* The position after a comment; `at` itself if there is none. */
static size_t skip_comment(const char *text, size_t at)
{
    if (!strncmp(text + at, "//", 2))
        return at + strcspn(text + at, "\r\n");
    if (strncmp(text + at, "/*", 2) != 0)
        return at;
    const char *end = strstr(text + at + 2, "*/");
    return end ? (size_t)(end - text) + 2 : strlen(text);
}

/* Skip white space and comments, and a comma among them: *comma is where it
 * is, or NO_COMMA. */
static size_t skip_blank(const char *text, size_t at, size_t *comma)
{
    *comma = NO_COMMA;
    for (;;) {
        size_t next = skip_comment(text, at + strspn(text + at, " \t\r\n"));
        if (next == at && text[at] == ',' && *comma == NO_COMMA)
            *comma = next++;
        if (next == at)
            return at;
        at = next;
    }
}

/* The end of the line, if only comments are between; `at` if not. */
static size_t skip_to_end(const char *text, size_t at)
{
    for (size_t next = at;;) {
        next += strspn(text + next, " \t");
        if (text[next] == '\n' || text[next] == '\r')
            return next;
        size_t end = skip_comment(text, next);
        if (end == next || memchr(text + next, '\n', end - next))
            return at;
        next = end;
    }
}

/* The blanks at the beginning of the line that has this byte. */
static size_t indent_of(const struct bytes *text, size_t at, size_t *from)
{
    size_t start = at;
    while (start && text->ptr[start - 1] != '\n')
        start--;
    *from = start;
    size_t n = strspn(text->ptr + start, " \t");
    return start + n <= at ? n : at - start;
}

/* The last step of a pointer, without its escapes; cuts it off. */
static void take_last_step(char *pointer, struct bytes *name)
{
    char *slash = strrchr(pointer, '/');
    for (const char *c = slash + 1; *c; c++) {
        if (*c == '~')
            bytes_byte(name, *++c == '0' ? '~' : '/');
        else
            bytes_byte(name, *c);
    }
    *slash = '\0';
}

/* The last member of an object; false: it is empty. */
static bool find_last(const struct bytes *text, const char *pointer,
                      struct extent *out)
{
    char path[2 * POINTER];
    bool found = false;
    allm_json *all = allm_json_parse(bytes_string(text), text->len, &allowed);
    const allm_json *object = allm_json_pointer(all, pointer);
    for (const allm_json *k = NULL; (k = allm_json_next(object, k));) {
        struct extent e;
        if (setting_pointer_below(pointer, allm_json_text(k, NULL), path,
                                  sizeof path) &&
            find_value(text, path, &e) && (!found || e.from > out->from)) {
            *out = e;
            found = true;
        }
    }
    allm_json_free(all);
    return found;
}

/* How the line that has this byte ends. */
static const char *newline_of(const struct bytes *text, size_t at)
{
    const char *end = memchr(text->ptr + at, '\n', text->len - at);
    return end && end > text->ptr && end[-1] == '\r' ? "\r\n" : "\n";
}

/* Add a member after the last one. */
static void add_after(struct bytes *text, struct extent object,
                      struct extent last, const struct bytes *member)
{
    size_t line, comma;
    struct bytes more = { NULL, 0, 0 };
    skip_blank(text->ptr, last.to, &comma);
    size_t n = indent_of(text, last.from, &line);
    bool own_line = line > object.from;
    size_t at = comma == NO_COMMA ? last.to : comma + 1;
    bytes_text(&more, own_line ? newline_of(text, at) : " ");
    if (own_line)
        bytes_add(&more, text->ptr + line, n);
    bytes_add(&more, member->ptr, member->len);
    if (comma != NO_COMMA)
        bytes_byte(&more, ',');
    bytes_splice(text, own_line ? skip_to_end(text->ptr, at) : at, 0, more.ptr,
                 more.len);
    if (comma == NO_COMMA)
        bytes_splice(text, last.to, 0, ",", 1);
    bytes_release(&more);
}

/* Add a member to an object without members. */
static void add_first(struct bytes *text, struct extent object,
                      const struct bytes *member)
{
    size_t line;
    struct bytes more = { NULL, 0, 0 };
    size_t n = indent_of(text, object.from, &line);
    const char *newline = newline_of(text, object.from);
    bytes_text(&more, newline);
    bytes_add(&more, text->ptr + line, n);
    bytes_text(&more, "  ");
    bytes_add(&more, member->ptr, member->len);
    size_t put = skip_to_end(text->ptr, object.from + 1);
    if (text->ptr[put] != '\n' && text->ptr[put] != '\r') {
        bytes_text(&more, newline);
        bytes_add(&more, text->ptr + line, n);
    }
    bytes_splice(text, put, 0, more.ptr, more.len);
    bytes_release(&more);
}

/* Add "name": json to the object at the pointer, or to a new one. */
static bool add_member(struct bytes *text, char *pointer, const char *json)
{
    struct bytes member = { NULL, 0, 0 }, name = { NULL, 0, 0 };
    struct extent object, last;
    bool ok = true;
    take_last_step(pointer, &name);
    member_quote(&member, bytes_string(&name), name.len);
    bytes_text(&member, ": ");
    if (!find_value(text, pointer, &object)) {
        bytes_text(&member, json);
        struct bytes whole = { NULL, 0, 0 };
        bytes_format(&whole, "{ %s }", member.ptr);
        ok = *pointer && add_member(text, pointer, whole.ptr);
        bytes_release(&whole);
    } else if (text->ptr[object.from] != '{') {
        ok = false;
    } else {
        bytes_text(&member, json);
        if (find_last(text, pointer, &last))
            add_after(text, object, last, &member);
        else
            add_first(text, object, &member);
    }
    bytes_release(&member);
    bytes_release(&name);
    return ok;
}

bool edit_set(struct bytes *text, const char *path, const char *json)
{
    char pointer[POINTER];
    struct extent at;
    if (!setting_pointer(path, pointer, sizeof pointer))
        return false;
    size_t comma;
    bool open = text->len && text->ptr[text->len - 1] != '\n';
    if (skip_blank(bytes_string(text), 0, &comma) == text->len)
        bytes_text(text, open ? "\n{\n}\n" : "{\n}\n");
    if (!find_value(text, pointer, &at))
        return add_member(text, pointer, json);
    bytes_splice(text, at.from, at.to - at.from, json, strlen(json));
    return true;
}

/* The quote of the key before a value: after the bracket or the comma. */
static size_t find_key(const struct bytes *text, size_t object, size_t value)
{
    size_t key = object + 1, comma;
    for (size_t at = object + 1; at < value;) {
        at = skip_blank(text->ptr, at, &comma);
        if (at >= value)
            break;
        if (text->ptr[at] == '"') {
            key = at;
            for (at++; text->ptr[at] != '"'; at++)
                at += text->ptr[at] == '\\';
        }
        at++;
    }
    return key;
}

/* The value of a path, and the object that it is in. */
static bool find_both(const struct bytes *text, const char *path,
                      struct extent *value, struct extent *object)
{
    char pointer[POINTER];
    if (!setting_pointer(path, pointer, sizeof pointer) ||
        !find_value(text, pointer, value))
        return false;
    *strrchr(pointer, '/') = '\0';
    return find_value(text, pointer, object);
}

bool edit_unset(struct bytes *text, const char *path)
{
    struct extent value, object;
    if (!find_both(text, path, &value, &object))
        return false;
    size_t key = find_key(text, object.from, value.from), line, end = value.to;
    size_t comma, next = skip_blank(text->ptr, value.to, &comma);
    if (comma != NO_COMMA)
        end = comma + 1;
    size_t n = indent_of(text, key, &line);
    size_t rest = end + strspn(text->ptr + end, " \t\r");
    if (line + n == key && text->ptr[rest] == '\n' && rest < next)
        bytes_splice(text, line, rest + 1 - line, "", 0);
    else
        bytes_splice(text, key, end - key, "", 0);
    return true;
}
