/* mcp.c - allm mcp: be an MCP server, and use others */
#include "cli/mcp_entries.h"
#include "cli/mcp_parts.h"

#include "cli/command.h"
#include "cli/exit.h"
#include "cli/print.h"

#include <stddef.h>
#include <string.h>

static struct mcp_flags wanted;

#define AT(member) offsetof(struct mcp_flags, member)

static const struct flag flags[] = {
    { 'm', "--model", FLAG_TEXT, AT(model), "P:M",
      "serve: the model, unless a client names one", FILL_MODEL,
      .setting = "model", .use = FLAG_MOST },
    { 'o', "--option", FLAG_PAIR, AT(options), "K V",
      "serve: a provider option, such as temperature 0.2", FILL_NONE },
    { 0, "--store", FLAG_TEXT, AT(store), "URI",
      "serve: the store; else ALLM_STORE, else a file" },
    { 'H', "--header", FLAG_LIST, AT(headers), "'K: V'",
      "add: send this header; ${VAR} is a variable", .use = FLAG_MOST },
    { 0, "--read", FLAG_LIST, AT(needs.read), "PATH",
      "add: confine it, but let it read and execute this", FILL_FILE,
      .use = FLAG_MOST },
    { 0, "--write", FLAG_LIST, AT(needs.write), "PATH",
      "add: confine it, but let it write this", FILL_FILE, .use = FLAG_MOST },
    { 0, "--net", FLAG_SWITCH, AT(needs.net), NULL,
      "add: confine it, but let it use the network", .use = FLAG_MOST },
    { 0, "--json", FLAG_SWITCH, AT(json), NULL,
      "print JSON, as the server sent it", .use = FLAG_MOST },
    TOOLBOX_FLAGS(AT),
    { .name = NULL },
};

extern const struct command mcp_command;

static int run_server(const struct mcp_flags *f, int argc, char **argv)
{
    if (argc)
        return command_reject_sub(&mcp_command, argv[0]);
    return mcp_serve(f);
}

static const struct {
    const char *name;
    int (*run)(const struct mcp_flags *f, int argc, char **argv);
} subs[] = {
    { "serve", run_server },  { "list", mcp_list }, { "add", mcp_add },
    { "rm", mcp_rm },         { "tools", mcp_tools }, { "call", mcp_call },
    { "read", mcp_read },     { "prompt", mcp_prompt },
};

/* Is the next word the value of this one?  (of the flags of add) */
static bool takes_value(const char *word)
{
    static const char *const flags_of_add[] = { "-H", "--header", "--read",
                                                "--write" };
    for (size_t i = 0; i < sizeof flags_of_add / sizeof *flags_of_add; i++)
        if (!strcmp(word, flags_of_add[i]))
            return true;
    return false;
}

/* Of "add NAME COMMAND ARG...", the flags after COMMAND are its own: how many
 * words come before them. */
static int count_own_words(int argc, char **argv)
{
    int words = 0, i = 0;
    if (!argc || strcmp(argv[0], "add") != 0)
        return argc;
    for (; i < argc && words < 3; i++) {
        if (!strcmp(argv[i], "--"))
            return argc;
        if (takes_value(argv[i]))
            i++;
        else
            words += argv[i][0] != '-';
    }
    return words == 3 && !strstr(argv[i - 1], "://") ? i : argc;
}

/* serve has a toolbox, which gets the servers of --mcp-config. */
static int run_sub(const struct mcp_flags *f, size_t sub, int argc, char **argv)
{
    const struct flag_list *files = &f->toolbox.server_files;
    for (size_t i = 0; sub && i < files->count; i++)
        if (!mcp_entries_add(files->word[i]))
            return END_USAGE;
    return subs[sub].run(f, argc, argv);
}

static int run_mcp_command(int argc, char **argv)
{
    int own = count_own_words(argc, argv), more = argc - own;
    if (!flags_read(flags, &wanted, &own, argv))
        return END_USAGE;
    memmove(argv + own, argv + argc - more, (size_t)more * sizeof *argv);
    argc = own + more;
    if (!argc)
        return mcp_serve(&wanted);
    for (size_t i = 0; i < sizeof subs / sizeof *subs; i++)
        if (!strcmp(subs[i].name, argv[0]))
            return print_end(run_sub(&wanted, i, argc - 1, argv + 1));
    return command_reject_sub(&mcp_command, argv[0]);
}

const struct command mcp_command = {
    .name = "mcp",
    .usage = "[serve] | list | add NAME COMMAND... | add NAME URL | rm NAME |\n"
             "         tools S | call S TOOL [JSON|-] | read S URI | "
             "prompt S NAME [K V]...",
    .summary = "be an MCP server, and use others",
    .more = "An MCP client, such as an editor, starts \"allm mcp\" and gets "
            "the tool \"ask\",\nwhich sends a prompt to a model, and the "
            "tools of -T, --tool and --mcp:\n"
            "  {\"mcpServers\": {\"allm\": {\"command\": \"allm\", \"args\": "
            "[\"mcp\"]}}}\n"
            "add stores a server in your settings; -T NAME then offers its "
            "tools to a model.\nS is the name of such a server, a URL or "
            "'COMMAND ...'.\n",
    .examples = "allm mcp add files npx -y @modelcontextprotocol/"
                "server-filesystem .\n"
                "allm mcp call files list_directory '{\"path\": \".\"}'\n"
                "allm -T files \"What is in this folder?\"\n",
    .subs = "serve|list|add|rm|tools|call|read|prompt",
    .args = { FILL_SERVER, FILL_NONE, FILL_FILE },
    .flags = flags,
    .group = GROUP_TALK,
    .run = run_mcp_command,
};
