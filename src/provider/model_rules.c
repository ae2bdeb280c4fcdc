/*
 * model_rules.c - rules for requests that depend on the name of the model
 *
 *      us.anthropic.claude-opus-4-1-20250805-v1:0
 *                   '-----'    '-'
 *      ft:gpt-      4o-mini-2024-07-18:acme::1
 *         line      words, and the first small number is the version
 *
 * The first matching row counts.  Special rows are therefore before general
 * ones, and the last row of a line has no upper limit: an unknown newer version
 * gets that row.  A name without a number ("claude-mythos-preview",
 * "gemini-flash-latest") is newer than all numbers.  OpenAI's rows do not cover
 * such names, because other vendors also call their models gpt-something.
 *
 * Each row has the number of its source in docs/models.md;
 * tests/lint/test_models.py compares them.
 */
#include "provider/model_rules.h"

#include "base/nocase.h"

enum {
    LAST = 9999,                /* the highest version: 100 * major + minor */
    UNNUMBERED = 10000,

    REASONER = MODEL_RESPONSES | MODEL_NEW_TOKENS | MODEL_REASONS,
    CLAUDE_47 = MODEL_ADAPTIVE | MODEL_XHIGH | MODEL_HIDES | MODEL_NO_SAMPLING,
    CLAUDE_5 = CLAUDE_47 | MODEL_THINKS
};

static const struct rule {
    const char *line;           /* the beginning of the name */
    const char *word;           /* a word that it contains; NULL: any */
    int from, to;               /* versions */
    uint32_t rules;
} table[] = {
    /* OpenAI */
    { "gpt-35-", NULL, 0, UNNUMBERED, MODEL_PLAIN },                   /* M01 */
    { "gpt-", "oss", 0, UNNUMBERED, MODEL_LEVELS },                    /* M02 */
    { "gpt-", "image", 0, UNNUMBERED, MODEL_BASE64 },                  /* M03 */
    { "gpt-", "search", 0, UNNUMBERED,
      MODEL_NEW_TOKENS | MODEL_NO_SAMPLING | MODEL_PLAIN },            /* M04 */
    { "gpt-", "4o", 0, UNNUMBERED, MODEL_NEW_TOKENS | MODEL_PLAIN },   /* M05 */
    { "gpt-", "daybreak", 0, UNNUMBERED, REASONER },                   /* M06 */
    { "gpt-", NULL, 0, 400, MODEL_PLAIN },                             /* M07 */
    { "gpt-", NULL, 401, 499, MODEL_NEW_TOKENS | MODEL_PLAIN },        /* M08 */
    { "gpt-", "chat", 500, 500,
      MODEL_RESPONSES | MODEL_NEW_TOKENS | MODEL_PLAIN },              /* M09 */
    { "gpt-", "chat", 501, 599, REASONER },                            /* M10 */
    { "gpt-", "codex", 501, 599, REASONER },                           /* M10 */
    { "gpt-", "pro", 501, 599, REASONER },                             /* M10 */
    { "gpt-", NULL, 501, 504, REASONER | MODEL_EFFORT_NONE },          /* M11 */
    { "gpt-", NULL, 500, 599, REASONER },                              /* M10 */
    { "gpt-", NULL, 600, LAST, REASONER | MODEL_NO_RETENTION },        /* M12 */
    { "o", NULL, 100, LAST, REASONER },                                /* M13 */
    { "chat-latest", NULL, 0, UNNUMBERED, REASONER },                  /* M14 */
    { "computer-use-", NULL, 0, UNNUMBERED, REASONER },                /* M15 */
    { "chatgpt-", "image", 0, UNNUMBERED, MODEL_BASE64 },              /* M03 */
    { "chatgpt-", NULL, 0, UNNUMBERED,
      MODEL_NEW_TOKENS | MODEL_PLAIN },                                /* M05 */
    { "dall-e-", NULL, 300, 300, MODEL_GENERATES },                    /* M16 */
    { "text-embedding-ada-", NULL, 0, UNNUMBERED, MODEL_FIXED_SIZE },  /* M17 */

    /* Anthropic */
    { "claude-", NULL, 0, 400, 0 },                                    /* M20 */
    { "claude-", NULL, 401, 405, MODEL_ONE_SAMPLER },                  /* M21 */
    { "claude-", NULL, 406, 406, MODEL_ADAPTIVE | MODEL_ONE_SAMPLER }, /* M22 */
    { "claude-", NULL, 407, 499, CLAUDE_47 },                          /* M23 */
    { "claude-", "haiku", 500, UNNUMBERED, CLAUDE_5 | MODEL_STOPS },   /* M24 */
    { "claude-", "sonnet", 500, 504, CLAUDE_5 | MODEL_STOPS },         /* M24 */
    { "claude-", "opus", 500, 504, CLAUDE_5 | MODEL_STOPS },           /* M24 */
    { "claude-", "fable", 500, 500, CLAUDE_5 },                        /* M25 */
    { "claude-", "mythos", 500, 500, CLAUDE_5 },                       /* M25 */
    { "claude-", "mythos", UNNUMBERED, UNNUMBERED, CLAUDE_5 },         /* M25 */
    { "claude-", "sonnet", 505, UNNUMBERED,
      CLAUDE_5 | MODEL_BETWEEN | MODEL_NOT_FORCED },                   /* M26 */
    { "claude-", NULL, 500, UNNUMBERED, CLAUDE_5 | MODEL_NOT_FORCED }, /* M27 */

    /* Google */
    { "gemini-", "tts", 0, UNNUMBERED, 0 },                            /* M30 */
    { "gemini-", "exp", UNNUMBERED, UNNUMBERED, 0 },                   /* M31 */
    { "gemini-", "omni", 0, UNNUMBERED, MODEL_LEVELS },                /* M32 */
    { "gemini-", "banana", 0, UNNUMBERED, MODEL_LEVELS },              /* M32 */
    { "gemini-", "er", 200, UNNUMBERED, MODEL_LEVELS },                /* M32 */
    { "gemini-", NULL, 0, 204, 0 },                                    /* M33 */
    { "gemini-", "flash", 205, 299, MODEL_BUDGET | MODEL_STOPS },      /* M34 */
    { "gemini-", NULL, 205, 299, MODEL_BUDGET },                       /* M35 */
    { "gemini-", "lite", 300, UNNUMBERED,
      MODEL_LEVELS | MODEL_MINIMAL },                                  /* M36 */
    { "gemini-", "flash", 300, 306, MODEL_LEVELS | MODEL_MINIMAL },    /* M36 */
    { "gemini-", NULL, 300, UNNUMBERED, MODEL_LEVELS },                /* M37 */
};

/* Remove the next word from *s; false: there is none. */
static bool take_word(struct slice *s, struct slice *word)
{
    size_t n = 0;
    while (s->len && !slice_alnum(*s->ptr))
        *s = slice_skip(*s, 1);
    while (n < s->len && slice_alnum(s->ptr[n]))
        n++;
    *word = (struct slice){ s->ptr, n };
    *s = slice_skip(*s, n);
    return n > 0;
}

/* The value of one or two digits; -1: a date, or not a number. */
static int small_number(struct slice word)
{
    int value = 0;
    if (!word.len || word.len > 2)
        return -1;
    for (size_t i = 0; i < word.len; i++) {
        if (!slice_digit(word.ptr[i]))
            return -1;
        value = value * 10 + (word.ptr[i] - '0');
    }
    return value;
}

static int version_of(struct slice words)
{
    struct slice word;
    while (take_word(&words, &word)) {
        int major = small_number(word);
        if (major < 0)
            continue;
        bool more = words.len > 1 && (*words.ptr == '.' || *words.ptr == '-') &&
                    slice_digit(words.ptr[1]);
        int minor = more && take_word(&words, &word) ? small_number(word) : 0;
        return 100 * major + (minor > 0 ? minor : 0);
    }
    return UNNUMBERED;
}

static bool has_word(struct slice words, const char *wanted)
{
    struct slice word;
    while (take_word(&words, &word))
        if (nocase_is(word, wanted))
            return true;
    return false;
}

/*
 * Find the line at the start of the name or after a vendor, and set *rest to
 * what follows it.  False: the model belongs to another line.  A number must
 * follow a line of one letter.
 */
static bool find_line(struct slice name, const char *line, struct slice *rest)
{
    size_t n = strlen(line);
    for (; name.len >= n; name = slice_skip(name, 1)) {
        *rest = slice_skip(name, n);
        if (nocase_starts(name, line) &&
            (n > 1 || (rest->len && slice_digit(*rest->ptr))))
            return true;
        while (name.len && *name.ptr != '.' && *name.ptr != ':')
            name = slice_skip(name, 1);
        if (!name.len)
            return false;
    }
    return false;
}

uint32_t model_rules(const char *model)
{
    const char *slash = model ? strrchr(model, '/') : NULL;
    struct slice name = slice_of(slash ? slash + 1 : model);
    struct slice rest = { "", 0 };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct rule *r = &table[i];
        if (!find_line(name, r->line, &rest))
            continue;
        int version = version_of(rest);
        if (version >= r->from && version <= r->to &&
            (!r->word || has_word(rest, r->word)))
            return r->rules;
    }
    return 0;
}

bool model_rules_no_sampling(uint32_t rules, const char *effort)
{
    if (rules & MODEL_NO_SAMPLING)
        return true;
    if (!(rules & MODEL_REASONS))
        return false;
    return effort ? strcmp(effort, "none") != 0 : !(rules & MODEL_EFFORT_NONE);
}
