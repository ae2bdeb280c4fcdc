/*
 * legal.h - would the provider accept this body as a conversation?
 *
 * Knows nothing of how we write bodies, only what each API refuses: members it
 * does not know, a call that is not answered where it must be, ids used twice,
 * roles in the wrong order, empty texts.
 */
#ifndef HARNESS_LEGAL_H
#define HARNESS_LEGAL_H

#include "allm.h"

enum { LEGAL_CALLS = 64, LEGAL_TOLD = 32768 };

struct legal_call {
    char id[128], name[128];
};

/* What a body says, and what is wrong with it. */
struct legal {
    const char *fault;          /* NULL: nothing */
    struct legal_call call[LEGAL_CALLS];
    size_t calls, answered;     /* those behind `answered` wait for a result */
    char system[4096];          /* all system texts, a line each */
    /*
     * The rest as it would be told in any dialect, a line each:
     *
     *      user TEXT       image BASE64    model TEXT
     *      call NAME ARGS  result NAME TEXT
     */
    char told[LEGAL_TOLD];
};

/* dialect: "openai_chat", "openai_responses", "anthropic", "gemini" or
 * "ollama".  The body is lent until then only. */
void legal_read(struct legal *l, const char *dialect, const allm_json *body);

#endif
