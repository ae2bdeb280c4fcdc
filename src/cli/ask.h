/* ask.h - send a prompt, print the answer: for the commands that do */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include "allm.h"
#include "cli/answer.h"
#include "cli/flags.h"
#include "cli/session.h"
#include "cli/taps.h"

struct ask {
    const char *model, *system, *schema;
    const char *task, *key, *base_url, *proxy, *cacert, *config;
    struct session_choice session;
    struct flag_list files, typed_files, texts, options, headers;
    struct taps taps;
    const char *reasoning;
    double max_cost;
    uint32_t max_tokens, attempts, max_input;
    bool extract_first, extract_last, extract_all;
    bool json, events, no_stream, usage, ask_user, dry_run, quiet, verbose;
    uint32_t max_turns, timeout_ms;
    struct answer_look look;
    const allm_transport *transport; /* NULL: the library's */
    bool any_key;                    /* the transport needs no key */
};

extern const struct flag ask_flags[];

/* Run the call; argv is the prompt.  Returns the exit code. */
int ask_run(const struct ask *a, int argc, char **argv);

#endif
