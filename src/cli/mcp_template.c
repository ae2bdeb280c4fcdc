/* mcp_template.c - a prompt of an MCP server as a template: -t mcp:S/PROMPT */
#include "cli/mcp_template.h"

#include "cli/exit.h"
#include "cli/mcp_once.h"
#include "cli/print.h"
#include "conf/member.h"

#include <stdio.h>
#include <string.h>

/* The texts of the messages; a dollar sign is no placeholder. */
static void set_body(struct template_file *t, const allm_json *result)
{
    struct bytes text = { NULL, 0, 0 };
    const allm_json *list = allm_json_get(result, "messages"), *m = NULL;
    while ((m = allm_json_next(list, m))) {
        if (text.len)
            bytes_text(&text, "\n\n");
        mcp_once_text(allm_json_get(m, "content"), &text);
    }
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '$')
            bytes_byte(&t->body, '$');
        bytes_byte(&t->body, text.ptr[i]);
    }
    bytes_release(&text);
}

int mcp_template_load(struct template_file *t, const char *word,
                      const struct flag_list *pairs)
{
    char server[256];
    const char *slash = strrchr(word, '/');
    if (!slash || slash == word || !slash[1] ||
        slash - word >= (long)sizeof server) {
        return print_misuse("-t mcp:%.100s: write mcp:SERVER/PROMPT", word);
    }
    snprintf(server, sizeof server, "%.*s", (int)(slash - word), word);
    snprintf(t->path, sizeof t->path, "mcp:%.4000s", word);
    allm_json *arguments = mcp_once_pairs(pairs ? pairs->word : NULL,
                                          pairs ? pairs->count : 0);
    allm_json *params = mcp_once_params(slash + 1, arguments);
    allm_json *result = mcp_once_ask(server, "prompts/get", params);
    t->header = allm_json_parse("{}", 2, NULL);
    if (result)
        set_body(t, result);
    int code = result ? END_DONE : END_FAILED;
    allm_json_free(result);
    allm_json_free(params);
    allm_json_free(arguments);
    return code;
}
