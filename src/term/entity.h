/* entity.h - the character references of HTML: &amp; &#65; &#x41; */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum entity_found { ENTITY_NONE, ENTITY_CUT, ENTITY_WHOLE };

struct entity {
    size_t len;     /* of the reference */
    size_t count;   /* of the bytes that it stands for */
    char bytes[8];  /* at most two code points */
};

/* Read the reference at the beginning of the text.  ENTITY_CUT: the text ends
 * within it. */
enum entity_found entity_read(const char *text, size_t len, struct entity *e);

/* The code point as UTF-8; returns the number of bytes. */
size_t entity_encode(uint32_t point, char bytes[4]);
