/* question_form.h - ask the user for values that fit a JSON Schema */
#pragma once

#include "cli/question.h"

/*
 * Ask for a value that fits a JSON Schema.  An enum is a list of choices, a
 * boolean is yes or no, a string is a line, an array of an enum is a line with
 * the numbers of choices, anything else a line of JSON; what does not fit is
 * asked again.  An empty line means the schema's default.  The caller frees the
 * value; NULL: the user left.
 */
allm_json *question_form_value(const struct question *q,
                               const allm_json *schema);

/* Show the question, then ask for each property of an object schema, as
 * question_form_value() does; one that is not required may be left empty. */
allm_json *question_form_fill(const struct question *q,
                              const allm_json *schema);
