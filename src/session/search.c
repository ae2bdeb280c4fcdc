/* search.c - find words in the messages of a session */
#include "session/search.h"

#include "base/slice.h"

static char to_lower_case(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool begins_with(const char *text, struct slice word)
{
    for (size_t i = 0; i < word.len; i++)
        if (to_lower_case(text[i]) != to_lower_case(word.ptr[i]))
            return false;
    return true;
}

static bool text_has(const char *text, size_t len, struct slice word)
{
    for (size_t i = 0; text && i + word.len <= len; i++)
        if (begins_with(text + i, word))
            return true;
    return false;
}

/* Search the strings of a value and the names of its members, all of which are
 * in its JSON text only in escaped form.  Parsed documents are not deep. */
static bool value_has(const allm_json *value, struct slice word)
{
    size_t len = 0;
    bool object = allm_json_type_of(value) == ALLM_JSON_OBJECT;
    const char *text = allm_json_text(value, &len);
    if (text)
        return text_has(text, len, word);
    for (const allm_json *k = NULL; (k = allm_json_next(value, k));)
        if (value_has(k, word) ||
            (object && value_has(allm_json_value(k), word)))
            return true;
    return false;
}

static bool message_has(const allm_message *m, struct slice word)
{
    if (text_has(m->text, m->text_len, word))
        return true;
    for (size_t i = 0; i < m->part_count; i++)
        if (text_has(m->parts[i]->text, m->parts[i]->text_len, word))
            return true;
    for (size_t i = 0; i < m->tool_call_count; i++) {
        const struct allm_tool_call *c = m->tool_calls[i];
        bool malformed = !allm_json_count(c->arguments);
        if (text_has(c->name, c->name ? strlen(c->name) : 0, word) ||
            value_has(c->arguments, word) ||
            (malformed && text_has(c->raw_arguments, c->raw_len, word)))
            return true;
    }
    return false;
}

/* The next word of *words; false: there is none. */
static bool next_word(const char **words, struct slice *word)
{
    static const char blanks[] = " \t\r\n";
    const char *at = *words + strspn(*words, blanks);
    *word = (struct slice){ at, strcspn(at, blanks) };
    *words = at + word->len;
    return word->len > 0;
}

static bool message_has_all(const allm_message *m, const char *words)
{
    struct slice word;
    while (next_word(&words, &word))
        if (!message_has(m, word))
            return false;
    return true;
}

bool search_session(const allm_session *s, const char *words)
{
    size_t n = 0;
    bool found = false;
    const allm_message *const *m = allm_session_messages(s, &n);
    for (size_t i = 0; !found && i < n; i++)
        found = message_has_all(m[i], words);
    return found;
}
