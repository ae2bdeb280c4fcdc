/*
 * session_resume.c - continue a stored session: choose its model, begin
 *
 * A worker runs many sessions with few models, so engines are kept.
 */
#include "cli/session_resume.h"

#include "cli/approvals.h"
#include "cli/ask_user.h"
#include "cli/broken.h"
#include "cli/decide.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/target.h"
#include "cli/timing.h"
#include "cli/toolbox.h"

#include <stdio.h>
#include <string.h>

static struct kept {
    char model[256]; /* as the user or the session wrote it */
    struct target target;
    allm_engine *engine; /* NULL: the place is free */
} kept[8];

static size_t next; /* the place to use when none is free */

static void release_place(struct kept *k)
{
    if (!k->engine)
        return;
    allm_engine_free(k->engine);
    target_release(&k->target);
    *k = (struct kept){ 0 };
}

/* The engine for a model (NULL: the default one), or NULL and *code. */
static struct kept *find_engine(const struct session_resume *how,
                                const char *model, int *code)
{
    const struct wish wish = { .model = model, .options = how->options };
    const size_t count = sizeof kept / sizeof *kept;
    const char *name = model ? model : "";
    *code = END_DONE;
    for (size_t i = 0; i < count; i++)
        if (kept[i].engine && !strcmp(kept[i].model, name))
            return &kept[i];
    struct kept *k = &kept[next++ % count];
    release_place(k);
    *code = target_resolve(&k->target, &wish);
    if (*code != END_DONE) {
        target_release(&k->target);
        *k = (struct kept){ 0 };
        return NULL;
    }
    snprintf(k->model, sizeof k->model, "%s", name);
    allm_engine_opts opts = { .size = sizeof opts,
                              .model = k->target.model,
                              .keys = k->target.keys,
                              .catalog = k->target.catalog,
                              .net = &k->target.net,
                              .tool_count = how->ask_user ? 1 : 0,
                              .tools = how->ask_user ? ask_user_tools()
                                                     : NULL };
    toolbox_apply(&opts);
    k->engine = allm_engine_new(&opts);
    return k;
}

/* The given model, else that of the broken-off operation, else the session's.
 * The operation has the name that the engine knows; the session may have that
 * of the user's own provider, which has an address and a key of its own. */
static struct kept *choose_engine(const struct session *s,
                                  const struct session_resume *how, int *code)
{
    const char *own = session_model(s);
    if (how->model)
        return find_engine(how, how->model, code);
    allm_json *begin = broken_begin(s->session, s->store);
    const char *begun = allm_json_text(allm_json_pointer(begin, "/0/model"),
                                       NULL);
    struct kept *k = own || !begun ? find_engine(how, own, code) : NULL;
    if (begun && (!own || (k && strcmp(k->target.model, begun) != 0)))
        k = find_engine(how, begun, code);
    allm_json_free(begin);
    return k;
}

/* A session whose last answer failed is repaired, as -S does. */
static int prepare_session(struct session *s)
{
    const allm_json *off = broken_of(s->session);
    const char *lack = !off && session_approves(s) ? decide_lacks(s) : NULL;
    if (lack && approvals_decided(allm_session_fields(s->session)->metadata))
        return print_misuse("%s waits to run %.100s, which is not among the "
                            "tools of this call (-T)",
                            s->path, lack);
    if (!off)
        return session_ready(s);
    return allm_json_count(allm_json_get(off, "unknown_tool_calls"))
               ? broken_report(s->session)
               : END_DONE;
}

int session_resume_start(struct session *s, const struct session_resume *how,
                         allm_stream **stream)
{
    *stream = NULL;
    int code = prepare_session(s);
    struct kept *k = code == END_DONE ? choose_engine(s, how, &code) : NULL;
    if (code == END_DONE)
        code = session_set_model(s, k->target.name);
    timing_begin();
    if (code == END_DONE)
        *stream = allm_session_resume(
            k->engine, s->session,
            ALLM(call_opts, .json = k->target.options, .on_event = timing_note,
                 .validate_arguments = 1, .live_tool_events = 1));
    return code;
}

void session_resume_release(void)
{
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        release_place(&kept[i]);
}
