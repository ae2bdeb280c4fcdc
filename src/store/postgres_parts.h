/* postgres_parts.h - what the files of the PostgreSQL backend share */
#pragma once

#include "base/buf.h"
#include "store/sql.h"

#include <libpq-fe.h>

struct postgres {
    struct sql sql;
    struct arena arena;         /* of the URI */
    const char *uri;
    PGconn *conn;               /* NULL: not connected */
    bool read_only;             /* a standby */
    bool asked;                 /* to be notified, on this connection */
    int64_t renewed_ns;         /* when leases were renewed last */

    /* What append() has prepared and commit() sends. */
    struct backend_append *const *list;
    size_t count;
};

static inline struct postgres *postgres_of(struct backend *b)
{
    return (struct postgres *)b;
}

/* postgres_driver.c: the connection, statements, errors. */
extern const struct sql_driver postgres_driver;
const allm_error *postgres_connect(struct postgres *q, struct arena *a);
void postgres_disconnect(struct postgres *q);

/* The descriptor that is readable when the server notifies; -1: none.  Was
 * there a notification of another process? */
int postgres_socket(struct backend *b);
bool postgres_hear(struct backend *b, bool readable);

/* Is this error worth another attempt: a lost connection, or a conflict with
 * another transaction? */
bool postgres_is_transient(const allm_error *error);

/* postgres_append.c */
const allm_error *postgres_append(struct backend *b, struct arena *a,
                                  struct backend_append *const *list,
                                  size_t count);
const allm_error *postgres_commit(struct backend *b, struct arena *a);

/* A statement does not see its own rows: a message that a later record of the
 * same append removes is inserted with its end.  0: it has none. */
uint64_t postgres_message_end(const struct backend_append *p, size_t change,
                              uint64_t n);
/* Where the cut of a change ends: an earlier one of the same append has removed
 * what follows. */
int64_t postgres_cut_end(const struct backend_append *p, size_t change);

/* postgres_one.c: does this append fit into a statement of values?  Send it;
 * rows has its session, or nothing. */
bool postgres_fits_one(const struct backend_append *p);
const allm_error *postgres_send_one(struct postgres *q, struct arena *a,
                                    const struct backend_append *p,
                                    struct sql_rows *rows);

/* A column that turns on the sync of its own transaction. */
#define POSTGRES_SYNC                                                         \
    "CASE WHEN current_setting('synchronous_commit') = 'off'"                 \
    " THEN set_config('synchronous_commit', 'on', true) END"
