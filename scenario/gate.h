/*
 * gate.h - the toolbox of a scenario: its rules, and the answers of a person
 *
 *      "toolbox": {"rules": [...], "approve": {"TOOL": [ANSWER...]}}
 *
 * Its gate is that of every call.  It has no tools of its own: the rules apply
 * to the tools of the file, whose reach is not known, so a rule without a reach
 * matches.  ANSWER is "once", "session", "always", "leave" or {"deny": why};
 * each question about a tool takes the next one, and the last one repeats.
 * Without "approve" nobody can be asked.
 */
#pragma once

#include "scenario.h"

/* Make the toolbox that the engine of the file describes.  False: rejected. */
bool gate_make(struct scenario *s, const allm_json *toolbox);
void gate_release(struct scenario *s);
