/*
 * output.c - what a process writes, up to a limit: its beginning and its end
 *
 *      head:  [ a b c d e f ]  full: what follows goes to the tail
 *      tail:  [ x y z u v w ]  a ring; tail_at is the oldest byte once it is
 *                              full
 */
#include "proc/output.h"

#include "base/utf8.h"

void output_init(struct output *o, struct mem mem, size_t head_max,
                 size_t tail_max)
{
    *o = (struct output){ .tail_max = tail_max };
    arena_init(&o->arena, mem);
    buf_init(&o->head, &o->arena, head_max);
}

void output_release(struct output *o)
{
    arena_release(&o->arena);
}

static void add_tail(struct output *o, struct slice s)
{
    if (!o->tail_max)
        return;
    if (!o->tail)
        o->tail = arena_alloc(&o->arena, o->tail_max);
    if (!o->tail) {
        o->broken = true;
        return;
    }
    if (s.len > o->tail_max)
        s = slice_skip(s, s.len - o->tail_max);
    while (s.len) {
        size_t room = o->tail_max - o->tail_at;
        size_t n = s.len < room ? s.len : room;
        memcpy(o->tail + o->tail_at, s.ptr, n);
        o->tail_at = (o->tail_at + n) % o->tail_max;
        s = slice_skip(s, n);
    }
}

void output_add(struct output *o, struct slice s)
{
    size_t room = o->head.limit - o->head.len;
    size_t n = s.len < room ? s.len : room;
    struct slice rest = slice_skip(s, n);
    bool full = o->total == o->head.len;        /* this piece fills the head */
    o->total += s.len;
    if (o->broken)
        return;
    buf_add(&o->head, (struct slice){ s.ptr, n });
    o->broken = o->head.broken;
    if (!rest.len || o->broken)
        return;
    if (full) {
        sha256_init(&o->sum);
        sha256_add(&o->sum, buf_slice(&o->head));
    }
    sha256_add(&o->sum, rest);
    add_tail(o, rest);
}

void output_sum(const struct output *o, char out[SHA256_HEX + 1])
{
    struct sha256 sum = o->sum;
    if (o->total == o->head.len)
        sha256_hex(buf_slice(&o->head), out);
    else
        sha256_done_hex(&sum, out);
}

/* Without the end of a character whose beginning is left out. */
static size_t skip_rest(const char *tail, size_t len)
{
    size_t n = 0;
    while (n < 3 && n < len && (tail[n] & 0xc0) == 0x80)
        n++;
    return n;
}

/* The tail in order, NUL-terminated. */
static char *unroll_tail(struct output *o, size_t kept)
{
    size_t from = kept < o->tail_max ? 0 : o->tail_at;
    size_t first = kept < o->tail_max - from ? kept : o->tail_max - from;
    char *tail = arena_alloc(&o->arena, kept + 1);
    if (!tail)
        return NULL;
    if (kept) {
        memcpy(tail, o->tail + from, first);
        memcpy(tail + first, o->tail, kept - first);
    }
    tail[kept] = 0;
    return tail;
}

bool output_is_cut(const struct output *o)
{
    return o->total - o->head.len > o->tail_max;
}

struct slice output_text(struct output *o)
{
    uint64_t rest = o->total - o->head.len;
    size_t kept = rest < o->tail_max ? (size_t)rest : o->tail_max;
    if (o->broken)
        return (struct slice){ NULL, 0 };
    if (!rest)
        return buf_slice(&o->head);
    struct slice head = buf_slice(&o->head);
    struct slice tail = { unroll_tail(o, kept), kept };
    if (!tail.ptr)
        return tail;
    if (rest > kept) {
        head.len -= utf8_unfinished(head);
        tail = slice_skip(tail, skip_rest(tail.ptr, kept));
    }
    struct buf all = buf_in(&o->arena, SIZE_MAX / 2);
    buf_add(&all, head);
    if (rest > kept && o->head.limit)
        buf_format(&all, "\n[%llu bytes left out]\n",
                   (unsigned long long)(o->total - head.len - tail.len));
    buf_add(&all, tail);
    if (all.broken)
        return (struct slice){ NULL, 0 };
    return buf_slice(&all);
}
