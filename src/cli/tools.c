/* tools.c - allm tools: list programs that are tools, and run one */
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/input.h"
#include "cli/print.h"

#include "allm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct wants {
    struct flag_list tool;
    const char *mode;
    bool json;
};

static const struct flag flags[] = {
    { 0, "--tool", FLAG_LIST, offsetof(struct wants, tool), "PATH",
      "a program, or a folder of them; repeatable", FILL_FILE,
      .use = FLAG_MOST },
    { 0, "--mode", FLAG_CHOICE, offsetof(struct wants, mode), "on|strict|off",
      "the sandbox: on, strict or off", FILL_WORDS, "on|strict|off",
      .use = FLAG_MOST },
    { 0, "--json", FLAG_SWITCH, offsetof(struct wants, json), NULL,
      "print JSON", .use = FLAG_MOST },
    { .name = NULL },
};

extern const struct command tools_command;

/* The folder of the user's own tools; false: there is none. */
static bool own_folder(char *path, size_t cap)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (config && *config == '/')
        snprintf(path, cap, "%s/allm/tools", config);
    else
        snprintf(path, cap, "%s/.config/allm/tools", home ? home : "");
    return !access(path, R_OK);
}

static allm_sandbox_mode mode_of_tools(const char *name)
{
    if (name && !strcmp(name, "strict"))
        return ALLM_SANDBOX_STRICT;
    return name && !strcmp(name, "off") ? ALLM_SANDBOX_OFF : ALLM_SANDBOX_ON;
}

/* Those of --tool, else those of the user's folder; what cannot be added is
 * reported. */
static allm_toolbox *open_toolbox(const struct wants *w)
{
    char own[4096];
    allm_sandbox_mode mode = mode_of_tools(w->mode);
    allm_toolbox *box = allm_toolbox_new(ALLM(toolbox_opts, .sandbox = mode));
    if (mode == ALLM_SANDBOX_OFF)
        print_fault("the sandbox is off: tools can do whatever you can");
    for (size_t i = 0; i < w->tool.count; i++)
        allm_toolbox_add_program(box, w->tool.word[i]);
    if (!w->tool.count && own_folder(own, sizeof own))
        allm_toolbox_add_program(box, own);
    allm_json *report = allm_toolbox_report(box);
    const allm_json *failed = allm_json_get(report, "failed"), *at = NULL;
    while ((at = allm_json_next(failed, at)))
        print_fault("%s", allm_json_text(allm_json_get(at, "error"), NULL));
    allm_json_free(report);
    return box;
}

static void print_reach(const allm_json *reach)
{
    const allm_json *word = NULL;
    if (!allm_json_count(reach))
        print_text("-");
    while ((word = allm_json_next(reach, word)))
        print_format("%s%s", word == allm_json_at(reach, 0) ? "" : ", ",
                     allm_json_text(word, NULL));
}

static int list_tools(allm_toolbox *box, const struct wants *w)
{
    allm_json *report = allm_toolbox_report(box);
    const allm_json *tools = allm_json_get(report, "tools"), *at = NULL;
    if (w->json)
        print_json(tools, 0);
    while (!w->json && (at = allm_json_next(tools, at))) {
        print_format("%-24s %-10s ",
                     allm_json_text(allm_json_get(at, "name"), NULL),
                     allm_json_text(allm_json_get(at, "effect"), NULL));
        print_reach(allm_json_get(at, "reach"));
        print_text("\n");
    }
    if (!allm_json_count(tools))
        print_note("no tools; name a program with --tool PATH");
    allm_json_free(report);
    return END_DONE;
}

static const allm_tool *find_tool(allm_toolbox *box, const char *name)
{
    const allm_executor *x = allm_toolbox_executor(box);
    size_t count = 0;
    const allm_tool *const *tools = x ? x->tools(x->self, &count) : NULL;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(tools[i]->name, name))
            return tools[i];
    print_fault("no tool \"%.100s\"; allm tools list shows them", name);
    return NULL;
}

static int show_tool(const allm_tool *tool)
{
    allm_text *text = allm_tool_json(tool, ALLM_FORM_PLAIN);
    allm_json *json = allm_json_parse(allm_text_bytes(text, NULL),
                                      ALLM_NUL_ENDED, NULL);
    print_json(json, ALLM_JSON_PRETTY);
    allm_json_free(json);
    allm_text_free(text);
    return END_DONE;
}

/* The arguments: JSON, "-" for standard input, or none. */
static allm_json *read_arguments(const char *given)
{
    if (given && !strcmp(given, "-"))
        return input_json(NULL);
    allm_json *args = allm_json_parse(given ? given : "{}", ALLM_NUL_ENDED,
                                      NULL);
    const allm_error *error = allm_json_error(args);
    if (!error)
        return args;
    print_fault("the arguments are not JSON: %s", error->message);
    allm_json_free(args);
    return NULL;
}

static int run_stream(allm_stream *s)
{
    allm_status status = allm_stream_wait(s);
    const allm_error *error = allm_stream_tool_error(s);
    const allm_message *m = allm_stream_tool_message(s, 0);
    int code = status < 0 || error ? END_FAILED : END_DONE;
    if (error)
        print_fault("%s", error->message);
    else if (m && m->text)
        print_format("%s%s", m->text,
                     *m->text && m->text[strlen(m->text) - 1] == '\n' ? ""
                                                                      : "\n");
    allm_stream_free(s);
    return code;
}

static int run_tool(allm_toolbox *box, const char *name, const char *given)
{
    allm_json *args = read_arguments(given);
    if (!args)
        return END_USAGE;
    allm_engine *engine =
        allm_engine_new(ALLM(engine_opts, .model = "fake:none"));
    allm_tool_call *call = allm_tool_call_new(
        ALLM(tool_call, .id = "run", .name = name, .arguments = args));
    const allm_executor *x = allm_toolbox_executor(box);
    size_t count = 0;
    const allm_tool *const *tools = x->tools(x->self, &count);
    int code = run_stream(
        allm_tool_calls(engine, 1, (const allm_tool_call *const *)&call,
                        ALLM(tool_calls_opts, .executor = x, .tools = tools,
                             .tool_count = count, .validate_arguments = 1,
                             .on_tool_error = ALLM_TOOL_POLICY_HALT)));
    allm_tool_call_free(call);
    allm_engine_free(engine);
    allm_json_free(args);
    return code;
}

static int run_sub(allm_toolbox *box, const struct wants *w, int argc,
                   char **argv)
{
    bool list = !strcmp(argv[0], "list"), show = !strcmp(argv[0], "show");
    if (list && argc == 1)
        return list_tools(box, w);
    if (argc < 2 || list || argc > (show ? 2 : 3)) {
        print_fault("allm tools %s", list   ? "list takes no argument"
                                     : show ? "show needs the name of a tool"
                                            : "run needs the name of a tool, "
                                              "and its arguments as JSON");
        return END_USAGE;
    }
    const allm_tool *tool = find_tool(box, argv[1]);
    if (!tool)
        return END_USAGE;
    return show ? show_tool(tool)
                : run_tool(box, argv[1], argc > 2 ? argv[2] : NULL);
}

static int run_tools_command(int argc, char **argv)
{
    struct wants w = { .mode = NULL };
    if (!flags_read(flags, &w, &argc, argv))
        return END_USAGE;
    const char *sub = argc ? argv[0] : "";
    if (strcmp(sub, "list") != 0 && strcmp(sub, "show") != 0 &&
        strcmp(sub, "run") != 0)
        return command_reject_sub(&tools_command, argc ? argv[0] : NULL);
    allm_toolbox *box = open_toolbox(&w);
    int code = run_sub(box, &w, argc, argv);
    allm_toolbox_free(box);
    return print_end(code);
}

const struct command tools_command = {
    .name = "tools",
    .usage = "[FLAG...] list | show NAME | run NAME [JSON|-]",
    .summary = "list programs that are tools, and run one",
    .more = "A tool is a program with a description.  Without --tool, the "
            "tools are those in\n~/.config/allm/tools.  list shows what each "
            "may access beyond the default.  run\nruns one as a model would, "
            "in the sandbox; its arguments are a JSON object.\n",
    .examples = "allm tools list --tool ./my-tools\n"
                "allm tools run git_log '{\"count\": 3}' --tool ./git_log\n",
    .subs = "list|show|run",
    .flags = flags,
    .group = GROUP_STATE,
    .run = run_tools_command,
};
