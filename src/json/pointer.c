/*
 * pointer.c - JSON Pointers such as "/a/0/b" (RFC 6901)
 *
 * A pointer is a sequence of steps, each a "/" and a token, in which "~1"
 * means "/" and "~0" means "~".  In an object the token is a key; in an array
 * it is an index without leading zeros ("-", the position after the last,
 * finds nothing).
 */
#include "json/pointer.h"

#include "json/val.h"

void pointer_add_key(struct buf *out, struct slice key)
{
    buf_byte(out, '/');
    while (key.len) {
        size_t n = 0;
        while (n < key.len && key.ptr[n] != '~' && key.ptr[n] != '/')
            n++;
        buf_add(out, (struct slice){ key.ptr, n });
        key = slice_skip(key, n);
        if (key.len) {
            buf_text(out, *key.ptr == '~' ? "~0" : "~1");
            key = slice_skip(key, 1);
        }
    }
}

void pointer_add_index(struct buf *out, size_t index)
{
    buf_byte(out, '/');
    buf_uint(out, index);
}

/* Is this key the one that the token encodes? */
static bool names(struct slice token, struct slice key)
{
    size_t i = 0;
    for (size_t k = 0; k < key.len; k++, i++) {
        if (i == token.len)
            return false;
        char c = token.ptr[i];
        if (c == '~') {
            i++;                /* a 0 or 1 follows: see well_formed */
            c = token.ptr[i] == '0' ? '~' : '/';
        }
        if (c != key.ptr[k])
            return false;
    }
    return i == token.len;
}

static bool well_formed(struct slice token)
{
    for (size_t i = 0; i < token.len; i++)
        if (token.ptr[i] == '~' &&
            (i + 1 == token.len ||
             (token.ptr[i + 1] != '0' && token.ptr[i + 1] != '1')))
            return false;
    return true;
}

static const yyjson_val *find_member(const yyjson_val *v, struct slice token)
{
    const yyjson_val *end = val_after(v);
    for (v++; v < end; v = val_after(v + 1))
        if (names(token, val_slice(v)))
            return v + 1;
    return NULL;
}

static const yyjson_val *find_element(const yyjson_val *v, struct slice token)
{
    size_t index = 0;
    if (token.len == 0 || (token.len > 1 && *token.ptr == '0'))
        return NULL;
    for (size_t i = 0; i < token.len; i++) {
        char c = token.ptr[i];
        if (c < '0' || c > '9' || index > SIZE_MAX / 10 - 1)
            return NULL;
        index = index * 10 + (size_t)(c - '0');
    }
    return val_of(allm_json_at(val_json(v), index));
}

/* Remove the next step from the pointer. */
static struct slice take_token(struct slice *pointer)
{
    size_t n = 1;               /* the slash */
    while (n < pointer->len && pointer->ptr[n] != '/')
        n++;
    struct slice token = { pointer->ptr + 1, n - 1 };
    *pointer = slice_skip(*pointer, n);
    return token;
}

const allm_json *pointer_find(const allm_json *json, struct slice pointer)
{
    const yyjson_val *v = val_of(json);
    if (pointer.len && *pointer.ptr != '/')
        return NULL;
    while (v && pointer.len) {
        struct slice token = take_token(&pointer);
        if (!well_formed(token))
            return NULL;
        if (val_type(v) == YYJSON_TYPE_OBJ)
            v = find_member(v, token);
        else
            v = find_element(v, token);     /* NULL if it is not an array */
    }
    return val_json(v);
}

const allm_json *allm_json_pointer(const allm_json *v, const char *pointer)
{
    return pointer ? pointer_find(v, slice_of(pointer)) : NULL;
}
