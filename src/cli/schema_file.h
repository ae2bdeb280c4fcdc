/* schema_file.h - the JSON Schema that answers must fit: --schema */
#ifndef CLI_SCHEMA_FILE_H
#define CLI_SCHEMA_FILE_H

#include "allm.h"

/* The response_format for the schema in a file; path NULL: none.  The caller
 * frees *format.  False: an error was printed. */
bool schema_file_read(const char *path, allm_json **format);

#endif
