/* chat_tools.c - commands of a chat about tools: /tools, /approve, /mcp */
#include "cli/approvals.h"
#include "cli/chat_state.h"
#include "cli/decide.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/question.h"
#include "cli/toolbox.h"
#include "conf/member.h"

#include <string.h>

/* From the next prompt on. */
static bool add_chat_tools(struct chat *c, const char *names)
{
    return toolbox_add(&(struct toolbox_wish){ .flags = &c->ask->toolbox,
                                               .use = TOOLBOX_ASKS,
                                               .taps = &c->taps },
                       names) == END_DONE;
}

void chat_tools_list(struct chat *c, const char *rest)
{
    if (*rest && !add_chat_tools(c, rest))
        return;
    allm_json *report = allm_toolbox_report(toolbox_box());
    const allm_json *tools = allm_json_get(report, "tools"), *t = NULL;
    while ((t = allm_json_next(tools, t)))
        print_note("%-28s %-8s %s", member_or(t, "name", ""),
                   member_or(t, "kind", ""), member_or(t, "effect", ""));
    if (!allm_json_count(tools))
        print_note("(no tools; /tools NAMES adds some, such as /tools code)");
    allm_json_free(report);
}

void chat_tools_servers(struct chat *c, const char *rest)
{
    allm_json *report = allm_toolbox_report(toolbox_box());
    const allm_json *list = allm_json_get(report, "servers"), *s = NULL;
    (void)c;
    (void)rest;
    while ((s = allm_json_next(list, s))) {
        int64_t tools = 0;
        allm_json_int64(allm_json_get(s, "tools"), &tools);
        print_note("%-20s %-9s %-6s %3lld tools  %s", member_or(s, "name", ""),
                   member_or(s, "state", ""), member_or(s, "transport", ""),
                   (long long)tools, member_or(s, "error", ""));
    }
    if (!allm_json_count(list))
        print_note("(no servers; name them when the chat starts: allm chat "
                   "--mcp X)");
    allm_json_free(report);
}

/* ------------------------------------------------------------- approval --- */

static size_t count_waiting(const struct chat *c)
{
    return approvals_count(allm_session_fields(c->session.session)->metadata);
}

/* Run what was decided. */
static void continue_decided(struct chat *c)
{
    if (session_save(&c->session) == END_DONE && !count_waiting(c) &&
        decide_begin(&c->session) == END_DONE)
        chat_send_message(c, NULL);
}

/* "all", "ID", "deny all WHY" */
static void decide_by_words(struct chat *c, const char *rest)
{
    char word[256];
    bool deny = !strncmp(rest, "deny ", 5);
    rest += deny ? 5 + strspn(rest + 5, " ") : 0;
    size_t n = strcspn(rest, " ");
    if (!n || n >= sizeof word) {
        print_fault(
            "/approve needs a call: /approve all, /approve ID, /approve "
            "deny ID WHY");
        return;
    }
    memcpy(word, rest, n);
    word[n] = '\0';
    const char *why = rest + n + strspn(rest + n, " ");
    if (decide_word(&c->session, word, !deny, deny && *why ? why : NULL))
        continue_decided(c);
}

void chat_tools_approve(struct chat *c, const char *rest)
{
    if (!session_approves(&c->session)) {
        print_note("(no call waits for approval; allm tools rules shows the "
                   "rules)");
        return;
    }
    if (*rest)
        decide_by_words(c, rest);
    else if (decide_ask(&c->session) == END_DONE)
        continue_decided(c);
}

void chat_tools_remind(const struct chat *c)
{
    struct approve_call call;
    struct bytes title = { NULL, 0, 0 };
    const allm_json *metadata =
        allm_session_fields(c->session.session)->metadata;
    if (!session_approves(&c->session))
        return;
    if (!question_possible()) {
        approvals_report(metadata, c->session.path);
        return;
    }
    if (!approvals_next(metadata, &call)) {
        print_note("(decided calls have not run; /approve runs them)");
        return;
    }
    approve_title(&title, &call);
    print_note("(%s; /approve decides)", bytes_string(&title));
    bytes_release(&title);
}
