/*
 * mcp_server.c - an MCP server with one tool, over standard input and output
 *
 * Enter its path as a command in the configuration of any MCP client.
 */
#include <allm.h>

#include <stdio.h>
#include <unistd.h>

static const char tools[] =
    "[{\"name\": \"add\", \"description\": \"Adds two numbers\","
    "  \"inputSchema\": {\"type\": \"object\", \"properties\": {"
    "      \"a\": {\"type\": \"number\"}, \"b\": {\"type\": \"number\"}},"
    "    \"required\": [\"a\", \"b\"]}}]";

static void answer(allm_mcp_server *s, const allm_mcp_request *r)
{
    char text[64];
    if (r->kind != ALLM_MCP_REQUEST_CALL)   /* cancelled: nothing to stop */
        return;
    double sum = allm_json_number(allm_json_get(r->arguments, "a")) +
                 allm_json_number(allm_json_get(r->arguments, "b"));
    snprintf(text, sizeof text, "%g", sum);
    allm_mcp_server_text(s, r->id, text, ALLM_NUL_ENDED, false);
}

/* Send what the server has to say; false: nobody reads it. */
static bool send_all(allm_mcp_server *s)
{
    size_t len;
    for (const char *bytes; (bytes = allm_mcp_server_out(s, &len));) {
        ssize_t n = write(STDOUT_FILENO, bytes, len);
        if (n <= 0)
            return false;
        allm_mcp_server_sent(s, (size_t)n);
    }
    return true;
}

int main(void)
{
    allm_json *list = allm_json_parse(tools, ALLM_NUL_ENDED, NULL);
    allm_mcp_server *s = allm_mcp_server_new(
        ALLM(mcp_server_opts, .name = "adder", .version = "1", .tools = list));
    char bytes[4096];
    for (ssize_t n; !allm_mcp_server_error(s) && send_all(s) &&
                    (n = read(STDIN_FILENO, bytes, sizeof bytes)) > 0;) {
        allm_mcp_server_feed(s, bytes, (size_t)n);
        for (const allm_mcp_request *r; (r = allm_mcp_server_next(s));)
            answer(s, r);
    }
    const allm_error *error = allm_mcp_server_error(s);
    if (error)
        fprintf(stderr, "%s\n", error->message);
    int status = error != NULL;
    allm_mcp_server_free(s);
    allm_json_free(list);
    return status;
}
