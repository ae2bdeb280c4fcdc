/*
 * rules.c - which calls may run, must be approved, or are denied
 *
 *      deny, of any level --> call --> session --> project --> user
 *                         --> approvals.json --> default
 *
 * Invariants
 *   (1) A rule that allows matches if its reach covers every word of the
 *       call's.  One that asks or denies matches if it has any access in
 *       common with the call, so a larger reach never evades it.
 *   (2) What is not understood is refused when the rules are read, never
 *       ignored.
 */
#include "toolbox/rules.h"

#include "base/buf.h"
#include "base/status.h"
#include "proc/reach.h"
#include "json/build.h"
#include "json/json.h"

static const char *const verdict_words[] = { "auto", "ask", "deny" };
static const char *const level_words[] = { "call", "session", "project", "user",
                                           "user" };

const char *rules_verdict_word(enum rules_verdict v)
{
    return verdict_words[v];
}

const char *rules_level_word(enum rules_level level)
{
    return level_words[level];
}

/* --------------------------------------------------------------- words --- */

static char lower_host_letter(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool same_place(struct slice pattern, size_t p, char c)
{
    return p < pattern.len && (pattern.ptr[p] == '?' || pattern.ptr[p] == c);
}

bool rules_glob(struct slice pattern, struct slice text)
{
    size_t p = 0, t = 0, star = SIZE_MAX, from = 0;
    while (t < text.len)
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = ++p;
            from = t;
        } else if (same_place(pattern, p, text.ptr[t])) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star;           /* the star takes one character more */
            t = ++from;
        } else {
            return false;
        }
    while (p < pattern.len && pattern.ptr[p] == '*')
        p++;
    return p == pattern.len;
}

/* A name is the same with a dot at its end. */
static struct slice without_dot(struct slice host)
{
    host.len -= host.len && host.ptr[host.len - 1] == '.';
    return host;
}

/* The same for host names; they have at most 255 characters. */
static bool match_host(struct slice pattern, struct slice host)
{
    char p[256], h[256];
    pattern = without_dot(pattern);
    host = without_dot(host);
    if (pattern.len > sizeof p || host.len > sizeof h)
        return false;
    for (size_t i = 0; i < pattern.len; i++)
        p[i] = lower_host_letter(pattern.ptr[i]);
    for (size_t i = 0; i < host.len; i++)
        h[i] = lower_host_letter(host.ptr[i]);
    return rules_glob((struct slice){ p, pattern.len },
                      (struct slice){ h, host.len });
}

/* Is it the folder, or below it? */
static bool is_below(struct slice folder, struct slice path)
{
    while (folder.len && folder.ptr[folder.len - 1] == '/')
        folder.len--;
    return slice_starts(path, folder) &&
           (path.len == folder.len || path.ptr[folder.len] == '/');
}

static struct slice take_part(struct slice *word)
{
    return slice_take(word, ' ');
}

/* "server NAME TOOL"; missing parts cover everything, and TOOL may have
 * spaces. */
static bool covers_server(struct slice rule, struct slice word)
{
    if (rule.len && !rules_glob(take_part(&rule), take_part(&word)))
        return false;
    return !rule.len || (word.len && rules_glob(rule, word));
}

static bool is_file_verb(struct slice verb)
{
    return slice_is(verb, "read") || slice_is(verb, "write");
}

bool rules_covers(struct slice rule, struct slice word)
{
    struct slice mine = take_part(&rule), its = take_part(&word);
    bool reads = slice_is(its, "read") && slice_is(mine, "write");
    if (!slice_eq(mine, its) && !reads)
        return false;
    if (is_file_verb(mine))
        return is_below(rule, word);
    if (slice_is(mine, "net"))
        return !rule.len || (word.len && match_host(rule, word));
    if (slice_is(mine, "server"))
        return covers_server(rule, word);
    return rules_glob(rule, word);      /* env NAME, sampling */
}

/* "net 443": any host, at this port. */
static bool is_port(struct slice word)
{
    bool net = slice_is(take_part(&word), "net") && word.len;
    while (word.len && slice_digit(*word.ptr))
        word = slice_skip(word, 1);
    return net && !word.len;
}

/* Have they any access in common?  To write is also to read. */
static bool words_overlap(struct slice mine, struct slice its)
{
    struct slice verb = mine, other = its;
    if (is_port(mine) != is_port(its) && slice_starts(mine, SLICE("net")) &&
        slice_starts(its, SLICE("net")))
        return true;
    return rules_covers(its, mine) ||
           (slice_eq(take_part(&verb), take_part(&other)) &&
            rules_covers(mine, its));
}

/* ------------------------------------------------------------ matching --- */

typedef bool (*word_test)(struct slice rule, struct slice word);

static bool any_word(const allm_json *list, struct slice word, word_test test)
{
    for (const allm_json *w = NULL; (w = allm_json_next(list, w));)
        if (test(json_slice(w), word))
            return true;
    return false;
}

bool rules_cover_all(const allm_json *reach, const allm_json *words)
{
    for (const allm_json *w = NULL; (w = allm_json_next(words, w));)
        if (!any_word(reach, json_slice(w), rules_covers))
            return false;
    return true;
}

/* A process may read more than the words say. */
static bool meets_process(const struct rules *all, const struct rule *r)
{
    const char *root = all->root ? all->root : "/";
    for (const allm_json *w = NULL; (w = allm_json_next(r->reach, w));) {
        struct slice path = json_slice(w);
        if (slice_is(take_part(&path), "read") &&
            (reach_contains(root, path.ptr) || reach_contains(path.ptr, root) ||
             reach_meets_default(path.ptr)))
            return true;
    }
    return false;
}

/* Keeps (1). */
static bool matches_reach(const struct rules *all, const struct rule *r,
                          const struct rules_call *c)
{
    bool allows = r->verdict == RULES_AUTO;
    if (!r->reach)
        return true;
    if (!c->reach)
        return false;           /* not known */
    if (!allows && c->process && meets_process(all, r))
        return true;
    for (const allm_json *w = NULL; (w = allm_json_next(c->reach, w));) {
        bool found = any_word(r->reach, json_slice(w),
                              allows ? rules_covers : words_overlap);
        if (found != allows)
            return found;
    }
    return allows;
}

static bool matches_call(const struct rules *all, const struct rule *r,
                         const struct rules_call *c)
{
    const char *session = c->session ? c->session : "";
    return (!r->session || !strcmp(r->session, session)) &&
           rules_glob(slice_of(r->tool), slice_of(c->tool)) &&
           matches_reach(all, r, c);
}

/* The first rule of a level that matches, or that denies; NULL: none. */
static const struct rule *find_rule(const struct rules *r,
                                    enum rules_level level,
                                    const struct rules_call *c, bool denies)
{
    for (const struct rule *x = r->first[level]; x; x = x->next)
        if ((!denies || x->verdict == RULES_DENY) && matches_call(r, x, c))
            return x;
    return NULL;
}

static bool is_default(const struct rules *r, struct slice word)
{
    struct slice verb = take_part(&word);
    if (!slice_is(verb, "read"))
        return false;
    if (r->root && is_below(slice_of(r->root), word))
        return true;
    const char *const *folder = reach_programs();
    while (*folder && !is_below(slice_of(*folder), word))
        folder++;
    return *folder;
}

static enum rules_verdict default_verdict(const struct rules *r,
                                          const allm_json *reach)
{
    for (const allm_json *w = NULL; (w = allm_json_next(reach, w));)
        if (!is_default(r, json_slice(w)))
            return RULES_ASK;
    return RULES_AUTO;
}

enum rules_verdict rules_decide(const struct rules *r,
                                const struct rules_call *call,
                                const struct rule **by, enum rules_level *level)
{
    static const bool passes[] = { true, false };       /* denies first */
    for (size_t p = 0; p < 2; p++)
        for (int i = 0; i < RULES_LEVELS; i++) {
            *level = (enum rules_level)i;
            *by = find_rule(r, *level, call, passes[p]);
            if (*by)
                return (*by)->verdict;
            if (!passes[p] && i == RULES_CALL && r->yes && call->confined)
                return RULES_AUTO;
        }
    return default_verdict(r, call->reach);
}

/* ------------------------------------------------------------- reading --- */

#define NO_WORD ((struct slice){ NULL, 0 })

/* What is being read, for errors. */
struct rules_source {
    struct arena *arena;
    const char *root;
    const char *where;
    size_t index;               /* of the rule, from 1 */
};

static const allm_error *rule_fault(const struct rules_source *s,
                                    const char *what, struct slice word)
{
    return status_error(s->arena, ALLM_ERR_VALIDATION, "invalid_rule",
                        "rule %zu of %s: %s%s%.*s%s", s->index, s->where, what,
                        word.ptr ? ": \"" : "", (int)(word.len & 0x3ff),
                        word.ptr ? word.ptr : "", word.ptr ? "\"" : "");
}

/* How many parts follow a verb; a path and a tool may have spaces. */
static const struct {
    const char *verb;
    size_t least, most;
} verbs[] = {
    { "read", 1, SIZE_MAX }, { "write", 1, SIZE_MAX },
    { "net", 0, 1 },         { "server", 0, SIZE_MAX },
    { "env", 1, 1 },         { "sampling", 0, 0 },
};

static bool is_known_word(struct slice word)
{
    struct slice verb = take_part(&word);
    size_t parts = 0;
    bool free = is_file_verb(verb) || slice_is(verb, "server");
    for (struct slice rest = word; rest.len; parts++)
        if (!take_part(&rest).len)
            return free && parts;       /* two spaces: only in these */
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (slice_is(verb, verbs[i].verb))
            return parts >= verbs[i].least && parts <= verbs[i].most;
    return false;
}

static bool is_ascii(struct slice s)
{
    while (s.len && !(s.ptr[s.len - 1] & 0x80))
        s.len--;
    return !s.len;
}

/* A word with its path resolved; ptr NULL: not a path, or out of memory. */
static struct slice resolve_word(const struct rules_source *s,
                                 struct slice word)
{
    struct slice path = word, verb = take_part(&path);
    if (!is_file_verb(verb))
        return word;
    const char *given = arena_copy(s->arena, path);
    const char *real =
        given ? reach_resolve(s->arena, given, s->root ? s->root : "/") : NULL;
    if (!real)
        return NO_WORD;
    struct buf out = buf_in(s->arena, SIZE_MAX / 2);
    buf_add(&out, verb);
    buf_byte(&out, ' ');
    buf_text(&out, real);
    return out.broken ? NO_WORD : buf_slice(&out);
}

/* Add one word of a reach. */
static const allm_error *read_word(const struct rules_source *s,
                                   struct slice word, struct build *b)
{
    if (!word.ptr || !is_known_word(word))
        return rule_fault(s,
                          "a reach is \"read PATH\", \"write PATH\", \"net\", "
                          "\"net HOST\", \"env NAME\", \"server NAME TOOL\" "
                          "or \"sampling\", not this",
                          word);
    if (slice_starts(word, SLICE("net")) && !is_ascii(word))
        return rule_fault(s, "write the name of this host as \"xn--...\"",
                          word);
    struct slice whole = resolve_word(s, word);
    if (!whole.ptr)
        return s->arena->broken ? status_nomem()
                                : rule_fault(s, "this is not a path", word);
    build_text_copy(b, whole);
    return NULL;
}

static const allm_error *read_words(const struct rules_source *s,
                                    const allm_json *list, struct rule *r)
{
    const allm_error *error = NULL;
    if (!json_is_type(list, ALLM_JSON_ARRAY))
        return rule_fault(s, "reach must be a list of words", NO_WORD);
    if (!allm_json_count(list) && r->verdict != RULES_AUTO)
        return rule_fault(s, "an empty reach matches nothing; leave it out",
                          NO_WORD);
    struct build b = build_array_in(s->arena);
    for (const allm_json *w = NULL; !error && (w = allm_json_next(list, w));)
        error = read_word(s, json_slice(w), &b);
    r->reach = build_finish(&b);
    return error || r->reach ? error : status_nomem();
}

static bool read_verdict(const allm_json *v, enum rules_verdict *out)
{
    for (int i = RULES_AUTO; i <= RULES_DENY; i++)
        if (json_is(v, verdict_words[i])) {
            *out = (enum rules_verdict)i;
            return true;
        }
    return false;
}

/* Keeps (2). */
static const allm_error *find_strange_member(const struct rules_source *s,
                                             const allm_json *rule)
{
    static const char *const known[] = { "tool", "reach", "verdict", "date",
                                         "note", NULL };
    for (const allm_json *k = NULL; (k = allm_json_next(rule, k));)
        if (!slice_in(json_slice(k), known))
            return rule_fault(s, "this member is not known", json_slice(k));
    return NULL;
}

/* Is everything there that a rule needs? */
static const allm_error *check_rule(const struct rules_source *s,
                                    const allm_json *rule,
                                    enum rules_verdict *verdict)
{
    if (!json_is_type(rule, ALLM_JSON_OBJECT))
        return rule_fault(s, "it must be an object", NO_WORD);
    const allm_error *error = find_strange_member(s, rule);
    if (!error && !json_text_at(rule, "tool").len)
        error = rule_fault(s, "it needs a tool: a name, or a pattern with *",
                           NO_WORD);
    if (!error && !read_verdict(json_at(rule, "verdict"), verdict))
        error = rule_fault(s, "verdict must be auto, ask or deny", NO_WORD);
    return error;
}

static const allm_error *read_rule(const struct rules_source *s,
                                   const allm_json *rule, struct rule *out)
{
    const allm_json *reach = json_at(rule, "reach");
    struct slice date = json_text_at(rule, "date");
    const allm_error *error = check_rule(s, rule, &out->verdict);
    if (error)
        return error;
    out->tool = arena_copy(s->arena, json_text_at(rule, "tool"));
    out->date = date.ptr ? arena_copy(s->arena, date) : NULL;
    if (reach)
        error = read_words(s, reach, out);
    return s->arena->broken ? status_nomem() : error;
}

void rules_add(struct rules *r, enum rules_level level, struct rule *rule)
{
    struct rule **end = &r->first[level];
    while (*end)
        end = &(*end)->next;
    rule->next = NULL;
    *end = rule;
}

const allm_error *rules_read_level(struct rules *r, struct arena *a,
                                   enum rules_level level, const char *where,
                                   const allm_json *list)
{
    struct rules_source s = { .arena = a, .root = r->root, .where = where };
    struct rule **end = &r->first[level];
    if (!json_is_type(list, ALLM_JSON_ARRAY))
        return status_error(a, ALLM_ERR_VALIDATION, "invalid_rule",
                            "%s must be a list of rules", where);
    for (const allm_json *v = NULL; (v = allm_json_next(list, v));) {
        struct rule *rule = arena_zero(a, sizeof *rule);
        s.index++;
        if (!rule)
            return status_nomem();
        const allm_error *error = read_rule(&s, v, rule);
        if (error)
            return error;
        *end = rule;
        end = &rule->next;
    }
    return NULL;
}

static const allm_error *read_member(struct rules *r, struct arena *a,
                                     const allm_json *key)
{
    const allm_json *value = allm_json_value(key);
    for (int i = RULES_CALL; i <= RULES_USER; i++)
        if (json_is(key, level_words[i]))
            return rules_read_level(r, a, (enum rules_level)i, level_words[i],
                                    value);
    if (json_is(key, "yes") && json_is_type(value, ALLM_JSON_BOOL)) {
        r->yes = allm_json_true(value);
        return NULL;
    }
    return status_error(a, ALLM_ERR_VALIDATION, "invalid_rule",
                        "rules have the lists call, session, project and user, "
                        "and yes (true or false); \"%.100s\" is not one",
                        json_slice(key).ptr);
}

const allm_error *rules_read(struct rules *r, struct arena *a,
                             const allm_json *given)
{
    const allm_error *error = NULL;
    if (!given)
        return NULL;
    if (!json_is_type(given, ALLM_JSON_OBJECT))
        return rules_read_level(r, a, RULES_USER, "rules", given);
    for (const allm_json *k = NULL; !error && (k = allm_json_next(given, k));)
        error = read_member(r, a, k);
    return error;
}
