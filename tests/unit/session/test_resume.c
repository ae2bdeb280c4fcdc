/*
 * test_resume.c - an operation that crashes at any commit and is resumed
 *
 * Each operation runs whole once.  Then it runs again, in a store that dies
 * before or after commit n, for every n; another handle resumes it.  The
 * session and the result must be those of the whole run.
 *
 * tag: thread
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/crash.h"
#include "harness/play.h"
#include "harness/turns.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_SCRIPTS = 8, MAX_TOOLS = 8, TEXT = 65536 };

#define CALL(id, name, args) \
    "['tool_call', {'id': '" id "', 'name': '" name "', 'arguments': " args "}]"
#define USAGE "['usage', {'input_tokens': 3, 'output_tokens': 2}]"
#define SAY(text) "[" USAGE ", ['text', '" text "'], ['finish', 'stop']]"
#define ASK(calls) "[" USAGE ", " calls ", ['finish', 'tool_calls']]"
#define TWO ASK(CALL("c0", "a", "{}") ", " CALL("c1", "b", "{}"))
#define FORMAT \
    "{'type': 'json_schema', 'schema': {'type': 'object', 'required': ['x']}}"

struct sort {
    const char *name;
    const char *scripts[MAX_SCRIPTS];
    const char *tools, *options;
    const char *log;            /* of the whole run */
    bool step;
};

static const struct sort sorts[] = {
    { "an answer", { SAY("hello") }, "a=text:1", NULL,
      "created begin call response turn end", 0 },
    { "tools", { TWO, ASK(CALL("c0", "b", "{}")), SAY("done") },
      "a=text:1;b=ok:{'v':2}", NULL,
      "created begin call response intent intent result result turn call "
      "response intent result turn call response turn end",
      0 },
    { "one after the other", { TWO, SAY("done") }, "a=text:1;b=fail:no",
      "{'max_concurrency': 1}",
      "created begin call response intent result intent result turn call "
      "response turn end",
      0 },
    { "a question", { TWO }, "a=ask2:why?;b=text:2", NULL,
      "created begin call response intent intent result result turn end", 0 },
    { "a failure halts", { TWO }, "a=text:1;b=fail:no",
      "{'on_tool_error': 'halt'}",
      "created begin call response intent intent result result turn end", 0 },
    { "a manual call", { TWO }, "a=text:1;b!=text:2", NULL,
      "created begin call response intent result turn end", 0 },
    { "two passes", { TWO, SAY("y"), SAY("{\\\"x\\\":1}") },
      "a=text:1;b=text:2",
      "{'structured_finalize': true, 'response_format': " FORMAT "}",
      "created begin call response intent intent result result turn call "
      "response turn call response turn end",
      0 },
    { "an answer to correct", { SAY("no"), SAY("{\\\"x\\\":1}") }, "a=text:1",
      "{'validate_output': true, 'response_format': " FORMAT "}",
      "created begin call response turn call response turn end", 0 },
    { "cut results",
      { TWO,
        ASK(CALL("c2", "tool_output", "{'tool_call_id': 'c0', 'offset': 20}")),
        SAY("x") },
      "a=text:12345678901234567890123456789012345678901234567890123456789012345"
      "6789012345678901234567890;b=text:2",
      "{'max_tool_output': 60}", NULL, 0 },
    { "it breaks off", { "[['text', 'partial'], ['error', 'rate_limited']]" },
      "a=text:1", NULL, NULL, 0 },
    { "a step", { TWO }, "a=text:1;b=text:2", NULL,
      "created begin call response intent intent result result turn end", 1 },
};

/* ------------------------------------------------------------ engines --- */

/* An engine whose first `done` answers have been given. */
static allm_engine *engine_of(const struct sort *s, size_t done,
                              allm_effect effect)
{
    static char scripts[4096];
    size_t n = (size_t)snprintf(scripts, sizeof scripts, "[");
    for (size_t i = done; i < MAX_SCRIPTS && s->scripts[i]; i++)
        n += (size_t)snprintf(scripts + n, sizeof scripts - n, "%s%s",
                              i > done ? ", " : "", s->scripts[i]);
    snprintf(scripts + n, sizeof scripts - n, "]");
    allm_engine *e = turns_engine(scripts, s->tools, NULL);
    const allm_engine_record *record = allm_engine_fields(e);
    const allm_tool *tools[MAX_TOOLS];
    allm_tool *made[MAX_TOOLS];
    size_t count = record ? record->tool_count : 0;
    for (size_t i = 0; i < count; i++) {
        allm_tool fields = *record->tools[i];
        fields.home = NULL;
        fields.effect = effect;
        tools[i] = made[i] = allm_tool_new(&fields);
    }
    allm_engine *with = allm_engine_merge_opts(
        e, ALLM(call_opts, .tools = tools, .tool_count = count));
    while (count)
        allm_tool_free(made[--count]);
    allm_engine_free(e);
    return with;
}

/* ------------------------------------------------------------ running --- */

struct outcome {
    char session[TEXT], result[TEXT];
    allm_status status;
};

static void write_text(char *out, allm_text *t)
{
    const char *bytes = allm_text_bytes(t, NULL);
    snprintf(out, TEXT, "%s", bytes ? bytes : "");
    allm_text_free(t);
}

/* Pull to the end, and write down what is there then; frees both. */
static void finish(allm_stream *stream, allm_session *s, struct outcome *out)
{
    const allm_event *event;
    out->result[0] = '\0';
    while ((out->status = allm_stream_next(stream, &event)) == ALLM_EVENT)
        ;
    if (allm_stream_chat_result(stream))
        write_text(out->result,
                   allm_chat_result_json(allm_stream_chat_result(stream),
                                         ALLM_FORM_TAGGED));
    else if (allm_stream_step_result(stream))
        write_text(out->result,
                   allm_step_result_json(allm_stream_step_result(stream),
                                         ALLM_FORM_TAGGED));
    allm_stream_free(stream);
    write_text(out->session, allm_session_record_json(allm_session_fields(s),
                                                      ALLM_FORM_TAGGED));
    allm_session_free(s);
}

static void begin_operation(allm_store *store, const struct sort *sort,
                            allm_effect effect, struct outcome *out)
{
    allm_engine *e = engine_of(sort, 0, effect);
    allm_json *json = sort->options ? play_json(sort->options) : NULL;
    allm_session *s = allm_session_open(store, "s", ALLM_SESSION_CREATE);
    const allm_call_opts opts = { .size = sizeof opts, .request_id = "r",
                                  .json = json };
    allm_stream *stream = sort->step
                              ? allm_session_append_user(s, "hi") == ALLM_OK
                                    ? allm_session_step(e, s, &opts)
                                    : NULL
                              : allm_session_reply(e, s, "hi", &opts);
    if (stream)
        finish(stream, s, out);
    else
        allm_session_free(s);
    allm_json_free(json);
    allm_engine_free(e);
}

static void run_whole(const struct sort *sort, bool on_disk, allm_effect effect,
                      struct outcome *out)
{
    crash_begin(on_disk);
    allm_store *store = crash_open(0, false);
    begin_operation(store, sort, effect, out);
    CHECK_INT(out->status, ALLM_OK);
    const char *log = crash_log(store, "s");
    if (sort->log && !sort->step)
        CHECK_TEXT(log, sort->log);
    allm_json *v = allm_store_verify(store, NULL);
    CHECK(allm_json_true(allm_json_get(v, "ok")));
    allm_json_free(v);
    allm_store_free(store);
    crash_end();
}

/* Settle all unknown calls as "run it again". */
static size_t settle_all(allm_session *s)
{
    size_t n = 0;
    for (;;) {
        const allm_session_record *r = allm_session_fields(s);
        const allm_json *list =
            allm_json_get(allm_json_get(r ? r->metadata : NULL, "broken_off"),
                          "unknown_tool_calls");
        const allm_json *call = allm_json_at(list, 0);
        const char *id = allm_json_text(allm_json_get(call, "id"), NULL);
        if (!id)
            return n;
        n++;
        if (!CHECK(allm_session_settle(s, id, ALLM_SETTLE_AGAIN, NULL) ==
                   ALLM_OK) ||
            n > MAX_TOOLS)
            return n;
    }
}

static void resume(const struct sort *sort, allm_effect effect,
                   const struct outcome *whole)
{
    static struct outcome out;
    allm_store *store = crash_open(0, false);
    allm_session *s = allm_session_open(store, "s", ALLM_SESSION_CREATE);
    size_t answers = crash_count(store, "s", "response");
    bool broken = false;
    const allm_session_record *r = allm_session_fields(s);
    if (r && allm_json_get(r->metadata, "broken_off"))
        broken = true;
    allm_engine *e = engine_of(sort, answers, effect);
    if (broken) {
        CHECK_INT(allm_session_append_user(s, "x"), ALLM_ERR_SESSION);
        CHECK_TEXT(GET(allm_session_error(s), reason), "turn_unfinished");
        size_t settled = settle_all(s);
        CHECK(effect == ALLM_EFFECT_WRITE || !settled);
        finish(allm_session_resume(e, s, NULL), s, &out);
        CHECK_TEXT(out.session, whole->session);
        CHECK_TEXT(out.result, whole->result);
    } else if (crash_count(store, "s", "end")) {
        finish(allm_session_resume(e, s, NULL), s, &out);
        CHECK_TEXT(out.session, whole->session);
        CHECK_INT(out.status, ALLM_ERR_SESSION);
    } else {
        allm_session_free(s);
    }
    allm_json *v = allm_store_verify(store, NULL);
    if (!CHECK(allm_json_true(allm_json_get(v, "ok")))) {
        allm_text *t = allm_json_write(v, 0);
        printf("# %s\n", allm_text_bytes(t, NULL));
        allm_text_free(t);
    }
    allm_json_free(v);
    allm_engine_free(e);
    allm_store_free(store);
}

static void crash_everywhere(const struct sort *sort, bool on_disk,
                             allm_effect effect)
{
    static struct outcome whole, out;
    run_whole(sort, on_disk, effect, &whole);
    for (uint64_t n = 1, more = 1; more; n++) {
        for (int durable = 0; durable < 2; durable++) {
            char why[96];
            snprintf(why, sizeof why, "%s, %s commit %d", sort->name,
                     durable ? "after" : "before", (int)n);
            check_row(why);
            crash_begin(on_disk);
            allm_store *store = crash_open(n, durable);
            begin_operation(store, sort, effect, &out);
            more = crash_commits() >= n && check_whole();
            allm_store_free(store);
            if (more)
                resume(sort, effect, &whole);
            crash_end();
        }
    }
}

static void all_sorts(bool on_disk, allm_effect effect)
{
    /* A disk is slow: in a quick run two sorts must do. */
    size_t count = sizeof sorts / sizeof *sorts;
    if (on_disk && check_stride() > 1)
        count = 2;
    for (size_t i = 0; i < count; i++)
        crash_everywhere(&sorts[i], on_disk, effect);
}

static void resumes_in_memory(void)
{
    all_sorts(false, ALLM_EFFECT_PURE);
}

static void resumes_writes_in_memory(void)
{
    all_sorts(false, ALLM_EFFECT_WRITE);
}

static void resumes_on_disk(void)
{
    all_sorts(true, ALLM_EFFECT_PURE);
}

static void resumes_writes_on_disk(void)
{
    all_sorts(true, ALLM_EFFECT_WRITE);
}

TESTS = {
    TEST_ONCE(resumes_in_memory),
    TEST_ONCE(resumes_writes_in_memory),
    TEST_ONCE(resumes_on_disk),
    TEST_ONCE(resumes_writes_on_disk),
    TESTS_END,
};
