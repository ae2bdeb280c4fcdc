/*
 * record.c - the records of a log: their envelope, their sums, their blobs
 *
 * Packing and unpacking visit values to the depth of MOST_DEPTH; what is
 * deeper is written and read as it is, by both, so a value always comes back
 * unchanged.
 */
#define _GNU_SOURCE             /* memmem */
#include "store/record.h"

#include "base/sha256.h"
#include "base/status.h"
#include "json/build.h"
#include "json/json.h"
#include "json/parse.h"

#include <time.h>

/* HEAD_ROOM: what the envelope of a record has beside its time and type. */
enum { MOST_DEPTH = 256, HEAD_ROOM = 80 };

#define BLOB "$blob"
#define PLAIN "$plain"

void record_hash(struct slice bytes, char out[STORE_HASH_LEN + 1])
{
    sha256_hex(bytes, out);
}

void record_sum(const char *before, struct slice text,
                char out[STORE_SUM_LEN + 1])
{
    struct sha256 s;
    char hex[SHA256_HEX + 1];
    sha256_init(&s);
    sha256_add(&s, slice_of(before));
    sha256_add(&s, SLICE("\n"));
    sha256_add(&s, text);
    sha256_done_hex(&s, hex);
    memcpy(out, hex, STORE_SUM_LEN);
    out[STORE_SUM_LEN] = '\0';
}

/* ----------------------------------------------------------- envelope --- */

/* A number with so many digits; *at moves behind them and one character. */
static void put_digits(char **at, int64_t n, int digits)
{
    for (int i = digits - 1; i >= 0; i--, n /= 10)
        (*at)[i] = (char)('0' + n % 10);
    *at += digits + 1;
}

void record_time(int64_t at_ms, char out[32])
{
    char *at = out;
    time_t seconds = (time_t)(at_ms / 1000);
    struct tm t = { .tm_year = 70, .tm_mday = 1 };
    if (at_ms < 0 || !gmtime_r(&seconds, &t) || t.tm_year > 8099) {
        t = (struct tm){ .tm_year = 70, .tm_mday = 1 };
        at_ms = 0;
    }
    memcpy(out, "0000-00-00T00:00:00.000Z", 25);
    put_digits(&at, t.tm_year + 1900, 4);
    put_digits(&at, t.tm_mon + 1, 2);
    put_digits(&at, t.tm_mday, 2);
    put_digits(&at, t.tm_hour, 2);
    put_digits(&at, t.tm_min, 2);
    put_digits(&at, t.tm_sec, 2);
    put_digits(&at, at_ms % 1000, 3);
}

static char *put_decimal(char *to, uint64_t n)
{
    char digits[20], *end = digits + sizeof digits, *at = end;
    do {
        *--at = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    return slice_put(to, (struct slice){ at, (size_t)(end - at) });
}

void record_time_ms(int64_t at_ms, char out[32])
{
    char *at = out + sizeof "0000-00-00T00:00:00." - 1;
    put_digits(&at, at_ms % 1000, 3);
}

void record_open(struct emit *e, struct buf *out, uint64_t seq, const char *at,
                 const char *type)
{
    struct slice time = slice_of(at), kind = slice_of(type);
    emit_init(e, out);
    char *to = emit_begin(e, HEAD_ROOM + time.len + kind.len);
    if (!to)
        return;
    to = put_decimal(slice_put(to, SLICE("{\"v\":")), RECORD_VERSION);
    to = put_decimal(slice_put(to, SLICE(",\"seq\":")), seq);
    to = slice_put(slice_put(to, SLICE(",\"at\":\"")), time);
    to = slice_put(slice_put(to, SLICE("\",\"type\":\"")), kind);
    emit_finish(e, slice_put(to, SLICE("\"")), true);
}

void record_close(struct emit *e)
{
    emit_close(e, '}');
}

/* ------------------------------------------------------------ packing --- */

/* The hash is copied, the bytes are not. */
static void add_blob(struct record_blobs *blobs, struct slice hash,
                     struct slice bytes)
{
    if (!arena_grow(blobs->arena, &blobs->list, blobs->count, &blobs->cap, 4,
                    sizeof *blobs->list)) {
        blobs->broken = true;
        return;
    }
    const char *mine = arena_copy(blobs->arena, hash);
    blobs->broken = blobs->broken || !mine;
    if (mine)
        blobs->list[blobs->count++] = (struct backend_blob){ mine, bytes };
}

static void pack_text(struct emit *e, struct slice text,
                      struct record_blobs *blobs)
{
    char hash[STORE_HASH_LEN + 1];
    if (text.len > RECORD_MOST_TEXT) {
        blobs->too_long = text.len;
        emit_null(e);
        return;
    }
    if (text.len <= RECORD_BLOB_OVER) {
        emit_text(e, text);
        return;
    }
    record_hash(text, hash);
    add_blob(blobs, slice_of(hash), text);
    emit_open(e, '{');
    emit_member_word(e, BLOB, hash);
    emit_member_uint(e, "len", text.len);
    emit_close(e, '}');
}

/* An object that would be taken for one of ours. */
static bool looks_packed(const allm_json *object)
{
    return json_at(object, BLOB) || json_at(object, PLAIN);
}

static void pack_value(struct emit *e, const allm_json *v,
                       struct record_blobs *blobs, int depth);

static void pack_members(struct emit *e, const allm_json *v,
                         struct record_blobs *blobs, int depth)
{
    emit_open(e, '{');
    for (const allm_json *k = NULL; (k = allm_json_next(v, k));) {
        emit_key(e, json_slice(k));
        pack_value(e, allm_json_value(k), blobs, depth + 1);
    }
    emit_close(e, '}');
}

static void pack_object(struct emit *e, const allm_json *v,
                        struct record_blobs *blobs, int depth)
{
    bool plain = looks_packed(v);
    if (plain) {
        emit_open(e, '{');
        emit_at(e, PLAIN);
    }
    pack_members(e, v, blobs, depth);
    if (plain)
        emit_close(e, '}');
}

static void pack_value(struct emit *e, const allm_json *v,
                       struct record_blobs *blobs, int depth)
{
    if (depth > MOST_DEPTH) {
        emit_value(e, v);
    } else if (json_is_type(v, ALLM_JSON_TEXT)) {
        pack_text(e, json_slice(v), blobs);
    } else if (json_is_type(v, ALLM_JSON_OBJECT)) {
        pack_object(e, v, blobs, depth);
    } else if (json_is_type(v, ALLM_JSON_ARRAY)) {
        emit_open(e, '[');
        for (const allm_json *i = NULL; (i = allm_json_next(v, i));)
            pack_value(e, i, blobs, depth + 1);
        emit_close(e, ']');
    } else {
        emit_value(e, v);
    }
}

void record_pack_text(struct emit *e, struct slice text,
                      struct record_blobs *blobs)
{
    if (text.len > RECORD_BLOB_OVER && text.len <= RECORD_MOST_TEXT)
        text.ptr = arena_copy(blobs->arena, text);
    if (text.ptr)
        pack_text(e, text, blobs);
    else
        blobs->broken = true;
}

void record_pack(struct emit *e, const allm_json *v, struct record_blobs *blobs)
{
    pack_value(e, v ? v : json_null(), blobs, 0);
}

/* May a text contain what packing changes: a long string, or a key of ours? */
static bool needs_packing(struct slice text)
{
    static const char blob[] = BLOB "\"", plain[] = PLAIN "\"";
    if (text.len > RECORD_BLOB_OVER)
        return true;
    const char *at = memchr(text.ptr, '$', text.len);
    if (!at)
        return false;
    size_t rest = (size_t)(text.ptr + text.len - at);
    return memmem(at, rest, blob, sizeof blob - 1) ||
           memmem(at, rest, plain, sizeof plain - 1);
}

void record_pack_since(struct emit *e, size_t from, struct record_blobs *blobs)
{
    const struct json_limits any = { .max_bytes = SIZE_MAX,
                                     .max_depth = UINT32_MAX,
                                     .duplicates = true };
    struct buf *out = e->out;
    const allm_error *error = NULL;
    struct slice text = { out->ptr + from, out->len - from };
    if (out->broken || !needs_packing(text))
        return;
    const allm_json *v = json_parse(blobs->arena, text, any, &error);
    if (!v) {
        blobs->broken = true;
        return;
    }
    out->len = from;
    e->comma = false;           /* a value that is packed follows its key */
    record_pack(e, v, blobs);
}

/* ---------------------------------------------------------- unpacking --- */

struct unpacking {
    struct build build;
    struct slice (*find)(void *ud, const char *hash);
    void *ud;
    struct arena *arena;
    const allm_error *error;
};

/* The hash of an object that stands for a string; NULL: it does not. */
static const char *blob_of(const allm_json *v)
{
    struct slice hash = json_text_at(v, BLOB);
    return hash.len == STORE_HASH_LEN && allm_json_count(v) == 2 ? hash.ptr
                                                                 : NULL;
}

static const allm_json *plain_of(const allm_json *v)
{
    const allm_json *inner = json_at(v, PLAIN);
    return allm_json_count(v) == 1 && json_is_type(inner, ALLM_JSON_OBJECT)
               ? inner
               : NULL;
}

static void unpack_blob(struct unpacking *u, const allm_json *v,
                        const char *hash)
{
    int64_t len = -1;
    struct slice bytes = u->find(u->ud, hash);
    json_int64(json_at(v, "len"), &len);
    if (!bytes.ptr || (uint64_t)len != bytes.len)
        u->error = status_error(
            u->arena, ALLM_ERR_STORE, "damaged_session",
            "the blob %.12s... of this session is missing or has a wrong "
            "length; restore the store from a backup",
            hash);
    else
        build_text(&u->build, bytes);
}

static void unpack_value(struct unpacking *u, const allm_json *v, int depth);

static void unpack_members(struct unpacking *u, const allm_json *v, int depth)
{
    build_object(&u->build);
    for (const allm_json *k = NULL; !u->error && (k = allm_json_next(v, k));) {
        build_key(&u->build, json_slice(k));
        unpack_value(u, allm_json_value(k), depth + 1);
    }
    build_end(&u->build);
}

static void unpack_value(struct unpacking *u, const allm_json *v, int depth)
{
    bool object = json_is_type(v, ALLM_JSON_OBJECT);
    const char *hash = object ? blob_of(v) : NULL;
    const allm_json *plain = object ? plain_of(v) : NULL;
    if (depth > MOST_DEPTH) {
        build_value(&u->build, v);
    } else if (hash) {
        unpack_blob(u, v, hash);
    } else if (object) {
        unpack_members(u, plain ? plain : v, depth);
    } else if (json_is_type(v, ALLM_JSON_ARRAY)) {
        build_array(&u->build);
        for (const allm_json *i = NULL;
             !u->error && (i = allm_json_next(v, i));)
            unpack_value(u, i, depth + 1);
        build_end(&u->build);
    } else {
        build_value(&u->build, v);
    }
}

/* Does it contain an object of ours? */
static bool is_packed(const allm_json *v, int depth)
{
    bool object = json_is_type(v, ALLM_JSON_OBJECT);
    if (depth > MOST_DEPTH || (!object && !json_is_type(v, ALLM_JSON_ARRAY)))
        return false;
    if (object && looks_packed(v))
        return true;
    for (const allm_json *i = NULL; (i = allm_json_next(v, i));)
        if (is_packed(object ? allm_json_value(i) : i, depth + 1))
            return true;
    return false;
}

const allm_json *record_unpack(struct arena *a, const allm_json *v,
                               struct slice (*find)(void *ud, const char *hash),
                               void *ud, const allm_error **error)
{
    struct unpacking u = { .find = find, .ud = ud, .arena = a };
    *error = NULL;
    if (!is_packed(v, 0))
        return v;
    build_init(&u.build, a);
    unpack_value(&u, v, 0);
    const allm_json *out = u.error ? NULL : build_done(&u.build);
    if (!out)
        *error = u.error ? u.error : status_nomem();
    return out;
}

void record_find_blobs(struct slice text, struct record_blobs *blobs)
{
    static const char begin[] = "{\"" BLOB "\":\"";
    const size_t head = sizeof begin - 1;
    const char *at = text.ptr, *end = text.ptr + text.len;
    while (at && (at = memmem(at, (size_t)(end - at), begin, head))) {
        at += head;
        if (end - at > STORE_HASH_LEN && at[STORE_HASH_LEN] == '"')
            add_blob(blobs, (struct slice){ at, STORE_HASH_LEN },
                     (struct slice){ NULL, 0 });
    }
}

/* ------------------------------------------------------------ reading --- */

static const allm_error *damaged_record(struct arena *a, uint64_t seq,
                                        const char *what)
{
    return status_error(a, ALLM_ERR_STORE, "damaged_session",
                        "record %llu of this session %s; restore the store "
                        "from a backup, or remove the session",
                        (unsigned long long)seq, what);
}

const allm_error *record_read(struct arena *a, const struct backend_record *row,
                              struct record *out)
{
    const struct json_limits limits = { .max_bytes = SIZE_MAX / 2,
                                        .max_depth = UINT32_MAX };
    const allm_error *error = NULL;
    int64_t version = 0, seq = 0;
    const allm_json *v = json_parse(a, row->body, limits, &error);
    if (error == status_nomem())
        return error;
    if (!v || !json_is_type(v, ALLM_JSON_OBJECT))
        return damaged_record(a, row->seq, "is not a JSON object");
    if (!json_int64(json_at(v, "v"), &version) || version < 1)
        return damaged_record(a, row->seq, "has no version");
    if (version > RECORD_VERSION)
        return status_error(a, ALLM_ERR_STORE, "store_too_new",
                            "record %llu has version %lld, which is newer than "
                            "%d, the newest this library reads; update it",
                            (unsigned long long)row->seq, (long long)version,
                            RECORD_VERSION);
    if (!json_int64(json_at(v, "seq"), &seq) || (uint64_t)seq != row->seq)
        return damaged_record(a, row->seq, "has the number of another one");
    struct slice type = json_text_at(v, "type");
    if (!type.ptr)
        return damaged_record(a, row->seq, "has no type");
    *out = (struct record){ .seq = row->seq, .type = type.ptr, .json = v };
    return NULL;
}

const allm_error *record_check(struct arena *a, const char *before,
                               uint64_t seq, size_t count,
                               const struct backend_record *rows)
{
    char sum[STORE_SUM_LEN + 1];
    for (size_t i = 0; i < count; i++) {
        if (rows[i].seq != seq + i)
            return damaged_record(a, seq + i, "is missing");
        record_sum(before, rows[i].body, sum);
        if (strcmp(sum, rows[i].sum) != 0)
            return damaged_record(a, seq + i, "does not match its sum");
        before = rows[i].sum;
    }
    return NULL;
}
