/*
 * peer_allm.c - the client of liballm; see client.h
 */
#include "allm.h"

#include "client.h"

static const char *base;

/* ------------------------------------------------------------ objects --- */

static void note(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)args;
    (void)ud;
    allm_tool_text(run, "fine", 4);
}

static allm_engine *make_engine(const allm_tool *tool)
{
    char opts[256];
    snprintf(opts, sizeof opts, "{\"base_url\": \"%s/v1\"}", base);
    allm_json *json = allm_json_parse(opts, ALLM_NUL_ENDED, NULL);
    allm_keys *keys = allm_keys_new(NULL);
    if (allm_keys_put(keys, "openai_chat", "k") != ALLM_OK)
        client_fail("the key was not kept");
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .model = "openai_chat:m", .adapter_opts = json,
             .keys = keys, .tool_count = tool ? 1 : 0, .tools = &tool,
             .net = ALLM(net_opts, .proxy = "")));
    allm_json_free(json);
    allm_keys_free(keys);
    if (allm_engine_error(e))
        client_fail(allm_engine_error(e)->message);
    return e;
}

static allm_request *make_request(void)
{
    const allm_message *hi = ALLM(message, .role = ALLM_ROLE_USER,
                                  .text = "hi");
    return allm_request_new(ALLM(request, .message_count = 1, .messages = &hi));
}

/* ---------------------------------------------------------- workloads --- */

static size_t is_delta(const allm_event *event)
{
    return event->type == ALLM_EV_TEXT_DELTA ||
           event->type == ALLM_EV_TOOL_CALL_DELTA;
}

/* The deltas of a stream, which is freed. */
static size_t read_all(allm_stream *s)
{
    size_t n = 0;
    const allm_event *event;
    while (allm_stream_next(s, &event) == ALLM_EVENT)
        n += is_delta(event);
    if (allm_stream_error(s))
        client_fail(allm_stream_error(s)->message);
    allm_stream_free(s);
    return n;
}

static size_t run_plain(const allm_engine *e, long n)
{
    size_t events = 0;
    allm_request *r = make_request();
    for (long i = 0; i < n; i++)
        events += read_all(allm_generate(e, r, NULL));
    allm_request_free(r);
    return events;
}

static size_t run_history(const allm_engine *e, long n)
{
    size_t events = 0;
    allm_thread *t = allm_thread_new(NULL);
    for (int i = 0; i < HISTORY - 1; i++)
        allm_thread_add(t, i % 2 ? ALLM_ROLE_ASSISTANT : ALLM_ROLE_USER,
                        client_prose());
    for (long i = 0; i < n; i++) {
        allm_thread_add(t, ALLM_ROLE_USER, client_prose());
        allm_request *r = allm_request_from_thread(t, NULL);
        events += read_all(allm_generate(e, r, NULL));
        allm_request_free(r);
    }
    allm_thread_free(t);
    return events;
}

static size_t run_tools(const allm_engine *e, long n)
{
    size_t events = 0;
    allm_thread *t = allm_thread_new(NULL);
    allm_thread_add(t, ALLM_ROLE_USER, "hi");
    for (long i = 0; i < n; i++)
        events += read_all(allm_chat(e, t, NULL));
    allm_thread_free(t);
    return events;
}

static size_t run_paced(const allm_engine *e, long n)
{
    size_t events = 0;
    const allm_event *event;
    allm_stream *s, **all = calloc((size_t)n, sizeof(*all));
    allm_request *r = make_request();
    allm_hub *hub = allm_hub_new(NULL);
    for (long i = 0; i < n; i++) {
        all[i] = allm_generate(e, r, NULL);
        allm_hub_add(hub, all[i], NULL);
    }
    while ((s = allm_hub_wait(hub, -1, NULL)))
        while (allm_stream_next(s, &event) == ALLM_EVENT)
            events += is_delta(event);
    for (long i = 0; i < n; i++)
        allm_stream_free(all[i]);
    allm_hub_free(hub);
    allm_request_free(r);
    free(all);
    return events;
}

/* Opens a stream, and reads its two deltas. */
static void hold_one(const allm_engine *e, allm_request *r, allm_hub *hub)
{
    size_t texts = 0;
    const allm_event *event;
    allm_stream *s = allm_generate(e, r, NULL);
    allm_hub_add(hub, s, NULL);
    while (texts < 2 && (s = allm_hub_wait(hub, 60000, NULL)))
        while (allm_stream_next(s, &event) == ALLM_EVENT)
            texts += is_delta(event);
    if (texts != 2)
        client_fail("a stream without its two events");
}

static void run_hold(const allm_engine *e, long n)
{
    allm_request *r = make_request();
    allm_hub *hub = allm_hub_new(NULL);
    client_allow_files();
    hold_one(e, r, hub);
    client_meet("base");
    for (long i = 0; i < n; i++)
        hold_one(e, r, hub);
    client_meet("held");
    _Exit(0);
}

static void run_start(const allm_engine *e)
{
    const allm_event *event;
    allm_request *r = make_request();
    allm_stream *s = allm_generate(e, r, NULL);
    while (allm_stream_next(s, &event) == ALLM_EVENT)
        if (is_delta(event))
            puts("first"), fflush(stdout);
    if (allm_stream_error(s))
        client_fail(allm_stream_error(s)->message);
    allm_stream_free(s);
    allm_request_free(r);
}

static const struct {
    const char *name;
    size_t (*run)(const allm_engine *, long);
} workloads[] = {
    { "one", run_plain },       { "many", run_plain },   { "args", run_plain },
    { "history", run_history }, { "tools", run_tools },  { "paced", run_paced },
};

static int run(const allm_engine *e, const char *name, long n)
{
    if (!strcmp(name, "hold"))
        run_hold(e, n);
    if (!strcmp(name, "start")) {
        run_start(e);
        return 0;
    }
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        if (strcmp(workloads[i].name, name) != 0)
            continue;
        workloads[i].run(e, n < 5 ? 1 : n / 5);
        int64_t began = client_cpu_us();
        client_report(workloads[i].run(e, n), began);
        return 0;
    }
    return 2;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    base = argv[2];
    allm_tool *tool = allm_tool_new(
        ALLM(tool, .name = "note", .description = "keeps a note",
             .schema_text = "{\"type\": \"object\", \"properties\": {\"text\": "
                            "{\"type\": \"string\"}}}",
             .call = note, .flags = ALLM_TOOL_INLINE));
    allm_engine *e = make_engine(!strcmp(argv[1], "tools") ? tool : NULL);
    int status = run(e, argv[1], strtol(argv[3], NULL, 10));
    allm_engine_free(e);
    allm_tool_free(tool);
    return status;
}
