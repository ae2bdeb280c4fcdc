/* result.c - the result of one tool call, as the turn uses it */
#include "tool/result.h"

#include "data/error.h"
#include "data/message.h"
#include "data/tool_call.h"
#include "json/build.h"
#include "json/json.h"

bool result_close(struct tool_result *r, struct slice content)
{
    if (!content.len)
        content = SLICE("");    /* text_len 0 means "up to the NUL" */
    r->message = shape_new(&message_shape,
                           ALLM(message, .role = ALLM_ROLE_TOOL,
                                .tool_call_id = r->view.call->id,
                                .text = content.ptr, .text_len = content.len));
    if (!r->message)
        return false;
    r->view.size = sizeof r->view;
    r->view.content = r->message->text;
    r->view.content_len = r->message->text_len;
    return true;
}

const struct tool_result *result_copy(struct allm_home *home,
                                      const struct tool_result *r)
{
    struct arena *a = home_arena(home);
    const allm_error *error = NULL;
    struct tool_result *copy = arena_alloc(a, sizeof *copy);
    if (!copy || (r->message && !home_hold(home, r->message->home)))
        return NULL;
    *copy = *r;
    copy->tool = NULL;
    copy->key = NULL;
    copy->whole = (struct slice){ 0 };
    copy->view.call = shape_copy(home, &tool_call_shape, r->view.call, &error);
    copy->arguments = json_copy(a, r->arguments);
    copy->outcome = outcome_copy(a, &r->outcome);
    copy->error = r->error ? error_copy(home, r->error) : NULL;
    return copy->view.call && !a->broken ? copy : NULL;
}

static void init_event(const struct tool_result *r, allm_event *event,
                       allm_event_type type)
{
    *event = (allm_event){ .size = sizeof *event, .type = type,
                           .id = r->view.call->id,
                           .name = r->view.call->name };
}

void result_started(const struct tool_result *r, allm_event *event)
{
    init_event(r, event, ALLM_EV_TOOL_EXECUTION_STARTED);
    event->arguments = r->arguments;
}

bool result_completed(const struct tool_result *r, struct arena *a,
                      allm_event *event)
{
    init_event(r, event, ALLM_EV_TOOL_EXECUTION_COMPLETED);
    event->result = outcome_json(a, &r->outcome, r->error);
    return event->result != NULL;
}

static void fill_question(const struct tool_result *r, allm_event *event)
{
    init_event(r, event, ALLM_EV_ASK_USER_REQUESTED);
    event->text = r->outcome.question;
    event->text_len = strlen(r->outcome.question);
    event->opts = r->outcome.opts;
}

bool result_ended(const struct tool_result *r, struct arena *a,
                  allm_event *event)
{
    const struct outcome *o = &r->outcome;
    if (o->kind == OUTCOME_QUESTION) {
        fill_question(r, event);
        return true;
    }
    init_event(r, event,
               r->halts ? ALLM_EV_TOOL_HALT : ALLM_EV_TOOL_RESULT_ENCODED);
    event->text = r->view.content;
    event->text_len = r->view.content_len;
    if (!r->halts)
        return true;
    event->reason = outcome_halted_reason(o);
    event->error = r->error;
    event->result = o->kind == OUTCOME_HALT
                        ? o->value
                        : outcome_error_json(a, o, r->error);
    return event->result || !r->error;
}

static void put_text(struct build *b, const char *key, const char *text)
{
    build_key(b, slice_of(key));
    build_text(b, slice_of(text));
}

static void put_value(struct build *b, const char *key, const allm_json *value)
{
    build_key(b, slice_of(key));
    build_value(b, value ? value : json_null());
}

void result_write_halt(struct build *b, const struct tool_result *r)
{
    if (!r)
        return;
    const struct outcome *o = &r->outcome;
    put_text(b, "halted_reason", outcome_halted_reason(o));
    if (o->kind == OUTCOME_QUESTION) {
        put_text(b, "pending_tool_call_id", r->view.call->id);
        put_text(b, "pending_question", o->question);
        put_value(b, "ask_user_opts", o->opts);
        return;
    }
    put_text(b, "halt_tool_call_id", r->view.call->id);
    if (o->kind == OUTCOME_HALT)
        put_value(b, "halt_result", o->value);
}
