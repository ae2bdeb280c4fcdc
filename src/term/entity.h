/* entity.h - the character references of HTML: &amp; &#65; &#x41; */
#ifndef TERM_ENTITY_H
#define TERM_ENTITY_H

#include <stddef.h>
#include <stdint.h>

enum entity_found { ENTITY_NONE, ENTITY_CUT, ENTITY_WHOLE };

/* Read the reference at the beginning of the text: its length, and its code
 * point.  ENTITY_CUT: the text ends within it. */
enum entity_found entity_read(const char *text, size_t len, size_t *end,
                              uint32_t *point);

/* The code point as UTF-8; returns the number of bytes. */
size_t entity_bytes(uint32_t point, char bytes[4]);

#endif
