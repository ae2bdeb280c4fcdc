/* noun.c - functions for the tests of the data types */
#include "harness/noun.h"

#include <stdlib.h>

/* Replace ' by " in place. */
static void set_quotes(char *text)
{
    for (; *text; text++)
        if (*text == '\'')
            *text = '"';
}

allm_json *noun_json(const char *text)
{
    char *quoted = strdup(text);
    set_quotes(quoted);
    allm_json *v = allm_json_parse(quoted, ALLM_NUL_ENDED, NULL);
    CHECK_WHY(!allm_json_error(v), text);
    free(quoted);
    return v;
}

static bool check_quoted(struct slice got, const char *want, const char *what,
                         const char *file, int line)
{
    char *quoted = want ? strdup(want) : NULL;
    if (quoted)
        set_quotes(quoted);
    bool ok = check_slice(got, slice_of(quoted), what, file, line);
    free(quoted);
    return ok;
}

bool noun_check_json(allm_text *text, const char *want, const char *what,
                     const char *file, int line)
{
    size_t len;
    const char *bytes = allm_text_bytes(text, &len);
    bool ok = check_quoted((struct slice){ bytes, len }, want, what, file,
                           line);
    allm_text_free(text);
    return ok;
}

bool noun_check_value(const allm_json *value, const char *want,
                      const char *what, const char *file, int line)
{
    allm_text *text = value ? allm_json_write(value, 0) : NULL;
    return noun_check_json(text, want, what, file, line);
}

bool noun_check_error(const allm_error *error, allm_status kind,
                      const char *reason, const char *words, const char *what,
                      const char *file, int line)
{
    bool ok = check_int(error ? error->kind : ALLM_OK, kind, what, file, line);
    if (!error || !ok)
        return ok;
    ok = check_slice(slice_of(error->reason), slice_of(reason), what, file,
                     line);
    const char *said = error->message ? error->message : "";
    if (!check_true(*said && (!words || strstr(said, words)), false, what, file,
                    line))
        return check_slice(slice_of(said), slice_of(words), what, file, line);
    return ok;
}

allm_codec *noun_read(const char *as, const char *json)
{
    char *quoted = strdup(json);
    set_quotes(quoted);
    allm_codec *c = allm_codec_decode(quoted, ALLM_NUL_ENDED, as, NULL);
    free(quoted);
    return c;
}

bool noun_check_trip(const char *as, const char *json, const char *want,
                     const char *file, int line)
{
    bool ok;
    allm_codec *c = noun_read(as, json);
    const allm_error *error = allm_codec_error(c);
    if (*want == '[')
        ok = noun_check_value(error ? error->errors : NULL, want, json, file,
                              line);
    else
        ok = noun_check_json(allm_codec_json(c, ALLM_FORM_PLAIN), want, json,
                             file, line);
    allm_codec_free(c);
    return ok;
}

void *noun_sized(const void *from, size_t have, size_t n)
{
    char *block = calloc(1, n);
    memcpy(block, from, have < n ? have : n);
    memcpy(block, &n, n < sizeof n ? n : sizeof n);
    return block;
}
