/*
 * target.h - what to call: the model, its address, its key and its options
 *
 * A command fills a struct wish from its flags, its session and its template,
 * and calls target_resolve().  Then it uses
 *
 *      t.model     as the model of the engine, with t.keys and t.catalog
 *      t.name      as the model's name for people and in sessions
 *      t.options   as the `json` of the call options; NULL: none
 *      t.system    as the system prompt; NULL: none
 *      &t.net      as the `net` of the engine
 *
 * If the call fails before its first content has arrived, target_fall_back()
 * selects the next model of a task's list.
 */
#pragma once

#include "allm.h"
#include "cli/flags.h"

/* What the user asks for; each member may be NULL. */
struct wish {
    const char *model;   /* -m */
    const char *task;    /* --task */
    const char *session; /* the model of the session */
    const char *template_model;
    const char *system; /* -s */
    const char *template_system;
    const allm_json *options; /* -o */
    const allm_json *template_options;
    const char *key; /* --key: the name of a key */
    const char *base_url, *proxy, *cacert;
    const struct flag_list *headers; /* -H 'K: V' */
    bool any_key;                    /* no key is needed: nothing is sent */
    bool any_model; /* only the provider counts */
    bool no_text; /* the model writes none, so it does not think, either */
};

struct target {
    char model[256]; /* "provider:id" */
    char name[256];  /* as the user calls it; the provider may be his own */
    bool keyless;    /* it works without a key */
    allm_keys *keys;
    allm_catalog *catalog;
    const char *system;
    allm_json *options;
    allm_net_opts net;
    /* private */
    struct wish wish;
    const allm_json *list; /* the models of a task, and the next one */
    size_t next;
};

/*
 * Choose the model: that of -m, else of the task, the session, the template,
 * ALLM_MODEL or the setting `model`, else the first of the catalog whose
 * provider has a key.  END_DONE, or an exit code after an error was printed.
 */
int target_resolve(struct target *t, const struct wish *wish);
/* The same for a model alone, or NULL. */
int target_choose(struct target *t, const char *model);
void target_release(struct target *t);

/*
 * A call failed before any content arrived: is there another model to try?  If
 * so, the target has changed and a note says why.  Only for failures that
 * another model may not have.
 */
bool target_fall_back(struct target *t, const allm_error *error);

/* Choose a model of a task without a call; each skipped one is reported. */
typedef void (*target_skip)(void *ud, const char *model, const char *reason);
int target_route(struct target *t, const char *task, target_skip skip,
                 void *ud);

/* Where calls go: the members of the options that say so, as the `json` of call
 * options.  The caller frees it. */
allm_json *target_address(const struct target *t);

/* The keys of the program: from the environment, then from ./.env. */
allm_keys *target_keys(void);
/* END_DONE if there is a key for this provider; *source (if not NULL) says
 * where.  END_KEY if there is none.  Else the .env file or keys.json cannot be
 * read: an error was printed. */
int target_find_key(const allm_keys *keys, const char *provider,
                    const char **source);
/* The names of all providers that have a key, the user's own last; the caller
 * frees them. */
allm_json *target_providers_with_key(void);
