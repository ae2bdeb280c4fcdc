/* members.h - the keys of an object: do they differ, and where is one? */
#ifndef JSON_MEMBERS_H
#define JSON_MEMBERS_H

#include "base/mem.h"
#include "json/val.h"

/*
 * A way to find keys.  Up to MEMBERS_FEW it looks at each; beyond, it keeps them
 * sorted, so that n look-ups cost n log n, whatever the keys are.
 */
enum { MEMBERS_FEW = 32 };

struct members {
    const yyjson_val *object;
    struct members_entry *sorted;  /* NULL: few, look at each */
    size_t count;
    struct arena arena;         /* where the entries live */
};

/* NULL, or a value that is no object, has no keys.  False: no memory. */
bool members_init(struct members *k, const yyjson_val *object, struct mem mem);
void members_release(struct members *k);

/* The first key with this text, or NULL; its value stands behind it. */
const yyjson_val *members_find(const struct members *k, struct slice text);

/* Is there an equal key before this one of the object? */
bool members_repeats(const yyjson_val *object, const yyjson_val *key);

/* One of 64 bits for a key, by its length and two of its bytes (the NUL of an
 * empty one): equal keys have the same, most others do not. */
static inline uint64_t members_bit(const yyjson_val *key)
{
    size_t len = val_len(key);
    const unsigned char *text = (const unsigned char *)key->uni.str;
    return (uint64_t)1 << ((len + 2 * (size_t)text[0] +
                            4 * (size_t)text[len / 2]) &
                           63);
}

/* Walk the keys of an object: is this one new?  Each takes its bit of *seen,
 * which begins as 0; only if it is taken are the keys before it compared. */
static inline bool members_is_new(uint64_t *seen, const yyjson_val *object,
                                  const yyjson_val *key)
{
    uint64_t bit = members_bit(key);
    if (*seen & bit)
        return !members_repeats(object, key);
    *seen |= bit;
    return true;
}

/* May two keys of an object be equal?  No: they have different bits. */
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
 * Do the keys of this object differ?  Else *twice is the earliest key that
 * repeats one before it.  False with *twice NULL: no memory.
 */
bool members_differ(const yyjson_val *object, struct mem mem,
                    const yyjson_val **twice);

/* The same of v and of every object in it. */
bool members_differ_deep(const yyjson_val *v, struct mem mem,
                         const yyjson_val **twice);

/* Of equal keys keep the first, or the last, in v, which we own, and in every
 * object in it.  False: no memory, and v is of no use any more. */
bool members_keep_one(yyjson_val *v, struct mem mem, bool last);

#endif
