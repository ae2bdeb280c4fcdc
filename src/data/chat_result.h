/* chat_result.h - the result of a whole chat, and why it ended */
#ifndef DATA_CHAT_RESULT_H
#define DATA_CHAT_RESULT_H

#include "data/shape.h"

extern const struct shape chat_result_shape;

#endif
