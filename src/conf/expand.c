/*
 * expand.c - ${VAR} and ${VAR:-default} in strings; $$ is a dollar sign
 *
 * A dollar sign before anything else, or at the end, is itself.
 */
#include "conf/expand.h"

#include "conf/keyring.h"
#include "conf/member.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789"

/* "${NAME}" or "${NAME:-default}"; *at moves behind it. */
static enum expand_result expand_variable(struct bytes *out, const char **at,
                                          bool keys, char name[64])
{
    const char *from = *at + 2, *end = strchr(from, '}');
    size_t n = strspn(from, LETTERS);
    const char *standard = from + n;
    snprintf(name, 64, "%.*s", (int)(n < 63 ? n : 63), from);
    if (!end || !n || n > 63 || (*from >= '0' && *from <= '9') ||
        (standard != end && strncmp(standard, ":-", 2) != 0))
        return EXPAND_OPEN;
    if (!keys && keyring_holds(name))
        return EXPAND_SECRET;
    const char *value = getenv(name);
    if (value && (*value || standard == end))
        bytes_text(out, value);
    else if (standard != end)
        bytes_add(out, standard + 2, (size_t)(end - standard - 2));
    else
        return EXPAND_UNSET;
    *at = end + 1;
    return EXPAND_DONE;
}

enum expand_result expand_text(struct bytes *out, const char *text, bool keys,
                               char name[64])
{
    while (*text) {
        size_t n = strcspn(text, "$");
        bytes_add(out, text, n);
        text += n;
        if (text[0] == '$' && text[1] == '{') {
            enum expand_result r = expand_variable(out, &text, keys, name);
            if (r != EXPAND_DONE)
                return r;
        } else if (*text) {
            bytes_byte(out, '$');
            text += text[1] == '$' ? 2 : 1;
        }
    }
    return EXPAND_DONE;
}

static void add_json_text(struct bytes *out, const char *text, size_t len)
{
    if (!member_quote(out, text, len))
        bytes_text(out, "null");
}

static enum expand_result expand_string(struct bytes *out,
                                        const allm_json *value, bool keys,
                                        char name[64])
{
    struct bytes text = { NULL, 0, 0 };
    enum expand_result r = expand_text(&text, allm_json_text(value, NULL), keys,
                                       name);
    add_json_text(out, bytes_string(&text), text.len);
    bytes_release(&text);
    return r;
}

/* The comma before a member, and its key. */
static void begin_member(struct bytes *out, const allm_json *key)
{
    size_t len;
    char last = out->ptr[out->len - 1];
    bytes_text(out, last == '{' || last == '[' ? "" : ",");
    const char *text = key ? allm_json_text(key, &len) : NULL;
    if (!key)
        return;
    add_json_text(out, text, len);
    bytes_byte(out, ':');
}

/* The depth is limited by the parser. */
enum expand_result expand_json(struct bytes *out, const allm_json *value,
                               bool keys, char name[64])
{
    allm_json_type type = allm_json_type_of(value);
    enum expand_result r = EXPAND_DONE;
    bool object = type == ALLM_JSON_OBJECT;
    if (type == ALLM_JSON_TEXT)
        return expand_string(out, value, keys, name);
    if (!object && type != ALLM_JSON_ARRAY) {
        member_append(out, allm_json_write(value, 0));
        return r;
    }
    bytes_byte(out, object ? '{' : '[');
    for (const allm_json *v = NULL;
         r == EXPAND_DONE && (v = allm_json_next(value, v));) {
        begin_member(out, object ? v : NULL);
        r = expand_json(out, object ? allm_json_value(v) : v, keys, name);
    }
    bytes_byte(out, object ? '}' : ']');
    return r;
}

bool expand_wanted(const allm_json *value)
{
    const char *text = allm_json_text(value, NULL);
    bool object = allm_json_type_of(value) == ALLM_JSON_OBJECT;
    if (text)
        return strstr(text, "${") || strstr(text, "$$");
    for (const allm_json *v = NULL; (v = allm_json_next(value, v));)
        if (expand_wanted(object ? allm_json_value(v) : v))
            return true;
    return false;
}
