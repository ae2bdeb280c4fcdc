/*
 * op_session.c - the session of a scenario: made, added to, dropped, loaded
 *
 * What asks the model is in op_turn.c.
 */
#include "engine.h"
#include "ops.h"
#include "stage.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A field that sessions do not have is a slip of whoever writes the call. */
static bool has_other_fields(struct report *r, const allm_json *fields)
{
    static const char *const names[] = {
        "id",       "thread",           "status",
        "context",  "pending_question", "pending_tool_calls",
        "metadata", "__type__",         "pending_tool_call_id",
        "data",
    };
    for (const allm_json *k = NULL; (k = allm_json_next(fields, k));) {
        char sentence[128];
        const char *key = allm_json_text(k, NULL);
        size_t i = 0;
        while (i < sizeof names / sizeof *names && strcmp(names[i], key) != 0)
            i++;
        if (i < sizeof names / sizeof *names)
            continue;
        snprintf(sentence, sizeof sentence, "a session has no field \"%.64s\"",
                 key);
        report_end(r, ALLM(error, .kind = ALLM_ERR_MISUSE,
                           .reason = "unknown_field", .message = sentence));
        return true;
    }
    return false;
}

void op_session_new(struct scenario *s, const allm_json *op, struct report *r)
{
    const allm_error *error = NULL;
    const allm_json *fields = allm_json_get(op, "session");
    if (fields && allm_json_type_of(fields) != ALLM_JSON_OBJECT &&
        allm_json_type_of(fields) != ALLM_JSON_NULL) {
        scenario_refuse(s, "\"session\" must be an object of fields");
        return;
    }
    if (has_other_fields(r, fields))
        return;
    allm_codec *codec = stage_read_session(fields);
    const allm_session_record *record = stage_record(codec);
    allm_session *made = record ? allm_session_new(record) : NULL;
    error = record ? allm_session_error(made) : allm_codec_error(codec);
    report_end(r, error);
    if (error)
        allm_session_free(made);
    else
        stage_enter(s, made);
    allm_codec_free(codec);
}

/* The result of a tool as a value: append it as one. */
static bool is_value(const allm_json *message)
{
    const allm_json *content = allm_json_get(message, "content");
    const char *role = allm_json_text(allm_json_get(message, "role"), NULL);
    allm_json_type type = allm_json_type_of(content);
    return role && !strcmp(role, "tool") && content && type != ALLM_JSON_TEXT &&
           type != ALLM_JSON_ARRAY;
}

void op_session_append(struct scenario *s, const allm_json *op,
                       struct report *r)
{
    struct answer answer;
    const allm_json *given = allm_json_get(op, "message");
    allm_session *session = stage_session(s);
    if (!given) {
        scenario_refuse(s, "needs a \"message\"");
        return;
    }
    if (is_value(given)) {
        stage_answer(&answer, allm_json_get(given, "tool_call_id"),
                     allm_json_get(given, "content"));
        allm_session_append_tool_result(session, &answer.given);
        stage_answer_release(&answer);
        report_end(r, allm_session_error(session));
        return;
    }
    allm_codec *codec = engine_decode(given, "Message");
    const allm_message *message = allm_codec_value(codec, ALLM_TYPE_MESSAGE);
    allm_error *faults = message ? NULL : allm_validate_json("message", given);
    if (message)
        allm_session_append(session, message);
    report_end(r, message  ? allm_session_error(session)
                  : faults ? faults
                           : allm_codec_error(codec));
    allm_error_free(faults);
    allm_codec_free(codec);
}

void op_session_submit(struct scenario *s, const allm_json *op,
                       struct report *r)
{
    struct answer answer;
    allm_session *session = stage_session(s);
    stage_answer(&answer, allm_json_get(op, "id"),
                 allm_json_get(op, "content"));
    allm_session_submit_tool_result(session, &answer.given);
    report_end(r, allm_session_error(session));
    stage_answer_release(&answer);
}

void op_session_submit_many(struct scenario *s, const allm_json *op,
                            struct report *r)
{
    const allm_json *list = allm_json_get(op, "results");
    size_t count = allm_json_count(list), i = 0;
    allm_session *session = stage_session(s);
    struct answer *answers = calloc(count + 1, sizeof *answers);
    const allm_tool_answer **given = calloc(count + 1, sizeof *given);
    if (allm_json_type_of(list) != ALLM_JSON_ARRAY || !answers || !given) {
        scenario_refuse(s, "\"results\" must be a list of [id, content]");
        count = 0;
    }
    for (const allm_json *one = NULL; i < count; i++) {
        one = allm_json_next(list, one);
        stage_answer(&answers[i], allm_json_at(one, 0), allm_json_at(one, 1));
        given[i] = &answers[i].given;
    }
    if (!*s->fault) {
        allm_session_submit_tool_results(session, count, given);
        report_end(r, allm_session_error(session));
    }
    for (i = 0; i < count; i++)
        stage_answer_release(&answers[i]);
    free(answers);
    free(given);
}

/* A file of our own, in a folder for such. */
static bool make_file(char *path, size_t size)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, size, "%s/allm-scenario.XXXXXX",
             folder && *folder ? folder : "/tmp");
    int fd = mkstemp(path);
    if (fd < 0)
        return false;
    close(fd);
    return true;
}

/* Saved and loaded: all that a new process would know of it. */
void op_restart(struct scenario *s, const allm_json *op, struct report *r)
{
    char path[512];
    allm_session *old = stage_session(s), *loaded = NULL;
    (void)op;
    if (!make_file(path, sizeof path)) {
        scenario_refuse(s, "there is no place for a file: %s", path);
        return;
    }
    allm_session_save(old, path);
    const allm_error *error = allm_session_error(old);
    if (!error) {
        loaded = allm_session_load(path, 0);
        error = allm_session_error(loaded);
    }
    report_end(r, error);
    if (error)
        allm_session_free(loaded);
    else
        stage_enter(s, loaded);
    unlink(path);
}
