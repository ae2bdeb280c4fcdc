/* response_head.h - find values in the headers of a response */
#pragma once

#include "allm.h"

/* The value of the first header with this name, which is in lower case; NULL:
 * there is none.  Borrowed from the head. */
const char *response_head_find(const allm_http_head *head, const char *name);

/* The provider's id of the exchange, which its support asks for.  NULL: there
 * is none, or the head is NULL. */
const char *response_head_id(const allm_http_head *head);
