/*
 * emphasis.c - find the pairs of * _ and ~~ (CommonMark 0.30, 6.2)
 *
 * The delimiters form a list.  A closing one takes the nearest opening one of
 * its kind; those between the two are dead.  Where a search has found nothing,
 * the next search of the same kind stops (`floor`), so the time is linear.
 */
#include "term/token.h"

struct search {
    struct tokens *t;
    uint16_t floor[18]; /* by kind of delimiter */
};

static bool is_space(uint32_t c)
{
    return c <= ' ' || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x202f || c == 0x205f ||
           c == 0x3000;
}

static bool is_punctuation(uint32_t c)
{
    if (c < 0x80)
        return c > ' ' && c < 0x7f && !(c >= '0' && c <= '9') &&
               !((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    return c == 0xa1 || c == 0xa7 || c == 0xab || c == 0xb6 || c == 0xb7 ||
           c == 0xbb || c == 0xbf || (c >= 0x2010 && c <= 0x2027) ||
           (c >= 0x2030 && c <= 0x205e && c != 0x2044 && c != 0x2052) ||
           (c >= 0x3001 && c <= 0x3003) || (c >= 0x3008 && c <= 0x3011) ||
           (c >= 0x3014 && c <= 0x301f && c != 0x3020) ||
           (c >= 0xff01 && c <= 0xff0f && c != 0xff04 && c != 0xff0b) ||
           c == 0xff1a || c == 0xff1b || c == 0xff1f;
}

void emphasis_add(struct tokens *t, size_t at, size_t len, uint32_t before,
                  uint32_t after)
{
    bool left = !is_space(after) &&
                (!is_punctuation(after) || is_space(before) ||
                 is_punctuation(before));
    bool right = !is_space(before) &&
                 (!is_punctuation(before) || is_space(after) ||
                  is_punctuation(after));
    bool inner = t->text[at] == '_'; /* not within a word */
    struct token *d = &t->list[t->count];
    *d = (struct token){
        .kind = TOKEN_DELIMITER,
        .at = (uint16_t)at,
        .len = (uint16_t)len,
        .count = (uint16_t)len,
        .opens = left && (!inner || !right || is_punctuation(before)),
        .closes = right && (!inner || !left || is_punctuation(after)),
        .before = t->last,
    };
    if (t->text[at] == '~' && len != 2)
        d->opens = d->closes = false;
    if (t->last)
        t->list[t->last].after = (uint16_t)t->count;
    t->last = (uint16_t)t->count++;
}

static void remove_delimiter(struct tokens *t, uint16_t n)
{
    struct token *d = &t->list[n];
    if (d->before)
        t->list[d->before].after = d->after;
    if (d->after)
        t->list[d->after].before = d->before;
    else
        t->last = d->before;
}

/* Where a search for this closing delimiter may stop. */
static uint16_t *floor_of(struct search *s, const struct token *closer)
{
    char c = s->t->text[closer->at];
    int kind = c == '*' ? 0 : c == '_' ? 1 : 2;
    return &s->floor[kind * 6 + closer->opens * 3 + closer->len % 3];
}

static bool are_pair(const struct tokens *t, const struct token *opener,
                     const struct token *closer)
{
    if (!opener->opens || t->text[opener->at] != t->text[closer->at])
        return false;
    bool both = opener->closes || closer->opens;
    return !both || (opener->len + closer->len) % 3 || opener->len % 3 == 0;
}

static uint16_t find_opener(struct search *s, uint16_t closer)
{
    const struct token *list = s->t->list;
    uint16_t floor = *floor_of(s, &list[closer]);
    uint16_t n = list[closer].before;
    while (n > floor && !are_pair(s->t, &list[n], &list[closer]))
        n = list[n].before;
    return n > floor ? n : 0;
}

static void join_pair(struct tokens *t, uint16_t first, uint16_t second)
{
    struct token *opener = &t->list[first], *closer = &t->list[second];
    uint16_t used = opener->count >= 2 && closer->count >= 2 ? 2 : 1;
    while (closer->before != first)
        remove_delimiter(t, closer->before);
    closer->from = first; /* the leftmost one */
    opener->count = (uint16_t)(opener->count - used);
    closer->count = (uint16_t)(closer->count - used);
    if (used == 2) {
        opener->strong_open++;
        closer->strong_close++;
    } else {
        opener->em_open++;
        closer->em_close++;
    }
    if (!opener->count)
        remove_delimiter(t, first);
}

/* The first delimiter behind `bottom`. */
static uint16_t first_behind(const struct tokens *t, size_t bottom)
{
    uint16_t n = t->last, first = 0;
    for (; n > bottom; n = t->list[n].before)
        first = n;
    return first;
}

void emphasis_pair(struct tokens *t, size_t bottom, bool drop)
{
    struct search s = { .t = t };
    for (int i = 0; i < 18; i++)
        s.floor[i] = (uint16_t)bottom;
    uint16_t n = first_behind(t, bottom);
    while (n) {
        struct token *d = &t->list[n];
        uint16_t opener = d->closes ? find_opener(&s, n) : 0;
        uint16_t next = d->after;
        if (opener) {
            join_pair(t, opener, n);
            if (d->count)
                continue;
            remove_delimiter(t, n);
        } else if (d->closes) {
            *floor_of(&s, d) = d->before > bottom ? d->before
                                                  : (uint16_t)bottom;
            if (!d->opens)
                remove_delimiter(t, n);
        }
        n = next;
    }
    while (drop && t->last > bottom)
        remove_delimiter(t, t->last);
}
