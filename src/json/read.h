/*
 * read.h - the reader: a text becomes values, in one pass
 *
 * Shared by read.c, which knows the structure, and read_text.c, which knows
 * what stands between quotes.  Others go by parse.h and partial.h.
 */
#ifndef JSON_READ_H
#define JSON_READ_H

#include "json/val.h"
#include "json/where.h"

struct reading {
    struct arena *arena;
    struct slice text;          /* the caller's, never changed */
    size_t max_depth;
    bool duplicates;            /* equal keys: the first wins */
    bool partial;               /* the text may stop anywhere */

    char *start, *end;          /* our copy; zeros stand behind it */
    yyjson_val *vals;           /* a head, the root, its members */
    yyjson_val *next, *limit;   /* where the next one goes, and none */
    size_t open;                /* index of the innermost container, or 0 */
    size_t depth;               /* of the open containers */
    char closer;                /* what ends the innermost: } or ] or 0 */
    char *big_end;              /* a number kept as text still needs its NUL */
    bool has_twins;             /* equal keys were seen, and allowed */

    bool cut;                   /* the text stopped, as it may */
    bool no_memory;
    struct fault fault;         /* its word is set: the text is refused */
};

/* Zeros that must stand behind the copy, so that words can be loaded. */
enum { READ_PADDING = 8 };

/*
 * Read.  The root is r->vals + 1, if it is before r->next: there is none when a
 * partial text is but white space.  False: no_memory, or a fault.
 */
bool read_document(struct reading *r);

/* The text is wrong at a place: refused; or if that is its end, it is cut.
 * Gives NULL. */
char *read_wrong(struct reading *r, const char *at, const char *detail,
                 const char *expected);

/*
 * Read a text, from behind its quote, that begins with plain characters up to
 * `at`.  Gives the place behind the closing quote, or NULL as read_wrong();
 * of a text that was cut, *v holds what is there.
 */
char *read_text_rest(struct reading *r, char *from, char *at, yyjson_val *v);

#define READ_EVERY(byte) ((uint64_t)0x0101010101010101u * (byte))

/*
 * The high bit of each byte that is not plain.  Turning over bit 1 puts the
 * quote, 0x22, next to the control characters, so that one subtraction finds
 * them all.  A borrow may mark bytes above a found one: trust the lowest.
 */
static inline uint64_t read_special(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    uint64_t low = (word ^ READ_EVERY(0x02)) - READ_EVERY(0x21);
    uint64_t backslash = (word ^ READ_EVERY('\\')) - READ_EVERY(1);
    return (low | backslash | word) & READ_EVERY(0x80);
}

/* True if the first byte in memory is the lowest of a word. */
static inline bool read_low_first(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first;               /* the compiler knows */
}

/* The first byte that is not plain; the padding has one. */
static inline char *read_skip_plain(char *at)
{
    uint64_t special = read_special(at);
    while (!special) {
        at += 8;
        special = read_special(at);
    }
    if (read_low_first())
        return at + ((unsigned)__builtin_ctzll(special) / 8);
    while ((unsigned char)*at >= ' ' && (unsigned char)*at < 0x80 &&
           *at != '"' && *at != '\\')
        at++;
    return at;
}

#endif
