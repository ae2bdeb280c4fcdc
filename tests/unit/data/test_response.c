/* test_response.c - responses of a model */
#include "data/response.h"

#include "harness/noun.h"

#include <stdlib.h>

#define NO_USAGE \
    "{'input_tokens':null,'output_tokens':null,'cached_input_tokens':null," \
    "'reasoning_tokens':null,'total_tokens':null,'input_cost':null," \
    "'output_cost':null,'total_cost':null,'tool_usage':{},'extra':{}}"

static void has_defaults(void)
{
    allm_response *r = allm_response_new(NULL);
    CHECK_WELL(allm_response_error(r));
    CHECK(!GET(r, message) && !GET(r, output_text) && !GET(r, error));
    CHECK_INT(GET(r, finish_reason), ALLM_FINISH_NONE);
    CHECK_JSON(allm_response_json(r, ALLM_FORM_PLAIN),
               "{'id':null,'request_id':null,'model':null,'message':null,"
               "'output_text':null,'tool_calls':[],'finish_reason':null,"
               "'raw_finish_reason':null,'usage':" NO_USAGE ","
               "'raw':null,'metadata':{}}");
    allm_response_free(r);
}

static void there_is_always_a_usage(void)
{
    allm_response *r = allm_response_new(ALLM(response, .id = "x"));
    const allm_usage *u = GET(r, usage);
    CHECK_ALWAYS(!r || u);
    CHECK_INT(GET(u, size), sizeof(allm_usage));
    CHECK(!u || !u->total_tokens.set);
    allm_response_free(r);
}

static void keeps_every_field(void)
{
    const allm_message *m = ALLM(message, .role = ALLM_ROLE_ASSISTANT,
                                 .text = "hi");
    allm_json *args = noun_json("{}"), *raw = noun_json("[1]");
    allm_json *metadata = noun_json("{'m':1}"), *kept = noun_json("{'k':2}");
    const allm_tool_call *call = ALLM(tool_call, .id = "c", .name = "t",
                                      .arguments = args);
    const allm_usage *usage = ALLM(usage, .input_tokens = ALLM_NUM(5));
    const allm_error *error = ALLM(error, .kind = ALLM_ERR_ADAPTER,
                                   .reason = "timeout");
    allm_response *r = allm_response_new(
        ALLM(response, .id = "i", .request_id = "r", .model = "m", .message = m,
             .output_text = "a\0b", .output_len = 3, .tool_calls = &call,
             .tool_call_count = 1, .finish_reason = ALLM_FINISH_OTHER,
             .raw_finish_reason = "pause", .usage = usage, .error = error,
             .raw = raw, .metadata = metadata, .kept = kept));
    allm_json_free(args);
    allm_json_free(raw);
    allm_json_free(metadata);
    allm_json_free(kept);
    CHECK(!r || allm_response_error(r) == r->error);
    if (r && check_whole()) {
        struct slice text = { r->output_text, r->output_len };
        CHECK_TEXT(r->id, "i");
        CHECK_TEXT(r->request_id, "r");
        CHECK_TEXT(r->model, "m");
        CHECK_TEXT(r->message->text, "hi");
        CHECK_SLICE(text, SLICE("a\0b"));
        CHECK_TEXT(r->tool_calls[0]->id, "c");
        CHECK_INT(r->tool_call_count, 1);
        CHECK_INT(r->finish_reason, ALLM_FINISH_OTHER);
        CHECK_TEXT(r->raw_finish_reason, "pause");
        CHECK_INT(r->usage->input_tokens.value, 5);
        CHECK_ERROR(r->error, ALLM_ERR_ADAPTER, "timeout",
                    "adapter error: timeout");
        CHECK_VALUE(r->raw, "[1]");
        CHECK_VALUE(r->metadata, "{'m':1}");
        CHECK_VALUE(r->kept, "{'k':2}");
    }
    allm_response_free(r);
}

static void its_text(void)
{
    const allm_part *part = ALLM(part, .kind = ALLM_PART_TEXT, .text = "x");
    const allm_message *said = ALLM(message, .role = ALLM_ROLE_ASSISTANT,
                                    .text = "from-msg");
    const allm_message *parts = ALLM(message, .role = ALLM_ROLE_ASSISTANT,
                                     .parts = &part, .part_count = 1);
    const struct {
        const char *why;
        allm_response given;
        const char *text;
    } rows[] = {
        { "its own", { .output_text = "direct" }, "direct" },
        { "its own first", { .output_text = "direct", .message = said },
          "direct" },
        { "the empty text counts", { .output_text = "", .message = said },
          "" },
        { "that of the message", { .message = said }, "from-msg" },
        { "a list of parts is no text", { .message = parts }, NULL },
        { "none", { .id = "x" }, NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_response given = rows[i].given;
        given.size = sizeof given;
        allm_response *r = allm_response_new(&given);
        size_t len = 99;
        CHECK_TEXT(allm_response_text(r, &len), rows[i].text);
        CHECK_INT(len, slice_of(rows[i].text).len);
        /* a struct of the caller has no lengths */
        CHECK_ALWAYS(slice_eq(slice_of(allm_response_text(&given, &len)),
                              slice_of(rows[i].text)));
        CHECK_ALWAYS(len == slice_of(rows[i].text).len);
        allm_response_free(r);
    }
}

static void refuses_what_does_not_fit(void)
{
    allm_response *r = allm_response_new(
        ALLM(response, .error = &(allm_error){ .reason = "x" }));
    CHECK_MISUSE(allm_response_error(r), "struct_size", "allm_error");
    CHECK(!GET(r, usage));
    allm_response_free(r);
    r = allm_response_new(&(allm_response){ .id = "x" });
    CHECK_MISUSE(allm_response_error(r), "struct_size", "allm_response");
    CHECK_ALWAYS(!allm_response_text(r, NULL));
    allm_response_free(r);
}

static void sizes(void)
{
    static const allm_response full = { .output_text = "x", .model = "m" };
    allm_response *older = noun_sized(&full, sizeof full,
                                      offsetof(allm_response, message));
    allm_response *newer = noun_sized(&full, sizeof full, sizeof full + 8);
    CHECK_ALWAYS(!allm_response_text(older, NULL));
    CHECK_TEXT(allm_response_text(newer, NULL), "x");
    allm_response *r = allm_response_new(older);
    CHECK_TEXT(GET(r, model), "m");
    CHECK(GET(r, usage) && !GET(r, output_text));
    allm_response_free(r);
    free(older);
    free(newer);
}

static void an_error_stands_in_the_metadata(void)
{
    allm_json *metadata = noun_json("{'a':1}");
    const allm_error *error = ALLM(error, .kind = ALLM_ERR_STREAM,
                                   .reason = "truncated");
    allm_response *r =
        allm_response_new(ALLM(response, .error = error, .metadata = metadata));
    CHECK_JSON(allm_response_json(r, ALLM_FORM_PLAIN),
               "{'id':null,'request_id':null,'model':null,'message':null,"
               "'output_text':null,'tool_calls':[],'finish_reason':null,"
               "'raw_finish_reason':null,'usage':" NO_USAGE ",'raw':null,"
               "'metadata':{'a':1,'error':{'kind':'stream',"
               "'reason':'truncated','message':'stream error: truncated',"
               "'provider':null,'event_index':null,'cause':null,"
               "'metadata':{}}}}");
    allm_response_free(r);
    allm_json_free(metadata);
}

static void nothing_is_accepted(void)
{
    size_t len = 99;
    CHECK_ALWAYS(!allm_response_text(NULL, &len) && len == 0);
    CHECK_ALWAYS(!allm_response_json(NULL, ALLM_FORM_PLAIN));
    CHECK_ERROR(allm_response_error(NULL), ALLM_ERR_NOMEM, "out_of_memory",
                NULL);
    allm_response_free(NULL);
}

TESTS = {
    TEST(has_defaults),
    TEST(there_is_always_a_usage),
    TEST(keeps_every_field),
    TEST(its_text),
    TEST(refuses_what_does_not_fit),
    TEST(sizes),
    TEST(an_error_stands_in_the_metadata),
    TEST(nothing_is_accepted),
    TESTS_END
};
