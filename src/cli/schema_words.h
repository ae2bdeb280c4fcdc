/*
 * schema_words.h - the short form of a JSON Schema: "name, age int, tags [str]"
 *
 * Fields are separated by commas, or by line feeds if there are any.  A field
 * is a name, a type (`str` if it is left out; int, float, bool, or [T] for a
 * list), and a description after a colon.  All fields are required.
 */
#pragma once

#include "allm.h"

/* The JSON Schema, which the caller frees; NULL: an error was printed. */
allm_json *schema_words_read(const char *text);
