/* member.c - members of JSON objects: write and read one in a line */
#include "conf/member.h"

#include <stdio.h>

allm_json_build *member_new_object(void)
{
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_object(b);
    return b;
}

allm_json_build *member_new_array(void)
{
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_array(b);
    return b;
}

allm_json *member_done(allm_json_build *b)
{
    allm_json_build_end(b);
    return allm_json_build_done(b);
}

void member_text(allm_json_build *b, const char *key, const char *text)
{
    if (text)
        member_text_or_null(b, key, text);
}

void member_text_n(allm_json_build *b, const char *key, const char *text,
                   size_t len)
{
    allm_json_build_key(b, key);
    allm_json_build_text(b, text, len);
}

void member_text_or_null(allm_json_build *b, const char *key, const char *text)
{
    member_text_n(b, key, text, ALLM_NUL_ENDED);
}

void member_value(allm_json_build *b, const char *key, const allm_json *value)
{
    allm_json_build_key(b, key);
    if (value)
        allm_json_build_value(b, value);
    else
        allm_json_build_null(b);
}

void member_int(allm_json_build *b, const char *key, int64_t n)
{
    allm_json_build_key(b, key);
    allm_json_build_int(b, n);
}

void member_bool(allm_json_build *b, const char *key, bool value)
{
    allm_json_build_key(b, key);
    allm_json_build_bool(b, value);
}

void member_object(allm_json_build *b, const char *key)
{
    allm_json_build_key(b, key);
    allm_json_build_object(b);
}

void member_array(allm_json_build *b, const char *key)
{
    allm_json_build_key(b, key);
    allm_json_build_array(b);
}

const char *member_read(const allm_json *object, const char *key)
{
    return allm_json_text(allm_json_get(object, key), NULL);
}

const char *member_or(const allm_json *object, const char *key,
                      const char *otherwise)
{
    const char *text = member_read(object, key);
    return text ? text : otherwise;
}

allm_json *member_alone(const char *text, size_t len)
{
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_text(b, text, len);
    return allm_json_build_done(b);
}

void member_join(const allm_json *list, char *text, size_t size)
{
    size_t len = 0;
    *text = '\0';
    for (const allm_json *v = NULL;
         len < size && (v = allm_json_next(list, v));) {
        int n = snprintf(text + len, size - len, "%s%s", len ? ", " : "",
                         allm_json_text(v, NULL));
        len += n > 0 ? (size_t)n : 0;
    }
}

allm_json *member_parse(allm_text *text)
{
    size_t len = 0;
    const char *bytes = allm_text_bytes(text, &len);
    allm_json *value = bytes ? allm_json_parse(bytes, len, NULL) : NULL;
    allm_text_free(text);
    return value;
}

bool member_append(struct bytes *out, allm_text *text)
{
    size_t len = 0;
    const char *bytes = allm_text_bytes(text, &len);
    if (bytes)
        bytes_add(out, bytes, len);
    allm_text_free(text);
    return bytes != NULL;
}

void member_show(struct bytes *out, const allm_json *value)
{
    size_t len = 0;
    const char *text = allm_json_text(value, &len);
    if (text)
        bytes_add(out, text, len);
    else
        member_append(out, allm_json_write(value, 0));
}

bool member_quote(struct bytes *out, const char *text, size_t len)
{
    allm_json *value = member_alone(text, len);
    bool written = member_append(out, allm_json_write(value, 0));
    allm_json_free(value);
    return written;
}
