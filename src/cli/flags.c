/* flags.c - parse the flags of the command line */
#include "cli/flags.h"

#include "cli/print.h"
#include "cli/suggest.h"
#include "conf/keyring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
    const struct flag_set *sets;
    char **next, **end; /* arguments not parsed yet */
};

/* A flag and the struct that it fills; flag NULL: there is none. */
struct match {
    const struct flag *flag;
    char *into;
};

static bool reject_unknown_flag(const struct line *l, const char *word)
{
    struct suggest s;
    char name[100];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    suggest_begin(&s, name);
    suggest_try(&s, "--help");
    for (const struct flag_set *set = l->sets; set->table; set++)
        for (const struct flag *f = set->table; f->name; f++)
            if (flags_has(set, f))
                suggest_try(&s, f->name);
    return print_fault("unknown flag \"%s\"%s (--help --all lists the flags)",
                       name, suggest_hint(&s));
}

bool flags_has(const struct flag_set *set, const struct flag *f)
{
    return !set->use || f->use & set->use;
}

/* The flag with this letter, or with a name of this length. */
static struct match find_flag(const struct line *l, char letter,
                              const char *name, size_t len)
{
    for (const struct flag_set *set = l->sets; set->table; set++)
        for (const struct flag *f = set->table; f->name; f++) {
            bool same = letter ? f->letter == letter
                               : strlen(f->name) == len &&
                                     !memcmp(f->name, name, len);
            if (same && flags_has(set, f))
                return (struct match){ f, set->into };
        }
    return (struct match){ NULL, NULL };
}

static bool add_word(struct flag_list *list, const char *word)
{
    if (list->count == FLAGS_MAX)
        return print_fault("a flag is repeated too often");
    list->word[list->count++] = word;
    return true;
}

/* What the letters after a number multiply it by; 0: they mean nothing. */
static double unit_of(enum flag_kind kind, const char *unit)
{
    static const struct {
        enum flag_kind kind;
        const char *unit;
        double times;
    } units[] = {
        { FLAG_NUMBER, "k", 1e3 },   { FLAG_NUMBER, "M", 1e6 },
        { FLAG_SECONDS, "s", 1 },    { FLAG_SECONDS, "m", 60 },
        { FLAG_SECONDS, "h", 3600 },
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (units[i].kind == kind && !strcmp(units[i].unit, unit))
            return units[i].times;
    return *unit ? 0 : 1;
}

static bool reject_number(const struct flag *f, const char *text)
{
    const char *wanted =
        f->kind == FLAG_SECONDS
            ? "number of seconds, or a time such as 90s, 5m or 2h"
        : f->kind == FLAG_COST ? "amount in US dollars, such as 0.50"
                               : "whole number from 1 on";
    return print_fault("%s needs %s %s, not \"%.100s\"", f->name,
                       f->kind == FLAG_COST ? "an" : "a", wanted, text);
}

/* Parse a decimal number (no hexadecimal, infinity or sign) with its unit. */
static bool parse_number(const struct flag *f, const char *text, double *out)
{
    char *end;
    errno = 0;
    double n = strtod(text, &end);
    bool plain = strspn(text, "0123456789.") == (size_t)(end - text);
    *out = n * unit_of(f->kind, end);
    return plain && end != text && !errno && *out > 0;
}

static bool read_number(const struct flag *f, const char *text, void *at)
{
    double n;
    bool seconds = f->kind == FLAG_SECONDS;
    double most = seconds ? 4000000.0 : 4000000000.0;
    if (!parse_number(f, text, &n) || n > most ||
        (f->kind == FLAG_NUMBER && n != (double)(uint32_t)n))
        return reject_number(f, text);
    if (f->kind == FLAG_COST) {
        *(double *)at = n;
        return true;
    }
    uint32_t whole = (uint32_t)(seconds ? n * 1000 + 0.5 : n);
    *(uint32_t *)at = whole ? whole : 1;
    return true;
}

bool flags_next_word(const char **words, char word[64])
{
    size_t n = strcspn(*words, "|");
    snprintf(word, 64, "%.*s", (int)n, *words);
    *words += n + ((*words)[n] != 0);
    return n > 0;
}

/* Is it one of "auto|on|off"? */
static bool read_choice(const struct flag *f, const char *text, void *at)
{
    char word[64];
    for (const char *w = f->words; flags_next_word(&w, word);)
        if (!strcmp(word, text)) {
            *(const char **)at = text;
            return true;
        }
    return print_fault("%s needs one of %s, not \"%.100s\"", f->name, f->words,
                       text);
}

static bool store_value(const struct match *m, const char *value,
                        const char *second)
{
    const struct flag *f = m->flag;
    void *at = m->into + f->at;
    switch (f->kind) {
    case FLAG_SWITCH:
        *(bool *)at = true;
        return true;
    case FLAG_TEXT:
        *(const char **)at = value;
        return true;
    case FLAG_CHOICE:
        return read_choice(f, value, at);
    case FLAG_NUMBER:
    case FLAG_SECONDS:
    case FLAG_COST:
        return read_number(f, value, at);
    case FLAG_LIST:
        return add_word(at, value);
    case FLAG_PAIR:
        return add_word(at, value) && add_word(at, second);
    }
    return false;
}

/* Reject K=V: a pair is two arguments, so the second would be the prompt. */
static bool is_pair(const struct flag *f, const char *key)
{
    const char *sign = strchr(key, '=');
    size_t len = sign ? (size_t)(sign - key) : 0;
    if (sign)
        print_fault("%s takes two arguments: %s %.*s %.100s", f->name, f->name,
                    (int)(len < 100 ? len : 100), key,
                    keyring_looks_secret(sign + 1) ? "***" : sign + 1);
    return !sign;
}

/* Read the value of a flag: `value`, or the next arguments. */
static bool take_value(struct line *l, const struct match *m, const char *value)
{
    const struct flag *f = m->flag;
    const char *second = NULL;
    bool wants = f->kind != FLAG_SWITCH;
    if (value && !wants)
        return print_fault("%s takes no value", f->name);
    if (!value && wants && l->next < l->end)
        value = *l->next++;
    if (f->kind == FLAG_PAIR && l->next < l->end)
        second = *l->next++;
    if ((wants && !value) || (f->kind == FLAG_PAIR && !second))
        return print_fault("%s needs a value: %s %s", f->name, f->name,
                           f->value);
    return (!second || is_pair(f, value)) && store_value(m, value, second);
}

/* Are these the letters of flags, of which only the last takes a value? */
static bool are_letters(const struct line *l, const char *word)
{
    for (const char *c = word + 1; *c; c++) {
        struct match m = find_flag(l, *c, NULL, 0);
        if (!m.flag || (c[1] && m.flag->kind != FLAG_SWITCH))
            return false;
    }
    return true;
}

static bool parse_flag(struct line *l, const char *word)
{
    size_t len = strcspn(word, "=");
    struct match m = find_flag(l, 0, word, len);
    if (m.flag)
        return take_value(l, &m, word[len] ? word + len + 1 : NULL);
    if (word[1] == '-' || !are_letters(l, word))
        return reject_unknown_flag(l, word);
    for (const char *c = word + 1; *c; c++) {
        m = find_flag(l, *c, NULL, 0);
        if (!take_value(l, &m, NULL))
            return false;
    }
    return true;
}

bool flags_read_sets(const struct flag_set *sets, int *argc, char **argv)
{
    struct line l = { sets, argv, argv + *argc };
    bool flags_ended = false;
    int word_count = 0;
    while (l.next < l.end) {
        char *word = *l.next++;
        if (flags_ended || word[0] != '-' || !word[1])
            argv[word_count++] = word;
        else if (!strcmp(word, "--"))
            flags_ended = true;
        else if (!parse_flag(&l, word))
            return false;
    }
    *argc = word_count;
    return true;
}

bool flags_read(const struct flag *table, void *into, int *argc, char **argv)
{
    struct flag_set sets[] = { { table, into, 0 }, { NULL, NULL, 0 } };
    return flags_read_sets(sets, argc, argv);
}

bool flags_read_all(const char *name, const struct flag *table, void *into,
                    int argc, char **argv)
{
    if (!flags_read(table, into, &argc, argv))
        return false;
    if (argc)
        print_fault("%s takes no arguments, but got \"%s\"", name, argv[0]);
    return !argc;
}
