/* turns.c - scripted tools in steps, chats and agents, and their events */
#include "harness/turns.h"

#include "harness/play.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int runs;

int turns_runs(void)
{
    return atomic_exchange(&runs, 0);
}

/* The script of a tool, up to the ; that ends it. */
static void take_word(char *out, size_t size, const char *from)
{
    size_t n = strcspn(from, ";");
    snprintf(out, size, "%.*s", (int)n, from);
}

static bool begins(const char **s, const char *with)
{
    size_t n = strlen(with);
    if (strncmp(*s, with, n) != 0)
        return false;
    *s += n;
    return true;
}

static void do_halt(allm_tool_run *run, const char *s)
{
    char reason[64];
    size_t n = strcspn(s, ":");
    snprintf(reason, sizeof reason, "%.*s", (int)n, s);
    allm_json *v = noun_json(s[n] ? s + n + 1 : "null");
    allm_tool_halt(run, reason, v);
    allm_json_free(v);
}

static void act(allm_tool_run *run, const allm_json *args, void *ud);

static void do_ok(allm_tool_run *run, const char *json)
{
    allm_json *v = noun_json(json);
    allm_tool_ok(run, v);
    allm_json_free(v);
}

static void do_ask(allm_tool_run *run, const char *question, const char *opts)
{
    allm_json *v = noun_json(opts);
    allm_tool_ask(run, question, v);
    allm_json_free(v);
}

static void act(allm_tool_run *run, const allm_json *args, void *ud)
{
    char word[512];
    take_word(word, sizeof word, ud);
    const char *s = word;
    if (begins(&s, "later:")) {
        int ms = 0;
        while (*s >= '0' && *s <= '9')
            ms = ms * 10 + *s++ - '0';
        allm_tool_later(run, (uint32_t)ms, act, (char *)ud + (s + 1 - word));
        return;
    }
    atomic_fetch_add(&runs, 1);
    if (begins(&s, "ok:"))
        do_ok(run, s);
    else if (begins(&s, "text:"))
        allm_tool_text(run, s, strlen(s));
    else if (begins(&s, "fail:"))
        allm_tool_fail(run, s);
    else if (begins(&s, "raise:"))
        allm_tool_raise(run, s);
    else if (begins(&s, "ask:"))
        allm_tool_ask(run, s, NULL);
    else if (begins(&s, "ask2:"))
        do_ask(run, s, "{'choices': ['A', 'B']}");
    else if (begins(&s, "halt:"))
        do_halt(run, s);
    else if (begins(&s, "context"))
        allm_tool_ok(run, allm_tool_run_context(run));
    else if (begins(&s, "echo"))
        allm_tool_ok(run, args);
}

/* Parse one "name=what"; returns where the next begins. */
static const char *put_tool(allm_engine **e, const char *s)
{
    char name[64];
    size_t n = strcspn(s, "!~=");
    snprintf(name, sizeof name, "%.*s", (int)n, s);
    bool manual = s[n] == '!', worker = s[n] == '~';
    const char *what = s + strcspn(s, "=") + 1;
    allm_tool *t =
        allm_tool_new(ALLM(tool, .name = name, .description = name,
                           .schema_text = "{\"type\": \"object\"}", .call = act,
                           .ud = (void *)(uintptr_t)what, .manual = manual,
                           .flags = worker ? 0 : ALLM_TOOL_INLINE));
    allm_engine *with = allm_engine_put_tool(*e, t);
    allm_tool_free(t);
    allm_engine_free(*e);
    *e = with;
    size_t rest = strcspn(what, ";");
    return what[rest] ? what + rest + 1 : what + rest;
}

allm_engine *turns_engine(const char *scripts, const char *tools,
                          struct clock_manual *clock)
{
    char opts[65536];
    snprintf(opts, sizeof opts, "{'record': true, 'scripts': %s}", scripts);
    allm_engine *e = play_engine(opts, clock);
    while (tools && *tools)
        tools = put_tool(&e, tools);
    turns_runs();
    return e;
}

allm_thread *turns_thread(void)
{
    allm_thread *t = allm_thread_new(NULL);
    allm_thread_add(t, ALLM_ROLE_USER, "hi");
    return t;
}

static char out[16384];

static void say(const char *format, ...)
{
    size_t n = strlen(out);
    va_list args;
    if (n && n + 1 < sizeof out)
        out[n++] = ' ';
    va_start(args, format);
    vsnprintf(out + n, sizeof out - n, format, args);
    va_end(args);
}

static const char *json_word(const allm_json *v)
{
    static char word[512];
    allm_text *t = allm_json_write(v, 0);
    const char *bytes = allm_text_bytes(t, NULL);
    snprintf(word, sizeof word, "%s", bytes ? bytes : "?");
    allm_text_free(t);
    return word;
}

static const char *roles(const allm_thread *t)
{
    static char word[256];
    size_t n = allm_thread_count(t);
    for (size_t i = 0; i < n && i < sizeof word - 1; i++)
        word[i] = "-suat"[allm_thread_at(t, i)->role];
    word[n < sizeof word ? n : sizeof word - 1] = '\0';
    return word;
}

static const char *finish_word(allm_finish f)
{
    static const char *const words[] = { "null", "stop", "length",
                                         "tool_calls", "content_filter",
                                         "error", "other" };
    return words[f];
}

static void say_event(const allm_event *e)
{
    switch (e->type) {
    case ALLM_EV_MESSAGE_STARTED:   say("m"); break;
    case ALLM_EV_TEXT_DELTA:        say("a:%s", e->text); break;
    case ALLM_EV_TEXT_COMPLETED:    say("t=%s", e->text); break;
    case ALLM_EV_TOOL_CALL_STARTED: say("c:%s/%s", e->id, e->name); break;
    case ALLM_EV_TOOL_CALL_COMPLETED: break;
    case ALLM_EV_MESSAGE_COMPLETED:
        say("m.%s", finish_word(e->finish_reason));
        break;
    case ALLM_EV_TOOL_EXECUTION_STARTED: say("+%s", e->id); break;
    case ALLM_EV_TOOL_EXECUTION_COMPLETED:
        say("%s=%s", e->id, json_word(e->result));
        break;
    case ALLM_EV_TOOL_RESULT_ENCODED: say("%s>%s", e->id, e->text); break;
    case ALLM_EV_ASK_USER_REQUESTED: say("%s?%s", e->id, e->text); break;
    case ALLM_EV_TOOL_HALT: say("%s!%s", e->id, e->reason); break;
    case ALLM_EV_ERROR: say("e:%s", e->error->reason); break;
    case ALLM_EV_STEP_COMPLETED: say("step[%s]", roles(e->thread)); break;
    case ALLM_EV_CHAT_COMPLETED:
        say("chat[%s]", e->chat_result->halted_reason);
        break;
    default: say("%s", allm_event_tag(e->type)); break;
    }
}

const char *turns_play(allm_stream *s)
{
    const allm_event *event = NULL;
    allm_status status;
    uint64_t seq = 0;
    out[0] = '\0';
    while ((status = allm_stream_next(s, &event)) == ALLM_EVENT) {
        CHECK_ALWAYS(event->seq == ++seq);
        say_event(event);
    }
    const allm_error *e = allm_stream_error(s);
    say("%s", status < 0 ? allm_status_name(status) : "ok");
    if (status < 0 && e)
        say("%s", e->reason);
    return out;
}

const char *turns_messages(const allm_thread *t)
{
    out[0] = '\0';
    for (size_t i = 0; i < allm_thread_count(t); i++) {
        const allm_message *m = allm_thread_at(t, i);
        char calls[128] = "";
        for (size_t j = 0; j < m->tool_call_count; j++) {
            size_t n = strlen(calls);
            snprintf(calls + n, sizeof calls - n, "%s%s", j ? "," : "(",
                     m->tool_calls[j]->id);
        }
        if (m->tool_call_count)
            strncat(calls, ")", sizeof calls - strlen(calls) - 1);
        if (m->role == ALLM_ROLE_TOOL)
            say("t:%s=%s", m->tool_call_id, m->text);
        else
            say("%c:%s%s", "-suat"[m->role], m -> text, calls);
    }
    return out;
}
