/*
 * load.c - a session as the database has it: read and checked
 *
 * Checked: the records that are loaded follow each other and chain from the
 * sum before them, the last sum is the session's, messages are complete and
 * have their hashes, and so have blobs.  Older records are checked by
 * allm_store_verify() only.
 */
#include "store/store.h"
#include "store/store_parts.h"

#include "base/status.h"

#include <stdlib.h>

static const allm_error *damaged(struct arena *a, const struct store_loaded *l,
                                 const char *noun, uint64_t number,
                                 const char *what)
{
    return status_error(a, ALLM_ERR_STORE, "damaged_session",
                        "%s %llu of the session \"%s\" %s; restore the store "
                        "from a backup, or remove the session",
                        noun, (unsigned long long)number, l->row.name, what);
}

/* ------------------------------------------------------------ records --- */

/* Drop the first record, which was read for its sum. */
static void skip_record(struct store_loaded *l)
{
    l->records++;
    l->record_count--;
}

/* The records from `from` on, and the one before, for its sum. */
static const allm_error *read_records(struct backend *b, struct arena *a,
                                      struct store_loaded *l, uint64_t from)
{
    const struct backend_row *row = &l->row;
    const uint64_t first = from > 1 ? from - 1 : 1;
    const char *before = row->uid;
    const allm_error *error = b->ops->records(b, a, row->id, first, 0,
                                              &l->record_count, &l->records);
    if (error)
        return error;
    if (!l->record_count || l->records[0].seq != first)
        return damaged(a, l, "record", first, "is missing");
    if (from > first) {
        if (first == 1)
            error = record_check(a, before, 1, 1, l->records);
        before = l->records[0].sum;
        skip_record(l);
    }
    return error ? error
                 : record_check(a, before, from, l->record_count, l->records);
}

/* The records from the open operation on; if there is none, the last one is
 * read to be checked. */
static const allm_error *load_records(struct backend *b, struct arena *a,
                                      struct store_loaded *l)
{
    const struct backend_row *row = &l->row;
    if (!row->head)
        return NULL;
    const uint64_t from = row->open ? row->open : row->head;
    const allm_error *error = read_records(b, a, l, from);
    if (error)
        return error;
    const size_t n = l->record_count;
    if (from + n != row->head + 1)
        return damaged(a, l, "record", from + n,
                       from + n > row->head ? "is not part of it"
                                            : "is missing");
    if (strcmp(l->records[n - 1].sum, row->sum) != 0)
        return damaged(a, l, "record", row->head,
                       "has another sum than the session");
    if (!row->open)
        l->record_count = 0;
    return NULL;
}

/* ------------------------------------------------- messages and blobs --- */

const allm_error *store_read_messages(struct backend *b, struct arena *a,
                                      const struct store_loaded *l,
                                      struct backend_range range, size_t *count,
                                      struct backend_message **out)
{
    char hash[STORE_HASH_LEN + 1];
    const allm_error *error = b->ops->messages(b, a, l->row.id, range, count,
                                               out);
    for (size_t i = 0; !error && i < *count; i++) {
        const struct backend_message *m = &(*out)[i];
        record_hash(m->body, hash);
        if (strcmp(hash, m->hash) != 0)
            error = damaged(a, l, "a message of record", m->since,
                            "does not match its hash");
    }
    return error;
}

static const allm_error *load_messages(struct backend *b, struct arena *a,
                                       struct store_loaded *l)
{
    const allm_error *error = store_read_messages(
        b, a, l, (struct backend_range){ 0 }, &l->message_count, &l->messages);
    for (size_t i = 0; !error && i < l->message_count; i++)
        if (l->messages[i].n != i)
            error = damaged(a, l, "message", i, "is missing");
    if (error || l->message_count == l->row.messages)
        return error;
    return damaged(a, l, "message", l->message_count,
                   l->message_count < l->row.messages ? "is missing"
                                                      : "is not part of it");
}

static int order_blobs(const void *x, const void *y)
{
    const struct backend_blob *a = x, *b = y;
    return strcmp(a->hash, b->hash);
}

/* In the order of their hashes, each once. */
static void sort_blobs(struct record_blobs *blobs)
{
    size_t n = 0;
    if (blobs->count)
        qsort(blobs->list, blobs->count, sizeof *blobs->list, order_blobs);
    for (size_t i = 0; i < blobs->count; i++)
        if (!n || strcmp(blobs->list[n - 1].hash, blobs->list[i].hash) != 0)
            blobs->list[n++] = blobs->list[i];
    blobs->count = n;
}

const allm_error *store_read_blobs(struct backend *b, struct arena *a,
                                   struct store_loaded *l,
                                   struct record_blobs *blobs)
{
    char hash[STORE_HASH_LEN + 1];
    if (blobs->broken)
        return status_nomem();
    sort_blobs(blobs);
    l->blob_count = blobs->count;
    l->blobs = blobs->list;
    const allm_error *error = b->ops->blobs(b, a, l->row.id, l->blob_count,
                                            l->blobs);
    for (size_t i = 0; !error && i < l->blob_count; i++) {
        record_hash(l->blobs[i].bytes, hash);
        if (l->blobs[i].bytes.ptr && strcmp(hash, l->blobs[i].hash) != 0)
            error = status_error(
                a, ALLM_ERR_STORE, "damaged_session",
                "the blob %.12s... of the session \"%s\" does not match its "
                "hash; restore the store from a backup, or remove the session",
                l->blobs[i].hash, l->row.name);
    }
    return error;
}

/* All blobs that the loaded texts refer to. */
static const allm_error *load_blobs(struct backend *b, struct arena *a,
                                    struct store_loaded *l)
{
    struct record_blobs blobs = { .arena = a };
    for (size_t i = 0; i < l->message_count; i++)
        record_find_blobs(l->messages[i].body, &blobs);
    for (size_t i = 0; i < l->record_count; i++)
        record_find_blobs(l->records[i].body, &blobs);
    return store_read_blobs(b, a, l, &blobs);
}

struct slice store_loaded_blob(const struct store_loaded *l, const char *hash)
{
    struct backend_blob key = { .hash = hash };
    const struct backend_blob *found =
        l->blob_count
            ? bsearch(&key, l->blobs, l->blob_count, sizeof key, order_blobs)
            : NULL;
    return found ? found->bytes : (struct slice){ NULL, 0 };
}

const allm_error *load_session(struct backend *b, struct arena *a,
                               struct store_loaded *l)
{
    const allm_error *error = load_messages(b, a, l);
    if (!error)
        error = load_records(b, a, l);
    if (!error)
        error = b->ops->inbox(b, a, l->row.id, &l->sent_count, &l->sent);
    return error ? error : load_blobs(b, a, l);
}

bool store_row_has_moved(struct backend *b, struct arena *a,
                         const struct backend_row *row)
{
    struct backend_row now;
    bool found = false;
    const allm_error *error = b->ops->find(b, a, row->name, true, &now, &found);
    return !error && (!found || now.id != row->id || now.head != row->head);
}
