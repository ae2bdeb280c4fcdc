/* message.h - messages: a role and its content */
#ifndef DATA_MESSAGE_H
#define DATA_MESSAGE_H

#include "data/shape.h"

extern const struct shape message_shape;

#endif
