/*
 * mcp_echo.c - an MCP server on stdio that does what it is told, right or wrong
 *
 * usage: mcp_echo [WORD...]
 *
 *      modern      speaks 2026-07-28; else it begins with "initialize"
 *      silent      answers nothing        quits       ends at its first line
 *      strict      ends if its first message is not "initialize"
 *      stubborn    ignores the end of its input and SIGTERM
 *      pages       lists its tools on several pages
 *      loops       its pages never end    broken      lists a wrong schema
 *      crashes     ends as soon as it has listed its tools
 *      many        has 200 tools with long schemas
 *      grows       has one more tool when it starts again in its folder
 *
 * Each tool is one behaviour; see the table at the end.  Messages are read by
 * searching for members, which is enough for those of our client.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE = 1 << 20 };

static char **words;
static bool has_extra;
static bool has_begun;
static char held[64];           /* the id of the call that waits for a form */

static bool has_word(const char *word)
{
    for (char **w = words; *w; w++)
        if (!strcmp(*w, word))
            return true;
    return false;
}

/* The raw value of the first member of this name, cut at its end. */
static const char *member(const char *line, const char *name, char *out,
                          size_t size)
{
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(line, key);
    size_t n = 0;
    int depth = 0;
    bool quoted = false;
    if (!at)
        return NULL;
    at += strlen(key);
    for (; at[n] && n < size - 1; n++) {
        if (at[n] == '"' && (!n || at[n - 1] != '\\'))
            quoted = !quoted;
        if (!quoted && (at[n] == '{' || at[n] == '['))
            depth++;
        if (!quoted && depth == 0 && (at[n] == ',' || at[n] == '}'))
            break;
        if (!quoted && (at[n] == '}' || at[n] == ']'))
            depth--;
    }
    memcpy(out, at, n);
    out[n] = 0;
    return out;
}

static void answer(const char *id, const char *result)
{
    printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{%s}}\n", id, result);
}

static void answer_text(const char *id, const char *text)
{
    printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":"
           "\"text\",\"text\":\"%s\"}]}}\n",
           id, text);
}

/* ---------------------------------------------------------------- tools --- */

static void do_echo(const char *id, const char *line)
{
    static char text[LINE];
    bool given = member(line, "text", text, sizeof text);
    printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":"
           "\"text\",\"text\":%s}]}}\n",
           id, given ? text : "\"nothing\"");
}

static void do_add(const char *id, const char *line)
{
    char x[32], y[32], sum[64];
    bool given = member(line, "x", x, sizeof x) &&
                 member(line, "y", y, sizeof y);
    snprintf(sum, sizeof sum, "\"structuredContent\":{\"sum\":%d}",
             given ? atoi(x) + atoi(y) : 0);
    answer(id, sum);
}

static void do_wrong(const char *id, const char *line)
{
    (void)line;
    answer(id, "\"structuredContent\":{\"sum\":\"many\"}");
}

static void do_fail(const char *id, const char *line)
{
    (void)line;
    answer(id, "\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":"
               "\"no such thing\"}]");
}

static void do_image(const char *id, const char *line)
{
    (void)line;
    answer(id, "\"content\":[{\"type\":\"text\",\"text\":\"look\"},{\"type\":"
               "\"image\",\"mimeType\":\"image/png\",\"data\":"
               "\"iVBORw0KGgo=\"},{\"type\":\"resource\",\"resource\":{\"uri\":"
               "\"x:1\",\"mimeType\":\"image/gif\",\"blob\":\"R0lGODlh\"}},"
               "{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":"
               "\"AAAA\"}]");
}

static void do_error(const char *id, const char *line)
{
    (void)line;
    printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32602,"
           "\"message\":\"wrong\"}}\n",
           id);
}

static void do_die(const char *id, const char *line)
{
    (void)id;
    (void)line;
    fputs("it was too much\n", stderr);
    fflush(stderr);
    _exit(3);
}

/* It lives on, but can say no more. */
static void do_mute(const char *id, const char *line)
{
    (void)id;
    (void)line;
    close(STDOUT_FILENO);
}

/* Dies only if this file is there, and removes it. */
static void do_die_once(const char *id, const char *line)
{
    if (!unlink("die-once"))
        do_die(id, line);
    answer_text(id, "alive");
}

static void tell_progress(const char *line, int step)
{
    char token[32] = "0";
    member(line, "progressToken", token, sizeof token);
    printf("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
           "\"params\":{\"progressToken\":%s,\"progress\":%d,\"total\":2,"
           "\"message\":\"step\"}}\n",
           token, step);
}

static void do_slow(const char *id, const char *line)
{
    tell_progress(line, 1);
    tell_progress(line, 2);
    answer_text(id, "done");
}

/* It has begun, and that is all. */
static void do_hang(const char *id, const char *line)
{
    (void)id;
    tell_progress(line, 1);
}

static void do_ask(const char *id, const char *line)
{
    (void)line;
    snprintf(held, sizeof held, "%s", id);
    puts("{\"jsonrpc\":\"2.0\",\"id\":\"q1\",\"method\":\"elicitation/create\","
         "\"params\":{\"message\":\"Who?\",\"requestedSchema\":{\"type\":"
         "\"object\",\"properties\":{\"who\":{\"type\":\"string\"},\"n\":{"
         "\"type\":\"integer\",\"default\":7}},\"required\":[\"who\"]}}}");
}

static void do_roots(const char *id, const char *line)
{
    (void)line;
    snprintf(held, sizeof held, "%s", id);
    puts("{\"jsonrpc\":\"2.0\",\"id\":\"q1\",\"method\":\"roots/list\"}");
}

/* All that has no meaning, then the answer. */
static void do_noise(const char *id, const char *line)
{
    (void)line;
    for (int i = 0; i < 99; i++)
        puts("this is no message");
    puts("{\"jsonrpc\":\"2.0\",\"id\":99999,\"result\":{}}");
    puts("[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}]");
    puts("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"what/is/this\"}");
    puts("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/other\"}");
    puts("\xff\xfe{}");
    for (int i = 0; i < 1000; i++)
        puts("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\","
             "\"params\":{\"level\":\"info\",\"data\":\"x\"}}");
    answer_text(id, "after the noise");
    answer_text(id, "twice");
}

/* To its log, and to stderr: a line, one that is not UTF-8, a long one, and
 * half a one. */
static void do_log(const char *id, const char *line)
{
    (void)line;
    fputs("loading\n\n \xff\xfe\n", stderr);
    fprintf(stderr, "%04096d-rest\nhalf", 0);
    fflush(stderr);
    puts("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\","
         "\"params\":{\"level\":\"info\",\"logger\":\"db\",\"data\":"
         "{\"n\":1}}}");
    puts("no message");
    answer_text(id, "logged");
}

static void do_babble(const char *id, const char *line)
{
    (void)id;
    (void)line;
    for (int i = 0; i < 100; i++)
        puts("this is no message");
}

static void do_long(const char *id, const char *line)
{
    (void)id;
    (void)line;
    for (int i = 0; i < 17 * 1024; i++)
        printf("%1024s", "");
    putchar('\n');
}

static void do_more(const char *id, const char *line)
{
    (void)line;
    has_extra = true;
    for (int i = 0; i < 5; i++)
        puts("{\"jsonrpc\":\"2.0\",\"method\":"
             "\"notifications/tools/list_changed\"}");
    answer_text(id, "there is more");
}

static void do_extra(const char *id, const char *line)
{
    (void)line;
    answer_text(id, "extra");
}

static void do_variable(const char *id, const char *line)
{
    char name[64] = "", text[512];
    (void)line;
    member(line, "name\":\"variable\",\"arguments\":{\"key", name, sizeof name);
    if (*name)
        name[strlen(name) - 1] = 0;
    const char *value = *name ? getenv(name + 1) : NULL;
    snprintf(text, sizeof text, "%s", value ? value : "(not set)");
    answer_text(id, text);
}

static void do_read(const char *id, const char *line)
{
    FILE *f = fopen("/etc/hostname", "r");
    (void)line;
    answer_text(id, f ? "read" : "refused");
    if (f)
        fclose(f);
}

struct tool {
    const char *name, *members;
    void (*run)(const char *id, const char *line);
};

#define OBJECT "\"inputSchema\":{\"type\":\"object\"}"
#define SUM                                                              \
    ",\"outputSchema\":{\"type\":\"object\",\"properties\":{\"sum\":{" \
    "\"type\":\"integer\"}}}"

static const struct tool tools[] = {
    { "echo", "\"annotations\":{\"readOnlyHint\":true}," OBJECT, do_echo },
    { "add", OBJECT SUM, do_add },
    { "wrong", OBJECT SUM, do_wrong },
    { "fail", OBJECT, do_fail },
    { "image", OBJECT, do_image },
    { "error", OBJECT, do_error },
    { "die", OBJECT, do_die },
    { "mute", OBJECT, do_mute },
    { "die once", "\"annotations\":{\"readOnlyHint\":true}," OBJECT,
      do_die_once },
    { "slow", OBJECT, do_slow },
    { "hang", OBJECT, do_hang },
    { "ask", OBJECT, do_ask },
    { "roots", OBJECT, do_roots },
    { "noise", OBJECT, do_noise },
    { "babble", OBJECT, do_babble },
    { "long", OBJECT, do_long },
    { "log", OBJECT, do_log },
    { "more", OBJECT, do_more },
    { "variable", OBJECT, do_variable },
    { "read", OBJECT, do_read },
    { "extra", OBJECT, do_extra },
};

enum { COUNT = sizeof tools / sizeof *tools };

/* ---------------------------------------------------------------- lists --- */

static void list_tool(const struct tool *t, bool first)
{
    printf("%s{\"name\":\"%s\",\"description\":\"Does %s.\",%s}",
           first ? "" : ",", t->name, t->name, t->members);
}

static void list_many(const char *id)
{
    printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"tools\":[", id);
    for (int i = 0; i < 200; i++) {
        printf("%s{\"name\":\"tool_%03d\",\"description\":\"Finds things of "
               "kind %d. And a long text about what it finds, where, how, and "
               "with which limits, as such descriptions are.\",\"inputSchema\":"
               "{\"type\":\"object\",\"properties\":{",
               i ? "," : "", i, i);
        for (int k = 0; k < 9; k++)
            printf("%s\"p%d\":{\"type\":\"string\",\"description\":\"The "
                   "parameter %d of this tool, which limits what it finds to "
                   "what is wanted by whoever calls it\"}",
                   k ? "," : "", k, k);
        printf("},\"required\":[\"p0\"]}}");
    }
    puts("]}}");
}

static void list_tools(const char *id, const char *line)
{
    char cursor[32] = "\"0\"";
    int from = 0, to = COUNT - !has_extra;
    if (has_word("many")) {
        list_many(id);
        return;
    }
    if (has_word("pages") || has_word("loops")) {
        member(line, "cursor", cursor, sizeof cursor);
        from = atoi(cursor + 1);
        to = from + 7 < to ? from + 7 : to;
    }
    printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"tools\":[", id);
    for (int i = to - 1; i >= from; i--)        /* not in their order */
        list_tool(&tools[i], i == to - 1);
    if (has_word("broken"))
        printf(",{\"name\":\"broken\",\"inputSchema\":{\"type\":42}}");
    printf("]");
    if (has_word("loops"))
        printf(",\"nextCursor\":\"0\"");
    else if (to < COUNT - !has_extra)
        printf(",\"nextCursor\":\"%d\"", to);
    puts("}}");
}

/* ------------------------------------------------------------- messages --- */

static void begin(const char *id, const char *method)
{
    bool modern = has_word("modern");
    if (!strcmp(method, "\"server/discover\"") && modern)
        answer(id, "\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{"
                   "\"tools\":{}},\"serverInfo\":{\"name\":\"echo\"}");
    else if (!strcmp(method, "\"initialize\"") && !modern)
        answer(id, "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{"
                   "\"tools\":{\"listChanged\":true},\"resources\":{},"
                   "\"prompts\":{}},\"serverInfo\":{\"name\":\"echo\"}");
    else
        printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32601,"
               "\"message\":\"no such method\"}}\n",
               id);
}

static void call_tool(const char *id, const char *line)
{
    char name[256] = "";
    member(line, "name", name, sizeof name);
    for (size_t i = 0; i < COUNT; i++)
        if (!strncmp(name + 1, tools[i].name, strlen(tools[i].name)) &&
            !strcmp(name + 1 + strlen(tools[i].name), "\"")) {
            tools[i].run(id, line);
            return;
        }
    do_error(id, line);
}

/* The answer to our own question becomes the text of the call. */
static void take_form(const char *line)
{
    char result[512] = "", text[1024];
    size_t n = 0;
    member(line, "result", result, sizeof result);
    for (const char *s = result; *s && n < sizeof text - 2; s++) {
        if (*s == '"' || *s == '\\')
            text[n++] = '\\';
        text[n++] = *s;
    }
    text[n] = 0;
    answer_text(held, text);
}

static void take_line(const char *line)
{
    char id[64], method[64];
    bool has_id = member(line, "id", id, sizeof id);
    if (!member(line, "method", method, sizeof method)) {
        if (has_id && !strcmp(id, "\"q1\""))
            take_form(line);
        return;
    }
    if (has_word("strict") && !has_begun && strcmp(method, "\"initialize\""))
        _exit(5);
    has_begun = true;
    if (!strcmp(method, "\"tools/list\"")) {
        list_tools(id, line);
        fflush(stdout);
        if (has_word("crashes"))
            _exit(4);
    } else if (!strcmp(method, "\"tools/call\"")) {
        call_tool(id, line);
    } else if (!strcmp(method, "\"resources/read\"")) {
        answer(id, "\"contents\":[{\"uri\":\"x:1\",\"text\":\"the text\"}]");
    } else if (!strcmp(method, "\"prompts/list\"")) {
        answer(id, "\"prompts\":[{\"name\":\"ask\"}]");
    } else if (has_id) {
        begin(id, method);
    }
}

int main(int argc, char **argv)
{
    static char line[32 * LINE];
    words = argv + (argc > 0);
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    if (has_word("stubborn"))
        signal(SIGTERM, SIG_IGN);
    if (has_word("grows"))
        has_extra = mkdir("grown", 0700) < 0;
    while (fgets(line, sizeof line, stdin)) {
        if (has_word("quits")) {
            fputs("no license\n", stderr);
            return 2;
        }
        if (!has_word("silent"))
            take_line(line);
        fflush(stdout);
    }
    while (has_word("stubborn"))
        pause();
    return 0;
}
