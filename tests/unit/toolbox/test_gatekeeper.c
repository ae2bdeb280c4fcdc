/*
 * test_gatekeeper.c - the gate of a toolbox, in chats with built-in tools
 *
 * tag: thread
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/external.h"
#include "harness/noun.h"
#include "harness/play.h"
#include "harness/turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITE(id, name) \
    "['tool_call', {'id': '" id "', 'name': 'write_file', 'arguments': " \
    "{'path': '" name "', 'content': 'x'}}]"
#define READ(id) \
    "['tool_call', {'id': '" id "', 'name': 'list_directory', 'arguments': {}}]"
#define BASH(id, args) \
    "['tool_call', {'id': '" id "', 'name': 'bash', 'arguments': {'command': " \
    "'echo hi'" args "}}]"
#define TURN(calls) "[" calls ", ['finish', 'tool_calls']]"
#define DONE "[['text', 'done'], ['finish', 'stop']]"

/* How approve() answers: o once, s session, a always, d deny, l leave. */
struct person {
    const char *answers;
    size_t asked;
    allm_status allowed;        /* of the last one that was allowed */
    char reach[512];            /* of the last question */
};

static void answer(void *ud, allm_approval *a)
{
    struct person *p = ud;
    char how = p->answers[p->asked++];
    allm_text *t = allm_json_write(allm_approval_reach(a), 0);
    snprintf(p->reach, sizeof p->reach, "%s", allm_text_bytes(t, NULL));
    allm_text_free(t);
    if (how == 'd')
        allm_approval_deny(a, "not this one");
    else if (how != 'l')
        p->allowed = allm_approval_allow(a, how == 's'   ? ALLM_APPROVAL_SESSION
                                            : how == 'a' ? ALLM_APPROVAL_ALWAYS
                                                         : ALLM_APPROVAL_ONCE);
    allm_approval_free(a);
}

struct scene {
    struct external_count before;
    struct person person;
    const char *root;
    char file[256];             /* approvals.json */
    allm_toolbox *box;
};

static void open_box(struct scene *c, const char *answers, const char *rules)
{
    allm_json *json = rules ? noun_json(rules) : NULL;
    c->person = (struct person){ .answers = answers };
    c->box = allm_toolbox_new(ALLM(toolbox_opts, .root = c->root, .rules = json,
                                   .approve = answers ? answer : NULL,
                                   .ud = &c->person, .approvals = c->file));
    allm_toolbox_add_builtin(c->box, "code");
    allm_json_free(json);
}

static void open_scene(struct scene *c, const char *answers, const char *rules)
{
    external_warden();
    *c = (struct scene){ .before = external_count(),
                         .root = external_folder() };
    setenv("TMPDIR", "/tmp", 1);
    snprintf(c->file, sizeof c->file, "%s/approvals.json", c->root);
    open_box(c, answers, rules);
}

static void close_scene(struct scene *c)
{
    allm_toolbox_free(c->box);
    external_clean();
    CHECK_ALWAYS(external_same(c->before));
}

/* The messages after a chat with these answers of the model; static. */
static const char *chat(struct scene *c, const char *scripts, bool gated,
                        const char *session)
{
    static char text[4096];
    const allm_executor *x = allm_toolbox_executor(c->box);
    size_t count = 0;
    const allm_tool *const *tools = x ? x->tools(x->self, &count) : NULL;
    allm_engine *e = turns_engine(scripts, "", NULL);
    allm_thread *t = turns_thread();
    allm_stream *s = allm_chat(
        e, t,
        ALLM(call_opts, .executor = x, .tools = tools, .tool_count = count,
             .max_concurrency = 1, .session_id = session,
             .gate = gated ? allm_toolbox_gate(c->box) : NULL));
    allm_stream_wait(s);
    const allm_chat_result *r = allm_stream_chat_result(s);
    snprintf(text, sizeof text, "%s [%s]",
             r ? turns_messages(r->thread) : "nothing",
             r && r->halted_reason ? r->halted_reason : "");
    allm_stream_free(s);
    allm_thread_free(t);
    allm_engine_free(e);
    return text;
}

static bool exists(const struct scene *c, const char *name)
{
    char path[300];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", c->root, name);
    return stat(path, &st) == 0;
}

static void only_what_exceeds_the_default_is_asked(void)
{
    struct scene c;
    open_scene(&c, "o", NULL);
    const char *got = chat(
        &c, "[" TURN(READ("c0") "," WRITE("c1", "a")) "," DONE "]", true, NULL);
    CHECK(strstr(got, "[completed]"));
    CHECK_INT(c.person.asked, 1);
    char want[300];
    snprintf(want, sizeof want, "[\"write %s\"]", c.root);
    CHECK_TEXT(c.person.reach, want);
    CHECK(exists(&c, "a"));
    close_scene(&c);
}

static void a_denied_call_says_why(void)
{
    struct scene c;
    open_scene(&c, "d", "[{'tool':'bash','verdict':'deny'}]");
    const char *got =
        chat(&c, "[" TURN(WRITE("c0", "a") "," BASH("c1", "")) "," DONE "]",
             true, NULL);
    CHECK(strstr(got, "denied: not this one"));
    CHECK(strstr(got, "denied: a rule (user) denies this call of bash"));
    CHECK(strstr(got, "[completed]") && !exists(&c, "a"));
    CHECK_INT(c.person.asked, 1);
    close_scene(&c);
}

/* The shell may read the root, so it could read what is denied there. */
static void a_denied_path_of_the_root_denies_the_shell(void)
{
    struct scene c;
    open_scene(&c, "o",
               "[{'tool': '*', 'reach': ['read secret'], 'verdict': 'deny'}]");
    const char *got = chat(&c, "[" TURN(BASH("c0", "")) "," DONE "]", true,
                           NULL);
    CHECK(strstr(got, "what every process may read, such as the root"));
    CHECK_INT(c.person.asked, 0);
    close_scene(&c);
}

/* The same tool and reach in the same session; not in another one. */
static void an_answer_for_the_session_counts_there(void)
{
    struct scene c;
    open_scene(&c, "sol", NULL);
    const char *twice =
        "[" TURN(WRITE("c0", "a")) "," TURN(WRITE("c1", "b")) "," DONE "]";
    CHECK(strstr(chat(&c, twice, true, "s1"), "[completed]"));
    CHECK_INT(c.person.asked, 1);
    CHECK(exists(&c, "a") && exists(&c, "b") && !exists(&c, "approvals.json"));
    const char *once = "[" TURN(WRITE("c0", "c")) "," DONE "]";
    CHECK(strstr(chat(&c, once, true, "s2"), "[completed]"));
    CHECK_INT(c.person.asked, 2);
    /* another reach of the same tool */
    const char *net = "[" TURN(BASH("c0", ", 'net': true")) "," DONE "]";
    CHECK(strstr(chat(&c, net, true, "s1"), "[manual_tool_calls]"));
    CHECK_INT(c.person.asked, 3);
    close_scene(&c);
}

static void always_is_stored(void)
{
    struct scene c;
    open_scene(&c, "a", NULL);
    const char *once = "[" TURN(WRITE("c0", "a")) "," DONE "]";
    CHECK(strstr(chat(&c, once, true, "s1"), "[completed]"));
    allm_json *rules = allm_toolbox_rules(c.box);
    const allm_json *first = allm_json_at(rules, 0);
    CHECK_INT(allm_json_count(rules), 1);
    CHECK_TEXT(allm_json_text(allm_json_get(first, "level"), NULL), "user");
    CHECK_TEXT(allm_json_text(allm_json_get(first, "tool"), NULL),
               "write_file");
    CHECK(allm_json_get(first, "date") && allm_json_get(first, "index"));
    allm_json_free(rules);
    allm_toolbox_free(c.box);
    open_box(&c, "l", NULL);            /* another process */
    CHECK(strstr(chat(&c, once, true, "s2"), "[completed]"));
    CHECK_INT(c.person.asked, 0);
    CHECK_INT(allm_toolbox_forget(c.box, 2), ALLM_ERR_VALIDATION);
    CHECK_INT(allm_toolbox_forget(c.box, 1), ALLM_OK);
    CHECK(!allm_toolbox_error(c.box));
    CHECK(strstr(chat(&c, once, true, "s2"), "[manual_tool_calls]"));
    CHECK_INT(c.person.asked, 1);
    close_scene(&c);
}

/* A rule of the settings asks before the stored ones are looked at. */
static void always_counts_where_a_setting_asks(void)
{
    struct scene c;
    open_scene(&c, "al", "[{'tool':'write_file','verdict':'ask'}]");
    const char *twice =
        "[" TURN(WRITE("c0", "a")) "," TURN(WRITE("c1", "b")) "," DONE "]";
    CHECK(strstr(chat(&c, twice, true, "s1"), "[completed]"));
    CHECK_INT(c.person.asked, 1);
    CHECK(exists(&c, "approvals.json") && exists(&c, "b"));
    close_scene(&c);
}

/* Whoever answers is told, and the call runs. */
static void an_answer_without_a_place_is_reported(void)
{
    struct scene c;
    open_scene(&c, NULL, NULL);
    allm_toolbox_free(c.box);
    snprintf(c.file, sizeof c.file, "/proc/self/none/approvals.json");
    open_box(&c, "aso", NULL);
    const char *twice =
        "[" TURN(WRITE("c0", "a")) "," TURN(WRITE("c1", "b")) "," DONE "]";
    CHECK(strstr(chat(&c, twice, true, "s1"), "[completed]"));
    CHECK_INT(c.person.asked, 1);
    CHECK_INT(c.person.allowed, ALLM_ERR_VALIDATION);
    CHECK(exists(&c, "b") && allm_toolbox_error(c.box));
    CHECK(strstr(chat(&c, twice, true, "s2"), "[completed]"));
    CHECK_INT(c.person.asked, 2);
    CHECK_INT(c.person.allowed, ALLM_OK);       /* "session" is kept */
    close_scene(&c);
}

/* What cannot be stored counts for the session, and there is an error. */
static void an_answer_that_cannot_be_stored(void)
{
    struct scene c;
    open_scene(&c, "a", NULL);
    external_file("approvals.json", "[3]");
    chmod(c.file, 0600);
    const char *once = "[" TURN(WRITE("c0", "a")) "," DONE "]";
    const char *got = chat(&c, once, true, "s1");
    CHECK(strstr(got, "rule 1 of") && !exists(&c, "a"));
    CHECK(allm_toolbox_error(c.box) != NULL);
    unlink(c.file);
    CHECK(!allm_toolbox_error(c.box));
    mkdir(c.file, 0700);
    got = chat(&c, once, true, "s1");
    CHECK(strstr(got, "approvals.json") && !exists(&c, "a"));
    close_scene(&c);
}

/* Without the gate the rules apply where the call would begin. */
static void without_the_gate_nobody_is_asked(void)
{
    struct scene c;
    open_scene(&c, "o", NULL);
    const char *got =
        chat(&c, "[" TURN(READ("c0") "," WRITE("c1", "a")) "," DONE "]", false,
             NULL);
    CHECK(strstr(got, "write_file needs approval, and nobody can be asked"));
    CHECK(strstr(got, "allm_toolbox_gate()") && strstr(got, "[completed]"));
    CHECK_INT(c.person.asked, 0);
    CHECK(!exists(&c, "a"));
    close_scene(&c);
}

static void rules_may_allow_without_a_gate(void)
{
    struct scene c;
    open_scene(&c, NULL,
               "{'call':[{'tool':'write_*','reach':['write .'],"
               "'verdict':'auto'}]}");
    const char *once = "[" TURN(WRITE("c0", "a")) "," DONE "]";
    CHECK(strstr(chat(&c, once, false, NULL), "[completed]"));
    CHECK(exists(&c, "a"));
    close_scene(&c);
}

static void yes_needs_the_sandbox(void)
{
    struct scene c;
    open_scene(&c, NULL, "{'yes':true}");
    const char *once = "[" TURN(WRITE("c0", "a")) "," DONE "]";
    CHECK(strstr(chat(&c, once, true, NULL), "[completed]"));
    CHECK(exists(&c, "a"));
    allm_toolbox_free(c.box);
    allm_json *yes = noun_json("{'yes':true}");
    c.box = allm_toolbox_new(ALLM(toolbox_opts, .root = c.root, .rules = yes,
                                  .sandbox = ALLM_SANDBOX_OFF));
    const allm_error *e = allm_toolbox_error(c.box);
    CHECK(e && strstr(e->message, "the sandbox is off"));
    allm_json_free(yes);
    close_scene(&c);
}

static void bad_rules_deny_everything(void)
{
    struct scene c;
    open_scene(&c, "o", "[{'tool':'*'}]");
    const allm_error *e = allm_toolbox_error(c.box);
    CHECK_TEXT(e ? e->reason : NULL, "invalid_rule");
    const char *got = chat(&c, "[" TURN(READ("c0")) "," DONE "]", true, NULL);
    CHECK(strstr(got, "verdict must be"));
    close_scene(&c);
    CHECK(!allm_toolbox_gate(NULL) && !allm_toolbox_rules(NULL));
    CHECK_INT(allm_toolbox_forget(NULL, 1), ALLM_ERR_NOMEM);
}

/* Arguments that only the text of the call has are those that are judged. */
static void the_text_of_arguments_is_judged(void)
{
    struct scene c;
    open_scene(&c, "d", NULL);
    const char *raw =
        "[[['tool_call', {'id': 'c0', 'name': 'bash', 'raw_arguments': "
        "'{\\\"command\\\": \\\"echo hi\\\", \\\"net\\\": true}'}], "
        "['finish', 'tool_calls']]," DONE "]";
    CHECK(strstr(chat(&c, raw, true, NULL), "not this one"));
    CHECK_TEXT(c.person.reach, "[\"net\"]");
    close_scene(&c);
}

/* Continue a session with the tools of the box; `prompt` NULL: no message. */
static void go_on(struct scene *c, allm_session *s, const char *scripts,
                  const char *prompt, bool gated)
{
    const allm_executor *x = allm_toolbox_executor(c->box);
    size_t count = 0;
    const allm_tool *const *tools = x ? x->tools(x->self, &count) : NULL;
    allm_engine *e = turns_engine(scripts, "", NULL);
    const allm_call_opts opts = {
        .size = sizeof opts, .executor = x, .tools = tools,
        .tool_count = count, .max_concurrency = 1,
        .gate = gated ? allm_toolbox_gate(c->box) : NULL,
    };
    allm_stream *stream = prompt ? allm_session_reply(e, s, prompt, &opts)
                                 : allm_session_continue(e, s, NULL, &opts);
    allm_stream_wait(stream);
    allm_stream_free(stream);
    allm_engine_free(e);
}

/* A decision replaces the question, with and without the gate; it does not
 * replace a rule that denies. */
static void a_later_decision_counts(void)
{
    static const struct {
        const char *rules;
        bool gated, runs;
    } rows[] = {
        { "[]", true, true },
        { "[]", false, true },
        { "[{'tool':'write_file','verdict':'deny'}]", true, false },
        { "[{'tool':'write_file','verdict':'deny'}]", false, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene c;
        check_row(rows[i].rules);
        open_scene(&c, NULL, NULL);
        allm_session *s = allm_session_new(NULL);
        go_on(&c, s, "[" TURN(WRITE("c0", "a")) "]", "hi", true);
        CHECK(!exists(&c, "a"));
        CHECK_INT(allm_session_approve(s, "c0", true, NULL), ALLM_OK);
        allm_toolbox_free(c.box);
        open_box(&c, NULL, rows[i].rules);
        go_on(&c, s, "[" DONE "]", NULL, rows[i].gated);
        CHECK_INT(exists(&c, "a"), rows[i].runs);
        const char *all = turns_messages(allm_session_thread(s));
        CHECK(rows[i].runs || strstr(all, "a rule (user) denies this call"));
        CHECK(strstr(all, "a:done"));
        allm_session_free(s);
        close_scene(&c);
    }
}

/* An approval may be answered when the toolbox is gone. */
static allm_approval *waiting;

static void wait_for_answer(void *ud, allm_approval *a)
{
    (void)ud;
    allm_approval_free(waiting);
    waiting = a;
}

static void a_late_answer_is_harmless(void)
{
    struct scene c;
    open_scene(&c, "o", NULL);
    allm_toolbox_free(c.box);
    c.box = allm_toolbox_new(ALLM(toolbox_opts, .root = c.root,
                                  .approve = wait_for_answer,
                                  .approvals = c.file));
    allm_toolbox_add_builtin(c.box, "code");
    const allm_executor *x = allm_toolbox_executor(c.box);
    size_t count = 0;
    const allm_tool *const *tools = x ? x->tools(x->self, &count) : NULL;
    allm_engine *e = turns_engine("[" TURN(WRITE("c0", "a")) "]", "", NULL);
    allm_thread *t = turns_thread();
    allm_stream *s = allm_chat(e, t,
                               ALLM(call_opts, .executor = x, .tools = tools,
                                    .tool_count = count, .total_ms = 1,
                                    .gate = allm_toolbox_gate(c.box)));
    allm_stream_wait(s);
    allm_stream_free(s);
    allm_thread_free(t);
    allm_engine_free(e);
    allm_toolbox_free(c.box);
    c.box = NULL;
    if (waiting)
        allm_approval_allow(waiting, ALLM_APPROVAL_SESSION);
    allm_approval_free(waiting);
    waiting = NULL;
    close_scene(&c);
}

TESTS = { TEST(only_what_exceeds_the_default_is_asked),
          TEST_ONCE(a_denied_call_says_why),
          TEST_ONCE(a_denied_path_of_the_root_denies_the_shell),
          TEST(an_answer_for_the_session_counts_there),
          TEST(always_is_stored),
          TEST_ONCE(always_counts_where_a_setting_asks),
          TEST_ONCE(an_answer_without_a_place_is_reported),
          TEST_ONCE(an_answer_that_cannot_be_stored),
          TEST(without_the_gate_nobody_is_asked),
          TEST_ONCE(rules_may_allow_without_a_gate),
          TEST_ONCE(yes_needs_the_sandbox),
          TEST_ONCE(bad_rules_deny_everything),
          TEST_ONCE(the_text_of_arguments_is_judged),
          TEST_ONCE(a_later_decision_counts),
          TEST(a_late_answer_is_harmless),
          TESTS_END };
