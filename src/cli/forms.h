/*
 * forms.h - fill in a form of an MCP server on the terminal
 *
 *      ? everything asks: How large?
 *        [a]nswer, [d]ecline, [l]ater
 *      > a
 */
#pragma once

#include "allm.h"

/* Ask the user, and answer the form; without an answer it is cancelled. */
void forms_ask(allm_elicitation *form);
