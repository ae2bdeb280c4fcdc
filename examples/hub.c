/*
 * hub.c - three concurrent streams in one thread
 *
 * The models are scripted and the clock is virtual: it jumps to the next
 * deadline whenever the hub would wait.  So the events always have the same
 * order, and the program ends at once.
 */
#include <allm.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------- virtual time --- */

static int64_t tell_ns(void *ud)
{
    return *(int64_t *)ud;
}

static int64_t tell_unix_ms(void *ud)
{
    (void)ud;
    return 0;
}

static bool jump_to(void *ud, int64_t ns)
{
    *(int64_t *)ud = ns;
    return true;
}

/* ---------------------------------------------------------- the calls --- */

static const char scripts[] =
    "{\"scripts\": ["
    "  [[\"delay\", 30], [\"text\", \"Red\"], [\"delay\", 40],"
    "   [\"text\", \" wine.\"]],"
    "  [[\"delay\", 10], [\"text\", \"Tea\"], [\"delay\", 10],"
    "   [\"text\", \", please.\"]],"
    "  [[\"delay\", 50], [\"text\", \"Water\"], [\"delay\", 60000]]"
    "]}";

static allm_engine *make_engine(const allm_clock *clock)
{
    allm_json *opts = allm_json_parse(scripts, strlen(scripts), NULL);
    allm_engine *engine = allm_engine_new(ALLM(
        engine_opts, .model = "fake:m", .adapter_opts = opts, .clock = clock));
    allm_json_free(opts);
    return engine;
}

static allm_stream *ask(const allm_engine *engine)
{
    const allm_message *question = ALLM(message, .role = ALLM_ROLE_USER,
                                        .text = "What do you drink?");
    return allm_generate(
        engine, ALLM(request, .message_count = 1, .messages = &question),
        ALLM(call_opts, .silence_ms = 100));
}

/* ----------------------------------------------------------- the loop --- */

/* Pull the events that are available now. */
static void listen(allm_stream *stream, const char *name, int64_t now_ns)
{
    int64_t ms = now_ns / 1000000;
    const allm_event *event;
    allm_status status;

    while ((status = allm_stream_next(stream, &event)) == ALLM_EVENT)
        if (event->type == ALLM_EV_TEXT_DELTA)
            printf("%3" PRId64 " ms  %s says \"%s\"\n", ms, name, event->text);
    if (status == ALLM_AGAIN)
        return;                 /* the hub will return it again */
    const allm_error *error = allm_stream_error(stream);
    printf("%3" PRId64 " ms  %s has ended: %s\n", ms, name,
           error ? error->reason : "all is said");
}

int main(void)
{
    int64_t now_ns = 0;
    const allm_clock clock = { sizeof clock, tell_ns, tell_unix_ms, &now_ns,
                               jump_to };
    char names[][4] = { "Ann", "Bob", "Cy" };
    allm_stream *streams[3], *stream;
    void *name;
    allm_engine *engine = make_engine(&clock);
    allm_hub *hub = allm_hub_new(ALLM(hub_opts, .clock = &clock));

    for (int i = 0; i < 3; i++) {
        streams[i] = ask(engine);
        if (allm_hub_add(hub, streams[i], names[i]) < 0)
            printf("%s\n", allm_hub_error(hub)->message);
    }
    while ((stream = allm_hub_wait(hub, -1, &name)))
        listen(stream, name, now_ns);

    for (int i = 0; i < 3; i++)
        allm_stream_free(streams[i]);
    allm_hub_free(hub);
    allm_engine_free(engine);
    return 0;
}
