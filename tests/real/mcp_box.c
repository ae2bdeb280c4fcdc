/*
 * mcp_box.c - use a real MCP server as the tools of a toolbox
 *
 * usage: mcp_box ENTRY COMMAND...      ENTRY: JSON of an mcpServers file
 *
 *      tools                   the names of its tools
 *      call TOOL [JSON]        a call as a chat makes it
 *      request METHOD [JSON]   allm_toolbox_request()
 *      form JSON               the answer to the forms that follow
 *
 * Prints a line for every answer, form and progress, and the state at the end.
 */
#include "allm.h"

#include <stdio.h>
#include <string.h>

struct user {
    const char *form;
};

static void print_json(const char *word, const allm_json *v)
{
    allm_text *text = allm_json_write(v, 0);
    printf("%s %s\n", word, allm_text_bytes(text, NULL));
    allm_text_free(text);
}

static allm_json *parse(const char *text)
{
    return allm_json_parse(text, ALLM_NUL_ENDED, NULL);
}

static void fill_in(void *ud, allm_elicitation *e)
{
    struct user *u = ud;
    allm_json *content = parse(u->form ? u->form : "{}");
    print_json("elicit", allm_elicitation_schema(e));
    if (allm_elicitation_accept(e, content) != ALLM_OK)
        printf("faults %s\n", allm_elicitation_error(e)->message);
    allm_elicitation_free(e);
    allm_json_free(content);
}

static void show_progress(void *ud, const allm_tool_progress *p)
{
    (void)ud;
    printf("progress %s %d\n", p->tool, (int)p->progress);
}

static void print_tools(allm_toolbox *box)
{
    const allm_executor *x = allm_toolbox_executor(box);
    size_t count;
    const allm_tool *const *tools = x->tools(x->self, &count);
    printf("tools %zu\n", count);
    for (size_t i = 0; i < count; i++)
        printf("tool %s %u\n", tools[i]->name, tools[i]->compact);
}

/* The name ends at the first blank; what follows is JSON. */
static allm_json *split(const char *command, char name[256])
{
    const char *blank = strchr(command, ' ');
    snprintf(name, 256, "%.*s", (int)strcspn(command, " "), command);
    return parse(blank ? blank + 1 : "{}");
}

static void call_tool(allm_toolbox *box, const allm_engine *engine,
                      const char *command)
{
    char name[256];
    allm_json *args = split(command, name);
    const allm_executor *x = allm_toolbox_executor(box);
    size_t count;
    const allm_tool *const *tools = x->tools(x->self, &count);
    allm_tool_call *call = allm_tool_call_new(
        ALLM(tool_call, .id = "c1", .name = name, .arguments = args));
    allm_stream *s =
        allm_tool_calls(engine, 1, (const allm_tool_call *const *)&call,
                        ALLM(tool_calls_opts, .executor = x, .tools = tools,
                             .tool_count = count, .validate_arguments = 1));
    allm_stream_wait(s);
    const allm_message *m = allm_stream_tool_message(s, 0);
    allm_json_build *b = allm_json_build_new(NULL);
    const char *said = m && m->part_count ? m->parts[0]->text
                       : m                ? m->text
                                          : NULL;
    allm_json_build_text(b, said ? said : "nothing", ALLM_NUL_ENDED);
    allm_json *text = allm_json_build_done(b);
    print_json("result", text);
    allm_json_free(text);
    allm_stream_free(s);
    allm_tool_call_free(call);
    allm_json_free(args);
}

static void make_request(allm_toolbox *box, const char *command)
{
    char method[256];
    allm_json *params = split(command, method);
    allm_json *got = allm_toolbox_request(box, "s", method, params, 60000);
    const allm_error *error = allm_json_error(got);
    if (error)
        printf("error %s %s\n", error->reason, error->message);
    else
        print_json("answer", got);
    allm_json_free(got);
    allm_json_free(params);
}

static void run_command(allm_toolbox *box, const allm_engine *engine,
                        struct user *u, const char *command)
{
    if (!strcmp(command, "tools"))
        print_tools(box);
    else if (!strncmp(command, "call ", 5))
        call_tool(box, engine, command + 5);
    else if (!strncmp(command, "request ", 8))
        make_request(box, command + 8);
    else if (!strncmp(command, "form ", 5))
        u->form = command + 5;
}

static void print_server(allm_toolbox *box)
{
    allm_json *report = allm_toolbox_report(box);
    print_json("server", allm_json_at(allm_json_get(report, "servers"), 0));
    allm_json_free(report);
}

int main(int argc, char **argv)
{
    struct user user = { NULL };
    if (argc < 2)
        return 2;
    allm_json *entry = parse(argv[1]);
    allm_json *rules = parse("[{\"tool\":\"*\",\"verdict\":\"auto\"}]");
    allm_toolbox *box = allm_toolbox_new(
        ALLM(toolbox_opts, .elicit = fill_in, .progress = show_progress,
             .ud = &user, .root = "/tmp", .rules = rules));
    allm_json_free(rules);
    allm_engine *engine = allm_engine_new(ALLM(engine_opts, .adapter = "fake"));
    if (allm_toolbox_add_server(box, "s", entry) != ALLM_OK)
        printf("refused %s\n", allm_toolbox_error(box)->message);
    allm_toolbox_wait(box, -1);
    for (int i = 2; i < argc; i++)
        run_command(box, engine, &user, argv[i]);
    print_server(box);
    allm_engine_free(engine);
    allm_toolbox_free(box);
    allm_json_free(entry);
    return 0;
}
