/*
 * test_across.c - one conversation, sent to every provider
 *
 * What one dialect answered is history for another: every pair of the five,
 * both ways.  What is sent is judged by harness/legal.c, which knows the APIs
 * and not us.
 */
#include "unit/run/across.h"

#include "harness/check.h"
#include "harness/legal.h"
#include "harness/noun.h"
#include "harness/play.h"

#include <stdio.h>

#define IMAGE "iVBORw0KGgoAAAANSUhEUg=="

static struct canned server;    /* large, and used by one test at a time */
static struct legal law;
static char row[256];

/* -------------------------------------------------------------- talking --- */

static allm_tool *tool_of(const char *name)
{
    return allm_tool_new(ALLM(tool, .name = name, .description = "Tells.",
                              .schema_text = "{\"type\":\"object\"}"));
}

static allm_request *request_of(const allm_thread *t, allm_tool *const *tools)
{
    const allm_tool *const given[] = { tools[0], tools[1] };
    return allm_request_from_thread(t, ALLM(request, .tool_count = 2,
                                            .tools = given));
}

/* Send the thread, get this body: the message of the answer, or NULL.  Free
 * it.  What was sent is in server.asked. */
static allm_message *send(const struct across *to, const allm_thread *t,
                          const char *body)
{
    const struct canned_reply reply = { .status = 200, .body = body };
    struct clock_manual clock = { .now_ns = 0 };
    allm_tool *tools[] = { tool_of("tide_at"), tool_of("wind_at") };
    server = (struct canned){ .reply = &reply, .count = 1 };
    allm_transport transport = canned_transport(&server);
    allm_clock c = play_clock(&clock);
    allm_engine *e = allm_engine_new(ALLM(
        engine_opts, .model = to->model, .transport = &transport, .clock = &c));
    allm_request *r = request_of(t, tools);
    allm_stream *s = allm_generate(e, r, ALLM(call_opts, .api_key = "k"));
    allm_stream_wait(s);
    const allm_response *answer = allm_stream_response(s);
    CHECK_WHY(answer && answer->message && !answer->error,
              allm_stream_error(s) ? allm_stream_error(s)->message
                                   : "no answer");
    allm_message *m = answer ? allm_message_keep(answer->message) : NULL;
    allm_stream_free(s);
    allm_request_free(r);
    allm_engine_free(e);
    allm_tool_free(tools[0]);
    allm_tool_free(tools[1]);
    return m;
}

static const char *body_sent(void)
{
    const char *at = strchr(server.asked, '|');
    at = at ? strchr(at + 1, '|') : NULL;
    return at ? at + 1 : "";
}

/* Send the thread; the answer is not wanted.  Then judge what was sent. */
static void show(const struct across *to, const allm_thread *t)
{
    allm_message_free(send(to, t, to->answer));
    allm_json *body = allm_json_parse(body_sent(), ALLM_NUL_ENDED, NULL);
    legal_read(&law, to->dialect, body);
    allm_json_free(body);
    if (!CHECK_WHY(!law.fault, law.fault ? law.fault : "") && check_whole())
        fprintf(stderr, "%s\n", body_sent());
}

/* What only others may see must not be there. */
static void check_leaks(const struct across *to)
{
    for (size_t i = 0; i < ACROSS; i++)
        if (&across[i] != to)
            CHECK_WHY(!strstr(body_sent(), across[i].own), across[i].own);
}

/* -------------------------------------------------------------- threads --- */

/* Append and free. */
static void add(allm_thread *t, allm_message *m)
{
    CHECK(m && !allm_message_error(m));
    if (m)
        allm_thread_append(t, m);
    allm_message_free(m);
}

static void say(allm_thread *t, allm_role role, const char *text)
{
    add(t, allm_message_from_text(role, text));
}

static allm_message *picture_by(allm_role role, const char *id,
                                const char *text)
{
    const allm_part *parts[] = {
        ALLM(part, .kind = ALLM_PART_TEXT, .text = text,
             .text_len = strlen(text)),
        ALLM(part, .kind = ALLM_PART_IMAGE,
             .image = ALLM(image, .source = ALLM_IMAGE_BASE64, .data = IMAGE,
                           .data_len = sizeof IMAGE - 1,
                           .mime_type = "image/png")),
    };
    return allm_message_new(ALLM(message, .role = role, .tool_call_id = id,
                                 .part_count = 2, .parts = parts));
}

static allm_message *picture(const char *text)
{
    return picture_by(ALLM_ROLE_USER, NULL, text);
}

static allm_thread *begin(void)
{
    allm_thread *t = allm_thread_new(NULL);
    say(t, ALLM_ROLE_SYSTEM, "Be brief.");
    say(t, ALLM_ROLE_USER, "How is the sea?");
    return t;
}

/* Let one answer with two calls, and answer these, the last one first. */
static void turn(allm_thread *t, const struct across *from)
{
    allm_message *m = send(from, t, from->answer);
    bool whole = m && m->tool_call_count == 2;
    CHECK(whole);
    if (whole)
        allm_thread_append(t, m);
    if (whole) {
        add(t, allm_message_from_result(m->tool_calls[1]->id, "3 knots"));
        add(t, allm_message_from_result(m->tool_calls[0]->id, "{\"m\":2}"));
    }
    allm_message_free(m);
}

#define TURN \
    "model Said.\ncall tide_at {\"port\":\"Brest\"}\n" \
    "call wind_at {\"port\":\"Oban\",\"n\":1.5}\n" \
    "result tide_at {\"m\":2}\nresult wind_at 3 knots\n"
#define ASKED "user How is the sea?\n"
#define SHOWN "user And here?\nimage " IMAGE "\n"

static void pair(size_t from, size_t to)
{
    allm_thread *t = begin();
    snprintf(row, sizeof row, "%s to %s", across[from].dialect,
             across[to].dialect);
    check_row(row);
    turn(t, &across[from]);
    add(t, picture("And here?"));
    show(&across[to], t);
    CHECK_TEXT(law.told, ASKED TURN SHOWN);
    CHECK_TEXT(law.system, "Be brief.\n");
    check_leaks(&across[to]);
    CHECK_WHY((from == to) == (strstr(body_sent(), across[to].own) != NULL),
              "its own state goes back to it alone");
    allm_thread_free(t);
}

/* A model of the same provider gets none of it, either. */
static void siblings(void)
{
    for (size_t i = 0; i < ACROSS; i++) {
        struct across sibling = across[i];
        allm_thread *t = begin();
        sibling.model = sibling.sibling;
        check_row(sibling.model);
        turn(t, &across[i]);
        add(t, picture("And here?"));
        show(&sibling, t);
        CHECK_TEXT(law.told, ASKED TURN SHOWN);
        check_leaks(&sibling);
        allm_thread_free(t);
    }
}

static void every_pair(void)
{
    for (size_t i = 0; i < ACROSS * ACROSS; i++)
        pair(i / ACROSS, i % ACROSS);
}

/* The same with little memory: each dialect once as origin and once as aim. */
static void every_dialect(void)
{
    for (size_t i = 0; i < ACROSS; i++)
        pair(i, (i + 2) % ACROSS);
}

/* Every dialect answers in turn, and gets all previous messages. */
static void round_trip(void)
{
    char want[4096] = ASKED;
    allm_thread *t = begin();
    for (size_t i = 0; i < 2 * ACROSS + 1; i++) {
        const struct across *a = &across[i % ACROSS];
        snprintf(row, sizeof row, "turn %zu, %s", i, a->dialect);
        check_row(row);
        show(a, t);
        CHECK_TEXT(law.told, want);
        check_leaks(a);
        turn(t, a);
        add(t, picture("And here?"));
        size_t n = strlen(want);
        snprintf(want + n, sizeof want - n, TURN SHOWN);
    }
    for (size_t i = 0; i < ACROSS; i++) {
        check_row(across[i].dialect);
        show(&across[i], t);
        CHECK_TEXT(law.told, want);
        check_leaks(&across[i]);
    }
    allm_thread_free(t);
}

/* The same words twice are the same bytes, and more words begin with them. */
static void prefixes_stay(void)
{
    static char before[sizeof server.asked];
    for (size_t i = 0; i < ACROSS; i++) {
        const struct across *a = &across[i];
        allm_thread *t = begin();
        before[0] = '\0';
        for (size_t k = 0; k < ACROSS; k++) {
            snprintf(row, sizeof row, "%s, turn %zu", a->dialect, k);
            check_row(row);
            turn(t, &across[k]);
            say(t, ALLM_ROLE_USER, "Go on.");
            show(a, t);
            const char *list = strstr(body_sent(), a->list);
            CHECK(list && !strncmp(list, before, strlen(before)));
            const char *end = list;
            for (const char *p = list; p && (p = strstr(p, "Go on.")); p++)
                end = p + sizeof "Go on." - 1;
            snprintf(before, sizeof before, "%.*s",
                     (int)(list ? end - list : 0), list ? list : "");
            show(a, t);
            list = strstr(body_sent(), a->list);
            CHECK(list && !strncmp(list, before, strlen(before)));
        }
        allm_thread_free(t);
    }
}

/* ------------------------------------------------------------------ odd --- */

/* Show a thread to everybody: is this what they read? */
static void everybody(const char *why, allm_thread *t, const char *want)
{
    for (size_t i = 0; i < ACROSS; i++) {
        snprintf(row, sizeof row, "%s: %s", why, across[i].dialect);
        check_row(row);
        show(&across[i], t);
        if (want)
            CHECK_TEXT(law.told, want);
        check_leaks(&across[i]);
    }
    allm_thread_free(t);
}

/* One of two calls has no result, and the conversation goes on. */
static void an_unanswered_call(void)
{
    for (size_t i = 0; i < ACROSS; i++) {
        allm_thread *t = begin();
        allm_message *m = send(&across[i], t, across[i].answer);
        if (m)
            allm_thread_append(t, m);
        if (m && m->tool_call_count == 2)
            add(t, allm_message_from_result(m->tool_calls[1]->id, "3 knots"));
        allm_message_free(m);
        say(t, ALLM_ROLE_USER, "Well?");
        everybody(across[i].dialect, t,
                  ASKED "model Said.\ncall tide_at {\"port\":\"Brest\"}\n"
                        "call wind_at {\"port\":\"Oban\",\"n\":1.5}\n"
                        "result tide_at This tool call was not executed.\n"
                        "result wind_at 3 knots\nuser Well?\n");
    }
}

static void a_call_at_the_end(void)
{
    for (size_t i = 0; i < ACROSS; i++) {
        allm_thread *t = begin();
        add(t, send(&across[i], t, across[i].answer));
        everybody(across[i].dialect, t,
                  ASKED "model Said.\ncall tide_at {\"port\":\"Brest\"}\n"
                        "call wind_at {\"port\":\"Oban\",\"n\":1.5}\n"
                        "result tide_at This tool call was not executed.\n"
                        "result wind_at This tool call was not executed.\n");
    }
}

static void a_result_without_a_call(void)
{
    allm_thread *t = begin();
    add(t, allm_message_from_result("lost|1", "42"));
    say(t, ALLM_ROLE_ASSISTANT, "So.");
    turn(t, &across[3]);
    add(t, allm_message_from_result("lost|1", "43"));
    everybody("orphan", t,
              ASKED "user Result of the tool call lost|1: 42\nmodel So.\n" TURN
                    "user Result of the tool call lost|1: 43\n");
}

static void empty_messages(void)
{
    allm_thread *t = begin();
    say(t, ALLM_ROLE_ASSISTANT, "");
    say(t, ALLM_ROLE_USER, "");
    turn(t, &across[0]);
    say(t, ALLM_ROLE_USER, "");
    say(t, ALLM_ROLE_ASSISTANT, "");
    say(t, ALLM_ROLE_USER, "Now?");
    everybody("empty", t, ASKED TURN "user Now?\n");
}

/* Cut off while it was still reasoning: nothing to send to other models. */
static void a_thought_alone(void)
{
    for (size_t i = 0; i < ACROSS; i++) {
        allm_thread *t = begin();
        add(t, send(&across[i], t, across[i].thought));
        say(t, ALLM_ROLE_USER, "Go on.");
        everybody(across[i].dialect, t, ASKED "user Go on.\n");
    }
}

/* Rules and thoughts between a call and its result, behind everything. */
static void system_messages_in_odd_places(void)
{
    allm_thread *t = begin();
    allm_message *m = send(&across[2], t, across[2].answer);
    if (m)
        allm_thread_append(t, m);
    say(t, ALLM_ROLE_SYSTEM, "Be kind.");
    if (m && m->tool_call_count == 2) {
        add(t, allm_message_from_result(m->tool_calls[0]->id, "{\"m\":2}"));
        say(t, ALLM_ROLE_SYSTEM, "Be quick.");
        add(t, allm_message_from_result(m->tool_calls[1]->id, "3 knots"));
    }
    allm_message_free(m);
    say(t, ALLM_ROLE_SYSTEM, "");
    say(t, ALLM_ROLE_ASSISTANT, "Calm.");
    say(t, ALLM_ROLE_SYSTEM, "Be good.");
    everybody("system", t, ASKED TURN "model Calm.\n");
    CHECK(strstr(law.system, "Be kind.") && strstr(law.system, "Be quick.") &&
          strstr(law.system, "Be good."));
}

/* After the last text of the assistant, only parts that are left out follow. */
static void a_last_word_with_a_space(void)
{
    const struct across *claude = &across[2];
    static const allm_role roles[] = { ALLM_ROLE_SYSTEM, ALLM_ROLE_USER,
                                       ALLM_ROLE_ASSISTANT };
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        allm_thread *t = begin();
        say(t, ALLM_ROLE_ASSISTANT, "It is ");
        say(t, roles[i], i ? "" : "Be good.");
        check_row("a last word with a space");
        show(claude, t);
        CHECK_TEXT(law.told, ASKED "model It is\n");
        allm_thread_free(t);
    }
}

/* Only an assistant has spoken so far. */
static void an_assistant_first(void)
{
    allm_thread *asked = begin(), *t = allm_thread_new(NULL);
    add(t, send(&across[3], asked, across[3].answer));
    say(t, ALLM_ROLE_USER, "Why?");
    allm_thread_free(asked);
    everybody("first", t, NULL);
    CHECK(strstr(law.told, "model Said.\n") == law.told);
}

/* Only users and tools may show pictures: why a call is refused before it
 * begins. */
static void pictures_of_others_are_refused(void)
{
    static const struct {
        allm_role role;
        const char *errors;
    } rows[] = {
        { ALLM_ROLE_SYSTEM,
          "[[['messages',2,'content'],'image_in_system_message']]" },
        { ALLM_ROLE_ASSISTANT,
          "[[['messages',2,'content'],'image_in_assistant_message']]" },
    };
    for (size_t i = 0; i < ACROSS * 2; i++) {
        const struct across *to = &across[i / 2];
        allm_thread *t = begin();
        add(t, picture_by(rows[i % 2].role, "c", "Look."));
        allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = to->model));
        allm_request *r = allm_request_from_thread(t, NULL);
        allm_stream *s = allm_generate(e, r, ALLM(call_opts, .api_key = "k"));
        const allm_error *error = allm_stream_error(s);
        snprintf(row, sizeof row, "%s, %zu", to->dialect, i % 2);
        check_row(row);
        CHECK_ERROR(error, ALLM_ERR_VALIDATION, "invalid_message", NULL);
        CHECK_VALUE(GET(error, errors), rows[i % 2].errors);
        allm_stream_free(s);
        allm_request_free(r);
        allm_engine_free(e);
        allm_thread_free(t);
    }
}

/* ------------------------------------------------------------ arguments --- */

static void odd_calls(allm_thread *t, const char *id, const char *raw)
{
    allm_json *none = allm_json_parse("{}", 2, NULL);
    const allm_tool_call *const calls[] = {
        ALLM(tool_call, .id = id, .name = "tide_at", .arguments = none,
             .raw_arguments = raw, .raw_len = strlen(raw)),
        ALLM(tool_call, .id = "b", .name = "wind_at", .arguments = none),
    };
    add(t,
        allm_message_new(ALLM(message, .role = ALLM_ROLE_ASSISTANT, .text = "",
                              .tool_call_count = 2, .tool_calls = calls)));
    allm_json_free(none);
    add(t, allm_message_from_result(id, "1"));
    add(t, allm_message_from_result("b", "2"));
}

static void invalid_arguments(void)
{
    static const char *const raws[] = { "{\"port\":\"Br", "[1]",  "",
                                        "{\"a\":1} x",    "null", "\"{}\"" };
    for (size_t i = 0; i < sizeof raws / sizeof *raws; i++) {
        allm_thread *t = begin();
        odd_calls(t, "a", raws[i]);
        everybody(raws[i], t,
                  ASKED "call tide_at {}\ncall wind_at {}\n"
                        "result tide_at 1\nresult wind_at 2\n");
    }
}

/* Servers whose ids restart, and ids that other providers reject. */
static void odd_ids(void)
{
    static const char *const ids[] = {
        "b c", "call_0", "call_0", "\xC3\xA9", "functions.f:0",
        "0123456789012345678901234567890123456789012345678901234567890123456789"
    };
    allm_thread *t = begin();
    char want[4096] = ASKED;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        size_t n = strlen(want);
        odd_calls(t, ids[i], "{}");
        snprintf(want + n, sizeof want - n,
                 "call tide_at {}\ncall wind_at {}\n"
                 "result tide_at 1\nresult wind_at 2\n");
    }
    everybody("ids", t, want);
}

/* Names that a model made up: no tool of ours has one of them. */
static void odd_names(void)
{
    static const char *const rows[][2] = {
        { "", "unnamed" },
        { "functions.tide:0", "functions_tide_0" },
        { "a b\n", "a_b_" },
        { "01234567890123456789012345678901234567890123456789012345678901234",
          "0123456789012345678901234567890123456789012345678901234567890123" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char want[512];
        allm_thread *t = begin();
        allm_json *none = allm_json_parse("{}", 2, NULL);
        const allm_tool_call *const call =
            ALLM(tool_call, .id = "a", .name = rows[i][0], .arguments = none);
        add(t, allm_message_new(ALLM(message, .role = ALLM_ROLE_ASSISTANT,
                                     .text = "", .tool_call_count = 1,
                                     .tool_calls = &call)));
        allm_json_free(none);
        add(t, allm_message_from_result("a", "1"));
        snprintf(want, sizeof want, ASKED "call %s {}\nresult %s 1\n",
                 rows[i][1], rows[i][1]);
        everybody(rows[i][0], t, want);
    }
}

/* ---------------------------------------------------------------- judge --- */

/* A judge that never finds fault would let all of the above pass. */
static void the_judge_finds_faults(void)
{
#define CHAT(more) "{'messages':[{'role':'user','content':'a'}," more "]}"
#define CHAT_ASKS \
    "{'role':'assistant','content':null,'tool_calls':[{'id':'c','type':" \
    "'function','function':{'name':'f','arguments':'{}'}}]}"
#define INPUT(more) "{'input':[{'role':'user','content':'a'}," more "]}"
#define CLAUDE(more) \
    "{'messages':[{'role':'user','content':[{'type':'text','text':'a'}]}," \
    "{'role':'assistant','content':[" more "]}"
#define CLAUDE_ASKS "{'type':'tool_use','id':'c','name':'f','input':{}}"
#define PARTS(role, parts) "{'role':'" role "','parts':[" parts "]}"
#define GEMINI_ASKS "{'functionCall':{'name':'f','args':{}}}"
#define GEMINI_TELLS "{'functionResponse':{'name':'f','response':{}}}"
    static const struct {
        const char *dialect, *body, *fault;
    } rows[] = {
        { "openai_chat", CHAT(CHAT_ASKS), "not answered" },
        { "openai_chat",
          CHAT("{'role':'tool','tool_call_id':'c','content':''}"),
          "nobody asked" },
        { "openai_chat", CHAT("{'role':'assistant','content':''}"), "nothing" },
        { "openai_chat", CHAT("{'role':'user','content':'','signature':''}"),
          "does not know" },
        { "openai_responses",
          INPUT("{'type':'reasoning','summary':[]},{'role':'user',"
                "'content':'b'}"),
          "nothing follows" },
        { "openai_responses",
          INPUT("{'type':'function_call','call_id':'c|','name':'f',"
                "'arguments':'{}'},{'type':'function_call_output',"
                "'call_id':'c|','output':''}"),
          "refused" },
        { "openai_responses",
          INPUT("{'type':'function_call','call_id':'c','name':'f',"
                "'arguments':'['}"),
          "no object" },
        { "anthropic", CLAUDE(CLAUDE_ASKS) "]}", "not answered" },
        { "anthropic", CLAUDE("{'type':'text','text':' '}") "]}", "blank" },
        { "anthropic", CLAUDE("{'type':'text','text':'a '}") "]}", "space" },
        { "anthropic",
          CLAUDE("{'type':'text','text':'a'}") ",{'role':'assistant'}]}",
          "alternate" },
        { "anthropic",
          CLAUDE(CLAUDE_ASKS) ",{'role':'user','content':[{'type':'text',"
                              "'text':'a'}]}]}",
          "not answered" },
        { "gemini", "{'contents':[" PARTS("model", "{'text':'a'}") "]}",
          "first" },
        { "gemini",
          "{'contents':[" PARTS("user", "{'text':'a'}") "," PARTS(
              "model",
              GEMINI_ASKS) "," PARTS("user", GEMINI_TELLS ",{'text':'a'}") "]}",
          "something else" },
        { "gemini",
          "{'contents':[" PARTS("user", "{'text':'a','signature':'b'}") "]}",
          "does not know" },
        { "ollama",
          "{'messages':[{'role':'assistant','content':'','tool_calls':[{"
          "'function':{'name':'f','arguments':'{}'}}]}]}",
          "no object" },
        { "ollama", "{'messages':[{'role':'assistant','content':''}]}",
          "nothing" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        allm_json *body = play_json(rows[i].body);
        check_row(rows[i].body);
        legal_read(&law, rows[i].dialect, body);
        CHECK(law.fault && strstr(law.fault, rows[i].fault));
        allm_json_free(body);
    }
}

TESTS = {
    TEST_ONCE(the_judge_finds_faults),
    TEST_ONCE(every_pair),
    TEST(every_dialect),
    TEST(siblings),
    TEST_ONCE(round_trip),
    TEST_ONCE(prefixes_stay),
    TEST_ONCE(an_unanswered_call),
    TEST_ONCE(a_call_at_the_end),
    TEST(a_result_without_a_call),
    TEST(empty_messages),
    TEST_ONCE(a_thought_alone),
    TEST(system_messages_in_odd_places),
    TEST(a_last_word_with_a_space),
    TEST(an_assistant_first),
    TEST(pictures_of_others_are_refused),
    TEST_ONCE(invalid_arguments),
    TEST(odd_ids),
    TEST(odd_names),
    TESTS_END,
};
