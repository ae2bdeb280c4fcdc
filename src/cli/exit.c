/* exit.c - the table of exit codes */
#include "cli/exit.h"

#include <string.h>

static const struct {
    int code;
    const char *meaning;
} meanings[] = {
    { END_DONE, "complete" },
    { END_FAILED, "failure" },
    { END_USAGE, "wrong usage, or a file that cannot be used" },
    { END_TRANSIENT, "transient: busy, unreachable or too slow; try again" },
    { END_KEY, "no key, a wrong key, or no permission" },
    { END_REQUEST, "bad request, unknown model, or too long" },
    { END_SCHEMA, "the answer does not fit the schema" },
    { END_REFUSED, "refused, filtered, or flagged by moderate" },
    { END_LIMIT, "a budget or limit was reached" },
    { END_TRUNCATED, "the answer is truncated, or has no code for -x" },
    { END_ASKED, "somebody must answer, approve, or settle what broke off" },
    { END_SESSION, "the session is locked, lost or damaged" },
    { END_MISS, "replay miss: the recording has no such request" },
    { 130, "interrupted (Ctrl-C)" },
    { 141, "output pipe closed" },
    { 143, "terminated" },
};

/* The first matching row counts; reason NULL matches every reason. */
static const struct {
    allm_status kind;
    const char *reason;
    int code;
} errors[] = {
    { ALLM_ERR_ENGINE, "missing_key", END_KEY },
    { ALLM_ERR_ENGINE, "missing_adapter", END_REQUEST },
    { ALLM_ERR_ENGINE, "missing_model", END_REQUEST },
    { ALLM_ERR_ENGINE, "no_embed_adapter", END_REQUEST },
    { ALLM_ERR_ENGINE, "no_image_adapter", END_REQUEST },
    { ALLM_ERR_ENGINE, "no_moderation_adapter", END_REQUEST },
    { ALLM_ERR_ENGINE, "no_models_adapter", END_REQUEST },
    { ALLM_ERR_ENGINE, "unsupported_response_format", END_REQUEST },
    { ALLM_ERR_ENGINE, "budget_exceeded", END_LIMIT },
    { ALLM_ERR_ENGINE, "max_iterations_reached", END_LIMIT },
    { ALLM_ERR_ADAPTER, "rate_limited", END_TRANSIENT },
    { ALLM_ERR_ADAPTER, "provider_unavailable", END_TRANSIENT },
    { ALLM_ERR_ADAPTER, "timeout", END_TRANSIENT },
    { ALLM_ERR_ADAPTER, "network_error", END_TRANSIENT },
    { ALLM_ERR_ADAPTER, "authentication_failed", END_KEY },
    { ALLM_ERR_ADAPTER, "invalid_request", END_REQUEST },
    { ALLM_ERR_ADAPTER, "context_length_exceeded", END_REQUEST },
    { ALLM_ERR_ADAPTER, "unsupported_feature", END_REQUEST },
    { ALLM_ERR_ADAPTER, "unsupported_operation", END_REQUEST },
    { ALLM_ERR_ADAPTER, "content_filter", END_REFUSED },
    { ALLM_ERR_ADAPTER, "no_scripted_response", END_MISS },
    { ALLM_ERR_STREAM, "truncated", END_TRUNCATED },
    { ALLM_ERR_STREAM, "timeout", END_TRANSIENT },
    { ALLM_ERR_VALIDATION, "invalid_output", END_SCHEMA },
    { ALLM_ERR_VALIDATION, NULL, END_REQUEST },
    { ALLM_ERR_SESSION, "invalid_name", END_USAGE },
    { ALLM_ERR_SESSION, "session_not_found", END_USAGE },
    { ALLM_ERR_SESSION, "session_exists", END_USAGE },
    { ALLM_ERR_SESSION, "unknown_tool_call_id", END_USAGE },
    { ALLM_ERR_SESSION, "nothing_to_resume", END_FAILED },
    { ALLM_ERR_SESSION, "turn_unfinished", END_ASKED },
    { ALLM_ERR_SESSION, "unsettled_tool_calls", END_ASKED },
    { ALLM_ERR_SESSION, NULL, END_SESSION },
    { ALLM_ERR_STORE, "invalid_store_uri", END_USAGE },
    { ALLM_ERR_STORE, "unsupported_store", END_USAGE },
    { ALLM_ERR_STORE, "store_busy", END_TRANSIENT },
    { ALLM_ERR_STORE, "store_unreachable", END_TRANSIENT },
    { ALLM_ERR_STORE, "store_full", END_TRANSIENT },
    { ALLM_ERR_STORE, "cursor_gone", END_FAILED },
    { ALLM_ERR_STORE, "record_too_large", END_FAILED },
    { ALLM_ERR_STORE, "store_encoding", END_FAILED },
    { ALLM_ERR_STORE, "store_forked", END_FAILED },
    { ALLM_ERR_STORE, "store_needs_migration", END_FAILED },
    { ALLM_ERR_STORE, "store_read_only", END_FAILED },
    { ALLM_ERR_STORE, NULL, END_SESSION },
    { ALLM_ERR_MISUSE, NULL, END_USAGE },
};

/* The reasons why a chat stops without an error. */
static const struct {
    const char *reason;
    int code;
} halts[] = {
    { "max_turns", END_LIMIT },
    { "budget", END_LIMIT },
    { "ask_user", END_ASKED },
    { "manual_tool_calls", END_ASKED },
    { "cancelled", END_FAILED },
};

const char *exit_meaning(size_t index, int *code)
{
    if (index >= sizeof meanings / sizeof *meanings)
        return NULL;
    *code = meanings[index].code;
    return meanings[index].meaning;
}

allm_status exit_kind(const allm_error *e)
{
    return e->kind == ALLM_ERR_IMAGE ? ALLM_ERR_ADAPTER : e->kind;
}

/* A network error that a retry does not fix, such as an invalid certificate,
 * is not transient. */
static bool is_final(const allm_error *e)
{
    return exit_kind(e) == ALLM_ERR_ADAPTER && e->reason &&
           !strcmp(e->reason, "network_error") &&
           allm_json_true(allm_json_get(e->metadata, "final"));
}

int exit_of_error(const allm_error *e)
{
    if (!e)
        return END_DONE;
    if (is_final(e))
        return END_FAILED;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].kind == exit_kind(e) &&
            (!errors[i].reason ||
             (e->reason && !strcmp(errors[i].reason, e->reason))))
            return errors[i].code;
    if (e->http_status.set && e->http_status.value == 404)
        return END_REQUEST;
    return END_FAILED;
}

int exit_of_chat(const allm_chat_result *r)
{
    if (!r)
        return END_FAILED;
    if (r->error)
        return exit_of_error(r->error);
    const allm_response *answer = r->final_response;
    if (answer && answer->error)
        return exit_of_error(answer->error);
    for (size_t i = 0; i < sizeof halts / sizeof *halts; i++)
        if (r->halted_reason && !strcmp(halts[i].reason, r->halted_reason))
            return halts[i].code;
    allm_finish finish = answer ? answer->finish_reason : ALLM_FINISH_NONE;
    if (finish == ALLM_FINISH_LENGTH)
        return END_TRUNCATED;
    if (finish == ALLM_FINISH_CONTENT_FILTER)
        return END_REFUSED;
    return finish == ALLM_FINISH_ERROR ? END_FAILED : END_DONE;
}
