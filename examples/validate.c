/*
 * validate.c - find all faults of a request at once
 *
 * Constructors check only what a struct needs.  This checks the whole request
 * before anything is sent.
 */
#include <allm.h>
#include <stdio.h>

/* A fault is [path, reason]; a path is a name, or a list of names and
 * indexes. */
static void show(const char *title, const allm_error *error)
{
    printf("%s: %s\n", title, error ? error->message : "well formed");
    const allm_json *faults = error ? error->errors : NULL;
    for (const allm_json *f = NULL; (f = allm_json_next(faults, f));) {
        allm_text *path = allm_json_write(allm_json_at(f, 0), 0);
        const char *where = allm_text_bytes(path, NULL);
        printf("    %-30s  %s\n", where ? where : "(no memory)",
               allm_json_text(allm_json_at(f, 1), NULL));
        allm_text_free(path);
    }
}

int main(void)
{
    const allm_message *messages[] = {
        ALLM(message, .role = ALLM_ROLE_USER, .text = "And tomorrow?"),
        ALLM(message, .role = ALLM_ROLE_TOOL, .text = "rain"), /* of what? */
    };
    const allm_tool *tools[] = {
        ALLM(tool, .name = "weather", .description = "The weather to come.",
             .schema_text = "{\"type\": \"object\"}"),
        ALLM(tool, .name = "what now?", .description = "Good advice.",
             .schema_text = "{\"type\": \"object\"}"),
    };
    allm_request *request = allm_request_new(
        ALLM(request, .messages = messages, .message_count = 2, .tools = tools,
             .tool_count = 2, .temperature = ALLM_NUM(2.5)));
    const allm_error *refused = allm_request_error(request);
    if (refused) {
        fprintf(stderr, "%s\n", refused->message);
        allm_request_free(request);
        return 1;
    }
    allm_error *error = allm_validate_request(request);
    show("a request", error);
    allm_error_free(error);
    allm_request_free(request);

    /* JSON from elsewhere may contain what a struct cannot hold. */
    const char text[] =
        "{\"messages\": [{\"role\": \"owner\", \"content\": 7}],"
        " \"max_tokens\": \"many\"}";
    allm_json *json = allm_json_parse(text, ALLM_NUL_ENDED, NULL);
    error = allm_validate_json("request", json);
    show("another, as JSON", error);
    allm_error_free(error);
    allm_json_free(json);
    return 0;
}
