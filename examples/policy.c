/*
 * policy.c - your own policy: stop when the answers get too expensive
 *
 * The loop calls a policy after every turn; the policy may stop it.  Its state
 * lives as long as the loop.  A budget does the same for several loops.
 */
#include <allm.h>

#include <stdio.h>
#include <string.h>

#define TURN(tokens) \
    "[[\"usage\", {\"input_tokens\": " #tokens ", \"output_tokens\": 0}]," \
    " [\"tool_call\", {\"id\": \"c0\", \"name\": \"look\"," \
    "  \"arguments\": {}}], [\"finish\", \"tool_calls\"]]"

static const char script[] =
    "{\"scripts\": [" TURN(100) "," TURN(200) "," TURN(400) "," TURN(800) "]}";

static void look(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)args;
    (void)ud;
    allm_tool_text(run, "nothing yet", 11);
}

struct limit {
    int64_t tokens;
};

static allm_status after_turn(void *state, const allm_loop_view *loop,
                              const allm_context *c, allm_verdict *verdict,
                              void *ud)
{
    int *turns = state;
    const struct limit *limit = ud;
    (void)c;
    ++*turns;
    printf("turn %d: %d tokens so far\n", *turns,
           (int)loop->usage->input_tokens.value);
    if (verdict->decision == ALLM_DECISION_CONTINUE &&
        loop->usage->input_tokens.value > limit->tokens) {
        verdict->decision = ALLM_DECISION_HALT;
        verdict->reason = "too_dear";
    }
    return ALLM_OK;
}

int main(void)
{
    struct limit limit = { 500 };
    allm_json *opts = allm_json_parse(script, strlen(script), NULL);
    const allm_tool *tool = ALLM(tool, .name = "look", .description = "",
                                 .schema_text = "{}", .call = look,
                                 .flags = ALLM_TOOL_INLINE);
    allm_engine *engine = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .adapter_opts = opts,
             .tool_count = 1, .tools = &tool));
    allm_thread *thread = allm_thread_new(NULL);
    allm_thread_add(thread, ALLM_ROLE_USER, "Find it.");

    const allm_policy *policy = ALLM(policy, .name = "dear",
                                     .state_size = sizeof(int), .ud = &limit,
                                     .after_turn = after_turn);
    allm_stream *chat =
        allm_chat(engine, thread,
                  ALLM(call_opts, .policy_count = 1, .policies = &policy));
    allm_stream_wait(chat);
    printf("%s\n", allm_stream_chat_result(chat)->halted_reason);

    allm_stream_free(chat);
    allm_thread_free(thread);
    allm_engine_free(engine);
    allm_json_free(opts);
    return 0;
}
