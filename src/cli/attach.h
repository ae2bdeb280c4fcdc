/* attach.h - what an attachment is: by its content, not by its name */
#ifndef CLI_ATTACH_H
#define CLI_ATTACH_H

#include "allm.h"

/* The MIME type of an image or a PDF; NULL: something else. */
const char *attach_type(const char *bytes, size_t len);

/* Is it the address of something on the web? */
bool attach_is_url(const char *word);

#endif
