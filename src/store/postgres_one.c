/*
 * postgres_one.c - the append of one session as a statement
 *
 *      $1.. --> UPDATE allm_session WHERE id, epoch, head
 *                   |  its id, if that matched
 *                   '--> INSERT records, messages, blobs; UPDATE cuts;
 *                        DELETE what was taken from the inbox
 *
 * Most commits have one append.  The server parses and plans each statement
 * anew, and values cost it half of what arrays cost, which hold any number of
 * appends (postgres_append.c).
 */
#include "store/postgres_parts.h"

#include "base/status.h"

struct statement {
    struct buf text;
    size_t count;
    struct sql_value params[SQL_MOST_PARAMS];
};

/* Parameters: of the session, its inbox and its events, and of each row. */
enum { OF_SESSION = 19, OF_RECORD = 4, OF_CUT = 3,
       OF_MESSAGE = 5, OF_BLOB = 2 };

bool postgres_fits_one(const struct backend_append *p)
{
    size_t most = SQL_MOST_PARAMS, count = OF_SESSION;
    if (p->blob_count > most || p->change_count > most)
        return false;
    count += OF_BLOB * p->blob_count;
    for (size_t i = 0; i < p->change_count; i++) {
        if (p->changes[i].add_count > most)
            return false;
        count += OF_RECORD + OF_CUT + OF_MESSAGE * p->changes[i].add_count;
    }
    return count <= most;
}

/* A text, in which each '?' is the next of these parameters. */
static void put_text(struct statement *t, const char *text,
                     const struct sql_value *values)
{
    for (const char *at; (at = strchr(text, '?')); text = at + 1) {
        t->params[t->count++] = *values++;
        buf_add(&t->text, (struct slice){ text, (size_t)(at - text) });
        buf_byte(&t->text, '$');
        buf_uint(&t->text, t->count);
    }
    buf_text(&t->text, text);
}

#define PUT(t, text, ...)                                                     \
    put_text(t, text, (const struct sql_value[]){ __VA_ARGS__ })

static struct sql_value number(uint64_t n)
{
    return sql_int((int64_t)n);
}

/* Looking into the inbox costs a third of the rest.  A session that had no
 * queue when it was taken, and has one now, was sent something since. */
static void put_due(struct statement *t, const struct backend_append *p)
{
    if (p->due)
        buf_text(&t->text, "LEAST(due, $now)");
    else if (!p->queued)
        buf_text(&t->text, "CASE WHEN queue IS NOT NULL THEN due END");
    else
        PUT(t,
            "CASE WHEN queue IS NOT NULL AND (due IS DISTINCT FROM"
            " (SELECT o.due FROM allm_session o WHERE o.id = $1)"
            " OR (SELECT true FROM allm_inbox"
            " WHERE session = $1 AND id > ? LIMIT 1)) THEN due END",
            sql_int(p->inbox_upto));
}

/* The id is $1, the epoch $2, the head $3. */
static void put_session(struct statement *t, const struct backend_append *p)
{
    const struct backend_record *last = &p->changes[p->change_count - 1].record;
    t->params[0] = sql_int(p->id);
    t->params[1] = number(p->epoch);
    t->params[2] = number(p->head);
    t->count = 3;
    PUT(t,
        "WITH done AS (UPDATE allm_session x SET head = ?, sum = ?,"
        " cancel = CASE WHEN open = ? THEN cancel ELSE 0 END, open = ?,"
        " messages = ?, tries = 0, changed = $now, status = ?, waits = ?,"
        " title = ?, model = ?,",
        number(last->seq), sql_text(last->sum), number(p->open),
        number(p->open), number(p->messages), sql_text(p->status),
        sql_text(p->waits), sql_text(p->title), sql_text(p->model));
    if (p->state.ptr)
        PUT(t, " state = ?,", sql_slice(p->state));
    buf_text(&t->text, " due = ");
    put_due(t, p);
    buf_text(&t->text, " WHERE id = $1 AND epoch = $2 AND head = $3"
                       " RETURNING id, " POSTGRES_SYNC ")");
}

static void put_cuts(struct statement *t, const struct backend_append *p)
{
    const char *comma = ", c AS (UPDATE allm_message m SET until = v.seq"
                        " FROM done, (VALUES ";
    bool any = false;
    for (size_t i = 0; i < p->change_count; i++) {
        const struct backend_change *c = &p->changes[i];
        if (!c->cuts)
            continue;
        buf_text(&t->text, comma);
        PUT(t, "(?::bigint,?::bigint,?::bigint)", number(c->keep),
            sql_int(postgres_cut_end(p, i)), number(c->record.seq));
        comma = ",";
        any = true;
    }
    if (any)
        buf_text(&t->text, ") v(keep, past, seq) WHERE m.session = done.id"
                           " AND m.n >= v.keep AND m.n < v.past"
                           " AND m.until IS NULL)");
}

static void put_messages(struct statement *t, const struct backend_append *p)
{
    const char *comma = ", m AS (INSERT INTO allm_message (session, n, since,"
                        " until, body, hash) SELECT id, v.* FROM done,"
                        " (VALUES ";
    bool any = false;
    for (size_t i = 0; i < p->change_count; i++) {
        for (size_t k = 0; k < p->changes[i].add_count; k++) {
            const struct backend_message *m = &p->changes[i].add[k];
            uint64_t end = postgres_message_end(p, i, m->n);
            buf_text(&t->text, comma);
            PUT(t, "(?::bigint,?::bigint,?::bigint,?::text,?::text)",
                number(m->n), number(p->changes[i].record.seq),
                end ? number(end) : sql_text(NULL), sql_slice(m->body),
                sql_text(m->hash));
            comma = ",";
            any = true;
        }
    }
    if (any)
        buf_text(&t->text, ") v)");
}

static void put_blobs(struct statement *t, const struct backend_append *p)
{
    if (p->blob_count)
        buf_text(&t->text, ", b AS (INSERT INTO allm_blob (session, hash,"
                           " bytes) SELECT id, v.* FROM done, (VALUES ");
    for (size_t i = 0; i < p->blob_count; i++)
        PUT(t, i ? ",(?::text,?::bytea)" : "(?::text,?::bytea)",
            sql_text(p->blobs[i].hash), sql_bytes(p->blobs[i].bytes));
    if (p->blob_count)
        buf_text(&t->text, ") v ON CONFLICT DO NOTHING)");
}

#define NEXT_LIVE SQL_NEXT_LIVE("$1", "?", "0")

/* What was taken from the inbox, and events for followers. */
static void put_news(struct statement *t, const struct backend_append *p)
{
    if (p->inbox_upto)
        PUT(t,
            ", i AS (DELETE FROM allm_inbox x USING done"
            " WHERE x.session = done.id AND x.id <= ?)",
            sql_int(p->inbox_upto));
    if (p->live_op)
        PUT(t,
            ", l AS (DELETE FROM allm_live x USING done"
            " WHERE x.session = done.id AND x.op <> ?)",
            number(p->live_op));
    if (p->marks_live)
        PUT(t,
            ", k AS (INSERT INTO allm_live (session, op, n, count, body)"
            " SELECT id, ?::bigint, " NEXT_LIVE ", 1, $2::text FROM done)",
            number(p->live_op), number(p->live_op));
}

static void put_records(struct statement *t, const struct backend_append *p)
{
    buf_text(&t->text, " INSERT INTO allm_record (session, seq, type, body,"
                       " sum) SELECT id, v.* FROM done, (VALUES ");
    for (size_t i = 0; i < p->change_count; i++) {
        const struct backend_record *r = &p->changes[i].record;
        PUT(t,
            i ? ",(?::bigint,?::text,?::text,?::text)"
              : "(?::bigint,?::text,?::text,?::text)",
            number(r->seq), sql_text(r->type), sql_slice(r->body),
            sql_text(r->sum));
    }
    buf_text(&t->text, ") v RETURNING session");
}

const allm_error *postgres_send_one(struct postgres *q, struct arena *a,
                                    const struct backend_append *p,
                                    struct sql_rows *rows)
{
    struct statement *t = arena_zero(a, sizeof *t);
    if (!t)
        return status_nomem();
    t->text = buf_in(a, SIZE_MAX / 2);
    put_session(t, p);
    put_cuts(t, p);
    put_messages(t, p);
    put_blobs(t, p);
    put_news(t, p);
    put_records(t, p);
    if (t->text.broken)
        return status_nomem();
    return q->sql.driver->run(&q->sql, a, t->text.ptr, t->count, t->params,
                              rows);
}
