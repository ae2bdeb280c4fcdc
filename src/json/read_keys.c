/*
 * read_keys.c - repair keys that are not UTF-8, for the loose reader
 *
 *      {"a\xFF": 1, "a\xFE": 2}    becomes    {"a\uFFFD": 1, "a\uFFFD_2": 2}
 *
 * Whatever is read can be written and read again: malformed bytes of a key are
 * replaced by U+FFFD, and if it then equals another key of its object, the
 * later of the two gets a number.
 *
 * Invariants
 *   (1) The text of a changed key is outside the reader's copy of the
 *       document.
 *   (2) A number is used once in an object and follows the last "_", so no two
 *       new names are equal.
 */
#include "json/read.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "json/members.h"

static bool lacks_memory(struct reading *r)
{
    r->no_memory = true;
    return false;
}

static void set_text(yyjson_val *key, struct slice text)
{
    key->tag = val_text_tag(text.len);
    key->uni.str = text.ptr;
}

bool read_mend_key(struct reading *r, yyjson_val *key)
{
    if (utf8_valid(val_slice(key), NULL))
        return true;
    struct slice text = utf8_repair(r->arena, val_slice(key));
    if (!text.ptr)
        return lacks_memory(r);
    set_text(key, text);
    r->mended = true;
    return true;
}

/* By (1). */
static bool is_mended(const struct reading *r, const yyjson_val *key)
{
    uintptr_t at = (uintptr_t)key->uni.str;
    return at < (uintptr_t)r->start || at > (uintptr_t)r->end;
}

/* Must the key change because it equals the first one with its text? */
static bool must_change(const struct reading *r, const struct members *k,
                        const yyjson_val *key)
{
    const yyjson_val *first = members_find(k, val_slice(key));
    return first != key && (is_mended(r, first) || is_mended(r, key));
}

/* The text followed by a number that no key of the object has. */
static struct slice new_name(struct reading *r, const struct members *k,
                             struct slice text, uint64_t *number)
{
    struct buf name;
    do {
        buf_init(&name, r->arena, SIZE_MAX / 2);
        buf_add(&name, text);
        buf_byte(&name, '_');
        buf_uint(&name, ++*number);
    } while (!name.broken && members_find(k, buf_slice(&name)));
    return name.broken ? (struct slice){ NULL, 0 } : buf_slice(&name);
}

/* The new names in the order of the keys, {NULL, 0} for one that stays.  The
 * keys change only when all are found, because `k` refers to them. */
static bool find_names(struct reading *r, const yyjson_val *object,
                       const struct members *k, struct slice *name)
{
    uint64_t number = 1;
    const yyjson_val *key = object + 1;
    for (size_t i = 0; i < k->count; i++, key = val_after(key + 1)) {
        if (!must_change(r, k, key))
            continue;
        name[i] = new_name(r, k, val_slice(key), &number);
        if (!name[i].ptr)
            return false;
    }
    return true;
}

static bool has_mended(const struct reading *r, const yyjson_val *object)
{
    const yyjson_val *key = object + 1, *end = val_after(object);
    for (; key < end; key = val_after(key + 1))
        if (is_mended(r, key))
            return true;
    return false;
}

bool read_settle_keys(struct reading *r, yyjson_val *object)
{
    struct members k;
    if (!has_mended(r, object))
        return true;
    struct arena names = arena_in(r->arena->mem);
    size_t count = val_len(object), bytes = 0;
    struct slice *name = NULL;
    if (mem_mul(count, sizeof *name, &bytes))
        name = arena_zero(&names, bytes);
    bool ok = members_init(&k, object, r->arena->mem) && name &&
              find_names(r, object, &k, name);
    yyjson_val *key = object + 1;
    for (size_t i = 0; ok && i < count; i++, key += 1 + val_span(key + 1))
        if (name[i].ptr)
            set_text(key, name[i]);
    members_release(&k);
    arena_release(&names);
    return ok || lacks_memory(r);
}
