/*
 * starts.h - the beginnings of blocks: what a line is by its first characters
 *
 * The functions get a line without its indentation, and without its line end.
 * While it may continue (`whole` is false), some answer START_CUT: it depends
 * on what follows.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum start { START_NO, START_CUT, START_YES };

/* Three or more of the same * - or _, with spaces. */
enum start start_rule(const char *line, size_t len, bool whole);
/* A row of = or -, below a paragraph. */
enum start start_underline(const char *line, size_t len, bool whole);
/* "[label]:", the beginning of an address that links refer to. */
enum start start_definition(const char *line, size_t len, bool whole);
/* One to six # and a space; *level is their number. */
enum start start_heading(const char *line, size_t len, bool whole,
                         size_t *level);
/* ``` or ~~~ and perhaps words; *run is its length. */
enum start start_fence(const char *line, size_t len, bool whole, size_t *run);
/* The end of a block that a fence of this character and length began. */
enum start start_fence_end(const char *line, size_t len, bool whole, char c,
                           size_t run);

struct start_item {
    size_t marker; /* the length of "-" or "12." */
    size_t indent; /* the columns up to its text */
    char kind;     /* - + * . or ) */
    long number;
    bool blank;    /* nothing follows */
};
enum start start_item(const char *line, size_t len, bool whole,
                      struct start_item *item);

/* A row of a table like "|---|:-:|"; *columns is the number of its cells. */
bool start_table_row(const char *line, size_t len, size_t *columns);

/* The kind of HTML block, 1 to 7 as in CommonMark 0.30, 4.6; 0: none.  Whole
 * lines only. */
int start_html(const char *line, size_t len, bool in_paragraph);
/* Does such a block end with this line?  (6 and 7 end before a blank one.) */
bool start_html_end(const char *line, size_t len, int kind);
