/*
 * test_validate.c - every rule, its path and reason, in order
 *
 * The same rules are entered by two doors: structs, and JSON that may hold
 * what a struct cannot.
 */
#include "data/validate.h"

#include "base/buf.h"
#include "base/status.h"
#include "harness/noun.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The pairs of a verdict, [] if there is none; frees it.  Its message counts
 * them. */
static void check_verdict(allm_error *e, const char *reason, const char *pairs)
{
    if (!strcmp(pairs, "[]")) {
        CHECK_WELL(e);
    } else {
        char text[128];
        size_t n = allm_json_count(GET(e, errors));
        snprintf(text, sizeof text, "validation failed: %s (%zu error(s))",
                 reason, n);
        CHECK_ERROR(e, ALLM_ERR_VALIDATION, reason, text);
        CHECK_VALUE(GET(e, errors), pairs);
    }
    allm_error_free(e);
}

struct row {
    const char *why, *json, *pairs;
};

/* Rows through the JSON door: as they are, and inside an envelope. */
static void check_rows(const char *type, const char *tag, const char *reason,
                       const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        check_row(rows[i].why);
        allm_json *v = noun_json(rows[i].json);
        check_verdict(v ? allm_validate_json(type, v) : NULL, reason,
                      rows[i].pairs);
        allm_json_free(v);

        char tagged[1024];
        snprintf(tagged, sizeof tagged, "{'__type__':'%s','data':%s}", tag,
                 rows[i].json);
        v = noun_json(tagged);
        check_verdict(v ? allm_validate_json(type, v) : NULL, reason,
                      rows[i].pairs);
        allm_json_free(v);
    }
}

#define ROWS(type, tag, rows) \
    check_rows(type, "ALLM." tag, "invalid_" type, rows, \
               sizeof(rows) / sizeof *(rows))

/* ------------------------------------------------------------- messages --- */

static const struct row message_rows[] = {
    { "a user", "{'role':'user','content':'hi'}", "[]" },
    { "a system", "{'role':'system','content':'hi'}", "[]" },
    { "an assistant", "{'role':'assistant','content':'hi'}", "[]" },
    { "the empty text", "{'role':'user','content':''}", "[]" },
    { "the empty list", "{'role':'user','content':[]}", "[]" },
    { "a tool with its id", "{'role':'tool','content':'ok','tool_call_id':'c'}",
      "[]" },
    { "an empty id passes", "{'role':'tool','content':'ok','tool_call_id':''}",
      "[]" },
    { "a tool without", "{'role':'tool','content':'ok'}",
      "[['tool_call_id','required']]" },
    { "a tool with null", "{'role':'tool','content':'ok','tool_call_id':null}",
      "[['tool_call_id','required']]" },
    { "an id of another type is not null",
      "{'role':'tool','content':'ok','tool_call_id':42}", "[]" },
    { "only tools need an id", "{'role':'user','content':'x'}", "[]" },
    { "an unknown role", "{'role':'bogus','content':'hi'}",
      "[['role','unknown']]" },
    { "a role in upper case", "{'role':'USER','content':'hi'}",
      "[['role','unknown']]" },
    { "a role of another type", "{'role':1,'content':'hi'}",
      "[['role','unknown']]" },
    { "a null role", "{'role':null,'content':'hi'}", "[['role','unknown']]" },
    { "no role", "{'content':'hi'}", "[['role','unknown']]" },
    { "a number as content", "{'role':'user','content':42}",
      "[['content','invalid_type']]" },
    { "a map as content", "{'role':'user','content':{'ok':true}}",
      "[['content','invalid_type']]" },
    { "null as content", "{'role':'user','content':null}",
      "[['content','invalid_type']]" },
    { "no content", "{'role':'user'}", "[['content','invalid_type']]" },
    { "two raw parts, one fault", "{'role':'user','content':[{'a':1},7]}",
      "[['content','invalid_part_type']]" },
    { "a raw part among good ones",
      "{'role':'user','content':[{'__type__':'ALLM.TextPart','data':"
      "{'text':'a'}},'raw']}",
      "[['content','invalid_part_type']]" },
    { "good parts",
      "{'role':'user','content':[{'__type__':'ALLM.TextPart','data':"
      "{'text':'a'}},{'__type__':'ALLM.ImagePart','data':{'image':"
      "{'__type__':'ALLM.Image','data':{'source':{'type':'url',"
      "'value':'u'}}}}}]}",
      "[]" },
    { "role and content", "{'role':'x','content':7}",
      "[['role','unknown'],['content','invalid_type']]" },
    { "content and id", "{'role':'tool'}",
      "[['content','invalid_type'],['tool_call_id','required']]" },
    { "nothing at all", "{}",
      "[['role','unknown'],['content','invalid_type']]" },
};

static void messages_as_json(void)
{
    ROWS("message", "Message", message_rows);
}

static void plain_parts_are_parts(void)
{
    allm_json *v = noun_json("{'role':'user','content':[{'type':'text',"
                             "'text':'a'}]}");
    check_verdict(v ? allm_validate_json("message", v) : NULL,
                  "invalid_message", "[]");
    allm_json_free(v);
    /* but in a document that bears tags they are raw maps */
    v = noun_json("{'__type__':'ALLM.Message','data':{'role':'user',"
                  "'content':[{'type':'text','text':'a'}]}}");
    check_verdict(v ? allm_validate_json("message", v) : NULL,
                  "invalid_message", "[['content','invalid_part_type']]");
    allm_json_free(v);
}

static void messages_as_structs(void)
{
    static const allm_part odd = { .size = sizeof odd,
                                   .kind = (allm_part_kind)9 };
    static const allm_part fine = { .size = sizeof fine, .text = "x",
                                    .kind = ALLM_PART_TEXT };
    const allm_part *parts[] = { &fine, &odd }, *none = NULL;
    const struct {
        const char *why;
        allm_message given;
        const char *pairs;
    } rows[] = {
        { "well", { .role = ALLM_ROLE_USER, .text = "hi" }, "[]" },
        { "empty text", { .role = ALLM_ROLE_USER, .text = "" }, "[]" },
        { "empty list", { .role = ALLM_ROLE_USER, .parts = &none }, "[]" },
        { "parts", { .role = ALLM_ROLE_USER, .parts = parts, .part_count = 1 },
          "[]" },
        { "no role", { .text = "hi" }, "[['role','unknown']]" },
        { "beyond the last", { .role = (allm_role)5, .text = "hi" },
          "[['role','unknown']]" },
        { "below the first", { .role = (allm_role)-1, .text = "hi" },
          "[['role','unknown']]" },
        { "no content", { .role = ALLM_ROLE_USER },
          "[['content','invalid_type']]" },
        { "an odd part", { .role = ALLM_ROLE_USER, .parts = parts,
                           .part_count = 2 },
          "[['content','invalid_part_type']]" },
        { "a tool", { .role = ALLM_ROLE_TOOL, .text = "ok" },
          "[['tool_call_id','required']]" },
        { "a tool with its id",
          { .role = ALLM_ROLE_TOOL, .text = "ok", .tool_call_id = "" },
          "[]" },
        { "all", { .role = ALLM_ROLE_TOOL },
          "[['content','invalid_type'],['tool_call_id','required']]" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_message given = rows[i].given;
        given.size = sizeof given;
        check_verdict(allm_validate_message(&given), "invalid_message",
                      rows[i].pairs);
    }
}

/* ---------------------------------------------------------------- tools --- */

#define X64 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define TOOL(name) "{'name':" name ",'description':'d','schema':{}}"

static const struct row tool_rows[] = {
    { "well", TOOL("'weather'"), "[]" },
    { "all the letters", TOOL("'azAZ09_-'"), "[]" },
    { "one letter", TOOL("'a'"), "[]" },
    { "64 letters", TOOL("'" X64 "'"), "[]" },
    { "65 letters", TOOL("'" X64 "x'"), "[['name','invalid_format']]" },
    { "empty", TOOL("''"), "[['name','empty']]" },
    { "auto", TOOL("'auto'"), "[['name','reserved_tool_name']]" },
    { "none", TOOL("'none'"), "[['name','reserved_tool_name']]" },
    { "required", TOOL("'required'"), "[['name','reserved_tool_name']]" },
    { "Auto is not reserved", TOOL("'Auto'"), "[]" },
    { "a space", TOOL("'a b'"), "[['name','invalid_format']]" },
    { "a dot", TOOL("'a.b'"), "[['name','invalid_format']]" },
    { "a line end", TOOL("'a\\n'"), "[['name','invalid_format']]" },
    { "an umlaut", TOOL("'\xC3\xA4'"), "[['name','invalid_format']]" },
    { "a NUL", TOOL("'a\\u0000'"), "[['name','invalid_format']]" },
    { "not a text", TOOL("42"), "[['name','invalid_format']]" },
    { "null", TOOL("null"), "[['name','invalid_format']]" },
    { "no description", "{'name':'n','schema':{}}",
      "[['description','not_a_string']]" },
    { "a number", "{'name':'n','description':7,'schema':{}}",
      "[['description','not_a_string']]" },
    { "the empty description", "{'name':'n','description':'','schema':{}}",
      "[]" },
    { "no schema", "{'name':'n','description':'d'}",
      "[['schema','not_a_map']]" },
    { "a null schema", "{'name':'n','description':'d','schema':null}",
      "[['schema','not_a_map']]" },
    { "a list as schema", "{'name':'n','description':'d','schema':[]}",
      "[['schema','not_a_map']]" },
    { "a text as schema", "{'name':'n','description':'d','schema':'x'}",
      "[['schema','not_a_map']]" },
    { "a summary", "{'name':'n','description':'d','schema':{},'summary':'s'}",
      "[]" },
    { "not a text", "{'name':'n','description':'d','schema':{},'summary':1}",
      "[['summary','not_a_string']]" },
    { "manual that is no boolean",
      "{'name':'a','description':'','schema':{},'manual':'yes'}",
      "[['manual','not_a_boolean']]" },
    { "compact that is no boolean",
      "{'name':'a','description':'','schema':{},'compact':1}",
      "[['compact','not_a_boolean']]" },
    { "all of it", "{'name':'','description':1,'schema':2,'summary':3}",
      "[['name','empty'],['description','not_a_string'],"
      "['schema','not_a_map'],['summary','not_a_string']]" },
};

static void tools_as_json(void)
{
    ROWS("tool", "Tool", tool_rows);
}

static void tools_as_structs(void)
{
    static const struct {
        const char *why;
        allm_tool given;
        const char *pairs;
    } rows[] = {
        { "well", { .name = "n", .description = "d", .schema_text = "{}" },
          "[]" },
        { "empty", { .name = "", .description = "d", .schema_text = "{}" },
          "[['name','empty']]" },
        { "nothing", { .name = NULL },
          "[['name','invalid_format'],['description','not_a_string'],"
          "['schema','not_a_map']]" },
        { "a schema that is no map",
          { .name = "n", .description = "d", .schema_text = "[1]" },
          "[['schema','not_a_map']]" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_tool given = rows[i].given;
        given.size = sizeof given;
        check_verdict(allm_validate_tool(&given), "invalid_tool",
                      rows[i].pairs);
    }
}

/* ------------------------------------------------------------- requests --- */

#define HI "'messages':[{'role':'user','content':'hi'}]"

static const struct row request_rows[] = {
    { "well", "{" HI "}", "[]" },
    { "no messages", "{'messages':[]}", "[['messages','empty']]" },
    { "absent", "{}", "[['messages','empty']]" },
    { "null", "{'messages':null}", "[['messages','empty']]" },
    { "a text", "{'messages':'x'}", "[['messages','invalid_type']]" },
    { "a map", "{'messages':{}}", "[['messages','invalid_type']]" },
    { "the second message",
      "{'messages':[{'role':'user','content':'a'},{'role':'bogus',"
      "'content':'b'}]}",
      "[[['messages',1,'role'],'unknown']]" },
    { "each message",
      "{'messages':[{'role':'tool','content':1},{'content':'a'}]}",
      "[[['messages',0,'content'],'invalid_type'],"
      "[['messages',0,'tool_call_id'],'required'],"
      "[['messages',1,'role'],'unknown']]" },
    { "tools", "{" HI ",'tools':[" TOOL("'a'") "," TOOL("'b'") "]}", "[]" },
    { "the second tool",
      "{" HI ",'tools':[" TOOL("'a'") "," TOOL("7") "]}",
      "[[['tools',1,'name'],'invalid_format']]" },
    { "two of a name",
      "{" HI ",'tools':[" TOOL("'a'") "," TOOL("'b'") "," TOOL("'a'") "]}",
      "[['tools','duplicate_name']]" },
    { "three of a name are one fault",
      "{" HI ",'tools':[" TOOL("'a'") "," TOOL("'a'") "," TOOL("'a'") "]}",
      "[['tools','duplicate_name']]" },
    { "names that are no texts do not repeat",
      "{" HI ",'tools':[" TOOL("7") "," TOOL("7") "]}",
      "[[['tools',0,'name'],'invalid_format'],"
      "[['tools',1,'name'],'invalid_format']]" },
    { "tools are a list", "{" HI ",'tools':'x'}",
      "[['tools','invalid_type']]" },
    { "temperature 0", "{" HI ",'temperature':0.0}", "[]" },
    { "temperature 2", "{" HI ",'temperature':2.0}", "[]" },
    { "as integers", "{" HI ",'temperature':2}", "[]" },
    { "null", "{" HI ",'temperature':null}", "[]" },
    { "just below", "{" HI ",'temperature':-0.0001}",
      "[['temperature','out_of_range']]" },
    { "just above", "{" HI ",'temperature':2.0001}",
      "[['temperature','out_of_range']]" },
    { "hot", "{" HI ",'temperature':'hot'}",
      "[['temperature','out_of_range']]" },
    { "true", "{" HI ",'temperature':true}",
      "[['temperature','out_of_range']]" },
    { "beyond all numbers", "{" HI ",'temperature':1e999}",
      "[['temperature','out_of_range']]" },
    { "max_tokens 1", "{" HI ",'max_tokens':1}", "[]" },
    { "max_tokens 0", "{" HI ",'max_tokens':0}",
      "[['max_tokens','must_be_positive']]" },
    { "below", "{" HI ",'max_tokens':-5}",
      "[['max_tokens','must_be_positive']]" },
    { "a fraction", "{" HI ",'max_tokens':1.5}",
      "[['max_tokens','must_be_positive']]" },
    { "a text", "{" HI ",'max_tokens':'10'}",
      "[['max_tokens','must_be_positive']]" },
    { "beyond all integers", "{" HI ",'max_tokens':99999999999999999999}",
      "[['max_tokens','must_be_positive']]" },
    { "format null", "{" HI ",'response_format':null}", "[]" },
    { "format text", "{" HI ",'response_format':'text'}", "[]" },
    { "a map without a type", "{" HI ",'response_format':{'grammar':'x'}}",
      "[]" },
    { "a type of null", "{" HI ",'response_format':{'type':null}}", "[]" },
    { "a type of ours", "{" HI ",'response_format':{'type':'text'}}", "[]" },
    { "another type", "{" HI ",'response_format':{'type':'grammar'}}",
      "[['response_format','invalid_shape']]" },
    { "a type that is no text", "{" HI ",'response_format':{'type':7}}",
      "[['response_format','invalid_shape']]" },
    { "the empty map", "{" HI ",'response_format':{}}", "[]" },
    { "another word", "{" HI ",'response_format':'json'}",
      "[['response_format','invalid_shape']]" },
    { "a number", "{" HI ",'response_format':42}",
      "[['response_format','invalid_shape']]" },
    { "a list", "{" HI ",'response_format':[]}",
      "[['response_format','invalid_shape']]" },
    { "finalize a schema", "{" HI ",'structured_finalize':true,"
      "'response_format':{'type':'json_schema'}}", "[]" },
    { "finalize nothing", "{" HI ",'structured_finalize':true}",
      "[['structured_finalize','requires_json_schema']]" },
    { "finalize text", "{" HI ",'structured_finalize':true,"
      "'response_format':'text'}",
      "[['structured_finalize','requires_json_schema']]" },
    { "finalize an object", "{" HI ",'structured_finalize':true,"
      "'response_format':{'type':'json_object'}}",
      "[['structured_finalize','requires_json_schema']]" },
    { "false needs nothing", "{" HI ",'structured_finalize':false}", "[]" },
    { "all at once, in order of the rules, not of the document",
      "{'structured_finalize':true,'response_format':7,'max_tokens':0,"
      "'temperature':9,'tools':[" TOOL("''") "," TOOL("''") "],"
      "'messages':[{'role':'user','content':7}]}",
      "[[['messages',0,'content'],'invalid_type'],"
      "[['tools',0,'name'],'empty'],[['tools',1,'name'],'empty'],"
      "['tools','duplicate_name'],['temperature','out_of_range'],"
      "['max_tokens','must_be_positive'],"
      "['response_format','invalid_shape'],"
      "['structured_finalize','requires_json_schema']]" },
    { "all but the messages",
      "{'structured_finalize':true,'response_format':7,'max_tokens':0,"
      "'temperature':9,'messages':[]}",
      "[['messages','empty'],['temperature','out_of_range'],"
      "['max_tokens','must_be_positive'],"
      "['response_format','invalid_shape'],"
      "['structured_finalize','requires_json_schema']]" },
};

static void requests_as_json(void)
{
    ROWS("request", "Request", request_rows);
}

static void requests_as_structs(void)
{
    const allm_message *hi = ALLM(message, .role = ALLM_ROLE_USER,
                                  .text = "hi");
    const allm_message *odd[] = { hi, ALLM(message, .text = "x") };
    const allm_tool *a = ALLM(tool, .name = "a", .description = "d",
                              .schema_text = "{}");
    const allm_tool *twice[] = { a, a };
    allm_json *list = noun_json("[]"), *text = noun_json("'text'");
    allm_json *word = noun_json("'json'");
    allm_json *schema = noun_json("{'type':'json_schema'}");
    const struct {
        const char *why;
        allm_request given;
        const char *pairs;
    } rows[] = {
        { "well", { .model = "x" }, "[]" },
        { "0.0", { .temperature = ALLM_NUM(0.0) }, "[]" },
        { "2.0", { .temperature = ALLM_NUM(2.0) }, "[]" },
        { "above", { .temperature = ALLM_NUM(2.5) },
          "[['temperature','out_of_range']]" },
        { "below", { .temperature = ALLM_NUM(-0.5) },
          "[['temperature','out_of_range']]" },
        { "not a number", { .temperature = ALLM_NUM((double)NAN) },
          "[['temperature','out_of_range']]" },
        { "infinite", { .temperature = ALLM_NUM((double)INFINITY) },
          "[['temperature','out_of_range']]" },
        { "not set, whatever it says", { .temperature = { 9, false } }, "[]" },
        { "1", { .max_tokens = ALLM_NUM(1) }, "[]" },
        { "0", { .max_tokens = ALLM_NUM(0) },
          "[['max_tokens','must_be_positive']]" },
        { "-1", { .max_tokens = ALLM_NUM(-1) },
          "[['max_tokens','must_be_positive']]" },
        { "text", { .response_format = text }, "[]" },
        { "a schema", { .response_format = schema }, "[]" },
        { "another word", { .response_format = word },
          "[['response_format','invalid_shape']]" },
        { "a list", { .response_format = list },
          "[['response_format','invalid_shape']]" },
        { "finalize a schema",
          { .structured_finalize = 1, .response_format = schema }, "[]" },
        { "finalize nothing", { .structured_finalize = 1 },
          "[['structured_finalize','requires_json_schema']]" },
        { "a bad message", { .messages = odd, .message_count = 2 },
          "[[['messages',1,'role'],'unknown']]" },
        { "twice", { .tools = twice, .tool_count = 2 },
          "[['tools','duplicate_name']]" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_request given = rows[i].given;
        given.size = sizeof given;
        if (!given.messages) {
            given.messages = &hi;
            given.message_count = 1;
        }
        check_verdict(allm_validate_request(&given), "invalid_request",
                      rows[i].pairs);
        allm_request *ours = allm_request_new(&given);
        check_verdict(allm_validate_request(ours), "invalid_request",
                      rows[i].pairs);
        allm_request_free(ours);
    }
    check_verdict(allm_validate_request(ALLM(request, .model = "x")),
                  "invalid_request", "[['messages','empty']]");
    allm_json_free(list);
    allm_json_free(text);
    allm_json_free(word);
    allm_json_free(schema);
}

/* ---------------------------------------------------- threads, sessions --- */

static const struct row thread_rows[] = {
    { "empty", "{'messages':[]}", "[]" },
    { "nothing", "{}", "[]" },
    { "well", "{" HI "}", "[]" },
    { "a role", "{'messages':[{'role':'bogus','content':'x'}]}",
      "[[['messages',0,'role'],'unknown']]" },
    { "the third", "{'messages':[{'role':'user','content':'x'},"
      "{'role':'user','content':'x'},{'role':'tool','content':'x'}]}",
      "[[['messages',2,'tool_call_id'],'required']]" },
    { "not a list", "{'messages':'x'}", "[['messages','invalid_type']]" },
};

static void threads_as_json(void)
{
    ROWS("thread", "Thread", thread_rows);
}

static void threads_as_handles(void)
{
    allm_thread *t = allm_thread_new(NULL);
    check_verdict(allm_validate_thread(t), "invalid_thread", "[]");
    allm_thread_add(t, ALLM_ROLE_USER, "x");
    check_verdict(allm_validate_thread(t), "invalid_thread", "[]");
    allm_thread_append(t, ALLM(message, .role = (allm_role)77, .text = "x"));
    allm_thread_append(t, ALLM(message, .role = ALLM_ROLE_TOOL, .text = "x"));
    check_verdict(allm_validate_thread(t), "invalid_thread",
                  "[[['messages',1,'role'],'unknown'],"
                  "[['messages',2,'tool_call_id'],'required']]");
    allm_thread_free(t);
}

static void a_thread_that_was_read_remembers_what_was_odd(void)
{
    static const char text[] = "{\"messages\":7}";
    allm_codec *c = allm_codec_decode(text, sizeof text - 1, "Thread", NULL);
    const allm_thread *t = allm_codec_value(c, ALLM_TYPE_THREAD);
    check_verdict(t ? allm_validate_thread(t) : NULL, "invalid_thread",
                  "[['messages','invalid_type']]");
    allm_codec_free(c);
}

#define ERR "{'__type__':'ALLM.Error.ToolError','data':{'reason':'denied'}}"

static const struct row session_rows[] = {
    { "by default", "{}", "[]" },
    { "idle", "{'status':'idle'}", "[]" },
    { "completed", "{'status':'completed'}", "[]" },
    { "null is idle", "{'status':null}", "[]" },
    { "unknown", "{'status':'asleep'}", "[['status','unknown']]" },
    { "not a word", "{'status':3}", "[['status','unknown']]" },
    { "a question", "{'status':'awaiting_user','pending_question':'q'}",
      "[]" },
    { "the empty question", "{'status':'awaiting_user',"
      "'pending_question':''}", "[]" },
    { "no question", "{'status':'awaiting_user'}",
      "[['pending_question','required_for_status']]" },
    { "a null question", "{'status':'awaiting_user',"
      "'pending_question':null}",
      "[['pending_question','required_for_status']]" },
    { "calls", "{'status':'awaiting_tools','pending_tool_calls':"
      "[{'__type__':'ALLM.ToolCall','data':{'id':'c','name':'n',"
      "'arguments':{}}}]}", "[]" },
    { "no calls", "{'status':'awaiting_tools'}",
      "[['pending_tool_calls','required_for_status']]" },
    { "an empty list of calls", "{'status':'awaiting_tools',"
      "'pending_tool_calls':[]}",
      "[['pending_tool_calls','required_for_status']]" },
    { "calls that are none", "{'status':'awaiting_tools',"
      "'pending_tool_calls':'x'}",
      "[['pending_tool_calls','required_for_status']]" },
    { "an error", "{'status':'error','metadata':{'error':" ERR "}}", "[]" },
    { "any error", "{'status':'error','metadata':{'error':{'a':1}}}", "[]" },
    { "even a text", "{'status':'error','metadata':{'error':'x'}}", "[]" },
    { "no error", "{'status':'error'}",
      "[['metadata','error_required_for_status']]" },
    { "a null error", "{'status':'error','metadata':{'error':null}}",
      "[['metadata','error_required_for_status']]" },
    { "metadata that is no map", "{'status':'error','metadata':7}",
      "[['metadata','error_required_for_status']]" },
    { "a message inside", "{'thread':{'messages':[{'role':'tool',"
      "'content':'x'}]}}",
      "[[['thread','messages',0,'tool_call_id'],'required']]" },
    { "with tags inside", "{'thread':{'__type__':'ALLM.Thread','data':"
      "{'messages':[{'__type__':'ALLM.Message','data':{'role':'x',"
      "'content':'y'}}]}}}",
      "[[['thread','messages',0,'role'],'unknown']]" },
    { "no list inside", "{'thread':{'messages':'x'}}",
      "[[['thread','messages'],'invalid_type']]" },
    { "no thread", "{'thread':'x'}", "[['thread','invalid_type']]" },
    { "a null thread is an empty one", "{'thread':null}", "[]" },
    { "status, then thread", "{'thread':{'messages':[{'content':'x'}]},"
      "'status':'awaiting_user'}",
      "[['pending_question','required_for_status'],"
      "[['thread','messages',0,'role'],'unknown']]" },
    { "an unknown status has no other rule",
      "{'status':'x','thread':{'messages':[{'content':'x'}]}}",
      "[['status','unknown'],[['thread','messages',0,'role'],'unknown']]" },
};

static void sessions_as_json(void)
{
    ROWS("session", "Session", session_rows);
}

static void sessions_as_structs(void)
{
    allm_thread *bad = allm_thread_new(NULL);
    allm_thread_append(bad, ALLM(message, .role = ALLM_ROLE_TOOL, .text = "x"));
    allm_json *args = noun_json("{}"), *error = noun_json("{'error':'x'}");
    const allm_tool_call *call = ALLM(tool_call, .id = "c", .name = "n",
                                      .arguments = args);
    const allm_error *denied = ALLM(error, .kind = ALLM_ERR_TOOL,
                                    .reason = "denied");
    const struct {
        const char *why;
        allm_session_record given;
        const char *pairs;
    } rows[] = {
        { "by default", { .id = "x" }, "[]" },
        { "completed", { .status = ALLM_SESSION_COMPLETED }, "[]" },
        { "unknown", { .status = (allm_session_status)5 },
          "[['status','unknown']]" },
        { "below", { .status = (allm_session_status)-1 },
          "[['status','unknown']]" },
        { "no question", { .status = ALLM_SESSION_AWAITING_USER },
          "[['pending_question','required_for_status']]" },
        { "a question",
          { .status = ALLM_SESSION_AWAITING_USER, .pending_question = "" },
          "[]" },
        { "no calls", { .status = ALLM_SESSION_AWAITING_TOOLS },
          "[['pending_tool_calls','required_for_status']]" },
        { "calls",
          { .status = ALLM_SESSION_AWAITING_TOOLS, .pending_tool_calls = &call,
            .pending_tool_call_count = 1 },
          "[]" },
        { "no error", { .status = ALLM_SESSION_ERROR },
          "[['metadata','error_required_for_status']]" },
        { "an error", { .status = ALLM_SESSION_ERROR, .error = denied },
          "[]" },
        { "in the metadata",
          { .status = ALLM_SESSION_ERROR, .metadata = error }, "[]" },
        { "a thread",
          { .status = ALLM_SESSION_AWAITING_USER, .thread = bad },
          "[['pending_question','required_for_status'],"
          "[['thread','messages',0,'tool_call_id'],'required']]" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_session_record given = rows[i].given;
        given.size = sizeof given;
        check_verdict(allm_validate_session(&given), "invalid_session",
                      rows[i].pairs);
    }
    allm_thread_free(bad);
    allm_json_free(args);
    allm_json_free(error);
}

/* ------------------------------------------------------- image requests --- */

#define IMG "{'__type__':'ALLM.Image','data':{'source':{'type':'url'," \
            "'value':'u'}}}"

static const struct row image_rows[] = {
    { "well", "{'prompt':'a kestrel'}", "[]" },
    { "no prompt", "{}", "[['prompt','required_for_operation']]" },
    { "a null prompt", "{'prompt':null}",
      "[['prompt','required_for_operation']]" },
    { "a prompt of another type", "{'prompt':7}",
      "[['prompt','required_for_operation']]" },
    { "unknown operation", "{'operation':'paint','prompt':'x'}",
      "[['operation','unknown']]" },
    { "not a word", "{'operation':7}", "[['operation','unknown']]" },
    { "n 1", "{'prompt':'x','n':1}", "[]" },
    { "n 0", "{'prompt':'x','n':0}", "[['n','must_be_positive']]" },
    { "n a text", "{'prompt':'x','n':'2'}", "[['n','must_be_positive']]" },
    { "format url", "{'prompt':'x','response_format':'url'}", "[]" },
    { "another", "{'prompt':'x','response_format':'tiff'}",
      "[['response_format','invalid_shape']]" },
    { "size auto", "{'prompt':'x','size':'auto'}", "[]" },
    { "size a pair", "{'prompt':'x','size':[1024,512]}", "[]" },
    { "of three", "{'prompt':'x','size':[1,2,3]}",
      "[['size','invalid_shape']]" },
    { "of texts", "{'prompt':'x','size':['a','b']}",
      "[['size','invalid_shape']]" },
    { "of nothing", "{'prompt':'x','size':[0,512]}",
      "[['size','invalid_shape']]" },
    { "of little", "{'prompt':'x','size':[1,0]}",
      "[['size','invalid_shape']]" },
    { "a number", "{'prompt':'x','size':512}", "[['size','invalid_shape']]" },
    { "generate takes no image", "{'prompt':'x','input_images':[" IMG "]}",
      "[['input_images','not_allowed_for_operation']]" },
    { "generate takes no mask", "{'prompt':'x','mask':" IMG "}",
      "[['mask','not_allowed_for_operation']]" },
    { "edit", "{'operation':'edit','prompt':'x','input_images':[" IMG "],"
      "'mask':" IMG "}", "[]" },
    { "edit two", "{'operation':'edit','prompt':'x','input_images':[" IMG ","
      IMG "]}", "[]" },
    { "edit three", "{'operation':'edit','prompt':'x','input_images':[" IMG
      "," IMG "," IMG "]}", "[['input_images','too_many']]" },
    { "edit nothing", "{'operation':'edit'}",
      "[['prompt','required_for_operation'],"
      "['input_images','required_for_operation']]" },
    { "variation", "{'operation':'variation','input_images':[" IMG "]}",
      "[]" },
    { "variation of nothing", "{'operation':'variation'}",
      "[['input_images','required_for_operation']]" },
    { "variation of two", "{'operation':'variation','input_images':[" IMG ","
      IMG "]}", "[['input_images','too_many']]" },
    { "variation with a prompt", "{'operation':'variation','prompt':'x',"
      "'input_images':[" IMG "]}",
      "[['prompt','not_allowed_for_operation']]" },
    { "images that are none", "{'operation':'edit','prompt':'x',"
      "'input_images':'x'}", "[['input_images','invalid_type']]" },
    { "a mask that is none", "{'operation':'edit','prompt':'x',"
      "'input_images':[" IMG "],'mask':'x'}", "[['mask','invalid_type']]" },
    { "several, in order", "{'n':0,'response_format':'x','size':1}",
      "[['n','must_be_positive'],['response_format','invalid_shape'],"
      "['size','invalid_shape'],['prompt','required_for_operation']]" },
};

static void image_requests_as_json(void)
{
    ROWS("image_request", "ImageRequest", image_rows);
}

static void image_requests_as_structs(void)
{
    const allm_image *image = ALLM(image, .source = ALLM_IMAGE_URL,
                                   .data = "u");
    const struct {
        const char *why;
        allm_image_request given;
        const char *pairs;
    } rows[] = {
        { "well", { .prompt = "a kestrel" }, "[]" },
        { "a watercolor",
          { .prompt = "a watercolor kestrel", .model = "gpt-image-1",
            .width = ALLM_NUM(1024), .height = ALLM_NUM(1024),
            .n = ALLM_NUM(2) },
          "[]" },
        { "no prompt", { .model = "x" },
          "[['prompt','required_for_operation']]" },
        { "unknown", { .operation = (allm_image_operation)3 },
          "[['operation','unknown']]" },
        { "below", { .operation = (allm_image_operation)-1 },
          "[['operation','unknown']]" },
        { "format", { .prompt = "x", .response_format = (allm_image_format)3 },
          "[['response_format','invalid_shape']]" },
        { "n", { .prompt = "x", .n = ALLM_NUM(0) },
          "[['n','must_be_positive']]" },
        { "half a size", { .prompt = "x", .width = ALLM_NUM(5) },
          "[['size','invalid_shape']]" },
        { "edit",
          { .operation = ALLM_IMAGE_OP_EDIT, .prompt = "x",
            .input_images = &image, .input_image_count = 1, .mask = image },
          "[]" },
        { "variation",
          { .operation = ALLM_IMAGE_OP_VARIATION, .input_images = &image,
            .input_image_count = 1 },
          "[]" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_image_request given = rows[i].given;
        given.size = sizeof given;
        check_verdict(allm_validate_image_request(&given),
                      "invalid_image_request", rows[i].pairs);
    }
}

/* ---------------------------------------------------------------- doors --- */

static void what_is_no_object_is_a_fault(void)
{
    static const struct {
        const char *type, *json, *reason, *pairs;
    } rows[] = {
        { "request", "42", "invalid_request", "[['request','invalid_type']]" },
        { "message", "[]", "invalid_message", "[['message','invalid_type']]" },
        { "tool", "null", "invalid_tool", "[['tool','invalid_type']]" },
        { "thread", "'x'", "invalid_thread", "[['thread','invalid_type']]" },
        { "session", "{'__type__':'ALLM.Tool','data':{}}", "invalid_session",
          "[['session','invalid_type']]" },
        { "request", "{'messages':[7,{'role':'user','content':''}]}",
          "invalid_request",
          "[[['messages',0,'role'],'unknown'],"
          "[['messages',0,'content'],'invalid_type']]" },
        { "request", "{" HI ",'tools':[null]}", "invalid_request",
          "[[['tools',0,'name'],'invalid_format'],"
          "[['tools',0,'description'],'not_a_string'],"
          "[['tools',0,'schema'],'not_a_map']]" },
        { "image_request", "{'operation':'variation','input_images':['x']}",
          "invalid_image_request", "[['input_images','invalid_type']]" },
        { "message", "{'role':'user','content':[{'type':'image','source':"
          "{'type':'binary','value':'?'}}]}", "invalid_message",
          "[[['content',0,'source'],'invalid_base64']]" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].json);
        allm_json *v = noun_json(rows[i].json);
        check_verdict(v ? allm_validate_json(rows[i].type, v) : NULL,
                      rows[i].reason, rows[i].pairs);
        allm_json_free(v);
    }
}

static void refused(allm_error *e, allm_status kind, const char *reason,
                    const char *words)
{
    CHECK_ALWAYS(e);            /* never considered valid */
    CHECK_ERROR(e, kind, reason, words);
    allm_error_free(e);
}

static void misuse_is_reported(void)
{
    allm_json *v = noun_json("{}");
    allm_json *broken = allm_json_parse("{\"a\":", 5, NULL);
    allm_message *m = allm_message_from_text(ALLM_ROLE_USER, NULL);
    allm_json *list = noun_json("[]");
    allm_thread *t = allm_thread_new(ALLM(thread_opts, .metadata = list));
    if (v && broken && m && t && list) {
        refused(allm_validate_json("usage", v), ALLM_ERR_MISUSE, "unknown_type",
                "allm_validate_json: type must be");
        refused(allm_validate_json(NULL, v), ALLM_ERR_MISUSE, "unknown_type",
                NULL);
        const allm_error *parse = allm_json_error(broken);
        refused(allm_validate_json("tool", broken), ALLM_ERR_VALIDATION,
                parse->reason, parse->message);
        refused(allm_validate_message(m), ALLM_ERR_MISUSE, "missing_field",
                "content is missing");
        refused(allm_validate_thread(t), ALLM_ERR_MISUSE, "invalid_metadata",
                "metadata");
    }
    refused(allm_validate_request(&(allm_request){ .size = 0 }),
            ALLM_ERR_MISUSE, "struct_size", "allm_request");
    refused(allm_validate_tool(&(allm_tool){ .size = 0 }), ALLM_ERR_MISUSE,
            "struct_size", "allm_tool");
    allm_json_free(v);
    allm_json_free(broken);
    allm_json_free(list);
    allm_message_free(m);
    allm_thread_free(t);
}

/* There is always an answer, even without memory. */
static void nothing_is_out_of_memory(void)
{
    allm_error *e[] = {
        allm_validate_request(NULL), allm_validate_message(NULL),
        allm_validate_tool(NULL), allm_validate_thread(NULL),
        allm_validate_session(NULL), allm_validate_image_request(NULL),
        allm_validate_json("request", NULL),
    };
    for (size_t i = 0; i < sizeof e / sizeof *e; i++) {
        CHECK_ALWAYS(e[i] && e[i]->kind == ALLM_ERR_NOMEM);
        allm_error_free(e[i]);
    }
    e[0] = allm_validate_request(ALLM(request, .model = "x"));
    CHECK_ALWAYS(e[0]);         /* never considered valid */
    allm_error_free(e[0]);
}

static void structs_of_other_versions(void)
{
    const allm_message *hi = ALLM(message, .role = ALLM_ROLE_USER,
                                  .text = "hi");
    allm_request full = { .messages = &hi, .message_count = 1,
                          .temperature = ALLM_NUM(9) };
    allm_request *older = noun_sized(&full, sizeof full,
                                     offsetof(allm_request, tools));
    allm_request *newer = noun_sized(&full, sizeof full, sizeof full + 8);
    check_verdict(allm_validate_request(older), "invalid_request", "[]");
    check_verdict(allm_validate_request(newer), "invalid_request",
                  "[['temperature','out_of_range']]");
    free(older);
    free(newer);
}

static void inside_the_house(void)
{
    struct arena a;
    allm_thread *t = allm_thread_new(NULL);
    allm_request *r = allm_request_from_thread(t, NULL);
    arena_init(&a, mem_default());
    if (r && t) {
        const allm_error *e = validate_request(&a, r);
        CHECK_ALWAYS(e);
        CHECK_VALUE(GET(e, errors), "[['messages','empty']]");
        CHECK_WELL(validate_thread(&a, t));
    }
    arena_release(&a);
    allm_request_free(r);
    allm_thread_free(t);
}

/* ------------------------------------------------------------- property --- */

/* The generators of the model: 1 to 5 messages, 0 to 3 tools of different
 * names, and what else a request may have. */
struct generated {
    char text[5][41], name[3][34];
    allm_message message[5];
    allm_tool tool[3];
    const allm_message *messages[5];
    const allm_tool *tools[3];
    allm_request request;
};

static void random_text(struct random r, char *out, size_t most,
                        const char *letters)
{
    size_t n = 1 + random_below(r, most);
    for (size_t i = 0; i < n; i++)
        out[i] = letters[random_below(r, strlen(letters))];
    out[n] = '\0';
}

static void random_request(struct random r, struct generated *g)
{
    static const char printable[] = " !\"#$%&()*+,-./0123456789:;<=>?@ABC"
                                    "DEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghi"
                                    "jklmnopqrstuvwxyz{|}~";
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRS"
                               "TUVWXYZ0123456789_-";
    g->request = (allm_request){ .size = sizeof g->request,
                                 .messages = g->messages,
                                 .tools = g->tools };
    size_t messages = 1 + random_below(r, 5), tools = random_below(r, 4);
    for (size_t i = 0; i < messages; i++) {
        random_text(r, g->text[i], 40, printable);
        g->message[i] = (allm_message){
            .size = sizeof *g->message,
            .role = (allm_role)(ALLM_ROLE_SYSTEM + random_below(r, 3)),
            .text = g->text[i],
        };
        g->messages[i] = &g->message[i];
    }
    for (size_t i = 0; i < tools; i++) {
        g->name[i][0] = (char)('0' + i);    /* so that they differ */
        random_text(r, g->name[i] + 1, 31, word);
        g->tool[i] = (allm_tool){ .size = sizeof *g->tool, .name = g->name[i],
                                  .description = "d", .schema_text = "{}" };
        g->tools[i] = &g->tool[i];
    }
    g->request.message_count = messages;
    g->request.tool_count = tools;
    if (random_below(r, 2))
        g->request.temperature =
            (allm_num){ (double)random_below(r, 2001) / 1000, true };
    if (random_below(r, 2))
        g->request.max_tokens = (allm_int){ 1 + (int64_t)random_below(r, 4096),
                                            true };
}

static void is_valid_by_every_door(const struct generated *g)
{
    allm_request *ours = allm_request_new(&g->request);
    check_verdict(allm_validate_request(&g->request), "", "[]");
    check_verdict(allm_validate_request(ours), "", "[]");
    for (uint32_t form = ALLM_FORM_TAGGED; form <= ALLM_FORM_PLAIN; form++) {
        allm_text *t = allm_request_json(ours, form);
        size_t len;
        const char *json = allm_text_bytes(t, &len);
        allm_json *v = allm_json_parse(json, len, NULL);
        check_verdict(v && json ? allm_validate_json("request", v) : NULL, "",
                      "[]");
        allm_json_free(v);
        allm_text_free(t);
    }
    allm_request_free(ours);
}

/* And with one thing spoiled it is valid no more. */
static void spoil(struct random r, struct generated *g)
{
    switch (random_below(r, 5)) {
    case 0:
        g->message[random_below(r, g->request.message_count)].role =
            ALLM_ROLE_NONE;
        break;
    case 1:
        g->message[random_below(r, g->request.message_count)].text = NULL;
        break;
    case 2:
        g->request.temperature = (allm_num){ 2.001, true };
        break;
    case 3:
        g->request.max_tokens = (allm_int){ 0, true };
        break;
    default:
        g->request.message_count = 0;
    }
}

static void generate(size_t rounds)
{
    struct random r = check_random();
    for (size_t i = 0; i < rounds; i++) {
        struct generated g;
        random_request(r, &g);
        is_valid_by_every_door(&g);
        spoil(r, &g);
        allm_error *e = allm_validate_request(&g.request);
        CHECK_ALWAYS(e);
        CHECK_INT(allm_json_count(GET(e, errors)), 1);
        allm_error_free(e);
    }
}

static void any_generated_request_is_valid(void)
{
    generate(2000);
}

static void a_generated_request_is_valid(void)
{
    generate(1);
}

TESTS = {
    TEST(messages_as_json),
    TEST(plain_parts_are_parts),
    TEST(messages_as_structs),
    TEST(tools_as_json),
    TEST(tools_as_structs),
    TEST(requests_as_json),
    TEST(requests_as_structs),
    TEST(threads_as_json),
    TEST(threads_as_handles),
    TEST(a_thread_that_was_read_remembers_what_was_odd),
    TEST(sessions_as_json),
    TEST(sessions_as_structs),
    TEST(image_requests_as_json),
    TEST(image_requests_as_structs),
    TEST(what_is_no_object_is_a_fault),
    TEST(misuse_is_reported),
    TEST(nothing_is_out_of_memory),
    TEST(structs_of_other_versions),
    TEST(inside_the_house),
    TEST_ONCE(any_generated_request_is_valid),
    TEST(a_generated_request_is_valid),
    TESTS_END
};
