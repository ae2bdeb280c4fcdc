/* test_message.c - messages: created, counted, normalized */
#include "data/message.h"

#include "harness/noun.h"

#include <stdlib.h>

/* A message with nothing but role and text. */
static void check_simple(allm_message *m, allm_role role, const char *text,
                         const char *tool_call_id)
{
    CHECK_WELL(allm_message_error(m));
    CHECK_INT(GET(m, role), role);
    CHECK_TEXT(GET(m, text), text);
    CHECK_INT(GET(m, text_len), strlen(text));
    CHECK_TEXT(GET(m, tool_call_id), tool_call_id);
    CHECK(!GET(m, parts) && !GET(m, name) && !GET(m, tool_calls));
    CHECK(!GET(m, metadata) && !GET(m, provider_state) && !GET(m, kept));
    allm_message_free(m);
}

static void shortcuts(void)
{
    check_simple(allm_message_from_text(ALLM_ROLE_SYSTEM, "be helpful"),
                 ALLM_ROLE_SYSTEM, "be helpful", NULL);
    check_simple(allm_message_from_text(ALLM_ROLE_USER, "hi"), ALLM_ROLE_USER,
                 "hi", NULL);
    check_simple(allm_message_from_text(ALLM_ROLE_ASSISTANT, "hello"),
                 ALLM_ROLE_ASSISTANT, "hello", NULL);
    check_simple(allm_message_from_text(ALLM_ROLE_USER, ""), ALLM_ROLE_USER, "",
                 NULL);
    check_simple(allm_message_from_result("call_abc", "{\"ok\":true}"),
                 ALLM_ROLE_TOOL, "{\"ok\":true}", "call_abc");
    check_simple(allm_message_new(ALLM(message, .role = ALLM_ROLE_TOOL,
                                       .text = "ok", .tool_call_id = "call_1")),
                 ALLM_ROLE_TOOL, "ok", "call_1");
}

static void keeps_every_field(void)
{
    allm_json *metadata = noun_json("{'a':1}"), *state = noun_json("[1]");
    allm_json *kept = noun_json("{'k':2}"), *args = noun_json("{'x':1}");
    allm_tool_call *call = allm_tool_call_new(
        ALLM(tool_call, .id = "c1", .name = "t", .arguments = args));
    const allm_tool_call *calls[] = { call };
    allm_message *m = allm_message_new(
        ALLM(message, .role = ALLM_ROLE_ASSISTANT, .text = "a\0b",
             .text_len = 3, .name = "n", .tool_call_id = "id",
             .tool_calls = calls, .tool_call_count = 1, .metadata = metadata,
             .provider_state = state, .kept = kept));
    allm_tool_call_free(call);
    allm_json_free(metadata);
    allm_json_free(state);
    allm_json_free(kept);
    allm_json_free(args);
    struct slice text = { GET(m, text), GET(m, text_len) };
    CHECK_SLICE(text, SLICE("a\0b"));
    CHECK_TEXT(GET(m, name), "n");
    CHECK_TEXT(GET(m, tool_call_id), "id");
    if (m && m->tool_calls) {
        CHECK_INT(m->tool_call_count, 1);
        CHECK_TEXT(m->tool_calls[0]->name, "t");
        CHECK_VALUE(m->tool_calls[0]->arguments, "{'x':1}");
    }
    CHECK_VALUE(GET(m, metadata), "{'a':1}");
    CHECK_VALUE(GET(m, provider_state), "[1]");
    CHECK_VALUE(GET(m, kept), "{'k':2}");
    allm_message_free(m);
}

static void an_empty_list_is_content(void)
{
    const allm_part *none = NULL;
    allm_message *m =
        allm_message_new(ALLM(message, .role = ALLM_ROLE_USER, .parts = &none));
    CHECK_WELL(allm_message_error(m));
    CHECK(GET(m, parts) && !GET(m, part_count));
    allm_message_free(m);
}

/* ------------------------------------------------------------- refusing --- */

static void refused(allm_message *m, const char *reason, const char *words)
{
    CHECK_MISUSE(allm_message_error(m), reason, words);
    CHECK(!GET(m, role) && !GET(m, text) && !GET(m, parts) && !GET(m, name));
    allm_message_free(m);
}

static void refuses_what_lacks_something(void)
{
    const allm_part *none = NULL;
    refused(allm_message_new(NULL), "missing_field", "role is missing");
    refused(allm_message_new(ALLM(message, .text = "x")), "missing_field",
            "allm_message_new: role is missing");
    refused(allm_message_new(
                ALLM(message, .role = ALLM_ROLE_USER, .name = "n")),
            "missing_field", "the content is missing; set text or parts");
    refused(allm_message_from_text(ALLM_ROLE_USER, NULL), "missing_field",
            "the content is missing");
    refused(allm_message_from_text(ALLM_ROLE_NONE, "x"), "missing_field",
            "role is missing");
    refused(allm_message_from_result("c", NULL), "missing_field", "content");
    refused(allm_message_new(ALLM(message, .role = ALLM_ROLE_USER, .text = "x",
                                  .parts = &none)),
            "missing_field", "both set");
    refused(allm_message_new(
                &(allm_message){ .role = ALLM_ROLE_USER,
                                              .text = "x" }),
            "struct_size", "allm_message: the struct has no size");
}

static void sizes(void)
{
    static const allm_message full = { .role = ALLM_ROLE_USER, .text = "x" };
    static const struct {
        const char *why;
        size_t size;
        const char *reason;
    } rows[] = {
        { "it ends before its text", offsetof(allm_message, text),
          "missing_field" },
        { "it ends behind its text", offsetof(allm_message, part_count),
          NULL },
        { "it ends behind its parts", offsetof(allm_message, name), NULL },
        { "a newer one", sizeof full + 16, NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_message *given = noun_sized(&full, sizeof full, rows[i].size);
        allm_message *made = allm_message_new(given);
        allm_message *kept = allm_message_keep(given);
        allm_message *normal = allm_message_normalize(given);
        CHECK_ERROR(allm_message_error(made),
                    rows[i].reason ? ALLM_ERR_MISUSE : ALLM_OK, rows[i].reason,
                    NULL);
        CHECK_WELL(allm_message_error(kept));
        CHECK_INT(GET(normal, part_count), rows[i].reason ? 0 : 1);
        allm_message_free(made);
        allm_message_free(kept);
        allm_message_free(normal);
        free(given);
    }
}

static void nothing_is_accepted(void)
{
    CHECK_ALWAYS(!allm_message_keep(NULL));
    CHECK_ALWAYS(!allm_message_normalize(NULL));
    CHECK_ALWAYS(!allm_message_json(NULL, ALLM_FORM_PLAIN));
    CHECK_ERROR(allm_message_error(NULL), ALLM_ERR_NOMEM, "out_of_memory",
                NULL);
    allm_message_free(NULL);
}

/* -------------------------------------------------------------- sharing --- */

static void keeping_counts(void)
{
    allm_message *m = allm_message_from_text(ALLM_ROLE_USER, "hi");
    size_t bytes = check_live_bytes();
    allm_message *again = allm_message_keep(m);
    CHECK(again == m);
    CHECK_ALWAYS(check_live_bytes() == bytes);
    allm_message_free(m);
    CHECK_TEXT(GET(again, text), "hi");
    allm_message_free(again);
}

static void holders_share_a_message(void)
{
    allm_message *m = allm_message_from_text(ALLM_ROLE_USER, "hi");
    const allm_message *list[] = { m };
    allm_thread *t = allm_thread_new(NULL);
    allm_thread_append(t, m);
    allm_request *q =
        allm_request_new(ALLM(request, .messages = list, .message_count = 1));
    allm_response *r = allm_response_new(ALLM(response, .message = m));
    if (m && check_whole()) {
        CHECK(allm_thread_at(t, 0) == m);
        CHECK(q && q->messages && q->messages[0] == m);
        CHECK(GET(r, message) == m);
    }
    allm_message_free(m);
    const allm_message *last = allm_thread_last(t);
    CHECK_TEXT(GET(last, text), "hi");
    allm_thread_free(t);
    allm_request_free(q);
    last = GET(r, message);
    CHECK_TEXT(GET(last, text), "hi");
    allm_response_free(r);
}

/* A struct that names our home but is not its value was copied by a caller. */
static void a_struct_copied_by_value_is_foreign(void)
{
    allm_message *m = allm_message_from_text(ALLM_ROLE_USER, "hi");
    if (!m)
        return;
    allm_message value = *m;
    value.name = "changed";
    allm_message *made = allm_message_new(&value);
    allm_message *kept = allm_message_keep(&value);
    allm_message_free(&value);      /* nothing */
    CHECK(made != m && kept != m && kept != &value);
    CHECK_TEXT(GET(made, name), "changed");
    CHECK_TEXT(GET(kept, name), "changed");
    CHECK(!m->name);
    allm_message_free(m);
    CHECK_TEXT(GET(made, text), "hi");
    CHECK_TEXT(GET(kept, text), "hi");
    allm_message_free(made);
    allm_message_free(kept);
}

static void a_refused_message_does_not_travel(void)
{
    allm_message *bad = allm_message_from_text(ALLM_ROLE_NONE, "x");
    const allm_message *list[] = { bad };
    allm_request *q =
        allm_request_new(ALLM(request, .messages = list, .message_count = 1));
    allm_response *r = allm_response_new(ALLM(response, .message = bad));
    allm_text *t = allm_message_json(bad, ALLM_FORM_TAGGED);
    allm_message *kept = allm_message_keep(bad);
    allm_message *normal = allm_message_normalize(bad);
    CHECK(kept == bad && normal == bad);
    allm_message_free(bad);
    allm_message_free(kept);
    allm_message_free(normal);
    if (bad) {
        CHECK_MISUSE(allm_request_error(q), "missing_field", "role");
        CHECK_MISUSE(allm_response_error(r), "missing_field", "role");
        CHECK_MISUSE(allm_text_error(t), "missing_field", "role");
    }
    allm_request_free(q);
    allm_response_free(r);
    allm_text_free(t);
}

/* ------------------------------------------------------------ normalize --- */

static void a_text_becomes_a_list_of_one_part(void)
{
    allm_json *metadata = noun_json("{'a':1}");
    allm_message *m = allm_message_new(
        ALLM(message, .role = ALLM_ROLE_TOOL, .text = "h\0i", .text_len = 3,
             .name = "n", .tool_call_id = "c", .metadata = metadata));
    allm_message *n = allm_message_normalize(m);
    const allm_part *p = n && n->parts ? n->parts[0] : NULL;
    struct slice text = { GET(p, text), GET(p, text_len) };
    CHECK(n != m);
    CHECK_INT(GET(n, part_count), 1);
    CHECK(!GET(n, text));
    CHECK_INT(GET(p, kind), ALLM_PART_TEXT);
    CHECK_SLICE(text, SLICE("h\0i"));
    CHECK(!GET(p, metadata));
    CHECK_INT(GET(n, role), ALLM_ROLE_TOOL);
    CHECK_TEXT(GET(n, name), "n");
    CHECK_TEXT(GET(n, tool_call_id), "c");
    CHECK_VALUE(GET(n, metadata), "{'a':1}");
    if (m)
        CHECK_ALWAYS(m->text && !m->parts);     /* never mutates */
    if (n)
        CHECK_ALWAYS(p && p->text && n->name && n->tool_call_id);
    allm_message_free(m);
    allm_message_free(n);
    allm_json_free(metadata);
}

static void an_empty_text_becomes_a_part_too(void)
{
    allm_message *m = allm_message_from_text(ALLM_ROLE_USER, "");
    allm_message *n = allm_message_normalize(m);
    const allm_part *p = n && n->parts ? n->parts[0] : NULL;
    CHECK_TEXT(GET(p, text), "");
    allm_message_free(m);
    allm_message_free(n);
}

static void a_list_stays_what_it_is(void)
{
    const allm_part *part = ALLM(part, .kind = ALLM_PART_TEXT, .text = "x");
    allm_message *m = allm_message_new(
        ALLM(message, .role = ALLM_ROLE_USER, .parts = &part, .part_count = 1));
    allm_message *n = allm_message_normalize(m);
    CHECK(n == m);
    allm_message_free(m);
    allm_message_free(n);
}

static void has_two_forms(void)
{
    allm_json *args = noun_json("{}"), *metadata = noun_json("{'a':1}");
    const allm_tool_call *call = ALLM(tool_call, .id = "c", .name = "t",
                                      .arguments = args);
    allm_message *m = allm_message_from_text(ALLM_ROLE_USER, "hi");
    CHECK_JSON(allm_message_json(m, ALLM_FORM_TAGGED),
               "{'__type__':'ALLM.Message','data':{'role':'user','content':"
               "'hi','name':null,'tool_call_id':null,'metadata':{}}}");
    allm_message_free(m);
    m = allm_message_new(ALLM(message, .role = ALLM_ROLE_ASSISTANT, .text = "",
                              .tool_calls = &call, .tool_call_count = 1,
                              .metadata = metadata));
    CHECK_JSON(allm_message_json(m, ALLM_FORM_PLAIN),
               "{'role':'assistant','content':'','name':null,"
               "'tool_call_id':null,'metadata':{'a':1,'tool_calls':[{'id':'c',"
               "'name':'t','arguments':{},'raw_arguments':null,"
               "'metadata':{}}]}}");
    allm_message_free(m);
    allm_json_free(args);
    allm_json_free(metadata);
}

static void members_find_their_places(void)
{
    allm_codec *c = noun_read("Message",
                              "{'role':'assistant','content':null,"
                              "'metadata':{'a':1,'tool_calls':[{'id':'c',"
                              "'name':'t','arguments':{}}]}}");
    const allm_message *m = allm_codec_value(c, ALLM_TYPE_MESSAGE);
    CHECK_INT(GET(m, role), ALLM_ROLE_ASSISTANT);
    CHECK(!GET(m, text) && !GET(m, parts) && !GET(m, kept));
    CHECK_INT(GET(m, tool_call_count), 1);
    CHECK_VALUE(GET(m, metadata), "{'a':1}");
    allm_codec_free(c);
}

TESTS = {
    TEST(shortcuts),
    TEST(keeps_every_field),
    TEST(an_empty_list_is_content),
    TEST(refuses_what_lacks_something),
    TEST(sizes),
    TEST(nothing_is_accepted),
    TEST(keeping_counts),
    TEST(holders_share_a_message),
    TEST(a_struct_copied_by_value_is_foreign),
    TEST(a_refused_message_does_not_travel),
    TEST(a_text_becomes_a_list_of_one_part),
    TEST(an_empty_text_becomes_a_part_too),
    TEST(a_list_stays_what_it_is),
    TEST(has_two_forms),
    TEST(members_find_their_places),
    TESTS_END
};
