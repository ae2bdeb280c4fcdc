/*
 * test_struct_sizes.c - structs of callers with an older or a newer header
 *
 * Every struct that a caller fills begins with its size.  For each of them, by
 * chapter: a size that was not set is rejected; an older, shorter struct is
 * accepted; a newer, longer one is accepted if its unknown members are zero,
 * and rejected if one is set.  An allocator, clock or random source that is
 * rejected is not used; the other structs make an error.
 */
#include "base/clock.h"
#include "harness/noun.h"
#include "json/json.h"

#include <stdlib.h>

/* Does the library accept the struct? */
typedef bool (*accepts_fn)(const void *fields);

static bool is_fine(const allm_error *error)
{
    return !error ||
           (error->kind != ALLM_ERR_MISUSE && error->kind != ALLM_ERR_NOMEM);
}

/* --------------------------------------------------------- constructors --- */

#define CONSTRUCTOR(T) \
    static bool accepts_##T(const void *fields) \
    { \
        allm_##T *v = allm_##T##_new(fields); \
        bool fine = is_fine(allm_##T##_error(v)); \
        allm_##T##_free(v); \
        return fine; \
    }

CONSTRUCTOR(image)
CONSTRUCTOR(message)
CONSTRUCTOR(tool_call)
CONSTRUCTOR(usage)
CONSTRUCTOR(model_ref)
CONSTRUCTOR(request)
CONSTRUCTOR(response)
CONSTRUCTOR(engine_record)
CONSTRUCTOR(event)
CONSTRUCTOR(tool)
CONSTRUCTOR(step_result)
CONSTRUCTOR(chat_result)
CONSTRUCTOR(session_record)
CONSTRUCTOR(image_request)
CONSTRUCTOR(image_usage)
CONSTRUCTOR(image_response)

/* The options of a constructor are also such structs. */
#define OPTIONS(T) \
    static bool accepts_##T##_opts(const void *fields) \
    { \
        allm_##T *v = allm_##T##_new(fields); \
        bool fine = is_fine(allm_##T##_error(v)); \
        allm_##T##_free(v); \
        return fine; \
    }

OPTIONS(thread)
OPTIONS(keys)
OPTIONS(engine)
OPTIONS(hub)
OPTIONS(budget)

static bool accepts_error(const void *fields)
{
    allm_error *e = allm_error_new(fields);
    bool fine = e && e->kind == ALLM_ERR_ADAPTER;
    allm_error_free(e);
    return fine;
}

static bool accepts_part(const void *fields)
{
    const allm_part *part = fields;
    return accepts_message(
        ALLM(message, .role = ALLM_ROLE_USER, .parts = &part, .part_count = 1));
}

static bool accepts_recorder_opts(const void *fields)
{
    allm_recorder *r = allm_recorder_new(NULL, fields);
    bool fine = is_fine(allm_recorder_error(r));
    allm_recorder_free(r);
    return fine;
}

static bool accepts_player_opts(const void *fields)
{
    allm_player *p = allm_player_new(NULL, fields);
    bool fine = is_fine(allm_player_error(p));
    allm_player_free(p);
    return fine;
}

static bool accepts_reducer_opts(const void *fields)
{
    allm_reducer *r = allm_reducer_new(ALLM(session_record, .id = "s"), fields);
    bool fine = is_fine(allm_reducer_error(r));
    allm_reducer_free(r);
    return fine;
}

/* ---------------------------------------------------- base, JSON, trace --- */

static bool accepts_allocator(const void *fields)
{
    return mem_from(fields).fn != mem_default().fn;
}

static bool accepts_clock(const void *fields)
{
    return clock_from(fields).now_ns != clock_real().now_ns;
}

static bool accepts_random(const void *fields)
{
    return random_from(fields).fill != random_system().fill;
}

static bool accepts_json_opts(const void *fields)
{
    allm_json *v = allm_json_parse("1", 1, fields);
    allm_codec *c = allm_codec_decode("{}", 2, "Usage", fields);
    bool parsed = is_fine(allm_json_error(v));
    bool read = is_fine(allm_codec_error(c));
    allm_json_free(v);
    allm_codec_free(c);
    CHECK(parsed == read);
    return parsed;
}

static bool accepts_trace_event(const void *fields)
{
    allm_text *t = allm_trace_json(fields, ALLM_TRACE_PLAIN);
    bool fine = is_fine(allm_text_error(t));
    allm_text_free(t);
    return fine;
}

/* --------------------------------------------------------- in an engine --- */

static bool accepts_net_opts(const void *fields)
{
    bool engine = accepts_engine_opts(
        ALLM(engine_opts, .model = "fake:m", .net = fields));
    CHECK(engine == accepts_hub_opts(ALLM(hub_opts, .net = fields)));
    return engine;
}

static bool accepts_adapter(const void *fields)
{
    return accepts_engine_opts(
        ALLM(engine_opts, .model = "m", .adapter_table = fields));
}

static bool accepts_transport(const void *fields)
{
    bool engine = accepts_engine_opts(
        ALLM(engine_opts, .model = "fake:m", .transport = fields));
    CHECK(engine ==
          accepts_recorder_opts(ALLM(recorder_opts, .transport = fields)));
    return engine;
}

/* ------------------------------------------------------------ in a call --- */

static bool is_stream_fine(allm_stream *s)
{
    bool fine = is_fine(allm_stream_error(s));
    allm_stream_free(s);
    return fine;
}

/* A model that can be called, and a conversation. */
struct talk {
    allm_engine *engine;
    allm_thread *thread;
};

static struct talk talk_new(void)
{
    struct talk t = {
        allm_engine_new(ALLM(engine_opts, .model = "fake:m")),
        allm_thread_new(NULL),
    };
    allm_thread_add(t.thread, ALLM_ROLE_USER, "hi");
    return t;
}

static bool talk_end(struct talk t, allm_stream *s)
{
    bool fine = is_stream_fine(s);
    allm_engine_free(t.engine);
    allm_thread_free(t.thread);
    return fine;
}

static bool accepts_call_opts(const void *fields)
{
    struct talk t = talk_new();
    return talk_end(t, allm_chat(t.engine, t.thread, fields));
}

static bool accepts_agent_opts(const void *fields)
{
    struct talk t = talk_new();
    return talk_end(t, allm_agent(t.engine, t.thread, fields));
}

static bool accepts_tool_calls_opts(const void *fields)
{
    struct talk t = talk_new();
    return talk_end(t, allm_tool_calls(t.engine, 0, NULL, fields));
}

static bool accepts_embed_request(const void *fields)
{
    struct talk t = talk_new();
    return talk_end(t, allm_embed(t.engine, fields, NULL));
}

static bool accepts_moderation_request(const void *fields)
{
    struct talk t = talk_new();
    return talk_end(t, allm_moderate(t.engine, fields, NULL));
}

static bool accepts_executor(const void *fields)
{
    bool engine = accepts_engine_opts(
        ALLM(engine_opts, .model = "fake:m", .executor = fields));
    CHECK(engine == accepts_call_opts(ALLM(call_opts, .executor = fields)));
    return engine;
}

static bool accepts_encoder(const void *fields)
{
    bool engine = accepts_engine_opts(
        ALLM(engine_opts, .model = "fake:m", .encoder = fields));
    CHECK(engine == accepts_call_opts(ALLM(call_opts, .encoder = fields)));
    return engine;
}

static bool accepts_policy(const void *fields)
{
    const allm_policy *policy = fields;
    return accepts_call_opts(
        ALLM(call_opts, .policies = &policy, .policy_count = 1));
}

static bool accepts_journal_replay(const void *fields)
{
    return accepts_call_opts(ALLM(call_opts, .replay = fields));
}

static bool accepts_journal_tool(const void *fields)
{
    const allm_journal_tool *tool = fields;
    return accepts_journal_replay(
        ALLM(journal_replay, .tools = &tool, .tool_count = 1));
}

static bool accepts_stage(const void *fields)
{
    allm_pipeline *six = allm_pipeline_new();
    allm_pipeline *more = allm_pipeline_insert(six, NULL, fields);
    allm_pipeline *same = allm_pipeline_replace(six, "decide", fields);
    bool fine = is_fine(allm_pipeline_error(more));
    CHECK(fine == is_fine(allm_pipeline_error(same)));
    allm_pipeline_free(same);
    allm_pipeline_free(more);
    allm_pipeline_free(six);
    return fine;
}

static bool accepts_tool_answer(const void *fields)
{
    allm_session *s = allm_session_new(NULL);
    bool fine = allm_session_append_tool_result(s, fields) == ALLM_OK;
    allm_session_free(s);
    return fine;
}

/* -------------------------------------------------------------- samples --- */

static void *give(void *ud, void *p, size_t old, size_t size)
{
    (void)ud, (void)old;
    if (size)
        return realloc(p, size);
    free(p);
    return NULL;
}

static int64_t now(void *ud)
{
    (void)ud;
    return 1;
}

static bool fill(void *ud, void *bytes, size_t len)
{
    (void)ud;
    memset(bytes, 1, len);
    return true;
}

static allm_status open_source(void *state, const allm_call *call, allm_sink *s)
{
    (void)state, (void)call, (void)s;
    return ALLM_OK;
}

static allm_status next_event(void *state, const allm_call *call, allm_sink *s,
                              int64_t *again_ns)
{
    (void)state, (void)call, (void)s, (void)again_ns;
    return ALLM_OK;
}

static allm_exchange *open_exchange(void *self, const allm_http_view *view,
                                    allm_waker *waker, const allm_error **error)
{
    (void)self, (void)view, (void)waker, (void)error;
    return NULL;
}

static allm_status read_exchange(void *self, allm_exchange *x, allm_chunk *out)
{
    (void)self, (void)x, (void)out;
    return ALLM_OK;
}

static const allm_http_head *head_of(void *self, allm_exchange *x)
{
    (void)self, (void)x;
    return NULL;
}

static void close_exchange(void *self, allm_exchange *x)
{
    (void)self, (void)x;
}

static void encode(void *self, const allm_json *value, bool is_error,
                   allm_encoding *out)
{
    (void)self, (void)value, (void)is_error, (void)out;
}

static void execute(void *self, const allm_tool *tool, allm_tool_run *run,
                    const allm_json *args)
{
    (void)self, (void)tool, (void)run, (void)args;
}

static allm_status run_stage(allm_context *c, void *ud)
{
    (void)c, (void)ud;
    return ALLM_OK;
}

static const char *const inputs[] = { "a" };
static const allm_message *const no_messages[] = { NULL };
static allm_tool_call call = { .id = "c", .name = "n" };

/* ---------------------------------------------------------------- table --- */

/*
 * One struct: its chapter, the smallest size that is looked at, the size that
 * an older header may give it, its own size, a valid value, and the function
 * that decides.  The least size of a type with a JSON form includes its home.
 */
struct row {
    const char *chapter, *name;
    size_t least, older, size;
    const void *sample;
    accepts_fn accepts;
};

#define ROW(chapter, T, least, later, ...) \
    { chapter, #T, least, offsetof(allm_##T, later), sizeof(allm_##T), \
      &(const allm_##T){ .size = sizeof(allm_##T), __VA_ARGS__ }, accepts_##T }
#define NOUN(chapter, T, later, ...) ROW(chapter, T, 16, later, __VA_ARGS__)
#define OPTS(chapter, T, later, ...) ROW(chapter, T, 8, later, __VA_ARGS__)

static const struct row rows[] = {
    NOUN("base", error, provider, .kind = ALLM_ERR_ADAPTER,
         .reason = "timeout"),
    { "base", "allocator", sizeof(allm_allocator), sizeof(allm_allocator),
      sizeof(allm_allocator),
      &(const allm_allocator){ .size = sizeof(allm_allocator), .fn = give },
      accepts_allocator },
    ROW("base", clock, offsetof(allm_clock, sleep_until), sleep_until,
        .now_ns = now),
    { "base", "random", sizeof(allm_random), sizeof(allm_random),
      sizeof(allm_random),
      &(const allm_random){ .size = sizeof(allm_random), .fill = fill },
      accepts_random },
    OPTS("json", json_opts, allocator, .max_depth = 9),
    NOUN("data", image, mime_type, .source = ALLM_IMAGE_URL,
         .data = "https://x"),
    NOUN("data", part, image, .kind = ALLM_PART_TEXT, .text = "t"),
    NOUN("data", message, name, .role = ALLM_ROLE_USER, .text = "t"),
    { "data", "tool_call", 16, offsetof(allm_tool_call, metadata),
      sizeof(allm_tool_call), &call, accepts_tool_call },
    OPTS("data", thread_opts, allocator, .metadata = NULL),
    NOUN("request", usage, extra, .input_tokens = { 1, true }),
    NOUN("request", model_ref, limits, .provider = "p", .id = "m"),
    NOUN("request", request, temperature, .messages = no_messages),
    NOUN("request", response, raw, .id = "i"),
    OPTS("engine", net_opts, http2, .proxy = ""),
    OPTS("engine", trace_event, model, .span = "chat", .what = "start"),
    OPTS("engine", keys_opts, env, .load_dotenv = 0),
    NOUN("engine", engine_record, params, .model = "m"),
    OPTS("engine", engine_opts, keys, .model = "fake:m"),
    NOUN("event", event, mode, .type = ALLM_EV_TEXT_DELTA, .id = "i",
         .text = "t"),
    OPTS("stream", call_opts, mode, .max_turns = 2),
    OPTS("stream", hub_opts, net, .clock = NULL),
    NOUN("tool", tool, metadata, .name = "n", .description = "d",
         .schema_text = "{}"),
    OPTS("tool", tool_calls_opts, executor, .max_concurrency = 1),
    NOUN("chat", step_result, manual_tool_call_count, .done = 1),
    NOUN("chat", chat_result, manual_tool_call_count,
         .halted_reason = "completed"),
    OPTS("chat", budget_opts, reserve_tokens, .max_tokens = 1),
    OPTS("chat", agent_opts, terminal_tool, .max_iterations = 1),
    NOUN("session", session_record, context, .id = "s"),
    OPTS("session", tool_answer, value, .tool_call_id = "c", .text = "t"),
    OPTS("session", reducer_opts, input, .mode = ALLM_REDUCER_STEP),
    OPTS("media", embed_request, options, .inputs = inputs, .input_count = 1),
    NOUN("media", image_request, quality, .prompt = "p"),
    NOUN("media", image_usage, input_cost, .images = { 1, true }),
    NOUN("media", image_response, raw, .id = "i"),
    OPTS("media", moderation_request, options, .inputs = inputs,
         .input_count = 1),
    OPTS("testing", recorder_opts, clock, .flags = 0),
    OPTS("testing", player_opts, clock, .flags = 0),
    OPTS("adapter", adapter, needs_finalize, .name = "mine",
         .open = open_source, .next = next_event),
    OPTS("adapter", transport, failed, .open = open_exchange,
         .read = read_exchange, .head = head_of, .close = close_exchange),
    OPTS("executor", encoder, encode, .encode = encode),
    OPTS("executor", executor, tools, .execute = execute),
    OPTS("ext", stage, flags, .name = "mine", .run = run_stage),
    OPTS("ext", policy, close, .name = "mine"),
    OPTS("ext", journal_replay, response, .turn = 0),
    OPTS("ext", journal_tool, done, .tool_call_id = "c"),
};

/* Try a struct of n bytes; a longer one than ours ends with the byte `last`. */
static bool accepted(const struct row *r, size_t n, char last)
{
    size_t room = n < r->size ? r->size : n;
    char *block = noun_sized(r->sample, r->size, n < sizeof n ? room : n);
    memcpy(block, &n, sizeof n);
    if (n > r->size)
        block[n - 1] = last;
    bool fine = r->accepts(block);
    free(block);
    return fine;
}

static void check_sizes(const struct row *r)
{
    check_row(r->name);
    for (size_t n = 0; n < r->least; n += n + 1 < sizeof n ? 1 : 4)
        CHECK_WHY(!accepted(r, n, 0), "a size that is too small is rejected");
    CHECK_WHY(accepted(r, r->older, 0), "an older struct is accepted");
    CHECK_WHY(accepted(r, r->size, 0), "one of this version is accepted");
    CHECK_WHY(accepted(r, r->size + 8, 0), "a newer one is accepted");
    CHECK_WHY(!accepted(r, r->size + 8, 1),
              "an unknown member that is set is rejected");
}

static void every_struct_follows_the_rule_for_sizes(void)
{
    call.arguments = json_empty_object();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_sizes(&rows[i]);
}

TESTS = {
    TEST(every_struct_follows_the_rule_for_sizes),
    TESTS_END
};
