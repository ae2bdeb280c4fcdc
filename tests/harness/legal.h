/*
 * legal.h - would the provider accept this body as a conversation?
 *
 * It does not know how we write bodies, only what each API rejects: unknown
 * members, a call without a result where one is required, duplicate ids, roles
 * in the wrong order, empty texts.
 */
#pragma once

#include "allm.h"

enum { LEGAL_CALLS = 64, LEGAL_TOLD = 32768 };

struct legal_call {
    char id[128], name[128];
};

/* The content of a body, and its first fault. */
struct legal {
    const char *fault;          /* NULL: nothing */
    struct legal_call call[LEGAL_CALLS];
    size_t calls, answered;     /* those after `answered` wait for a result */
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
 * "ollama".  The body is not needed after the call. */
void legal_read(struct legal *l, const char *dialect, const allm_json *body);
