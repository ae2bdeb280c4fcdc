/*
 * record.h - the records of a log: their envelope, their sums, their blobs
 *
 *      {"v":1,"seq":7,"at":"2026-11-16T12:00:00.000Z","type":"intent", ...}
 *
 *      sum = first 32 hex digits of SHA-256(sum before, LF, text)
 *
 * A string longer than RECORD_BLOB_OVER bytes is written as {"$blob": hash,
 * "len": n}; its bytes are stored once per session.  An object of a caller that
 * has a member "$blob" or "$plain" is written as {"$plain": {...}}.
 */
#pragma once

#include "store/backend.h"
#include "json/emit.h"

enum { RECORD_VERSION = 1, RECORD_BLOB_OVER = 4096 };
#define RECORD_MOST_TEXT ((size_t)256 * 1024 * 1024)

/* Blobs that texts refer to, in their order; one may be there twice. */
struct record_blobs {
    struct arena *arena;
    size_t count, cap;
    struct backend_blob *list;
    bool broken;                /* no memory */
    size_t too_long;            /* a string of this length was refused; 0 */
};

/* Write a value, long strings as blobs.  The bytes of blobs are not copied. */
void record_pack(struct emit *e, const allm_json *v,
                 struct record_blobs *blobs);

/* The same for a string, which is copied if it becomes a blob. */
void record_pack_text(struct emit *e, struct slice text,
                      struct record_blobs *blobs);
/*
 * The same for a value that was written plainly, as the first of its text or
 * behind a key: what follows `from`, which was out->len, is written again, if
 * packing makes a difference.  Most values are short and stay as they are.
 */
void record_pack_since(struct emit *e, size_t from, struct record_blobs *blobs);

/* Replace blobs by their strings.  `find` gives the bytes of a hash (ptr NULL:
 * missing).  NULL and *error: damaged, or no memory. */
const allm_json *record_unpack(struct arena *a, const allm_json *v,
                               struct slice (*find)(void *ud, const char *hash),
                               void *ud, const allm_error **error);
/* Add the hashes that a packed text may refer to, without bytes.  The text is
 * searched, not parsed: an object of a caller may look like a reference. */
void record_find_blobs(struct slice text, struct record_blobs *blobs);

/* Begin the text of a record in a buffer; members follow; then close it. */
void record_open(struct emit *e, struct buf *out, uint64_t seq, const char *at,
                 const char *type);
void record_close(struct emit *e);

/* A time as records have it: "2026-11-16T12:00:00.000Z". */
void record_time(int64_t at_ms, char out[32]);
/* The same in a time that has the second already. */
void record_time_ms(int64_t at_ms, char out[32]);

/* The sum of a record; `before` is the sum of the one before it, or the uid. */
void record_sum(const char *before, struct slice text,
                char out[STORE_SUM_LEN + 1]);
/* The hash of bytes, in hex. */
void record_hash(struct slice bytes, char out[STORE_HASH_LEN + 1]);

/* A record that was read. */
struct record {
    uint64_t seq;
    const char *type;
    const allm_json *json;      /* the whole object, packed */
};

/* Read the text of a record.  An error names its seq: damaged_session, or
 * store_too_new if its version is newer than ours. */
const allm_error *record_read(struct arena *a, const struct backend_record *row,
                              struct record *out);

/* Check that records follow each other and that their sums chain from
 * `before`. */
const allm_error *record_check(struct arena *a, const char *before,
                               uint64_t seq, size_t count,
                               const struct backend_record *rows);
