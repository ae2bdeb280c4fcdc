/*
 * reader.h - read a file of settings: parse, expand variables, check
 *
 * What is wrong is reported with its line.  An error makes the file unusable; a
 * warning leaves one setting out.
 */
#pragma once

#include "conf/notice.h"
#include "conf/settings.h"
#include "term/bytes.h"

/* { .report, .ud } is a reader that has read nothing. */
struct reader {
    notice_fn report;
    void *ud;
    const char *file;         /* NULL: the ALLM_* variables */
    bool keys;                /* ${VAR} may name a key */
    bool soft;                /* errors are warnings */
    bool failed;              /* an error was reported */
    allm_json_schema *schema; /* once it was needed */
};

void reader_release(struct reader *r);

/* Remove a byte order mark. */
void reader_skip_mark(struct bytes *text);
/* The object in the text, {} if it is empty; the caller frees it.  NULL: it has
 * errors. */
allm_json *reader_parse(struct reader *r, const struct bytes *text);
/* Expand the variables and check the result.  Frees the value and returns a new
 * one; NULL: it has errors. */
allm_json *reader_settle(struct reader *r, const struct bytes *text,
                         allm_json *value);
/* Remember the variables that hold the keys of a file. */
void reader_note_keys(const struct bytes *text);
/* Check a value; text, for lines, may be NULL.  True: it can be used. */
bool reader_check(struct reader *r, const struct bytes *text,
                  const allm_json *value);
/* The line of the value at a JSON Pointer; 0: there is none. */
size_t reader_line(const struct bytes *text, const char *pointer);
