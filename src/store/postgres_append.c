/*
 * postgres_append.c - all waiting appends in one statement and one round trip
 *
 *      unnest($1..) --> UPDATE allm_session WHERE id, epoch, head
 *                           |  ids that matched
 *                           '--> INSERT records, messages, blobs; UPDATE cuts;
 *                                DELETE what was taken from the inbox
 *
 * An append whose row did not match has lost its session.  The statement is a
 * transaction of its own; where the server's synchronous_commit is off, the
 * statement turns it on for itself.
 *
 * If the connection breaks while the statement is under way, the sums tell
 * whether it was committed: nobody else could have written them.
 */
#include "store/postgres_parts.h"

#include "base/status.h"
#include "loop/thread.h"

enum { RETRY_LEAST_MS = 20, RETRY_MOST_MS = 1000,
       POSTGRES_BATCH = 256 };         /* as many as a group has */

/* ----------------------------------------------------------- literals --- */

/* Arrays as PostgreSQL reads them: {1,2}  {"a","b",NULL} */
struct column {
    struct buf text;
    bool more;
};

static void open_column(struct column *c, struct arena *a)
{
    buf_init(&c->text, a, SIZE_MAX / 2);
    buf_byte(&c->text, '{');
    c->more = false;
}

static void next_element(struct column *c)
{
    if (c->more)
        buf_byte(&c->text, ',');
    c->more = true;
}

static void put_number(struct column *c, uint64_t n)
{
    next_element(c);
    buf_uint(&c->text, n);
}

static void put_text(struct column *c, struct slice s)
{
    next_element(c);
    if (!s.ptr) {
        buf_text(&c->text, "NULL");
        return;
    }
    buf_byte(&c->text, '"');
    for (size_t from = 0, i = 0; i <= s.len; i++) {
        bool special = i < s.len && (s.ptr[i] == '"' || s.ptr[i] == '\\');
        if (i < s.len && !special)
            continue;
        buf_add(&c->text, (struct slice){ s.ptr + from, i - from });
        if (special)
            buf_byte(&c->text, '\\');
        from = i;
    }
    buf_byte(&c->text, '"');
}

static void put_bytes(struct column *c, struct slice s)
{
    static const char digits[] = "0123456789abcdef";
    next_element(c);
    buf_text(&c->text, "\"\\\\x");
    for (size_t i = 0; i < s.len; i++) {
        unsigned char byte = (unsigned char)s.ptr[i];
        buf_byte(&c->text, digits[byte >> 4]);
        buf_byte(&c->text, digits[byte & 15]);
    }
    buf_byte(&c->text, '"');
}

static struct sql_value close_column(struct column *c)
{
    buf_byte(&c->text, '}');
    return c->text.broken ? (struct sql_value){ .kind = SQL_NULL }
                          : sql_slice(buf_slice(&c->text));
}

/* ---------------------------------------------------------- statement --- */

/* The columns of the four tables that are written, as parameters. */
enum {
    S_ID, S_EPOCH, S_HEAD, S_LAST, S_SUM, S_OPEN, S_MESSAGES, S_DUE, S_INBOX,
    S_LIVE, S_STATUS, S_WAITS, S_TITLE, S_MODEL, S_STATE,
    R_SESSION, R_SEQ, R_TYPE, R_BODY, R_SUM,
    C_SESSION, C_KEEP, C_SEQ,
    M_SESSION, M_N, M_SINCE, M_UNTIL, M_BODY, M_HASH,
    B_SESSION, B_HASH, B_BYTES,
    COLUMNS
};
_Static_assert((int)COLUMNS <= (int)SQL_MOST_PARAMS, "a parameter for each");

static const char append_text[] =
    "WITH s AS (SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[],"
    " $4::bigint[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[],"
    " $9::bigint[], $10::bigint[], $11::text[], $12::text[], $13::text[],"
    " $14::text[], $15::text[]) AS t(id, epoch, head, last, sum, open,"
    " messages, due, inbox, live, status, waits, title, model, state)),"
    " done AS (UPDATE allm_session x SET head = s.last, sum = s.sum,"
    " open = s.open, messages = s.messages, tries = 0, changed = $now,"
    " cancel = CASE WHEN x.open = s.open THEN x.cancel ELSE 0 END,"
    " status = s.status, waits = s.waits, title = s.title, model = s.model,"
    " state = COALESCE(s.state, x.state),"
    " due = CASE WHEN s.due > 0 THEN LEAST(x.due, $now)"
    " WHEN x.queue IS NOT NULL AND EXISTS (SELECT 1 FROM allm_inbox i"
    " WHERE i.session = x.id AND i.id > s.inbox) THEN x.due END"
    " FROM s WHERE x.id = s.id AND x.epoch = s.epoch AND x.head = s.head"
    " RETURNING x.id),"
    " r AS (INSERT INTO allm_record (session, seq, type, body, sum)"
    " SELECT * FROM unnest($16::bigint[], $17::bigint[], $18::text[],"
    " $19::text[], $20::text[]) AS t(session, seq, type, body, sum)"
    " WHERE session IN (SELECT id FROM done)),"
    " c AS (UPDATE allm_message m SET until = t.seq FROM unnest($21::bigint[],"
    " $22::bigint[], $23::bigint[]) AS t(session, keep, seq)"
    " WHERE m.session = t.session AND m.n >= t.keep AND m.until IS NULL"
    " AND m.session IN (SELECT id FROM done)),"
    " m AS (INSERT INTO allm_message (session, n, since, until, body, hash)"
    " SELECT session, n, since, NULLIF(until, 0), body, hash FROM"
    " unnest($24::bigint[], $25::bigint[], $26::bigint[], $27::bigint[],"
    " $28::text[], $29::text[]) AS t(session, n, since, until, body, hash)"
    " WHERE session IN (SELECT id FROM done)),"
    " b AS (INSERT INTO allm_blob (session, hash, bytes)"
    " SELECT * FROM unnest($30::bigint[], $31::text[], $32::bytea[])"
    " AS t(session, hash, bytes) WHERE session IN (SELECT id FROM done)"
    " ON CONFLICT DO NOTHING),"
    " i AS (DELETE FROM allm_inbox x USING s WHERE x.session = s.id"
    " AND x.id <= s.inbox AND s.id IN (SELECT id FROM done)),"
    " l AS (DELETE FROM allm_live x USING s WHERE x.session = s.id"
    " AND s.live <> 0 AND x.op <> abs(s.live)"
    " AND s.id IN (SELECT id FROM done)),"
    " k AS (INSERT INTO allm_live (session, op, n, count, body)"
    " SELECT s.id, s.live, " SQL_NEXT_LIVE(
        "s.id", "s.live",
        "0") ", 1,"
             " CAST(s.epoch AS text) FROM s"
             " WHERE s.live > 0 AND s.id IN (SELECT id FROM done)),"
             " sync AS (SELECT set_config('synchronous_commit', 'on', true)"
             " WHERE current_setting('synchronous_commit') = 'off')"
             " SELECT id, (SELECT count(*) FROM sync) FROM done";

/* Negative: no mark. */
static void put_live(struct column *c, const struct backend_append *p)
{
    next_element(c);
    buf_int(&c->text,
            p->marks_live ? (int64_t)p->live_op : -(int64_t)p->live_op);
}

static void put_session(struct column *c, const struct backend_append *p)
{
    const struct backend_record *last = &p->changes[p->change_count - 1].record;
    put_number(&c[S_ID], (uint64_t)p->id);
    put_number(&c[S_EPOCH], p->epoch);
    put_number(&c[S_HEAD], p->head);
    put_number(&c[S_LAST], last->seq);
    put_text(&c[S_SUM], slice_of(last->sum));
    put_number(&c[S_OPEN], p->open);
    put_number(&c[S_MESSAGES], p->messages);
    put_number(&c[S_DUE], p->due);
    put_number(&c[S_INBOX], (uint64_t)p->inbox_upto);
    put_live(&c[S_LIVE], p);
    put_text(&c[S_STATUS], slice_of(p->status));
    put_text(&c[S_WAITS], slice_of(p->waits));
    put_text(&c[S_TITLE], slice_of(p->title));
    put_text(&c[S_MODEL], slice_of(p->model));
    put_text(&c[S_STATE], p->state);
}

/* A statement does not see its own rows: a message that a later record of the
 * same append removes is inserted with its end. */
static uint64_t end_of_message(const struct backend_append *p, size_t change,
                               uint64_t n)
{
    for (size_t i = change + 1; i < p->change_count; i++)
        if (p->changes[i].cuts && p->changes[i].keep <= n)
            return p->changes[i].record.seq;
    return 0;
}

static void put_change(struct column *c, const struct backend_append *p,
                       size_t at)
{
    const struct backend_change *change = &p->changes[at];
    const struct backend_record *r = &change->record;
    put_number(&c[R_SESSION], (uint64_t)p->id);
    put_number(&c[R_SEQ], r->seq);
    put_text(&c[R_TYPE], slice_of(r->type));
    put_text(&c[R_BODY], r->body);
    put_text(&c[R_SUM], slice_of(r->sum));
    if (change->cuts) {
        put_number(&c[C_SESSION], (uint64_t)p->id);
        put_number(&c[C_KEEP], change->keep);
        put_number(&c[C_SEQ], r->seq);
    }
    for (size_t i = 0; i < change->add_count; i++) {
        const struct backend_message *m = &change->add[i];
        put_number(&c[M_SESSION], (uint64_t)p->id);
        put_number(&c[M_N], m->n);
        put_number(&c[M_SINCE], r->seq);
        put_number(&c[M_UNTIL], end_of_message(p, at, m->n));
        put_text(&c[M_BODY], m->body);
        put_text(&c[M_HASH], slice_of(m->hash));
    }
}

static void put_append(struct column *c, const struct backend_append *p)
{
    put_session(c, p);
    for (size_t i = 0; i < p->change_count; i++)
        put_change(c, p, i);
    for (size_t i = 0; i < p->blob_count; i++) {
        put_number(&c[B_SESSION], (uint64_t)p->id);
        put_text(&c[B_HASH], slice_of(p->blobs[i].hash));
        put_bytes(&c[B_BYTES], p->blobs[i].bytes);
    }
}

/* Send the batch; rows has the ids that were written. */
static const allm_error *send_batch(struct postgres *q, struct arena *a,
                                    struct sql_rows *rows)
{
    struct column columns[COLUMNS];
    struct sql_value params[COLUMNS];
    for (size_t i = 0; i < COLUMNS; i++)
        open_column(&columns[i], a);
    for (size_t i = 0; i < q->count; i++)
        put_append(columns, q->list[i]);
    for (size_t i = 0; i < COLUMNS; i++) {
        params[i] = close_column(&columns[i]);
        if (params[i].kind == SQL_NULL)
            return status_nomem();
    }
    return q->sql.driver->run(&q->sql, a, append_text, COLUMNS, params, rows);
}

/* ------------------------------------------------------------- commit --- */

/* append() only remembers: the statement is sent when it may be durable. */
const allm_error *postgres_append(struct backend *b, struct arena *a,
                                  struct backend_append *const *list,
                                  size_t count)
{
    struct postgres *q = postgres_of(b);
    (void)a;
    q->list = list;
    q->count = count;
    for (size_t i = 0; i < count; i++)
        list[i]->outcome = BACKEND_PENDING;
    return NULL;
}

static bool has_id(const struct sql_rows *rows, int64_t id)
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->cells[i * rows->columns].n == id)
            return true;
    return false;
}

/* Is the last record of this append in the database?  Somebody else may have
 * taken the session since, and written more. */
static const allm_error *is_written(struct postgres *q, struct arena *a,
                                    const struct backend_append *p, bool *yes)
{
    struct sql_rows rows = { 0 };
    const struct backend_record *last = &p->changes[p->change_count - 1].record;
    const allm_error *error =
        SQL_RUN(&q->sql, a,
                "SELECT sum FROM allm_record WHERE session = $1 AND seq = $2",
                &rows, sql_int(p->id), sql_int((int64_t)last->seq));
    *yes = !error && rows.count && slice_is(rows.cells[0].s, last->sum);
    return error;
}

/* After a lost connection: was the batch committed?  Then those that are not
 * there had lost their session. */
static const allm_error *find_written(struct postgres *q, struct arena *a,
                                      bool *any)
{
    bool there[POSTGRES_BATCH] = { false };
    *any = false;
    for (size_t i = 0; i < q->count; i++) {
        const allm_error *error = is_written(q, a, q->list[i], &there[i]);
        if (error)
            return error;
        *any = *any || there[i];
    }
    for (size_t i = 0; *any && i < q->count; i++)
        if (!there[i])
            q->list[i]->outcome = BACKEND_LOST;
    return NULL;
}

/* The outcome of each append of a batch that was sent.  After a retry, one that
 * was not written may have been so by the attempt before, if the server was
 * still working on it when we asked. */
static const allm_error *find_outcomes(struct postgres *q, struct arena *a,
                                       const struct sql_rows *rows, bool retry)
{
    for (size_t i = 0; i < q->count; i++) {
        bool there = has_id(rows, q->list[i]->id);
        const allm_error *error = there || !retry
                                      ? NULL
                                      : is_written(q, a, q->list[i], &there);
        if (error)
            return error;
        if (!there)
            q->list[i]->outcome = BACKEND_LOST;
    }
    return NULL;
}

static void pause_retry(uint32_t attempt)
{
    uint32_t ms = RETRY_LEAST_MS << (attempt < 6 ? attempt : 6);
    if (ms > RETRY_MOST_MS)
        ms = RETRY_MOST_MS;
    thread_pause(ms * 1000);
}

const allm_error *postgres_commit(struct backend *b, struct arena *a)
{
    struct postgres *q = postgres_of(b);
    int64_t end = clock_after(clock_now_ns(clock_real()), q->sql.opts.lease_ms);
    for (uint32_t attempt = 0;; attempt++) {
        struct sql_rows rows = { 0 };
        bool there = false;
        const allm_error *error = attempt ? find_written(q, a, &there) : NULL;
        if (there)
            return NULL;
        if (!error)
            error = send_batch(q, a, &rows);
        if (!error)
            error = find_outcomes(q, a, &rows, attempt > 0);
        if (!error || !postgres_is_transient(error) ||
            clock_now_ns(clock_real()) >= end)
            return error;
        pause_retry(attempt);
    }
}
