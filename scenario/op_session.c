/*
 * op_session.c - create, change, save and load the session of a scenario
 *
 * The operations that call the model are in op_turn.c.
 */
#include "engine.h"
#include "kept.h"
#include "ops.h"
#include "shared_session.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Report a field that sessions do not have: it is probably a typo. */
static bool has_unknown_field(struct report *r, const allm_json *fields)
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
        scenario_reject(s, "\"session\" must be an object of fields");
        return;
    }
    if (has_unknown_field(r, fields))
        return;
    allm_codec *codec = shared_session_decode(fields);
    const allm_session_record *record = shared_session_record(codec);
    allm_session *made = record ? allm_session_new(record) : NULL;
    error = record ? allm_session_error(made) : allm_codec_error(codec);
    report_end(r, error);
    if (error)
        allm_session_free(made);
    else
        shared_session_import(s, made);
    allm_codec_free(codec);
}

/* Is it a tool's result that is a JSON value? */
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
    struct tool_answer answer;
    const allm_json *form = allm_json_get(op, "message");
    allm_session *session = shared_session_get(s);
    if (!form) {
        scenario_reject(s, "needs a \"message\"");
        return;
    }
    if (is_value(form)) {
        tool_answer_init(&answer, allm_json_get(form, "tool_call_id"),
                         allm_json_get(form, "content"));
        allm_session_append_tool_result(session, &answer.fields);
        tool_answer_release(&answer);
        report_end(r, allm_session_error(session));
        return;
    }
    allm_codec *codec = engine_decode(form, "Message");
    const allm_message *message = allm_codec_value(codec, ALLM_TYPE_MESSAGE);
    allm_error *faults = message ? NULL : allm_validate_json("message", form);
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
    struct tool_answer answer;
    allm_session *session = shared_session_get(s);
    tool_answer_init(&answer, allm_json_get(op, "id"),
                     allm_json_get(op, "content"));
    allm_session_submit_tool_result(session, &answer.fields);
    report_end(r, allm_session_error(session));
    tool_answer_release(&answer);
}

void op_session_approve(struct scenario *s, const allm_json *op,
                        struct report *r)
{
    const allm_json *allow = allm_json_get(op, "allow");
    allm_session *session = shared_session_get(s);
    if (allm_json_type_of(allow) != ALLM_JSON_BOOL) {
        scenario_reject(s, "\"allow\" must be true or false");
        return;
    }
    allm_session_approve(session, allm_json_text(allm_json_get(op, "id"), NULL),
                         allm_json_true(allow),
                         allm_json_text(allm_json_get(op, "why"), NULL));
    report_end(r, allm_session_error(session));
}

void op_session_submit_many(struct scenario *s, const allm_json *op,
                            struct report *r)
{
    const allm_json *list = allm_json_get(op, "results");
    size_t count = allm_json_count(list), i = 0;
    allm_session *session = shared_session_get(s);
    struct tool_answer *answers = calloc(count + 1, sizeof *answers);
    const allm_tool_answer **fields = calloc(count + 1, sizeof *fields);
    if (allm_json_type_of(list) != ALLM_JSON_ARRAY || !answers || !fields) {
        scenario_reject(s, "\"results\" must be a list of [id, content]");
        count = 0;
    }
    for (const allm_json *one = NULL; i < count; i++) {
        one = allm_json_next(list, one);
        tool_answer_init(&answers[i], allm_json_at(one, 0),
                         allm_json_at(one, 1));
        fields[i] = &answers[i].fields;
    }
    if (!*s->fault) {
        allm_session_submit_tool_results(session, count, fields);
        report_end(r, allm_session_error(session));
    }
    for (i = 0; i < count; i++)
        tool_answer_release(&answers[i]);
    free(answers);
    free(fields);
}

/* Create an empty file in the temporary folder. */
static bool make_temp_file(char *path, size_t size)
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

/* Close and open the store, as a new process would. */
static void restart_store(struct scenario *s, struct report *r)
{
    shared_session_reopen(s);
    if (!*s->fault)
        report_end(r, allm_session_error(shared_session_get(s)));
}

/* Save and load the session, as a new process would. */
static void restart_file(struct scenario *s, struct report *r)
{
    char path[512];
    allm_session *old = shared_session_get(s), *loaded = NULL;
    if (!make_temp_file(path, sizeof path)) {
        scenario_reject(s, "cannot create the file %s", path);
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
        shared_session_replace(s, loaded);
    unlink(path);
}

void op_restart(struct scenario *s, const allm_json *op, struct report *r)
{
    (void)op;
    if (kept_is_on(s))
        restart_store(s, r);
    else
        restart_file(s, r);
}
