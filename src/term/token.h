/*
 * token.h - the tokens of the inline parser
 *
 * Inline text is parsed in three steps: it becomes tokens (inline.c), of which
 * some are delimiters; pairs of these become emphasis (emphasis.c); the tokens
 * are written (inline.c).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TOKEN_MOST = 1040 }; /* one for each byte that is held back */

enum token_kind {
    TOKEN_TEXT,
    TOKEN_DELIMITER, /* a run of * _ or ~ */
    TOKEN_CODE,
    TOKEN_ENTITY,
    TOKEN_URL,       /* <http://...> */
    TOKEN_BRACKET,   /* [ or ![ that may still begin a link */
    TOKEN_LINK,      /* [ or ![ that begins one */
    TOKEN_LINK_END,
    TOKEN_BREAK      /* a backslash at the end of the line */
};

struct token {
    enum token_kind kind;
    bool image;           /* of BRACKET, LINK, LINK_END */
    bool active;          /* of BRACKET: it may become a link */
    bool opens, closes;   /* of DELIMITER: what it can do */
    uint16_t at, len;     /* in the text */
    uint16_t from, to;    /* the content of CODE and URL, the address of
                             LINK_END; from: the leftmost delimiter that
                             DELIMITER closes */
    uint16_t count;       /* what is left of a DELIMITER; the LINK of a
                             LINK_END */
    uint16_t em_open, em_close, strong_open, strong_close; /* pairs found;
                             strong is "deleted" for ~~ */
    uint16_t before, after; /* DELIMITER: its neighbours in the list */
};

struct tokens {
    const char *text;
    size_t len;
    size_t count;         /* of list, of which the first is not used */
    uint16_t last;        /* the last delimiter; 0: none */
    struct token list[TOKEN_MOST];
};

/* emphasis.c: add a run of delimiters, given the code points around it. */
void emphasis_add(struct tokens *t, size_t at, size_t len, uint32_t before,
                  uint32_t after);
/* Find the pairs among the delimiters behind token `bottom`.  Those that are
 * left over then stay in the list, unless `drop`. */
void emphasis_pair(struct tokens *t, size_t bottom, bool drop);

/* spans.c: the length of what begins at `at`.  SPAN_NONE: nothing does;
 * SPAN_CUT: the text ends within it. */
enum { SPAN_NONE = 0, SPAN_CUT = -1 };
long span_code(const char *text, size_t len, size_t at);
long span_autolink(const char *text, size_t len, size_t at);
long span_html(const char *text, size_t len, size_t at);
/* "(address "title")"; the address is from..to. */
long span_target(const char *text, size_t len, size_t at, size_t *from,
                 size_t *to);
