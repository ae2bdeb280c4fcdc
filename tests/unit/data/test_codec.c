/* test_codec.c - every type as JSON, and back */
#include "data/codec.h"

#include "documents.h"

#include <stdlib.h>

/* -------------------------------------------------------------- refused --- */

struct refusal {
    const char *why, *text, *as, *pairs;
};

static void check_refusals(const struct refusal *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        check_row(rows[i].why);
        allm_codec *c = decode(rows[i].text, rows[i].as);
        check_refused(c, rows[i].pairs);
        allm_codec_free(c);
    }
}

static void refuses_what_is_no_document(void)
{
    static const struct refusal rows[] = {
        { "not JSON", "hello", NULL, "[[\"json\",\"malformed\"]]" },
        { "nothing", "", NULL, "[[\"json\",\"malformed\"]]" },
        { "half a document", "{\"__type__\":\"ALLM.Mess", NULL,
          "[[\"json\",\"malformed\"]]" },
        { "two documents", "{} {}", "Message",
          "[[\"json\",\"malformed\"]]" },
        { "a key twice", TAGGED("Message", "{\"name\":\"a\",\"name\":\"b\"}"),
          NULL, "[[\"json\",\"duplicate_key\"]]" },
        { "a tag without data", "{\"__type__\":\"ALLM.Message\"}", NULL,
          "[[\"data\",\"missing\"]]" },
        { "the same with a type we do not know", "{\"__type__\":\"X\"}", NULL,
          "[[\"data\",\"missing\"]]" },
        { "data is null", TAGGED("Message", "null"), NULL,
          "[[\"data\",\"malformed_struct\"]]" },
        { "data is a number", TAGGED("Usage", "42"), NULL,
          "[[\"data\",\"malformed_struct\"]]" },
        { "data is an array", TAGGED("Thread", "[]"), NULL,
          "[[\"data\",\"malformed_struct\"]]" },
        { "data of an unknown type is a text", TAGGED("New", "\"x\""), NULL,
          "[[\"data\",\"malformed_struct\"]]" },
        { "`as` does not help a tag without data",
          "{\"__type__\":\"ALLM.Message\"}", "Message",
          "[[\"data\",\"missing\"]]" },
        { "no tag", "{\"role\":\"user\"}", NULL,
          "[[\"format\",\"missing_type_tag\"]]" },
        { "an empty object", "{}", NULL,
          "[[\"format\",\"missing_type_tag\"]]" },
        { "a tag that is no text", "{\"__type__\":7,\"data\":{}}", NULL,
          "[[\"format\",\"missing_type_tag\"]]" },
        { "an unregistered type", "{\"role\":\"user\"}", "Nonsense",
          "[[\"format\",\"unknown_type_tag\"]]" },
        { "types are spelled exactly", "{}", "message",
          "[[\"format\",\"unknown_type_tag\"]]" },
        { "no type has an empty name", "{}", "",
          "[[\"format\",\"unknown_type_tag\"]]" },
        { "one prefix, not two", "{}", "ALLM.ALLM.Message",
          "[[\"format\",\"unknown_type_tag\"]]" },
        { "events are not registered", "{\"type\":\"error\"}", "Event",
          "[[\"format\",\"unknown_type_tag\"]]" },
        { "an error without its family", "{\"reason\":\"timeout\"}", "Error",
          "[[\"format\",\"unknown_type_tag\"]]" },
        { "an array", "[]", NULL, "[[\"format\",\"missing_type_tag\"]]" },
        { "a number", "42", NULL, "[[\"format\",\"missing_type_tag\"]]" },
        { "a text", "\"x\"", NULL, "[[\"format\",\"missing_type_tag\"]]" },
        { "null", "null", NULL, "[[\"format\",\"missing_type_tag\"]]" },
        { "an array with `as`", "[{}]", "Message",
          "[[\"format\",\"missing_type_tag\"]]" },
        { "a number with `as`", "42", "Message",
          "[[\"format\",\"missing_type_tag\"]]" },
        { "true with `as`", "true", "Thread",
          "[[\"format\",\"missing_type_tag\"]]" },
        { "null with an `as` that is unknown, too", "null", "Nonsense",
          "[[\"format\",\"missing_type_tag\"]]" },
    };
    check_refusals(rows, COUNT(rows));
}

#define BAD(path) "[[" path ",\"atom_decode_failed\"]]"
#define MESSAGE(role) \
    TAGGED("Message", "{\"role\":\"" role "\",\"content\":\"x\"}")

static void names_the_field_of_a_wrong_word(void)
{
    static const struct refusal rows[] = {
        { "a role", MESSAGE("bogus"), NULL, BAD("\"role\"") },
        { "a role with an accent", MESSAGE("\xC3\xBCser"), NULL,
          BAD("\"role\"") },
        { "words are lower case", MESSAGE("User"), NULL, BAD("\"role\"") },
        { "an empty word", MESSAGE(""), NULL, BAD("\"role\"") },
        { "a word with NUL behind it", MESSAGE("user\\u0000"), NULL,
          BAD("\"role\"") },
        { "a word that is a number", TAGGED("Message", "{\"role\":42}"), NULL,
          BAD("\"role\"") },
        { "a role, untagged", "{\"role\":\"bogus\"}", "Message",
          BAD("\"role\"") },
        { "in a thread",
          TAGGED("Thread", "{\"messages\":[" MESSAGE("user") "," MESSAGE(
                               "wizard") "]}"),
          NULL, BAD("[\"messages\",1,\"role\"]") },
        { "in a request", TAGGED("Request", "{\"messages\":[" MESSAGE(
                                                "bogus") "]}"),
          NULL, BAD("[\"messages\",0,\"role\"]") },
        { "in a plain request",
          "{\"messages\":[{\"role\":\"bogus\"}]}", "Request",
          BAD("[\"messages\",0,\"role\"]") },
        { "in a session",
          TAGGED("Session", "{\"thread\":" TAGGED(
                     "Thread", "{\"messages\":[" MESSAGE("x") "]}") "}"),
          NULL, BAD("[\"thread\",\"messages\",0,\"role\"]") },
        { "the message of a response",
          TAGGED("Response", "{\"message\":" MESSAGE("x") "}"), NULL,
          BAD("[\"message\",\"role\"]") },
        { "a tool result of the second step of a chat",
          TAGGED("ChatResult",
                 "{\"steps\":[" TAGGED("StepResult", "{}") "," TAGGED(
                     "StepResult", "{\"tool_results\":[" MESSAGE("x") "]}")
                 "]}"),
          NULL, BAD("[\"steps\",1,\"tool_results\",0,\"role\"]") },
        { "a session's status", TAGGED("Session", "{\"status\":\"busy\"}"),
          NULL, BAD("\"status\"") },
        { "a finish reason",
          TAGGED("Response", "{\"finish_reason\":\"done\"}"), NULL,
          BAD("\"finish_reason\"") },
        { "of the last response of a chat",
          TAGGED("ChatResult", "{\"final_response\":" TAGGED(
                                   "Response", "{\"finish_reason\":\"x\"}")
                               "}"),
          NULL, BAD("[\"final_response\",\"finish_reason\"]") },
        { "an image's detail", TAGGED("ImagePart", "{\"detail\":\"huge\"}"),
          NULL, BAD("\"detail\"") },
        { "the same in a message",
          TAGGED("Message",
                 "{\"role\":\"user\",\"content\":[" TAGGED(
                     "TextPart", "{\"text\":\"a\"}") "," TAGGED(
                     "ImagePart", "{\"detail\":\"huge\"}") "]}"),
          NULL, BAD("[\"content\",1,\"detail\"]") },
        { "the same in the plain form",
          "{\"content\":[{\"type\":\"image\",\"detail\":\"huge\"}]}",
          "Message", BAD("[\"content\",0,\"detail\"]") },
        { "a response format",
          TAGGED("Request", "{\"response_format\":\"xml\"}"), NULL,
          BAD("\"response_format\"") },
        { "the type of a response format",
          TAGGED("Request", "{\"response_format\":{\"type\":\"xml\"}}"), NULL,
          BAD("[\"response_format\",\"type\"]") },
        { "what to do with images",
          TAGGED("ImageRequest", "{\"operation\":\"paint\"}"), NULL,
          BAD("\"operation\"") },
        { "how images come back",
          TAGGED("ImageRequest", "{\"response_format\":\"tiff\"}"), NULL,
          BAD("\"response_format\"") },
        { "where an image comes from",
          TAGGED("Image", "{\"source\":{\"type\":\"ftp\",\"value\":\"x\"}}"),
          NULL, BAD("[\"source\",\"type\"]") },
        { "the same in an image request",
          TAGGED("ImageRequest",
                 "{\"input_images\":[" TAGGED(
                     "Image", "{\"source\":{\"type\":\"ftp\",\"value\":\"x\"}}")
                 "]}"),
          NULL, BAD("[\"input_images\",0,\"source\",\"type\"]") },
    };
    check_refusals(rows, COUNT(rows));
}

#define BROKEN_IMAGE \
    TAGGED("Image", "{\"source\":{\"type\":\"binary\",\"value\":\"a?b=\"}}")

static void refuses_broken_base64(void)
{
    static const struct refusal rows[] = {
        { "at the top the path is a list, too", BROKEN_IMAGE, NULL,
          "[[[\"source\"],\"invalid_base64\"]]" },
        { "in a part", TAGGED("ImagePart", "{\"image\":" BROKEN_IMAGE "}"),
          NULL, "[[[\"image\",\"source\"],\"invalid_base64\"]]" },
        { "in a message",
          TAGGED("Message", "{\"content\":[" TAGGED(
                                "ImagePart", "{\"image\":" BROKEN_IMAGE "}")
                            "]}"),
          NULL, "[[[\"content\",0,\"image\",\"source\"],\"invalid_base64\"]]" },
        { "in a plain part",
          "{\"content\":[{\"type\":\"image\",\"source\":{\"type\":"
          "\"binary\",\"value\":\"=\"}}]}",
          "Message", "[[[\"content\",0,\"source\"],\"invalid_base64\"]]" },
    };
    check_refusals(rows, COUNT(rows));
}

/* ------------------------------------------------------------ positions --- */

/* [[[... 100,000 deep */
static char *deep(size_t n)
{
    char *text = malloc(2 * n + 1);
    if (!text)
        return NULL;
    memset(text, '[', n);
    memset(text + n, ']', n);
    text[2 * n] = '\0';
    return text;
}

static void check_place(struct slice text, const char *word, size_t offset,
                        const char *path)
{
    allm_codec *c = decode_slice(text, "Message");
    const allm_error *e = allm_codec_error(c);
    const allm_json *where = e ? e->metadata : NULL;
    int64_t at = -1;
    CHECK_ALWAYS(e != NULL);
    CHECK(e && e->kind == ALLM_ERR_VALIDATION);
    CHECK_TEXT(allm_json_text(allm_json_pointer(e ? e->errors : NULL, "/0/1"),
                              NULL),
               word);
    allm_json_int64(allm_json_get(where, "offset"), &at);
    CHECK_INT(at, offset);
    CHECK_TEXT(allm_json_text(allm_json_get(where, "path"), NULL), path);
    allm_codec_free(c);
}

static void tells_where_bad_input_is(void)
{
    static const struct {
        const char *why;
        struct slice text;
        const char *word;
        size_t offset;
        const char *path;
    } rows[] = {
        { "cut short", T("{\"role\":\"us"), "malformed", 11, "/role" },
        { "a byte that is not UTF-8", T("{\"role\":\"\xFF\"}"), "malformed", 9,
          "/role" },
        { "NUL between values", T("{\0}"), "malformed", 1, "" },
        { "NUL in a text", T("{\"role\":\"a\0b\"}"), "malformed", 10,
          "/role" },
        { "NUL behind the document", T("{}\0"), "malformed", 2, "" },
        { "half a surrogate pair", T("{\"role\":\"\\uD800\"}"), "malformed",
          15, "/role" },
        { "a key twice", T("{\"role\":1,\"role\":2}"), "duplicate_key", 10,
          "" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_row(rows[i].why);
        check_place(rows[i].text, rows[i].word, rows[i].offset, rows[i].path);
    }
}

static void refuses_what_is_too_deep(void)
{
    char *text = deep(100000);
    CHECK_ALWAYS(text != NULL);
    allm_codec *c = decode(text, "Message");
    check_refused(c, "[[\"json\",\"too_deep\"]]");
    allm_codec_free(c);
    free(text);
}

static void obeys_the_limits_of_the_caller(void)
{
    static const char text[] = TAGGED("Thread", "{\"metadata\":{\"a\":[[1]]}}");
    static const char twice[] = TAGGED("Thread", "{\"x\":1,\"x\":2}");

    check_row("too long");
    allm_codec *c = allm_codec_decode(text, ALLM_NUL_ENDED, NULL,
                                      ALLM(json_opts, .max_bytes = 20));
    check_refused(c, "[[\"json\",\"too_large\"]]");
    allm_codec_free(c);

    check_row("too deep");
    c = allm_codec_decode(text, ALLM_NUL_ENDED, NULL,
                          ALLM(json_opts, .max_depth = 3));
    check_refused(c, "[[\"json\",\"too_deep\"]]");
    allm_codec_free(c);

    check_row("deep enough");
    c = allm_codec_decode(text, ALLM_NUL_ENDED, NULL,
                          ALLM(json_opts, .max_depth = 6));
    CHECK_INT(allm_codec_type(c), ALLM_TYPE_THREAD);
    allm_codec_free(c);

    check_row("the first of equal keys wins");
    c = allm_codec_decode(twice, ALLM_NUL_ENDED, NULL,
                          ALLM(json_opts, .flags = ALLM_JSON_DUPLICATES));
    CHECK_JSON(allm_codec_json(c, ALLM_FORM_PLAIN),
               "{\"messages\":[],\"metadata\":{},\"x\":1}");
    allm_codec_free(c);
}

/* ------------------------------------------------------------- accepted --- */

static void accepts_documents(void)
{
    static const struct {
        const char *why, *text, *as;
        allm_type type;
        const char *plain;
    } rows[] = {
        { "a tag", TAGGED("Thread", "{}"), NULL, ALLM_TYPE_THREAD,
          "{\"messages\":[],\"metadata\":{}}" },
        { "a tag wins over `as`", TAGGED("Thread", "{}"), "ALLM.Message",
          ALLM_TYPE_THREAD, "{\"messages\":[],\"metadata\":{}}" },
        { "a tag wins over an unknown `as`", TAGGED("Thread", "{}"), "Nope",
          ALLM_TYPE_THREAD, "{\"messages\":[],\"metadata\":{}}" },
        { "no tag but `as`", "{\"text\":\"x\"}", "TextPart", ALLM_TYPE_PART,
          "{\"type\":\"text\",\"text\":\"x\",\"metadata\":{}}" },
        { "`as` with the prefix", "{}", "ALLM.Thread", ALLM_TYPE_THREAD,
          "{\"messages\":[],\"metadata\":{}}" },
        { "a call that says nothing is a call", "{}", "ToolCall",
          ALLM_TYPE_TOOL_CALL,
          "{\"id\":null,\"name\":null,\"arguments\":{},"
          "\"raw_arguments\":null,\"metadata\":{}}" },
        { "an error by its family", "{\"reason\":\"timeout\"}",
          "Error.SessionError", ALLM_TYPE_ERROR,
          "{\"kind\":\"session\",\"reason\":\"timeout\",\"message\":"
          "\"session error: timeout\",\"provider\":null,\"cause\":null,"
          "\"metadata\":{}}" },
        { "a tag that is no text is a member like others",
          "{\"__type__\":7}", "Thread", ALLM_TYPE_THREAD,
          "{\"messages\":[],\"metadata\":{},\"__type__\":7}" },
        { "an unknown type is left alone", TAGGED("New", "{\"a\":1}"), NULL,
          ALLM_TYPE_JSON, "{\"a\":1}" },
        { "so is one of somebody else",
          "{\"__type__\":\"Message\",\"data\":{\"a\":1}}", NULL,
          ALLM_TYPE_JSON, "{\"__type__\":\"Message\",\"data\":{\"a\":1}}" },
        { "members may stand in any order",
          "{\"data\":{\"metadata\":{}},\"__type__\":\"ALLM.Thread\"}", NULL,
          ALLM_TYPE_THREAD, "{\"messages\":[],\"metadata\":{}}" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_row(rows[i].why);
        allm_codec *c = decode(rows[i].text, rows[i].as);
        CHECK(!allm_codec_error(c));
        CHECK_INT(allm_codec_type(c), rows[i].type);
        CHECK(allm_codec_value(c, rows[i].type) != NULL);
        CHECK_JSON(allm_codec_json(c, ALLM_FORM_PLAIN), rows[i].plain);
        allm_codec_free(c);
    }
}

static void leaves_an_unknown_type_as_it_is(void)
{
    static const char text[] =
        TAGGED("Later", "{\"x\":[1,{\"__type__\":\"ALLM.Message\"}],"
                        "\"role\":\"bogus\"}");
    allm_codec *c = decode(text, NULL);
    const allm_json *v = allm_codec_value(c, ALLM_TYPE_JSON);
    CHECK_TEXT(allm_json_text(allm_json_get(v, "__type__"), NULL),
               "ALLM.Later");
    CHECK_JSON(allm_codec_json(c, ALLM_FORM_TAGGED), text);
    allm_codec_free(c);
}

static void lends_its_value_by_type_only(void)
{
    allm_codec *c = decode(MESSAGE("user"), NULL);
    const allm_message *m = allm_codec_value(c, ALLM_TYPE_MESSAGE);
    CHECK(m && m->role == ALLM_ROLE_USER);
    CHECK_TEXT(m ? m->text : NULL, "x");
    CHECK_ALWAYS(!allm_codec_value(c, ALLM_TYPE_THREAD));
    CHECK_ALWAYS(!allm_codec_value(c, ALLM_TYPE_NONE));
    CHECK_ALWAYS(!allm_codec_value(c, ALLM_TYPE_JSON));
    allm_message *mine = allm_message_keep(m);
    allm_codec_free(c);
    CHECK_TEXT(mine ? mine->text : NULL, "x");
    allm_message_free(mine);
}

static void counts_bytes_or_stops_at_nul(void)
{
    static const char text[] = "{\"messages\":[]}";
    static const size_t len[] = { sizeof text - 1, ALLM_NUL_ENDED };
    for (size_t i = 0; i < COUNT(len); i++) {
        allm_codec *c = allm_codec_decode(text, len[i], "Thread", NULL);
        CHECK(!allm_codec_error(c));
        allm_codec_free(c);
    }
    allm_codec *c = allm_codec_decode(text, sizeof text - 2, "Thread", NULL);
    check_refused(c, "[[\"json\",\"malformed\"]]");
    allm_codec_free(c);
}

/* --------------------------------------------------------------- misuse --- */

static void check_misuse(allm_codec *c)
{
    const allm_error *e = allm_codec_error(c);
    CHECK_ALWAYS(e != NULL);
    CHECK(e && e->kind == ALLM_ERR_MISUSE);
    CHECK(e && e->message && *e->message);
    CHECK_ALWAYS(allm_codec_type(c) == ALLM_TYPE_NONE);
    allm_codec_free(c);
}

static void refuses_misuse(void)
{
    allm_json_opts sizeless = { 0 };
    check_row("no text");
    check_misuse(allm_codec_decode(NULL, ALLM_NUL_ENDED, NULL, NULL));
    check_misuse(allm_codec_decode(NULL, 5, "Message", NULL));
    check_row("options without a size");
    check_misuse(allm_codec_decode("{}", 2, "Message", &sizeless));
    check_row("a flag of a later version");
    check_misuse(allm_codec_decode("{}", 2, "Message",
                                   ALLM(json_opts, .flags = 1u << 30)));
}

/* A header older than ours had options without an allocator. */
static void reads_no_further_than_the_options(void)
{
    size_t size = offsetof(allm_json_opts, allocator);
    void *older = malloc(size);
    CHECK_ALWAYS(older != NULL);
    memset(older, 0, size);
    memcpy(older, &size, sizeof size);
    allm_codec *c = allm_codec_decode("{}", 2, "Message", older);
    CHECK_INT(allm_codec_type(c), ALLM_TYPE_MESSAGE);
    allm_codec_free(c);
    free(older);
}

static void accepts_null(void)
{
    CHECK_INT(kind_of(allm_codec_error(NULL)), ALLM_ERR_NOMEM);
    CHECK_INT(allm_codec_type(NULL), ALLM_TYPE_NONE);
    CHECK_ALWAYS(!allm_codec_value(NULL, ALLM_TYPE_MESSAGE));
    CHECK_ALWAYS(!allm_codec_json(NULL, ALLM_FORM_TAGGED));
    allm_codec_free(NULL);
}

static void writes_no_refused_document(void)
{
    allm_codec *c = decode(MESSAGE("bogus"), NULL);
    allm_text *t = allm_codec_json(c, ALLM_FORM_TAGGED);
    CHECK_ALWAYS(!allm_text_bytes(t, NULL));
    CHECK_ALWAYS(allm_text_error(t) != NULL);
    CHECK_INT(kind_of(allm_text_error(t)), ALLM_ERR_VALIDATION);
    allm_text_free(t);
    allm_codec_free(c);
}

static size_t taken;

static void *take(void *ud, void *p, size_t old, size_t size)
{
    *(size_t *)ud += size ? 1 : 0;
    struct mem m = mem_default();
    return m.fn(m.ud, p, old, size);
}

static void uses_the_given_allocator(void)
{
    taken = 0;
    allm_allocator mine = { sizeof mine, take, &taken };
    size_t before = check_allocations();
    allm_codec *c = allm_codec_decode(
        TAGGED("Thread", "{\"messages\":[" MESSAGE("user") "]}"),
        ALLM_NUL_ENDED, NULL, ALLM(json_opts, .allocator = &mine));
    CHECK_INT(allm_codec_type(c), ALLM_TYPE_THREAD);
    CHECK_INT(taken, check_allocations() - before);
    CHECK(taken > 0);
    allm_codec_free(c);
}

/* ---------------------------------------------------------------- names --- */

static void knows_every_type(void)
{
    static const struct {
        const char *tag;
        allm_type type;
    } rows[] = {
        { "ALLM.Message", ALLM_TYPE_MESSAGE },
        { "ALLM.Tool", ALLM_TYPE_TOOL },
        { "ALLM.ToolCall", ALLM_TYPE_TOOL_CALL },
        { "ALLM.Request", ALLM_TYPE_REQUEST },
        { "ALLM.Response", ALLM_TYPE_RESPONSE },
        { "ALLM.Thread", ALLM_TYPE_THREAD },
        { "ALLM.Session", ALLM_TYPE_SESSION },
        { "ALLM.StepResult", ALLM_TYPE_STEP_RESULT },
        { "ALLM.ChatResult", ALLM_TYPE_CHAT_RESULT },
        { "ALLM.Usage", ALLM_TYPE_USAGE },
        { "ALLM.Engine", ALLM_TYPE_ENGINE },
        { "ALLM.ModelRef", ALLM_TYPE_MODEL_REF },
        { "ALLM.Error.EngineError", ALLM_TYPE_ERROR },
        { "ALLM.Error.AdapterError", ALLM_TYPE_ERROR },
        { "ALLM.Error.StreamError", ALLM_TYPE_ERROR },
        { "ALLM.Error.ValidationError", ALLM_TYPE_ERROR },
        { "ALLM.Error.ToolError", ALLM_TYPE_ERROR },
        { "ALLM.Error.SessionError", ALLM_TYPE_ERROR },
        { "ALLM.Error.ImageAdapterError", ALLM_TYPE_ERROR },
        { "ALLM.Image", ALLM_TYPE_IMAGE },
        { "ALLM.ImageRequest", ALLM_TYPE_IMAGE_REQUEST },
        { "ALLM.ImageResponse", ALLM_TYPE_IMAGE_RESPONSE },
        { "ALLM.ImageUsage", ALLM_TYPE_IMAGE_USAGE },
        { "ALLM.TextPart", ALLM_TYPE_PART },
        { "ALLM.ImagePart", ALLM_TYPE_PART },
    };
    CHECK_INT(COUNT(rows), 25);
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_row(rows[i].tag);
        allm_type type = ALLM_TYPE_NONE, bare = ALLM_TYPE_NONE;
        const struct shape *s = codec_shape(slice_of(rows[i].tag), &type);
        CHECK_ALWAYS(s != NULL);
        CHECK_TEXT(s ? s->tag : NULL, rows[i].tag);
        CHECK_ALWAYS(type == rows[i].type);
        CHECK_ALWAYS(codec_shape(slice_of(rows[i].tag + 5), &bare) == s);
        CHECK_ALWAYS(bare == type);
    }
}

/* A session preserves everything that the reader accepts. */
static void deep_arguments_survive(void)
{
    char text[512];
    size_t n = 0;
    memcpy(text, "{\"a\":", 5);
    for (n = 5; n < 5 + 127; n++)
        text[n] = '[';
    for (; n < 5 + 254; n++)
        text[n] = ']';
    text[n++] = '}';
    allm_json *arguments = allm_json_parse(text, n, NULL);
    CHECK(!allm_json_error(arguments));
    allm_tool_call *call = allm_tool_call_new(
        ALLM(tool_call, .id = "c", .name = "t", .arguments = arguments));
    const allm_tool_call *list[] = { call };
    allm_session_record *s = allm_session_record_new(
        ALLM(session_record, .status = ALLM_SESSION_AWAITING_TOOLS,
             .pending_tool_call_count = 1, .pending_tool_calls = list));
    size_t len = 0;
    allm_text *json = allm_session_record_json(s, ALLM_FORM_TAGGED);
    const char *bytes = allm_text_bytes(json, &len);
    allm_codec *c = allm_codec_decode(bytes, len, NULL, NULL);
    CHECK(!allm_codec_error(c));
    CHECK_INT(allm_codec_type(c), ALLM_TYPE_SESSION);
    allm_codec_free(c);
    allm_text_free(json);
    allm_session_record_free(s);
    allm_tool_call_free(call);
    allm_json_free(arguments);
}

TESTS = {
    TEST(deep_arguments_survive),
    TEST(refuses_what_is_no_document),
    TEST(names_the_field_of_a_wrong_word),
    TEST(refuses_broken_base64),
    TEST(tells_where_bad_input_is),
    TEST_ONCE(refuses_what_is_too_deep),
    TEST(obeys_the_limits_of_the_caller),
    TEST(accepts_documents),
    TEST(leaves_an_unknown_type_as_it_is),
    TEST(lends_its_value_by_type_only),
    TEST(counts_bytes_or_stops_at_nul),
    TEST(refuses_misuse),
    TEST(reads_no_further_than_the_options),
    TEST(accepts_null),
    TEST(writes_no_refused_document),
    TEST(uses_the_given_allocator),
    TEST(knows_every_type),
    TESTS_END,
};
