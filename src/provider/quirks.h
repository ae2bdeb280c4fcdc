/*
 * quirks.h - differences between servers of the same dialect
 *
 * A quirk is a bit in the provider's row of the registry, or a name in the
 * "quirks" list of adapter_opts.
 */
#pragma once

#include "allm.h"
#include "base/arena.h"

enum quirks_chat {                      /* servers of /chat/completions */
    CHAT_NO_STREAM_OPTIONS = 1 << 0,    /* rejects stream_options */
    CHAT_OLD_MAX_TOKENS    = 1 << 1,    /* "max_tokens" for every model */
    CHAT_NEW_MAX_TOKENS    = 1 << 2,    /* "max_completion_tokens" */
    CHAT_STRICT_FIELDS     = 1 << 3,    /* rejects unknown members */
    CHAT_SHORT_IDS         = 1 << 4,    /* ids of calls: 9 letters or digits */
    CHAT_LIMITED_IDS       = 1 << 5,    /* ids of calls: 40 bytes at most */
    CHAT_REPLAY_REASONING  = 1 << 6,    /* needs its reasoning_content back */
    CHAT_EMPTY_CONTENT     = 1 << 7,    /* empty content is "", not null */
    CHAT_THINK_TAGS        = 1 << 8,    /* <think> in the text is reasoning */
    CHAT_THINK_INSIDE      = 1 << 9,    /* ...and the first tag is missing */
    CHAT_AZURE_PATHS       = 1 << 10    /* each deployment has a path */
};

enum quirks_responses {                 /* servers of /responses */
    RESPONSES_AZURE_PATHS = 1 << 0, /* /openai/v1/responses */
    RESPONSES_NO_INCLUDE  = 1 << 1, /* rejects requests for encrypted
                                       reasoning */
    RESPONSES_NO_STORE    = 1 << 2, /* rejects "store" */
    RESPONSES_CHAT_FORMAT = 1 << 3  /* reads "response_format" as
                                       /chat/completions does */
};

enum quirks_anthropic {                 /* servers of /v1/messages */
    ANTHROPIC_UNSIGNED_THOUGHTS = 1 << 0    /* accepts its thoughts back
                                               without a signature */
};

enum quirks_ollama {                    /* models of /api/chat */
    OLLAMA_THINK_TAGS   = 1 << 0,   /* <think> in the text is reasoning */
    OLLAMA_THINK_INSIDE = 1 << 1    /* ...and the opening tag is missing */
};

/* The names of the quirks of a dialect; a NULL name ends the table. */
struct quirks_name {
    const char *name;
    uint64_t quirk;
};
extern const struct quirks_name quirks_chat[], quirks_responses[],
    quirks_anthropic[], quirks_ollama[];

/* The quirks of a call: those of its provider and those in the options, in
 * which unknown names are ignored. */
uint64_t quirks_read(const struct quirks_name *names, const allm_call *call);

/* The error if the options contain anything but names of quirks; else NULL. */
const allm_error *quirks_check(const struct quirks_name *names,
                               const allm_call *call, struct arena *a);
