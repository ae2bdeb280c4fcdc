/* demo_tools.c - the three tools of the demo */
#include "cli/demo_tools.h"

#include "conf/member.h"

#include <dirent.h>
#include <string.h>
#include <time.h>

static void tell_time(allm_tool_run *run, const allm_json *args, void *ud)
{
    char text[64] = "unknown";
    struct tm now;
    time_t seconds = time(NULL);
    (void)args;
    (void)ud;
    if (gmtime_r(&seconds, &now))
        strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &now);
    allm_tool_text(run, text, strlen(text));
}

static void count_entries(allm_tool_run *run, const allm_json *args, void *ud)
{
    const struct dirent *entry;
    int64_t count = 0;
    DIR *folder = opendir(".");
    (void)args;
    (void)ud;
    if (!folder) {
        allm_tool_fail(run, "cannot read the current folder");
        return;
    }
    while ((entry = readdir(folder)))
        count += entry->d_name[0] != '.';
    closedir(folder);
    allm_json_build *b = member_new_object();
    member_int(b, "entries", count);
    allm_json *value = member_done(b);
    allm_tool_ok(run, value);
    allm_json_free(value);
}

static void ask_favourite(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)args;
    (void)ud;
    allm_tool_ask(run, "What is your favourite colour?", NULL);
}

#define NO_ARGUMENTS "{\"type\": \"object\", \"properties\": {}}"

const allm_tool *const *demo_tools(void)
{
    static const allm_tool clock_tool = {
        .size = sizeof clock_tool,
        .name = "clock",
        .description = "The time of day",
        .schema_text = NO_ARGUMENTS,
        .call = tell_time,
        .effect = ALLM_EFFECT_PURE,
    };
    static const allm_tool folder_tool = {
        .size = sizeof folder_tool,
        .name = "folder",
        .description = "How many entries the current folder has",
        .schema_text = NO_ARGUMENTS,
        .call = count_entries,
        .effect = ALLM_EFFECT_PURE,
    };
    static const allm_tool ask_tool = {
        .size = sizeof ask_tool,
        .name = "favourite",
        .description = "Ask the user for the favourite colour",
        .schema_text = NO_ARGUMENTS,
        .call = ask_favourite,
    };
    static const allm_tool *const tools[] = { &clock_tool, &folder_tool,
                                              &ask_tool };
    return tools;
}
