/*
 * toolbox.c - the tools of a call, from flags and settings
 *
 * A name of -T is a built-in tool or a group of them, else a program in a
 * folder of tools.dirs, else a server of the settings.
 */
#include "cli/toolbox.h"

#include "cli/approve.h"
#include "cli/exit.h"
#include "cli/form_queue.h"
#include "cli/forms.h"
#include "cli/print.h"
#include "cli/question.h"
#include "cli/settings.h"
#include "cli/suggest.h"
#include "cli/toolbox_names.h"
#include "cli/toolbox_rules.h"
#include "cli/toolbox_servers.h"
#include "conf/member.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static allm_toolbox *box;
static const struct toolbox_flags *own_flags;
static struct bytes added; /* names of toolbox_add(), each after a comma */
static allm_executor *with_functions; /* the box, then the tools' functions */
static const allm_tool *const *composed; /* the tools that it has */

allm_sandbox_mode toolbox_mode(const char *word)
{
    if (word && !strcmp(word, "strict"))
        return ALLM_SANDBOX_STRICT;
    return word && !strcmp(word, "off") ? ALLM_SANDBOX_OFF : ALLM_SANDBOX_ON;
}

/* Print why the toolbox refused something. */
static int report_box_error(void)
{
    const allm_error *error = allm_toolbox_error(box);
    return print_misuse("%s", error ? error->message : "out of memory");
}

/* ---------------------------------------------------------------- names --- */

static void try_tool_name(void *ud, const char *name, const char *kind)
{
    (void)kind;
    suggest_try(ud, name);
}

/* Say which server has the tool: -T takes the names of servers. */
static bool report_server_tool(const char *name)
{
    const char *end = strstr(name, "__");
    char server[65];
    if (!end || end - name >= (long)sizeof server)
        return false;
    snprintf(server, sizeof server, "%.*s", (int)(end - name), name);
    if (!toolbox_servers_knows(server))
        return false;
    print_fault("\"%.100s\" is a tool of the MCP server %s: use -T %s", name,
                server, server);
    return true;
}

static int report_no_tool(const char *name)
{
    if (report_server_tool(name))
        return END_USAGE;
    struct suggest s;
    suggest_begin(&s, name);
    toolbox_names_each(try_tool_name, &s);
    return print_misuse(
        "there is no tool \"%.100s\"%s (allm tools list shows them; --tool "
        "takes a path)",
        name, suggest_hint(&s));
}

static int add_name(const char *name)
{
    char path[PLACES_PATH];
    allm_status status = ALLM_OK;
    if (!*name || !strcmp(name, "none"))
        return END_DONE;
    if (toolbox_names_builtin(name))
        status = allm_toolbox_add_builtin(box, name);
    else if (toolbox_names_program(name, path))
        status = allm_toolbox_add_program(box, path);
    else if (toolbox_servers_knows(name))
        return toolbox_servers_name(box, name);
    else
        return report_no_tool(name);
    return status < 0 ? report_box_error() : END_DONE;
}

/* "code,http_get" */
static int add_names(const char *words)
{
    int code = END_DONE;
    while (code == END_DONE && *words) {
        char name[256];
        size_t n = strcspn(words, ", ");
        snprintf(name, sizeof name, "%.*s", (int)(n < 255 ? n : 255), words);
        code = add_name(name);
        words += n;
        words += strspn(words, ", ");
    }
    return code;
}

static int add_list(const allm_json *list)
{
    int code = END_DONE;
    for (const allm_json *v = NULL;
         code == END_DONE && (v = allm_json_next(list, v));) {
        const char *words = allm_json_text(v, NULL);
        code = words ? add_names(words) : END_DONE;
    }
    return code;
}

/* ------------------------------------------------------------- programs --- */

/* Of a folder, what cannot be added is left out.  Servers were reported. */
static void note_failed(void)
{
    allm_json *report = allm_toolbox_report(box);
    const allm_json *failed = allm_json_get(report, "failed"), *at = NULL;
    while ((at = allm_json_next(failed, at)))
        if (strcmp(member_read(at, "reason"), "invalid_server") != 0)
            print_fault("%s", member_read(at, "error"));
    allm_json_free(report);
}

static int add_programs(const struct flag_list *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        if (allm_toolbox_add_program(box, paths->word[i]) < 0)
            return report_box_error();
    return END_DONE;
}

/* Everything that -T could name, for the commands that list tools. */
static int add_everything(void)
{
    char folder[PLACES_PATH];
    struct stat about;
    allm_toolbox_add_builtin(box, "all");
    for (size_t i = 0; toolbox_names_folder(i, folder); i++)
        if (!stat(folder, &about))
            allm_toolbox_add_program(box, folder);
    return toolbox_servers_all(box);
}

/* ----------------------------------------------------------------- open --- */

static bool is_named_by_flags(const struct toolbox_flags *f)
{
    return f->names.count || f->programs.count || f->servers.count ||
           f->server_files.count;
}

/* The names of -T, else of the template, else of the setting. */
static const allm_json *names_of(const struct toolbox_wish *w)
{
    return w->flags->names.count       ? NULL
           : allm_json_count(w->names) ? w->names
                                       : settings_value("tools.default");
}

static int add_tools(const struct toolbox_wish *w)
{
    const struct toolbox_flags *f = w->flags;
    if (w->use & TOOLBOX_EMPTY)
        return END_DONE;
    if (w->use & TOOLBOX_ALL && !is_named_by_flags(f))
        return add_everything();
    int code = w->use & TOOLBOX_ALL ? END_DONE : add_list(names_of(w));
    for (size_t i = 0; code == END_DONE && i < f->names.count; i++)
        code = add_names(f->names.word[i]);
    if (code == END_DONE)
        code = add_programs(&f->programs);
    if (code == END_DONE)
        code = toolbox_servers_add(box, &f->servers, &f->server_files);
    return code;
}

static int new_box(const struct toolbox_wish *w, const char *root,
                   allm_sandbox_mode mode)
{
    char approvals[PLACES_PATH];
    bool asks = w->use & TOOLBOX_ASKS && question_possible();
    allm_json *rules = toolbox_rules_make(w->flags, w->use & TOOLBOX_AUTO);
    if (!rules)
        return END_USAGE;
    box = allm_toolbox_new(ALLM(
        toolbox_opts, .root = root, .sandbox = mode, .rules = rules,
        .approve = w->approve ? w->approve
                   : asks     ? approve_ask
                              : NULL,
        .progress = w->progress, .grants = settings_value("tools.grant"),
        .trace = w->taps ? taps_trace(w->taps) : NULL,
        .trace_ud = w->taps ? taps_trace_ud(w->taps) : NULL,
        .elicit = asks && form_queue_open(forms_ask) ? form_queue_take : NULL,
        .approvals = places_find(PLACE_CONFIG, "approvals.json", approvals)
                         ? approvals
                         : NULL));
    allm_json_free(rules);
    return allm_toolbox_error(box) ? report_box_error() : END_DONE;
}

/* A composition has the tools that its parts have when it is made. */
static int compose_functions(void)
{
    const allm_executor *const parts[] = { allm_toolbox_executor(box),
                                           allm_executor_function() };
    size_t count;
    allm_executor_free(with_functions);
    composed = toolbox_tools(&count);
    with_functions = allm_executor_compose(2, parts);
    return with_functions ? END_DONE : report_box_error();
}

static int make_box(const struct toolbox_wish *w)
{
    char root[PLACES_PATH];
    const char *word = settings_text("tools.root"), *mode = w->flags->sandbox;
    if (word && !settings_path("tools.root", word, root))
        return print_misuse("the setting tools.root is too long");
    allm_sandbox_mode m = toolbox_mode(mode ? mode : settings_text("sandbox"));
    if (m == ALLM_SANDBOX_OFF)
        print_fault("the sandbox is off: tools can do whatever you can");
    if (m == ALLM_SANDBOX_OFF && w->flags->yes)
        return print_misuse(
            "--yes allows what the sandbox confines, and the sandbox is off; "
            "use --approve TOOL=auto");
    return new_box(w, word ? root : NULL, m);
}

static bool wants_tools(const struct toolbox_wish *w)
{
    return w->use & (TOOLBOX_ALL | TOOLBOX_EMPTY) ||
           is_named_by_flags(w->flags) || w->flags->sandbox ||
           allm_json_count(names_of(w));
}

int toolbox_open(const struct toolbox_wish *wish)
{
    int code = settings_open();
    own_flags = wish->flags;
    if (code != END_DONE || !wants_tools(wish))
        return code;
    code = make_box(wish);
    if (code == END_DONE)
        code = add_tools(wish);
    if (code == END_DONE)
        code = toolbox_servers_wait(box);
    if (code != END_DONE)
        return code;
    note_failed();
    return compose_functions();
}

int toolbox_add(const struct toolbox_wish *wish, const char *names)
{
    int code = box ? END_DONE : make_box(wish);
    if (code == END_DONE)
        code = add_names(names);
    if (code == END_DONE)
        code = toolbox_servers_wait(box);
    if (code == END_DONE) {
        bytes_text(&added, added.len ? "," : "");
        bytes_text(&added, names);
    }
    return code;
}

void toolbox_note_missing(const allm_json *report)
{
    char text[256];
    member_join(allm_json_get(report, "missing"), text, sizeof text);
    if (*text)
        print_note("parts of the sandbox are not in force: %s; allm doctor "
                   "explains them",
                   text);
}

void toolbox_close(void)
{
    allm_json *report = allm_toolbox_report(box);
    toolbox_note_missing(report);
    allm_json_free(report);
    allm_executor_free(with_functions);
    allm_toolbox_free(box);
    form_queue_close();
    bytes_release(&added);
    with_functions = NULL;
    composed = NULL;
    box = NULL;
}

bool toolbox_renew(void)
{
    size_t count;
    return box && toolbox_tools(&count) != composed &&
           compose_functions() == END_DONE;
}

allm_toolbox *toolbox_box(void)
{
    return box;
}

const allm_tool *const *toolbox_tools(size_t *count)
{
    const allm_executor *x = box ? allm_toolbox_executor(box) : NULL;
    *count = 0;
    return x ? x->tools(x->self, count) : NULL;
}

const allm_tool *toolbox_tool(const char *name)
{
    size_t count;
    const allm_tool *const *tools = toolbox_tools(&count);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(tools[i]->name, name))
            return tools[i];
    return NULL;
}

void toolbox_apply(allm_engine_opts *opts)
{
    if (!box)
        return;
    opts->executor = with_functions;
    opts->gate = allm_toolbox_gate(box);
}

/* A word of a command line; in quotes if a shell would split it. */
static void add_shell_word(struct bytes *out, const char *flag,
                           const char *word)
{
    bool plain = *word && !word[strcspn(word, " \t\n'\"$`\\*?[]{}()<>|&;#~!")];
    bytes_format(out, " %s ", flag);
    bytes_text(out, plain ? "" : "'");
    for (; *word; word++)
        bytes_text(out, *word == '\'' ? "'\\''" : (char[]){ *word, 0 });
    bytes_text(out, plain ? "" : "'");
}

void toolbox_words(struct bytes *out)
{
    const struct {
        const char *flag;
        const struct flag_list *words;
    } lists[] = {
        { "-T", own_flags ? &own_flags->names : NULL },
        { "--tool", own_flags ? &own_flags->programs : NULL },
        { "--mcp", own_flags ? &own_flags->servers : NULL },
        { "--mcp-config", own_flags ? &own_flags->server_files : NULL },
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t k = 0; own_flags && k < lists[i].words->count; k++)
            add_shell_word(out, lists[i].flag, lists[i].words->word[k]);
    if (added.len)
        add_shell_word(out, "-T", bytes_string(&added));
}
