/*
 * input.h - files and standard input
 *
 * The path NULL or "-" is standard input.  A failure is told on stderr, and
 * the program ends with END_USAGE.
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "allm.h"

enum {
    INPUT_LIMIT = 64 * 1024 * 1024 /* of what is read as a whole */
};

/* A whole input; a NUL stands behind it.  { 0 } is an empty one. */
struct input {
    char *ptr;
    size_t len, cap;
};

/* A descriptor to read from; -1: it cannot be opened. */
int input_open(const char *path);
void input_close(int fd);
/* The next bytes; 0: the end; < 0: failed, and told. */
long input_read(int fd, const char *path, char *bytes, size_t len);

bool input_load(struct input *in, const char *path);
/* At its end; false: no memory or too much, and told. */
bool input_append(struct input *in, const char *bytes, size_t len);
void input_release(struct input *in);

/* A JSON document, a root; NULL: it cannot be read or is none, and was told. */
allm_json *input_json(const char *path);

/* Is it UTF-8 without NUL and the like, fit to be shown to a model? */
bool input_is_text(const struct input *in);
bool input_bytes_are_text(const char *bytes, size_t len);

#endif
