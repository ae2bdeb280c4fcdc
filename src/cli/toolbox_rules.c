/* toolbox_rules.c - which calls may run: flags and settings as rules */
#include "cli/toolbox_rules.h"

#include "cli/print.h"
#include "cli/settings.h"
#include "conf/member.h"

#include <string.h>

bool toolbox_rules_is(const char *word)
{
    return strchr(word, '=') != NULL;
}

static bool is_verdict(const char *word)
{
    return !strcmp(word, "auto") || !strcmp(word, "ask") ||
           !strcmp(word, "deny");
}

static void put_rule(allm_json_build *b, const char *tool, size_t len,
                     const char *verdict)
{
    allm_json_build_object(b);
    member_text_n(b, "tool", tool, len);
    member_text(b, "verdict", verdict);
    allm_json_build_end(b);
}

/* "TOOL=VERDICT" */
static bool put_flag_rule(allm_json_build *b, const char *word)
{
    const char *sign = strchr(word, '=');
    if (sign == word || !is_verdict(sign + 1))
        return print_fault(
            "--approve %.100s is not a rule: write TOOL=auto, TOOL=ask or "
            "TOOL=deny",
            word);
    put_rule(b, word, (size_t)(sign - word), sign + 1);
    return true;
}

static bool put_flag_rules(allm_json_build *b, const struct flag_list *words,
                           bool automatic)
{
    bool ok = true;
    member_array(b, "call");
    for (size_t i = 0; ok && i < words->count; i++)
        if (toolbox_rules_is(words->word[i]))
            ok = put_flag_rule(b, words->word[i]);
    if (automatic)
        put_rule(b, "*", 1, "auto");
    allm_json_build_end(b);
    return ok;
}

/* approve.TOOL of the project's file, or of all others. */
static allm_json *merge_settings(bool project)
{
    const struct config *c = settings_config();
    allm_json *all = allm_json_parse("{}", 2, NULL);
    for (size_t i = 0; i < c->count; i++) {
        const struct config_layer *l = &c->layers[i];
        const allm_json *own = allm_json_get(l->value, "approve");
        if (!own || l->is_project != project)
            continue;
        allm_json *both = allm_json_patch(all, own);
        allm_json_free(all);
        all = both;
    }
    return all;
}

static void put_settings_rules(allm_json_build *b, const char *level,
                               bool project)
{
    allm_json *all = merge_settings(project);
    member_array(b, level);
    for (const allm_json *k = NULL; (k = allm_json_next(all, k));) {
        const char *verdict = allm_json_text(allm_json_value(k), NULL);
        if (verdict)
            put_rule(b, allm_json_text(k, NULL), ALLM_NUL_ENDED, verdict);
    }
    allm_json_build_end(b);
    allm_json_free(all);
}

allm_json *toolbox_rules_make(const struct toolbox_flags *f, bool automatic)
{
    allm_json_build *b = member_new_object();
    bool ok = put_flag_rules(b, &f->approve, automatic);
    put_settings_rules(b, "project", true);
    put_settings_rules(b, "user", false);
    if (f->yes)
        member_bool(b, "yes", true);
    allm_json *rules = member_done(b);
    if (ok)
        return rules;
    allm_json_free(rules);
    return NULL;
}
