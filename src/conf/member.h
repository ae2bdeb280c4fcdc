/*
 * member.h - members of JSON objects: write and read one in a line
 *
 * member_new_object() and member_new_array() open the whole value, which
 * member_done() closes.  member_object() and member_array() open a member,
 * which allm_json_build_end() closes.
 */
#pragma once

#include "term/bytes.h"

#include "allm.h"

allm_json_build *member_new_object(void);
allm_json_build *member_new_array(void);
allm_json *member_done(allm_json_build *b);

/* text NULL: the member is left out. */
void member_text(allm_json_build *b, const char *key, const char *text);
/* NULL: null. */
void member_text_n(allm_json_build *b, const char *key, const char *text,
                   size_t len);
void member_text_or_null(allm_json_build *b, const char *key, const char *text);
void member_value(allm_json_build *b, const char *key, const allm_json *value);
void member_int(allm_json_build *b, const char *key, int64_t n);
void member_bool(allm_json_build *b, const char *key, bool value);
void member_object(allm_json_build *b, const char *key);
void member_array(allm_json_build *b, const char *key);

/* The string of a member; NULL: there is none, or it is no string. */
const char *member_read(const allm_json *object, const char *key);
/* The same, or `otherwise`. */
const char *member_or(const allm_json *object, const char *key,
                      const char *otherwise);

/* A string as a value of its own; the caller frees it. */
allm_json *member_alone(const char *text, size_t len);
/* The value of a JSON text, which is freed; NULL: there is no text.  The caller
 * frees the value. */
allm_json *member_parse(allm_text *text);

/* The strings of a list, or the keys of an object, with ", " between them; what
 * does not fit is cut off. */
void member_join(const allm_json *list, char *text, size_t size);

/* Append a text and free it; false: there is none. */
bool member_append(struct bytes *out, allm_text *text);
/* Append a string as it is, any other value as JSON. */
void member_show(struct bytes *out, const allm_json *value);
/* Append a string as JSON; false: it is not UTF-8. */
bool member_quote(struct bytes *out, const char *text, size_t len);
