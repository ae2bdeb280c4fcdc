/*
 * trace.c - trace calls with a callback
 *
 * The engine calls it for each span, retry and warning.  Here a scripted model
 * fails once, and the call is retried; the clock is virtual, so the program
 * does not wait.
 */
#include <allm.h>

#include <stdio.h>
#include <string.h>

static int64_t now;

static int64_t now_ns(void *ud)
{
    (void)ud;
    return now;
}

static int64_t unix_ms(void *ud)
{
    (void)ud;
    return now / 1000000;
}

static bool jump(void *ud, int64_t ns)
{
    (void)ud;
    now = ns;
    return true;
}

/* Print a line for each event; allm_trace_json() writes all of it. */
static void tell(const allm_trace_event *event, void *ud)
{
    allm_text *line = allm_trace_json(event, ALLM_TRACE_PLAIN);
    size_t *bytes = ud, len = 0;
    allm_text_bytes(line, &len);
    *bytes += len;
    printf("%s %s", event->span, event->what);
    if (event->duration_ns)
        printf(" after %d ms", (int)(event->duration_ns / 1000000));
    if (!strcmp(event->what, "retry"))
        printf(": %s",
               allm_json_text(allm_json_get(event->metadata, "reason"), NULL));
    putchar('\n');
    allm_text_free(line);
}

int main(void)
{
    static const char script[] =
        "{\"retry_until_call\": 2,"
        " \"script\": [[\"text\", \"hi\"], [\"finish\", \"stop\"]]}";
    static const char policy[] = "{\"jitter_ms\": 0}";
    size_t bytes = 0;
    allm_json *opts = allm_json_parse(script, strlen(script), NULL);
    allm_json *retry = allm_json_parse(policy, strlen(policy), NULL);
    allm_engine *engine = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .adapter_opts = opts,
             .retry = retry, .trace = tell, .trace_ud = &bytes,
             .clock = ALLM(clock, .now_ns = now_ns, .unix_ms = unix_ms,
                           .sleep_until = jump)));
    const allm_message *message = ALLM(message, .role = ALLM_ROLE_USER,
                                       .text = "Hello");
    allm_stream *stream =
        allm_generate(engine,
                      ALLM(request, .message_count = 1, .messages = &message),
                      ALLM(call_opts, .request_id = "example"));

    int status = allm_stream_wait(stream) == ALLM_OK ? 0 : 1;
    printf("%s bytes of JSON for \"%s\"\n", bytes ? "some" : "no",
           allm_stream_request_id(stream));
    allm_stream_free(stream);
    allm_engine_free(engine);
    allm_json_free(retry);
    allm_json_free(opts);
    return status;
}
