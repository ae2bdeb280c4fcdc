/*
 * events.c - write events as JSON lines, and read them back
 *
 * A stream emits events.  Each has a JSON form, one object with "type" first,
 * so a stream can be logged, sent or replayed line by line.
 */
#include <allm.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Events such as a stream emits; here they are invented. */
static void write_events(FILE *file)
{
    const allm_event *events[] = {
        ALLM(event, .type = ALLM_EV_TEXT_DELTA, .seq = 1, .text = "In "),
        ALLM(event, .type = ALLM_EV_TEXT_DELTA, .seq = 2, .text = "autumn."),
        ALLM(event, .type = ALLM_EV_TOOL_CALL_STARTED, .seq = 3, .id = "c1",
             .name = "weather"),
        ALLM(event, .type = ALLM_EV_USAGE, .seq = 4,
             .usage = ALLM(usage, .input_tokens = ALLM_NUM(12),
                           .output_tokens = ALLM_NUM(3))),
    };
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        allm_text *line = allm_event_json(events[i]);
        if (!allm_text_error(line))
            fprintf(file, "%s\n", allm_text_bytes(line, NULL));
        allm_text_free(line);
    }
    fputs("{\"type\": \"applause\", \"seq\": 5}\n", file); /* unknown */
}

static void read_event(const char *line)
{
    allm_event *event = allm_event_parse(line, strcspn(line, "\n"));
    const allm_error *error = allm_event_error(event);
    int64_t total = 0;

    printf("%s", line);
    if (error)
        printf("    refused: %s\n", error->message);
    else if (event->type == ALLM_EV_TEXT_DELTA)
        printf("    the model says \"%s\"\n", event->text);
    else if (allm_usage_total(event->usage, &total))
        printf("    %" PRId64 " tokens in all\n", total);
    else
        printf("    %s of %s\n", allm_event_tag(event->type), event->name);
    allm_event_free(event);
}

int main(void)
{
    char line[1024];
    FILE *file = tmpfile();
    if (!file)
        return 1;
    write_events(file);
    rewind(file);
    while (fgets(line, sizeof line, file))
        read_event(line);
    fclose(file);
    return 0;
}
