/* sessions.c - allm sessions: look at the sessions of the store, change them */
#include "cli/sessions.h"

#include "cli/command.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/session_store.h"
#include "cli/suggest.h"

#include <string.h>

#define AT(member) offsetof(struct sessions, member)

static const struct flag flags[] = {
    { 0, "--store", FLAG_TEXT, AT(uri), "URI",
      "the store; else ALLM_STORE, else a file", .setting = "store" },
    { 0, "--status", FLAG_CHOICE, AT(status), "S",
      "list: only sessions with this status", FILL_WORDS,
      "idle|awaiting_user|awaiting_tools|completed|error" },
    { 'n', "--limit", FLAG_NUMBER, AT(limit), "N",
      "list: at most N sessions (50)" },
    { 0, "--json", FLAG_SWITCH, AT(json), NULL,
      "list, show, verify: print JSON", .use = FLAG_MOST },
    { 0, "--journal", FLAG_SWITCH, AT(journal), NULL,
      "show, export: the records; prune: old ones" },
    { 0, "--at", FLAG_NUMBER, AT(at), "SEQ",
      "show, fork: as of this record" },
    { 0, "--markdown", FLAG_SWITCH, AT(markdown), NULL,
      "export: as Markdown" },
    { 0, "--happened", FLAG_TEXT, AT(happened), "TEXT",
      "settle: it took effect; TEXT is its result" },
    { 0, "--not", FLAG_SWITCH, AT(did_not_happen), NULL,
      "settle: it did not take effect" },
    { 0, "--again", FLAG_SWITCH, AT(again), NULL,
      "settle: run it again" },
    { 0, "--from", FLAG_TEXT, AT(from), "CURSOR",
      "follow: continue after this event" },
    { 0, "--events", FLAG_SWITCH, AT(events), NULL,
      "follow: print the events as JSON, one per line" },
    { 0, "--forever", FLAG_SWITCH, AT(forever), NULL,
      "follow: beyond the end of the operation" },
    { 0, "--older", FLAG_TEXT, AT(older), "TIME",
      "prune: not changed for so long, such as 30d" },
    { 0, "--dry-run", FLAG_SWITCH, AT(dry_run), NULL,
      "prune: only print the names" },
    { 'm', "--model", FLAG_TEXT, AT(model), "P:M",
      "resume: the model; else that of the session", FILL_MODEL },
    { 'o', "--option", FLAG_PAIR, AT(options), "K V",
      "resume: an option of the provider" },
    { 0, "--ask", FLAG_SWITCH, AT(ask_user), NULL,
      "resume: let the model ask a question" },
    { 'q', "--quiet", FLAG_SWITCH, AT(quiet), NULL, "no notes on stderr" },
    TOOLBOX_FLAGS(AT),
    { .name = NULL },
};

static int print_schema(struct sessions *s, char **argv)
{
    (void)argv;
    return session_store_schema(s->uri);
}

/* The flags that a verb accepts besides --store and --quiet. */
static const struct verb {
    const char *name, *arguments;
    int least, most;
    const char *accepts;
    bool creates; /* the store */
    int (*run)(struct sessions *, char **argv);
} verbs[] = {
    { "list", "[WORD...]", 0, 1000, "--status --limit --json", false,
      sessions_list },
    { "show", "NAME", 1, 1, "--at --journal --json", false, sessions_show },
    { "resume", "NAME", 1, 1,
      "--model --option --ask --json --tools --tool --mcp --mcp-config "
      "--sandbox --approve --yes",
      false, sessions_resume },
    { "abandon", "NAME", 1, 1, "", false, sessions_abandon },
    { "cancel", "NAME", 1, 1, "", false, sessions_cancel },
    { "settle", "NAME CALL --happened TEXT | --not | --again", 2, 2,
      "--happened --not --again", false, sessions_settle },
    { "fork", "NAME NEW", 2, 2, "--at", false, sessions_fork },
    { "export", "NAME", 1, 1, "--markdown --journal", false, sessions_export },
    { "import", "NEW FILE", 2, 2, "", true, sessions_import },
    { "follow", "NAME", 1, 1, "--from --events --forever", false,
      sessions_follow },
    { "rm", "NAME...", 1, 1000, "", false, sessions_rm },
    { "prune", "", 0, 0, "--older --journal --dry-run", false, sessions_prune },
    { "verify", "[NAME]", 0, 1, "--json", false, sessions_verify },
    { "schema", "", 0, 0, "", false, print_schema },
};

enum { VERB_COUNT = sizeof verbs / sizeof *verbs };

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; i < VERB_COUNT; i++)
        if (!strcmp(verbs[i].name, name))
            return &verbs[i];
    return NULL;
}

/* A word that is no verb: the words to list.  One that is nearly a verb is a
 * typo. */
static bool is_typo(const char *word)
{
    struct suggest near;
    suggest_begin(&near, word);
    for (size_t i = 0; i < VERB_COUNT; i++)
        suggest_try(&near, verbs[i].name);
    const char *found = suggest_found(&near);
    if (!found || suggest_distance(found, word) != 1)
        return false;
    print_fault("\"%s\" is not a command of sessions; did you mean \"%s\"?  To "
                "search for it: allm sessions list %s",
                word, found, word);
    return true;
}

/* Was this flag given? */
static bool is_given(const struct flag *f, const struct sessions *s)
{
    const char *at = (const char *)s + f->at;
    switch (f->kind) {
    case FLAG_SWITCH:
        return *(const bool *)at;
    case FLAG_TEXT:
    case FLAG_CHOICE:
        return *(const char *const *)at != NULL;
    case FLAG_LIST:
    case FLAG_PAIR:
        return ((const struct flag_list *)at)->count > 0;
    default:
        return *(const uint32_t *)at > 0;
    }
}

/* Is the word in this list of words? */
static bool is_listed(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += n)
        if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ' '))
            return true;
    return false;
}

static bool check_use(const struct verb *v, const struct sessions *s, int argc)
{
    for (const struct flag *f = flags; f->name; f++)
        if (is_given(f, s) && !is_listed("--store --quiet", f->name) &&
            !is_listed(v->accepts, f->name))
            return print_fault("sessions %s does not use %s", v->name, f->name);
    if (argc < v->least || argc > v->most)
        return print_fault("usage: allm sessions %s%s%s", v->name,
                           *v->arguments ? " " : "", v->arguments);
    return true;
}

/* Open the store, run the verb. */
static int run_verb(const struct verb *v, struct sessions *s, char **argv)
{
    if (v->run == print_schema)
        return print_schema(s, argv);
    if (v->run == sessions_list && !session_store_exists(s->uri)) {
        if (s->json)
            print_text("{\"sessions\":[],\"more\":false}\n");
        print_note("no sessions yet; allm -S NAME begins one");
        return END_DONE;
    }
    int code = session_store_open(&s->store, s->uri,
                                  v->creates ? 0 : ALLM_STORE_NO_CREATE, 0);
    if (code == END_DONE)
        code = v->run(s, argv);
    allm_store_free(s->store);
    return code;
}

static int run_sessions_command(int argc, char **argv)
{
    static struct sessions s;
    if (!flags_read(flags, &s, &argc, argv))
        return END_USAGE;
    argv[argc] = NULL;
    print_silence(s.quiet);
    const struct verb *v = argc ? find_verb(argv[0]) : NULL;
    if (v) {
        argc--;
        argv++;
    } else if (argc && is_typo(argv[0])) {
        return END_USAGE;
    }
    if (!v)
        v = &verbs[0];
    return check_use(v, &s, argc) ? run_verb(v, &s, argv) : END_USAGE;
}

const struct command sessions_command = {
    .name = "sessions",
    .usage = "[VERB] [ARGUMENT...]",
    .summary = "list, show, continue and remove the sessions of the store",
    .more =
        "  list [WORD...]            the sessions, the one changed last first\n"
        "  show NAME                 the conversation, or its records\n"
        "  resume NAME               continue what was broken off, or sent\n"
        "  abandon NAME              drop what was broken off\n"
        "  cancel NAME               stop what runs in another process\n"
        "  settle NAME CALL          say what happened to an unknown call\n"
        "  fork NAME NEW             copy a session, as of any record\n"
        "  export NAME               print it; allm -S FILE reads this\n"
        "  import NEW FILE           store an exported session\n"
        "  follow NAME               print what another process runs in it\n"
        "  rm NAME...                remove sessions and every trace of them\n"
        "  prune --older TIME        remove old ones\n"
        "  verify [NAME]             check sums, hashes and the database\n"
        "  schema                    print the SQL of the tables\n",
    .examples = "allm sessions show trip\n",
    .subs = "list|show|resume|abandon|cancel|settle|fork|export|import|"
            "follow|rm|prune|verify|schema",
    .args = { FILL_SESSION, FILL_FILE },
    .flags = flags,
    .group = GROUP_STATE,
    .run = run_sessions_command,
};
