/*
 * commit.c - the commits of a session in a store
 *
 * Invariants
 *   (1) `rows` has the messages that the store has when everything that was
 *       submitted is durable.
 *   (2) The first record of a session is `created`; the first commit of every
 *       later holder begins with `taken`.
 *   (3) After a failed append nothing is built before the session was loaded
 *       again.
 */
#include "session/commit.h"

#include "base/status.h"
#include "data/encode.h"
#include "data/message.h"
#include "session/approve.h"
#include "json/json.h"
#include "json/write.h"

enum { TITLE_MOST = 80 };

uint64_t commit_next_seq(const struct place *d)
{
    uint64_t head = store_session_head(d->store);
    return head + 1 + (head == 0 || d->taken);
}

static const char *after_word(enum backend_after after)
{
    return after == BACKEND_GONE      ? "gone"
           : after == BACKEND_EXPIRED ? "expired"
                                      : "released";
}

static void put_taken(struct place *d, struct store_append *p)
{
    const struct backend_row *row = &d->loaded.row;
    struct emit *e = store_append_open(p, "taken", NULL);
    emit_member_uint(e, "epoch", row->epoch);
    emit_member(e, "holder", row->holder);
    emit_member_word(e, "after", after_word(d->loaded.after));
    emit_member_uint(e, "tries", row->tries);
    store_append_close(p);
    d->taken = false;
}

/* The session as it is before its first change. */
static bool put_created(struct place *d, struct store_append *p)
{
    allm_session_record *empty = allm_session_record_new(
        ALLM(session_record, .id = store_session_name(d->store)));
    allm_thread *none = allm_thread_new(NULL);
    bool ok = empty && !shape_error(empty) && none &&
              commit_created(d, p, NULL, 0, none, empty);
    allm_thread_free(none);
    allm_session_record_free(empty);
    return ok;
}

bool commit_created(struct place *d, struct store_append *p, const char *from,
                    uint64_t seq, const allm_thread *thread,
                    const allm_session_record *record)
{
    struct emit *e = store_append_open(p, "created", NULL);
    emit_member(e, "name", store_session_name(d->store));
    emit_member(e, "uid", store_session_uid(d->store));
    emit_at(e, "from");
    if (from) {
        emit_open(e, '{');
        emit_member(e, "name", from);
        emit_member_uint(e, "seq", seq);
        emit_close(e, '}');
    } else {
        emit_null(e);
    }
    bool ok = commit_thread(d, p, thread, true) && commit_state(p, record);
    store_append_close(p);
    return ok;
}

struct store_append *commit_begin(struct place *d)
{
    bool first = store_session_head(d->store) == 0;
    struct store_append *p = store_append_new(d->store);
    if (p && first && !put_created(d, p)) {
        store_append_free(p);
        d->stale = true;        /* keeps (3) */
        return NULL;
    }
    if (p && !first && d->taken)
        put_taken(d, p);        /* keeps (2) */
    return p;
}

/* How many messages the two have in common at their beginning. */
static size_t common_messages(const allm_thread *x, const allm_thread *y)
{
    size_t nx = 0, ny = 0, i = 0;
    const allm_message *const *mx = allm_thread_messages(x, &nx);
    const allm_message *const *my = allm_thread_messages(y, &ny);
    size_t most = nx < ny ? nx : ny;
    while (i < most && mx[i] == my[i])
        i++;
    return i;
}

bool commit_thread(struct place *d, struct store_append *p,
                   const allm_thread *thread, bool extends)
{
    struct arena *a = store_append_arena(p);
    size_t n = 0, old = d->rows ? allm_thread_count(d->rows) : 0;
    const allm_message *const *all = allm_thread_messages(thread, &n);
    size_t keep = extends ? old : common_messages(d->rows, thread);
    size_t count = n > keep ? n - keep : 0;
    struct buf *bodies = arena_zero(a, (count + 1) * sizeof *bodies);
    allm_thread *rows = allm_thread_copy(thread);
    bool ok = bodies && rows;
    for (size_t i = 0; ok && i < count; i++) {
        struct emit e;
        buf_init(&bodies[i], a, SIZE_MAX / 2);
        buf_reserve(&bodies[i], all[keep + i]->text_len + 300);
        emit_init(&e, &bodies[i]);
        ok = !encode_to_emit(&e, a, &message_shape, all[keep + i],
                             ALLM_FORM_TAGGED) &&
             !bodies[i].broken;
    }
    if (!ok) {
        allm_thread_free(rows);
        return false;
    }
    store_append_thread(p, extends, keep, count, bodies);
    allm_thread_free(d->rows);
    d->rows = rows;             /* keeps (1) */
    return true;
}

/* The first line of the first message of the user, for lists. */
static const char *make_title(struct arena *a, const allm_thread *thread)
{
    size_t n = 0;
    const allm_message *const *all = allm_thread_messages(thread, &n);
    for (size_t i = 0; i < n && i < 16; i++) {
        struct slice text = { all[i]->text, all[i]->text_len };
        if (all[i]->role != ALLM_ROLE_USER || !text.len)
            continue;
        size_t len = 0;
        while (len < text.len && len < TITLE_MOST && text.ptr[len] != '\n' &&
               text.ptr[len] != '\0')
            len++;
        while (len && len < text.len &&
               ((unsigned char)text.ptr[len] & 0xc0) == 0x80)
            len--;              /* not inside a character */
        return arena_copy(a, (struct slice){ text.ptr, len });
    }
    return NULL;
}

static const char *waits_for(const allm_session_record *r)
{
    return approve_ready(r)                           ? NULL
           : r->status == ALLM_SESSION_AWAITING_USER  ? "user"
           : r->status == ALLM_SESSION_AWAITING_TOOLS ? "tools"
                                                      : NULL;
}

bool commit_state(struct store_append *p, const allm_session_record *record)
{
    struct arena *a = store_append_arena(p);
    struct backend_append *c = store_append_columns(p);
    const allm_json *state = durable_state(a, record);
    struct buf text = buf_in(a, SIZE_MAX / 2);
    if (!state || !json_write(&text, state, 0))
        return false;
    store_append_value(p, "state", state);
    c->state = buf_slice(&text);
    c->status = json_text_at(state, "status").ptr;
    c->waits = waits_for(record);
    if (!c->title)
        c->title = make_title(a, record->thread);
    return true;
}

const allm_error *commit_finish(struct place *d, struct store_append *p,
                                struct arena *a)
{
    const allm_error *error = NULL;
    store_append_submit(p);
    if (store_append_wait(p, &error) < 0) {
        d->stale = true;
        error = status_retell(a, error ? error : status_nomem());
    } else {
        error = NULL;
    }
    store_append_free(p);
    return error;
}

void commit_leave(struct place *d, struct store_append *p)
{
    (void)d;
    store_append_submit(p);
    store_append_free(p);
}

static bool put_change(struct place *d, struct store_append *p, const char *by,
                       const allm_session_record *record)
{
    struct emit *e = store_append_open(p, "change", NULL);
    emit_member_word(e, "by", by);
    bool ok = commit_thread(d, p, record->thread, false) &&
              commit_state(p, record);
    store_append_close(p);
    return ok;
}

const allm_error *commit_change(struct place *d, const char *by,
                                const allm_session_record *record,
                                struct arena *a)
{
    bool imports = !store_session_head(d->store) && !strcmp(by, "replace");
    struct store_append *p = imports ? store_append_new(d->store)
                                     : commit_begin(d);
    if (!p)
        return status_nomem();
    store_append_columns(p)->open = 0;
    if (approve_ready(record))
        store_append_columns(p)->due = true;
    bool ok = imports ? commit_created(d, p, NULL, 0, record->thread, record)
                      : put_change(d, p, by, record);
    if (ok)
        return commit_finish(d, p, a);
    store_append_free(p);
    d->stale = true;
    return status_nomem();
}
