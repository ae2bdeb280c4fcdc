/*
 * test_odd_texts.c - texts that a database or JSON might not take
 *
 * Whatever a message contains, the session that is opened again is the one that
 * was written: NUL, bytes that are not UTF-8, halves of surrogate pairs, and
 * objects that look like those of a record.
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/play.h"
#include "harness/stored.h"

#include <stdio.h>

enum { LONG = 5000, TEXT = 65536 };

#define ROW(bytes) { bytes, sizeof bytes - 1 }

static const struct {
    const char *bytes;
    size_t len;
} rows[] = {
    ROW(""),
    ROW("\0"),
    ROW("a\0b"),
    ROW("\\u0000 and \\ud800 as text"),
    ROW("\xed\xa0\x80 half of a pair"),
    ROW("\xff\xfe\x80"),
    ROW("\xf0\x9f\x98\x80 \xc3\xa9 \xe2\x80\xa8"),
    ROW("{\"$blob\":\"x\",\"len\":1}"),
    ROW("it's \"quoted\" \\ $1 ?1 %s {NULL,\"\\\\\"}"),
};

static const char metadata[] =
    "{'$blob': 'x', 'len': 1, 'in': {'$plain': {'$blob': [1, '\\u0000']}}}";

static void append_rows(allm_session *s)
{
    static char filled[LONG];
    allm_json *extra = play_json(metadata);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].bytes);
        CHECK_INT(allm_session_append(s, ALLM(message, .role = ALLM_ROLE_USER,
                                              .text = rows[i].bytes,
                                              .text_len = rows[i].len,
                                              .metadata = extra)),
                  ALLM_OK);
        memset(filled, 'x', sizeof filled);     /* the same as a blob */
        memcpy(filled + i, rows[i].bytes, rows[i].len);
        CHECK_INT(allm_session_append(s, ALLM(message, .role = ALLM_ROLE_USER,
                                              .text = filled,
                                              .text_len = sizeof filled)),
                  ALLM_OK);
    }
    allm_json_free(extra);
}

/* The session as a document. */
static const char *document_of(const allm_session *s, char out[TEXT])
{
    allm_text *t = allm_session_record_json(allm_session_fields(s),
                                            ALLM_FORM_TAGGED);
    const char *bytes = allm_text_bytes(t, NULL);
    snprintf(out, TEXT, "%s", bytes ? bytes : "");
    allm_text_free(t);
    return out;
}

static void come_back(const char *uri)
{
    static char before[TEXT], after[TEXT];
    allm_store *store = stored_open(uri, NULL);
    allm_session *s = allm_session_open(store, "odd", ALLM_SESSION_CREATE);
    append_rows(s);
    document_of(s, before);
    CHECK(strlen(before) > LONG);
    allm_session_free(s);
    s = allm_session_open(store, "odd", 0);
    CHECK_TEXT(document_of(s, after), before);
    allm_session_free(s);
    allm_json *v = allm_store_verify(store, NULL);
    CHECK(allm_json_true(allm_json_get(v, "ok")));
    allm_json_free(v);
    allm_store_free(store);
}
EACH(come_back)

TESTS = { TEST_ALL(come_back), TESTS_END };
