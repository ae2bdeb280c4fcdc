/*
 * span.c - where in a text the value at a JSON Pointer is
 *
 * The values know their order, the text knows the positions: for each step of
 * the pointer, count the members before the one that it names, and skip as many
 * in the text.
 */
#include "json/span.h"

#include "base/caller_struct.h"
#include "json/comments.h"
#include "json/parse.h"
#include "json/pointer.h"
#include "json/val.h"

static const char *skip_blank(const char *at)
{
    while (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')
        at++;
    return at;
}

static const char *skip_quoted(const char *at)
{
    for (at++; *at != '"'; at++)
        at += *at == '\\';
    return at + 1;
}

static const char *skip_json(const char *at)
{
    size_t depth = 0;
    do {
        if (*at == '"') {
            at = skip_quoted(at);
            continue;
        }
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        at++;
        while (!depth && *at && !strchr(",]} \t\r\n\"", *at) &&
               !strchr("]}", at[-1]))
            at++;               /* the rest of a number or a word */
    } while (depth);
    return at;
}

/* How many members are before this one? */
static size_t count_before(const yyjson_val *in, const yyjson_val *member)
{
    bool object = val_type(in) == YYJSON_TYPE_OBJ;
    size_t n = 0;
    for (const yyjson_val *v = in + 1 + object; v != member; n++)
        v = val_after(v) + object;
    return n;
}

/* The value of the member after n others; `at` is at the bracket. */
static const char *enter_member(const char *at, bool object, size_t n)
{
    for (at = skip_blank(at + 1);; n--) {
        if (object)
            at = skip_blank(skip_blank(skip_quoted(at)) + 1);
        if (!n)
            return at;
        at = skip_blank(skip_blank(skip_json(at)) + 1);
    }
}

/* The length of the first step of a pointer. */
static size_t step_length(struct slice pointer)
{
    size_t n = 1;
    while (n < pointer.len && pointer.ptr[n] != '/')
        n++;
    return n < pointer.len ? n : pointer.len;
}

bool span_find(struct slice text, const allm_json *root, struct slice pointer,
               struct slice *out)
{
    const char *at = skip_blank(text.ptr);
    const allm_json *in = root;
    while (in && pointer.len) {
        size_t n = step_length(pointer);
        const allm_json *v = pointer_find(in, (struct slice){ pointer.ptr, n });
        if (!v)
            return false;
        at = enter_member(at, allm_json_type_of(in) == ALLM_JSON_OBJECT,
                          count_before(val_of(in), val_of(v)));
        in = v;
        pointer = slice_skip(pointer, n);
    }
    if (!in)
        return false;
    *out = (struct slice){ at, (size_t)(skip_json(at) - at) };
    return true;
}

/* Read the text, find the value. */
static allm_status find_in_text(struct arena *a, struct slice text,
                                struct json_limits limits, const char *pointer,
                                struct slice *out)
{
    const allm_error *error = NULL;
    struct slice plain = comments_blank(a, text);
    if (!plain.ptr)
        return ALLM_ERR_NOMEM;
    struct slice strict = limits.comments ? plain : text;
    limits.comments = limits.duplicates = false;
    const allm_json *root = json_parse(a, strict, limits, &error);
    if (error)
        return error->kind;
    struct slice found;
    if (!span_find(plain, root, slice_of(pointer), &found))
        return ALLM_AGAIN;
    *out = (struct slice){ text.ptr + (found.ptr - plain.ptr), found.len };
    return ALLM_OK;
}

allm_status allm_json_span(const char *text, size_t len,
                           const allm_json_opts *opts, const char *pointer,
                           size_t *from, size_t *to)
{
    struct json_limits limits;
    struct slice given = slice_given(text, len), found = { NULL, 0 };
    if (!json_limits_from(&limits, opts) || !text || !pointer || !from || !to)
        return ALLM_ERR_MISUSE;
    allm_json_opts mine;
    caller_struct_take(&mine, sizeof mine, opts);
    struct arena a = arena_in(mem_from(mine.allocator));
    allm_status status = find_in_text(&a, given, limits, pointer, &found);
    if (status == ALLM_OK) {
        *from = (size_t)(found.ptr - given.ptr);
        *to = *from + found.len;
    }
    arena_release(&a);
    return status;
}
