/* tools.c - allm tools: list the tools that a model can use, and run one */
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/input.h"
#include "cli/print.h"
#include "cli/signals.h"
#include "cli/toolbox.h"

#include "allm.h"
#include "conf/member.h"

#include <stdlib.h>
#include <string.h>

struct wants {
    struct toolbox_flags toolbox;
    bool json;
};

#define AT(member) offsetof(struct wants, member)

static const struct flag flags[] = {
    TOOLBOX_FLAGS(AT),
    { 0, "--json", FLAG_SWITCH, AT(json), NULL, "print JSON",
      .use = FLAG_MOST },
    { .name = NULL },
};

extern const struct command tools_command;

static void print_reach(const allm_json *reach)
{
    const allm_json *word = NULL;
    if (!allm_json_count(reach))
        print_text("-");
    while ((word = allm_json_next(reach, word)))
        print_format("%s%s", word == allm_json_at(reach, 0) ? "" : ", ",
                     allm_json_text(word, NULL));
}

static int list_tools(const struct wants *w)
{
    allm_json *report = allm_toolbox_report(toolbox_box());
    const allm_json *tools = allm_json_get(report, "tools"), *at = NULL;
    if (w->json)
        print_json(tools, 0);
    while (!w->json && (at = allm_json_next(tools, at))) {
        print_format("%-24s %-8s %-10s ", member_read(at, "name"),
                     member_read(at, "kind"), member_read(at, "effect"));
        print_reach(allm_json_get(at, "reach"));
        print_text("\n");
    }
    if (!allm_json_count(tools))
        print_note("no tools; name a program with --tool PATH");
    allm_json_free(report);
    return END_DONE;
}

static int show_tool_json(const allm_tool *tool)
{
    allm_json *json = member_parse(allm_tool_json(tool, ALLM_FORM_PLAIN));
    print_json(json, ALLM_JSON_PRETTY);
    allm_json_free(json);
    return END_DONE;
}

static int run_stream(allm_stream *s)
{
    signals_watch(s);
    allm_status status = allm_stream_wait(s);
    int signal = signals_unwatch();
    const allm_error *error = status < 0 ? allm_stream_error(s)
                                         : allm_stream_tool_error(s);
    const allm_message *m = allm_stream_tool_message(s, 0);
    const char *text = m && m->part_count ? m->parts[0]->text
                       : m                ? m->text
                                          : NULL;
    const char *question = member_read(allm_stream_tool_halt(s),
                                       "pending_question");
    int code = status < 0 || error ? END_FAILED
               : question          ? END_ASKED
                                   : END_DONE;
    if (error && !signal)
        print_fault("%s", error->message);
    else if (question && !signal)
        print_fault("the tool asks: %.2000s", question);
    else if (text && !signal)
        print_format("%s%s", text,
                     *text && text[strlen(text) - 1] == '\n' ? "" : "\n");
    allm_stream_free(s);
    return signal ? END_SIGNAL + signal : code;
}

static int run_tool(const char *name, const char *given)
{
    allm_json *args = input_arguments(given);
    if (!args)
        return END_USAGE;
    allm_engine *engine =
        allm_engine_new(ALLM(engine_opts, .model = "fake:none"));
    allm_tool_call *call = allm_tool_call_new(
        ALLM(tool_call, .id = "run", .name = name, .arguments = args));
    size_t count = 0;
    const allm_tool *const *tools = toolbox_tools(&count);
    int code = run_stream(allm_tool_calls(
        engine, 1, (const allm_tool_call *const *)&call,
        ALLM(tool_calls_opts, .executor = allm_toolbox_executor(toolbox_box()),
             .tools = tools, .tool_count = count, .validate_arguments = 1,
             .on_tool_error = ALLM_TOOL_POLICY_HALT)));
    allm_tool_call_free(call);
    allm_engine_free(engine);
    allm_json_free(args);
    return code;
}

/* ---------------------------------------------------------------- rules --- */

static void print_rule(const allm_json *rule)
{
    int64_t index = 0;
    const allm_json *reach = allm_json_get(rule, "reach");
    const char *date = member_read(rule, "date");
    if (allm_json_int64(allm_json_get(rule, "index"), &index))
        print_format("%3lld ", (long long)index);
    else
        print_text("  - ");
    print_format("%-8s %-24s %-5s ", member_read(rule, "level"),
                 member_read(rule, "tool"), member_read(rule, "verdict"));
    if (allm_json_count(reach))
        print_reach(reach);
    else
        print_text(allm_json_type_of(reach) == ALLM_JSON_ARRAY
                       ? "nothing beyond the default"
                       : "whatever it accesses");
    print_format("%s%s\n", date ? "  since " : "", date ? date : "");
}

static int list_rules(const struct wants *w)
{
    allm_json *rules = allm_toolbox_rules(toolbox_box());
    if (w->json)
        print_json(rules, 0);
    for (const allm_json *r = NULL; !w->json && (r = allm_json_next(rules, r));)
        print_rule(r);
    if (!allm_json_count(rules))
        print_note("no rules: reading the root runs, everything else asks");
    allm_json_free(rules);
    return END_DONE;
}

static int forget_rule(const char *word)
{
    char *end;
    unsigned long n = strtoul(word, &end, 10);
    if (end == word || *end || !n || n > UINT32_MAX)
        return print_misuse(
            "tools rules rm needs the number that tools rules shows");
    if (allm_toolbox_forget(toolbox_box(), (uint32_t)n) == ALLM_OK)
        return END_DONE;
    const allm_error *error = allm_toolbox_error(toolbox_box());
    return print_misuse("%s", error ? error->message : "out of memory");
}

static int run_rules(const struct wants *w, int argc, char **argv)
{
    if (argc == 1)
        return list_rules(w);
    if (argc == 3 && !strcmp(argv[1], "rm"))
        return forget_rule(argv[2]);
    return print_misuse("allm tools rules takes nothing, or rm and a number");
}

static int run_sub(const struct wants *w, int argc, char **argv)
{
    if (argc && !strcmp(argv[0], "rules"))
        return run_rules(w, argc, argv);
    bool list = !argc || !strcmp(argv[0], "list");
    bool show = !list && !strcmp(argv[0], "show");
    if (list && argc <= 1)
        return list_tools(w);
    if (argc < 2 || list || argc > (show ? 2 : 3))
        return print_misuse(
            "allm tools %s",
            list   ? "list takes no argument"
            : show ? "show needs the name of a tool"
                   : "run needs the name of a tool, and its arguments as JSON");
    const allm_tool *tool = toolbox_tool(argv[1]);
    if (!tool)
        return print_misuse("no tool \"%.100s\"; allm tools list shows them",
                            argv[1]);
    return show ? show_tool_json(tool)
                : run_tool(argv[1], argc > 2 ? argv[2] : NULL);
}

static int run_tools_command(int argc, char **argv)
{
    struct wants w = { .json = false };
    if (!flags_read(flags, &w, &argc, argv))
        return END_USAGE;
    const char *sub = argc ? argv[0] : "list";
    if (strcmp(sub, "list") != 0 && strcmp(sub, "show") != 0 &&
        strcmp(sub, "run") != 0 && strcmp(sub, "rules") != 0)
        return command_reject_sub(&tools_command, sub);
    const struct toolbox_wish wish = {
        .flags = &w.toolbox,
        .use = strcmp(sub, "rules") ? TOOLBOX_ALL | TOOLBOX_AUTO
                                    : TOOLBOX_EMPTY,
    };
    int code = toolbox_open(&wish);
    if (code == END_DONE)
        code = run_sub(&w, argc, argv);
    toolbox_close();
    return print_end(code);
}

const struct command tools_command = {
    .name = "tools",
    .usage = "[list] | show NAME | run NAME [JSON|-] | rules [rm N]",
    .summary = "list the tools that a model can use, and run one",
    .more = "A tool is built in, or a program with a description.  Without "
            "-T, --tool and\n--mcp, these are the built-in tools, the programs "
            "in the folders of tools.dirs,\nsuch as ~/.config/allm/tools, and "
            "the MCP servers in your settings.  list shows\nwhat each may "
            "access beyond the default.  run runs one as a model would; its\n"
            "arguments are a JSON object.  rules shows which calls run without "
            "a question.\n",
    .examples = "allm tools list --tool ./my-tools\n"
                "allm tools run git_log '{\"count\": 3}' --tool ./git_log\n",
    .subs = "list|show|run|rules",
    .args = { FILL_TOOL, FILL_FILE, FILL_FILE },
    .flags = flags,
    .group = GROUP_STATE,
    .run = run_tools_command,
};
