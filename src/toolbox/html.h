/* html.h - the text of an HTML page */
#pragma once

#include "base/buf.h"

/* Add the text of a page without tags, scripts and styles; blocks begin a new
 * line.  Any bytes are accepted. */
void html_text(struct buf *out, struct slice page);
