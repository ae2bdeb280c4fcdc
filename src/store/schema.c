/*
 * schema.c - the tables of a store, the same names in both databases
 *
 * allm_message.since and until are numbers of records: a message that was
 * removed from the thread keeps its row, so the thread as of any record is one
 * query.  Nothing is indexed that changes with every append, so PostgreSQL can
 * update rows in place.
 */
#include "store/sql.h"

#define TABLES(SESSION_ID, ID, BYTES, LIVE)                                    \
    "CREATE TABLE allm_meta (\n"                                               \
    "    key text PRIMARY KEY,\n"                                              \
    "    value text NOT NULL\n"                                                \
    ");\n"                                                                     \
    "CREATE TABLE allm_session (\n"                                            \
    "    id " SESSION_ID ",\n"                                                 \
    "    name text NOT NULL UNIQUE,\n"                                         \
    "    uid text NOT NULL,\n"                                                 \
    "    head bigint NOT NULL DEFAULT 0,\n"                                    \
    "    sum text NOT NULL DEFAULT '',\n"                                      \
    "    epoch bigint NOT NULL DEFAULT 0,\n"                                   \
    "    holder text,\n"                                                       \
    "    taken bigint NOT NULL DEFAULT 0,\n"                                   \
    "    until bigint NOT NULL DEFAULT 0,\n"                                   \
    "    open bigint NOT NULL DEFAULT 0,\n"                                    \
    "    queue text,\n"                                                        \
    "    due bigint,\n"                                                        \
    "    tries bigint NOT NULL DEFAULT 0,\n"                                   \
    "    cancel bigint NOT NULL DEFAULT 0,\n"                                  \
    "    waits text,\n"                                                        \
    "    status text NOT NULL DEFAULT 'idle',\n"                               \
    "    title text,\n"                                                        \
    "    model text,\n"                                                        \
    "    messages bigint NOT NULL DEFAULT 0,\n"                                \
    "    state text,\n"                                                        \
    "    created bigint NOT NULL,\n"                                           \
    "    changed bigint NOT NULL\n"                                            \
    ");\n"                                                                     \
    "CREATE INDEX allm_session_due ON allm_session (queue, due)\n"             \
    "    WHERE due IS NOT NULL;\n"                                             \
    "CREATE INDEX allm_session_cancel ON allm_session (cancel)\n"              \
    "    WHERE cancel > 0;\n"                                                  \
    "CREATE TABLE allm_record (\n"                                             \
    "    id " ID ",\n"                                                         \
    "    session bigint NOT NULL,\n"                                           \
    "    seq bigint NOT NULL,\n"                                               \
    "    type text NOT NULL,\n"                                                \
    "    body text NOT NULL,\n"                                                \
    "    sum text NOT NULL,\n"                                                 \
    "    UNIQUE (session, seq)\n"                                              \
    ");\n"                                                                     \
    "CREATE TABLE allm_message (\n"                                            \
    "    id " ID ",\n"                                                         \
    "    session bigint NOT NULL,\n"                                           \
    "    n bigint NOT NULL,\n"                                                 \
    "    since bigint NOT NULL,\n"                                             \
    "    until bigint,\n"                                                      \
    "    body text NOT NULL,\n"                                                \
    "    hash text NOT NULL,\n"                                                \
    "    UNIQUE (session, n, since)\n"                                         \
    ");\n"                                                                     \
    "CREATE TABLE allm_blob (\n"                                               \
    "    session bigint NOT NULL,\n"                                           \
    "    hash text NOT NULL,\n"                                                \
    "    bytes " BYTES " NOT NULL,\n"                                          \
    "    PRIMARY KEY (session, hash)\n"                                        \
    ");\n"                                                                     \
    "CREATE " LIVE " allm_live (\n"                                            \
    "    session bigint NOT NULL,\n"                                           \
    "    op bigint NOT NULL,\n"                                                \
    "    n bigint NOT NULL,\n"                                                 \
    "    count bigint NOT NULL,\n"                                             \
    "    body text NOT NULL,\n"                                                \
    "    PRIMARY KEY (session, op, n)\n"                                       \
    ");\n"                                                                     \
    "CREATE TABLE allm_inbox (\n"                                              \
    "    id " ID ",\n"                                                         \
    "    session bigint NOT NULL,\n"                                           \
    "    at bigint NOT NULL,\n"                                                \
    "    body text NOT NULL\n"                                                 \
    ");\n"                                                                     \
    "CREATE INDEX allm_inbox_session ON allm_inbox (session, id);\n"           \
    "INSERT INTO allm_meta (key, value) VALUES ('version', '1');\n"

/* AUTOINCREMENT: the id of a session is never used again, as in PostgreSQL. */
const char schema_sqlite[] = TABLES("integer PRIMARY KEY AUTOINCREMENT",
                                    "integer PRIMARY KEY", "blob", "TABLE");

#define IDENTITY "bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"
const char schema_postgres[] = TABLES(IDENTITY, IDENTITY, "bytea",
                                      "UNLOGGED TABLE");
