/* random_value.h - random JSON values, for property tests */
#pragma once

#include "base/buf.h"
#include "base/random.h"
#include "json/build.h"

#include <math.h>

enum { RANDOM_DEPTH = 12 };

/* A text of pieces that are easy to get wrong. */
static inline struct slice random_text(struct arena *a, struct random r)
{
    static const struct slice pieces[] = {
        { "a", 1 }, { "plain text ", 11 }, { "\"", 1 }, { "\\", 1 },
        { "/", 1 }, { "\n", 1 }, { "\t\r\b\f", 4 }, { "\0", 1 },
        { "\x1F", 1 }, { "\x7F", 1 }, { "~", 1 }, { "\xC3\xA9", 2 },
        { "\xE6\xBC\xA2\xE5\xAD\x97", 6 }, { "\xF0\x9F\x98\x80", 4 },
        { "\xEF\xBF\xBD", 3 }, { "0123456789abcdef", 16 }, { "u00e9", 5 },
    };
    struct buf out;
    buf_init(&out, a, 4096);
    for (uint64_t n = random_below(r, 6); n > 0; n--)
        buf_add(&out, pieces[random_below(r, sizeof pieces / sizeof *pieces)]);
    return buf_slice(&out);
}

static inline double random_double(struct random r)
{
    double x;
    if (random_below(r, 2))
        return (double)random_below(r, 100000) / 64.0 - 500.0;
    uint64_t bits = random_below(r, UINT64_MAX);
    memcpy(&x, &bits, sizeof x);
    return isfinite(x) ? x : 0.5;
}

static inline void random_scalar(struct build *b, struct random r)
{
    switch (random_below(r, 7)) {
    case 0: build_null(b); break;
    case 1: build_bool(b, random_below(r, 2) == 0); break;
    case 2: build_int(b, -(int64_t)random_below(r, 1000)); break;
    case 3: build_int(b, (int64_t)random_below(r, UINT64_MAX)); break;
    case 4: build_uint(b, random_below(r, UINT64_MAX)); break;
    case 5: build_number(b, random_double(r)); break;
    default: build_text(b, random_text(b->arena, r)); break;
    }
}

/* Keys that differ, since they are numbered. */
static inline void random_key(struct build *b, struct random r, size_t number)
{
    struct buf key;
    buf_init(&key, b->arena, 4096);
    buf_add(&key, random_text(b->arena, r));
    buf_uint(&key, number);
    build_key(b, buf_slice(&key));
}

/* A value of about `size` parts; NULL when there is no memory. */
static inline const allm_json *random_value(struct arena *a, struct random r,
                                            size_t size)
{
    bool object[RANDOM_DEPTH];
    size_t depth = 0;
    struct build b;
    build_init(&b, a);
    for (size_t i = 0; i < size; i++) {
        uint64_t what = random_below(r, 6);
        if (depth && what == 0) {
            build_end(&b);
            if (--depth == 0)
                break;
            continue;
        }
        if (depth && object[depth - 1])
            random_key(&b, r, i);
        if (depth < RANDOM_DEPTH && (depth == 0 || what <= 2)) {
            object[depth] = random_below(r, 2) == 0;
            (object[depth++] ? build_object : build_array)(&b);
        } else {
            random_scalar(&b, r);
        }
    }
    for (; depth; depth--)
        build_end(&b);
    return build_done(&b);
}
