/* test_call_plan.c - a call before it runs: model, URL and key */
#include "run/call_plan.h"

#include "harness/check.h"
#include "harness/dialect.h"
#include "harness/play.h"
#include "harness/watch.h"

#include <stdio.h>

#define KEY  "sesame-0123456789"
#define CALL "open-abcdefghijk"
#define GOOD                                                             \
    STEP_HEAD(200), STEP_BYTES("data: {\"text\": \"a\"}\n\ndata: end\n\n"), \
        STEP_END
#define SAID "started text:a completed:a/stop ok"

typedef const struct scripted_step script[];

static script good = { GOOD, GOOD, GOOD, GOOD, STEP_DONE };

/* The environment of a test: name, value, ..., NULL. */
static const char *variable(void *ud, const char *name)
{
    const char *const *pairs = ud;
    for (size_t i = 0; pairs && pairs[i]; i += 2)
        if (!strcmp(pairs[i], name))
            return pairs[i + 1];
    return NULL;
}

static const char *const with_key[] = { "TEST_API_KEY", KEY, NULL };

static allm_keys *keys_of(const char *const *env)
{
    return allm_keys_new(
        ALLM(keys_opts, .env = variable, .env_ud = (void *)(uintptr_t)env));
}

/* The test's dialect, sent with a key. */
static allm_adapter locked(void)
{
    allm_adapter a = dialect_sse;
    a.auth_header = "authorization";
    a.auth_prefix = "Bearer ";
    return a;
}

/* The registry row of the test's provider. */
static struct registry_row *row_of(const struct dialect_set *d)
{
    static struct registry_row none;
    return d->engine ? (struct registry_row *)(uintptr_t)engine_row(d->engine)
                     : &none;
}

/* ----------------------------------------------------------------- keys --- */

/* One call: its events, and the key that was sent. */
static const char *call_with(struct dialect_set *d, const char *key)
{
    static char told[512];
    size_t n = d->play.opens;
    allm_stream *s = play_call_with(d->engine, ALLM(call_opts, .api_key = key));
    const char *events = play_all(s);
    const struct scripted_request *r = &d->play.request[n];
    snprintf(told, sizeof told, "%s|%s: %s",
             strcmp(events, SAID) == 0 ? "said" : events, r->secret_name,
             r->secret_value);
    CHECK(!strstr(r->headers, KEY) && !strstr(r->headers, CALL));
    CHECK(!strstr(r->url, KEY) && !strstr(r->body, KEY));
    allm_stream_free(s);
    return told;
}

static void keys_go_into_the_secret_slot_only(void)
{
    allm_adapter a = locked();
    allm_keys *keys = keys_of(with_key);
    struct dialect_set d = { .steps = good, .adapter = &a, .keys = keys };
    dialect_set_up(&d);
    CHECK_TEXT(call_with(&d, NULL), "said|authorization: Bearer " KEY);
    CHECK_TEXT(call_with(&d, CALL), "said|authorization: Bearer " CALL);
    row_of(&d)->auth_header = "x-api-key";      /* a row goes before */
    CHECK_TEXT(call_with(&d, NULL), "said|x-api-key: " KEY);
    row_of(&d)->auth_prefix = "Key ";
    CHECK_TEXT(call_with(&d, NULL), "said|x-api-key: Key " KEY);
    dialect_tear_down(&d);
    allm_keys_free(keys);
}

static void a_missing_key_is_reported_before_anything_is_sent(void)
{
    allm_adapter a = locked();
    allm_keys *keys = keys_of(NULL);
    struct dialect_set d = { .steps = good, .adapter = &a, .keys = keys };
    dialect_set_up(&d);
    allm_stream *s = play_call(d.engine);
    const allm_error *e = allm_stream_error(s);
    CHECK(e && !strcmp(e->reason, "missing_key"));
    CHECK(e && strstr(e->message, "TEST_API_KEY"));
    CHECK_TEXT(play_all(s), "engine missing_key");
    allm_stream_free(s);
    CHECK_INT(d.play.opens, 0);
    row_of(&d)->keyless = true;
    CHECK_TEXT(call_with(&d, NULL), "said|: ");
    CHECK_TEXT(call_with(&d, CALL), "said|authorization: Bearer " CALL);
    dialect_tear_down(&d);
    allm_keys_free(keys);
}

static void keys_that_break_a_header_are_refused(void)
{
    static const char *const odd[] = { "secret-\n", "secret-\r\nx: y",
                                       "secret-\x7f", "\tsecret-" };
    allm_adapter a = locked();
    allm_keys *keys = keys_of(NULL);
    struct dialect_set d = { .steps = good, .adapter = &a, .keys = keys };
    dialect_set_up(&d);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        allm_stream *s = play_call_with(d.engine,
                                        ALLM(call_opts, .api_key = odd[i]));
        CHECK(s && !strstr(play_why(s), "secret-"));
        CHECK_TEXT(play_all(s), "misuse invalid_key");
        allm_stream_free(s);
    }
    CHECK_INT(d.play.opens, 0);
    dialect_tear_down(&d);
    allm_keys_free(keys);
}

static void keys_may_be_given_as_data(void)
{
    allm_adapter a = locked();
    allm_keys *keys = keys_of(NULL);
    struct dialect_set d = { .steps = good, .adapter = &a, .keys = keys };
    allm_json *data = play_json("{'api_key': '" CALL "'}");
    allm_json *number = play_json("{'api_key': 3}");
    dialect_set_up(&d);
    allm_stream *s = play_call_with(d.engine, ALLM(call_opts, .json = data));
    CHECK_TEXT(play_all(s), SAID);
    CHECK_TEXT(d.play.request[0].secret_value, "Bearer " CALL);
    allm_stream_free(s);
    s = play_call_with(d.engine, ALLM(call_opts, .json = number));
    CHECK_TEXT(play_all(s), "misuse invalid_option");
    allm_stream_free(s);
    s = play_call_with(d.engine, ALLM(call_opts, .json = data, .api_key = KEY));
    CHECK_TEXT(play_all(s), "misuse invalid_option");
    allm_stream_free(s);
    dialect_tear_down(&d);
    allm_json_free(data);
    allm_json_free(number);
    allm_keys_free(keys);
}

/* A key is sent only to the provider that it belongs to. */
static void keys_of_others_are_not_sent(void)
{
    static const char *const env[] = { "TEST_API_KEY", KEY, "FAKE_API_KEY",
                                       CALL, NULL };
    allm_adapter a = locked();
    allm_keys *keys = keys_of(env);
    struct dialect_set d = { .steps = good, .adapter = &a, .keys = keys,
                             .model = "fake:m" };
    dialect_set_up(&d);
    CHECK_TEXT(call_with(&d, NULL), "said|authorization: Bearer " KEY);
    row_of(&d)->base_url = "https://row.example";
    CHECK_TEXT(call_with(&d, NULL), "said|authorization: Bearer " KEY);
    CHECK(strstr(d.play.request[1].body,
                 "\"model\":\"m\",\"provider\":\"test\""));
    const allm_message *hi = ALLM(message, .role = ALLM_ROLE_USER,
                                  .text = "hi");
    const allm_model_ref *ref = ALLM(model_ref, .provider = "fake", .id = "m");
    allm_stream *s = allm_generate(d.engine,
                                   ALLM(request, .message_count = 1,
                                        .messages = &hi, .model_ref = ref),
                                   NULL);
    CHECK_TEXT(play_all(s), SAID);
    CHECK_TEXT(d.play.request[2].secret_value, "Bearer " KEY);
    allm_stream_free(s);
    dialect_tear_down(&d);
    allm_keys_free(keys);
}

static void one_guarded_call(struct watch *w, const struct scripted_step *steps)
{
    allm_allocator memory = watch_allocator(w);
    allm_adapter a = locked();
    allm_keys *keys = allm_keys_new(ALLM(keys_opts, .env = variable,
                                         .env_ud = (void *)(uintptr_t)with_key,
                                         .allocator = &memory));
    struct dialect_set d = { .steps = steps, .adapter = &a, .keys = keys,
                             .allocator = &memory };
    dialect_set_up(&d);
    allm_stream *s = play_call(d.engine);
    allm_stream_next(s, NULL);
    allm_stream_free(s);
    allm_json *other = play_json("{'seed': 1}");
    s = play_call_with(d.engine,
                       ALLM(call_opts, .api_key = KEY, .json = other));
    play_all(s);
    allm_stream_free(s);
    allm_json_free(other);
    allm_json *data = play_json("{'api_key': '" KEY "', 'seed': 1}");
    s = play_call_with(d.engine, ALLM(call_opts, .json = data));
    play_all(s);
    allm_stream_free(s);
    allm_json_free(data);
    dialect_tear_down(&d);
    allm_keys_free(keys);
}

static void keys_are_wiped(void)
{
    script broken = { STEP_ERROR("network_error", "x"), STEP_HEAD(503),
                      STEP_BYTES("busy"), STEP_END, GOOD, GOOD, GOOD,
                      STEP_DONE };
    struct watch w = watch_for(KEY);
    one_guarded_call(&w, good);
    one_guarded_call(&w, broken);
    CHECK_ALWAYS(w.leaked == 0);
    CHECK_ALWAYS(w.live == 0);
}

/* ----------------------------------------------------------------- echo --- */

static bool has_key(const allm_json *v)
{
    allm_text *t = allm_json_write(v, 0);
    const char *text = allm_text_bytes(t, NULL);
    bool found = text && strstr(text, KEY);
    allm_text_free(t);
    return found;
}

/* The error does not contain the key. */
static void check_echo(const struct scripted_step *steps, const char *message)
{
    allm_adapter a = locked();
    allm_keys *keys = keys_of(with_key);
    allm_json *never = play_json("false");
    struct dialect_set d = { .steps = steps, .adapter = &a, .keys = keys,
                             .retry = never };
    dialect_set_up(&d);
    allm_stream *s = play_call(d.engine);
    allm_stream_wait(s);
    const allm_error *e = allm_stream_error(s);
    CHECK_ALWAYS(!e || !strstr(e->message, KEY));
    CHECK_ALWAYS(!e || (!has_key(e->cause) && !has_key(e->metadata)));
    CHECK_ALWAYS(!e || !e->request_id || !strstr(e->request_id, KEY));
    CHECK_TEXT(e ? e->message : NULL, message);
    allm_stream_free(s);
    dialect_tear_down(&d);
    allm_json_free(never);
    allm_keys_free(keys);
}

static void keys_that_servers_repeat_are_taken_out(void)
{
    script refusal = { STEP_HEADERS(401, "x-request-id", "of " KEY),
                       STEP_BYTES("{\"error\": \"bad key " KEY "!\"}"),
                       STEP_END, STEP_DONE };
    check_echo(refusal, "HTTP status 401: bad key [REDACTED]!");
    script explained = { STEP_HEAD(400),
                         STEP_BYTES("{\"why\": \"" KEY "\", \"more\": {\"a\":"
                                    "[\"Bearer " KEY "\"], \"b\": 1}}"),
                         STEP_END, STEP_DONE };
    check_echo(explained, "[REDACTED]");
    script text = { STEP_HEAD(400), STEP_BYTES("!bad " KEY), STEP_END,
                    STEP_DONE };
    check_echo(text, "!bad [REDACTED]");
    script transport = { STEP_ERROR("network_error", "tried " KEY),
                         STEP_DONE };
    check_echo(transport, "tried [REDACTED]");
    script opening = { STEP_REFUSE("network_error", "tried " KEY), STEP_DONE };
    check_echo(opening, "tried [REDACTED]");
    script cut = { STEP_HEAD(200), STEP_BYTES(":"),
                   STEP_ERROR("network_error", "lost " KEY), STEP_DONE };
    check_echo(cut, "the answer broke off in its middle: lost [REDACTED]");
    script failing = { STEP_HEAD(200),
                       STEP_BYTES("data: {\"error\": \"bad " KEY "\"}\n\n"),
                       STEP_END, STEP_DONE };
    check_echo(failing, "bad [REDACTED]");
    script telling = { STEP_HEAD(200),
                       STEP_BYTES("data: {\"tells\": \"bad " KEY "\","
                                  " \"finish\": 1}\n\n"),
                       STEP_END, STEP_DONE };
    check_echo(telling, "bad [REDACTED]");
}

/* ---------------------------------------------------------------- place --- */

static const char *place(const struct dialect_set *d, const char *json)
{
    size_t n = d->play.opens;
    allm_json *opts = play_json(json);
    allm_stream *s = play_call_with(d->engine, ALLM(call_opts, .json = opts));
    allm_stream_wait(s);
    allm_stream_free(s);
    allm_json_free(opts);
    return n < SCRIPTED_REQUESTS ? d->play.request[n].url : "";
}

static void places_have_an_order(void)
{
    const char *env[] = { "TEST_URL", "http://env.example/v1/", NULL };
    allm_keys *keys = keys_of(env);
    allm_json *own = play_json("{'base_url': 'http://engine.example'}");
    struct dialect_set d = { .steps = good, .keys = keys };
    dialect_set_up(&d);
    CHECK_TEXT(place(&d, "{}"), "https://test.example/talk");
    row_of(&d)->base_url = "http://row.example";
    CHECK_TEXT(place(&d, "{}"), "http://row.example/talk");
    row_of(&d)->base_url_env = "TEST_URL";
    CHECK_TEXT(place(&d, "{}"), "http://env.example/v1/talk");
    env[1] = "";
    CHECK_TEXT(place(&d, "{}"), "http://row.example/talk");
    dialect_tear_down(&d);

    env[1] = "http://env.example";
    d = (struct dialect_set){ .steps = good, .keys = keys,
                              .adapter_opts = own };
    dialect_set_up(&d);
    row_of(&d)->base_url = "http://row.example";
    row_of(&d)->base_url_env = "TEST_URL";
    CHECK_TEXT(place(&d, "{}"), "http://engine.example/talk");
    CHECK_TEXT(place(&d, "{'adapter_opts': {'base_url': 'http://o.example'}}"),
               "http://o.example/talk");
    CHECK_TEXT(place(&d, "{'base_url': 'http://call.example//'}"),
               "http://call.example/talk");
    dialect_tear_down(&d);
    allm_json_free(own);
    allm_keys_free(keys);
}

/* A key must not go to the provider's own address since ours is misspelt. */
static void an_address_is_a_text(void)
{
    static const char *const rows[] = {
        "{'base_url': 7}", "{'base_url': ['http://a.example']}",
        "{'adapter_opts': {'base_url': {}}}", "{'base_url': true}",
        "{'base_url': ''}", "{'adapter_opts': {'base_url': '/'}}"
    };
    struct dialect_set d = { .steps = good };
    dialect_set_up(&d);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i]);
        allm_json *opts = play_json(rows[i]);
        allm_stream *s = play_call_with(d.engine,
                                        ALLM(call_opts, .json = opts));
        CHECK_TEXT(play_all(s), "misuse invalid_option");
        allm_stream_free(s);
        allm_json_free(opts);
    }
    CHECK_INT(d.play.opens, 0);
    CHECK_TEXT(place(&d, "{'base_url': null}"), "https://test.example/talk");
    dialect_tear_down(&d);
}

/* The part after a "#" is not sent, and the path would be there. */
static void check_fragment(const char *env_url, const char *own_json,
                           const char *call_json)
{
    const char *env[] = { "TEST_URL", env_url, NULL };
    allm_keys *keys = keys_of(env);
    allm_json *own = play_json(own_json), *opts = play_json(call_json);
    struct dialect_set d = { .steps = good, .keys = keys,
                             .adapter_opts = own };
    dialect_set_up(&d);
    row_of(&d)->base_url = "http://row.example";
    row_of(&d)->base_url_env = "TEST_URL";
    allm_stream *s = play_call_with(d.engine, ALLM(call_opts, .json = opts));
    CHECK_TEXT(play_all(s), "engine invalid_engine");
    const allm_error *e = allm_stream_error(s);
    if (e && e->kind != ALLM_ERR_NOMEM)
        CHECK_TEXT(e->message,
                   "base_url is "
                   "\"https://[REDACTED]@h.example/v1?key=[REDACTED]#x\" "
                   "and must not have a fragment; remove the \"#\" and what "
                   "follows it");
    allm_stream_free(s);
    CHECK_INT(d.play.opens, 0);
    dialect_tear_down(&d);
    allm_json_free(opts);
    allm_json_free(own);
    allm_keys_free(keys);
}

static void an_address_has_no_fragment(void)
{
#define ODD "https://me:pass@h.example/v1?key=abc#x"
    check_fragment(ODD, "{}", "{}");
    check_fragment(NULL, "{'base_url': '" ODD "'}", "{}");
    check_fragment(NULL, "{}", "{'base_url': '" ODD "'}");
    check_fragment(NULL, "{}", "{'adapter_opts': {'base_url': '" ODD "'}}");
#undef ODD
}

/* ---------------------------------------------------------------- model --- */

/* The adapter's argument: "provider/model". */
static const char *named(const char *model, const char *base_url)
{
    static char told[1024];
    struct dialect_set d = { .steps = good, .model = model };
    dialect_set_up(&d);
    row_of(&d)->base_url = base_url;
    allm_stream *s = play_call(d.engine);
    allm_stream_wait(s);
    allm_stream_free(s);
    snprintf(told, sizeof told, "%s", d.play.request[0].body);
    char *end = strstr(told, ",\"attempt");
    if (end)
        *end = '\0';
    dialect_tear_down(&d);
    return told;
}

static void models_are_named_as_their_provider_knows_them(void)
{
    const char *url = "http://row.example";
    CHECK_TEXT(named("m", NULL), "{\"model\":\"m\",\"provider\":\"test\"");
    CHECK_TEXT(named("acme:m", NULL),
               "{\"model\":\"acme:m\",\"provider\":\"test\"");
    CHECK_TEXT(named("m@test", NULL), "{\"model\":\"m\",\"provider\":\"test\"");
    CHECK_TEXT(named("test:m:8b", url),
               "{\"model\":\"m:8b\",\"provider\":\"test\"");
    CHECK_TEXT(named("m:8b", url), "{\"model\":\"m:8b\",\"provider\":\"test\"");
}

static void a_dialect_needs_a_model(void)
{
    struct scripted play = { .steps = good };
    allm_transport t = scripted_transport(&play);
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .adapter_table = &dialect_sse, .transport = &t));
    allm_stream *s = play_call(e);
    CHECK_TEXT(play_all(s), "engine missing_model");
    allm_stream_free(s);
    s = play_call_with(e, ALLM(call_opts, .model = "test:m"));
    CHECK_TEXT(play_all(s), SAID);
    allm_stream_free(s);
    allm_engine_free(e);
}

/* Without an adapter the model selects the provider, however it is set. */
static void the_models_provider_is_used(void)
{
    const allm_message *hi = ALLM(message, .role = ALLM_ROLE_USER,
                                  .text = "hi");
    const allm_model_ref *ref = ALLM(model_ref, .provider = "fake", .id = "m");
    allm_json *opts = play_json("{'scripts': [[], [], []]}");
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .adapter_opts = opts));
    allm_request r = *ALLM(request, .message_count = 1, .messages = &hi);
    allm_stream *s = allm_generate(e, &r, NULL);
    CHECK_TEXT(play_all(s), "engine missing_adapter");
    allm_stream_free(s);
    s = allm_generate(e, &r, ALLM(call_opts, .model = "fake:m"));
    CHECK_TEXT(play_all(s), "started completed:/null ok");
    allm_stream_free(s);
    r.model = "m@fake";
    s = allm_generate(e, &r, NULL);
    CHECK_TEXT(play_all(s), "started completed:/null ok");
    allm_stream_free(s);
    r.model = NULL;
    r.model_ref = ref;
    s = allm_generate(e, &r, NULL);
    CHECK_TEXT(play_all(s), "started completed:/null ok");
    allm_stream_free(s);
    allm_engine_free(e);
    allm_json_free(opts);
}

TESTS = {
    TEST(keys_go_into_the_secret_slot_only),
    TEST(a_missing_key_is_reported_before_anything_is_sent),
    TEST(keys_that_break_a_header_are_refused),
    TEST(keys_may_be_given_as_data),
    TEST(keys_of_others_are_not_sent),
    TEST(keys_are_wiped),
    TEST(keys_that_servers_repeat_are_taken_out),
    TEST(places_have_an_order),
    TEST(an_address_is_a_text),
    TEST(an_address_has_no_fragment),
    TEST(models_are_named_as_their_provider_knows_them),
    TEST(a_dialect_needs_a_model),
    TEST(the_models_provider_is_used),
    TESTS_END,
};
