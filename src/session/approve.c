/*
 * approve.c - decisions about calls that a gate left undecided
 *
 *      user  assistant(c0 c1 c2)  tool(c0)      c1, c2 wait
 *      '--'  '-----------------'  '------'
 *    thread       response         results  +   decisions --> replay of turn 0
 *
 * The next continue runs that turn again: the answer and the results so far
 * are those of the thread, and the decided calls run or are denied.
 */
#include "session/approve.h"

#include "base/buf.h"
#include "base/status.h"
#include "data/metadata.h"
#include "data/session_record.h"
#include "data/thread.h"
#include "session/fold.h"
#include "session/project.h"
#include "tool/result.h"
#include "json/build.h"
#include "json/json.h"

#define METADATA_APPROVED "approved"

enum { ALLOWED = 1, DENIED = 2 };       /* as in allm_journal_tool */

/* ----------------------------------------------------------- decisions --- */

static const allm_json *find_by_id(const allm_json *list, const char *id)
{
    for (const allm_json *v = NULL; (v = allm_json_next(list, v));)
        if (id && json_is(json_at(v, "id"), id))
            return v;
    return NULL;
}

static const allm_json *decisions_of(const allm_session_record *r)
{
    return json_at(r->metadata, METADATA_APPROVED);
}

size_t approve_count(const allm_session_record *r)
{
    return allm_json_count(decisions_of(r));
}

static bool is_pending(const allm_session_record *r, const char *id)
{
    for (size_t i = 0; id && i < r->pending_tool_call_count; i++)
        if (r->pending_tool_calls[i]->id &&
            !strcmp(r->pending_tool_calls[i]->id, id))
            return true;
    return false;
}

bool approve_ready(const allm_session_record *r)
{
    if (r->status != ALLM_SESSION_AWAITING_TOOLS || !r->pending_tool_call_count)
        return false;
    for (size_t i = 0; i < r->pending_tool_call_count; i++)
        if (!find_by_id(decisions_of(r), r->pending_tool_calls[i]->id))
            return false;
    return true;
}

static const allm_error *not_waiting(struct arena *a, const char *id)
{
    return status_error(a, ALLM_ERR_SESSION, "unknown_tool_call_id",
                        "no call with the id \"%s\" waits for approval; "
                        "metadata.approvals lists those that do",
                        id ? id : "");
}

static void put_decision(struct build *b, const char *id, bool allow,
                         const char *why)
{
    build_object(b);
    build_text_at(b, "id", slice_of(id));
    build_bool_at(b, "allow", allow);
    build_text_or_null_at(b, "why", why);
    build_end(b);
}

/* The decisions with this one; NULL: out of memory. */
static const allm_json *with_decision(struct arena *a, const allm_json *list,
                                      const char *id, bool allow,
                                      const char *why)
{
    struct build b = build_array_in(a);
    for (const allm_json *v = NULL; (v = allm_json_next(list, v));)
        if (!json_is(json_at(v, "id"), id))
            build_value(&b, v);
    put_decision(&b, id, allow, why);
    return build_finish(&b);
}

allm_session_record *approve_decide(const allm_session_record *r,
                                    const char *id, bool allow, const char *why,
                                    struct arena *a, const allm_error **error)
{
    allm_session_record *next = NULL;
    if (!find_by_id(json_at(r->metadata, METADATA_APPROVALS), id) ||
        !is_pending(r, id)) {
        *error = not_waiting(a, id);
        return NULL;
    }
    const allm_json *list = with_decision(a, decisions_of(r), id, allow, why);
    if (list)
        next = project_note(r, METADATA_APPROVED, list);
    *error = next ? NULL : status_nomem();
    return next;
}

/* Has this call begun, or is it done? */
static bool has_begun(const struct fold *f, const char *id)
{
    const struct fold_call *c = fold_find(f, id);
    return c && (c->begun || c->done);
}

/* The decisions about calls that have not begun; NULL: out of memory. */
static const allm_json *unused_decisions(struct arena *a, const allm_json *list,
                                         const struct fold *begun)
{
    struct build b = build_array_in(a);
    for (const allm_json *v = NULL; (v = allm_json_next(list, v));)
        if (begun && !has_begun(begun, json_text_at(v, "id").ptr))
            build_value(&b, v);
    return build_finish(&b);
}

allm_session_record *approve_consume(allm_session_record *r,
                                     const struct fold *begun)
{
    allm_session_record *next = NULL;
    if (!r || !approve_count(r))
        return r;
    struct arena a = arena_in(mem_default());
    const allm_json *left = unused_decisions(&a, decisions_of(r), begun);
    if (left)
        next = project_note(r, METADATA_APPROVED,
                            allm_json_count(left) ? left : NULL);
    arena_release(&a);
    allm_session_record_free(r);
    return next;
}

/* -------------------------------------------------------------- replay --- */

/* The position of the answer whose calls wait; the count: there is none. */
static size_t find_answer(const allm_message *const *all, size_t count)
{
    size_t i = count;
    while (i && all[i - 1]->role == ALLM_ROLE_TOOL)
        i--;
    return i && all[i - 1]->role == ALLM_ROLE_ASSISTANT &&
                   all[i - 1]->tool_call_count
               ? i - 1
               : count;
}

allm_thread *approve_thread_before(const allm_thread *thread)
{
    size_t n = 0;
    const allm_message *const *all = allm_thread_messages(thread, &n);
    return thread_first(thread, find_answer(all, n));
}

/* The answer as the model gave it; its usage was counted then. */
static allm_response *make_answer(const allm_message *m)
{
    allm_response *r = allm_response_new(
        ALLM(response, .message = m, .output_text = m->text,
             .output_len = m->text_len, .tool_calls = m->tool_calls,
             .tool_call_count = m->tool_call_count,
             .finish_reason = ALLM_FINISH_TOOL_CALLS));
    if (r && allm_response_error(r)) {
        allm_response_free(r);
        r = NULL;
    }
    return r;
}

static allm_journal_tool *push_tool(struct arena *a,
                                    const allm_journal_tool **list,
                                    size_t *count, const char *id)
{
    allm_journal_tool *t = arena_zero(a, sizeof *t);
    if (t) {
        *t = (allm_journal_tool){ .size = sizeof *t, .tool_call_id = id };
        list[(*count)++] = t;
    }
    return t;
}

/* A result is a text, or a text followed by images. */
static struct slice text_of(const allm_message *m)
{
    const allm_part *first = m->part_count ? m->parts[0] : NULL;
    if (first && first->kind == ALLM_PART_TEXT && first->text)
        return (struct slice){ first->text, first->text_len };
    return m->text ? (struct slice){ m->text, m->text_len } : SLICE("");
}

static bool add_messages(struct arena *a, const allm_message *const *all,
                         size_t count, const allm_journal_tool **list,
                         size_t *out)
{
    for (size_t i = 0; i < count; i++) {
        allm_journal_tool *t =
            all[i]->tool_call_id ? push_tool(a, list, out, all[i]->tool_call_id)
                                 : NULL;
        if (!t)
            return false;
        struct slice text = text_of(all[i]);
        t->done = 1;
        t->content = text.ptr;
        t->content_len = text.len;
        t->value = result_images(all[i], a);
    }
    return true;
}

/* What the call would have accessed when it was left; NULL: not known. */
static const allm_json *approved_reach(const allm_session_record *r,
                                       const char *id, struct arena *a)
{
    const allm_json *row = find_by_id(json_at(r->metadata, METADATA_APPROVALS),
                                      id);
    const allm_json *reach = json_at(row, "reach");
    return json_is_type(reach, ALLM_JSON_ARRAY) ? json_copy(a, reach) : NULL;
}

/* Who denied it, and why. */
static const char *tell_decision(struct arena *a, const allm_json *why)
{
    struct buf out = buf_in(a, SIZE_MAX / 2);
    buf_text(&out, "the user denied this call");
    if (json_slice(why).len) {
        buf_text(&out, ": ");
        buf_add(&out, json_slice(why));
    }
    return out.broken ? NULL : out.ptr;
}

bool approve_list(const allm_session_record *r, const struct fold *begun,
                  struct arena *a, const allm_journal_tool **list,
                  size_t *count)
{
    for (const allm_json *v = NULL; (v = allm_json_next(decisions_of(r), v));) {
        const char *id = json_text_at(v, "id").ptr;
        bool allow = allm_json_true(json_at(v, "allow"));
        if (!is_pending(r, id) || (begun && has_begun(begun, id)))
            continue;
        allm_journal_tool *t = push_tool(a, list, count, id);
        if (!t)
            return false;
        t->decided = allow ? ALLOWED : DENIED;
        if (allow)
            t->value = approved_reach(r, id, a);
        else
            t->content = tell_decision(a, json_at(v, "why"));
    }
    return !a->broken;
}

static const allm_error *not_at_end(struct arena *a)
{
    return status_error(a, ALLM_ERR_SESSION, "wrong_status",
                        "the calls that wait for approval are not at the end "
                        "of the session, because messages were added after "
                        "them; remove these with allm_session_replace()");
}

const allm_error *approve_turn_make(struct approve_turn *t, struct arena *a,
                                    const allm_session_record *r)
{
    size_t n = 0, count = 0;
    const allm_message *const *all = allm_thread_messages(r->thread, &n);
    size_t at = find_answer(all, n);
    *t = (struct approve_turn){ .thread = NULL };
    if (at == n)
        return not_at_end(a);
    const allm_journal_tool **list =
        arena_zero(a, (n - at + approve_count(r)) * sizeof *list);
    t->thread = thread_first(r->thread, at);
    t->response = make_answer(all[at]);
    if (!list || !t->thread || !t->response ||
        !add_messages(a, all + at + 1, n - at - 1, list, &count) ||
        !approve_list(r, NULL, a, list, &count))
        return status_nomem();
    t->replay = (allm_journal_replay){ .size = sizeof t->replay,
                                       .response = t->response,
                                       .tools = list, .tool_count = count };
    return NULL;
}

void approve_turn_release(struct approve_turn *t)
{
    allm_thread_free(t->thread);
    allm_response_free(t->response);
    *t = (struct approve_turn){ .thread = NULL };
}
