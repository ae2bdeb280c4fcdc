/* tools.c - scripted tools, and batches of their calls */
#include "harness/tools.h"

#include "harness/noun.h"
#include "json/build.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void answer_json(allm_tool_run *run, const char *json)
{
    allm_json *v = noun_json(json);
    allm_tool_ok(run, v);
    allm_json_free(v);
}

static void answer_bad(allm_tool_run *run)
{
    allm_json *v = allm_json_parse("{", 1, NULL);
    allm_tool_ok(run, v);
    allm_json_free(v);
}

static void answer_halt(allm_tool_run *run, const char *rest)
{
    char reason[64];
    const char *colon = strchr(rest, ':');
    snprintf(reason, sizeof reason, "%.*s", (int)(colon - rest), rest);
    if (!strcmp(colon + 1, "bad")) {
        allm_json *v = allm_json_parse("{", 1, NULL);
        allm_tool_halt(run, reason, v);
        allm_json_free(v);
        return;
    }
    allm_json *v = noun_json(colon + 1);
    if (v)
        allm_tool_halt(run, reason, v);
    allm_json_free(v);
}

static void answer_ask(allm_tool_run *run, const char *question, bool with)
{
    allm_json *opts = with ? noun_json("{'choices':['A','B']}") : NULL;
    allm_tool_ask(run, question, opts);
    allm_json_free(opts);
}

static void answer_seen(allm_tool_run *run)
{
    char text[200];
    const char *session = allm_tool_run_session_id(run);
    const char *request = allm_tool_run_request_id(run);
    snprintf(text, sizeof text, "%s %s %s", session ? session : "-",
             request ? request : "-", allm_tool_run_call(run)->id);
    allm_tool_text(run, text, ALLM_NUL_ENDED);
}

static bool has(const char **script, const char *word)
{
    size_t len = strlen(word);
    if (strncmp(*script, word, len) != 0)
        return false;
    *script += len;
    return true;
}

static void do_twice(allm_tool_run *run)
{
    allm_status first = allm_tool_text(run, "first", 5);
    if (first == ALLM_OK)
        CHECK_INT(allm_tool_fail(run, "second"), ALLM_ERR_MISUSE);
    CHECK_INT(allm_tool_later(run, 1, tools_do, NULL), ALLM_ERR_MISUSE);
    CHECK(!allm_tool_defer(run));
}

void tools_do(allm_tool_run *run, const allm_json *args, void *ud)
{
    const char *s = ud;
    if (has(&s, "ok:"))
        answer_json(run, s);
    else if (has(&s, "text:"))
        allm_tool_text(run, s, ALLM_NUL_ENDED);
    else if (has(&s, "fail:"))
        allm_tool_fail(run, s);
    else if (has(&s, "ask:"))
        answer_ask(run, s, false);
    else if (has(&s, "ask2:"))
        answer_ask(run, s, true);
    else if (has(&s, "halt:"))
        answer_halt(run, s);
    else if (has(&s, "raise:"))
        allm_tool_raise(run, s);
    else if (has(&s, "bad"))
        answer_bad(run);
    else if (has(&s, "twice"))
        do_twice(run);
    else if (has(&s, "echo"))
        allm_tool_ok(run, args);
    else if (has(&s, "context"))
        allm_tool_ok(run, allm_tool_run_context(run));
    else if (has(&s, "see"))
        answer_seen(run);
    else if (has(&s, "later:")) {
        char *rest;
        uint32_t ms = (uint32_t)strtoul(s, &rest, 10);
        allm_tool_later(run, ms, tools_do, rest + 1);
    }
}

static void ring(void *waker)
{
    ++*(int *)waker;
}

void tools_init(struct tools_bench *t)
{
    *t = (struct tools_bench){ .clock = { 0, 0 } };
    t->env.mem = mem_default();
    t->env.clock = clock_of_manual(&t->clock);
    t->env.ring = ring;
    t->env.waker = &t->rings;
}

void tools_release(struct tools_bench *t)
{
    batch_free(t->batch);
    for (size_t i = 0; i < t->tool_count; i++)
        allm_tool_free(t->tools[i]);
    for (size_t i = 0; i < t->call_count; i++)
        allm_tool_call_free(t->calls[i]);
}

void tools_add_fields(struct tools_bench *t, const allm_tool *fields)
{
    allm_tool *tool = allm_tool_new(fields);
    CHECK_WELL(allm_tool_error(tool));
    if (tool)
        t->tools[t->tool_count++] = tool;
}

void tools_add(struct tools_bench *t, const char *name, const char *script)
{
    tools_add_fields(
        t, ALLM(tool, .name = name, .description = "", .schema_text = "{}",
                .call = script ? tools_do : NULL,
                .ud = (void *)(uintptr_t)script, .flags = ALLM_TOOL_INLINE));
}

static void add_call(struct tools_bench *t, const char *name,
                     const allm_json *args, const char *raw)
{
    char id[16];
    snprintf(id, sizeof id, "c%zu", t->call_count);
    allm_tool_call *call =
        allm_tool_call_new(ALLM(tool_call, .id = id, .name = name,
                                .arguments = args, .raw_arguments = raw));
    if (call)
        t->calls[t->call_count++] = call;
}

void tools_call(struct tools_bench *t, const char *name, const char *args)
{
    allm_json *v = noun_json(args);
    if (v)
        add_call(t, name, v, NULL);
    allm_json_free(v);
}

void tools_call_raw(struct tools_bench *t, const char *name, const char *raw)
{
    allm_json *v = noun_json("{}");
    if (v)
        add_call(t, name, v, raw);
    allm_json_free(v);
}

void tools_start(struct tools_bench *t)
{
    t->started = true;
    t->batch = batch_new(&t->env, t->call_count,
                         (const allm_tool_call *const *)t->calls, t->tool_count,
                         (const allm_tool *const *)t->tools, &t->opts);
}

const char *tools_json(const allm_json *v)
{
    static char text[4096];
    allm_text *t = v ? allm_json_write(v, 0) : NULL;
    snprintf(text, sizeof text, "%s", t ? allm_text_bytes(t, NULL) : "-");
    allm_text_free(t);
    return text;
}

static char words[16384];

static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void put(const char *format, ...)
{
    size_t at = strlen(words);
    va_list args;
    va_start(args, format);
    vsnprintf(words + at, sizeof words - at, format, args);
    va_end(args);
}

static void put_event(const allm_event *e)
{
    put("%s", *words ? " " : "");
    switch (e->type) {
    case ALLM_EV_TOOL_EXECUTION_STARTED:
        put("+%s", e->id);
        break;
    case ALLM_EV_TOOL_EXECUTION_COMPLETED:
        put("%s=%s", e->id, tools_json(e->result));
        break;
    case ALLM_EV_TOOL_RESULT_ENCODED:
        put("%s>%s", e->id, e->text);
        break;
    case ALLM_EV_ASK_USER_REQUESTED:
        put("%s?%s%s", e->id, e->text, tools_json(e->opts));
        break;
    case ALLM_EV_TOOL_HALT:
        put("%s!%s/%s/%s", e->id, e->reason, tools_json(e->result), e->text);
        break;
    case ALLM_EV_ERROR:
        put("error:%s", e->error->reason);
        break;
    default:
        put("odd");
    }
}

const char *tools_play(struct tools_bench *t)
{
    allm_event *event = NULL;
    allm_status status;
    int64_t again = INT64_MAX;
    if (!t->started)
        tools_start(t);
    words[0] = '\0';
    if (!t->batch)
        return words;
    while ((status = batch_next(t->batch, &event, &again)) > ALLM_OK) {
        if (status == ALLM_EVENT)
            put_event(event);
        else if (again == INT64_MAX)
            break;
        else
            t->clock.now_ns = again;
    }
    put("%s%s", *words ? " " : "",
        status == ALLM_OK      ? "ok"
        : status == ALLM_AGAIN ? "again"
                               : batch_error(t->batch)->reason);
    return words;
}

const struct tool_result *tools_at(const struct tools_bench *t, size_t index)
{
    const struct tool_result *r = batch_at(t->batch, index);
    return r && r->done ? r : NULL;
}

static void put_halt(const struct tool_result *halt)
{
    struct arena a;
    struct build b;
    arena_init(&a, mem_default());
    build_init(&b, &a);
    build_object(&b);
    result_write_halt(&b, halt);
    build_end(&b);
    put(" %s", tools_json(build_done(&b)));
    arena_release(&a);
}

const char *tools_results(struct tools_bench *t)
{
    words[0] = '\0';
    for (size_t i = 0; i < batch_count(t->batch); i++) {
        const struct tool_result *r = tools_at(t, i);
        if (r)
            put("%s%s=%s", i ? " " : "", r->message->tool_call_id,
                r->message->text);
    }
    const struct tool_result *halt = batch_halt(t->batch);
    if (halt)
        put_halt(halt);
    return words;
}

const char *tools_once(const char *script, allm_tool_policy policy)
{
    struct tools_bench t;
    tools_init(&t);
    t.opts.policy = policy;
    tools_add(&t, "it", script);
    tools_call(&t, "it", "{'a':1}");
    const char *told = tools_play(&t);
    tools_release(&t);
    return told;
}
