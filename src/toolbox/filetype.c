/* filetype.c - what a file is, by its first bytes */
#include "toolbox/filetype.h"

#include "base/utf8.h"
#include "toolbox/lines.h"

static const struct {
    size_t at;
    struct slice bytes;
    const char *type;
} rows[] = {
    { 0, SLICE_INIT("\x89PNG\r\n\x1a\n"), "image/png" },
    { 0, SLICE_INIT("\xff\xd8\xff"), "image/jpeg" },
    { 0, SLICE_INIT("GIF87a"), "image/gif" },
    { 0, SLICE_INIT("GIF89a"), "image/gif" },
    { 8, SLICE_INIT("WEBP"), "image/webp" },
    { 8, SLICE_INIT("WAVE"), "audio/wav" },
    { 0, SLICE_INIT("%PDF-"), "application/pdf" },
    { 0, SLICE_INIT("PK\x03\x04"), "application/zip" },
    { 0, SLICE_INIT("\x1f\x8b"), "application/gzip" },
    { 0, SLICE_INIT("\xfd" "7zXZ"), "application/x-xz" },
    { 0, SLICE_INIT("BZh"), "application/x-bzip2" },
    { 0, SLICE_INIT("\x28\xb5\x2f\xfd"), "application/zstd" },
    { 0, SLICE_INIT("\x7f" "ELF"), "application/x-elf" },
    { 0, SLICE_INIT("SQLite format 3"), "application/vnd.sqlite3" },
    { 0, SLICE_INIT("OggS"), "audio/ogg" },
    { 0, SLICE_INIT("ID3"), "audio/mpeg" },
    { 4, SLICE_INIT("ftyp"), "video/mp4" },
    { 257, SLICE_INIT("ustar"), "application/x-tar" },
};

const char *filetype_of(struct slice start)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (start.len >= rows[i].at &&
            slice_starts(slice_skip(start, rows[i].at), rows[i].bytes))
            return rows[i].type;
    if (!start.len)
        return "inode/x-empty";
    return lines_binary(start) ? "application/octet-stream" : "text/plain";
}

bool filetype_image(const char *type)
{
    return !strncmp(type, "image/", 6);
}
