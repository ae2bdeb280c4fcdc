/*
 * block.h - the open blocks of a Markdown text, and how they are written
 *
 * Containers are block quotes and list items; a leaf is a block with text.  The
 * line parser (markdown.c) opens and closes them and gives them their text.
 */
#pragma once

#include "term/inline.h"
#include "term/starts.h"
#include "term/wrap.h"

enum {
    BLOCK_DEPTH = 64,           /* containers in containers */
    BLOCK_TABLE = 64 * 1024     /* bytes of a table that are held back */
};

enum leaf {
    LEAF_NONE,
    LEAF_PARAGRAPH,
    LEAF_HEADING,
    LEAF_FENCE,
    LEAF_INDENTED,
    LEAF_HTML,
    LEAF_TABLE
};

struct container {
    bool quote;      /* else a list item */
    bool shown;      /* its marker was written */
    bool empty;      /* nothing followed its marker */
    size_t indent;   /* of an item's text in the source */
    char marker[16]; /* what is shown */
    size_t width;    /* of the marker */
};

struct blocks {
    struct wrap wrap;
    struct inline_text text;
    struct container open[BLOCK_DEPTH];
    size_t count;
    struct {
        char kind;   /* of the last item at this depth; 0: no list */
        long number;
    } lists[BLOCK_DEPTH + 2];
    enum leaf leaf;
    bool blank;      /* a blank line comes before the next block */
    bool wrote;      /* anything at all; in this leaf */
    bool leaf_wrote;
    bool slash;      /* the paragraph's last line ended in a backslash */
    bool hard;       /* ... or in two spaces */
    size_t blanks;   /* lines that the indented code may continue with */
    struct bytes tail;  /* spaces, or the # of a heading, at the end of text */
    struct bytes table; /* its lines */
    size_t rows;
    bool plain;      /* the table is too long, or a row of it */
    bool after_text; /* its first line may belong to a paragraph */
    struct bytes styled; /* scratch */
};

/* Close containers until there are `keep`, and open one in them. */
void block_quote(struct blocks *b, size_t keep);
void block_item(struct blocks *b, size_t keep, const struct start_item *item);
/* Close containers until there are `keep`, and the leaf. */
void block_close(struct blocks *b, size_t keep);

/* Begin a leaf inside the first `keep` containers. */
void block_begin(struct blocks *b, size_t keep, enum leaf leaf);
void block_heading(struct blocks *b, size_t keep, size_t level);
void block_rule(struct blocks *b, size_t keep);
/* The line of a code block with its fence; `run` characters of it are c. */
void block_fence(struct blocks *b, const char *line, size_t len, size_t run);

/* Text of a paragraph or heading; its line ends; the paragraph goes on. */
void block_text(struct blocks *b, const char *text, size_t len);
void block_text_end(struct blocks *b);
void block_continue(struct blocks *b);
/* The paragraph was a heading, underlined with this line. */
void block_underline(struct blocks *b, char c);

/* A line of code or HTML; `code`: in the style of code. */
void block_code(struct blocks *b, const char *text, size_t len, bool code);
void block_code_end(struct blocks *b);

/* What may be a table begins, inside the first `keep` containers; or else its
 * line is text of a paragraph. */
void block_table_open(struct blocks *b, size_t keep);
void block_table_text(struct blocks *b, const char *line, size_t len);
/* A row of a table. */
void block_table_row(struct blocks *b, const char *line, size_t len);
/* Its second row; false: it is none. */
bool block_table_begin(struct blocks *b, const char *line, size_t len);
/* It is no table: its only line is one of a paragraph. */
void block_table_fail(struct blocks *b);
/* It is too long: write its rows as they are, now and from now on. */
void block_table_plain(struct blocks *b);

void block_release(struct blocks *b);
