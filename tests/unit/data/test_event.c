/* test_event.c - the nineteen events and their JSON */
#include "data/event.h"

#include "documents.h"

#include <stdio.h>

/* ----------------------------------------------------------------- tags --- */

static const char *const tags[] = {
    NULL,
    "message_started",
    "text_delta",
    "text_completed",
    "tool_call_started",
    "tool_call_delta",
    "tool_call_completed",
    "tool_execution_started",
    "tool_execution_completed",
    "tool_result_encoded",
    "ask_user_requested",
    "tool_halt",
    "message_completed",
    "step_completed",
    "chat_completed",
    "raw_chunk",
    "error",
    "reasoning_delta",
    "reasoning_completed",
    "usage",
    "session_changed",
};

static void tags_are_in_order(void)
{
    CHECK_INT(COUNT(tags), 1 + 16 + 3 + 1);
    for (size_t i = 0; i < COUNT(tags); i++) {
        CHECK_TEXT(allm_event_tag((allm_event_type)i), tags[i]);
        CHECK_INT(allm_event_type_of(tags[i]), i);
    }
    CHECK_INT(ALLM_EV_ERROR, 16);
    CHECK_INT(ALLM_EV_USAGE, 19);
    CHECK_INT(ALLM_EV_SESSION_CHANGED, 20);
    CHECK_TEXT(allm_event_tag((allm_event_type)21), NULL);
    CHECK_TEXT(allm_event_tag((allm_event_type)-1), NULL);
    CHECK_INT(allm_event_type_of("text_Delta"), ALLM_EV_NONE);
    CHECK_INT(allm_event_type_of(""), ALLM_EV_NONE);
    CHECK_INT(allm_event_type_of("none"), ALLM_EV_NONE);
}

/* -------------------------------------------------------- the JSON form --- */

#define MESSAGE \
    "{\"role\":\"assistant\",\"content\":\"hi\",\"name\":null," \
    "\"tool_call_id\":null,\"metadata\":{}}"
#define USAGE \
    "\"input_tokens\":3,\"output_tokens\":null," \
    "\"cached_input_tokens\":null,\"reasoning_tokens\":null," \
    "\"total_tokens\":null,\"input_cost\":0.5,\"output_cost\":null," \
    "\"total_cost\":null,\"tool_usage\":{},\"extra\":{}"
#define NO_USAGE \
    "{\"input_tokens\":null,\"output_tokens\":null," \
    "\"cached_input_tokens\":null,\"reasoning_tokens\":null," \
    "\"total_tokens\":null,\"input_cost\":null,\"output_cost\":null," \
    "\"total_cost\":null,\"tool_usage\":{},\"extra\":{}}"
#define RESPONSE \
    "{\"id\":null,\"request_id\":null,\"model\":null,\"message\":null," \
    "\"output_text\":\"hi\",\"tool_calls\":[],\"finish_reason\":\"stop\"," \
    "\"raw_finish_reason\":null,\"usage\":" NO_USAGE ",\"raw\":null," \
    "\"metadata\":{}}"
#define CALL \
    "{\"id\":\"c0\",\"name\":\"echo\",\"arguments\":{\"x\":1}," \
    "\"raw_arguments\":null,\"metadata\":{}}"

/* Values for the events below. */
struct parts {
    allm_json *map, *any;
    allm_thread *thread;
};

static struct parts make_parts(void)
{
    struct parts p = { allm_json_parse("{\"x\":1}", ALLM_NUL_ENDED, NULL),
                       allm_json_parse("[7,null]", ALLM_NUL_ENDED, NULL),
                       allm_thread_new(NULL) };
    return p;
}

static void free_parts(struct parts *p)
{
    allm_json_free(p->map);
    allm_json_free(p->any);
    allm_thread_free(p->thread);
}

struct sample {
    const char *why;
    allm_event event;
    const char *json;
};

enum { SAMPLES = 31 };

/* One event of each type and more where members may be absent. */
static void make_samples(struct sample out[SAMPLES], const struct parts *p)
{
    static const allm_message hi = { .size = sizeof hi, .text = "hi",
                                     .role = ALLM_ROLE_ASSISTANT };
    static const allm_message *const messages[] = { &hi };
    static const allm_response response = {
        .size = sizeof response, .output_text = "hi",
        .finish_reason = ALLM_FINISH_STOP
    };
    static allm_tool_call call = { .size = sizeof call, .id = "c0",
                                   .name = "echo" };
    static const allm_tool_call *const calls[] = { &call };
    static const allm_chat_result result = { .size = sizeof result,
                                             .halted_reason = "completed" };
    static const allm_usage usage = { .size = sizeof usage,
                                      .input_tokens = ALLM_NUM(3),
                                      .input_cost = ALLM_NUM(0.5) };
    static const allm_error error = { .size = sizeof error,
                                      .kind = ALLM_ERR_STREAM,
                                      .reason = "truncated" };
    call.arguments = p->map;
    const struct sample rows[SAMPLES] = {
        { "message_started",
          { .type = ALLM_EV_MESSAGE_STARTED, .seq = 1, .message = &hi },
          "{\"type\":\"message_started\",\"seq\":1,\"message\":" MESSAGE "}" },
        { "text_delta", { .type = ALLM_EV_TEXT_DELTA, .seq = 2, .text = "hi" },
          "{\"type\":\"text_delta\",\"seq\":2,\"id\":null,\"delta\":\"hi\"}" },
        { "a delta with an id, and empty",
          { .type = ALLM_EV_TEXT_DELTA, .seq = UINT64_MAX, .id = "m_1",
            .text = "" },
          "{\"type\":\"text_delta\",\"seq\":18446744073709551615,"
          "\"id\":\"m_1\",\"delta\":\"\"}" },
        { "a delta with NUL inside",
          { .type = ALLM_EV_TEXT_DELTA, .text = "a\0b", .text_len = 3 },
          "{\"type\":\"text_delta\",\"seq\":0,\"id\":null,"
          "\"delta\":\"a\\u0000b\"}" },
        { "text_completed",
          { .type = ALLM_EV_TEXT_COMPLETED, .seq = 3, .id = "m",
            .text = "hi" },
          "{\"type\":\"text_completed\",\"seq\":3,\"id\":\"m\","
          "\"text\":\"hi\"}" },
        { "tool_call_started",
          { .type = ALLM_EV_TOOL_CALL_STARTED, .seq = 4, .id = "c0",
            .name = "echo" },
          "{\"type\":\"tool_call_started\",\"seq\":4,\"id\":\"c0\","
          "\"name\":\"echo\"}" },
        { "tool_call_delta",
          { .type = ALLM_EV_TOOL_CALL_DELTA, .seq = 5, .id = "c0",
            .text = "{\"x" },
          "{\"type\":\"tool_call_delta\",\"seq\":5,\"id\":\"c0\","
          "\"arguments_delta\":\"{\\\"x\"}" },
        { "tool_call_completed",
          { .type = ALLM_EV_TOOL_CALL_COMPLETED, .seq = 6, .id = "c0",
            .name = "echo", .arguments = p->map, .raw_arguments = "{}" },
          "{\"type\":\"tool_call_completed\",\"seq\":6,\"id\":\"c0\","
          "\"name\":\"echo\",\"arguments\":{\"x\":1},"
          "\"raw_arguments\":\"{}\"}" },
        { "tool_call_completed with metadata",
          { .type = ALLM_EV_TOOL_CALL_COMPLETED, .seq = 6, .id = "c0",
            .name = "echo", .arguments = p->map, .raw_arguments = "",
            .metadata = p->map, .provider_state = p->any },
          "{\"type\":\"tool_call_completed\",\"seq\":6,\"id\":\"c0\","
          "\"name\":\"echo\",\"arguments\":{\"x\":1},\"raw_arguments\":\"\","
          "\"metadata\":{\"x\":1},\"provider_state\":[7,null]}" },
        { "tool_execution_started",
          { .type = ALLM_EV_TOOL_EXECUTION_STARTED, .seq = 7, .id = "c0",
            .name = "echo", .arguments = p->map },
          "{\"type\":\"tool_execution_started\",\"seq\":7,\"id\":\"c0\","
          "\"name\":\"echo\",\"arguments\":{\"x\":1}}" },
        { "tool_execution_completed",
          { .type = ALLM_EV_TOOL_EXECUTION_COMPLETED, .seq = 8, .id = "c0",
            .name = "echo", .result = p->any },
          "{\"type\":\"tool_execution_completed\",\"seq\":8,\"id\":\"c0\","
          "\"name\":\"echo\",\"result\":[7,null]}" },
        { "a result that is null",
          { .type = ALLM_EV_TOOL_EXECUTION_COMPLETED, .seq = 8, .id = "c0",
            .name = "echo" },
          "{\"type\":\"tool_execution_completed\",\"seq\":8,\"id\":\"c0\","
          "\"name\":\"echo\",\"result\":null}" },
        { "tool_result_encoded",
          { .type = ALLM_EV_TOOL_RESULT_ENCODED, .seq = 9, .id = "c0",
            .text = "7" },
          "{\"type\":\"tool_result_encoded\",\"seq\":9,\"id\":\"c0\","
          "\"content\":\"7\"}" },
        { "ask_user_requested",
          { .type = ALLM_EV_ASK_USER_REQUESTED, .seq = 10, .id = "c0",
            .name = "echo", .text = "which?", .opts = p->map },
          "{\"type\":\"ask_user_requested\",\"seq\":10,"
          "\"tool_call_id\":\"c0\",\"tool_name\":\"echo\","
          "\"question\":\"which?\",\"opts\":{\"x\":1}}" },
        { "no options",
          { .type = ALLM_EV_ASK_USER_REQUESTED, .seq = 10, .id = "c0",
            .name = "echo", .text = "which?" },
          "{\"type\":\"ask_user_requested\",\"seq\":10,"
          "\"tool_call_id\":\"c0\",\"tool_name\":\"echo\","
          "\"question\":\"which?\",\"opts\":{}}" },
        { "tool_halt",
          { .type = ALLM_EV_TOOL_HALT, .seq = 11, .id = "c0",
            .reason = "rate_limited", .result = p->map },
          "{\"type\":\"tool_halt\",\"seq\":11,\"tool_call_id\":\"c0\","
          "\"reason\":\"rate_limited\",\"result\":{\"x\":1}}" },
        { "tool_halt with content",
          { .type = ALLM_EV_TOOL_HALT, .seq = 11, .id = "c0", .reason = "r",
            .text = "body" },
          "{\"type\":\"tool_halt\",\"seq\":11,\"tool_call_id\":\"c0\","
          "\"reason\":\"r\",\"result\":null,\"content\":\"body\"}" },
        { "message_completed",
          { .type = ALLM_EV_MESSAGE_COMPLETED, .seq = 12, .message = &hi },
          "{\"type\":\"message_completed\",\"seq\":12,\"message\":" MESSAGE
          ",\"finish_reason\":null}" },
        { "with a reason",
          { .type = ALLM_EV_MESSAGE_COMPLETED, .seq = 12, .message = &hi,
            .finish_reason = ALLM_FINISH_CONTENT_FILTER },
          "{\"type\":\"message_completed\",\"seq\":12,\"message\":" MESSAGE
          ",\"finish_reason\":\"content_filter\"}" },
        { "with metadata",
          { .type = ALLM_EV_MESSAGE_COMPLETED, .seq = 12, .message = &hi,
            .finish_reason = ALLM_FINISH_STOP, .metadata = p->map },
          "{\"type\":\"message_completed\",\"seq\":12,\"message\":" MESSAGE
          ",\"finish_reason\":\"stop\",\"metadata\":{\"x\":1}}" },
        { "step_completed",
          { .type = ALLM_EV_STEP_COMPLETED, .seq = 13, .response = &response,
            .thread = p->thread },
          "{\"type\":\"step_completed\",\"seq\":13,\"response\":" RESPONSE
          ",\"thread\":{\"messages\":[],\"metadata\":{}},\"mode\":\"auto\","
          "\"manual_tool_calls\":[]}" },
        { "a step by hand",
          { .type = ALLM_EV_STEP_COMPLETED, .seq = 13, .response = &response,
            .thread = p->thread, .mode = ALLM_MODE_MANUAL,
            .manual_tool_calls = calls, .manual_tool_call_count = 1 },
          "{\"type\":\"step_completed\",\"seq\":13,\"response\":" RESPONSE
          ",\"thread\":{\"messages\":[],\"metadata\":{}},\"mode\":\"manual\","
          "\"manual_tool_calls\":[" CALL "]}" },
        { "chat_completed",
          { .type = ALLM_EV_CHAT_COMPLETED, .seq = 14, .chat_result = &result },
          "{\"type\":\"chat_completed\",\"seq\":14,\"result\":{"
          "\"thread\":null,\"final_response\":null,\"steps\":[],"
          "\"halted_reason\":\"completed\",\"pending_question\":null,"
          "\"pending_tool_call_id\":null,\"metadata\":{}}}" },
        { "raw_chunk",
          { .type = ALLM_EV_RAW_CHUNK, .seq = 15, .chunk = p->any },
          "{\"type\":\"raw_chunk\",\"seq\":15,\"chunk\":[7,null]}" },
        { "error", { .type = ALLM_EV_ERROR, .seq = 16, .error = &error },
          "{\"type\":\"error\",\"seq\":16,\"error\":{\"kind\":\"stream\","
          "\"reason\":\"truncated\",\"message\":\"stream error: "
          "truncated\",\"provider\":null,\"event_index\":null,"
          "\"cause\":null,\"metadata\":{}}}" },
        { "reasoning_delta",
          { .type = ALLM_EV_REASONING_DELTA, .seq = 17, .text = "so" },
          "{\"type\":\"reasoning_delta\",\"seq\":17,\"id\":null,"
          "\"delta\":\"so\"}" },
        { "reasoning_completed",
          { .type = ALLM_EV_REASONING_COMPLETED, .seq = 18, .id = "r",
            .text = "so", .provider_state = p->map },
          "{\"type\":\"reasoning_completed\",\"seq\":18,\"id\":\"r\","
          "\"text\":\"so\",\"provider_state\":{\"x\":1}}" },
        { "reasoning without state",
          { .type = ALLM_EV_REASONING_COMPLETED, .seq = 18, .text = "so" },
          "{\"type\":\"reasoning_completed\",\"seq\":18,\"id\":null,"
          "\"text\":\"so\",\"provider_state\":null}" },
        { "usage", { .type = ALLM_EV_USAGE, .seq = 19, .usage = &usage },
          "{\"type\":\"usage\",\"seq\":19," USAGE "}" },
        { "usage of a session that is followed",
          { .type = ALLM_EV_USAGE, .seq = 19, .cursor = "2.7",
            .usage = &usage },
          "{\"type\":\"usage\",\"seq\":19,\"cursor\":\"2.7\"," USAGE "}" },
        { "session_changed",
          { .type = ALLM_EV_SESSION_CHANGED, .seq = 20, .cursor = "9.0",
            .record = 9, .keep = 3, .messages = messages, .message_count = 1,
            .status = "idle" },
          "{\"type\":\"session_changed\",\"seq\":20,\"cursor\":\"9.0\","
          "\"record\":9,\"keep\":3,\"messages\":[" MESSAGE
          "],\"status\":\"idle\"}" },
    };
    memcpy(out, rows, sizeof rows);
    for (size_t i = 0; i < SAMPLES; i++)
        out[i].event.size = sizeof(allm_event);
}

/* Make it, write it, read it, write it again. */
static void check_sample(const struct sample *s)
{
    allm_event *made = allm_event_new(&s->event);
    CHECK(!allm_event_error(made));
    CHECK_INT(made ? made->type : s->event.type, s->event.type);
    CHECK_JSON(allm_event_json(made), s->json);
    CHECK_JSON(allm_event_json(&s->event), s->json);
    allm_event *read = allm_event_parse(s->json, ALLM_NUL_ENDED);
    CHECK(!allm_event_error(read));
    CHECK(!read || !read->kept);
    CHECK(!read || read->seq == s->event.seq);
    CHECK_JSON(allm_event_json(read), s->json);
    allm_event_free(read);
    allm_event_free(made);
}

static void every_event_has_its_form(void)
{
    static struct sample samples[SAMPLES];
    struct parts p = make_parts();
    bool seen[COUNT(tags)] = { false };
    make_samples(samples, &p);
    for (size_t i = 0; i < SAMPLES && p.map && p.any && p.thread; i++) {
        check_row(samples[i].why);
        check_sample(&samples[i]);
        seen[samples[i].event.type] = true;
    }
    for (size_t i = 1; i < COUNT(tags); i++)
        CHECK_WHY(seen[i], tags[i]);
    free_parts(&p);
}

/* -------------------------------------------------------- what it needs --- */

/* The members without which each event is refused, by their JSON names; the
 * samples are complete, so taking one away must be noticed. */
static void check_needs(allm_event event, const char *missing)
{
    char words[64];
    snprintf(words, sizeof words, " %s ", missing);
    allm_event *made = allm_event_new(&event);
    const allm_error *e = allm_event_error(made);
    CHECK_ALWAYS(e != NULL);
    CHECK(e && e->kind == ALLM_ERR_MISUSE);
    CHECK(e && strstr(e->message, words) != NULL);
    CHECK_ALWAYS(!made || made->type == ALLM_EV_NONE);
    allm_event_free(made);
}

static void needs_the_members_of_its_type(void)
{
    static struct sample samples[SAMPLES];
    struct parts p = make_parts();
    make_samples(samples, &p);
    for (size_t i = 0; i < SAMPLES && p.map && p.any && p.thread; i++) {
        check_row(samples[i].why);
        const allm_event whole = samples[i].event;
        allm_event e = whole;
        bool text_only = e.type == ALLM_EV_TEXT_DELTA ||
                         e.type == ALLM_EV_TEXT_COMPLETED ||
                         e.type == ALLM_EV_REASONING_DELTA ||
                         e.type == ALLM_EV_REASONING_COMPLETED;
        bool about_call = e.type == ALLM_EV_ASK_USER_REQUESTED ||
                          e.type == ALLM_EV_TOOL_HALT;
        if (e.id && !text_only) {
            e.id = NULL;
            check_needs(e, about_call ? "tool_call_id" : "id");
        }
        e = whole;
        if (e.name) {
            e.name = NULL;
            check_needs(e, about_call ? "tool_name" : "name");
        }
        e = whole;
        if (e.arguments) {
            e.arguments = NULL;
            check_needs(e, "arguments");
        }
        e = whole;
        if (e.raw_arguments) {
            e.raw_arguments = NULL;
            check_needs(e, "raw_arguments");
        }
    }
    free_parts(&p);
}

static void needs_what_it_is_about(void)
{
    static const struct {
        allm_event_type type;
        const char *missing;
    } rows[] = {
        { ALLM_EV_NONE, "type" },
        { (allm_event_type)21, "type" },
        { (allm_event_type)-1, "type" },
        { ALLM_EV_MESSAGE_STARTED, "message" },
        { ALLM_EV_TEXT_DELTA, "delta" },
        { ALLM_EV_TEXT_COMPLETED, "text" },
        { ALLM_EV_TOOL_CALL_DELTA, "arguments_delta" },
        { ALLM_EV_TOOL_RESULT_ENCODED, "content" },
        { ALLM_EV_ASK_USER_REQUESTED, "question" },
        { ALLM_EV_TOOL_HALT, "reason" },
        { ALLM_EV_MESSAGE_COMPLETED, "message" },
        { ALLM_EV_STEP_COMPLETED, "response" },
        { ALLM_EV_CHAT_COMPLETED, "result" },
        { ALLM_EV_ERROR, "error" },
        { ALLM_EV_REASONING_DELTA, "delta" },
        { ALLM_EV_REASONING_COMPLETED, "text" },
        { ALLM_EV_USAGE, "usage" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_row(rows[i].missing);
        check_needs((allm_event){ .size = sizeof(allm_event),
                                  .type = rows[i].type, .id = "i",
                                  .name = "n" },
                    rows[i].missing);
    }
    check_row("a step needs its thread");
    check_needs(*ALLM(event, .type = ALLM_EV_STEP_COMPLETED,
                      .response = ALLM(response, .id = "r")),
                "thread");
    check_row("nothing at all");
    allm_event *e = allm_event_new(NULL);
    CHECK_ALWAYS(allm_event_error(e) != NULL);
    allm_event_free(e);
}

static void carries_no_more_than_its_members(void)
{
    allm_event *e = allm_event_new(
        ALLM(event, .type = ALLM_EV_TEXT_DELTA, .text = "x", .name = "stray",
             .reason = "stray", .mode = ALLM_MODE_MANUAL));
    CHECK(e && !e->name && !e->reason && !e->mode);
    allm_event_free(e);
}

/* A struct of the caller is written as it is, but it must be some event. */
static void writes_no_event_of_no_type(void)
{
    static const allm_event_type type[] = { ALLM_EV_NONE, (allm_event_type)99 };
    for (size_t i = 0; i < COUNT(type); i++) {
        allm_text *t = allm_event_json(ALLM(event, .type = type[i], .seq = 1));
        CHECK_ALWAYS(!allm_text_bytes(t, NULL));
        CHECK_ALWAYS(allm_text_error(t) != NULL);
        CHECK_INT(kind_of(allm_text_error(t)), ALLM_ERR_MISUSE);
        allm_text_free(t);
    }
    CHECK_JSON(allm_event_json(ALLM(event, .type = ALLM_EV_TEXT_DELTA)),
               "{\"type\":\"text_delta\",\"seq\":0,\"id\":null,"
               "\"delta\":null}");
}

/* -------------------------------------------------------------- reading --- */

static void keeps_unknown_members(void)
{
    static const struct {
        const char *why, *text, *back;
    } rows[] = {
        { "a member of a later version",
          "{\"type\":\"text_delta\",\"seq\":1,\"delta\":\"a\",\"x\":[1]}",
          "{\"type\":\"text_delta\",\"seq\":1,\"id\":null,\"delta\":\"a\","
          "\"x\":[1]}" },
        { "a member of another event",
          "{\"type\":\"raw_chunk\",\"seq\":1,\"chunk\":1,\"delta\":\"a\"}",
          "{\"type\":\"raw_chunk\",\"seq\":1,\"chunk\":1,\"delta\":\"a\"}" },
        { "a member of a wrong type",
          "{\"type\":\"text_delta\",\"seq\":1,\"id\":7,\"delta\":null}",
          "{\"type\":\"text_delta\",\"seq\":1,\"id\":7,\"delta\":null}" },
        { "a usage with more",
          "{\"type\":\"usage\",\"seq\":1,\"input_tokens\":3,"
          "\"input_cost\":0.5,\"x\":{}}",
          "{\"type\":\"usage\",\"seq\":1," USAGE ",\"x\":{}}" },
        { "a usage with a text for a number",
          "{\"type\":\"usage\",\"seq\":1,\"input_tokens\":\"many\"}",
          "{\"type\":\"usage\",\"seq\":1,\"input_tokens\":\"many\","
          "\"output_tokens\":null,\"cached_input_tokens\":null,"
          "\"reasoning_tokens\":null,\"total_tokens\":null,"
          "\"input_cost\":null,\"output_cost\":null,\"total_cost\":null,"
          "\"tool_usage\":{},\"extra\":{}}" },
        { "an error that is none of ours",
          "{\"type\":\"error\",\"seq\":1,\"error\":\"boom\"}",
          "{\"type\":\"error\",\"seq\":1,\"error\":\"boom\"}" },
        { "an error without a kind",
          "{\"type\":\"error\",\"seq\":1,\"error\":{\"reason\":\"x\"}}",
          "{\"type\":\"error\",\"seq\":1,\"error\":{\"reason\":\"x\"}}" },
        { "type and seq come first",
          "{\"chunk\":1,\"seq\":4,\"type\":\"raw_chunk\"}",
          "{\"type\":\"raw_chunk\",\"seq\":4,\"chunk\":1}" },
        { "without seq", "{\"type\":\"raw_chunk\",\"chunk\":1}",
          "{\"type\":\"raw_chunk\",\"seq\":0,\"chunk\":1}" },
        { "seq null", "{\"type\":\"raw_chunk\",\"seq\":null}",
          "{\"type\":\"raw_chunk\",\"seq\":0,\"chunk\":null}" },
        { "empty metadata is left out",
          "{\"type\":\"tool_call_completed\",\"seq\":1,\"id\":\"c\",\"name\":"
          "\"n\",\"arguments\":{},\"raw_arguments\":\"{}\",\"metadata\":{}}",
          "{\"type\":\"tool_call_completed\",\"seq\":1,\"id\":\"c\",\"name\":"
          "\"n\",\"arguments\":{},\"raw_arguments\":\"{}\"}" },
        { "structs may come in envelopes",
          "{\"type\":\"message_started\",\"seq\":1,\"message\":" TAGGED(
              "Message", MESSAGE) "}",
          "{\"type\":\"message_started\",\"seq\":1,\"message\":" MESSAGE
          "}" },
        { "and go without, also inside results",
          "{\"type\":\"tool_execution_completed\",\"seq\":1,\"id\":\"c\","
          "\"name\":\"n\",\"result\":{\"error\":" TAGGED(
              "Error.ToolError", "{\"reason\":\"timeout\"}") "}}",
          "{\"type\":\"tool_execution_completed\",\"seq\":1,\"id\":\"c\","
          "\"name\":\"n\",\"result\":{\"error\":{\"kind\":\"tool\","
          "\"reason\":\"timeout\"}}}" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_row(rows[i].why);
        allm_event *e = allm_event_parse(rows[i].text, ALLM_NUL_ENDED);
        CHECK(!allm_event_error(e));
        CHECK_JSON(allm_event_json(e), rows[i].back);
        allm_event_free(e);
    }
}

static void refuses_what_is_no_event(void)
{
    static const struct {
        const char *why, *text, *pairs;
    } rows[] = {
        { "not JSON", "event", "[[\"json\",\"malformed\"]]" },
        { "nothing", "", "[[\"json\",\"malformed\"]]" },
        { "cut short", "{\"type\":\"err", "[[\"json\",\"malformed\"]]" },
        { "a key twice", "{\"type\":\"error\",\"type\":\"usage\"}",
          "[[\"json\",\"duplicate_key\"]]" },
        { "an array", "[\"text_delta\",{}]", "[[\"type\",\"unknown_event\"]]" },
        { "a text", "\"text_delta\"", "[[\"type\",\"unknown_event\"]]" },
        { "null", "null", "[[\"type\",\"unknown_event\"]]" },
        { "no type", "{\"seq\":1}", "[[\"type\",\"unknown_event\"]]" },
        { "a type that is no text", "{\"type\":2}",
          "[[\"type\",\"unknown_event\"]]" },
        { "an unknown type", "{\"type\":\"halted\"}",
          "[[\"type\",\"unknown_event\"]]" },
        { "a type with NUL behind it", "{\"type\":\"error\\u0000\"}",
          "[[\"type\",\"unknown_event\"]]" },
        { "an unknown finish reason",
          "{\"type\":\"message_completed\",\"finish_reason\":\"x\"}",
          "[[\"finish_reason\",\"atom_decode_failed\"]]" },
        { "an unknown mode", "{\"type\":\"step_completed\",\"mode\":\"x\"}",
          "[[\"mode\",\"atom_decode_failed\"]]" },
        { "a number that is none", "{\"type\":\"raw_chunk\",\"seq\":\"x\"}",
          "[[\"seq\",\"invalid_type\"]]" },
        { "a number below zero", "{\"type\":\"usage\",\"seq\":-1}",
          "[[\"seq\",\"invalid_type\"]]" },
        { "an unknown role inside",
          "{\"type\":\"message_started\",\"message\":{\"role\":\"x\"}}",
          "[[[\"message\",\"role\"],\"atom_decode_failed\"]]" },
        { "broken base64 inside",
          "{\"type\":\"message_started\",\"message\":{\"content\":[{\"type\":"
          "\"image\",\"source\":{\"type\":\"binary\",\"value\":\"?\"}}]}}",
          "[[[\"message\",\"content\",0,\"source\"],\"invalid_base64\"]]" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_row(rows[i].why);
        allm_event *e = allm_event_parse(rows[i].text, ALLM_NUL_ENDED);
        const allm_error *error = allm_event_error(e);
        CHECK_ALWAYS(error != NULL);
        CHECK_ALWAYS(!e || e->type == ALLM_EV_NONE);
        CHECK(error && error->kind == ALLM_ERR_VALIDATION);
        CHECK_JSON(allm_json_write(error ? error->errors : NULL, 0),
                   rows[i].pairs);
        allm_text *t = allm_event_json(e);
        CHECK_ALWAYS(!allm_text_bytes(t, NULL));
        allm_text_free(t);
        allm_event_free(e);
    }
}

static void counts_bytes_or_stops_at_nul(void)
{
    static const char text[] = "{\"type\":\"raw_chunk\"}  garbage";
    size_t len = strlen("{\"type\":\"raw_chunk\"}");
    allm_event *e = allm_event_parse(text, len);
    CHECK(!allm_event_error(e));
    allm_event_free(e);
    e = allm_event_parse(text, ALLM_NUL_ENDED);
    CHECK_ALWAYS(allm_event_error(e) != NULL);
    allm_event_free(e);
    check_row("no text");
    e = allm_event_parse(NULL, ALLM_NUL_ENDED);
    CHECK_ALWAYS(allm_event_error(e) != NULL);
    CHECK_INT(kind_of(allm_event_error(e)), ALLM_ERR_MISUSE);
    allm_event_free(e);
}

static void accepts_null(void)
{
    CHECK_INT(kind_of(allm_event_error(NULL)), ALLM_ERR_NOMEM);
    CHECK_ALWAYS(!allm_event_json(NULL));
    allm_event_free(NULL);
}

/* ----------------------------------------------------------- collisions --- */

/* A usage that came from a document with other members of these names. */
static void a_usage_does_not_overwrite_the_event(void)
{
    allm_json *kept = allm_json_parse(
        "{\"type\":\"tokens\",\"seq\":99,\"x\":1}", ALLM_NUL_ENDED, NULL);
    allm_event *e = allm_event_new(
        ALLM(event, .type = ALLM_EV_USAGE, .seq = 1,
             .usage = ALLM(usage, .input_tokens = ALLM_NUM(3),
                           .input_cost = ALLM_NUM(0.5), .kept = kept)));
    CHECK_JSON(allm_event_json(e),
               "{\"type\":\"usage\",\"seq\":1," USAGE ",\"x\":1}");
    allm_event_free(e);
    allm_json_free(kept);
}

static void outlives_what_it_was_made_of(void)
{
    allm_message *m = allm_message_from_text(ALLM_ROLE_ASSISTANT, "hi");
    allm_event *e = allm_event_new(
        ALLM(event, .type = ALLM_EV_MESSAGE_STARTED, .seq = 1, .message = m));
    CHECK(!m || !e || e->message == m);
    allm_message_free(m);
    CHECK_JSON(allm_event_json(e),
               "{\"type\":\"message_started\",\"seq\":1,\"message\":" MESSAGE
               "}");
    allm_event_free(e);
}

TESTS = {
    TEST(tags_are_in_order),
    TEST(every_event_has_its_form),
    TEST(needs_the_members_of_its_type),
    TEST(needs_what_it_is_about),
    TEST(carries_no_more_than_its_members),
    TEST(writes_no_event_of_no_type),
    TEST(keeps_unknown_members),
    TEST(refuses_what_is_no_event),
    TEST(counts_bytes_or_stops_at_nul),
    TEST(accepts_null),
    TEST(a_usage_does_not_overwrite_the_event),
    TEST(outlives_what_it_was_made_of),
    TESTS_END,
};
