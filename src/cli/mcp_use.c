/* mcp_use.c - allm mcp tools, call, read, prompt: use a server by hand */
#include "cli/mcp_once.h"
#include "cli/mcp_parts.h"

#include "cli/exit.h"
#include "cli/input.h"
#include "cli/print.h"
#include "conf/member.h"

#include <string.h>

static int reject_arguments(const char *usage)
{
    return print_misuse("usage: allm mcp %s", usage);
}

/* Print a result: as JSON, or by the function; frees it. */
static int print_result(const struct mcp_flags *f, allm_json *result,
                        int (*print)(const allm_json *result))
{
    int code = END_FAILED;
    if (result && f->json) {
        print_json(result, ALLM_JSON_PRETTY);
        code = END_DONE;
    } else if (result) {
        code = print(result);
    }
    allm_json_free(result);
    return code;
}

/* ---------------------------------------------------------------- tools --- */

static int print_tools(const allm_json *result)
{
    const allm_json *list = allm_json_get(result, "tools"), *t = NULL;
    while ((t = allm_json_next(list, t))) {
        const char *name = member_or(t, "name", "(no name)");
        const char *what = member_or(t, "description", "");
        print_format("%-28.*s %.*s\n", (int)strcspn(name, "\r\n"), name,
                     (int)strcspn(what, "\r\n"), what);
    }
    if (!allm_json_count(list))
        print_note("the server has no tools");
    return END_DONE;
}

int mcp_tools(const struct mcp_flags *f, int argc, char **argv)
{
    if (argc != 1)
        return reject_arguments("tools SERVER");
    return print_result(f, mcp_once_ask(argv[0], "tools/list", NULL),
                        print_tools);
}

/* ----------------------------------------------------------------- call --- */

static int print_content(const allm_json *result)
{
    struct bytes text = { NULL, 0, 0 };
    const allm_json *list = allm_json_get(result, "content"), *part = NULL;
    bool failed = allm_json_true(allm_json_get(result, "isError"));
    while ((part = allm_json_next(list, part)))
        mcp_once_text(part, &text);
    if (failed)
        print_fault("the tool failed: %.2000s", bytes_string(&text));
    else if (text.len)
        print_ended(bytes_string(&text), text.len);
    else if (allm_json_get(result, "structuredContent"))
        print_json(allm_json_get(result, "structuredContent"),
                   ALLM_JSON_PRETTY);
    bytes_release(&text);
    return failed ? END_FAILED : END_DONE;
}

int mcp_call(const struct mcp_flags *f, int argc, char **argv)
{
    if (argc < 2 || argc > 3)
        return reject_arguments("call SERVER TOOL [JSON|-]");
    allm_json *arguments = input_arguments(argc > 2 ? argv[2] : NULL);
    if (!arguments)
        return END_USAGE;
    allm_json *params = mcp_once_params(argv[1], arguments);
    int code = print_result(f, mcp_once_ask(argv[0], "tools/call", params),
                            print_content);
    allm_json_free(arguments);
    allm_json_free(params);
    return code;
}

/* ----------------------------------------------------------------- read --- */

static int print_contents(const allm_json *result)
{
    struct bytes text = { NULL, 0, 0 };
    const allm_json *list = allm_json_get(result, "contents"), *part = NULL;
    while ((part = allm_json_next(list, part)))
        mcp_once_text(part, &text);
    print_ended(bytes_string(&text), text.len);
    bytes_release(&text);
    return END_DONE;
}

int mcp_read(const struct mcp_flags *f, int argc, char **argv)
{
    if (argc != 2)
        return reject_arguments("read SERVER URI");
    allm_json_build *b = member_new_object();
    member_text(b, "uri", argv[1]);
    allm_json *params = member_done(b);
    int code = print_result(f, mcp_once_ask(argv[0], "resources/read", params),
                            print_contents);
    allm_json_free(params);
    return code;
}

/* --------------------------------------------------------------- prompt --- */

static int print_messages(const allm_json *result)
{
    const allm_json *list = allm_json_get(result, "messages"), *m = NULL;
    while ((m = allm_json_next(list, m))) {
        struct bytes text = { NULL, 0, 0 };
        mcp_once_text(allm_json_get(m, "content"), &text);
        print_format("%s: ", member_or(m, "role", "user"));
        print_ended(bytes_string(&text), text.len);
        bytes_release(&text);
    }
    return END_DONE;
}

int mcp_prompt(const struct mcp_flags *f, int argc, char **argv)
{
    if (argc < 2 || argc % 2)
        return reject_arguments("prompt SERVER PROMPT [K V]...");
    allm_json *arguments = mcp_once_pairs((const char *const *)argv + 2,
                                          (size_t)argc - 2);
    allm_json *params = mcp_once_params(argv[1], arguments);
    int code = print_result(f, mcp_once_ask(argv[0], "prompts/get", params),
                            print_messages);
    allm_json_free(arguments);
    allm_json_free(params);
    return code;
}
