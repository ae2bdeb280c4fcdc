/*
 * gatekeeper.c - applies the rules of a toolbox to its calls
 *
 *      call --> reach --> rules --> auto    it may begin
 *                               --> deny    it fails, and the model sees why
 *                               --> ask     approve(), or it is left
 *
 * It has a home of its own, because an approval may be answered after the
 * toolbox is gone.  The lock is never held while the caller's function runs.
 */
#include "toolbox/gatekeeper.h"

#include "base/buf.h"
#include "base/status.h"
#include "toolbox/approvals.h"
#include "json/build.h"
#include "json/json.h"

#include <pthread.h>
#include <time.h>

enum { WORDS_MOST = 2048 };

struct gatekeeper {
    struct allm_home *home;
    void (*approve)(void *ud, allm_approval *root);
    void *approve_ud;
    struct clock clock;
    pthread_mutex_t lock;       /* guards the home's arena and the rest */
    struct rules rules;
    struct approvals file;
    const allm_error *invalid;  /* the rules of the options */
    const allm_error *unstored; /* an answer "always" */
};

/* ---------------------------------------------------------------- life --- */

static void close_gatekeeper(void *arg)
{
    struct gatekeeper *k = arg;
    approvals_release(&k->file);
    pthread_mutex_destroy(&k->lock);
}

static const allm_error *read_rules(struct gatekeeper *k,
                                    const allm_toolbox_opts *o)
{
    struct arena *a = home_arena(k->home);
    const allm_error *error = rules_read(&k->rules, a, o->rules);
    if (!error && k->rules.yes && o->sandbox == ALLM_SANDBOX_OFF)
        error = status_error(a, ALLM_ERR_MISUSE, "invalid_option",
                             "\"yes\" allows what the sandbox confines, and "
                             "the sandbox is off; leave out one of them");
    return error;
}

/* False: out of memory. */
static bool fill_gatekeeper(struct gatekeeper *k, const allm_toolbox_opts *o,
                            const char *root)
{
    struct arena *a = home_arena(k->home);
    k->approve = o->approve;
    k->approve_ud = o->ud;
    k->rules.root = arena_text(a, root);
    pthread_mutex_init(&k->lock, NULL);
    approvals_init(&k->file, a->mem, arena_text(a, o->approvals));
    if (!home_on_free(k->home, close_gatekeeper, k) || a->broken)
        return false;
    k->invalid = read_rules(k, o);
    approvals_refresh(&k->file, &k->rules);
    return true;
}

struct gatekeeper *gatekeeper_new(struct mem mem, const allm_toolbox_opts *opts,
                                  const char *root, struct clock clock)
{
    struct allm_home *home = home_new(mem, 0);
    struct gatekeeper *k = home ? arena_zero(home_arena(home), sizeof *k)
                                : NULL;
    if (k) {
        k->home = home;
        k->clock = clock;
        if (fill_gatekeeper(k, opts, root))
            return k;
    }
    home_drop(home);
    return NULL;
}

void gatekeeper_free(struct gatekeeper *k)
{
    if (k)
        home_drop(k->home);
}

/* Why no call can be allowed; the lock is held. */
static const allm_error *find_trouble(struct gatekeeper *k)
{
    const allm_error *file = approvals_refresh(&k->file, &k->rules);
    return k->invalid ? k->invalid : file;
}

/* An error of the file is copied, because the file may be read again. */
const allm_error *gatekeeper_error(struct gatekeeper *k)
{
    pthread_mutex_lock(&k->lock);
    const allm_error *error = find_trouble(k);
    if (error && error != k->invalid)
        error = status_retell(home_arena(k->home), error);
    if (!error)
        error = k->unstored;
    pthread_mutex_unlock(&k->lock);
    return error;
}

/* ------------------------------------------------------------ verdicts --- */

/* A call, and what the rules say about it. */
struct judgement {
    struct arena *arena;        /* of the reach and of `why` */
    struct rules_call call;
    enum rules_verdict verdict;
    const char *why;            /* of a denied call */
};

static bool names_server(const allm_json *reach)
{
    for (const allm_json *w = NULL; (w = allm_json_next(reach, w));)
        if (slice_starts(json_slice(w), SLICE("server")))
            return true;
    return false;
}

/* False: out of memory. */
static bool find_reach(struct judgement *j, allm_toolbox *t,
                       const struct entry *e, const allm_json *args)
{
    if (!e)
        return true;
    j->call.reach = e->call_reach ? e->call_reach(t, e, args, j->arena)
                    : e->reach    ? e->reach
                                  : json_empty_array();
    j->call.confined = e->confined || !names_server(j->call.reach);
    j->call.process = e->process || e->confined;
    return j->call.reach != NULL;
}

static const char *join_words(struct arena *a, const struct rules_call *c)
{
    struct buf out = buf_in(a, WORDS_MOST);
    for (const allm_json *w = NULL; (w = allm_json_next(c->reach, w));) {
        buf_text(&out, out.len ? ", " : "");
        buf_add(&out, json_slice(w));
    }
    return out.len      ? out.ptr
           : c->process ? "what every process may read, such as the root"
                        : "nothing beyond the default";
}

/* About a call, in its arena; NULL: out of memory. */
__attribute__((format(printf, 2, 3))) static const char *
tell(const struct judgement *j, const char *format, ...)
{
    va_list args;
    struct buf out = buf_in(j->arena, WORDS_MOST + 1024);
    va_start(args, format);
    buf_vformat(&out, format, args);
    va_end(args);
    return out.broken ? NULL : out.ptr;
}

/* Who denied it, and why. */
static const char *tell_denial(const struct judgement *j,
                               enum rules_level level)
{
    const char *where = level == RULES_STORED ? "approvals.json"
                                              : rules_level_word(level);
    return tell(j, "a rule (%s) denies this call of %.100s; it would access %s",
                where, j->call.tool, join_words(j->arena, &j->call));
}

static void judge_call(struct gatekeeper *k, struct judgement *j)
{
    const struct rule *by = NULL;
    enum rules_level level = RULES_USER;
    pthread_mutex_lock(&k->lock);
    const allm_error *trouble = find_trouble(k);
    j->verdict = trouble ? RULES_DENY
                         : rules_decide(&k->rules, &j->call, &by, &level);
    if (trouble)
        j->why = arena_text(j->arena, trouble->message);
    pthread_mutex_unlock(&k->lock);
    if (j->verdict == RULES_DENY && !trouble)
        j->why = tell_denial(j, level);
}

/* ------------------------------------------------------------- answers --- */

static const char *make_date(struct gatekeeper *k, char *text, size_t size)
{
    time_t now = (time_t)(clock_unix_ms(k->clock) / 1000);
    struct tm tm;
    return gmtime_r(&now, &tm) && strftime(text, size, "%Y-%m-%d", &tm) ? text
                                                                        : NULL;
}

/* A rule for calls like this one, in the home; NULL: out of memory. */
static struct rule *make_rule(struct arena *a, const allm_approval *answered)
{
    struct rule *rule = arena_zero(a, sizeof *rule);
    if (!rule)
        return NULL;
    *rule = (struct rule){
        .tool = arena_text(a, answered->call->name),
        .reach = json_copy(a, answered->reach),
        .verdict = RULES_AUTO,
        .session = arena_text(a, answered->session_id ? answered->session_id
                                                      : ""),
    };
    return rule->tool && rule->session && (rule->reach || !answered->reach)
               ? rule
               : NULL;
}

/* False: it is not stored, and k->unstored says why, if it should be. */
static bool store_rule(struct gatekeeper *k, struct rule *rule)
{
    char date[32];
    if (!k->file.path)
        return false;
    struct arena scratch = arena_in(home_mem(k->home));
    rule->date = make_date(k, date, sizeof date);
    const allm_error *error = approvals_add(&k->file, &k->rules, rule,
                                            &scratch);
    rule->date = NULL;
    k->unstored = error ? status_retell(home_arena(k->home), error) : NULL;
    arena_release(&scratch);
    return !error;
}

/* A rule of the settings that asks comes before the stored ones. */
static bool is_allowed(const struct gatekeeper *k, const struct rule *rule)
{
    const struct rules_call call = { .tool = rule->tool, .reach = rule->reach,
                                     .session = rule->session };
    const struct rule *by;
    enum rules_level level;
    return rules_decide(&k->rules, &call, &by, &level) == RULES_AUTO;
}

/* "session" and "always" become rules. */
static allm_status remember_answer(void *ud, const allm_approval *a,
                                   allm_approval_scope scope)
{
    struct gatekeeper *k = ud;
    if (scope == ALLM_APPROVAL_ONCE)
        return ALLM_OK;
    pthread_mutex_lock(&k->lock);
    bool always = scope == ALLM_APPROVAL_ALWAYS;
    struct rule *rule = make_rule(home_arena(k->home), a);
    if (!rule)
        k->unstored = status_nomem();
    else if (!always || !store_rule(k, rule) || !is_allowed(k, rule))
        rules_add(&k->rules, RULES_SESSION, rule);
    allm_status status = (always || !rule) && k->unstored ? k->unstored->kind
                                                          : ALLM_OK;
    pthread_mutex_unlock(&k->lock);
    return status;
}

static void answer_approval(struct gatekeeper *k, const struct judgement *j,
                            allm_approval *a)
{
    if (j->verdict == RULES_ASK && k->approve) {
        approval_on_allowed(a, remember_answer, k, k->home);
        k->approve(k->approve_ud, a);
        return;
    }
    if (j->verdict == RULES_AUTO)
        allm_approval_allow(a, ALLM_APPROVAL_ONCE);
    else if (j->verdict == RULES_DENY)
        allm_approval_deny(a, j->why);
    allm_approval_free(a);
}

void gatekeeper_ask(struct gatekeeper *k, allm_toolbox *t,
                    const struct entry *e, allm_approval *a)
{
    struct arena scratch = arena_in(home_mem(k->home));
    struct judgement j = { .arena = &scratch,
                           .call = { .tool = a->call->name,
                                     .session = a->session_id } };
    bool found = find_reach(&j, t, e, a->arguments) &&
                 (!e || approval_set_reach(a, j.call.reach));
    a->passed = k;
    if (found)
        judge_call(k, &j);
    else
        j = (struct judgement){ .verdict = RULES_DENY,
                                .why = status_nomem()->message };
    answer_approval(k, &j, a);
    arena_release(&scratch);
}

/* Nobody can be asked here: say how to allow it. */
static const char *tell_unasked(const struct judgement *j)
{
    return tell(j,
                "%.100s needs approval, and nobody can be asked here: it would "
                "access %s; allow it with a rule, {\"tool\": \"%.100s\", "
                "\"verdict\": \"auto\"}, or pass allm_toolbox_gate() as the "
                "gate of the call",
                j->call.tool, join_words(j->arena, &j->call), j->call.tool);
}

static void deny_run(allm_tool_run *run, const char *why)
{
    run_fail_copy(run, FAILURE_DENIED, why ? why : DETAIL_DENIED);
}

/* What it needs now is not what was approved. */
static const char *tell_grown(const struct judgement *j)
{
    return tell(j,
                "the reach of %.100s has grown since somebody approved this "
                "call; call it again to ask for: %s",
                j->call.tool, join_words(j->arena, &j->call));
}

/* Apply the rules to a run, and answer it if they do not allow it. */
static bool judge_run(struct gatekeeper *k, struct judgement *j,
                      allm_tool_run *run)
{
    judge_call(k, j);
    bool asks = j->verdict == RULES_ASK;
    bool grown = run->decided_reach &&
                 !rules_cover_all(run->decided_reach, j->call.reach);
    if (j->verdict == RULES_AUTO || (asks && run->decided && !grown))
        return true;
    deny_run(run, !asks          ? j->why
                  : run->decided ? tell_grown(j)
                                 : tell_unasked(j));
    return false;
}

bool gatekeeper_admits(struct gatekeeper *k, allm_toolbox *t,
                       const struct entry *e, allm_tool_run *run,
                       const allm_json *args)
{
    bool admits = false;
    if (!k)
        run_fail(run, FAILURE_DENIED, "the toolbox has no rules");
    if (!k || run->passed == k)
        return k != NULL;
    struct arena scratch = arena_in(home_mem(k->home));
    struct judgement j = { .arena = &scratch, .call.tool = e->tool->name };
    j.call.session = allm_tool_run_session_id(run);
    if (find_reach(&j, t, e, args))
        admits = judge_run(k, &j, run);
    else
        deny_run(run, status_nomem()->message);
    arena_release(&scratch);
    return admits;
}

/* ---------------------------------------------------------------- list --- */

static void list_rule(struct build *b, const struct rule *r,
                      enum rules_level level, uint32_t index)
{
    build_object(b);
    build_text_at(b, "level", slice_of(rules_level_word(level)));
    build_text_copy_at(b, "tool", slice_of(r->tool));
    build_value_copy_at(b, "reach", r->reach ? r->reach : json_null());
    build_text_at(b, "verdict", slice_of(rules_verdict_word(r->verdict)));
    if (r->date)
        build_text_copy_at(b, "date", slice_of(r->date));
    if (level == RULES_STORED)
        build_uint_at(b, "index", index);
    build_end(b);
}

const allm_json *gatekeeper_list(struct gatekeeper *k, struct arena *a)
{
    struct build b = build_array_in(a);
    pthread_mutex_lock(&k->lock);
    approvals_refresh(&k->file, &k->rules);
    for (int i = 0; i < RULES_LEVELS; i++) {
        uint32_t n = 0;
        for (const struct rule *r = k->rules.first[i]; r; r = r->next)
            list_rule(&b, r, (enum rules_level)i, ++n);
    }
    pthread_mutex_unlock(&k->lock);
    return build_finish(&b);
}

const allm_error *gatekeeper_forget(struct gatekeeper *k, uint32_t index,
                                    struct arena *a)
{
    pthread_mutex_lock(&k->lock);
    const allm_error *error = approvals_remove(&k->file, &k->rules, index, a);
    pthread_mutex_unlock(&k->lock);
    return error;
}
