/* ask_parts.c - the flags of ask, and what they mean for a call */
#include "cli/ask_parts.h"

#include "cli/settings.h"
#include "cli/timing.h"

#include <stdio.h>
#include <string.h>

static void fill_look(struct answer_look *look)
{
    const char *thoughts = settings_text("output.reasoning");
    if (!look->markdown)
        look->markdown = settings_text("output.markdown");
    if (!look->color)
        look->color = settings_text("output.color");
    look->links = settings_text("output.links");
    if (!look->width)
        look->width = settings_count("output.width", 0);
    look->hide_reasoning |= thoughts && !strcmp(thoughts, "hide");
}

/* 0 and 1 are both one attempt. */
static uint32_t read_attempts(void)
{
    uint32_t n = settings_count("retry", UINT32_MAX);
    return n == UINT32_MAX ? 0 : n > 1 ? n : 1;
}

void ask_parts_fill(struct ask *a)
{
    settings_use(a->config);
    if (!a->attempts)
        a->attempts = read_attempts();
    if (a->max_cost <= 0)
        a->max_cost = settings_number("max_cost", 0);
    if (!a->max_turns)
        a->max_turns = settings_count("max_turns", 0);
    if (!a->timeout_ms)
        a->timeout_ms = settings_ms("timeout", 0);
    a->usage |= settings_true("usage", false);
    a->no_stream |= !settings_true("stream", true);
    fill_look(&a->look);
}

bool ask_parts_options(const struct ask *a, const struct flag_list *pairs,
                       struct opts *o)
{
    return opts_read(o, pairs) &&
           (!a->max_tokens ||
            opts_put_number(o, "max_tokens", a->max_tokens)) &&
           (!a->reasoning || opts_put_reasoning(o, a->reasoning));
}

struct wish ask_parts_wish(const struct ask *a, const struct template_use *t,
                           const struct session *s, const char *system,
                           const allm_json *options)
{
    return (struct wish){
        .model = a->model,
        .task = a->task,
        .session = session_model(s),
        .template_model = template_use_text(t, "model"),
        .system = system,
        .template_system = template_use_system(t),
        .options = options,
        .template_options = template_use_value(t, "options"),
        .key = a->key,
        .base_url = a->base_url,
        .proxy = a->proxy,
        .cacert = a->cacert,
        .headers = &a->headers,
        .any_key = a->any_key || a->dry_run || a->taps.replay,
        .any_model = a->any_key || a->taps.replay,
    };
}

const char *ask_parts_system(const struct ask *a, const struct template_use *t,
                             const struct session *s, const char *chosen)
{
    const allm_message *first = allm_thread_at(allm_session_thread(s->session),
                                               0);
    bool has_one = first && first->role == ALLM_ROLE_SYSTEM;
    bool given = a->system || (t->named && template_use_system(t));
    return given || !has_one ? chosen : NULL;
}

enum extract ask_parts_extract(const struct ask *a,
                               const struct template_use *t)
{
    return a->extract_all     ? EXTRACT_ALL
           : a->extract_last  ? EXTRACT_LAST
           : a->extract_first ? EXTRACT_FIRST
                              : template_use_extract(t);
}

allm_json *ask_parts_retry(const struct ask *a)
{
    char text[64];
    int n = snprintf(text, sizeof text, "{\"max_attempts\": %u}", a->attempts);
    return a->attempts ? allm_json_parse(text, (size_t)n, NULL) : NULL;
}

allm_call_opts ask_parts_call(const struct ask *a, const allm_json *format,
                              const allm_json *options, allm_budget *budget)
{
    return (allm_call_opts){
        .size = sizeof(allm_call_opts),
        .api_key = a->any_key || a->taps.replay ? "none" : NULL,
        .max_turns = a->max_turns,
        .total_ms = a->timeout_ms,
        .response_format = format,
        .validate_output = format != NULL,
        .json = options,
        .budget = budget,
        .live_tool_events = 1,
        .validate_arguments = 1,
    };
}

allm_status ask_parts_note(const allm_event *event, void *ud)
{
    bool *started = ud;
    timing_note(event, NULL);
    *started |= event->type != ALLM_EV_MESSAGE_STARTED &&
                event->type != ALLM_EV_RAW_CHUNK &&
                event->type != ALLM_EV_ERROR;
    return ALLM_OK;
}
