/* ask_user.c - --ask: a tool with which the model asks the user a question */
#include "cli/ask_user.h"

#include "conf/member.h"

/* The choices as options of the question, which the caller frees; or NULL. */
static allm_json *options_of(const allm_json *args)
{
    const allm_json *choices = allm_json_get(args, "choices");
    if (!allm_json_count(choices))
        return NULL;
    allm_json_build *b = member_new_object();
    member_value(b, "choices", choices);
    return member_done(b);
}

static void ask_question(allm_tool_run *run, const allm_json *args, void *ud)
{
    const char *question = member_read(args, "question");
    (void)ud;
    if (!question || !*question) {
        allm_tool_fail(run, "the question is missing");
        return;
    }
    allm_json *options = options_of(args);
    allm_tool_ask(run, question, options);
    allm_json_free(options);
}

const allm_tool *const *ask_user_tools(void)
{
    static const allm_tool tool = {
        .size = sizeof tool,
        .name = "ask_user",
        .description = "Ask the user a question, when the task cannot be done "
                       "without the answer",
        .schema_text =
            "{\"type\": \"object\", \"properties\": {\"question\": {\"type\": "
            "\"string\"}, \"choices\": {\"type\": \"array\", \"items\": "
            "{\"type\": \"string\"}, \"description\": \"likely answers, of "
            "which the user can pick one\"}}, \"required\": [\"question\"]}",
        .call = ask_question,
        .effect = ALLM_EFFECT_PURE,
    };
    static const allm_tool *const tools[] = { &tool };
    return tools;
}
