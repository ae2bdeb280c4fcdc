/*
 * partial.c - read an incomplete JSON document
 *
 * The reader does this: when the text ends, it closes what is still open.
 *
 *      {"city": "Ulm", "days": [1, 2      the text so far
 *      {"city": "Ulm", "days": [1]}       the value: 2 may go on
 *
 * What is unfinished is left out: a number at the end of the text (unless it
 * is the whole document), a part of true, false or null, a key without a
 * value; in a string, a part of an escape, of a surrogate pair or of a UTF-8
 * sequence.  So a value never takes anything back when the text continues.
 */
#include "base/home.h"
#include "base/status.h"
#include "json/json.h"
#include "json/parse.h"

static const allm_error *no_text(struct arena *a)
{
    return status_error(a, ALLM_ERR_MISUSE, "misuse",
                        "the JSON text is NULL; pass a string");
}

allm_json *allm_json_partial(const char *text, size_t len, bool *complete)
{
    struct json_limits limits;
    bool whole = false;
    const allm_error *error = NULL;
    const allm_json *v = NULL;
    struct allm_home *h = home_new(mem_default(), 1024);
    json_limits_from(&limits, NULL);
    if (complete)
        *complete = false;
    if (!h)
        return NULL;
    if (text)
        v = json_partial(home_arena(h), slice_given(text, len), limits, &whole,
                         &error);
    else
        error = no_text(home_arena(h));
    if (complete)
        *complete = whole;
    return json_root_of(h, v, error);
}
