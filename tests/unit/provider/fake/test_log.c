/*
 * test_log.c - the log of the fake's calls
 *
 * tag: thread
 */
#include "provider/fake/log.h"

#include "base/attachment.h"
#include "harness/noun.h"

#include <pthread.h>
#include <stdatomic.h>

static void one_log_hangs_on_an_engine(void)
{
    allm_attachments *a = attachment_new(mem_default());
    allm_attachments *b = attachment_new(mem_default());
    struct fake_log *log = fake_log_of(a, mem_default());
    struct fake_log *other = fake_log_of(b, mem_default());
    CHECK(log && log == fake_log_of(a, mem_default()));
    CHECK(log != other);
    CHECK_ALWAYS(!fake_log_of(NULL, mem_default()));
    attachment_drop(a);
    attachment_drop(b);
}

static void counts_and_position(void)
{
    allm_attachments *a = attachment_new(mem_default());
    struct fake_log *log = fake_log_of(a, mem_default());
    if (log) {
        CHECK_INT(fake_log_calls(log) + fake_log_released(log), 0);
        fake_log_call(log);
        fake_log_call(log);
        fake_log_release(log);
        CHECK_INT(fake_log_calls(log), 2);
        CHECK_INT(fake_log_released(log), 1);
        CHECK_INT(fake_log_position(log), 0);
        CHECK_INT(fake_log_next(log), 0);
        CHECK_INT(fake_log_next(log), 1);
        CHECK_INT(fake_log_position(log), 2);
    }
    attachment_drop(a);
}

/* n - 1 failures, a success, and then the same anew. */
static void failures_in_passing_come_in_rows(void)
{
    static const struct {
        int64_t until;
        const char *fails;      /* x: fails */
    } rows[] = { { 1, "......" }, { 2, "x.x.x." }, { 3, "xx.xx." },
                 { 7, "xxxxxx" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        allm_attachments *a = attachment_new(mem_default());
        struct fake_log *log = fake_log_of(a, mem_default());
        check_row(rows[i].fails);
        for (const char *c = rows[i].fails; log && *c; c++)
            CHECK_INT(fake_log_transient(log, rows[i].until), *c == 'x');
        attachment_drop(a);
    }
}

static void cursors_are_counted(void)
{
    allm_attachments *a = attachment_new(mem_default());
    struct fake_log *log = fake_log_of(a, mem_default());
    struct allm_fake_cursor *c = fake_cursor_new(mem_default());
    if (log && c) {
        CHECK(fake_log_use(log, c));
        CHECK(fake_log_use(log, c));
        fake_log_next(log);
        CHECK_INT(fake_cursor_index(c), 1);
        fake_log_call(log);
        CHECK(!fake_log_use(log, c));   /* too late */
    }
    attachment_drop(a);         /* ours is still there */
    CHECK(c && fake_cursor_index(c) == 1);
    fake_cursor_drop(c);
    fake_cursor_drop(NULL);
}

static void requests_are_kept_in_order(void)
{
    allm_attachments *a = attachment_new(mem_default());
    struct fake_log *log = fake_log_of(a, mem_default());
    const allm_message *hi = ALLM(message, .role = ALLM_ROLE_USER,
                                  .text = "hi");
    allm_request *r = allm_request_new(
        ALLM(request, .model = "m", .messages = &hi, .message_count = 1));
    if (log && r) {
        CHECK(fake_log_request(log, r));
        CHECK(fake_log_request(log, ALLM(request, .model = "n")));
    }
    allm_request_free(r);       /* the log has a copy */
    allm_json *all = log ? fake_log_requests(log) : NULL;
    attachment_drop(a);         /* and the answer another one */
    CHECK_INT(allm_json_count(all), 2);
    CHECK_VALUE(allm_json_pointer(all, "/0/model"), "'m'");
    CHECK_VALUE(allm_json_pointer(all, "/0/messages/0/content"), "'hi'");
    CHECK_VALUE(allm_json_pointer(all, "/1/model"), "'n'");
    allm_json_free(all);
}

/* -------------------------------------------------------------- threads --- */

enum { THREADS = 8, ROUNDS = 50 };

static atomic_int taken[THREADS * ROUNDS];

static void *visit(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct fake_log *log = fake_log_of(arg, mem_default());
        fake_log_call(log);
        atomic_fetch_add(&taken[fake_log_next(log)], 1);
        fake_log_request(log, ALLM(request, .model = "m"));
        allm_json_free(i % 10 ? NULL : fake_log_requests(log));
        fake_log_release(log);
    }
    return NULL;
}

static void every_place_is_given_once(void)
{
    pthread_t threads[THREADS];
    bool started[THREADS];
    allm_attachments *a = attachment_new(mem_default());
    for (size_t i = 0; i < THREADS; i++)
        started[i] = CHECK(!pthread_create(&threads[i], NULL, visit, a));
    for (size_t i = 0; i < THREADS; i++)
        if (started[i])
            pthread_join(threads[i], NULL);
    for (size_t i = 0; i < THREADS * ROUNDS; i++)
        CHECK_INT(taken[i], 1);
    struct fake_log *log = fake_log_of(a, mem_default());
    CHECK_INT(fake_log_calls(log), THREADS * ROUNDS);
    CHECK_INT(fake_log_released(log), THREADS * ROUNDS);
    allm_json *all = fake_log_requests(log);
    CHECK_INT(allm_json_count(all), THREADS * ROUNDS);
    allm_json_free(all);
    attachment_drop(a);
}

TESTS = {
    TEST(one_log_hangs_on_an_engine),
    TEST(counts_and_position),
    TEST(failures_in_passing_come_in_rows),
    TEST(cursors_are_counted),
    TEST(requests_are_kept_in_order),
    TEST_ONCE(every_place_is_given_once),
    TESTS_END,
};
