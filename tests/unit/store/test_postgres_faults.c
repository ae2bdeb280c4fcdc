/*
 * test_postgres_faults.c - connections to PostgreSQL that break
 *
 * A proxy cuts the connection at each byte of an append and of its reply.  The
 * append is then in the database exactly once, whoever had to find that out,
 * and the same handle goes on.
 *
 * `make test` tries some of the bytes, `make kill` (ALLM_CUTS=all) all.
 *
 * tag: thread
 */
#include "harness/check.h"
#include "harness/cutter.h"
#include "harness/stored.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { SOME = 40, TIMES = 3 };

struct stage {
    struct cutter *cutter;
    struct arena arena;
    allm_store *store;
    struct store_session *session;
};

/* A session whose store is behind the proxy. */
static bool begin_stage(struct stage *g, const char *uri)
{
    struct store_loaded l;
    *g = (struct stage){ .cutter = cutter_new(uri) };
    CHECK_ALWAYS(g->cutter != NULL);
    if (!g->cutter)
        return false;
    arena_init(&g->arena, mem_default());
    g->store = stored_open(cutter_uri(g->cutter), NULL);
    g->session = stored_session(g->store, &g->arena, "cut", ALLM_SESSION_CREATE,
                                &l, NULL);
    return g->session != NULL;
}

/* The log is whole, as another connection sees it. */
static void check_log(const char *uri, const char *name, uint64_t head)
{
    struct arena a;
    struct store_loaded l = { 0 };
    arena_init(&a, mem_default());
    allm_store *s = stored_open(uri, NULL);
    store_session_drop(stored_session(s, &a, name, 0, &l, NULL));
    CHECK_INT(l.row.head, head);
    CHECK_INT(l.message_count, head);
    allm_store_free(s);
    arena_release(&a);
}

static void end_stage(struct stage *g)
{
    store_session_drop(g->session);
    allm_store_free(g->store);
    cutter_free(g->cutter);
    arena_release(&g->arena);
}

static const char *write_one(struct stage *g)
{
    return stored_write(g->session,
                        STORED(.type = "change",
                               .keep = store_session_head(g->session),
                               .message = "\"a message\""));
}

/* The bytes to cut at: all, or some that differ from run to run. */
static long next_byte(struct random r, long at, long last)
{
    const char *all = getenv("ALLM_CUTS");
    if (at >= last || (all && *all))
        return at + 1;
    long next = at + 1 + (long)random_below(r, 2 * (uint64_t)last / SOME + 1);
    return next < last ? next : last;
}

static size_t cut_side(struct stage *g, struct random r, enum cutter_side side)
{
    size_t cuts = 0;
    cutter_arm(g->cutter, side, -1);
    CHECK_TEXT(write_one(g), "");
    long last = cutter_count(g->cutter, side);
    CHECK(last > 0);
    for (long at = 0; at <= last; at = next_byte(r, at, last)) {
        char row[48];
        snprintf(row, sizeof row, "%s, byte %ld of %ld",
                 side == CUTTER_REQUEST ? "request" : "reply", at, last);
        check_row(row);
        cutter_arm(g->cutter, side, at);
        CHECK_TEXT(write_one(g), "");
        cuts += cutter_has_cut(g->cutter);
        CHECK_TEXT(write_one(g), "");
    }
    return cuts;
}

static void survives_each_cut_of(const char *uri)
{
    struct stage g;
    struct random r = check_random();
    if (begin_stage(&g, uri)) {
        size_t cuts = cut_side(&g, r, CUTTER_REQUEST);
        cuts += cut_side(&g, r, CUTTER_REPLY);
        printf("# the connection was cut %zu times\n", cuts);
        CHECK(cuts > SOME);
        uint64_t head = store_session_head(g.session);
        check_log(uri, "cut", head);
    }
    end_stage(&g);
}

static void survives_each_cut(void)
{
    stored_on_server(survives_each_cut_of, false);
}

/* The bytes of an append: other statements may come between. */
static long count_request(struct stage *g)
{
    long least = LONG_MAX;
    for (int i = 0; i < TIMES; i++) {
        cutter_arm(g->cutter, CUTTER_REQUEST, -1);
        CHECK_TEXT(write_one(g), "");
        long all = cutter_count(g->cutter, CUTTER_REQUEST);
        least = all < least ? all : least;
    }
    return least;
}

/* The connection breaks while the server still works on the append: it is not
 * there yet when the store asks, and it is when the store writes it again. */
static void is_not_lost_to_itself_on(const char *uri)
{
    struct stage g;
    bool begun = begin_stage(&g, uri);
    CHECK(stored_sql(
        "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "PERFORM pg_sleep(0.2); RETURN NEW; END $$;"
        "CREATE TRIGGER slow BEFORE INSERT ON allm_record FOR EACH ROW "
        "EXECUTE FUNCTION slow();"));
    long all = begun ? count_request(&g) : 0;
    for (int i = 0; begun && i < TIMES; i++) {
        cutter_arm(g.cutter, CUTTER_REQUEST, all);
        CHECK_TEXT(write_one(&g), "");
        CHECK(cutter_has_cut(g.cutter));
    }
    if (begun)
        check_log(uri, "cut", store_session_head(g.session));
    end_stage(&g);
}

static void is_not_lost_to_itself(void)
{
    stored_on_server(is_not_lost_to_itself_on, false);
}

TESTS = {
    TEST_ONCE(survives_each_cut),
    TEST_ONCE(is_not_lost_to_itself),
    TESTS_END
};
