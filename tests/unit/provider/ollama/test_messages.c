/* test_messages.c - messages that depend on other messages */
#include "provider/ollama/messages.h"

#include "harness/check.h"
#include "harness/noun.h"

static allm_message *noun_message(const char *text)
{
    allm_json *v = noun_json(text);
    allm_text *t = allm_json_write(v, 0);
    size_t len = 0;
    const char *bytes = allm_text_bytes(t, &len);
    allm_codec *c = allm_codec_decode(bytes, len, "Message", NULL);
    const allm_message *m = allm_codec_value(c, ALLM_TYPE_MESSAGE);
    allm_message *mine = m ? allm_message_new(m) : NULL;
    allm_codec_free(c);
    allm_text_free(t);
    allm_json_free(v);
    return mine;
}

/* The list of these two messages. */
static void check_list(const allm_message *first, const allm_message *second,
                       const char *want)
{
    struct arena a;
    struct buf out;
    struct emit e;
    const allm_message *list[] = { first, second };
    const allm_request r = { .size = sizeof r,
                             .message_count = 2,
                             .messages = list };
    const allm_call call = { .size = sizeof call,
                             .request = &r,
                             .provider = "ollama",
                             .model = "m" };
    arena_init(&a, mem_default());
    buf_init(&out, &a, 65536);
    emit_init(&e, &out);
    if (ollama_messages_write(&call, &e, &a) && !out.broken)
        CHECK_SLICE(buf_slice(&out), slice_of(want));
    else
        CHECK(false);
    arena_release(&a);
}

#define ASKS(name) \
    "{'role': 'assistant', 'content': '', 'metadata': {'tool_calls': " \
    "[{'id': 'a', 'name': '" name "', 'arguments': {}}]}}"
#define LIST(name) \
    "[{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"a\"," \
    "\"function\":{\"name\":\"" name "\",\"arguments\":{}}}]}," \
    "{\"role\":\"tool\",\"content\":\"six\",\"tool_name\":\"" name "\"," \
    "\"tool_call_id\":\"a\"}]"

/* The cached encoding of a result belongs to its tool. */
static void a_result_is_named_after_its_call(void)
{
    allm_message *tide = noun_message(ASKS("tide"));
    allm_message *moon = noun_message(ASKS("moon"));
    allm_message *result = noun_message("{'role': 'tool', 'content': 'six',"
                                        " 'tool_call_id': 'a'}");
    if (tide && moon && result)
        for (int i = 0; i < 2; i++) {
            check_list(tide, result, LIST("tide"));
            check_list(moon, result, LIST("moon"));
        }
    else
        CHECK(false);
    allm_message_free(tide);
    allm_message_free(moon);
    allm_message_free(result);
}

TESTS = { TEST(a_result_is_named_after_its_call), TESTS_END };
