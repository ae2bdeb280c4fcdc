/* call_ids.c - make the ids of calls unique in a conversation */
#include "provider/call_ids.h"

#include "provider/hash.h"

void call_ids_init(struct call_ids *c, struct history_ids rules,
                   struct arena *a)
{
    *c = (struct call_ids){ .arena = a, .rules = rules };
}

/* The entry of an id, or the free one for it. */
static struct call_ids_used *table_place(const struct call_ids *c,
                                         const char *id)
{
    uint64_t h = hash_add(HASH_START, slice_of(id));
    size_t i = (size_t)(h ^ h >> 32) & (c->cap - 1);
    while (c->table[i].id && strcmp(c->table[i].id, id) != 0)
        i = (i + 1) & (c->cap - 1);
    return &c->table[i];
}

/* Make room for one more id; half of the table stays free. */
static bool table_grow(struct call_ids *c)
{
    struct call_ids old = *c;
    if (c->cap && c->count < c->cap / 2)
        return true;
    c->cap = old.cap ? old.cap * 2 : 32;
    c->table = arena_zero(c->arena, c->cap * sizeof *c->table);
    if (!c->table) {
        *c = old;
        return false;
    }
    for (size_t i = 0; i < old.cap; i++)
        if (old.table[i].id)
            *table_place(c, old.table[i].id) = old.table[i];
    return true;
}

enum { NUMBER_LEN = 21 };       /* length of "_" and the longest number */

static const char *add_number(struct call_ids *c, const char *id, size_t n)
{
    struct slice head = slice_of(id);
    if (c->rules.most > NUMBER_LEN && head.len > c->rules.most - NUMBER_LEN)
        head.len = c->rules.most - NUMBER_LEN;
    while (head.len && ((unsigned char)id[head.len] & 0xC0) == 0x80)
        head.len--;             /* do not split a character */
    struct buf text = buf_in(c->arena, SIZE_MAX / 2);
    buf_add(&text, head);
    buf_byte(&text, '_');
    buf_uint(&text, n);
    return text.broken ? NULL : history_id(&c->rules, text.ptr, c->arena);
}

/* The next free id that is derived from an id in use. */
static const char *id_make(struct call_ids *c, struct call_ids_used *used)
{
    const char *mine;
    size_t n = used->number ? used->number : 1;
    do
        mine = add_number(c, used->id, ++n);
    while (mine && table_place(c, mine)->id);
    used->number = n;           /* the lower numbers are all in use */
    return mine;
}

const char *call_ids_next(struct call_ids *c, const char *id, bool *plain)
{
    const char *mine = history_id(&c->rules, id, c->arena);
    struct call_ids_used *used = mine && table_grow(c) ? table_place(c, mine)
                                                       : NULL;
    *plain = used && !used->id;
    if (used && used->id)
        mine = id_make(c, used);
    if (!used || !mine) {
        c->broken = true;
        return NULL;
    }
    table_place(c, mine)->id = mine;
    c->count++;
    return mine;
}

bool call_ids_ask(struct call_ids *c, const allm_message *m)
{
    bool all_plain = true;
    size_t n = m->tool_call_count;
    c->assistant = m;
    c->answered = 0;
    c->turn = arena_zero(c->arena, (n + 1) * sizeof *c->turn);
    c->broken = c->broken || !c->turn;
    for (size_t i = 0; !c->broken && i < n; i++) {
        bool plain = true;
        c->turn[i] = call_ids_next(c, m->tool_calls[i]->id, &plain);
        all_plain = all_plain && plain;
    }
    return all_plain && !c->broken;
}

const char *call_ids_answer(struct call_ids *c, const allm_message *result,
                            bool *plain)
{
    const char *own = history_id(&c->rules, result->tool_call_id, c->arena);
    const char *id = own;
    c->broken = c->broken || !own;
    *plain = false;
    if (c->broken)
        return NULL;
    if (c->assistant && c->answered < c->assistant->tool_call_count)
        id = c->turn[c->answered++];
    *plain = !strcmp(id, own);
    return id;
}
