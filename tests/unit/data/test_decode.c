/* test_decode.c - JSON to structs: defaults, wrong values, kept members */
#include "data/decode.h"

#include "data/message.h"
#include "data/request.h"
#include "data/thread.h"
#include "data/tool_call.h"
#include "documents.h"
#include "json/json.h"

#include <stdio.h>

#define ECHO_CALL(data) TAGGED("ToolCall", data)

/* ---------------------------------------------------------- round trips --- */

struct row {
    const char *why, *tag, *data, *back;    /* NULL: as it came */
};

/* Members that `back` lists must come back so; others do not matter. */
static void check_row_back(const struct row *row)
{
    struct arena a;
    struct buf text;
    check_row(row->why);
    arena_init(&a, mem_default());
    buf_init(&text, &a, 1 << 16);
    buf_format(&text, "{\"__type__\":\"ALLM.%s\",\"data\":%s}", row->tag,
               row->data);
    allm_codec *c = decode(text.ptr ? text.ptr : "", NULL);
    CHECK(!allm_codec_error(c));
    allm_text *t = allm_codec_json(c, ALLM_FORM_TAGGED);
    struct slice s = text_slice(t);
    allm_json *got = s.ptr ? allm_json_parse(s.ptr, s.len, NULL) : NULL;
    const char *want = row->back ? row->back : row->data;
    allm_json *members = allm_json_parse(want, ALLM_NUL_ENDED, NULL);
    CHECK(allm_json_count(members) > 0);
    for (const allm_json *k = NULL; (k = allm_json_next(members, k));) {
        const allm_json *v = json_get(allm_json_get(got, "data"),
                                      json_slice(k));
        CHECK_WHY(allm_json_equal(v, allm_json_value(k)),
                  allm_json_text(k, NULL));
    }
    allm_json_free(members);
    allm_json_free(got);
    allm_text_free(t);
    allm_codec_free(c);
    arena_release(&a);
}

static void check_rows_back(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_row_back(&rows[i]);
}

static void null_is_the_default(void)
{
    static const struct row rows[] = {
        { "a status", "Session", "{\"status\":null}",
          "{\"status\":\"idle\"}" },
        { "a thread of a session", "Session", "{\"thread\":null}",
          "{\"thread\":" TAGGED("Thread",
                                "{\"messages\":[],\"metadata\":{}}") "}" },
        { "a thread of a result", "StepResult", "{\"thread\":null}", NULL },
        { "a role", "Message", "{\"role\":null}", NULL },
        { "content", "Message", "{\"content\":null}", NULL },
        { "a finish reason", "Response", "{\"finish_reason\":null}", NULL },
        { "a detail", "ImagePart", "{\"detail\":null}",
          "{\"detail\":\"auto\"}" },
        { "a map", "Message", "{\"metadata\":null}", "{\"metadata\":{}}" },
        { "arguments", "ToolCall", "{\"arguments\":null}",
          "{\"arguments\":{}}" },
        { "a schema", "Tool", "{\"schema\":null}", "{\"schema\":{}}" },
        { "manual", "Tool", "{\"manual\":null}", "{\"manual\":false}" },
        { "done?", "StepResult", "{\"done?\":null}", "{\"done?\":false}" },
        { "a list", "Request", "{\"messages\":null,\"tools\":null}",
          "{\"messages\":[],\"tools\":[]}" },
        { "pairs", "Engine", "{\"adapter_opts\":null}",
          "{\"adapter_opts\":[]}" },
        { "retry", "Engine", "{\"retry\":null}", "{\"retry\":\"default\"}" },
        { "a handler", "Tool", "{\"handler\":null}", NULL },
        { "numbers", "Request", "{\"temperature\":null,\"max_tokens\":null}",
          NULL },
        { "free JSON", "Response", "{\"raw\":null}", NULL },
        { "capabilities", "ModelRef", "{\"capabilities\":null}", NULL },
        { "the source of an image", "Image", "{\"source\":null}", NULL },
        { "the size of images", "ImageRequest", "{\"size\":null}", NULL },
    };
    check_rows_back(rows, COUNT(rows));
}

static void keeps_every_word(void)
{
    static const struct {
        const char *tag, *member;
        const char *words[10];
    } enums[] = {
        { "Message", "role", { "system", "user", "assistant", "tool" } },
        { "Session", "status",
          { "idle", "awaiting_user", "awaiting_tools", "completed",
            "error" } },
        { "Response", "finish_reason",
          { "stop", "length", "tool_calls", "content_filter", "error",
            "other" } },
        { "ImagePart", "detail", { "auto", "low", "high" } },
        { "Request", "tool_choice", { "auto", "none", "required", "echo" } },
        { "Request", "response_format", { "text" } },
        { "ImageRequest", "operation", { "generate", "edit", "variation" } },
        { "ImageRequest", "response_format", { "binary", "base64", "url" } },
        { "Tool", "effect", { "idempotent", "pure" } },
        { "ChatResult", "halted_reason",
          { "completed", "max_turns", "halt_when", "ask_user", "tool_error",
            "cancelled", "error", "manual_tool_calls", "my_own" } },
        { "ModelRef", "provider", { "openai", "my_own" } },
        { "Engine", "retry", { "default" } },
    };
    for (size_t i = 0; i < COUNT(enums); i++) {
        for (size_t k = 0; k < 10 && enums[i].words[k]; k++) {
            char data[128];
            snprintf(data, sizeof data, "{\"%s\":\"%s\"}", enums[i].member,
                     enums[i].words[k]);
            check_row_back(
                &(struct row){ enums[i].words[k], enums[i].tag,
                                          data, NULL });
        }
    }
}

/* Reasons are text, so that lists may grow. */
static void keeps_every_reason(void)
{
    static const struct {
        allm_status kind;
        const char *tag;
    } families[] = {
        { ALLM_ERR_ENGINE, "Error.EngineError" },
        { ALLM_ERR_ADAPTER, "Error.AdapterError" },
        { ALLM_ERR_STREAM, "Error.StreamError" },
        { ALLM_ERR_VALIDATION, "Error.ValidationError" },
        { ALLM_ERR_TOOL, "Error.ToolError" },
        { ALLM_ERR_SESSION, "Error.SessionError" },
        { ALLM_ERR_IMAGE, "Error.ImageAdapterError" },
    };
    for (size_t i = 0; i < COUNT(families); i++) {
        const char *const *reason = allm_error_reasons(families[i].kind);
        for (; reason && *reason; reason++) {
            char data[128];
            snprintf(data, sizeof data, "{\"reason\":\"%s\"}", *reason);
            check_row_back(
                &(struct row){ *reason, families[i].tag, data, NULL });
        }
        check_row_back(&(struct row){ "a reason of a later version",
                                      families[i].tag,
                                      "{\"reason\":\"overheated\"}", NULL });
    }
}

static void obeys_the_rules_of_each_type(void)
{
    static const struct row rows[] = {
        { "a forced tool", "Request", "{\"tool_choice\":\"weather\"}", NULL },
        { "a provider's own choice", "Request",
          "{\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":"
          "\"x\"}}}",
          NULL },
        { "a resolved model", "Request",
          "{\"model\":" TAGGED(
              "ModelRef",
              "{\"provider\":\"openai\",\"id\":\"m\",\"capabilities\":null,"
              "\"limits\":null,\"pricing\":{\"input\":0.15,\"output\":0.6},"
              "\"metadata\":{}}") "}",
          NULL },
        { "an object is wanted", "Request",
          "{\"response_format\":{\"type\":\"json_object\"}}", NULL },
        { "a schema is wanted", "Request",
          "{\"response_format\":{\"type\":\"json_schema\",\"name\":\"p\","
          "\"schema\":{\"type\":\"object\"},\"strict\":true}}",
          NULL },
        { "unknown members of a format", "Request",
          "{\"response_format\":{\"type\":\"json_schema\",\"name\":\"p\","
          "\"schema\":{},\"strict\":false,\"description\":\"x\",\"y\":[]}}",
          NULL },
        { "any other map is a format", "Request",
          "{\"response_format\":{\"grammar\":\"...\"}}", NULL },
        { "an array is no format, and kept", "Request",
          "{\"response_format\":[\"text\"]}", NULL },
        { "the size of images as numbers", "ImageRequest",
          "{\"size\":[1024,768]}", NULL },
        { "as a word", "ImageRequest", "{\"size\":\"auto\"}", NULL },
        { "one number is no size", "ImageRequest", "{\"size\":[1]}", NULL },
        { "nor are texts", "ImageRequest", "{\"size\":[\"1\",\"2\"]}", NULL },
        { "a size inside a usage", "ImageUsage", "{\"size\":[1024,768]}",
          NULL },
        { "images by every source", "ImageResponse",
          "{\"images\":["
          TAGGED("Image", "{\"source\":{\"type\":\"binary\",\"value\":"
                          "\"AAEC\"},\"mime_type\":\"image/png\",\"width\":1,"
                          "\"height\":2,\"prompt\":\"p\",\"revised_prompt\":"
                          "\"q\",\"metadata\":{\"a\":1}}") ","
          TAGGED("Image", "{\"source\":{\"type\":\"base64\",\"value\":"
                          "\"not checked\"},\"mime_type\":null,\"width\":"
                          "null,\"height\":null,\"prompt\":null,"
                          "\"revised_prompt\":null,\"metadata\":{}}") ","
          TAGGED("Image", "{\"source\":{\"type\":\"url\",\"value\":"
                          "\"https://x/y\"},\"mime_type\":null,\"width\":"
                          "null,\"height\":null,\"prompt\":null,"
                          "\"revised_prompt\":null,\"metadata\":{}}") ","
          TAGGED("Image", "{\"source\":{\"type\":\"file\",\"value\":"
                          "\"a/b.png\"},\"mime_type\":null,\"width\":null,"
                          "\"height\":null,\"prompt\":null,"
                          "\"revised_prompt\":null,\"metadata\":{}}") "]}",
          NULL },
        { "no bytes at all", "Image",
          "{\"source\":{\"type\":\"binary\",\"value\":\"\"}}", NULL },
        { "modules by name", "Engine",
          "{\"adapter\":\"Elixir.ALLM.Providers.Fake\",\"tool_executor\":"
          "\"Elixir.My.Executor\",\"tool_result_encoder\":null,"
          "\"image_adapter\":\"Elixir.X\"}",
          NULL },
        { "options as pairs", "Engine",
          "{\"adapter_opts\":[[\"script\",[[\"text\",\"hi\"],[\"finish\","
          "\"stop\"]]],[\"a\",null]]}",
          NULL },
        { "no retry", "Engine", "{\"retry\":false}", NULL },
        { "retry as pairs", "Engine",
          "{\"retry\":[[\"max_attempts\",3],[\"jitter\",true]]}", NULL },
        { "an engine's id", "Engine", "{\"id\":\"e1\"}", NULL },
        { "entries of an error", "Error.ValidationError",
          "{\"errors\":[[\"messages\",\"empty\"],[[\"messages\",0,\"role\"],"
          "\"unknown\"]]}",
          NULL },
        { "the fields of another family", "Error.EngineError",
          "{\"status\":429,\"tool_name\":\"x\",\"event_index\":3}", NULL },
        { "a message with parts", "Message",
          "{\"content\":[" TAGGED("TextPart",
                                  "{\"text\":\"a\",\"metadata\":{\"b\":1}}")
          "]}", NULL },
        { "an empty list of parts", "Message", "{\"content\":[]}", NULL },
        { "an empty text", "Message", "{\"content\":\"\"}", NULL },
        { "NUL inside a text that has a length", "Message",
          "{\"content\":\"a\\u0000b\"}", NULL },
        { "provider state", "Message",
          "{\"provider_state\":{\"sig\":\"x\"}}", NULL },
        { "provider state of a call", "ToolCall",
          "{\"provider_state\":[1]}", NULL },
        { "later fields of a tool", "Tool",
          "{\"compact\":true,\"summary\":\"s\",\"effect\":\"pure\"}", NULL },
    };
    check_rows_back(rows, COUNT(rows));
}

/* ----------------------------------------------------------------- kept --- */

static void keeps_what_it_does_not_know(void)
{
    static const struct row rows[] = {
        { "an unknown member", "Message", "{\"zzz\":[1,{\"a\":null}]}",
          NULL },
        { "of every type", "Thread", "{\"zzz\":1}", NULL },
        { "in a nested struct", "Session",
          "{\"thread\":" TAGGED("Thread", "{\"messages\":[],\"metadata\":{},"
                                          "\"zzz\":1}") "}",
          NULL },
        { "content of a wrong type", "Message", "{\"content\":42}", NULL },
        { "content that is a map", "Message", "{\"content\":{\"ok\":true}}",
          NULL },
        { "a name that is a list", "Message", "{\"name\":[\"a\"]}", NULL },
        { "a name with NUL inside", "Message", "{\"name\":\"a\\u0000b\"}",
          NULL },
        { "an id that is a number", "ToolCall", "{\"id\":17}", NULL },
        { "metadata that is a list", "Message", "{\"metadata\":[1]}", NULL },
        { "a flag that is a text", "Request", "{\"stream\":\"yes\"}", NULL },
        { "a number that is a text", "Request",
          "{\"temperature\":\"hot\",\"max_tokens\":\"9\"}", NULL },
        { "half a token", "Usage", "{\"input_tokens\":1.5}", NULL },
        { "more tokens than an int64_t", "Usage",
          "{\"input_tokens\":9223372036854775808}", NULL },
        { "more digits than a double, and big", "Usage",
          "{\"input_cost\":12345678901234567890123}", NULL },
        { "an integer that a double cannot hold", "Usage",
          "{\"input_cost\":9007199254740993}", NULL },
        { "an infinite number", "Request", "{\"temperature\":1e400}", NULL },
        { "a thread that is none", "Session", "{\"thread\":\"t\"}", NULL },
        { "a message that is none", "Response", "{\"message\":7}", NULL },
        { "a list that is none", "Thread", "{\"messages\":{\"a\":1}}", NULL },
        { "pairs that are none", "Engine", "{\"adapter_opts\":\"a\"}", NULL },
        { "a handler", "Tool", "{\"handler\":\"Elixir.F\"}", NULL },
        { "an effect of a later version", "Tool", "{\"effect\":\"magic\"}",
          NULL },
        { "a source of a wrong shape", "Image", "{\"source\":{\"url\":\"x\"}}",
          NULL },
        { "a source that is a text", "Image", "{\"source\":\"x\"}", NULL },
        { "a member called as one of C", "Message",
          "{\"content\":\"x\",\"text\":\"y\",\"parts\":1,\"role\":\"user\","
          "\"tool_calls\":[1],\"kept\":2,\"home\":3,\"size\":4}",
          NULL },
        { "\"error\" beside the metadata", "Response", "{\"error\":\"e\"}",
          NULL },
        { "\"kind\" in an error", "Error.ToolError", "{\"kind\":\"mine\"}",
          NULL },
        { "a tag among the members", "Thread",
          "{\"__type__\":\"x\",\"data\":1}", NULL },
    };
    check_rows_back(rows, COUNT(rows));
}

static void keeps_structs_it_does_not_know(void)
{
    static const struct row rows[] = {
        { "where one struct may stand", "Response",
          "{\"message\":" TAGGED("Later", "{\"role\":\"bogus\"}") "}", NULL },
        { "the struct of another place", "Response",
          "{\"message\":" TAGGED("Usage", "{}") "}", NULL },
        { "a tag with data that is no object", "Response",
          "{\"usage\":" TAGGED("Usage", "[]") "}", NULL },
        { "in a list of messages", "Thread",
          "{\"messages\":[" TAGGED("Later", "{\"a\":1}") "," TAGGED(
              "Message", "{\"role\":\"user\",\"content\":\"x\",\"name\":null,"
                         "\"tool_call_id\":null,\"metadata\":{}}") "]}",
          NULL },
        { "in a list of tools", "Engine",
          "{\"tools\":[" TAGGED("Tool", "5") "]}", NULL },
        { "an element that is no struct at all", "Request",
          "{\"messages\":[null,42,\"x\",[]]}", NULL },
        { "in a list of calls", "Response",
          "{\"tool_calls\":[{\"__type__\":\"Elixir.Foo\",\"data\":{}},null]}",
          NULL },
        { "in a list of steps", "ChatResult",
          "{\"steps\":[" TAGGED("Usage", "{}") "]}", NULL },
        { "among the parts", "Message",
          "{\"content\":[" TAGGED("AudioPart", "{\"a\":1}") ",7,{\"type\":"
          "\"text\",\"text\":\"raw\"},{\"__type__\":1}]}",
          NULL },
        { "in the metadata", "Message",
          "{\"metadata\":{\"x\":" TAGGED("Later", "{}") ",\"y\":[" TAGGED(
              "Message", "{\"role\":\"bogus\"}") "]}}",
          NULL },
        { "in arguments", "ToolCall",
          "{\"arguments\":{\"x\":" TAGGED("Message", "{\"a\":1}") "}}", NULL },
    };
    check_rows_back(rows, COUNT(rows));
}

static void an_unknown_struct_keeps_its_place(void)
{
    allm_codec *c =
        decode(TAGGED("Thread",
                      "{\"messages\":[" TAGGED("Later", "{\"a\":1}") "," TAGGED(
                          "Message", "{\"role\":\"user\"}") "]}"),
               NULL);
    const allm_thread *t = allm_codec_value(c, ALLM_TYPE_THREAD);
    CHECK_INT(allm_thread_count(t), 2);
    const allm_message *odd = allm_thread_at(t, 0);
    CHECK(odd && odd->role == ALLM_ROLE_NONE && !odd->text && odd->kept);
    const allm_message *m = allm_thread_at(t, 1);
    CHECK(m && m->role == ALLM_ROLE_USER);
    CHECK_JSON(allm_message_json(odd, ALLM_FORM_TAGGED),
               TAGGED("Later", "{\"a\":1}"));
    allm_thread *copy = allm_thread_copy(t);
    allm_thread_append(copy, odd);
    allm_codec_free(c);
    CHECK_JSON(allm_message_json(allm_thread_last(copy), ALLM_FORM_PLAIN),
               "{\"a\":1}");
    allm_thread_free(copy);
}

static void a_kept_value_is_not_typed(void)
{
    allm_codec *c =
        decode(TAGGED("Message", "{\"content\":42,\"name\":[],\"x\":1}"), NULL);
    const allm_message *m = allm_codec_value(c, ALLM_TYPE_MESSAGE);
    CHECK(m && !m->text && !m->parts && !m->name);
    CHECK_JSON(allm_json_write(m ? m->kept : NULL, 0),
               "{\"content\":42,\"name\":[],\"x\":1}");
    allm_codec_free(c);
}

/* --------------------------------------------------------------- lifted --- */

#define TIMEOUT \
    TAGGED("Error.ToolError", \
           "{\"reason\":\"timeout\",\"message\":\"late\",\"tool_name\":" \
           "\"t\",\"tool_call_id\":null,\"cause\":null,\"metadata\":{}," \
           "\"zzz\":1}")

static const allm_error *error_in(const allm_codec *c)
{
    const void *v = allm_codec_value(c, allm_codec_type(c));
    switch (v ? allm_codec_type(c) : ALLM_TYPE_NONE) {
    case ALLM_TYPE_RESPONSE:    return ((const allm_response *)v)->error;
    case ALLM_TYPE_SESSION:     return ((const allm_session_record *)v)->error;
    case ALLM_TYPE_STEP_RESULT: return ((const allm_step_result *)v)->error;
    case ALLM_TYPE_CHAT_RESULT: return ((const allm_chat_result *)v)->error;
    default:                    return NULL;
    }
}

static void errors_come_back_as_errors(void)
{
    static const char *const text[] = {
        TAGGED("Response", "{\"metadata\":{\"error\":" TIMEOUT "}}"),
        TAGGED("Session", "{\"metadata\":{\"error\":" TIMEOUT "}}"),
        TAGGED("StepResult", "{\"metadata\":{\"error\":" TIMEOUT "}}"),
        TAGGED("ChatResult", "{\"metadata\":{\"error\":" TIMEOUT "}}"),
    };
    for (size_t i = 0; i < COUNT(text); i++) {
        check_row(text[i]);
        allm_codec *c = decode(text[i], NULL);
        const allm_error *e = error_in(c);
        CHECK(e && e->kind == ALLM_ERR_TOOL);
        CHECK_TEXT(e ? e->reason : NULL, "timeout");
        CHECK_TEXT(e ? e->message : NULL, "late");
        CHECK_TEXT(e ? e->tool_name : NULL, "t");
        allm_codec_free(c);
    }
    static const struct row rows[] = {
        { "and go out as they came", "Session",
          "{\"metadata\":{\"a\":1,\"error\":" TIMEOUT ",\"b\":2}}", NULL },
        { "only `error` itself", "Response",
          "{\"metadata\":{\"pass_2\":{\"error\":" TIMEOUT "},\"cause\":" TIMEOUT
          "}}",
          NULL },
        { "a text is no error", "Session",
          "{\"metadata\":{\"error\":\"broken\"}}", NULL },
        { "null is none", "Session", "{\"metadata\":{\"error\":null}}", NULL },
        { "a map is none", "Session",
          "{\"metadata\":{\"error\":{\"reason\":\"x\"}}}", NULL },
        { "in a tagged document only what is tagged", "Session",
          "{\"metadata\":{\"error\":{\"kind\":\"tool\",\"reason\":\"x\"}}}",
          NULL },
        { "an error of a later version", "Session",
          "{\"metadata\":{\"error\":" TAGGED("Error.NewError",
                                             "{\"reason\":\"x\"}") "}}",
          NULL },
        { "a tag without data", "Session",
          "{\"metadata\":{\"error\":{\"__type__\":\"ALLM.Error.ToolError\"}}}",
          NULL },
    };
    check_rows_back(rows, COUNT(rows));
}

static void errors_come_back_from_the_plain_form(void)
{
    static const struct {
        const char *why, *text;
        allm_status kind;       /* ALLM_OK: it stays a map */
    } rows[] = {
        { "kind and reason make an error",
          "{\"metadata\":{\"error\":{\"kind\":\"stream\",\"reason\":\"x\"}}}",
          ALLM_ERR_STREAM },
        { "an envelope is one anywhere",
          "{\"metadata\":{\"error\":" TIMEOUT "}}", ALLM_ERR_TOOL },
        { "a kind alone does not",
          "{\"metadata\":{\"error\":{\"kind\":\"stream\"}}}", ALLM_OK },
        { "an unknown kind does not",
          "{\"metadata\":{\"error\":{\"kind\":\"ok\",\"reason\":\"x\"}}}",
          ALLM_OK },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_row(rows[i].why);
        allm_codec *c = decode(rows[i].text, "Session");
        const allm_error *e = error_in(c);
        CHECK_INT(e ? e->kind : ALLM_OK, rows[i].kind);
        allm_codec_free(c);
    }
}

static void calls_come_back_as_calls(void)
{
    static const char tagged[] =
        TAGGED("Message",
               "{\"role\":\"assistant\",\"content\":\"\",\"metadata\":{\"a\":1,"
               "\"tool_calls\":[" ECHO_CALL(
                   "{\"id\":\"c0\",\"name\":\"echo\"}") "]}}");
    allm_codec *c = decode(tagged, NULL);
    const allm_message *m = allm_codec_value(c, ALLM_TYPE_MESSAGE);
    CHECK_INT(m ? m->tool_call_count : 0, 1);
    CHECK_TEXT(m && m->tool_call_count ? m->tool_calls[0]->id : NULL, "c0");
    CHECK_JSON(allm_json_write(m ? m->metadata : NULL, 0), "{\"a\":1}");
    allm_codec_free(c);

    static const struct row rows[] = {
        { "an empty list stays one", "Message",
          "{\"metadata\":{\"tool_calls\":[]}}", NULL },
        { "one that is none leaves all where they are", "Message",
          "{\"metadata\":{\"tool_calls\":[" ECHO_CALL(
              "{\"id\":\"c0\"}") ",7]}}",
          NULL },
        { "maps of somebody else", "Message",
          "{\"metadata\":{\"tool_calls\":[{\"id\":\"c\",\"name\":\"n\"}]}}",
          NULL },
        { "a text", "Message", "{\"metadata\":{\"tool_calls\":\"c0\"}}", NULL },
    };
    check_rows_back(rows, COUNT(rows));
}

/* -------------------------------------------------------------- sharing --- */

static void a_thread_shares_what_was_read(void)
{
    allm_codec *c = decode(
        TAGGED("Thread",
               "{\"messages\":[" TAGGED(
                   "Message", "{\"role\":\"user\",\"content\":\"a\"}") "]}"),
        NULL);
    const allm_thread *lent = allm_codec_value(c, ALLM_TYPE_THREAD);
    const allm_message *m = allm_thread_at(lent, 0);
    allm_thread *mine = allm_thread_copy(lent);
    allm_thread *other = allm_thread_new(NULL);
    allm_thread_append(other, m);
    CHECK(m && allm_thread_at(mine, 0) == m);
    CHECK(m && allm_thread_at(other, 0) == m);
    allm_codec_free(c);
    CHECK_TEXT(check_whole() ? m->text : NULL, "a");
    allm_thread_free(mine);
    CHECK_TEXT(check_whole() ? m->text : NULL, "a");
    allm_thread_free(other);
}

static void a_message_takes_one_allocation(void)
{
    char text[200 * 60 + 100];
    size_t n = (size_t)snprintf(text, sizeof text, "{\"messages\":[");
    for (int i = 0; i < 200; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "%s{\"role\":\"user\",\"content\":\"%d\"}",
                              i ? "," : "", i);
    snprintf(text + n, sizeof text - n, "]}");
    size_t before = check_allocations();
    allm_codec *c = decode(text, "Thread");
    size_t spent = check_allocations() - before;
    CHECK_INT(allm_thread_count(allm_codec_value(c, ALLM_TYPE_THREAD)), 200);
    CHECK(spent < 200 + 20);
    allm_codec_free(c);
}

/* --------------------------------------------------------------- inside --- */

struct reading {
    struct allm_home *home;
    struct arena scratch;
    struct decoder d;
    const allm_json *v;
};

static bool begin(struct reading *r, const char *text)
{
    *r = (struct reading){ .home = home_new(mem_default(), 0) };
    arena_init(&r->scratch, mem_default());
    allm_json *v = allm_json_parse(text, ALLM_NUL_ENDED, NULL);
    r->v = json_copy(&r->scratch, v);
    allm_json_free(v);
    if (!r->home)
        return false;
    decode_init(&r->d, r->home, home_arena(r->home));
    return true;
}

static void end(struct reading *r)
{
    arena_release(&r->scratch);
    home_drop(r->home);
}

static void reads_leniently_for_the_validator(void)
{
    struct reading r;
    if (!begin(&r, "{\"messages\":[{\"role\":\"bogus\",\"content\":[{\"type\":"
                   "\"image\",\"detail\":\"huge\",\"source\":{\"type\":\"ftp\","
                   "\"value\":\"x\"}}]}],\"response_format\":\"xml\","
                   "\"tools\":[7]}")) {
        end(&r);
        return;
    }
    r.d.lenient = true;
    const allm_request *q = decode_value(&r.d, &request_shape, r.v);
    CHECK(q && !r.d.error);
    CHECK_INT(q ? q->message_count : 0, 1);
    const allm_message *m = q && q->message_count ? q->messages[0] : NULL;
    CHECK(m && m->role == ALLM_ROLE_NONE);
    CHECK(allm_json_get(m ? m->kept : NULL, "role") != NULL);
    CHECK_INT(m ? m->part_count : 0, 1);
    end(&r);
}

static void what_does_not_fit_is_no_error(void)
{
    static const char *const text[] = { "null", "42", "\"x\"", "[]", "true",
                                        TAGGED("Thread", "{}"),
                                        TAGGED("Message", "5"),
                                        "{\"__type__\":\"ALLM.Message\"}" };
    for (size_t i = 0; i < COUNT(text); i++) {
        check_row(text[i]);
        struct reading r;
        if (begin(&r, text[i])) {
            CHECK_ALWAYS(!decode_value(&r.d, &message_shape, r.v));
            CHECK(!r.d.error);
        }
        end(&r);
    }
}

static void the_first_error_stays(void)
{
    struct reading r;
    if (begin(&r, "{}")) {
        CHECK_ALWAYS(!decode_refuse_at(&r.d, "a", "first"));
        CHECK_ALWAYS(!decode_refuse(&r.d, "second"));
        CHECK_ALWAYS(!decode_nomem(&r.d));
        CHECK_ALWAYS(r.d.error != NULL);
        CHECK_JSON(allm_json_write(r.d.error->errors, 0),
                   "[[\"a\",\"first\"]]");
        CHECK_TEXT(r.d.error->message,
                   "the document cannot be read: first at /a");
    }
    end(&r);
}

static void the_root_has_an_empty_path(void)
{
    struct reading r;
    if (begin(&r, "{}")) {
        decode_refuse(&r.d, "why");
        CHECK_JSON(allm_json_write(r.d.error->errors, 0), "[[[],\"why\"]]");
        CHECK_TEXT(r.d.error->message,
                   "the document cannot be read: why at its root");
    }
    end(&r);
}

static void an_empty_list_counts_in_the_plain_form(void)
{
    static const struct {
        const char *why, *text;
        bool there;
    } rows[] = {
        { "plain and there", "{\"tools\":[]}", true },
        { "plain and absent", "{}", false },
        { "plain and null", "{\"tools\":null}", false },
        { "tagged: every field is there", TAGGED("Request", "{\"tools\":[]}"),
          false },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_row(rows[i].why);
        allm_codec *c = decode(rows[i].text, "Request");
        const allm_request *q = allm_codec_value(c, ALLM_TYPE_REQUEST);
        CHECK(q && q->tool_count == 0);
        CHECK(q && (q->tools != NULL) == rows[i].there);
        allm_codec_free(c);
    }
}

TESTS = {
    TEST(null_is_the_default),
    TEST(keeps_every_word),
    TEST(keeps_every_reason),
    TEST(obeys_the_rules_of_each_type),
    TEST(keeps_what_it_does_not_know),
    TEST(keeps_structs_it_does_not_know),
    TEST(an_unknown_struct_keeps_its_place),
    TEST(a_kept_value_is_not_typed),
    TEST(errors_come_back_as_errors),
    TEST(errors_come_back_from_the_plain_form),
    TEST(calls_come_back_as_calls),
    TEST(a_thread_shares_what_was_read),
    TEST(a_message_takes_one_allocation),
    TEST(reads_leniently_for_the_validator),
    TEST(what_does_not_fit_is_no_error),
    TEST(the_first_error_stays),
    TEST(the_root_has_an_empty_path),
    TEST(an_empty_list_counts_in_the_plain_form),
    TESTS_END,
};
