/*
 * postgres_append.c - all waiting appends in one statement and one round trip
 *
 *      unnest($1..) --> UPDATE allm_session WHERE id, epoch, head
 *                           |  ids that matched
 *                           '--> INSERT records, messages, blobs; UPDATE cuts;
 *                                DELETE what was taken from the inbox
 *
 * Parts that have nothing to do are left out: to parse and plan all of them
 * takes the server several times as long as to run them.
 *
 * An append whose row did not match has lost its session.  The statement is a
 * transaction of its own; where the server's synchronous_commit is off, the
 * statement turns it on for itself.
 *
 * The statement sees the tables as they were when it began, and the row of the
 * session as it is once it may change it.  A message that was sent in between
 * is not seen, but its sender has set another `due`.
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
    C_SESSION, C_KEEP, C_END, C_SEQ,
    M_SESSION, M_N, M_SINCE, M_UNTIL, M_BODY, M_HASH,
    B_SESSION, B_HASH, B_BYTES,
    COLUMNS
};
_Static_assert((int)COLUMNS <= (int)SQL_MOST_PARAMS, "a parameter for each");

/* The parts of the statement. */
enum { SESSIONS, CUTS, MESSAGES, BLOBS, INBOX, EVENTS, MARKS, PARTS };

/* The text of each, and its columns [first, end): the marks "$:" in the order
 * of the text. */
static const struct {
    unsigned char first, end;
    const char *text;
} parts[PARTS] = {
    [SESSIONS] = { S_ID, C_SESSION,
      "WITH s AS (SELECT * FROM unnest($::bigint[], $::bigint[], $::bigint[],"
      " $::bigint[], $::text[], $::bigint[], $::bigint[], $::bigint[],"
      " $::bigint[], $::bigint[], $::text[], $::text[], $::text[],"
      " $::text[], $::text[]) AS t(id, epoch, head, last, sum, open,"
      " messages, due, inbox, live, status, waits, title, model, state)),"
      " done AS (UPDATE allm_session x SET head = s.last, sum = s.sum,"
      " open = s.open, messages = s.messages, tries = 0, changed = $now,"
      " cancel = CASE WHEN x.open = s.open THEN x.cancel ELSE 0 END,"
      " status = s.status, waits = s.waits, title = s.title, model = s.model,"
      " state = COALESCE(s.state, x.state),"
      " due = CASE WHEN s.due > 0 THEN LEAST(x.due, $now)"
      " WHEN x.queue IS NOT NULL AND (x.due IS DISTINCT FROM"
      " (SELECT o.due FROM allm_session o WHERE o.id = x.id)"
      " OR EXISTS (SELECT 1 FROM allm_inbox i"
      " WHERE i.session = x.id AND i.id > s.inbox)) THEN x.due END"
      " FROM s WHERE x.id = s.id AND x.epoch = s.epoch AND x.head = s.head"
      " RETURNING x.id, " POSTGRES_SYNC "),"
      " r AS (INSERT INTO allm_record (session, seq, type, body, sum)"
      " SELECT * FROM unnest($::bigint[], $::bigint[], $::text[],"
      " $::text[], $::text[]) AS t(session, seq, type, body, sum)"
      " WHERE session IN (SELECT id FROM done))" },
    [CUTS] = { C_SESSION, M_SESSION,
      ", c AS (UPDATE allm_message m SET until = t.seq FROM unnest($::bigint[],"
      " $::bigint[], $::bigint[], $::bigint[]) AS t(session, keep, past, seq)"
      " WHERE m.session = t.session AND m.n >= t.keep AND m.n < t.past"
      " AND m.until IS NULL"
      " AND m.session IN (SELECT id FROM done))" },
    [MESSAGES] = { M_SESSION, B_SESSION,
      ", m AS (INSERT INTO allm_message (session, n, since, until, body, hash)"
      " SELECT session, n, since, NULLIF(until, 0), body, hash FROM"
      " unnest($::bigint[], $::bigint[], $::bigint[], $::bigint[],"
      " $::text[], $::text[]) AS t(session, n, since, until, body, hash)"
      " WHERE session IN (SELECT id FROM done))" },
    [BLOBS] = { B_SESSION, COLUMNS,
      ", b AS (INSERT INTO allm_blob (session, hash, bytes)"
      " SELECT * FROM unnest($::bigint[], $::text[], $::bytea[])"
      " AS t(session, hash, bytes) WHERE session IN (SELECT id FROM done)"
      " ON CONFLICT DO NOTHING)" },
    [INBOX] = { 0, 0,
      ", i AS (DELETE FROM allm_inbox x USING s WHERE x.session = s.id"
      " AND x.id <= s.inbox AND s.id IN (SELECT id FROM done))" },
    [EVENTS] = { 0, 0,
      ", l AS (DELETE FROM allm_live x USING s WHERE x.session = s.id"
      " AND s.live <> 0 AND x.op <> abs(s.live)"
      " AND s.id IN (SELECT id FROM done))" },
    [MARKS] = { 0, 0,
      ", k AS (INSERT INTO allm_live (session, op, n, count, body)"
      " SELECT s.id, s.live, " SQL_NEXT_LIVE("s.id", "s.live", "0") ", 1,"
      " CAST(s.epoch AS text) FROM s"
      " WHERE s.live > 0 AND s.id IN (SELECT id FROM done))" },
};

/* What a batch says. */
struct batch {
    struct column columns[COLUMNS];
    bool has[PARTS];
};

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

uint64_t postgres_message_end(const struct backend_append *p, size_t change,
                              uint64_t n)
{
    for (size_t i = change + 1; i < p->change_count; i++)
        if (p->changes[i].cuts && p->changes[i].keep <= n)
            return p->changes[i].record.seq;
    return 0;
}

int64_t postgres_cut_end(const struct backend_append *p, size_t change)
{
    int64_t end = INT64_MAX;
    for (size_t i = 0; i < change; i++)
        if (p->changes[i].cuts && (int64_t)p->changes[i].keep < end)
            end = (int64_t)p->changes[i].keep;
    return end;
}

static void put_change(struct batch *batch, const struct backend_append *p,
                       size_t at)
{
    struct column *c = batch->columns;
    const struct backend_change *change = &p->changes[at];
    const struct backend_record *r = &change->record;
    put_number(&c[R_SESSION], (uint64_t)p->id);
    put_number(&c[R_SEQ], r->seq);
    put_text(&c[R_TYPE], slice_of(r->type));
    put_text(&c[R_BODY], r->body);
    put_text(&c[R_SUM], slice_of(r->sum));
    batch->has[CUTS] |= change->cuts;
    batch->has[MESSAGES] |= change->add_count > 0;
    if (change->cuts) {
        put_number(&c[C_SESSION], (uint64_t)p->id);
        put_number(&c[C_KEEP], change->keep);
        put_number(&c[C_END], (uint64_t)postgres_cut_end(p, at));
        put_number(&c[C_SEQ], r->seq);
    }
    for (size_t i = 0; i < change->add_count; i++) {
        const struct backend_message *m = &change->add[i];
        put_number(&c[M_SESSION], (uint64_t)p->id);
        put_number(&c[M_N], m->n);
        put_number(&c[M_SINCE], r->seq);
        put_number(&c[M_UNTIL], postgres_message_end(p, at, m->n));
        put_text(&c[M_BODY], m->body);
        put_text(&c[M_HASH], slice_of(m->hash));
    }
}

static void put_append(struct batch *batch, const struct backend_append *p)
{
    struct column *c = batch->columns;
    put_session(c, p);
    batch->has[SESSIONS] = true;
    batch->has[BLOBS] |= p->blob_count > 0;
    batch->has[INBOX] |= p->inbox_upto > 0;
    batch->has[EVENTS] |= p->live_op > 0;
    batch->has[MARKS] |= p->marks_live;
    for (size_t i = 0; i < p->change_count; i++)
        put_change(batch, p, i);
    for (size_t i = 0; i < p->blob_count; i++) {
        put_number(&c[B_SESSION], (uint64_t)p->id);
        put_text(&c[B_HASH], slice_of(p->blobs[i].hash));
        put_bytes(&c[B_BYTES], p->blobs[i].bytes);
    }
}

/* The text of a part, its columns numbered after those before it. */
static void write_part(struct buf *out, const char *text, size_t *number)
{
    for (const char *at; (at = strstr(text, "$:")); text = at + 1) {
        buf_add(out, (struct slice){ text, (size_t)(at - text) + 1 });
        buf_uint(out, ++*number);
    }
    buf_text(out, text);
}

/* Send the batch; rows has the ids that were written. */
static const allm_error *send_batch(struct postgres *q, struct arena *a,
                                    struct sql_rows *rows)
{
    struct batch batch = { 0 };
    struct sql_value params[COLUMNS];
    size_t count = 0, number = 0;
    struct buf text = buf_in(a, SIZE_MAX / 2);
    if (q->count == 1 && postgres_fits_one(q->list[0]))
        return postgres_send_one(q, a, q->list[0], rows);
    for (size_t i = 0; i < COLUMNS; i++)
        open_column(&batch.columns[i], a);
    for (size_t i = 0; i < q->count; i++)
        put_append(&batch, q->list[i]);
    for (size_t i = 0; i < PARTS; i++) {
        if (!batch.has[i])
            continue;
        write_part(&text, parts[i].text, &number);
        for (size_t k = parts[i].first; k < parts[i].end; k++) {
            params[count++] = close_column(&batch.columns[k]);
            if (params[count - 1].kind == SQL_NULL)
                return status_nomem();
        }
    }
    buf_text(&text, " SELECT id FROM done");
    if (text.broken)
        return status_nomem();
    return q->sql.driver->run(&q->sql, a, text.ptr, count, params, rows);
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
