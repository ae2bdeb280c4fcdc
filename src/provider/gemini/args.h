/*
 * args.h - arguments of a call that come in pieces
 *
 * Vertex streams them as values with the places where they belong:
 *
 *      {"jsonPath": "$.city", "stringValue": "Sp", "willContinue": true}
 *      {"jsonPath": "$.city", "stringValue": "lit"}
 *      {"jsonPath": "$.days[0].n", "numberValue": 3}
 *
 * A piece whose place makes no sense is passed over.
 */
#ifndef PROVIDER_GEMINI_ARGS_H
#define PROVIDER_GEMINI_ARGS_H

#include "base/buf.h"

struct gemini_args_node;

struct gemini_args {
    struct arena *life;
    struct gemini_args_node *root;
    size_t count;               /* of nodes */
    bool broken;                /* no memory */
};

void gemini_args_init(struct gemini_args *g, struct arena *life);

/* One element of "partialArgs". */
void gemini_args_add(struct gemini_args *g, const allm_json *piece);

/* The object so far, as text; false: no memory. */
bool gemini_args_write(struct gemini_args *g, struct buf *out);

#endif
