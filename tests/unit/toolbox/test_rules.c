/* test_rules.c - rules over reach: reading them, matching, the order */
#include "toolbox/rules.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>

static void patterns_match_whole_names(void)
{
    static const struct {
        const char *pattern, *text;
        bool match;
    } rows[] = {
        { "bash", "bash", true },        { "bash", "bash2", false },
        { "*", "", true },               { "*", "anything", true },
        { "read_*", "read_file", true }, { "read_*", "write_file", false },
        { "*_file", "read_file", true }, { "*_file", "read_file2", false },
        { "a*b*c", "aXbYbZc", true },    { "a*b*c", "aXbYbZ", false },
        { "?", "", false },              { "??t", "cut", true },
        { "", "", true },                { "", "x", false },
        { "**a", "bca", true },          { "a*", "a", true },
        { "srv__*", "srv__x", true },    { "*aab", "aaaaaaaaaaab", true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].pattern);
        CHECK(rules_glob(slice_of(rows[i].pattern), slice_of(rows[i].text)) ==
              rows[i].match);
    }
}

static void words_cover_words(void)
{
    static const struct {
        const char *rule, *word;
        bool covers;
    } rows[] = {
        { "read /a", "read /a", true },
        { "read /a", "read /a/b", true },
        { "read /a", "read /ab", false },
        { "read /a/", "read /a/b", true },
        { "read /", "read /etc", true },
        { "read /a/b", "read /a", false },
        { "read /a", "write /a", false },
        { "write /a", "read /a/b", true },
        { "write /a", "write /a/b c", true },
        { "net", "net", true },
        { "net", "net example.com", true },
        { "net", "net 443", true },
        { "net example.com", "net Example.COM", true },
        { "net example.com", "net example.com.evil.org", false },
        { "net example.com", "net example.com.", true },
        { "net example.com.", "net example.com", true },
        { "net *.example.com", "net api.example.com", true },
        { "net *.example.com", "net example.com", false },
        { "net example.com", "net", false },
        { "net 443", "net 80", false },
        { "env EDITOR", "env EDITOR", true },
        { "env LC_*", "env LC_ALL", true },
        { "env EDITOR", "env PATH", false },
        { "server git", "server git log", true },
        { "server git log", "server git log", true },
        { "server git log", "server git push", false },
        { "server git log", "server git", false },
        { "server * read_*", "server fs read_file", true },
        { "server", "server fs write", true },
        { "server fs my  tool", "server fs my  tool", true },
        { "server fs my tool", "server fs my other", false },
        { "server fs my", "server fs my tool", false },
        { "server fs my *", "server fs my tool", true },
        { "sampling", "sampling", true },
        { "net", "env NET", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].rule);
        CHECK(rules_covers(slice_of(rows[i].rule), slice_of(rows[i].word)) ==
              rows[i].covers);
    }
}

/* The verdict of these rules about a call, and the level, as in "auto call";
 * "?": out of memory.  Texts have ' for ". */
static const char *decide(const char *rules, const char *tool,
                          const char *reach, const char *session, bool confined)
{
    static char text[64];
    struct arena a;
    struct rules r = { .root = "/h/w" };
    const struct rule *by = NULL;
    enum rules_level level = RULES_CALL;
    allm_json *given = noun_json(rules), *words = noun_json(reach);
    arena_init(&a, mem_default());
    const allm_error *error = rules_read(&r, &a, given);
    snprintf(text, sizeof text, "?");
    if (!error && given && words) {
        struct rules_call c = { .tool = tool, .session = session,
                                .confined = confined };
        c.reach = allm_json_type_of(words) == ALLM_JSON_ARRAY ? words : NULL;
        enum rules_verdict v = rules_decide(&r, &c, &by, &level);
        snprintf(text, sizeof text, "%s%s%s", rules_verdict_word(v),
                 by ? " " : "", by ? rules_level_word(level) : "");
    } else if (error && error->kind != ALLM_ERR_NOMEM) {
        snprintf(text, sizeof text, "invalid");
    }
    arena_release(&a);
    allm_json_free(given);
    allm_json_free(words);
    return text;
}

/* What a process may read is not in its words. */
static void a_rule_about_the_default_reach_stops_processes(void)
{
    static const struct {
        const char *why, *rule;
        enum rules_verdict process, other;
    } rows[] = {
        { "in the root", "'read /h/w/secret'", RULES_DENY, RULES_AUTO },
        { "above the root", "'read /h'", RULES_DENY, RULES_AUTO },
        { "next to the root", "'read /h/v'", RULES_AUTO, RULES_AUTO },
        { "a setting", "'read /etc/passwd'", RULES_DENY, RULES_AUTO },
        { "above the settings", "'read /etc'", RULES_DENY, RULES_AUTO },
        { "a program", "'read /usr/bin/env'", RULES_DENY, RULES_AUTO },
        { "nothing that it may do", "'write /h/w/secret','net'", RULES_AUTO,
          RULES_AUTO },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        struct arena a;
        struct rules r = { .root = "/h/w" };
        const struct rule *by = NULL;
        enum rules_level level = RULES_CALL;
        snprintf(text, sizeof text,
                 "[{'tool': 'bash', 'reach': [%s], 'verdict': 'deny'}]",
                 rows[i].rule);
        allm_json *given = noun_json(text), *none = noun_json("[]");
        struct rules_call c = { .tool = "bash", .reach = none };
        arena_init(&a, mem_default());
        check_row(rows[i].why);
        if (check_whole() && given && none && !rules_read(&r, &a, given)) {
            CHECK_INT(rules_decide(&r, &c, &by, &level), rows[i].other);
            c.process = true;
            CHECK_INT(rules_decide(&r, &c, &by, &level), rows[i].process);
        }
        arena_release(&a);
        allm_json_free(given);
        allm_json_free(none);
    }
}

static void the_first_match_counts_unless_one_denies(void)
{
    static const struct {
        const char *rules, *tool, *reach, *verdict;
    } rows[] = {
        /* defaults */
        { "[]", "t", "[]", "auto" },
        { "[]", "t", "['read /h/w']", "auto" },
        { "[]", "t", "['read /h/w/src','read /usr/lib/x']", "auto" },
        { "[]", "t", "['read /h/other']", "ask" },
        { "[]", "t", "['read /h/w','write /h/w']", "ask" },
        { "[]", "t", "['net']", "ask" },
        { "[]", "t", "['env EDITOR']", "ask" },
        { "[]", "t", "['server git log']", "ask" },
        { "[]", "t", "['sampling']", "ask" },
        { "[]", "f", "null", "auto" },          /* a function of the host */
        /* reach */
        { "[{'tool':'t','verdict':'auto'}]", "t", "['net']", "auto user" },
        { "[{'tool':'t','verdict':'auto'}]", "u", "['net']", "ask" },
        { "[{'tool':'t','reach':['write .'],'verdict':'auto'}]", "t",
          "['write /h/w/x']", "auto user" },
        { "[{'tool':'t','reach':['write .'],'verdict':'auto'}]", "t",
          "['write /h/w','net']", "ask" },
        { "[{'tool':'t','reach':['write .','net'],'verdict':'auto'}]", "t",
          "['write /h/w','net']", "auto user" },
        { "[{'tool':'t','reach':[],'verdict':'auto'}]", "t", "['net']", "ask" },
        { "[{'tool':'t','reach':['net'],'verdict':'auto'}]", "t", "null",
          "auto" },
        /* a larger reach does not evade a rule that denies or asks */
        { "[{'tool':'*','reach':['net'],'verdict':'deny'}]", "t",
          "['write /h/w','net']", "deny user" },
        { "[{'tool':'*','reach':['net evil.org'],'verdict':'deny'}]", "t",
          "['net']", "deny user" },
        { "[{'tool':'*','reach':['net evil.org'],'verdict':'deny'}]", "t",
          "['net good.org']", "ask" },
        { "[{'tool':'*','reach':['net evil.org'],'verdict':'deny'}]", "t",
          "['net 443']", "deny user" },
        { "[{'tool':'*','reach':['net 443'],'verdict':'deny'}]", "t",
          "['net good.org']", "deny user" },
        { "[{'tool':'*','reach':['net 443'],'verdict':'deny'}]", "t",
          "['net 80']", "ask" },
        { "[{'tool':'*','reach':['net 443'],'verdict':'auto'}]", "t",
          "['net good.org']", "ask" },
        { "[{'tool':'*','reach':['read /h/w/key'],'verdict':'deny'}]", "t",
          "['read /h/w']", "deny user" },
        { "[{'tool':'*','reach':['read /h/w/key'],'verdict':'deny'}]", "t",
          "['write /h/w']", "deny user" },
        { "[{'tool':'*','reach':['write /h/w'],'verdict':'deny'}]", "t",
          "['read /h/w']", "auto" },
        { "[{'tool':'*','reach':['net'],'verdict':'deny'}]", "t", "[]",
          "auto" },
        { "[{'tool':'*','reach':['read .'],'verdict':'ask'}]", "t",
          "['read /h/w/a']", "ask user" },
        { "[{'tool':'f','verdict':'deny'}]", "f", "null", "deny user" },
        /* levels */
        { "{'call':[{'tool':'t','verdict':'auto'}],"
          "'user':[{'tool':'t','verdict':'deny'}]}",
          "t", "['net']", "deny user" },
        { "{'session':[{'tool':'t','verdict':'ask'}],"
          "'project':[{'tool':'t','verdict':'auto'}]}",
          "t", "[]", "ask session" },
        { "{'user':[{'tool':'t','verdict':'ask'},"
          "{'tool':'t','verdict':'auto'}],"
          "'call':[{'tool':'u','verdict':'auto'}]}",
          "t", "[]", "ask user" },
        { "{'project':[{'tool':'*','verdict':'auto'}],"
          "'user':[{'tool':'t','verdict':'ask'}]}",
          "t", "['net']", "auto project" },
    };
    setenv("HOME", "/h/me", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].rules);
        CHECK_TEXT(decide(rows[i].rules, rows[i].tool, rows[i].reach, NULL,
                          true),
                   rows[i].verdict);
    }
}

static void yes_allows_what_is_confined(void)
{
    const char *yes = "{'yes':true,'user':[{'tool':'x','verdict':'deny'}]}";
    const char *asks = "{'yes':true,'call':[{'tool':'t','verdict':'ask'}]}";
    const char *later = "{'yes':true,'user':[{'tool':'t','verdict':'ask'}]}";
    CHECK_TEXT(decide(yes, "t", "['net']", NULL, true), "auto");
    CHECK_TEXT(decide(yes, "t", "['server a b']", NULL, false), "ask");
    CHECK_TEXT(decide(yes, "x", "['net']", NULL, true), "deny user");
    CHECK_TEXT(decide(asks, "t", "['net']", NULL, true), "ask call");
    CHECK_TEXT(decide(later, "t", "['net']", NULL, true), "auto");
    CHECK_TEXT(decide("{'yes':false}", "t", "['net']", NULL, true), "ask");
}

/* A rule of one session does not count in another. */
static void rules_may_belong_to_a_session(void)
{
    struct rules r = { .root = "/h/w" };
    struct rule mine = { .tool = "t", .verdict = RULES_AUTO, .session = "s1" };
    const struct rule *by = NULL;
    enum rules_level level = RULES_CALL;
    allm_json *net = noun_json("['net']");
    if (net) {
        struct rules_call c = { .tool = "t", .reach = net, .session = "s1" };
        rules_add(&r, RULES_SESSION, &mine);
        CHECK(rules_decide(&r, &c, &by, &level) == RULES_AUTO);
        CHECK(by == &mine && level == RULES_SESSION);
        c.session = "s2";
        CHECK(rules_decide(&r, &c, &by, &level) == RULES_ASK);
        c.session = NULL;
        CHECK(rules_decide(&r, &c, &by, &level) == RULES_ASK);
        mine.session = "";
        CHECK(rules_decide(&r, &c, &by, &level) == RULES_AUTO);
    }
    allm_json_free(net);
}

static void what_is_not_understood_is_refused(void)
{
    static const struct {
        const char *rules, *why;
    } rows[] = {
        { "3", "must be a list" },
        { "{'sessions':[]}", "\"sessions\" is not one" },
        { "{'yes':1}", "\"yes\" is not one" },
        { "{'call':{}}", "call must be a list" },
        { "[3]", "rule 1 of rules: it must be an object" },
        { "[{'verdict':'auto'}]", "needs a tool" },
        { "[{'tool':'','verdict':'auto'}]", "needs a tool" },
        { "[{'tool':'t'}]", "verdict must be" },
        { "[{'tool':'t','verdict':'yes'}]", "verdict must be" },
        { "[{'tool':'t','verdict':'auto'},{'tool':'t','verdict':'auto',"
          "'reaches':[]}]",
          "rule 2 of rules: this member is not known: \"reaches\"" },
        { "[{'tool':'t','verdict':'auto','reach':'net'}]", "list of words" },
        { "[{'tool':'t','verdict':'auto','reach':[3]}]", "a reach is" },
        { "[{'tool':'t','verdict':'auto','reach':['']}]", "a reach is" },
        { "[{'tool':'t','verdict':'auto','reach':['read']}]", "a reach is" },
        { "[{'tool':'t','verdict':'auto','reach':['exec /x']}]", "a reach is" },
        { "[{'tool':'t','verdict':'auto','reach':['net a b']}]", "a reach is" },
        { "[{'tool':'t','verdict':'auto','reach':['env  A']}]", "a reach is" },
        { "[{'tool':'t','verdict':'auto','reach':['env']}]", "a reach is" },
        { "[{'tool':'t','verdict':'auto','reach':['server  a']}]",
          "a reach is" },
        { "[{'tool':'t','verdict':'auto','reach':['read /none/../x']}]",
          "not a path" },
        { "[{'tool':'t','verdict':'deny','reach':[]}]", "matches nothing" },
        { "[{'tool':'t','verdict':'deny','reach':['net \xC3\xA9.org']}]",
          "xn--" },
    };
    setenv("HOME", "/h/me", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct rules r = { .root = "/h/w" };
        allm_json *given = noun_json(rows[i].rules);
        check_row(rows[i].rules);
        arena_init(&a, mem_default());
        const allm_error *e = given ? rules_read(&r, &a, given) : NULL;
        CHECK(e && strstr(e->message, rows[i].why));
        arena_release(&a);
        allm_json_free(given);
    }
}

static void paths_of_rules_are_resolved(void)
{
    struct arena a;
    struct rules r = { .root = "/h/w" };
    allm_json *given = noun_json(
        "[{'tool':'t','verdict':'auto','date':'2026-11-18','note':'mine',"
        "'reach':['read ~/a  b','write out','net','net x.org',"
        "'server fs my  tool']}]");
    setenv("HOME", "/h/me", 1);
    arena_init(&a, mem_default());
    if (given && !rules_read(&r, &a, given)) {
        CHECK_VALUE(r.first[RULES_USER]->reach,
                    "['read /h/me/a  b','write /h/w/out','net','net x.org',"
                    "'server fs my  tool']");
        CHECK_TEXT(r.first[RULES_USER]->date, "2026-11-18");
    }
    CHECK(!rules_read(&r, &a, NULL));
    arena_release(&a);
    allm_json_free(given);
}

TESTS = { TEST(patterns_match_whole_names),
          TEST(words_cover_words),
          TEST(a_rule_about_the_default_reach_stops_processes),
          TEST(the_first_match_counts_unless_one_denies),
          TEST(yes_allows_what_is_confined),
          TEST(rules_may_belong_to_a_session),
          TEST(what_is_not_understood_is_refused),
          TEST(paths_of_rules_are_resolved),
          TESTS_END };
