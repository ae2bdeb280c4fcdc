/* flags.c - parse the flags of the command line */
#include "cli/flags.h"

#include "cli/print.h"
#include "cli/suggest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct line {
    const struct flag *table;
    char *into;
    char **next, **end; /* arguments not parsed yet */
};

static bool reject_unknown_flag(const struct flag *table, const char *word)
{
    struct suggest s;
    size_t len = strcspn(word, "=");
    suggest_begin(&s, word);
    suggest_try(&s, "--help");
    for (const struct flag *f = table; f->name; f++)
        suggest_try(&s, f->name);
    const char *near = len == strlen(word) ? suggest_found(&s) : NULL;
    print_fault("unknown flag \"%.100s\"%s%s%s (allm --help lists the flags)",
                word, near ? "; did you mean \"" : "", near ? near : "",
                near ? "\"?" : "");
    return false;
}

/* The flag for "-m", "--model" or "--model=x"; NULL if there is none. */
static const struct flag *find_flag(const struct flag *table, const char *word)
{
    size_t len = strcspn(word, "=");
    for (const struct flag *f = table; f->name; f++) {
        if (f->letter && word[0] == '-' && word[1] == f->letter && !word[2])
            return f;
        if (strlen(f->name) == len && !memcmp(f->name, word, len))
            return f;
    }
    return NULL;
}

static bool add_word(struct flag_list *list, const char *word)
{
    if (list->count == FLAGS_MAX) {
        print_fault("a flag is repeated too often");
        return false;
    }
    list->word[list->count++] = word;
    return true;
}

static bool read_number(const struct flag *f, const char *text, uint32_t *out)
{
    char *end;
    errno = 0;
    double n = strtod(text, &end);
    bool seconds = f->kind == FLAG_SECONDS;
    double most = seconds ? 4000000.0 : 4000000000.0;
    bool fits = n <= most && (seconds ? n > 0 : n >= 1) &&
                (seconds || n == (double)(uint32_t)n);
    if (end == text || *end || errno || !fits) {
        print_fault("%s needs a %s, not \"%.100s\"", f->name,
                    seconds ? "number of seconds" : "whole number from 1 on",
                    text);
        return false;
    }
    *out = (uint32_t)(seconds ? n * 1000 + 0.5 : n);
    if (!*out)
        *out = 1;
    return true;
}

static bool store_value(const struct line *l, const struct flag *f,
                        const char *value, const char *second)
{
    void *at = l->into + f->at;
    switch (f->kind) {
    case FLAG_SWITCH:
        *(bool *)at = true;
        return true;
    case FLAG_TEXT:
        *(const char **)at = value;
        return true;
    case FLAG_NUMBER:
    case FLAG_SECONDS:
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
    if (sign)
        print_fault("%s takes two arguments: %s %.*s %.100s", f->name, f->name,
                    (int)(sign - key < 100 ? sign - key : 100), key, sign + 1);
    return !sign;
}

static bool parse_flag(struct line *l, const char *word)
{
    const struct flag *f = find_flag(l->table, word);
    const char *value = strchr(word, '='), *second = NULL;
    if (!f)
        return reject_unknown_flag(l->table, word);
    bool wants = f->kind != FLAG_SWITCH;
    if (value && !wants) {
        print_fault("%s takes no value", f->name);
        return false;
    }
    value = value ? value + 1 : wants && l->next < l->end ? *l->next++ : NULL;
    if (f->kind == FLAG_PAIR && l->next < l->end)
        second = *l->next++;
    if ((wants && !value) || (f->kind == FLAG_PAIR && !second)) {
        print_fault("%s needs a value: %s %s", f->name, f->name, f->value);
        return false;
    }
    if (second && !is_pair(f, value))
        return false;
    return store_value(l, f, value, second);
}

bool flags_read(const struct flag *table, void *into, int *argc, char **argv)
{
    struct line l = { table, into, argv, argv + *argc };
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

bool flags_read_all(const char *name, const struct flag *table, void *into,
                    int argc, char **argv)
{
    if (!flags_read(table, into, &argc, argv))
        return false;
    if (argc)
        print_fault("%s takes no arguments, but got \"%s\"", name, argv[0]);
    return !argc;
}
