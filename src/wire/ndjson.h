/* ndjson.h - newline-delimited JSON: bytes in, lines out */
#pragma once

#include "wire/lines.h"

/*
 * Lines end with LF or CRLF; a byte order mark at the start and lines of white
 * space are skipped.  Lines are not parsed: that is the caller's task.
 */
struct ndjson {
    struct arena arena;
    struct lines lines;
    enum wire_result lost;      /* TOO_LONG or NOMEM, once it occurred */
    bool ended;
};

/* The limit of a line without its LF; 0 means WIRE_LIMIT. A struct ndjson must
 * not be moved. */
void ndjson_init(struct ndjson *n, struct mem mem, size_t line_limit);
void ndjson_release(struct ndjson *n);

/*
 * Remove the next line from *in: never empty, borrowed until the next call.
 * Call it again with the rest of *in, at the same address or elsewhere, until
 * it returns WIRE_MORE; then all input is used.
 */
enum wire_result ndjson_next(struct ndjson *n, struct slice *in,
                             struct slice *line);

/* There is no more input: return a last line without its LF. Call it until it
 * returns WIRE_END (or a failure). */
enum wire_result ndjson_end(struct ndjson *n, struct slice *line);
