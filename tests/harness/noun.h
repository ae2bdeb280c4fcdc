/* noun.h - functions for the tests of the data types */
#pragma once

#include "allm.h"
#include "harness/check.h"

/* A member of a struct that may be NULL, since an allocation may fail. */
#define GET(p, member) ((p) ? (p)->member : 0)

/* Parse a document with ' for ".  The caller frees it; NULL: out of memory. */
allm_json *noun_json(const char *text);

/* Is this text equal to the document?  Frees the text. */
#define CHECK_JSON(text, want) \
    noun_check_json((text), (want), #text, __FILE__, __LINE__)
/* Is this value equal to the document?  NULL equals NULL. */
#define CHECK_VALUE(value, want) \
    noun_check_value((value), (want), #value, __FILE__, __LINE__)

/* Does the error have this kind and reason, and does its message contain these
 * words?  words NULL: any message that is not empty. */
#define CHECK_ERROR(error, kind, reason, words) \
    noun_check_error((error), (kind), (reason), (words), #error, __FILE__, \
                     __LINE__)
#define CHECK_MISUSE(error, reason, words) \
    CHECK_ERROR(error, ALLM_ERR_MISUSE, reason, words)
#define CHECK_WELL(error) CHECK_ERROR(error, ALLM_OK, NULL, NULL)

bool noun_check_json(allm_text *text, const char *want, const char *what,
                     const char *file, int line);
bool noun_check_value(const allm_json *value, const char *want,
                      const char *what, const char *file, int line);
bool noun_check_error(const allm_error *error, allm_status kind,
                      const char *reason, const char *words, const char *what,
                      const char *file, int line);

/* Decode a document with ' for " as this type.  The caller frees it. */
allm_codec *noun_read(const char *as, const char *json);

/* Decode the document as this type and encode its plain form: is it `want`?  If
 * `want` begins with [, it is the expected faults instead. */
#define CHECK_TRIP(as, json, want) \
    noun_check_trip((as), (json), (want), __FILE__, __LINE__)
bool noun_check_trip(const char *as, const char *json, const char *want,
                     const char *file, int line);

/* A struct of n bytes in a separate block, so a sanitizer finds reads beyond
 * its end: `have` bytes copied from `from`, then zeros; its size member is n.
 * Free it with free(). */
void *noun_sized(const void *from, size_t have, size_t n);
