/* ask_settings.c - the settings of a call, where no flag sets another value */
#include "cli/ask_settings.h"

#include "cli/settings.h"

#include <string.h>

static void fill_look(struct answer_look *look)
{
    const char *thoughts = settings_text("output.reasoning");
    if (!look->markdown)
        look->markdown = settings_text("output.markdown");
    if (!look->color)
        look->color = settings_text("output.color");
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

void ask_settings_fill(struct ask *a)
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
