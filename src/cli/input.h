/*
 * input.h - read files and standard input
 *
 * The path NULL or "-" is standard input.  After a failure an error has been
 * printed; the program then ends with END_USAGE.
 */
#pragma once

#include "allm.h"

enum {
    INPUT_LIMIT = 64 * 1024 * 1024 /* bytes of a whole input */
};

/* A whole input, followed by a NUL.  { 0 } is empty. */
struct input {
    char *ptr;
    size_t len, cap;
};

/* Returns a descriptor; -1: it cannot be opened. */
int input_open(const char *path);
void input_close(int fd);
/* Read the next bytes; 0: end of file; < 0: failure. */
long input_read(int fd, const char *path, char *bytes, size_t len);

bool input_load(struct input *in, const char *path);
/* The text of "@FILE" without the line feeds at its end; other words, or NULL,
 * leave the input as it is. */
bool input_load_at(struct input *in, const char *word);
/* Accept inputs of this many bytes; else INPUT_LIMIT. */
void input_set_limit(size_t bytes);
/* Append bytes; false: out of memory, or too long. */
bool input_append(struct input *in, const char *bytes, size_t len);
void input_release(struct input *in);

/* A JSON document, which the caller frees; NULL: it cannot be read or is not
 * JSON. */
allm_json *input_json(const char *path);

/* The arguments of a call: JSON, "-" for standard input, NULL for {}.  The
 * caller frees them; NULL: an error was printed. */
allm_json *input_arguments(const char *given);

/* Is it UTF-8 text without NUL and most other control characters? */
bool input_is_text(const struct input *in);
bool input_bytes_are_text(const char *bytes, size_t len);
