/*
 * follow_look.c - one look at a session: what a follower has not seen yet
 *
 * Reads are not one transaction.  The row is read first, then records, then
 * events; so the events of every record that was read are there, unless the
 * next operation has begun and removed them.
 */
#include "session/follow.h"

#include "base/status.h"
#include "session/live.h"
#include "json/json.h"

enum { RECORDS = 64 };

static bool is_type(const struct record *r, const char *type)
{
    return !strcmp(r->type, type);
}

bool follow_is_change(const struct record *r)
{
    return is_type(r, "created") || is_type(r, "change") ||
           is_type(r, "begin") || is_type(r, "end");
}

static uint64_t number_at(const allm_json *v, const char *name)
{
    int64_t n = 0;
    return json_int64(json_at(v, name), &n) && n > 0 ? (uint64_t)n : 0;
}

/* Some records, as texts and parsed. */
struct records {
    size_t count;
    struct backend_record *rows;
    struct record *list;
};

/* Records from..to; up to RECORDS of them. */
static const allm_error *read_records(struct backend *b, struct arena *a,
                                      int64_t id, uint64_t from, uint64_t to,
                                      struct records *out)
{
    uint64_t most = to >= from ? to - from + 1 : 0;
    *out = (struct records){ 0 };
    if (!most)
        return NULL;
    const allm_error *error =
        b->ops->records(b, a, id, from, most < RECORDS ? (size_t)most : RECORDS,
                        &out->count, &out->rows);
    if (error)
        return error;
    out->list = arena_zero(a, (out->count + 1) * sizeof *out->list);
    if (!out->list)
        return status_nomem();
    for (size_t i = 0; !error && i < out->count; i++)
        error = record_read(a, &out->rows[i], &out->list[i]);
    return error;
}

/* --------------------------------------------------------- the cursor --- */

static const allm_error *gone(struct arena *a, const struct follow_read *r,
                              const char *why)
{
    const struct follow_cursor *c = &r->cursor;
    uint64_t seq = c->seq > r->loaded.row.head ? r->loaded.row.head : c->seq;
    return status_error(a, ALLM_ERR_STORE, "cursor_gone",
                        "the session \"%s\" cannot be followed from \"%llu.%llu"
                        "\": %s; continue from \"%llu\"",
                        r->name, (unsigned long long)c->seq,
                        (unsigned long long)c->n, why, (unsigned long long)seq);
}

/* The operation that a record belongs to, and the last `call` up to there; 0:
 * none. */
static const allm_error *find_op(struct backend *b, struct arena *a, int64_t id,
                                 uint64_t seq, uint64_t *op, uint64_t *call)
{
    *op = *call = 0;
    while (seq) {
        struct records found;
        uint64_t from = seq > RECORDS ? seq - RECORDS + 1 : 1;
        const allm_error *error = read_records(b, a, id, from, seq, &found);
        if (error)
            return error;
        for (size_t i = found.count; i-- > 0;) {
            const struct record *r = &found.list[i];
            if (is_type(r, "call") && !*call)
                *call = r->seq;
            if (is_type(r, "begin"))
                *op = r->seq;
            if (follow_is_change(r))
                return NULL;
        }
        seq = from - 1;
    }
    return NULL;
}

/* The number of the last event that has records before `head` only. */
static uint64_t last_before(const struct follow_read *r, uint64_t head)
{
    uint64_t last = 0;
    for (size_t i = 0; i < r->live_count; i++) {
        struct live_row row;
        struct slice text;
        uint64_t n = r->live[i].n, at = 0;
        for (bool ok = live_read(r->live[i].body, &row);
             ok && live_next(&row, &at, &text); n++) {
            if (at >= head)
                return last;
            last = n;
        }
        last = r->live[i].n + r->live[i].count - 1;
    }
    return last;
}

/* The newest record before event n, which is in the first row. */
static uint64_t head_of(const struct follow_read *r, uint64_t n)
{
    struct live_row row;
    struct slice text;
    uint64_t head = 0, at = r->live[0].n;
    bool ok = live_read(r->live[0].body, &row);
    while (ok && at++ <= n)
        ok = live_next(&row, &head, &text);
    return head;
}

static const allm_error *read_live(struct backend *b, struct arena *a,
                                   struct follow_read *r)
{
    r->live_count = 0;
    if (!r->at.op)
        return NULL;
    return b->ops->live(b, a, r->id, r->at.op, r->at.n, &r->live_count,
                        &r->live);
}

/* "SEQ.N": after an event. */
static const allm_error *begin_at_event(struct backend *b, struct arena *a,
                                        struct follow_read *r)
{
    r->at.op = r->at.seq;
    r->at.n = r->cursor.n;
    const allm_error *error = read_live(b, a, r);
    if (error)
        return error;
    if (!r->live_count)
        return gone(a, r, "the events of this operation are gone");
    uint64_t head = head_of(r, r->at.n);
    if (head > r->at.seq)
        r->at.seq = head;
    return NULL;
}

/* "SEQ": the events of the turn that was not complete then; "SEQ.0": those
 * after that record. */
static const allm_error *begin_at_record(struct backend *b, struct arena *a,
                                         struct follow_read *r)
{
    uint64_t call = 0;
    const allm_error *error = find_op(b, a, r->id, r->at.seq, &r->at.op, &call);
    if (error || r->at.op == r->at.seq)
        return error;
    error = read_live(b, a, r);
    if (!error && r->live_count)
        r->at.n = last_before(r, r->cursor.dotted || !call ? r->at.seq : call);
    return error;
}

/* Was the journal pruned behind the cursor? */
static const allm_error *check_pruned(struct backend *b, struct arena *a,
                                      const struct follow_read *r)
{
    uint64_t first = 1;
    const allm_error *error = b->ops->first(b, a, r->id, &first);
    if (error || first == 1 || r->cursor.seq >= first)
        return error;
    return status_error(a, ALLM_ERR_STORE, "cursor_gone",
                        "the session \"%s\" cannot be followed from \"%llu\": "
                        "its journal was pruned; continue from \"%llu\"",
                        r->name, (unsigned long long)r->cursor.seq,
                        (unsigned long long)first);
}

static const allm_error *begin_follow(struct backend *b, struct arena *a,
                                      struct follow_read *r)
{
    const struct backend_row *row = &r->loaded.row;
    const struct follow_cursor *c = &r->cursor;
    const allm_error *error = c->given ? check_pruned(b, a, r) : NULL;
    if (error)
        return error;
    r->at = (struct follow_at){ .seq = c->seq };
    if (!c->given)
        r->at.seq = row->open ? row->open - 1 : row->head;
    if (!c->given || !c->seq)
        return NULL;
    if (c->seq > row->head)
        return gone(a, r, "it has no such record");
    return c->n ? begin_at_event(b, a, r) : begin_at_record(b, a, r);
}

/* ----------------------------------------------------------- messages --- */

static uint64_t count_after(const struct record *r)
{
    return number_at(r->json, "keep") +
           allm_json_count(json_at(r->json, "add"));
}

/* The messages that stayed through the whole operation. */
static const allm_error *find_kept(struct backend *b, struct arena *a,
                                   const struct follow_read *r, uint64_t end,
                                   uint64_t *keep)
{
    uint64_t next = r->at.op;
    while (next && next <= end) {
        struct records found;
        const allm_error *error = read_records(b, a, r->id, next, end, &found);
        if (error || !found.count)
            return error;
        for (size_t i = 0; i < found.count; i++) {
            const struct record *x = &found.list[i];
            uint64_t mine = is_type(x, "begin") ? count_after(x)
                                                : number_at(x->json, "keep");
            if (json_at(x->json, "keep") && mine < *keep)
                *keep = mine;
        }
        next = found.list[found.count - 1].seq + 1;
    }
    return NULL;
}

static const allm_error *read_change(struct backend *b, struct arena *a,
                                     const struct follow_read *r,
                                     const struct record *record,
                                     struct follow_change *out)
{
    const allm_error *error = NULL;
    struct backend_range range = { .at = record->seq,
                                   .to = count_after(record) };
    out->keep = number_at(record->json, "keep");
    if (is_type(record, "end"))
        error = find_kept(b, a, r, record->seq, &out->keep);
    range.from = out->keep;
    if (error || range.from >= range.to)
        return error;
    return store_read_messages(b, a, &r->loaded, range, &out->count,
                               &out->rows);
}

static const allm_error *read_changes(struct backend *b, struct arena *a,
                                      struct follow_read *r,
                                      struct record_blobs *blobs)
{
    const allm_error *error = NULL;
    r->changes = arena_zero(a, (r->record_count + 1) * sizeof *r->changes);
    if (!r->changes)
        return status_nomem();
    for (size_t i = 0; !error && i < r->record_count; i++) {
        struct follow_change *c = &r->changes[i];
        if (follow_is_change(&r->records[i]))
            error = read_change(b, a, r, &r->records[i], c);
        for (size_t k = 0; !error && k < c->count; k++)
            record_find_blobs(c->rows[k].body, blobs);
    }
    return error;
}

/* ------------------------------------------------------------- a look --- */

/* Are there events to report, or may there be before the next record? */
static bool has_events(struct follow_read *r)
{
    const struct backend_row *row = &r->loaded.row;
    struct live_row last;
    if (!r->live_count)
        return false;
    const struct backend_live *l = &r->live[r->live_count - 1];
    if (l->n + l->count - 1 > r->at.n)
        return true;
    if (!live_read(l->body, &last))
        return false;
    bool lost = r->late && row->open != r->at.op;
    r->waits = last.epoch > row->epoch ||
               (last.epoch == row->epoch && row->held && !last.ends && !lost);
    return r->waits;
}

/* Up to the first begin or end. */
static void take_records(struct follow_read *r, const struct records *found,
                         struct record_blobs *blobs)
{
    bool ends = false;
    r->records = found->list;
    while (!ends && r->record_count < found->count) {
        const struct record *x = &found->list[r->record_count];
        record_find_blobs(found->rows[r->record_count++].body, blobs);
        ends = is_type(x, "begin") || is_type(x, "end");
    }
}

static const allm_error *find_session(struct backend *b, struct arena *a,
                                      struct follow_read *r)
{
    bool found = false;
    const allm_error *error = b->ops->find(b, a, r->name, true, &r->loaded.row,
                                           &found);
    if (error)
        return error;
    if (found && (!r->id || r->id == r->loaded.row.id))
        return NULL;
    return status_error(a, ALLM_ERR_SESSION, "session_not_found",
                        "there is no session \"%s\" in this store, or it was "
                        "removed; allm_store_list() lists them",
                        r->name);
}

const allm_error *follow_look(struct backend *b, struct arena *a, void *ud)
{
    struct follow_read *r = ud;
    struct record_blobs blobs = { .arena = a };
    struct records found = { 0 };
    const allm_error *error = find_session(b, a, r);
    bool starts = !r->id;
    r->id = r->loaded.row.id;
    if (!error && starts)
        error = begin_follow(b, a, r);
    if (!error)
        error = read_records(b, a, r->id, r->at.seq + 1, r->loaded.row.head,
                             &found);
    if (!error)
        error = read_live(b, a, r);
    if (error)
        return error;
    r->record_count = 0;
    if (!has_events(r))
        take_records(r, &found, &blobs);
    error = read_changes(b, a, r, &blobs);
    return error ? error : store_read_blobs(b, a, &r->loaded, &blobs);
}
