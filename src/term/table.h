/* table.h - lay out a table: columns aligned, and shrunk to the width */
#pragma once

#include "term/wrap.h"

/* The number of cells in a line of a table. */
size_t table_cells(const char *line, size_t len);

/* Write a table: its rows, one per line, the second one with the alignments.
 * `links`: the terminal opens them.  False, and nothing is written: its columns
 * do not fit. */
bool table_write(struct wrap *w, bool links, const char *rows, size_t len);
