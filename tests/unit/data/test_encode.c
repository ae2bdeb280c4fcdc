/* test_encode.c - structs to JSON: every member, in both forms */
#include "data/encode.h"

#include "data/thread.h"
#include "documents.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --------------------------------------------------------- every member --- */

#define USAGE \
    "{\"input_tokens\":null,\"output_tokens\":null," \
    "\"cached_input_tokens\":null,\"reasoning_tokens\":null," \
    "\"total_tokens\":null,\"input_cost\":null,\"output_cost\":null," \
    "\"total_cost\":null,\"tool_usage\":{},\"extra\":{}}"
#define IMAGE_USAGE \
    "{\"images\":0,\"size\":null,\"quality\":null,\"input_tokens\":null," \
    "\"output_tokens\":null,\"input_cost\":null,\"output_cost\":null," \
    "\"total_cost\":null}"
#define ADAPTER_ERROR \
    "{\"reason\":null,\"message\":null,\"provider\":null,\"status\":null," \
    "\"retry_after_ms\":null,\"request_id\":null,\"cause\":null," \
    "\"metadata\":{}}"

/* The defaults of a document without members. */
static const struct {
    const char *tag, *data;
} defaults[] = {
    { "Message", "{\"role\":null,\"content\":null,\"name\":null,"
                 "\"tool_call_id\":null,\"metadata\":{}}" },
    { "Tool", "{\"name\":null,\"description\":null,\"schema\":{},"
              "\"handler\":null,\"manual\":false,\"metadata\":{}}" },
    { "ToolCall", "{\"id\":null,\"name\":null,\"arguments\":{},"
                  "\"raw_arguments\":null,\"metadata\":{}}" },
    { "Request",
      "{\"messages\":[],\"model\":null,\"tools\":[],\"tool_choice\":null,"
      "\"temperature\":null,\"max_tokens\":null,\"stream\":false,"
      "\"response_format\":null,\"structured_finalize\":false,\"options\":{},"
      "\"metadata\":{}}" },
    { "Response",
      "{\"id\":null,\"request_id\":null,\"model\":null,\"message\":null,"
      "\"output_text\":null,\"tool_calls\":[],\"finish_reason\":null,"
      "\"raw_finish_reason\":null,\"usage\":" TAGGED("Usage", USAGE)
      ",\"raw\":null,\"metadata\":{}}" },
    { "Thread", "{\"messages\":[],\"metadata\":{}}" },
    { "Session",
      "{\"id\":null,\"thread\":" TAGGED(
          "Thread", "{\"messages\":[],\"metadata\":{}}")
      ",\"status\":\"idle\",\"pending_tool_calls\":[],"
      "\"pending_question\":null,\"pending_tool_call_id\":null,"
      "\"context\":{},\"metadata\":{}}" },
    { "StepResult", "{\"thread\":null,\"response\":null,\"tool_results\":[],"
                    "\"done?\":false,\"metadata\":{}}" },
    { "ChatResult",
      "{\"thread\":null,\"final_response\":null,\"steps\":[],"
      "\"halted_reason\":null,\"pending_question\":null,"
      "\"pending_tool_call_id\":null,\"metadata\":{}}" },
    { "Usage", USAGE },
    { "Engine",
      "{\"adapter\":null,\"adapter_opts\":[],\"model\":null,\"tools\":[],"
      "\"tool_executor\":null,\"tool_result_encoder\":null,"
      "\"image_adapter\":null,\"params\":{},\"context\":{},"
      "\"retry\":\"default\",\"middleware\":[],\"metadata\":{}}" },
    { "ModelRef", "{\"provider\":null,\"id\":null,\"capabilities\":null,"
                  "\"limits\":null,\"pricing\":null,\"metadata\":{}}" },
    { "Error.EngineError",
      "{\"reason\":null,\"message\":null,\"provider\":null,\"cause\":null,"
      "\"metadata\":{}}" },
    { "Error.AdapterError", ADAPTER_ERROR },
    { "Error.StreamError",
      "{\"reason\":null,\"message\":null,\"provider\":null,"
      "\"event_index\":null,\"cause\":null,\"metadata\":{}}" },
    { "Error.ValidationError",
      "{\"reason\":null,\"message\":null,\"errors\":[],\"cause\":null,"
      "\"metadata\":{}}" },
    { "Error.ToolError",
      "{\"reason\":null,\"message\":null,\"tool_name\":null,"
      "\"tool_call_id\":null,\"cause\":null,\"metadata\":{}}" },
    { "Error.SessionError",
      "{\"reason\":null,\"message\":null,\"provider\":null,\"cause\":null,"
      "\"metadata\":{}}" },
    { "Error.ImageAdapterError", ADAPTER_ERROR },
    { "Image", "{\"source\":null,\"mime_type\":null,\"width\":null,"
               "\"height\":null,\"prompt\":null,\"revised_prompt\":null,"
               "\"metadata\":{}}" },
    { "ImageRequest",
      "{\"operation\":\"generate\",\"model\":null,\"prompt\":null,\"n\":1,"
      "\"size\":null,\"quality\":null,\"style\":null,\"background\":null,"
      "\"response_format\":\"binary\",\"input_images\":[],\"mask\":null,"
      "\"options\":{},\"metadata\":{}}" },
    { "ImageResponse",
      "{\"id\":null,\"request_id\":null,\"model\":null,\"images\":[],"
      "\"usage\":" TAGGED("ImageUsage", IMAGE_USAGE)
      ",\"raw\":null,\"metadata\":{}}" },
    { "ImageUsage", IMAGE_USAGE },
    { "TextPart", "{\"text\":null,\"metadata\":{}}" },
    { "ImagePart", "{\"image\":null,\"detail\":\"auto\",\"metadata\":{}}" },
};

static void check_defaults(size_t i, const char *data)
{
    char text[1024], want[1024];
    snprintf(text, sizeof text, "{\"__type__\":\"ALLM.%s\",\"data\":%s}",
             defaults[i].tag, data);
    snprintf(want, sizeof want, "{\"__type__\":\"ALLM.%s\",\"data\":%s}",
             defaults[i].tag, defaults[i].data);
    allm_codec *c = decode(text, NULL);
    CHECK(!allm_codec_error(c));
    CHECK_JSON(allm_codec_json(c, ALLM_FORM_TAGGED), want);
    allm_codec_free(c);
}

static void writes_every_member(void)
{
    CHECK_INT(COUNT(defaults), 25);
    for (size_t i = 0; i < COUNT(defaults); i++) {
        check_row(defaults[i].tag);
        check_defaults(i, "{}");
        check_defaults(i, defaults[i].data);
    }
}

/* ------------------------------------------------------ by constructors --- */

static void writes_a_message(void)
{
    allm_message *m = allm_message_from_text(ALLM_ROLE_USER, "hi");
    CHECK_JSON(allm_message_json(m, ALLM_FORM_TAGGED),
               "{\"__type__\":\"ALLM.Message\",\"data\":{\"role\":\"user\","
               "\"content\":\"hi\",\"name\":null,\"tool_call_id\":null,"
               "\"metadata\":{}}}");
    CHECK_JSON(allm_message_json(m, ALLM_FORM_PLAIN),
               "{\"role\":\"user\",\"content\":\"hi\",\"name\":null,"
               "\"tool_call_id\":null,\"metadata\":{}}");
    allm_message_free(m);
}

static void writes_a_struct_of_the_caller(void)
{
    const allm_message *mine = ALLM(message, .role = ALLM_ROLE_TOOL,
                                    .text = "a\0b", .text_len = 3,
                                    .tool_call_id = "c\"1");
    CHECK_JSON(allm_message_json(mine, ALLM_FORM_PLAIN),
               "{\"role\":\"tool\",\"content\":\"a\\u0000b\",\"name\":null,"
               "\"tool_call_id\":\"c\\\"1\",\"metadata\":{}}");
}

#define PARTS_TAGGED \
    "[" TAGGED("TextPart", "{\"text\":\"see\",\"metadata\":{}}") "," TAGGED( \
        "ImagePart", \
        "{\"image\":" TAGGED( \
            "Image", \
            "{\"source\":{\"type\":\"binary\",\"value\":\"AQI=\"}," \
            "\"mime_type\":\"image/png\",\"width\":null,\"height\":null," \
            "\"prompt\":null,\"revised_prompt\":null,\"metadata\":{}}") \
        ",\"detail\":\"high\",\"metadata\":{}}") "]"
#define PARTS_PLAIN \
    "[{\"type\":\"text\",\"text\":\"see\",\"metadata\":{}}," \
    "{\"type\":\"image\",\"source\":{\"type\":\"binary\"," \
    "\"value\":\"AQI=\"},\"mime_type\":\"image/png\",\"detail\":\"high\"," \
    "\"metadata\":{}}]"

static void writes_parts(void)
{
    const allm_image *image = ALLM(image, .source = ALLM_IMAGE_BINARY,
                                   .data = "\1\2", .data_len = 2,
                                   .mime_type = "image/png");
    const allm_part *parts[] = {
        ALLM(part, .kind = ALLM_PART_TEXT, .text = "see"),
        ALLM(part, .kind = ALLM_PART_IMAGE, .image = image,
             .detail = ALLM_DETAIL_HIGH),
    };
    allm_message *m = allm_message_new(
        ALLM(message, .role = ALLM_ROLE_USER, .parts = parts, .part_count = 2));
    CHECK_JSON(allm_message_json(m, ALLM_FORM_TAGGED),
               TAGGED("Message", "{\"role\":\"user\",\"content\":" PARTS_TAGGED
                                 ",\"name\":null,\"tool_call_id\":null,"
                                 "\"metadata\":{}}"));
    CHECK_JSON(allm_message_json(m, ALLM_FORM_PLAIN),
               "{\"role\":\"user\",\"content\":" PARTS_PLAIN
               ",\"name\":null,\"tool_call_id\":null,\"metadata\":{}}");
    allm_message_free(m);
}

/* Both the part and its image have metadata. */
static void writes_the_metadata_of_an_image(void)
{
    static const char plain[] =
        "{\"type\":\"image\",\"source\":{\"type\":\"url\",\"value\":"
        "\"u\"},\"mime_type\":null,\"width\":3,\"detail\":\"auto\","
        "\"metadata\":{\"p\":1},\"image_metadata\":{\"i\":2}}";
    allm_codec *c = decode(
        TAGGED("ImagePart",
               "{\"image\":" TAGGED(
                   "Image",
                   "{\"source\":{\"type\":\"url\","
                   "\"value\":\"u\"},\"width\":3,"
                   "\"metadata\":{\"i\":2}}") ",\"metadata\":{\"p\":1}}"),
        NULL);
    CHECK_JSON(allm_codec_json(c, ALLM_FORM_PLAIN), plain);
    allm_codec_free(c);
    c = decode(plain, "ImagePart");
    const allm_part *part = allm_codec_value(c, ALLM_TYPE_PART);
    CHECK(part && part->image && part->image->width.value == 3);
    CHECK_JSON(allm_json_write(part ? part->image->metadata : NULL, 0),
               "{\"i\":2}");
    allm_codec_free(c);
}

#define TAGGED_GO \
    TAGGED("Message", \
           "{\"role\":\"user\",\"content\":\"go\",\"name\":null," \
           "\"tool_call_id\":null,\"metadata\":{}}")
#define TAGGED_ECHO \
    TAGGED("ToolCall", \
           "{\"id\":\"c0\",\"name\":\"echo\",\"arguments\":{\"a\":1}," \
           "\"raw_arguments\":\"{\\\"a\\\":1}\",\"metadata\":{}}")
#define TAGGED_SESSION \
    TAGGED("Session", \
           "{\"id\":\"s\",\"thread\":" \
           TAGGED("Thread", \
                  "{\"messages\":[" TAGGED_GO "],\"metadata\":{}}") \
           ",\"status\":\"awaiting_tools\",\"pending_tool_calls\":[" \
           TAGGED_ECHO "],\"pending_question\":null," \
           "\"pending_tool_call_id\":null,\"context\":{\"a\":1}," \
           "\"metadata\":{}}")

static void writes_a_session(void)
{
    allm_thread *t = allm_thread_new(NULL);
    allm_thread_add(t, ALLM_ROLE_USER, "go");
    allm_json *context = allm_json_parse("{\"a\":1}", ALLM_NUL_ENDED, NULL);
    const allm_tool_call *call = ALLM(tool_call, .id = "c0", .name = "echo",
                                      .arguments = context,
                                      .raw_arguments = "{\"a\":1}");
    allm_session_record *s = allm_session_record_new(
        ALLM(session_record, .id = "s", .thread = t,
             .status = ALLM_SESSION_AWAITING_TOOLS,
             .pending_tool_call_count = 1, .pending_tool_calls = &call,
             .context = context));
    CHECK_JSON(allm_session_record_json(s, ALLM_FORM_TAGGED), TAGGED_SESSION);
    CHECK_JSON(
        allm_session_record_json(s, ALLM_FORM_PLAIN),
        "{\"id\":\"s\",\"thread\":{\"messages\":[{\"role\":\"user\","
        "\"content\":\"go\",\"name\":null,\"tool_call_id\":null,"
        "\"metadata\":{}}],\"metadata\":{}},\"status\":\"awaiting_tools\","
        "\"pending_tool_calls\":[{\"id\":\"c0\",\"name\":\"echo\","
        "\"arguments\":{\"a\":1},\"raw_arguments\":\"{\\\"a\\\":1}\","
        "\"metadata\":{}}],\"pending_question\":null,"
        "\"pending_tool_call_id\":null,\"context\":{\"a\":1},"
        "\"metadata\":{}}");
    allm_session_record_free(s);
    allm_json_free(context);
    allm_thread_free(t);
}

static void writes_an_error_with_entries(void)
{
    allm_json *pairs = allm_json_parse("[[\"messages\",\"empty\"]]",
                                       ALLM_NUL_ENDED, NULL);
    allm_error *e = allm_error_new(ALLM(error, .kind = ALLM_ERR_VALIDATION,
                                        .reason = "invalid_request",
                                        .errors = pairs));
    CHECK_JSON(allm_error_json(e, ALLM_FORM_TAGGED),
               TAGGED("Error.ValidationError",
                      "{\"reason\":\"invalid_request\",\"message\":null,"
                      "\"errors\":[[\"messages\",\"empty\"]],\"cause\":null,"
                      "\"metadata\":{}}"));
    CHECK_JSON(allm_error_json(e, ALLM_FORM_PLAIN),
               "{\"kind\":\"validation\",\"reason\":\"invalid_request\","
               "\"message\":\"validation failed: invalid_request (1 "
               "error(s))\",\"errors\":[[\"messages\",\"empty\"]],"
               "\"cause\":null,\"metadata\":{}}");
    allm_error_free(e);
    allm_json_free(pairs);
}

/* ------------------------------------------------------------- metadata --- */

#define TIMEOUT \
    "{\"reason\":\"timeout\",\"message\":null,\"provider\":\"x\"," \
    "\"status\":null,\"retry_after_ms\":null,\"request_id\":null," \
    "\"cause\":null,\"metadata\":{}}"

/* The error of a result is in its metadata; a member of the same name
 * there would make the document unreadable. */
static void writes_an_error_into_the_metadata_once(void)
{
    allm_json *metadata = allm_json_parse(
        "{\"a\":1,\"error\":\"old\",\"tool_calls\":\"mine\",\"b\":2}",
        ALLM_NUL_ENDED, NULL);
    allm_chat_result *r = allm_chat_result_new(
        ALLM(chat_result, .halted_reason = "error", .metadata = metadata,
             .error = ALLM(error, .kind = ALLM_ERR_ADAPTER, .reason = "timeout",
                           .provider = "x")));
    CHECK_JSON(allm_chat_result_json(r, ALLM_FORM_TAGGED),
               TAGGED("ChatResult",
                      "{\"thread\":null,\"final_response\":null,\"steps\":[],"
                      "\"halted_reason\":\"error\",\"pending_question\":null,"
                      "\"pending_tool_call_id\":null,\"metadata\":{\"a\":1,"
                      "\"tool_calls\":\"mine\",\"b\":2,\"error\":" TAGGED(
                          "Error.AdapterError", TIMEOUT) "}}"));
    allm_chat_result_free(r);
    allm_json_free(metadata);
}

static void writes_the_calls_of_a_message_into_its_metadata(void)
{
    allm_json *none = allm_json_parse("{}", ALLM_NUL_ENDED, NULL);
    const allm_tool_call *call = ALLM(tool_call, .id = "c", .name = "n",
                                      .arguments = none);
    allm_message *m =
        allm_message_new(ALLM(message, .role = ALLM_ROLE_ASSISTANT, .text = "",
                              .tool_calls = &call, .tool_call_count = 1));
    CHECK_JSON(allm_message_json(m, ALLM_FORM_PLAIN),
               "{\"role\":\"assistant\",\"content\":\"\",\"name\":null,"
               "\"tool_call_id\":null,\"metadata\":{\"tool_calls\":[{"
               "\"id\":\"c\",\"name\":\"n\",\"arguments\":{},"
               "\"raw_arguments\":null,\"metadata\":{}}]}}");
    allm_message_free(m);
    allm_json_free(none);
}

/* ----------------------------------------------------------- impossible --- */

static void run_nothing(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)run;
    (void)args;
    (void)ud;
}

static void check_no_function_form(allm_text *t)
{
    const allm_error *e = allm_text_error(t);
    CHECK_ALWAYS(e != NULL);
    CHECK_ALWAYS(!allm_text_bytes(t, NULL));
    CHECK_INT(e->kind, ALLM_ERR_MISUSE);
    CHECK_TEXT(e->reason, "not_serializable");
    CHECK(strstr(e->message, "\"clock\"") != NULL);
    allm_text_free(t);
}

static void refuses_to_write_a_function(void)
{
    const allm_tool *fields = ALLM(tool, .name = "clock",
                                   .description = "the time",
                                   .schema_text = "{}", .call = run_nothing);
    allm_tool *tool = allm_tool_new(fields);
    const allm_tool *const tools[] = { tool };
    check_row("a tool");
    check_no_function_form(allm_tool_json(tool, ALLM_FORM_TAGGED));
    check_row("a struct of the caller");
    check_no_function_form(allm_tool_json(fields, ALLM_FORM_TAGGED));
    check_row("the tool of a request");
    const allm_message *none[1] = { NULL };
    if (tool) {
        check_no_function_form(allm_request_json(
            ALLM(request, .messages = none, .tools = tools, .tool_count = 1),
            ALLM_FORM_TAGGED));
        check_no_function_form(allm_engine_record_json(
            ALLM(engine_record, .tools = tools, .tool_count = 1),
            ALLM_FORM_TAGGED));
    }
    check_row("the plain form leaves it out");
    CHECK_JSON(allm_tool_json(tool, ALLM_FORM_PLAIN),
               "{\"name\":\"clock\",\"description\":\"the time\","
               "\"schema\":{},\"handler\":null,\"manual\":false,"
               "\"metadata\":{}}");
    allm_tool_free(tool);
}

static void writes_numbers_that_json_has(void)
{
    allm_usage *u = allm_usage_new(
        ALLM(usage, .input_tokens = ALLM_NUM(INT64_MIN),
             .output_tokens = ALLM_NUM(INT64_MAX), .input_cost = ALLM_NUM(0.1),
             .output_cost = ALLM_NUM((double)INFINITY),
             .total_cost = ALLM_NUM((double)NAN)));
    CHECK_JSON(allm_usage_json(u, ALLM_FORM_PLAIN),
               "{\"input_tokens\":-9223372036854775808,"
               "\"output_tokens\":9223372036854775807,"
               "\"cached_input_tokens\":null,\"reasoning_tokens\":null,"
               "\"total_tokens\":null,\"input_cost\":0.1,"
               "\"output_cost\":null,\"total_cost\":null,\"tool_usage\":{},"
               "\"extra\":{}}");
    allm_usage_free(u);
}

static void writes_json_whatever_the_text(void)
{
    allm_message *m = allm_message_new(ALLM(
        message, .role = ALLM_ROLE_USER, .text = "a\xFF\x01z", .name = "\xC3"));
    allm_text *t = allm_message_json(m, ALLM_FORM_PLAIN);
    size_t len;
    const char *text = allm_text_bytes(t, &len);
    allm_json *v = text ? allm_json_parse(text, len, NULL) : NULL;
    CHECK(!allm_json_error(v));
    CHECK_TEXT(allm_json_text(allm_json_get(v, "content"), NULL),
               "a\xEF\xBF\xBD\x01z");
    allm_json_free(v);
    allm_text_free(t);
    allm_message_free(m);
}

static void passes_on_what_is_refused(void)
{
    check_row("a message without role");
    allm_message *m = allm_message_from_text(ALLM_ROLE_NONE, "x");
    allm_text *t = allm_message_json(m, ALLM_FORM_TAGGED);
    CHECK_ALWAYS(!allm_text_bytes(t, NULL));
    CHECK_ALWAYS(allm_text_error(t) != NULL);
    CHECK_INT(kind_of(allm_text_error(t)), ALLM_ERR_MISUSE);
    allm_text_free(t);
    allm_message_free(m);

    check_row("a struct without size");
    allm_usage sizeless = { 0 };
    t = allm_usage_json(&sizeless, ALLM_FORM_TAGGED);
    CHECK_ALWAYS(!allm_text_bytes(t, NULL));
    CHECK_INT(kind_of(allm_text_error(t)), ALLM_ERR_MISUSE);
    allm_text_free(t);

    check_row("NULL");
    CHECK_ALWAYS(!allm_message_json(NULL, ALLM_FORM_TAGGED));
    CHECK_ALWAYS(!allm_thread_json(NULL, ALLM_FORM_PLAIN));
}

/* ---------------------------------------------------------- the encoder --- */

static void tells_lack_of_memory_at_the_end(void)
{
    struct encoder e;
    if (!encode_begin(&e, mem_default(), ALLM_FORM_PLAIN))
        return;
    emit_open(&e.emit, '[');
    encode_text(&e, "a");
    encode_text(&e, NULL);
    encode_value(&e, &thread_shape, NULL);
    emit_close(&e.emit, ']');
    CHECK_JSON(encode_finish(&e), "[\"a\",null,null]");
}

/* The length is guessed: neither does the text move as it grows, nor is much
 * more taken than needed. */
static void takes_room_once(void)
{
    allm_thread *t = allm_thread_new(NULL);
    for (int i = 0; i < 300; i++)
        allm_thread_add(t, ALLM_ROLE_USER, "three hundred times the same text");
    size_t before = check_allocations(), bytes = check_live_bytes();
    allm_text *text = allm_thread_json(t, ALLM_FORM_TAGGED);
    CHECK(check_allocations() - before <= 3);
    CHECK(check_live_bytes() - bytes < 3 * text_slice(text).len);
    allm_text_free(text);
    allm_thread_free(t);
}

/* One large message among many must not make us ask for the impossible. */
static void guesses_within_reason(void)
{
    enum { LARGE = 1 << 20 };
    char *large = malloc(LARGE + 1);
    CHECK_ALWAYS(large != NULL);
    memset(large, 'x', LARGE);
    large[LARGE] = '\0';
    allm_thread *t = allm_thread_new(NULL);
    allm_thread_add(t, ALLM_ROLE_USER, large);
    for (int i = 0; i < 999; i++)
        allm_thread_add(t, ALLM_ROLE_USER, "x");
    size_t bytes = check_live_bytes();
    allm_text *text = allm_thread_json(t, ALLM_FORM_TAGGED);
    CHECK(text_slice(text).len > LARGE);
    CHECK(check_live_bytes() - bytes < 40 * LARGE);
    allm_text_free(text);
    allm_thread_free(t);
    free(large);
}

static void writes_the_same_bytes_again(void)
{
    allm_thread *t = allm_thread_new(NULL);
    for (int i = 0; i < 20; i++)
        allm_thread_add(t, ALLM_ROLE_USER, "again");
    allm_text *one = allm_thread_json(t, ALLM_FORM_TAGGED);
    allm_text *two = allm_thread_json(t, ALLM_FORM_TAGGED);
    CHECK_SLICE(text_slice(one), text_slice(two));
    allm_text_free(one);
    allm_text_free(two);
    allm_thread_free(t);
}

TESTS = {
    TEST(writes_every_member),
    TEST(writes_a_message),
    TEST(writes_a_struct_of_the_caller),
    TEST(writes_parts),
    TEST(writes_the_metadata_of_an_image),
    TEST(writes_a_session),
    TEST(writes_an_error_with_entries),
    TEST(writes_an_error_into_the_metadata_once),
    TEST(writes_the_calls_of_a_message_into_its_metadata),
    TEST(refuses_to_write_a_function),
    TEST(writes_numbers_that_json_has),
    TEST(writes_json_whatever_the_text),
    TEST(passes_on_what_is_refused),
    TEST(tells_lack_of_memory_at_the_end),
    TEST_ONCE(takes_room_once),
    TEST_ONCE(guesses_within_reason),
    TEST(writes_the_same_bytes_again),
    TESTS_END,
};
