/*
 * settings.h - the table of settings
 *
 * `allm config show`, the JSON Schema, the ALLM_* variables, completion, the
 * manual page allm-config(5) and the rules of trust are made from these rows.
 * A key is a path, such as "output.color".  "*" stands for a name: up to the
 * next dot or, at the end, for all the rest ("options.openai:gpt-4.1*").
 */
#pragma once

#include "allm.h"

enum setting_kind {
    SETTING_TEXT,
    SETTING_BOOL,
    SETTING_COUNT,   /* a whole number, not negative */
    SETTING_NUMBER,  /* a number, not negative */
    SETTING_SECONDS, /* a number of seconds, or "90s", "5m", "2h" */
    SETTING_LEVEL,   /* none, low, medium, high or a number of tokens */
    SETTING_WORD,    /* one of the row's words */
    SETTING_LIST,    /* of strings */
    SETTING_MODELS,  /* a model, or a list of models */
    SETTING_ALIAS,   /* a model, or {model, system, options} */
    SETTING_OBJECT
};

/* What a project's file may set before the user trusts it. */
enum setting_trust {
    TRUST_NEEDED,    /* not this setting; the default of a new row */
    TRUST_FREE,
    TRUST_MODEL,     /* only a model of a provider that the user has */
    TRUST_TEMPLATE,  /* only a template that the user has */
    TRUST_OPTIONS,   /* only options that cannot name an address */
    TRUST_NEVER,     /* not even then: only the user's own files */
    TRUST_STRICT     /* with trust, and only "strict" */
};

struct setting {
    const char *key;
    enum setting_kind kind;
    const char *words;    /* SETTING_WORD: "auto|on|off"; or NULL */
    const char *standard; /* the default for people; NULL: none */
    enum setting_trust trust;
    bool secret;          /* its strings are shown as *** */
    const char *help;
};

/* The row at this index, in the order of the manual; NULL: no more. */
const struct setting *setting_at(size_t index);
/* The row of a path, such as "providers.corp.key"; NULL: unknown. */
const struct setting *setting_find(const char *path);
/* Is it the beginning of a path, such as "output" or "providers.corp"?  As a
 * user writes it, the name has no dots; in a file ("providers.my.corp") it may
 * have some. */
bool setting_is_group(const char *path);
bool setting_has_members(const char *path);

/* The environment variable: "ALLM_OUTPUT_COLOR".  False: it has none, since
 * the key has a "*" or the value is a list or an object. */
bool setting_variable(const struct setting *s, char name[64]);

/* What is expected: "true or false", "one of auto|on|off". */
const char *setting_expects(const struct setting *s);

/* The JSON Pointer of a path, and the path of a pointer; false: too long. */
bool setting_pointer(const char *path, char *pointer, size_t size);
bool setting_path(const char *pointer, char *path, size_t size);
/* The JSON Pointer of a member of the object at a pointer. */
bool setting_pointer_below(const char *parent, const char *name, char *pointer,
                           size_t size);

/*
 * A copy of a file's value in which each setting is what the function returns:
 * a value that the copy takes over, or NULL to leave it out.  s is NULL for a
 * key that is unknown.
 */
typedef allm_json *(*setting_change)(void *ud, const char *path,
                                     const struct setting *s,
                                     const allm_json *value);
allm_json *setting_map(const allm_json *value, setting_change change, void *ud);

/* The JSON Schema of a file of settings, made from the table; the caller frees
 * it. */
allm_json *setting_schema(void);
