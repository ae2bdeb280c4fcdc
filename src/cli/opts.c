/* opts.c - the options of a call from the command line: -o K V */
#include "cli/opts.h"

#include "cli/print.h"
#include "cli/settings.h"
#include "conf/member.h"

#include <stdlib.h>
#include <string.h>

static void put_value(allm_json_build *b, const char *word)
{
    allm_json *value = allm_json_parse(word, strlen(word), NULL);
    if (allm_json_error(value))
        allm_json_build_text(b, word, strlen(word));
    else
        allm_json_build_value(b, value);
    allm_json_free(value);
}

/* If a name is repeated, the last one counts. */
static bool is_last(const struct flag_list *pairs, size_t at)
{
    for (size_t i = at + 2; i < pairs->count; i += 2)
        if (!strcmp(pairs->word[i], pairs->word[at]))
            return false;
    return true;
}

bool opts_read(struct opts *o, const struct flag_list *pairs)
{
    o->json = NULL;
    if (!pairs->count)
        return true;
    for (size_t i = 0; i < pairs->count; i += 2)
        if (!strcmp(pairs->word[i], "api_key"))
            return print_fault("a key never belongs on a command line; store "
                               "it with: allm keys set NAME, and use --key "
                               "NAME");
    allm_json_build *b = member_new_object();
    for (size_t i = 0; i < pairs->count; i += 2) {
        if (!is_last(pairs, i))
            continue;
        allm_json_build_key(b, pairs->word[i]);
        put_value(b, pairs->word[i + 1]);
    }
    o->json = member_done(b);
    if (o->json && !allm_json_error(o->json))
        return true;
    print_fault("cannot build the options of -o; are they too large?");
    opts_release(o);
    return false;
}

/* Frees the value. */
static bool put_option(struct opts *o, const char *key, allm_json *value)
{
    allm_json *empty = allm_json_parse("{}", 2, NULL);
    allm_json *all = allm_json_set(o->json ? o->json : empty, key, value);
    bool ok = all && !allm_json_error(all);
    allm_json_free(empty);
    allm_json_free(value);
    if (ok) {
        allm_json_free(o->json);
        o->json = all;
        return true;
    }
    print_fault("cannot set the option %s", key);
    allm_json_free(all);
    return false;
}

bool opts_put_number(struct opts *o, const char *key, int64_t n)
{
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_int(b, n);
    return put_option(o, key, allm_json_build_done(b));
}

/* ---------------------------------------------------------- reasoning --- */

static const char *const levels[] = { "none", "low", "medium", "high" };

static bool put_level(struct opts *o, const char *word, const char *what)
{
    static const char key[] = "reasoning_effort";
    char *end;
    double n = strtod(word, &end);
    double unit = !strcmp(end, "k") ? 1e3 : !strcmp(end, "M") ? 1e6 : !*end;
    n *= unit;
    if (end != word && unit > 0 && n >= 0 && n <= 1e9 &&
        n == (double)(int64_t)n)
        return opts_put_number(o, key, (int64_t)n);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (strcmp(word, levels[i]) != 0)
            continue;
        return put_option(o, key, member_alone(word, ALLM_NUL_ENDED));
    }
    return print_fault(
        "%s is none, low, medium, high or a number of tokens, not "
        "\"%.100s\"",
        what, word);
}

bool opts_put_reasoning(struct opts *o, const char *word)
{
    return put_level(o, word, "--reasoning");
}

bool opts_put_reasoning_setting(struct opts *o)
{
    const allm_json *value = settings_value("reasoning");
    const char *word = allm_json_text(value, NULL);
    if (!value)
        return true;
    allm_text *number = word ? NULL : allm_json_write(value, 0);
    if (!word && !number)
        return print_fault("out of memory");
    bool ok = put_level(o, word ? word : allm_text_bytes(number, NULL),
                        "the setting reasoning");
    allm_text_free(number);
    return ok;
}

void opts_release(struct opts *o)
{
    allm_json_free(o->json);
    o->json = NULL;
}
