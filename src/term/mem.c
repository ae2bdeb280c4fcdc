/* mem.c - the program's memory */
#include "term/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* End the program if p is NULL. */
static void *require_memory(void *p)
{
    static const char message[] = "allm: out of memory\n";
    if (p)
        return p;
    ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
    (void)written;
    _exit(1);
}

void *term_alloc(size_t size)
{
    return require_memory(calloc(1, size ? size : 1));
}

void *term_resize(void *p, size_t size)
{
    return require_memory(realloc(p, size ? size : 1));
}

char *term_copy(const char *bytes, size_t len)
{
    char *copy = term_resize(NULL, len + 1);
    if (len)
        memcpy(copy, bytes, len);
    copy[len] = '\0';
    return copy;
}

void term_free(void *p)
{
    free(p);
}
