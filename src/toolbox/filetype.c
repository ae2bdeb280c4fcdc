/* filetype.c - what a file is, by its first bytes */
#include "toolbox/filetype.h"

#include "base/utf8.h"
#include "toolbox/lines.h"

enum { CUT_AFTER = 1024 };     /* where the last character may be incomplete */

static const struct {
    size_t at;
    struct slice bytes;
    const char *type;
    bool as_text;               /* a text may begin like this, too */
} rows[] = {
    { 0, SLICE_INIT("\x89PNG\r\n\x1a\n"), "image/png", false },
    { 0, SLICE_INIT("\xff\xd8\xff"), "image/jpeg", false },
    { 0, SLICE_INIT("GIF87a"), "image/gif", false },
    { 0, SLICE_INIT("GIF89a"), "image/gif", false },
    { 8, SLICE_INIT("WEBP"), "image/webp", true },
    { 8, SLICE_INIT("WAVE"), "audio/wav", true },
    { 0, SLICE_INIT("%PDF-"), "application/pdf", false },
    { 0, SLICE_INIT("PK\x03\x04"), "application/zip", false },
    { 0, SLICE_INIT("\x1f\x8b"), "application/gzip", false },
    { 0, SLICE_INIT("\xfd" "7zXZ"), "application/x-xz", false },
    { 0, SLICE_INIT("BZh"), "application/x-bzip2", true },
    { 0, SLICE_INIT("\x28\xb5\x2f\xfd"), "application/zstd", false },
    { 0, SLICE_INIT("\x7f" "ELF"), "application/x-elf", false },
    { 0, SLICE_INIT("SQLite format 3"), "application/vnd.sqlite3", true },
    { 0, SLICE_INIT("OggS"), "audio/ogg", true },
    { 0, SLICE_INIT("ID3"), "audio/mpeg", true },
    { 4, SLICE_INIT("ftyp"), "video/mp4", true },
    { 257, SLICE_INIT("ustar"), "application/x-tar", false },
};

static bool is_text(struct slice start)
{
    size_t bad = 0;
    return !lines_binary(start) && (utf8_valid(start, &bad) || bad > CUT_AFTER);
}

const char *filetype_of(struct slice start)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (start.len >= rows[i].at &&
            slice_starts(slice_skip(start, rows[i].at), rows[i].bytes) &&
            !(rows[i].as_text && is_text(start)))
            return rows[i].type;
    if (!start.len)
        return "inode/x-empty";
    return lines_binary(start) ? "application/octet-stream" : "text/plain";
}

bool filetype_image(const char *type)
{
    return !strncmp(type, "image/", 6);
}
