/* noun.h - what the tests of the nouns have in common */
#ifndef HARNESS_NOUN_H
#define HARNESS_NOUN_H

#include "allm.h"
#include "harness/check.h"

/* A member of what may be NULL, because an allocation was made to fail. */
#define GET(p, member) ((p) ? (p)->member : 0)

/* A document, ' standing for ".  A root; NULL: no memory. */
allm_json *noun_json(const char *text);

/* Is this text the document?  Frees it. */
#define CHECK_JSON(text, want) \
    noun_check_json((text), (want), #text, __FILE__, __LINE__)
/* Is this value, lent, the document?  NULL equals NULL. */
#define CHECK_VALUE(value, want) \
    noun_check_value((value), (want), #value, __FILE__, __LINE__)

/* Is this an error of that kind and reason, and are these words in its
 * message?  words NULL: any message, but not an empty one. */
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

/* Read a document, ' standing for ", as this type.  Free it. */
allm_codec *noun_read(const char *as, const char *json);

/* Read the document as this type and write its plain form: is it `want`?
 * Where that begins with [ it is the pairs of the refusal instead. */
#define CHECK_TRIP(as, json, want) \
    noun_check_trip((as), (json), (want), __FILE__, __LINE__)
bool noun_check_trip(const char *as, const char *json, const char *want,
                     const char *file, int line);

/* A block of its own that ends where the struct ends, so that a sanitizer sees
 * whoever reads beyond: n bytes, copied from `from` as far as it goes (`have`),
 * then zero; its size member says n.  Free it with free(). */
void *noun_sized(const void *from, size_t have, size_t n);

#endif
