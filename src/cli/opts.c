/* opts.c - the options of a call from the command line: -o K V */
#include "cli/opts.h"

#include "cli/print.h"
#include "conf/member.h"

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

bool opts_put(struct opts *o, const char *key, allm_json *value)
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
    return opts_put(o, key, allm_json_build_done(b));
}

void opts_release(struct opts *o)
{
    allm_json_free(o->json);
    o->json = NULL;
}
