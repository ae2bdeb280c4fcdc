/*
 * output.c - what a process writes, up to a limit: its beginning and its end
 *
 *      head:  [ a b c d e f ]  full: what follows goes to the tail
 *      tail:  [ x y z u v w ]  a ring; tail_at is the oldest byte once it is
 *                              full
 */
#include "proc/output.h"

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
    o->total += s.len;
    if (o->broken)
        return;
    buf_add(&o->head, (struct slice){ s.ptr, n });
    o->broken = o->head.broken;
    if (s.len > n && !o->broken)
        add_tail(o, slice_skip(s, n));
}

struct slice output_text(struct output *o)
{
    struct buf all;
    uint64_t rest = o->total - o->head.len;
    size_t kept = rest < o->tail_max ? (size_t)rest : o->tail_max;
    size_t from = kept < o->tail_max ? 0 : o->tail_at;
    if (o->broken)
        return (struct slice){ NULL, 0 };
    if (!rest)
        return buf_slice(&o->head);
    buf_init(&all, &o->arena, SIZE_MAX / 2);
    buf_add(&all, buf_slice(&o->head));
    if (rest > kept)
        buf_format(&all, "\n[%llu bytes left out]\n",
                   (unsigned long long)(rest - kept));
    size_t first = kept < o->tail_max - from ? kept : o->tail_max - from;
    buf_add(&all, (struct slice){ o->tail + from, first });
    buf_add(&all, (struct slice){ o->tail, kept - first });
    return all.broken ? (struct slice){ NULL, 0 } : buf_slice(&all);
}
