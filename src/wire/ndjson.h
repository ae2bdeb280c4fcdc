/* ndjson.h - JSON values in lines: bytes in, lines out */
#ifndef WIRE_NDJSON_H
#define WIRE_NDJSON_H

#include "wire/lines.h"

/*
 * Lines end with LF or CRLF; a byte order mark at the start and lines of white
 * space are skipped.  Whether a line is a JSON object is for those to judge
 * who parse it.
 */
struct ndjson {
    struct arena arena;
    struct lines lines;
    enum wire_result lost;      /* TOO_LONG or NOMEM, once it came */
    bool ended;
};

/* The limit of a line without its LF; 0 is WIRE_LIMIT.  A struct ndjson must
 * not be moved. */
void ndjson_init(struct ndjson *n, struct mem mem, size_t line_limit);
void ndjson_release(struct ndjson *n);

/*
 * Cut the next line off *in: never empty, lent until the next call.  Call it
 * again with what is left of *in, at the same place or elsewhere, until it
 * answers WIRE_MORE; then all is used up.
 */
enum wire_result ndjson_next(struct ndjson *n, struct slice *in,
                             struct slice *line);

/* There is no more input: a last line without its LF is given now.  Call it
 * until it answers WIRE_END (or worse). */
enum wire_result ndjson_end(struct ndjson *n, struct slice *line);

#endif
