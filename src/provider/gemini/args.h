/*
 * args.h - assemble the arguments of a call from streamed pieces
 *
 * Vertex streams values with their paths:
 *
 *      {"jsonPath": "$.city", "stringValue": "Sp", "willContinue": true}
 *      {"jsonPath": "$.city", "stringValue": "lit"}
 *      {"jsonPath": "$.days[0].n", "numberValue": 3}
 *
 * Pieces with an invalid path are ignored.
 */
#pragma once

#include "base/buf.h"

struct gemini_args_node;

struct gemini_args {
    struct arena *life;
    struct gemini_args_node *root;
    size_t count;               /* the number of nodes */
    bool broken;                /* out of memory */
};

void gemini_args_init(struct gemini_args *g, struct arena *life);

/* Add an element of "partialArgs". */
void gemini_args_add(struct gemini_args *g, const allm_json *piece);

/* Write the object so far as JSON text; false: out of memory. */
bool gemini_args_write(struct gemini_args *g, struct buf *out);
