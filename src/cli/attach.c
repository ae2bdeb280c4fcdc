/* attach.c - what an attachment is: by its content, not by its name */
#include "cli/attach.h"

#include <string.h>

/* The first bytes of a format, and where they are. */
static const struct {
    const char *mime;
    size_t at;
    const char *bytes;
    size_t len;
} magics[] = {
    { "image/png", 0, "\x89PNG\r\n\x1a\n", 8 },
    { "image/jpeg", 0, "\xff\xd8\xff", 3 },
    { "image/gif", 0, "GIF8", 4 },
    { "image/webp", 8, "WEBP", 4 },
    { "application/pdf", 0, "%PDF-", 5 },
};

const char *attach_type(const char *bytes, size_t len)
{
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (len >= magics[i].at + magics[i].len &&
            !memcmp(bytes + magics[i].at, magics[i].bytes, magics[i].len))
            return magics[i].mime;
    return NULL;
}

bool attach_is_url(const char *word)
{
    return !strncmp(word, "https://", 8) || !strncmp(word, "http://", 7);
}
