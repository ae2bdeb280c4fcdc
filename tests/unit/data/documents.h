/* documents.h - documents for the tests of the codec */
#pragma once

#include "allm.h"
#include "harness/check.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define T(literal)   { (literal), sizeof(literal) - 1 }

/* {"__type__":"ALLM.<tag>","data":<data>} */
#define TAGGED(tag, data) \
    "{\"__type__\":\"ALLM." tag "\",\"data\":" data "}"

static inline allm_codec *decode(const char *text, const char *as)
{
    return allm_codec_decode(text, ALLM_NUL_ENDED, as, NULL);
}

static inline allm_codec *decode_slice(struct slice text, const char *as)
{
    return allm_codec_decode(text.ptr, text.len, as, NULL);
}

static inline struct slice text_slice(const allm_text *t)
{
    struct slice s;
    s.ptr = allm_text_bytes(t, &s.len);
    return s;
}

static inline allm_status kind_of(const allm_error *e)
{
    return e ? e->kind : ALLM_OK;
}

/* The text is this; it is freed. */
#define CHECK_JSON(made, want) \
    check_json((made), (want), #made, __FILE__, __LINE__)

static inline void check_json(allm_text *t, const char *want, const char *what,
                              const char *file, int line)
{
    check_slice(text_slice(t), slice_of(want), what, file, line);
    allm_text_free(t);
}

/* The codec refused its document with these pairs. */
static inline void check_refused(const allm_codec *c, const char *pairs)
{
    const allm_error *e = allm_codec_error(c);
    CHECK_ALWAYS(e != NULL);
    CHECK_ALWAYS(allm_codec_type(c) == ALLM_TYPE_NONE);
    CHECK_ALWAYS(e && e->message && *e->message);
    if (!e)
        return;
    CHECK_INT(e->kind, ALLM_ERR_VALIDATION);
    CHECK_TEXT(e->reason, "invalid_request");
    CHECK_JSON(allm_json_write(e->errors, 0), pairs);
}
