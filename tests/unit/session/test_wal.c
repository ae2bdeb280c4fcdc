/*
 * test_wal.c - the WAL of an SQLite store does not grow while somebody follows
 *
 * A session is written again and again while a follower in another handle reads
 * what happens.  The WAL must stay below an eighth of what was written.
 *
 * `make test` writes 64 MiB, `make kill` (ALLM_WAL_MIB) 1 GiB.
 *
 * tag: thread
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/stored.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define MIB ((size_t)1024 * 1024)

static size_t count_mib(void)
{
    const char *text = getenv("ALLM_WAL_MIB");
    long n = text ? strtol(text, NULL, 10) : 0;
    return n > 64 ? (size_t)n : 64;
}

/* Another text of a MiB each time, so that no blob is there already. */
static void write_mib(allm_session *s, char *text, size_t i)
{
    allm_thread *t = allm_thread_new(NULL);
    snprintf(text, 24, "%020zu", i);
    text[20] = 'x';
    allm_thread_append(t, ALLM(message, .role = ALLM_ROLE_USER, .text = text));
    CHECK_INT(allm_session_replace(s, ALLM(session_record, .thread = t)),
              ALLM_OK);
    allm_thread_free(t);
}

/* The newest seq that a follower has seen, when it has read what there is. */
static int64_t pull_changes(allm_hub *hub, allm_stream *reader, int64_t upto)
{
    const allm_event *event;
    int64_t seq = 0;
    while (seq < upto && allm_hub_wait(hub, 60000, NULL) == reader)
        while (allm_stream_next(reader, &event) == ALLM_EVENT)
            if (event->type == ALLM_EV_SESSION_CHANGED)
                seq = strtoll(event->cursor, NULL, 10);
    CHECK(!allm_stream_error(reader));
    return seq;
}

static size_t wal_size(void)
{
    char path[128];
    struct stat file;
    snprintf(path, sizeof path, "%s-wal", stored_path());
    return stat(path, &file) ? 0 : (size_t)file.st_size;
}

static void stays_small_at(const char *uri)
{
    const size_t mib = count_mib();
    size_t largest = 0;
    char *text = malloc(MIB + 1);
    allm_hub *hub = allm_hub_new(NULL);
    allm_store *store = stored_open(uri, NULL), *other = stored_open(uri, NULL);
    allm_session *s = allm_session_open(store, "big", ALLM_SESSION_CREATE);
    memset(text, 'x', MIB);
    text[MIB] = '\0';
    write_mib(s, text, 0);
    allm_stream *reader = allm_store_follow(other, "big", "0", 0);
    allm_hub_add(hub, reader, NULL);
    for (size_t i = 1; i <= mib; i++) {
        write_mib(s, text, i);
        if (i % 8 == 0)         /* record 1 has the first of them */
            CHECK_INT(pull_changes(hub, reader, (int64_t)i + 1), i + 1);
        size_t now = wal_size();
        largest = now > largest ? now : largest;
    }
    printf("# %zu MiB were written, the WAL had %.1f MiB at most\n", mib,
           (double)largest / (double)MIB);
    CHECK(largest > 0 && largest < mib / 8 * MIB);
    allm_stream_free(reader);
    allm_hub_free(hub);
    allm_session_free(s);
    allm_store_free(other);
    allm_store_free(store);
    free(text);
}

static void stays_small(void)
{
    stored_in_file(stays_small_at);
}

TESTS = { TEST_ONCE(stays_small), TESTS_END };
