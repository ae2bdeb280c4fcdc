/* shared_session.c - the session that the operations of a scenario share */
#include "shared_session.h"

#include "engine.h"
#include "kept.h"

allm_session *shared_session_get(struct scenario *s)
{
    if (!s->session)
        s->session = kept_is_on(s) ? kept_open(s, NULL)
                                   : allm_session_new(NULL);
    return s->session;
}

void shared_session_replace(struct scenario *s, allm_session *session)
{
    allm_session_free(s->session);
    s->session = session;
}

void shared_session_reopen(struct scenario *s)
{
    shared_session_replace(s, NULL);
    s->session = kept_reopen(s);
}

allm_session *shared_session_keep(struct scenario *s, allm_session *session)
{
    if (!kept_is_on(s) || allm_session_error(session))
        return session;
    allm_session *kept = kept_open(s, allm_session_fields(session));
    allm_session_free(session);
    return kept;
}

void shared_session_import(struct scenario *s, allm_session *session)
{
    shared_session_replace(s, NULL);
    s->session = shared_session_keep(s, session);
}

allm_codec *shared_session_decode(const allm_json *fields)
{
    bool has_fields = allm_json_type_of(fields) == ALLM_JSON_OBJECT;
    allm_json *plain = has_fields ? allm_json_copy(fields)
                                  : allm_json_parse("{}", ALLM_NUL_ENDED, NULL);
    const allm_json *thread = allm_json_get(plain, "thread");
    if (allm_json_type_of(thread) == ALLM_JSON_ARRAY) {
        allm_json *form = engine_thread(thread);
        allm_json *whole = allm_json_set(plain, "thread", form);
        allm_json_free(form);
        allm_json_free(plain);
        plain = whole;
    }
    allm_codec *codec = engine_decode(plain, "Session");
    allm_json_free(plain);
    return codec;
}

const allm_session_record *shared_session_record(const allm_codec *codec)
{
    return allm_codec_value(codec, ALLM_TYPE_SESSION);
}

/* Does it look like a list of parts? */
static bool are_parts(const allm_json *content)
{
    bool all = allm_json_type_of(content) == ALLM_JSON_ARRAY &&
               allm_json_count(content);
    for (const allm_json *p = NULL; all && (p = allm_json_next(content, p));)
        all = allm_json_type_of(p) == ALLM_JSON_OBJECT &&
              (allm_json_get(p, "type") || allm_json_get(p, "__type__"));
    return all;
}

/* Decode the parts as the content of a message. */
static bool read_parts(struct tool_answer *a, const allm_json *content)
{
    allm_json *empty = allm_json_parse("{\"role\":\"user\"}", ALLM_NUL_ENDED,
                                       NULL);
    allm_json *plain = allm_json_set(empty, "content", content);
    a->parts = engine_decode(plain, "Message");
    allm_json_free(plain);
    allm_json_free(empty);
    const allm_message *m = allm_codec_value(a->parts, ALLM_TYPE_MESSAGE);
    if (!m || !m->parts)
        return false;
    a->fields.parts = m->parts;
    a->fields.part_count = m->part_count;
    return true;
}

void tool_answer_init(struct tool_answer *a, const allm_json *id,
                      const allm_json *content)
{
    *a = (struct tool_answer){ .fields = { .size = sizeof a->fields } };
    if (allm_json_type_of(id) == ALLM_JSON_TEXT)
        a->fields.tool_call_id = allm_json_text(id, NULL);
    if (!content)
        content = a->null = allm_json_parse("null", ALLM_NUL_ENDED, NULL);
    if (!are_parts(content) || !read_parts(a, content))
        a->fields.value = content;
}

void tool_answer_release(struct tool_answer *a)
{
    allm_codec_free(a->parts);
    allm_json_free(a->null);
}
