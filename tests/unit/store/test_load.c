/*
 * test_load.c - sessions that are read while their holder writes
 *
 * Reads are not one transaction: the backend is that of memory:, where another
 * handle writes in between.
 */
#include "store/store.h"
#include "store/store_parts.h"

#include "harness/check.h"
#include "harness/stored.h"

#include "json/json.h"

static struct backend_ops moving;
static struct store_session *writer;
static int writes;                  /* that come between the next reads */
static uint64_t written;
static bool prunes;                 /* before the next read of records */

static void write_one(void)
{
    CHECK_TEXT(stored_write(writer, STORED(.type = "change", .keep = written,
                                           .message = "[1]")),
               "");
    written++;
}

static const allm_error *moving_messages(struct backend *b, struct arena *a,
                                         int64_t id, struct backend_range range,
                                         size_t *count,
                                         struct backend_message **out)
{
    if (writes > 0) {
        writes--;
        write_one();
    }
    return memory_backend.messages(b, a, id, range, count, out);
}

static const allm_error *moving_records(struct backend *b, struct arena *a,
                                        int64_t id, uint64_t from, size_t limit,
                                        size_t *count,
                                        struct backend_record **out)
{
    bool done = false;
    if (prunes)
        CHECK(!memory_backend.prune(b, a, id, false, &done) && done);
    prunes = false;
    return memory_backend.records(b, a, id, from, limit, count, out);
}

static const allm_error *moving_open(struct arena *a, const char *rest,
                                     const struct backend_opts *opts,
                                     struct backend **out)
{
    const allm_error *error = memory_backend.open(a, rest, opts, out);
    if (!error)
        (*out)->ops = &moving;
    return error;
}

/* A store, and a reader of it that is slower than its writer. */
static void with_writer(void (*test)(allm_store *reader, struct arena *a))
{
    struct arena a;
    struct store_loaded l;
    moving = memory_backend;
    moving.open = moving_open;
    moving.messages = moving_messages;
    moving.records = moving_records;
    arena_init(&a, mem_default());
    allm_store *s = stored_open("memory:moving", NULL);
    allm_store *reader = store_open_with(&moving, "moving", NULL);
    writer = stored_session(s, &a, "s", ALLM_SESSION_CREATE, &l, NULL);
    written = 0;
    writes = 0;
    if (writer) {
        write_one();
        test(reader, &a);
    }
    store_session_drop(writer);
    allm_store_free(reader);
    allm_store_free(s);
    arena_release(&a);
}

static void read_twice(allm_store *reader, struct arena *a)
{
    struct store_loaded l;
    writes = 2;
    struct store_session *t = stored_session(reader, a, "s", 0, &l, NULL);
    CHECK_INT(writes, 0);
    CHECK_INT(t ? l.row.head : 0, 3);
    CHECK_INT(t ? l.message_count : 0, 3);
    store_session_drop(t);
}

static void reads_what_fits_together(void)
{
    with_writer(read_twice);
}

static void verify_twice(allm_store *reader, struct arena *a)
{
    (void)a;
    writes = 2;
    allm_json *v = allm_store_verify(reader, "s");
    CHECK_INT(writes, 0);
    CHECK(allm_json_true(allm_json_get(v, "ok")));
    CHECK_INT(allm_json_number(allm_json_get(v, "records")), 3);
    CHECK_INT(allm_json_number(allm_json_get(v, "sessions")), 1);
    allm_json_free(v);
}

static void verifies_what_fits_together(void)
{
    with_writer(verify_twice);
}

static void verify_pruned(allm_store *reader, struct arena *a)
{
    (void)a;
    write_one();
    write_one();
    store_session_drop(writer);
    writer = NULL;
    prunes = true;
    allm_json *v = allm_store_verify(reader, "s");
    CHECK(!prunes);
    CHECK(allm_json_true(allm_json_get(v, "ok")));
    CHECK_INT(allm_json_number(allm_json_get(v, "records")), 2);
    allm_json_free(v);
}

static void verifies_what_is_pruned_meanwhile(void)
{
    with_writer(verify_pruned);
}

TESTS = { TEST_ONCE(reads_what_fits_together),
          TEST_ONCE(verifies_what_fits_together),
          TEST_ONCE(verifies_what_is_pruned_meanwhile), TESTS_END };
