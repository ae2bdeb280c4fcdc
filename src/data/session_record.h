/* session_record.h - a session as plain data */
#ifndef DATA_SESSION_RECORD_H
#define DATA_SESSION_RECORD_H

#include "data/shape.h"

extern const struct shape session_record_shape;

#endif
