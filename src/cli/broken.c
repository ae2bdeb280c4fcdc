/* broken.c - an operation of a stored session that was broken off */
#include "cli/broken.h"

#include "cli/exit.h"
#include "cli/print.h"
#include "cli/session_store.h"
#include "conf/member.h"

#include <stdio.h>

const allm_json *broken_of(const allm_session *session)
{
    return allm_json_get(allm_session_fields(session)->metadata, "broken_off");
}

bool broken_answered(const allm_session *session)
{
    int64_t turn = 0;
    const allm_json *off = broken_of(session);
    allm_json_int64(allm_json_get(off, "turn"), &turn);
    return turn || allm_json_true(allm_json_get(off, "answered"));
}

static const char *name_of(const allm_session *session)
{
    return allm_session_fields(session)->id;
}

allm_json *broken_begin(const allm_session *session, allm_store *store)
{
    int64_t seq = 0;
    const allm_json *off = broken_of(session);
    if (!off || !allm_json_int64(allm_json_get(off, "begin"), &seq))
        return NULL;
    return allm_store_records(store, name_of(session), (uint64_t)seq, 1);
}

const char *broken_calls(const allm_session *session, char names[300])
{
    const allm_json *calls = allm_json_get(broken_of(session),
                                           "unknown_tool_calls");
    const char *first = NULL;
    size_t at = 0;
    *names = '\0';
    for (const allm_json *c = NULL; (c = allm_json_next(calls, c));) {
        const char *id = member_read(c, "id");
        if (!first)
            first = id;
        int n = at < 200 ? snprintf(names + at, 300 - at, "%s%.40s (%.40s)",
                                    at ? ", " : "", id ? id : "?",
                                    member_or(c, "name", "?"))
                         : 0;
        at += n > 0 ? (size_t)n : 0;
    }
    return first;
}

int broken_report(const allm_session *session)
{
    const char *me = name_of(session);
    char names[300];
    const char *first = broken_calls(session, names);
    if (first) {
        print_fault("%s was broken off while these calls ran, and nobody knows "
                    "whether they took effect: %s",
                    me, names);
        print_note("find out, then: allm sessions settle %s %s --happened "
                   "TEXT, --not or --again",
                   me, first);
    } else {
        print_fault("%s was broken off after the model had answered", me);
    }
    print_note(
        "to continue: allm sessions resume %s; to drop it: allm sessions "
        "abandon %s",
        me, me);
    return END_ASKED;
}

int broken_drop(allm_session *session)
{
    if (!broken_of(session))
        return END_DONE;
    if (broken_answered(session))
        return broken_report(session);
    if (allm_session_abandon(session) < 0)
        return session_store_fail(allm_session_error(session));
    print_note("the last call broke off before an answer arrived; its prompt "
               "is dropped");
    return END_DONE;
}
