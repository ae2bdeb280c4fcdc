/* decide.c - decide about the calls of a session that wait for approval */
#include "cli/decide.h"

#include "cli/approvals.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/question.h"
#include "cli/toolbox_rules.h"
#include "conf/member.h"
#include "term/mem.h"

#include <string.h>

static const allm_json *metadata_now(const struct session *s)
{
    return allm_session_fields(s->session)->metadata;
}

/* Store one decision; false: an error was printed. */
static bool store_decision(struct session *s, const char *id, bool allow,
                           const char *why)
{
    char *own = term_copy(id, strlen(id));      /* the session changes */
    allm_status status = allm_session_approve(s->session, own, allow, why);
    term_free(own);
    if (status == ALLM_OK)
        return true;
    const allm_error *error = allm_session_error(s->session);
    return print_fault("%s",
                       error ? error->message : "the decision is not stored");
}

int decide_ask(struct session *s)
{
    struct approve_call c;
    bool ok = question_possible() || approvals_decided(metadata_now(s));
    while (ok && approvals_next(metadata_now(s), &c)) {
        enum approve_decision decision = APPROVE_NO;
        struct bytes why = { NULL, 0, 0 };
        ok = approve_choose(&c, true, &decision, &why) &&
             store_decision(s, c.id, decision <= APPROVE_ALWAYS,
                            why.len ? bytes_string(&why) : NULL);
        bytes_release(&why);
    }
    return ok ? session_save(s) : END_ASKED;
}

static bool names_a_call(const struct flag_list *words)
{
    for (size_t i = 0; i < words->count; i++)
        if (!toolbox_rules_is(words->word[i]))
            return true;
    return false;
}

bool decide_has_flags(const struct toolbox_flags *f)
{
    return names_a_call(&f->approve) || f->deny.count;
}

bool decide_word(struct session *s, const char *word, bool allow,
                 const char *why)
{
    struct approve_call c;
    if (strcmp(word, "all") != 0)
        return store_decision(s, word, allow, why);
    while (approvals_next(metadata_now(s), &c))
        if (!store_decision(s, c.id, allow, why))
            return false;
    return true;
}

static bool has_word(const struct flag_list *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++)
        if (!strcmp(words->word[i], word))
            return true;
    return false;
}

/* Apply those words that are "all", or those that are not.  What is denied,
 * too, stays so. */
static bool apply_words(struct session *s, const struct toolbox_flags *f,
                        bool all)
{
    bool ok = true;
    for (size_t i = 0; ok && i < f->deny.count; i++)
        if (all == !strcmp(f->deny.word[i], "all"))
            ok = decide_word(s, f->deny.word[i], false, f->why);
    for (size_t i = 0; ok && i < f->approve.count; i++)
        if (!toolbox_rules_is(f->approve.word[i]) &&
            !has_word(&f->deny, f->approve.word[i]) &&
            all == !strcmp(f->approve.word[i], "all"))
            ok = decide_word(s, f->approve.word[i], true, NULL);
    return ok;
}

int decide_apply(struct session *s, const struct toolbox_flags *f)
{
    if (!allm_json_count(allm_json_get(metadata_now(s), "approvals")))
        return print_misuse("no call of %s waits for approval",
                            s->path ? s->path : "this conversation");
    if (!apply_words(s, f, false) || !apply_words(s, f, true))
        return END_USAGE;
    int code = session_save(s);
    if (code == END_DONE && approvals_count(metadata_now(s))) {
        approvals_report(metadata_now(s), s->path);
        code = END_ASKED;
    }
    return code;
}

/* Store these decisions again. */
static bool decide_again(struct session *s, const allm_json *list)
{
    bool ok = true;
    for (const allm_json *d = NULL; ok && (d = allm_json_next(list, d));)
        ok = store_decision(s, member_read(d, "id"),
                            allm_json_true(allm_json_get(d, "allow")),
                            member_read(d, "why"));
    return ok;
}

int decide_begin(struct session *s)
{
    allm_session_record fields = *allm_session_fields(s->session);
    allm_json *list =
        allm_json_copy(allm_json_get(metadata_now(s), "approved"));
    if (s->store || !allm_json_count(list)) {
        allm_json_free(list);
        return END_DONE;
    }
    allm_json *metadata = allm_json_set(fields.metadata, "approved", NULL);
    fields.home = NULL;
    fields.metadata = metadata;
    bool ok = allm_session_replace(s->session, &fields) == ALLM_OK;
    int code = ok ? session_save(s) : END_SESSION;
    ok = decide_again(s, list);
    allm_json_free(metadata);
    allm_json_free(list);
    return ok ? code : END_SESSION;
}

const char *decide_lacks(const struct session *s)
{
    const allm_json *list = allm_json_get(metadata_now(s), "approvals");
    for (const allm_json *row = NULL; (row = allm_json_next(list, row));) {
        const char *name = member_read(row, "name");
        if (name && !toolbox_tool(name))
            return name;
    }
    return NULL;
}
