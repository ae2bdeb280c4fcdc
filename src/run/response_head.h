/* response_head.h - the id of a response, in its headers */
#pragma once

#include "allm.h"

/* The provider's id of the exchange, which its support asks for.  NULL: there
 * is none, or the head is NULL. */
const char *response_head_id(const allm_http_head *head);
