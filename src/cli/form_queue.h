/*
 * form_queue.h - forms of MCP servers that wait for the user
 *
 * A toolbox hands over forms in its own thread; the thread that owns the
 * terminal waits for the descriptor and asks.
 */
#pragma once

#include "allm.h"

/* Expect forms; ask() answers one.  False: out of descriptors. */
bool form_queue_open(void (*ask)(allm_elicitation *form));
/* Cancel the forms that wait. */
void form_queue_close(void);

/* A function of a toolbox. */
void form_queue_take(void *ud, allm_elicitation *form);

/* Readable while forms wait; -1: none are expected. */
int form_queue_fd(void);
/* Ask about those that wait. */
void form_queue_answer(void);
