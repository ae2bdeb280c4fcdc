/*
 * history.c - earlier lines, for the arrow keys
 *
 * The buffer holds the lines, each with a NUL at its end.  When it is full, the
 * oldest lines are dropped.
 */
#include "cli/history.h"

#include <string.h>

enum { ROOM = 65536 };

static char lines[ROOM];
static size_t used;

void history_add(const char *line)
{
    size_t size = strlen(line) + 1;
    const char *last = history_at(1);
    if (size == 1 || size > ROOM / 4 || (last && !strcmp(last, line)))
        return;
    while (used + size > ROOM) {
        size_t first = strlen(lines) + 1;
        memmove(lines, lines + first, used - first);
        used -= first;
    }
    memcpy(lines + used, line, size);
    used += size;
}

const char *history_at(size_t back)
{
    size_t at = used;
    for (; back && at; back--) {
        at--; /* its NUL */
        while (at && lines[at - 1])
            at--;
    }
    return back || !used ? NULL : lines + at;
}
