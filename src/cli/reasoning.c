/* reasoning.c - --reasoning LEVEL: how much a model thinks */
#include "cli/reasoning.h"

#include "cli/print.h"
#include "cli/settings.h"

#include <stdlib.h>
#include <string.h>

/* The level for a number of tokens: the first row that is large enough. */
static const struct {
    const char *level;
    double tokens;
} levels[] = {
    { "none", 0 },
    { "low", 2048 },
    { "medium", 8192 },
    { "high", 1e9 },
};

/* The level of a name or a number; NULL: it is neither. */
static const char *find_level(const char *word)
{
    char *end;
    double n = strtod(word, &end);
    bool number = end != word && !*end && n >= 0 && n <= 1e9;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (number ? n <= levels[i].tokens : !strcmp(word, levels[i].level))
            return levels[i].level;
    return NULL;
}

static bool put_level(struct opts *o, const char *word, const char *what)
{
    const char *level = find_level(word);
    if (!level)
        return print_fault(
            "%s is none, low, medium, high or a number of tokens, not "
            "\"%.100s\"",
            what, word);
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_text(b, level, ALLM_NUL_ENDED);
    return opts_put(o, "reasoning_effort", allm_json_build_done(b));
}

bool reasoning_put(struct opts *o, const char *word)
{
    return put_level(o, word, "--reasoning");
}

bool reasoning_put_setting(struct opts *o)
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
