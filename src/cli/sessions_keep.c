/* sessions_keep.c - allm sessions fork, import, rm, prune, verify */
#include "cli/broken.h"
#include "cli/exit.h"
#include "cli/input.h"
#include "cli/print.h"
#include "cli/session_store.h"
#include "cli/sessions.h"
#include "conf/member.h"

#include <stdlib.h>
#include <string.h>

static int fail_by_store(const struct sessions *s)
{
    return session_store_fail(allm_store_error(s->store));
}

int sessions_fork(struct sessions *s, char **argv)
{
    int code = END_DONE;
    allm_session *session = allm_session_open(s->store, argv[0], 0);
    if (allm_session_error(session))
        code = session_store_fail(allm_session_error(session));
    else if (allm_session_fork(session, s->at, argv[1]) < 0)
        code = fail_by_store(s);
    allm_session_free(session);
    return code;
}

/* Make a new session with these fields. */
static int store_record(struct sessions *s, const char *name,
                        const allm_session_record *fields)
{
    allm_session *old = allm_session_open(s->store, name, 0);
    const allm_error *error = allm_session_error(old);
    bool missing = error && error->reason &&
                   !strcmp(error->reason, "session_not_found");
    int code = END_DONE;
    if (error && !missing)
        code = session_store_fail(error);
    if (!error) {
        print_fault("there is a session \"%s\" already; choose another name",
                    name);
        code = END_USAGE;
    }
    allm_session_free(old);
    if (code != END_DONE)
        return code;
    allm_session *session = allm_session_open(s->store, name,
                                              ALLM_SESSION_CREATE);
    if (allm_session_error(session) ||
        allm_session_replace(session, fields) < 0)
        code = session_store_fail(allm_session_error(session));
    allm_session_free(session);
    return code;
}

int sessions_import(struct sessions *s, char **argv)
{
    struct input in;
    if (!input_load(&in, argv[1]))
        return END_USAGE;
    allm_codec *codec = allm_codec_decode(in.ptr ? in.ptr : "", in.len, NULL,
                                          NULL);
    const allm_session_record *r = allm_codec_value(codec, ALLM_TYPE_SESSION);
    const allm_error *error = allm_codec_error(codec);
    int code = END_SESSION;
    if (error)
        print_fault("%s is not a session: %s", argv[1], error->message);
    else if (!r)
        print_fault("%s is not a session", argv[1]);
    else
        code = store_record(s, argv[0], r);
    allm_codec_free(codec);
    input_release(&in);
    return code;
}

/* Why somebody must decide first; NULL: nothing is to be decided. */
static const char *undecided(const allm_session *session)
{
    if (allm_session_error(session))
        return NULL;
    allm_session_status status = allm_session_fields(session)->status;
    return broken_of(session)                      ? "is broken off"
           : status == ALLM_SESSION_AWAITING_USER  ? "waits for an answer"
           : status == ALLM_SESSION_AWAITING_TOOLS ? "waits for tools"
                                                   : NULL;
}

static int remove_session(struct sessions *s, const char *name)
{
    allm_session *session = allm_session_open(s->store, name,
                                              ALLM_SESSION_LOCK);
    const char *why = undecided(session);
    allm_session_free(session);
    if (why) {
        print_fault("%s %s and was not removed; first: allm sessions abandon "
                    "%s",
                    name, why, name);
        return END_ASKED;
    }
    return allm_store_remove(s->store, name) == ALLM_OK ? END_DONE
                                                        : fail_by_store(s);
}

int sessions_rm(struct sessions *s, char **argv)
{
    int code = END_DONE;
    for (; *argv; argv++) {
        int one = remove_session(s, *argv);
        if (one != END_DONE)
            code = one;
    }
    return code;
}

/* Read "90", "90s", "5m", "2h", "30d" or "4w"; false: it is something else. */
static bool read_age(const char *text, uint64_t *ms)
{
    static const char units[] = "smhdw";
    static const double seconds[] = { 1, 60, 3600, 86400, 604800 };
    char *end;
    double n = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : units;
    if (end == text || !unit || (*end && end[1]) || !(n > 0) || n > 1e9)
        return false;
    *ms = (uint64_t)(n * seconds[unit - units] * 1000);
    return true;
}

int sessions_prune(struct sessions *s, char **argv)
{
    uint64_t age = 0;
    uint32_t flags = (s->dry_run ? ALLM_PRUNE_LOOK : 0) |
                     (s->journal ? ALLM_PRUNE_JOURNAL : 0);
    (void)argv;
    if (!s->older || !read_age(s->older, &age))
        return print_misuse("prune needs --older TIME, such as 30d, 12h or 4w");
    allm_json *done =
        allm_store_prune(s->store, ALLM(store_query, .older_ms = age), flags);
    if (!done)
        return fail_by_store(s);
    const allm_json *names = allm_json_get(done, "removed");
    for (const allm_json *v = NULL; (v = allm_json_next(names, v));)
        print_format("%s\n", allm_json_text(v, NULL));
    print_note("%zu %s%s %s", allm_json_count(names),
               s->journal ? "journal" : "session",
               allm_json_count(names) == 1 ? "" : "s",
               s->dry_run   ? "would be removed"
               : s->journal ? "shortened"
                            : "removed");
    allm_json_free(done);
    return END_DONE;
}

/* Print the faults, and how much was checked. */
static void print_faults(const allm_json *report)
{
    const allm_json *faults = allm_json_get(report, "faults");
    for (const allm_json *f = NULL; (f = allm_json_next(faults, f));) {
        print_format("%s, record %.0f: %s\n",
                     member_or(f, "session", "the database"),
                     allm_json_number(allm_json_get(f, "seq")),
                     member_or(f, "what", "?"));
    }
    double sessions = allm_json_number(allm_json_get(report, "sessions"));
    double records = allm_json_number(allm_json_get(report, "records"));
    print_format("%s: %.0f session%s, %.0f record%s\n",
                 allm_json_count(faults) ? "damaged" : "ok", sessions,
                 sessions == 1 ? "" : "s", records, records == 1 ? "" : "s");
}

int sessions_verify(struct sessions *s, char **argv)
{
    allm_json *report = allm_store_verify(s->store, argv[0]);
    if (!report)
        return fail_by_store(s);
    bool ok = allm_json_true(allm_json_get(report, "ok"));
    if (s->json)
        print_json(report, print_is_terminal() ? ALLM_JSON_PRETTY : 0);
    else
        print_faults(report);
    allm_json_free(report);
    return ok ? END_DONE : END_SESSION;
}
