/*
 * val.h - the representation of a JSON value: yyjson's, private to json/
 *
 *      head      root        members ...
 *      [16 bytes][16 bytes][16 bytes][16 bytes] ...
 *
 * Only sources of json/ include this file; all others use json.h.
 */
#pragma once

#include "base/home.h"

#include <yyjson.h>

/*
 * Every value that is not inside another one follows a head.  No value has the
 * tag of a head, so a root can be distinguished from a member.
 */
struct val_head {
    uint64_t tag;               /* VAL_HEAD */
    struct allm_home *home;     /* NULL: the value is not a root */
};

#define VAL_HEAD 0x6d6c6c61e0u  /* type NONE, reserved bits set */

static inline const yyjson_val *val_of(const allm_json *v)
{
    return (const yyjson_val *)(const void *)v;
}

static inline const allm_json *val_json(const yyjson_val *v)
{
    return (const allm_json *)(const void *)v;
}

/* For code that made the value and may still change it. */
static inline yyjson_val *val_own(const allm_json *v)
{
    return (yyjson_val *)(uintptr_t)v;
}

static inline uint8_t val_type(const yyjson_val *v)
{
    return (uint8_t)(v->tag & YYJSON_TYPE_MASK);
}

static inline uint8_t val_subtype(const yyjson_val *v)
{
    return (uint8_t)(v->tag & YYJSON_SUBTYPE_MASK);
}

static inline size_t val_len(const yyjson_val *v)
{
    return (size_t)(v->tag >> YYJSON_TAG_BIT);
}

/* An array or an object (the two highest types). */
static inline bool val_holds(const yyjson_val *v)
{
    return (v->tag & YYJSON_TYPE_ARR) == YYJSON_TYPE_ARR;
}

/* A string, or a number that is kept as text. */
static inline bool val_has_text(const yyjson_val *v)
{
    uint8_t type = val_type(v);
    return type == YYJSON_TYPE_STR || type == YYJSON_TYPE_RAW;
}

static inline struct slice val_slice(const yyjson_val *v)
{
    return (struct slice){ v->uni.str, val_len(v) };
}

/* Does this string or key have that text? */
static inline bool val_names(const yyjson_val *v, struct slice text)
{
    return val_len(v) == text.len && slice_same(v->uni.str, text.ptr, text.len);
}

/* The number of values in this one, including itself. */
static inline size_t val_span(const yyjson_val *v)
{
    return val_holds(v) ? v->uni.ofs / sizeof *v : 1;
}

/* The value after it: its next sibling, or the end of its container. */
static inline const yyjson_val *val_after(const yyjson_val *v)
{
    size_t bytes = val_holds(v) ? v->uni.ofs : sizeof *v;
    return (const yyjson_val *)(const void *)((const char *)v + bytes);
}

/* The tag of a string of this length; nothing is known about its bytes. */
static inline uint64_t val_text_tag(size_t len)
{
    return ((uint64_t)len << YYJSON_TAG_BIT) | YYJSON_TYPE_STR;
}

/* The bytes of the strings of n consecutive values, each with its NUL. */
size_t val_text_bytes(const yyjson_val *v, size_t n);

/* Move the strings of n consecutive values to `room`. */
void val_copy_texts(yyjson_val *v, size_t n, char *room);

/* Adapts an arena for yyjson: pieces grow in place and are never freed. */
yyjson_alc val_allocator(struct arena *a);

static inline void val_set_head(yyjson_val *v, struct allm_home *home)
{
    struct val_head head = { VAL_HEAD, home };
    memcpy(v - 1, &head, sizeof head);
}
