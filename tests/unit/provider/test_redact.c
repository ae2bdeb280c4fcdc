/* test_redact.c - remove keys from errors */
#include "provider/redact.h"

#include "harness/check.h"
#include "harness/play.h"
#include "harness/watch.h"

#define KEY "sesame-0123456789"

static void errors_are_copied_whole(void)
{
    struct arena a;
    char message[] = "bad " KEY, reason[] = "unknown", provider[] = "p",
         id[] = "r-" KEY, tool[] = "t-" KEY, call[] = "c-" KEY;
    allm_json *v = play_json("{'k': ['" KEY "', 1.5, {'" KEY "': null}]}");
    allm_error e = *ALLM(error, .kind = ALLM_ERR_ADAPTER, .reason = reason,
                         .message = message, .provider = provider,
                         .request_id = id, .cause = v, .metadata = v,
                         .tool_name = tool, .tool_call_id = call, .errors = v,
                         .kept = v, .http_status = { 401, true });
    arena_init(&a, mem_default());
    const allm_error *clean = redact_error(&a, &e, SLICE(KEY));
    memset(message, '#', 4);    /* nothing of the original is needed */
    reason[0] = provider[0] = id[0] = tool[0] = call[0] = '#';
    allm_json_free(v);
    if (clean->kind == ALLM_ERR_ADAPTER) {
        CHECK_TEXT(clean->message, "bad [REDACTED]");
        CHECK_TEXT(clean->reason, "unknown");
        CHECK_TEXT(clean->provider, "p");
        CHECK_TEXT(clean->request_id, "r-[REDACTED]");
        CHECK_INT(clean->http_status.value, 401);
        allm_text *t = allm_json_write(clean->cause, 0);
        CHECK_TEXT(allm_text_bytes(t, NULL),
                   "{\"k\":[\"[REDACTED]\",1.5,{\"[REDACTED]\":null}]}");
        allm_text_free(t);
        CHECK_TEXT(clean->tool_name, "t-[REDACTED]");
        CHECK_TEXT(clean->tool_call_id, "c-[REDACTED]");
        CHECK(allm_json_equal(clean->metadata, clean->cause));
        CHECK(allm_json_equal(clean->errors, clean->cause));
        CHECK(allm_json_equal(clean->kept, clean->cause));
    }
    CHECK(clean->kind == ALLM_ERR_ADAPTER);
    arena_release(&a);
}

/* In JSON such a key looks different: rather no value than one with it. */
static void keys_with_quotes_do_not_pass_through_json(void)
{
    struct arena a;
    allm_json *v = play_json("{'k': 'se\\\\same-0'}");
    arena_init(&a, mem_default());
    allm_error e = *ALLM(error, .kind = ALLM_ERR_ADAPTER, .reason = "unknown",
                         .message = "m", .cause = v);
    const allm_error *clean = redact_error(&a, &e, SLICE("se\\same-0"));
    CHECK_ALWAYS(!clean->cause);
    clean = redact_error(&a, &e, SLICE("another-key"));
    CHECK(clean->cause && clean->cause != v);
    arena_release(&a);
    allm_json_free(v);
}

/* A long message is cut, but never in the middle of a key or a letter. */
static void long_messages_are_cut_behind_their_keys(void)
{
    struct arena a;
    char text[2100];
    memset(text, 'x', sizeof text);
    memcpy(text + 1990, KEY, sizeof KEY - 1);
    text[sizeof text - 1] = '\0';
    arena_init(&a, mem_default());
    const allm_error *e = redact_error(&a,
                                       ALLM(error, .kind = ALLM_ERR_ADAPTER,
                                            .reason = "unknown",
                                            .message = text, .provider = KEY),
                                       SLICE(KEY));
    if (e->kind == ALLM_ERR_ADAPTER) {
        CHECK_INT(strlen(e->message), 2000);
        CHECK_TEXT(e->message + 1990, "[REDACTED]");
        CHECK_TEXT(e->provider, "[REDACTED]");
    }
    for (size_t i = 0; i + 1 < sizeof text; i += 2)
        memcpy(text + i, "\xC3\xA9", 2);
    text[sizeof text - 2] = '\0';
    memmove(text + 1, text, sizeof text - 1);
    text[0] = 'x';
    e = redact_error(&a,
                     ALLM(error, .kind = ALLM_ERR_ADAPTER, .reason = "unknown",
                          .message = text),
                     SLICE(KEY));
    if (e->kind == ALLM_ERR_ADAPTER)
        CHECK_INT(strlen(e->message), 1999);
    arena_release(&a);
}

static void answers_are_cleaned_of_long_keys(void)
{
    static const struct {
        const char *why, *json, *clean, *key;
    } rows[] = {
        { "no key in it", "{'id': 'x'}", NULL, KEY },
        { "a key", "{'id': 'a-" KEY "', 'n': [1.5, '" KEY "']}",
          "{\"id\":\"a-[REDACTED]\",\"n\":[1.5,\"[REDACTED]\"]}",
          KEY },
        { "no key was sent", "{'id': '" KEY "'}", NULL, "" },
        { "a key that may be a word", "{'id': 'lm-studio/x'}", NULL,
          "lm-studio" },
        { "what looks like another's", "{'id': 'sk-abcdefghijk'}", NULL,
          KEY },
        { "a key with a backslash", "{'id': 'sesame\\\\0123456'}",
          "{\"id\":\"[REDACTED]\"}", "sesame\\0123456" },
        { "a key that is a number", "{'n': 123456789012}", "{}",
          "123456789012" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        allm_json *v = play_json(rows[i].json);
        check_row(rows[i].why);
        arena_init(&a, mem_default());
        const allm_json *clean = redact_answer(&a, v, slice_of(rows[i].key));
        allm_text *t = clean ? allm_json_write(clean, 0) : NULL;
        if (clean && !rows[i].clean)
            CHECK_ALWAYS(clean == v);
        else if (t && !allm_text_error(t))
            CHECK_TEXT(allm_text_bytes(t, NULL), rows[i].clean);
        CHECK(clean != NULL);
        allm_text_free(t);
        arena_release(&a);
        allm_json_free(v);
    }
}

TESTS = {
    TEST(long_messages_are_cut_behind_their_keys),
    TEST(errors_are_copied_whole),
    TEST(keys_with_quotes_do_not_pass_through_json),
    TEST(answers_are_cleaned_of_long_keys),
    TESTS_END,
};
