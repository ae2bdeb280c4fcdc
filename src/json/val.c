/* val.c - the representation of a JSON value: yyjson's, private to json/ */
#include "json/val.h"

size_t val_text_bytes(const yyjson_val *v, size_t n)
{
    size_t bytes = 0;
    for (const yyjson_val *end = v + n; v < end; v++)
        if (val_has_text(v))
            bytes += val_len(v) + 1;
    return bytes;
}

void val_copy_texts(yyjson_val *v, size_t n, char *room)
{
    for (yyjson_val *end = v + n; v < end; v++) {
        if (!val_has_text(v))
            continue;
        size_t len = val_len(v);
        memcpy(room, v->uni.str, len);
        room[len] = '\0';
        v->uni.str = room;
        room += len + 1;
    }
}

static void *take_piece(void *arena, size_t size)
{
    return arena_alloc(arena, size);
}

static void *grow_piece(void *arena, void *p, size_t old, size_t size)
{
    return arena_resize(arena, p, old, size);
}

static void leave_piece(void *arena, void *p)
{
    (void)arena;
    (void)p;
}

yyjson_alc val_allocator(struct arena *a)
{
    return (yyjson_alc){ take_piece, grow_piece, leave_piece, a };
}
