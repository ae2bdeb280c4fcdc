/*
 * own_loop.c - streams in your own event loop, next to your own descriptors
 *
 * The loop uses poll() and watches the hub, and a pipe that stands for the
 * user.  Three streams run on the real clock; when two of them have ended, the
 * user presses a key, and the third is cancelled.
 */
#include <allm.h>

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STREAMS = 3 };

static const char scripts[] =
    "{\"scripts\": ["
    "  [[\"text\", \"Red\"], [\"delay\", 4], [\"text\", \" wine.\"]],"
    "  [[\"text\", \"Tea\"], [\"delay\", 2], [\"text\", \", please.\"]],"
    "  [[\"text\", \"Let me think\"], [\"delay\", 60000]]"
    "]}";

static allm_engine *make_engine(void)
{
    allm_json *opts = allm_json_parse(scripts, strlen(scripts), NULL);
    allm_engine *engine = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .adapter_opts = opts));
    allm_json_free(opts);
    return engine;
}

static allm_stream *ask(const allm_engine *engine)
{
    const allm_message *question = ALLM(message, .role = ALLM_ROLE_USER,
                                        .text = "What do you drink?");
    return allm_generate(
        engine, ALLM(request, .message_count = 1, .messages = &question), NULL);
}

/* Pull from every ready stream; returns how many have ended. */
static int visit(allm_hub *hub)
{
    const allm_event *event;
    allm_stream *stream;
    int ended = 0;

    while ((stream = allm_hub_wait(hub, 0, NULL))) {
        allm_status status;
        while ((status = allm_stream_next(stream, &event)) == ALLM_EVENT)
            ;                   /* show the event */
        ended += status != ALLM_AGAIN;
    }
    return ended;
}

static void run(allm_hub *hub, int user, int keyboard, allm_stream *slow)
{
    struct pollfd fds[] = { { .fd = allm_hub_fd(hub), .events = POLLIN },
                            { .fd = user, .events = POLLIN } };
    char byte;
    int ended = 0;

    while (ended < STREAMS && poll(fds, 2, allm_hub_timeout(hub)) >= 0) {
        if (fds[1].revents && read(user, &byte, 1) == 1)
            allm_stream_cancel(slow);
        int more = visit(hub);
        ended += more;
        if (more && ended == STREAMS - 1 && write(keyboard, "q", 1) != 1)
            return;
    }
}

int main(void)
{
    int ends[2];
    allm_stream *streams[STREAMS];
    if (pipe(ends) != 0)
        return 1;
    allm_engine *engine = make_engine();
    allm_hub *hub = allm_hub_new(NULL);
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = ask(engine);
        if (allm_hub_add(hub, streams[i], NULL) < 0)
            return 1;
    }

    run(hub, ends[0], ends[1], streams[STREAMS - 1]);

    for (int i = 0; i < STREAMS; i++) {
        const allm_response *response = allm_stream_response(streams[i]);
        const allm_error *error = allm_stream_error(streams[i]);
        printf("%d  %-14s  %s\n", i + 1, response ? response->output_text : "",
               error ? error->message : "complete");
        allm_stream_free(streams[i]);
    }
    allm_hub_free(hub);
    allm_engine_free(engine);
    close(ends[0]);
    close(ends[1]);
    return 0;
}
