/*
 * test_journal.c - the entries of a journal: their order, waits for them, and
 * loops that continue from them
 *
 * A test keeps the entries of a loop, interrupts it at each of them, and
 * continues from those that were written.
 *
 * tag: thread
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/play.h"
#include "harness/turns.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_ENTRIES = 64, MAX_SCRIPTS = 8, MAX_TOOLS = 8 };

/* ------------------------------------------------------------- the log --- */

struct kept {                   /* an entry; it owns what it points to */
    allm_journal_kind kind;
    uint32_t turn, pass;
    allm_effect effect;
    allm_thread *thread;
    allm_json *counts, *value;
    allm_response *response;
    allm_step_result *step;
    char id[16], key[64], reason[32], *content;
    size_t content_len;
    bool has_reason, is_error;
};

struct log {
    struct kept kept[MAX_ENTRIES];
    size_t count, durable;      /* those of complete commits */
    size_t calls;               /* of the function */
    size_t stop_at;             /* 0: never; else the entry that fails */
    bool keep_last;             /* that entry is written nevertheless */
    int again, left;            /* how often each entry must wait */
    bool pending;
    int stuck;                  /* a kind that is never written; -1: none */
    char order[1024];
};

static void free_log(struct log *l)
{
    for (size_t i = 0; i < l->count; i++) {
        struct kept *k = &l->kept[i];
        allm_thread_free(k->thread);
        allm_json_free(k->counts);
        allm_json_free(k->value);
        allm_response_free(k->response);
        allm_step_result_free(k->step);
        free(k->content);
    }
    l->count = l->durable = 0;
}

static allm_json *copy_json(const allm_json *v)
{
    size_t len = 0;
    allm_text *text = v ? allm_json_write(v, 0) : NULL;
    const char *bytes = allm_text_bytes(text, &len);
    allm_json *mine = bytes ? allm_json_parse(bytes, len, NULL) : NULL;
    allm_text_free(text);
    return mine;
}

static void set_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
}

static void keep_entry(struct log *l, const allm_journal_entry *e)
{
    struct kept *k = &l->kept[l->count];
    if (l->count == MAX_ENTRIES)
        return;
    l->count++;
    *k = (struct kept){ .kind = e->kind, .turn = e->turn, .pass = e->pass,
                        .effect = e->effect, .is_error = e->is_error,
                        .has_reason = e->reason != NULL };
    k->thread = e->thread ? allm_thread_copy(e->thread) : NULL;
    k->counts = copy_json(e->counts);
    k->value = copy_json(e->value);
    k->response = e->response ? allm_response_new(e->response) : NULL;
    k->step = e->step ? allm_step_result_new(e->step) : NULL;
    set_text(k->id, sizeof k->id, e->call ? e->call->id : NULL);
    set_text(k->key, sizeof k->key, e->key);
    set_text(k->reason, sizeof k->reason, e->reason);
    k->content_len = e->content_len;
    k->content = calloc(1, e->content_len + 1);
    if (k->content && e->content_len)
        memcpy(k->content, e->content, e->content_len);
}

/* "call answer+ intent:c0+ intent:c1 result:c0 turn+ end": + is `more`. */
static void note_order(struct log *l, const allm_journal_entry *e)
{
    static const char *const names[] = { "call",   "answer", "intent",
                                         "result", "turn",   "end" };
    size_t n = strlen(l->order);
    bool tool = e->kind == ALLM_JOURNAL_TOOL_INTENT ||
                e->kind == ALLM_JOURNAL_TOOL_RESULT;
    snprintf(l->order + n, sizeof l->order - n, "%s%s%s%s%s", n ? " " : "",
             names[e->kind], tool ? ":" : "", tool ? e->call->id : "",
             e->more ? "+" : "");
}

static allm_status write_entry(const allm_journal_entry *e, void *ud)
{
    struct log *l = ud;
    CHECK(e->size == sizeof *e && e->waker && e->pass);
    CHECK((e->kind == ALLM_JOURNAL_MODEL_CALL) == (e->thread != NULL));
    if (!l->pending)
        l->left = l->again;
    l->pending = true;
    if ((int)e->kind == l->stuck)
        return ALLM_AGAIN;
    if (l->left-- > 0) {
        allm_waker_ring(e->waker);
        return ALLM_AGAIN;
    }
    l->pending = false;
    bool stops = ++l->calls == l->stop_at;
    if (stops && !l->keep_last)
        return ALLM_ERR_STORE;
    keep_entry(l, e);
    note_order(l, e);
    if (!e->more)
        l->durable = l->count;
    return stops ? ALLM_ERR_STORE : ALLM_OK;
}

/* ------------------------------------------------------- loops to stop --- */

#define CALL(id, name, args) \
    "['tool_call', {'id': '" id "', 'name': '" name "', 'arguments': " args "}]"
#define USAGE "['usage', {'input_tokens': 3, 'output_tokens': 2}]"
#define SAY(text) "[" USAGE ", ['text', '" text "'], ['finish', 'stop']]"
#define ASK(calls) "[" USAGE ", " calls ", ['finish', 'tool_calls']]"
#define TWO ASK(CALL("c0", "a", "{}") ", " CALL("c1", "b", "{}"))
#define FORMAT \
    "{'type': 'json_schema', 'schema': {'type': 'object', 'required': ['x']}}"

struct sort {                   /* of loop */
    const char *name;
    const char *scripts[MAX_SCRIPTS];
    const char *tools;          /* as for turns_engine() */
    const char *options;        /* as JSON, or NULL */
    const char *reason;         /* why it ends */
    bool agent, step;
};

static const struct sort sorts[] = {
    { "an answer", { SAY("hello") }, "a=text:1", NULL, "completed", 0, 0 },
    { "tools",
      { TWO, ASK(CALL("c0", "b", "{}")), SAY("done") },
      "a=text:1;b=ok:{'v':2}", NULL, "completed", 0, 0 },
    { "one after the other",
      { ASK(CALL("c0", "a", "{}") ", " CALL("c1", "b", "{}") ", " CALL(
            "c2", "a", "{}")),
        SAY("done") },
      "a=text:1;b=fail:no", "{'max_concurrency': 1}", "completed", 0, 0 },
    { "in workers", { TWO, TWO, SAY("x") }, "a~=text:1;b~=text:2", NULL,
      "completed", 0, 0 },
    { "live", { TWO, SAY("x") }, "a=text:1;b=text:2",
      "{'live_tool_events': true}", "completed", 0, 0 },
    { "a failure halts", { TWO }, "a=text:1;b=fail:no",
      "{'on_tool_error': 'halt'}", "tool_error", 0, 0 },
    { "a question", { TWO }, "a=ask2:why?;b=text:2", NULL, "ask_user", 0, 0 },
    { "a halt", { TWO }, "a=text:1;b=halt:own:{'v':1}", NULL, "own", 0, 0 },
    { "a manual call", { TWO }, "a=text:1;b!=text:2", NULL,
      "manual_tool_calls", 0, 0 },
    { "equal calls", { TWO, TWO, TWO, SAY("x") }, "a=text:1;b=text:2",
      "{'max_same_calls': 3}", "repeated_calls", 0, 0 },
    { "max_turns", { TWO, TWO, TWO }, "a=text:1;b=text:2", "{'max_turns': 2}",
      "max_turns", 0, 0 },
    { "an answer to correct",
      { TWO, SAY("no"), SAY("{}"), SAY("{\\\"x\\\":1}") },
      "a=text:1;b=text:2",
      "{'validate_output': true, 'response_format': " FORMAT "}", "completed",
      0, 0 },
    { "one that stays wrong", { SAY("no"), SAY("no"), SAY("no") }, "a=text:1",
      "{'validate_output': true, 'response_format': " FORMAT "}", "error", 0,
      0 },
    { "two passes", { TWO, SAY("y"), SAY("{\\\"x\\\":1}") },
      "a=text:1;b=text:2",
      "{'structured_finalize': true, 'response_format': " FORMAT "}",
      "completed", 0, 0 },
    { "two passes, both limited", { TWO, SAY("{\\\"x\\\":1}") },
      "a=text:1;b=text:2",
      "{'structured_finalize': true, 'max_turns': 1, 'response_format': " FORMAT
      "}",
      "completed", 0, 0 },
    { "pass 2 fails", { SAY("y"), "[['error', {'reason': 'overloaded'}]]" },
      "a=text:1",
      "{'structured_finalize': true, 'response_format': " FORMAT "}",
      "completed", 0, 0 },
    { "cut results", { TWO, SAY("x") },
      "a=text:12345678901234567890123456789012345678901234567890123456789012345"
      "6789012345678901234567890;b=text:2",
      "{'max_tool_output': 60}", "completed", 0, 0 },
    { "a cut result that is read later",
      { TWO,
        ASK(CALL("c2", "tool_output", "{'tool_call_id': 'c0', 'offset': 20}")),
        SAY("x") },
      "a=text:12345678901234567890123456789012345678901234567890123456789012345"
      "6789012345678901234567890;b=text:2",
      "{'max_tool_output': 60}", "completed", 0, 0 },
    { "a step", { TWO }, "a=text:1;b=text:2", NULL, NULL, 0, 1 },
    { "an agent", { TWO, "[]", ASK(CALL("c0", "b", "{}")), SAY("x") },
      "a=text:1;b=fail:no", NULL, "completed", 1, 0 },
    { "an agent whose tools fail", { TWO, TWO, TWO, TWO },
      "a=text:1;b=fail:no", NULL, "error", 1, 0 },
    { "an agent that is blank", { TWO, "[]", "[]", "[]" }, "a=text:1;b=text:2",
      NULL, "error", 1, 0 },
};

struct loop {
    allm_engine *engine;
    allm_stream *stream;
    allm_json *json;
};

/* The engine of a loop whose first `done` answers have been given, with tools
 * of this effect. */
static allm_engine *engine_of(const struct sort *s, size_t done,
                              allm_effect effect)
{
    static char scripts[4096];  /* It must outlive the engine. */
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

static void begin(struct loop *p, const struct sort *s, struct log *l,
                  size_t done, allm_effect effect, const allm_thread *thread,
                  const allm_journal_replay *replay)
{
    p->engine = engine_of(s, done, effect);
    p->json = s->options ? play_json(s->options) : NULL;
    const allm_call_opts opts = { .size = sizeof opts, .request_id = "r",
                                  .journal = write_entry, .journal_ud = l,
                                  .json = p->json, .replay = replay };
    const allm_agent_opts agent = { .size = sizeof agent, .call = &opts };
    p->stream = s->agent  ? allm_agent(p->engine, thread, &agent)
                : s->step ? allm_step(p->engine, thread, &opts)
                          : allm_chat(p->engine, thread, &opts);
}

static void end(struct loop *p)
{
    allm_stream_free(p->stream);
    allm_json_free(p->json);
    allm_engine_free(p->engine);
}

/* Everything that a caller can see of the result. */
static char *result_of(const allm_stream *stream)
{
    const allm_chat_result *c = allm_stream_chat_result(stream);
    const allm_step_result *s = allm_stream_step_result(stream);
    const allm_agent_result *a = allm_stream_agent_result(stream);
    allm_text *text = c   ? allm_chat_result_json(c, ALLM_FORM_TAGGED)
                      : s ? allm_step_result_json(s, ALLM_FORM_TAGGED)
                          : NULL;
    size_t len = 0;
    const char *bytes = allm_text_bytes(text, &len);
    char *all = malloc(len + 512);
    if (all)
        snprintf(all, len + 512, "%s %s/%u/%u/%lld", bytes ? bytes : "nothing",
                 a ? a->reason : "", a ? (unsigned)a->iterations : 0,
                 a ? (unsigned)a->tool_calls : 0,
                 a && a->usage ? (long long)a->usage->input_tokens.value : 0);
    allm_text_free(text);
    return all;
}

static char *run_whole(const struct sort *s, struct log *l, allm_effect effect)
{
    struct loop p;
    allm_thread *thread = turns_thread();
    begin(&p, s, l, 0, effect, thread, NULL);
    CHECK_INT(l->calls, 0);     /* none in the constructor */
    allm_stream_wait(p.stream);
    const allm_chat_result *c = allm_stream_chat_result(p.stream);
    if (s->reason)
        CHECK_TEXT(GET(c, halted_reason), s->reason);
    char *result = result_of(p.stream);
    end(&p);
    allm_thread_free(thread);
    return result;
}

/* ----------------------------------------------------------- replaying --- */

struct resumed {
    allm_journal_replay replay;
    allm_journal_tool tools[MAX_TOOLS], earlier[MAX_TOOLS];
    const allm_journal_tool *tool_list[MAX_TOOLS], *earlier_list[MAX_TOOLS];
    const allm_step_result *steps[MAX_SCRIPTS];
    const allm_thread *thread;
    size_t answers;             /* of the model, so far */
    bool ended;
};

static void fill_tool(allm_journal_tool *t, const struct kept *k)
{
    *t = (allm_journal_tool){ .size = sizeof *t, .tool_call_id = k->id,
                              .effect = k->effect };
    if (k->kind == ALLM_JOURNAL_TOOL_INTENT)
        return;
    t->done = 1;
    t->is_error = k->is_error;
    t->content = k->content;
    t->content_len = k->content_len;
    t->reason = k->has_reason ? k->reason : NULL;
    t->value = k->value;
}

static void add_tool(struct resumed *r, const struct kept *k)
{
    size_t i = 0;
    while (i < r->replay.tool_count &&
           strcmp(r->tools[i].tool_call_id, k->id) != 0)
        i++;
    if (i == MAX_TOOLS)
        return;
    r->tool_list[i] = &r->tools[i];
    fill_tool(&r->tools[i], k);
    if (i == r->replay.tool_count)
        r->replay.tool_count++;
}

static void add_earlier(struct resumed *r, const struct kept *k)
{
    size_t i = r->replay.earlier_count;
    if (i == MAX_TOOLS)
        return;
    r->earlier_list[i] = &r->earlier[i];
    fill_tool(&r->earlier[i], k);
    r->replay.earlier_count++;
}

/* The last call of the model begins the interrupted turn. */
static void read_log(struct resumed *r, const struct log *l, size_t count)
{
    size_t at = 0, begin_at = SIZE_MAX;
    *r = (struct resumed){ .replay = { .size = sizeof r->replay,
                                       .tools = r->tool_list,
                                       .earlier = r->earlier_list,
                                       .steps = r->steps } };
    for (size_t i = 0; i < count; i++)
        if (l->kept[i].kind == ALLM_JOURNAL_MODEL_CALL)
            begin_at = i;
    for (at = 0; at < count; at++) {
        const struct kept *k = &l->kept[at];
        r->answers += k->kind == ALLM_JOURNAL_RESPONSE;
        r->ended = r->ended || k->kind == ALLM_JOURNAL_END;
        if (at < begin_at && k->kind == ALLM_JOURNAL_TURN_END)
            r->steps[r->replay.step_count++] = k->step;
        if (at < begin_at && k->kind == ALLM_JOURNAL_TOOL_RESULT)
            add_earlier(r, k);
        if (at < begin_at)
            continue;
        if (k->kind == ALLM_JOURNAL_MODEL_CALL) {
            r->thread = k->thread;
            r->replay.turn = k->turn;
            r->replay.pass = k->pass;
            r->replay.counts = k->counts;
        }
        if (k->kind == ALLM_JOURNAL_RESPONSE)
            r->replay.response = k->response;
        if (k->kind == ALLM_JOURNAL_TOOL_INTENT ||
            k->kind == ALLM_JOURNAL_TOOL_RESULT)
            add_tool(r, k);
    }
}

/* Continue from the written entries; NULL: the loop had ended. */
static char *resume(const struct sort *s, const struct log *l, size_t count,
                    allm_effect effect)
{
    struct resumed r;
    struct loop p;
    struct log more = { .stuck = -1 };
    allm_thread *fresh = turns_thread();
    read_log(&r, l, count);
    if (r.ended) {
        allm_thread_free(fresh);
        return NULL;
    }
    begin(&p, s, &more, r.answers, effect, r.thread ? r.thread : fresh,
          r.thread ? &r.replay : NULL);
    allm_stream_wait(p.stream);
    char *result = result_of(p.stream);
    end(&p);
    allm_thread_free(fresh);
    free_log(&more);
    return result;
}

/* Stop at entry n; the count of written entries, 0: there is no entry n. */
static size_t stop_at(const struct sort *s, struct log *l, size_t n,
                      bool keep_last, allm_effect effect)
{
    struct loop p;
    allm_thread *thread = turns_thread();
    *l = (struct log){ .stop_at = n, .keep_last = keep_last, .stuck = -1 };
    begin(&p, s, l, 0, effect, thread, NULL);
    allm_stream_wait(p.stream);
    end(&p);
    allm_thread_free(thread);
    return l->calls == n ? n : 0;
}

static void compare(const struct sort *s, const struct log *l, size_t count,
                    const char *whole)
{
    char *result = resume(s, l, count, ALLM_EFFECT_PURE);
    if (result)
        CHECK_TEXT(result, whole);
    free(result);
}

/* An interruption before or after each entry changes nothing. */
static void a_resumed_loop_has_the_same_result(void)
{
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
        struct log l = { .stuck = -1 };
        char *whole = run_whole(&sorts[i], &l, ALLM_EFFECT_PURE);
        free_log(&l);
        for (size_t n = 1; n; n++) {
            char why[96];
            snprintf(why, sizeof why, "%s, entry %zu", sorts[i].name, n);
            check_row(why);
            size_t at = stop_at(&sorts[i], &l, n, n % 2, ALLM_EFFECT_PURE);
            if (at) {
                compare(&sorts[i], &l, l.count, whole);
                compare(&sorts[i], &l, l.durable, whole);
            }
            free_log(&l);
            if (!at)
                break;
            at = stop_at(&sorts[i], &l, n, !(n % 2), ALLM_EFFECT_PURE);
            compare(&sorts[i], &l, l.count, whole);
            free_log(&l);
        }
        free(whole);
    }
}

static size_t count_unknown(const struct log *l, size_t count)
{
    struct resumed r;
    size_t n = 0;
    read_log(&r, l, count);
    for (size_t i = 0; i < r.replay.tool_count; i++)
        n += !r.tools[i].done;
    return n;
}

/* With one call at a time, at most one write is unknown; it never runs
 * again. */
static void a_write_that_began_does_not_run_again(void)
{
    const struct sort *s = &sorts[2];
    for (size_t n = 1; n < 20; n++) {
        struct log l;
        size_t at = stop_at(s, &l, n, n % 2, ALLM_EFFECT_WRITE);
        size_t unknown = count_unknown(&l, l.count);
        CHECK(unknown <= 1);
        turns_runs();
        char *result = at ? resume(s, &l, l.count, ALLM_EFFECT_WRITE) : NULL;
        if (result && unknown && check_whole())
            CHECK(strstr(result, "unknown_tool_calls") != NULL);
        free(result);
        free_log(&l);
    }
}

/* ----------------------------------------------------- order and waits --- */

static void entries_have_an_order(void)
{
    static const struct {
        int sort;
        const char *order;
    } rows[] = {
        { 0, "call answer+ turn+ end" },
        { 1, "call answer+ intent:c0+ intent:c1 result:c0+ result:c1 turn+ "
             "call answer+ intent:c0 result:c0 turn+ call answer+ turn+ end" },
        { 2, "call answer+ intent:c0 result:c0+ intent:c1 result:c1+ intent:c2 "
             "result:c2 turn+ call answer+ turn+ end" },
        { 8, "call answer+ intent:c0 result:c0 turn+ end" },
        { 18, "call answer+ intent:c0+ intent:c1 result:c0+ result:c1 turn+ "
              "end" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int again = 0; again < 4; again++) {
            struct log l = { .again = again, .stuck = -1 };
            check_row(sorts[rows[i].sort].name);
            free(run_whole(&sorts[rows[i].sort], &l, ALLM_EFFECT_WRITE));
            CHECK_TEXT(l.order, rows[i].order);
            free_log(&l);
        }
}

static void a_slow_journal_changes_nothing(void)
{
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
        struct log fast = { .stuck = -1 }, slow = { .again = 3, .stuck = -1 };
        check_row(sorts[i].name);
        char *a = run_whole(&sorts[i], &fast, ALLM_EFFECT_PURE);
        char *b = run_whole(&sorts[i], &slow, ALLM_EFFECT_PURE);
        if (a && b)
            CHECK_TEXT(b, a);
        free(a);
        free(b);
        free_log(&fast);
        free_log(&slow);
    }
}

/* An entry that is never written: the call ends by its timeout, and may be
 * cancelled or held before that. */
static void waits_end(void)
{
    for (int kind = ALLM_JOURNAL_MODEL_CALL; kind <= ALLM_JOURNAL_END; kind++)
        for (int way = 0; way < 3; way++) {
            struct clock_manual clock = { 0 };
            struct log l = { .stuck = kind };
            allm_clock c = play_clock(&clock);
            allm_engine *e = turns_engine("[" TWO ", " SAY("x") "]",
                                          "a=text:1;b=text:2", &clock);
            allm_thread *t = turns_thread();
            allm_hub *hub = way ? allm_hub_new(ALLM(hub_opts, .clock = &c))
                                : NULL;
            allm_stream *s = allm_chat(e, t,
                                       ALLM(call_opts, .total_ms = 1000,
                                            .journal = write_entry,
                                            .journal_ud = &l));
            allm_status status;
            if (hub)
                allm_hub_add(hub, s, NULL);
            allm_stream_hold(s, false);
            while ((status = allm_stream_next(s, NULL)) == ALLM_EVENT)
                ;
            if (way) {
                CHECK_INT(status, ALLM_AGAIN);
                allm_stream_hold(s, way == 2);
                CHECK_INT(allm_stream_next(s, NULL), ALLM_AGAIN);
                allm_stream_cancel(s);
                CHECK(allm_stream_next(s, NULL) != ALLM_AGAIN);
            } else {
                CHECK_INT(status, ALLM_ERR_ADAPTER);
                CHECK_ERROR(allm_stream_error(s), ALLM_ERR_ADAPTER, "timeout",
                            NULL);
            }
            CHECK_INT(turns_runs(), kind <= ALLM_JOURNAL_TOOL_INTENT ? 0 : 2);
            allm_stream_free(s);
            allm_hub_free(hub);
            allm_thread_free(t);
            allm_engine_free(e);
            free_log(&l);
        }
}

static int runs_seen;

/* Wait with the result of c0 until c1 has run. */
static allm_status wait_for_other(const allm_journal_entry *e, void *ud)
{
    (void)ud;
    if (e->kind != ALLM_JOURNAL_TOOL_RESULT || strcmp(e->call->id, "c0"))
        return ALLM_OK;
    runs_seen += turns_runs();
    return runs_seen < 2 ? ALLM_AGAIN : ALLM_OK;
}

static void other_tools_run_during_a_wait(void)
{
    struct clock_manual clock = { 0 };
    allm_engine *e = turns_engine("[" TWO ", " SAY("x") "]",
                                  "a=text:1;b=later:50:text:2", &clock);
    allm_thread *t = turns_thread();
    turns_runs();
    runs_seen = 0;
    allm_stream *s = allm_chat(
        e, t, ALLM(call_opts, .total_ms = 1000, .journal = wait_for_other));
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    const allm_chat_result *c = allm_stream_chat_result(s);
    CHECK_TEXT(GET(c, halted_reason), "completed");
    allm_stream_free(s);
    allm_thread_free(t);
    allm_engine_free(e);
}

/* ------------------------------------------------------------- effects --- */

/* A call is unknown if it was a write, is one, or its tool is gone. */
static void effects_then_and_now_count(void)
{
    static const struct {
        allm_effect then, now;
        const char *reason;
    } rows[] = {
        { ALLM_EFFECT_PURE, ALLM_EFFECT_IDEMPOTENT, "completed" },
        { ALLM_EFFECT_WRITE, ALLM_EFFECT_PURE, "manual_tool_calls" },
        { ALLM_EFFECT_PURE, ALLM_EFFECT_WRITE, "manual_tool_calls" },
    };
    const struct sort *s = &sorts[1];
    for (size_t i = 0; i < 4; i++) {
        struct log l;
        bool gone = i == 3;
        const struct sort other = { .scripts = { NULL, SAY("x"), SAY("x") },
                                    .tools = gone ? "c=text:1" : s->tools };
        stop_at(s, &l, 4, true, gone ? ALLM_EFFECT_PURE : rows[i].then);
        char *result = resume(&other, &l, l.count,
                              gone ? ALLM_EFFECT_PURE : rows[i].now);
        if (result && check_whole())
            CHECK_WHY(strstr(result,
                             gone ? "manual_tool_calls" : rows[i].reason),
                      result);
        free(result);
        free_log(&l);
    }
}

TESTS = {
    TEST_ONCE(a_resumed_loop_has_the_same_result),
    TEST_ONCE(a_write_that_began_does_not_run_again),
    TEST(entries_have_an_order),
    TEST_ONCE(a_slow_journal_changes_nothing),
    TEST(waits_end),
    TEST(other_tools_run_during_a_wait),
    TEST(effects_then_and_now_count),
    TESTS_END,
};
