/*
 * noun.h - the public functions of a type that its shape describes completely
 *
 * NOUN_FUNCTIONS(usage) defines allm_usage_new(), allm_usage_free(),
 * allm_usage_error() and allm_usage_json(), by means of usage_shape.
 */
#pragma once

#include "data/encode.h"

#define NOUN_FUNCTIONS(T) \
    allm_##T *allm_##T##_new(const allm_##T *given) \
    { \
        return shape_new(&T##_shape, given); \
    } \
    void allm_##T##_free(allm_##T *value) \
    { \
        shape_free(value); \
    } \
    const allm_error *allm_##T##_error(const allm_##T *value) \
    { \
        return shape_failure(&T##_shape, value); \
    } \
    allm_text *allm_##T##_json(const allm_##T *value, allm_form form) \
    { \
        return encode_to_text(&T##_shape, value, form); \
    }
