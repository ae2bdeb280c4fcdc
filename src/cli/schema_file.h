/* schema_file.h - the JSON Schema that answers must fit: --schema */
#pragma once

#include "allm.h"

/*
 * The response_format for a word of --schema: a file, the short form of
 * schema_words.h, or @NAME, the schema of a template.  Without a word it is
 * that of a template's header (a string, an object, or NULL).  The caller frees
 * *format, which is NULL if there is no schema.  False: an error was printed.
 */
bool schema_file_choose(const char *word, const allm_json *header,
                        allm_json **format);
