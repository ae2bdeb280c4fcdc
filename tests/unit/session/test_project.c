/* test_project.c - how a result changes a session, row by row */
#include "session/project.h"

#include "tool/result.h"

#include "harness/check.h"
#include "harness/noun.h"

#define CALL "{'__type__':'ALLM.ToolCall','data':" \
             "{'id':'c0','name':'a','arguments':{}}}"
#define CALLS "[" CALL "]"
#define ANSWER "{'output_text': '', 'finish_reason': 'tool_calls', " \
               "'tool_calls': [{'id': 'r0', 'name': 'a', 'arguments': {}}]}"

static const struct row {
    const char *why, *result, *status, *pending, *question, *error;
} chats[] = {
    { "completed", "{'halted_reason': 'completed'}", "completed", "", NULL,
      NULL },
    { "max_turns", "{'halted_reason': 'max_turns'}", "completed", "", NULL,
      NULL },
    { "halt_when", "{'halted_reason': 'halt_when'}", "completed", "", NULL,
      NULL },
    { "somebody's own", "{'halted_reason': 'own'}", "completed", "", NULL,
      NULL },
    { "none at all", "{}", "completed", "", NULL, NULL },
    { "ask_user",
      "{'halted_reason': 'ask_user', 'pending_question': 'q', "
      "'pending_tool_call_id': 'c0'}",
      "awaiting_user", "", "q", NULL },
    { "manual_tool_calls",
      "{'halted_reason': 'manual_tool_calls', 'final_response': " ANSWER ", "
      "'metadata': {'manual_tool_calls': " CALLS "}}",
      "awaiting_tools", "c0", NULL, NULL },
    { "N-16 an empty list: those of the answer",
      "{'halted_reason': 'manual_tool_calls', 'final_response': " ANSWER ", "
      "'metadata': {'manual_tool_calls': []}}",
      "awaiting_tools", "r0", NULL, NULL },
    { "N-10 no answer", "{'halted_reason': 'manual_tool_calls'}",
      "awaiting_tools", "", NULL, NULL },
    { "N-10 tool_error",
      "{'halted_reason': 'tool_error', 'metadata': {'error': 'raised'}}",
      "error", "", NULL, "'raised'" },
    { "tool_error without one: all that is known",
      "{'halted_reason': 'tool_error', 'metadata': "
      "{'halt_tool_call_id': 'c0'}}",
      "error", "", NULL, "{'halt_tool_call_id':'c0'}" },
    { "error", "{'halted_reason': 'error', 'metadata': {'error': 'x'}}",
      "error", "", NULL, "'x'" },
    { "error, and nothing is known", "{'halted_reason': 'error'}", "error",
      "", NULL, "{}" },
};

static const struct row steps[] = {
    { "done", "{'done?': true}", "completed", "", NULL, NULL },
    { "not done", "{}", "idle", "", NULL, NULL },
    { "ask_user",
      "{'done?': true, 'metadata': {'halted_reason': 'ask_user', "
      "'pending_question': 'q', 'pending_tool_call_id': 'c0'}}",
      "awaiting_user", "", "q", NULL },
    { "N-11 tool_error",
      "{'done?': true, 'metadata': {'halted_reason': 'tool_error', "
      "'error': 'raised'}}",
      "error", "", NULL, "'raised'" },
    { "tool_error without one",
      "{'metadata': {'halted_reason': 'tool_error'}}", "error", "", NULL,
      "{'halted_reason':'tool_error'}" },
    { "manual calls",
      "{'response': " ANSWER ", 'metadata': {'manual_tool_calls': " CALLS
      "}}",
      "awaiting_tools", "c0", NULL, NULL },
    { "N-16 an empty list, and mode manual",
      "{'response': " ANSWER ", 'metadata': {'mode': 'manual', "
      "'manual_tool_calls': []}}",
      "awaiting_tools", "r0", NULL, NULL },
    { "N-11 it broke off, and nothing is told",
      "{'done?': true, 'response': {'finish_reason': 'error'}, "
      "'metadata': {'a': 1}}",
      "error", "", NULL, "{'a':1}" },
    { "it broke off",
      "{'done?': true, 'response': {'finish_reason': 'error', "
      "'metadata': {'error': 'x'}}}",
      "error", "", NULL, "'x'" },
    { "somebody's own halt",
      "{'done?': true, 'metadata': {'halted_reason': 'own'}}", "completed",
      "", NULL, NULL },
};

static const char *const words[] = { "idle", "awaiting_user",
                                     "awaiting_tools", "completed", "error" };

static void check_record(const struct row *row, const allm_session_record *r)
{
    CHECK_TEXT(r ? words[r->status] : NULL, row->status);
    CHECK_TEXT(r && r->pending_tool_call_count ? r->pending_tool_calls[0]->id
                                               : "",
               row->pending);
    CHECK_TEXT(GET(r, pending_question), row->question);
    if (row->error)
        CHECK_VALUE(allm_json_get(GET(r, metadata), "error"), row->error);
    CHECK_TEXT(GET(r, id), "s1");
    CHECK_VALUE(GET(r, context), "{'a':1}");
    CHECK_VALUE(allm_json_get(GET(r, metadata), "mine"), "1");
    CHECK(!allm_json_get(GET(r, metadata), "max_turns"));
}

/* A session full of what must go, and of what must stay. */
#define BEFORE "{'id': 's1', 'context': {'a': 1}, 'status': 'awaiting_user', " \
               "'pending_question': 'old', 'pending_tool_call_id': 'old', " \
               "'metadata': {'mine': 1, 'max_turns': 3, 'error': 'old'}}"

static void chats_are_projected(void)
{
    allm_codec *s = noun_read("Session", BEFORE);
    const allm_session_record *before = allm_codec_value(s, ALLM_TYPE_SESSION);
    for (size_t i = 0; before && i < sizeof chats / sizeof *chats; i++) {
        check_row(chats[i].why);
        allm_codec *c = noun_read("ChatResult", chats[i].result);
        const allm_chat_result *r = allm_codec_value(c, ALLM_TYPE_CHAT_RESULT);
        allm_session_record *after = r ? project_chat(before, r, "x") : NULL;
        check_record(&chats[i], after);
        allm_session_record_free(after);
        allm_codec_free(c);
    }
    allm_codec_free(s);
}

/* The tool result that this metadata describes. */
static struct tool_result halt_of(const allm_step_result *step)
{
    static const allm_tool_call call = { .size = sizeof call, .id = "c0" };
    const allm_json *m = GET(step, metadata);
    const char *reason = allm_json_text(allm_json_get(m, "halted_reason"),
                                        NULL);
    const char *question = allm_json_text(allm_json_get(m, "pending_question"),
                                          NULL);
    if (!reason)
        return (struct tool_result){ .halts = false };
    return (struct tool_result){ .view.call = &call, .halts = true,
                                 .outcome =
                                     question
                                         ? outcome_question(question, NULL)
                                         : outcome_from_halt(reason, NULL) };
}

static void steps_are_projected(void)
{
    allm_codec *s = noun_read("Session", BEFORE);
    const allm_session_record *before = allm_codec_value(s, ALLM_TYPE_SESSION);
    for (size_t i = 0; before && i < sizeof steps / sizeof *steps; i++) {
        check_row(steps[i].why);
        allm_codec *c = noun_read("StepResult", steps[i].result);
        const allm_step_result *r = allm_codec_value(c, ALLM_TYPE_STEP_RESULT);
        struct tool_result halt = halt_of(r);
        allm_session_record *after =
            r ? project_step(before, r, halt.halts ? &halt : NULL) : NULL;
        check_record(&steps[i], after);
        allm_session_record_free(after);
        allm_codec_free(c);
    }
    allm_codec_free(s);
}

/* D-12 */
static void a_cancelled_call_leaves_a_draft(void)
{
    allm_codec *s = noun_read("Session", BEFORE);
    const allm_session_record *before = allm_codec_value(s, ALLM_TYPE_SESSION);
    allm_chat_result *none =
        allm_chat_result_new(ALLM(chat_result, .halted_reason = "cancelled"));
    allm_session_record *r = before && none
                                 ? project_chat(before, none, "draft")
                                 : NULL;
    CHECK_INT(GET(r, status), ALLM_SESSION_AWAITING_USER);
    CHECK_TEXT(GET(r, pending_question), "old");
    CHECK_VALUE(GET(r, metadata), "{'mine':1,'max_turns':3,'error':'old',"
                                  "'cancelled_input':'draft'}");
    allm_session_record_free(r);
    r = before ? project_cancelled(before, NULL) : NULL;
    CHECK_VALUE(GET(r, metadata), "{'mine':1,'max_turns':3,'error':'old'}");
    allm_session_record_free(r);
    allm_chat_result_free(none);
    allm_codec_free(s);
}

TESTS = {
    TEST(chats_are_projected),
    TEST(steps_are_projected),
    TEST(a_cancelled_call_leaves_a_draft),
    TESTS_END,
};
