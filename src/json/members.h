/* members.h - find the keys of an object, and detect equal ones */
#pragma once

#include "base/mem.h"
#include "json/val.h"

/*
 * An index of keys.  Up to MEMBERS_FEW it is a linear search; beyond that the
 * keys are sorted, so n look-ups cost n log n, whatever the keys are.
 */
enum { MEMBERS_FEW = 32 };

struct members {
    const yyjson_val *object;
    struct members_entry *sorted;  /* NULL: few keys, search linearly */
    size_t count;
    struct arena arena;         /* owns the entries */
};

/* NULL, or a value that is not an object, has no keys.  False: out of
 * memory. */
bool members_init(struct members *k, const yyjson_val *object, struct mem mem);
void members_release(struct members *k);

/* The first key with this text, or NULL; its value follows it. */
const yyjson_val *members_find(const struct members *k, struct slice text);

/* Does an equal key precede this one in the object? */
bool members_repeats(const yyjson_val *object, const yyjson_val *key);

/* One of 64 bits for a key, by its length and two of its bytes (the NUL of an
 * empty one): equal keys share it, most others do not. */
static inline uint64_t members_bit(const yyjson_val *key)
{
    size_t len = val_len(key);
    const unsigned char *text = (const unsigned char *)key->uni.str;
    return (uint64_t)1 << ((len + 2 * (size_t)text[0] +
                            4 * (size_t)text[len / 2]) &
                           63);
}

/* While walking the keys of an object: is this one new?  Each key sets its bit
 * in *seen, initially 0; only if it is set already are the previous keys
 * compared. */
static inline bool members_is_new(uint64_t *seen, const yyjson_val *object,
                                  const yyjson_val *key)
{
    uint64_t bit = members_bit(key);
    if (*seen & bit)
        return !members_repeats(object, key);
    *seen |= bit;
    return true;
}

/* May two keys of an object be equal?  Not if their bits differ. */
static inline bool members_may_repeat(const yyjson_val *object)
{
    uint64_t seen = 0;
    const yyjson_val *k = object + 1;
    for (size_t n = val_len(object); n; n--, k = val_after(k + 1)) {
        uint64_t bit = members_bit(k);
        if (seen & bit)
            return true;
        seen |= bit;
    }
    return false;
}

/*
 * Do the keys of this object differ?  Otherwise *twice is the earliest key
 * that repeats a previous one.  False with *twice NULL: out of memory.
 */
bool members_differ(const yyjson_val *object, struct mem mem,
                    const yyjson_val **twice);

/* The same for v and every object in it. */
bool members_differ_deep(const yyjson_val *v, struct mem mem,
                         const yyjson_val **twice);

/* Of equal keys keep the first, or the last, in v, which must be ours, and in
 * every object in it.  False: out of memory, and v is no longer usable. */
bool members_keep_one(yyjson_val *v, struct mem mem, bool last);
