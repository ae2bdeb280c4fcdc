/* message_text.h - a message of a session as text, and as Markdown */
#pragma once

#include "allm.h"
#include "term/bytes.h"

/* Append "user: ...", and the calls on lines of their own. */
void message_text_put(struct bytes *out, const allm_message *m);
/* Append a section of Markdown. */
void message_text_markdown(struct bytes *out, const allm_message *m);
