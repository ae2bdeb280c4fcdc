/*
 * bomb.c - compressed answers that inflate to a very large size
 *
 * Both use the fixed codes of deflate: a copy of the previous 258 bytes takes
 * 20 bits.  So the first bomb repeats itself every 5 bytes and compresses well
 * in turn.
 */
#include "harness/bomb.h"

#include "harness/fault.h"

#include <stdlib.h>
#include <string.h>

enum { COPIES = 1100000, RUN = 258 };

/* Bits of a deflate stream, lowest first; codes are highest first. */
struct bits {
    unsigned char *to;
    size_t at;                  /* in bits */
};

static void put_bits(struct bits *b, unsigned n, int count)
{
    for (int i = 0; i < count; i++, b->at++)
        if (n >> i & 1)
            b->to[b->at / 8] |= (unsigned char)(1 << b->at % 8);
}

static void put_code(struct bits *b, unsigned code, int count)
{
    for (int i = count; i-- > 0;)
        put_bits(b, code >> i & 1, 1);
}

static void put_byte(struct bits *b, unsigned char c)
{
    if (c < 144)
        put_code(b, 0x30u + c, 8);
    else
        put_code(b, 0x190u + c - 144, 9);
}

/* Copy 258 bytes from `back` (257 to 384) bytes before. */
static void put_copy(struct bits *b, unsigned back)
{
    put_code(b, 0xC5, 8);
    put_code(b, 16, 5);
    put_bits(b, back - 257, 7);
}

/* Write literal bytes, then copies; returns the length. */
static size_t pack(unsigned char *to, const unsigned char *first, size_t n,
                   unsigned back, size_t copies)
{
    struct bits b = { to, (sizeof FAULT_GZIP_HEAD - 1) * 8 };
    memcpy(to, FAULT_GZIP_HEAD, sizeof FAULT_GZIP_HEAD - 1);
    put_bits(&b, 3, 3);         /* one block, with the fixed codes */
    for (size_t i = 0; i < n; i++)
        put_byte(&b, first[i]);
    for (size_t i = 0; i < copies; i++)
        put_copy(&b, back);
    return b.at / 8;
}

static unsigned char *room(size_t size)
{
    unsigned char *p = calloc(1, size);
    if (!p)
        abort();
    return p;
}

static const char *join(char **kept, const char *head, const char *coding,
                        const unsigned char *body, size_t *len)
{
    size_t first = strlen(head), second = strlen(coding);
    *kept = (char *)room(first + second + *len);
    memcpy(*kept, head, first);
    memcpy(*kept + first, coding, second);
    memcpy(*kept + first + second, body, *len);
    *len += first + second;
    return *kept;
}

const char *bomb_once(char **kept, const char *head, const char *first,
                      size_t *len)
{
    unsigned char *body = room(RUN * 2 + COPIES / 8 * 20 + 64);
    *len = pack(body, (const unsigned char *)first, RUN, RUN, COPIES);
    join(kept, head, "Content-Encoding: gzip\r\n\r\n", body, len);
    free(body);
    return *kept;
}

const char *bomb_twice(char **kept, const char *head, const char *first,
                       size_t *len)
{
    enum { BEGINNING = 600, BACK = 260 };
    size_t most = RUN * 2 + COPIES / 8 * 20 + 64;
    unsigned char *inner = room(most), *outer = room(most);
    size_t n = pack(inner, (const unsigned char *)first, RUN, RUN, COPIES);
    *len = pack(outer, inner, BEGINNING, BACK, (n - BEGINNING) / RUN);
    join(kept, head, "Content-Encoding: gzip, gzip\r\n\r\n", outer, len);
    free(inner);
    free(outer);
    return *kept;
}
