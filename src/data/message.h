/* message.h - who said what */
#ifndef DATA_MESSAGE_H
#define DATA_MESSAGE_H

#include "data/shape.h"

extern const struct shape message_shape;

/* For Session.append_tool_result and the loops: a counted tool message. */
extern const struct shape_words message_role_words;

#endif
