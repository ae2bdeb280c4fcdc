/* approve.c - ask the user whether a call may run */
#include "cli/approve.h"

#include "cli/print.h"
#include "cli/question.h"

#include <string.h>

/* ---------------------------------------------------------------- words --- */

/* The tool comes after the name of its server, which has no spaces. */
static void add_server_tool(struct bytes *out, const char *words)
{
    size_t n = strcspn(words, " ");
    if (words[n]) {
        bytes_text(out, "call ");
        bytes_text(out, words + n + 1);
        bytes_text(out, " of ");
    } else {
        bytes_text(out, "use ");
    }
    bytes_text(out, "the server ");
    bytes_add(out, words, n);
}

/* "write PATH" is "change files in PATH", and so on. */
static void add_reach(struct bytes *out, const char *reach)
{
    static const struct {
        const char *word, *text;
    } words[] = {
        { "read ", "read " },
        { "write ", "change files in " },
        { "net ", "connect to " },
        { "env ", "see the variable " },
    };
    if (!strcmp(reach, "net")) {
        bytes_text(out, "use the network");
        return;
    }
    if (!strncmp(reach, "server ", 7)) {
        add_server_tool(out, reach + 7);
        return;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].word);
        if (!strncmp(reach, words[i].word, n)) {
            bytes_text(out, words[i].text);
            bytes_text(out, reach + n);
            return;
        }
    }
    bytes_text(out, reach);
}

void approve_title(struct bytes *out, const struct approve_call *c)
{
    bytes_text(out, c->name);
    bytes_text(out, " wants to ");
    if (!allm_json_count(c->reach))
        bytes_text(out, "run");
    for (const allm_json *r = NULL; (r = allm_json_next(c->reach, r));) {
        const char *text = allm_json_text(r, NULL);
        bytes_text(out, r == allm_json_at(c->reach, 0) ? "" : ", ");
        add_reach(out, text ? text : "?");
    }
}

static allm_text *write_arguments(const struct approve_call *c)
{
    return allm_json_write(c->arguments, ALLM_JSON_PRETTY);
}

/* ------------------------------------------------------------- question --- */

static const struct question_choice all_choices[] = {
    { 'y', "[y]es once" },   { 's', "[s]ession" }, { 'a', "[a]lways" },
    { 'n', "[n]o" },         { 'e', "[e]xplain no" },
    { 'd', "[d]etails" },
};

/* Without session and always: for a call of which only the session knows. */
static const struct question_choice few_choices[] = {
    { 'y', "[y]es" },
    { 'n', "[n]o" },
    { 'e', "[e]xplain no" },
    { 'd', "[d]etails" },
};

static enum approve_decision decision_of(char key)
{
    for (size_t i = 0; i < sizeof all_choices / sizeof *all_choices; i++)
        if (all_choices[i].key == key)
            return (enum approve_decision)i;
    return APPROVE_NO;
}

bool approve_choose(const struct approve_call *c, bool few,
                    enum approve_decision *decision, struct bytes *why)
{
    struct bytes title = { NULL, 0, 0 };
    size_t len = 0;
    allm_text *text = write_arguments(c);
    const char *body = allm_text_bytes(text, &len);
    approve_title(&title, c);
    struct question q = {
        .title = bytes_string(&title),
        .body = body,
        .body_len = body ? len : 0,
        .count = few ? sizeof few_choices / sizeof *few_choices
                     : sizeof all_choices / sizeof *all_choices,
        .choices = few ? few_choices : all_choices,
    };
    int choice;
    do {
        choice = question_choose(&q);
        if (choice >= 0)
            *decision = decision_of(q.choices[choice].key);
        q.whole = true;
    } while (choice >= 0 && *decision == APPROVE_DETAILS);
    bool answered = choice >= 0;
    if (answered && *decision == APPROVE_EXPLAIN)
        answered = question_line("why not? ", why);
    allm_text_free(text);
    bytes_release(&title);
    return answered;
}

static void allow_call(allm_approval *a, enum approve_decision decision)
{
    static const allm_approval_scope scopes[] = {
        [APPROVE_ONCE] = ALLM_APPROVAL_ONCE,
        [APPROVE_SESSION] = ALLM_APPROVAL_SESSION,
        [APPROVE_ALWAYS] = ALLM_APPROVAL_ALWAYS,
    };
    if (allm_approval_allow(a, scopes[decision]) < 0)
        print_fault("the call is allowed this time, but the rule cannot be "
                    "stored");
}

void approve_ask(void *ud, allm_approval *approval)
{
    const allm_tool_call *call = allm_approval_call(approval);
    const struct approve_call c = { call->id, call->name, call->arguments,
                                    allm_approval_reach(approval) };
    enum approve_decision decision = APPROVE_NO;
    struct bytes why = { NULL, 0, 0 };
    (void)ud;
    if (!question_possible() || !approve_choose(&c, false, &decision, &why))
        allm_approval_leave(approval);
    else if (decision <= APPROVE_ALWAYS)
        allow_call(approval, decision);
    else
        allm_approval_deny(approval, why.len ? bytes_string(&why) : NULL);
    allm_approval_free(approval);
    bytes_release(&why);
}
