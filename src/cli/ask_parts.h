/* ask_parts.h - the flags of ask, and what they mean for a call */
#pragma once

#include "cli/answer.h"
#include "cli/opts.h"
#include "cli/session.h"
#include "cli/taps.h"
#include "cli/target.h"
#include "cli/template_use.h"
#include "cli/toolbox_flags.h"

/* The flags of ask, and of commands that have some of them. */
struct ask {
    const char *model, *system, *schema;
    const char *template, *save;
    struct flag_list params;
    const char *task, *key, *base_url, *proxy, *cacert, *config;
    struct session_choice session;
    struct flag_list files, typed_files, texts, options, headers;
    struct taps taps;
    struct toolbox_flags toolbox;
    const char *reasoning;
    double max_cost;
    uint32_t max_tokens, attempts, max_input;
    bool extract_first, extract_last, extract_all;
    bool copy, json, events, no_stream, usage, ask_user, dry_run, quiet,
        verbose;
    uint32_t max_turns, timeout_ms;
    struct answer_look look;
    const allm_transport *transport; /* NULL: the library's */
    bool any_key;                    /* the transport needs no key */
};

/* Read --config, and fill what no flag has set: stream, usage, timeout,
 * max_cost, max_turns, retry and output.*.  What depends on the model is filled
 * by target_resolve(), and `keep` and `store` by session_open(). */
void ask_parts_fill(struct ask *a);

/* -o, --max-tokens and --reasoning.  False: an error was printed. */
bool ask_parts_options(const struct ask *a, const struct flag_list *pairs,
                       struct opts *o);

/* What the flags, the template and the session ask for; `system` is the text
 * of -s. */
struct wish ask_parts_wish(const struct ask *a, const struct template_use *t,
                           const struct session *s, const char *system,
                           const allm_json *options);

/* The system prompt of -s or -t; that of a setting only if the session has none
 * yet.  NULL: it stays as it is. */
const char *ask_parts_system(const struct ask *a, const struct template_use *t,
                             const struct session *s, const char *chosen);

/* Which code blocks to print: -x, --xl, --xa, else what the template says. */
enum extract ask_parts_extract(const struct ask *a,
                               const struct template_use *t);

/* The retry policy of --retry, which the caller frees; NULL: the default. */
allm_json *ask_parts_retry(const struct ask *a);

/* --max-turns, --timeout, --schema and the options. */
allm_call_opts ask_parts_call(const struct ask *a, const allm_json *format,
                              const allm_json *options, allm_budget *budget);

/* An event function of calls: note the times, and in *ud, a bool, that content
 * has arrived. */
allm_status ask_parts_note(const allm_event *event, void *ud);
