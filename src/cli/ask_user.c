/* ask_user.c - --ask: a tool with which the model asks the user a question */
#include "cli/ask_user.h"

static void ask_question(allm_tool_run *run, const allm_json *args, void *ud)
{
    const char *question = allm_json_text(allm_json_get(args, "question"),
                                          NULL);
    (void)ud;
    if (question && *question)
        allm_tool_ask(run, question, NULL);
    else
        allm_tool_fail(run, "the question is missing");
}

const allm_tool *const *ask_user_tools(void)
{
    static const allm_tool tool = {
        .size = sizeof tool,
        .name = "ask_user",
        .description = "Ask the user a question, when the task cannot be done "
                       "without the answer",
        .schema_text = "{\"type\": \"object\", \"properties\": {\"question\": "
                       "{\"type\": \"string\"}}, \"required\": [\"question\"]}",
        .call = ask_question,
        .effect = ALLM_EFFECT_PURE,
    };
    static const allm_tool *const tools[] = { &tool };
    return tools;
}
