/*
 * members.c - find the keys of an object, and detect equal ones
 *
 * Most objects are small and searched linearly.  Big ones are sorted by a hash
 * of the key, then by its text: forged hash collisions make comparisons
 * longer, but not more numerous.
 */
#include "json/members.h"

#include "json/stack.h"

struct members_entry {
    uint64_t hash;
    const yyjson_val *key;
};

static uint64_t hash_of(struct slice s)
{
    const uint64_t odd = 0x9E3779B97F4A7C15u;
    uint64_t h = s.len * odd, word;
    for (; s.len >= sizeof word; s = slice_skip(s, sizeof word)) {
        memcpy(&word, s.ptr, sizeof word);
        h = (h ^ word) * odd;
        h ^= h >> 32;
    }
    word = 0;
    if (s.len)
        memcpy(&word, s.ptr, s.len);
    h = (h ^ word) * odd;
    return h ^ (h >> 29);
}

/* By hash, then by string; 0 if they are equal. */
static int compare_keys(uint64_t hash_a, struct slice a, uint64_t hash_b,
                        struct slice b)
{
    if (hash_a != hash_b)
        return hash_a < hash_b ? -1 : 1;
    if (a.len != b.len)
        return a.len < b.len ? -1 : 1;
    return a.len ? memcmp(a.ptr, b.ptr, a.len) : 0;
}

static bool comes_first(const struct members_entry *a,
                        const struct members_entry *b)
{
    return compare_keys(a->hash, val_slice(a->key), b->hash,
                        val_slice(b->key)) <= 0;
}

/* Merge two sorted runs, from[0..mid) and from[mid..n). */
static void merge(const struct members_entry *from, size_t mid, size_t n,
                  struct members_entry *to)
{
    size_t a = 0, b = mid;
    for (size_t i = 0; i < n; i++) {
        bool left = b == n || (a < mid && comes_first(&from[a], &from[b]));
        to[i] = from[left ? a++ : b++];
    }
}

/* A stable merge sort; returns the array of the two that has the result. */
static struct members_entry *sort(struct members_entry *a,
                                  struct members_entry *spare, size_t n)
{
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t at = 0; at < n; at += 2 * width) {
            size_t len = n - at < 2 * width ? n - at : 2 * width;
            merge(a + at, len < width ? len : width, len, spare + at);
        }
        struct members_entry *result = spare;
        spare = a;
        a = result;
    }
    return a;
}

static const yyjson_val *end_of(const yyjson_val *object)
{
    return object ? val_after(object) : NULL;
}

bool members_init(struct members *k, const yyjson_val *object, struct mem mem)
{
    if (object && val_type(object) != YYJSON_TYPE_OBJ)
        object = NULL;
    *k = (struct members){ .object = object };
    arena_init(&k->arena, mem);
    k->count = object ? val_len(object) : 0;
    if (k->count <= MEMBERS_FEW)
        return true;

    size_t bytes = 0;
    struct members_entry *a = NULL;
    if (mem_mul(k->count, 2 * sizeof *a, &bytes))
        a = arena_alloc(&k->arena, bytes);
    if (!a)
        return false;
    const yyjson_val *key = object + 1;
    for (size_t i = 0; i < k->count; i++, key = val_after(key + 1))
        a[i] = (struct members_entry){ hash_of(val_slice(key)), key };
    k->sorted = sort(a, a + k->count, k->count);
    return true;
}

void members_release(struct members *k)
{
    arena_release(&k->arena);
}

/* The first entry that is not less than the text. */
static const yyjson_val *find_sorted(const struct members *k, struct slice text)
{
    uint64_t hash = hash_of(text);
    size_t low = 0, high = k->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct members_entry *e = &k->sorted[mid];
        if (compare_keys(e->hash, val_slice(e->key), hash, text) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == k->count || !slice_eq(val_slice(k->sorted[low].key), text))
        return NULL;
    return k->sorted[low].key;
}

const yyjson_val *members_find(const struct members *k, struct slice text)
{
    if (k->sorted)
        return find_sorted(k, text);
    const yyjson_val *end = end_of(k->object);
    const yyjson_val *key = k->object ? k->object + 1 : end;
    for (; key < end; key = val_after(key + 1))
        if (val_names(key, text))
            return key;
    return NULL;
}

bool members_repeats(const yyjson_val *object, const yyjson_val *key)
{
    struct slice text = val_slice(key);
    for (const yyjson_val *k = object + 1; k < key; k = val_after(k + 1))
        if (val_names(k, text))
            return true;
    return false;
}

static bool few_differ(const yyjson_val *object, const yyjson_val **twice)
{
    uint64_t seen = 0;
    const yyjson_val *k = object + 1;
    for (size_t n = val_len(object); n > 0; n--, k = val_after(k + 1)) {
        if (!members_is_new(&seen, object, k)) {
            *twice = k;
            return false;
        }
    }
    return true;
}

static bool many_differ(const yyjson_val *object, struct mem mem,
                        const yyjson_val **twice)
{
    struct members k;
    bool ok = members_init(&k, object, mem);
    for (size_t i = 1; ok && i < k.count; i++) {
        const yyjson_val *key = k.sorted[i].key;
        if (slice_eq(val_slice(k.sorted[i - 1].key), val_slice(key)) &&
            (!*twice || key < *twice))
            *twice = key;
    }
    members_release(&k);
    return ok && !*twice;
}

bool members_differ(const yyjson_val *object, struct mem mem,
                    const yyjson_val **twice)
{
    *twice = NULL;
    return val_len(object) <= MEMBERS_FEW ? few_differ(object, twice)
                                          : many_differ(object, mem, twice);
}

bool members_differ_deep(const yyjson_val *v, struct mem mem,
                         const yyjson_val **twice)
{
    *twice = NULL;
    for (const yyjson_val *end = val_after(v); v < end; v++)
        if (val_type(v) == YYJSON_TYPE_OBJ && !members_differ(v, mem, twice))
            return false;
    return true;
}

/* ---------------------------------------------------------- equal keys --- */

/* A tag bit that yyjson does not use: this key is to be removed. */
#define DOOMED 0x20u

/* For a small object: compare every pair. */
static void doom_few(yyjson_val *object, bool last)
{
    yyjson_val *b = object + 1;
    for (size_t i = 0, n = val_len(object); i < n; i++) {
        yyjson_val *a = object + 1;
        for (; a < b; a += 1 + val_span(a + 1))
            if (slice_eq(val_slice(a), val_slice(b)))
                (last ? a : b)->tag |= DOOMED;
        b += 1 + val_span(b + 1);
    }
}

/* Of equal keys, which are sorted by their position, keep one. */
static bool doom_repeats(yyjson_val *object, struct mem mem, bool last)
{
    struct members k;
    if (val_len(object) <= MEMBERS_FEW) {
        doom_few(object, last);
        return true;
    }
    bool ok = members_init(&k, object, mem);
    for (size_t i = 1; ok && i < k.count; i++) {
        const yyjson_val *a = k.sorted[i - 1].key, *b = k.sorted[i].key;
        if (slice_eq(val_slice(a), val_slice(b)))
            object[(last ? a : b) - object].tag |= DOOMED;
    }
    members_release(&k);
    return ok;
}

struct moved {                  /* a container whose members are moving */
    yyjson_val *to;
    const yyjson_val *end;      /* where it ended */
};

/* Close the gaps: move what remains to the front. */
static bool close_up(yyjson_val *root, struct stack *open)
{
    yyjson_val *v = root, *to = root;
    const yyjson_val *end = val_after(root);
    struct moved *in = NULL;
    for (;;) {
        for (; in && v == in->end; in = stack_pop(open))
            in->to->uni.ofs = (size_t)((char *)to - (char *)in->to);
        if (v == end)
            return true;
        if (in && (v->tag & DOOMED)) {
            in->to->tag -= (uint64_t)1 << YYJSON_TAG_BIT;
            v += 1 + val_span(v + 1);
            continue;
        }
        if (val_holds(v)) {
            in = stack_push(open);
            if (!in)
                return false;
            *in = (struct moved){ to, val_after(v) };
        }
        *to++ = *v++;
    }
}

bool members_keep_one(yyjson_val *v, struct mem mem, bool last)
{
    struct moved first[32];
    struct stack open;
    size_t n = val_span(v);
    for (size_t i = 0; i < n; i++)
        if (val_type(&v[i]) == YYJSON_TYPE_OBJ &&
            !doom_repeats(&v[i], mem, last))
            return false;
    stack_init(&open, mem, sizeof *first, first, 32);
    bool ok = close_up(v, &open);
    stack_release(&open);
    return ok;
}
