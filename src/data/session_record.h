/* session_record.h - a session as plain data */
#pragma once

#include "data/shape.h"

extern const struct shape session_record_shape;
