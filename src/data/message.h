/* message.h - messages: a role and its content */
#pragma once

#include "data/shape.h"

extern const struct shape message_shape;
