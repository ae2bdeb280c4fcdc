/*
 * history.c - earlier lines of chats, in memory and in STATE/history
 *
 * The file has one entry per line; a line feed in it is written "\n", and a
 * backslash "\\".  Each entry is appended by one write, so that chats that run
 * at the same time do not mix them.  A file with too many entries is replaced
 * by a shorter one when it is read.
 */
#include "cli/history.h"

#include "cli/input.h"
#include "cli/settings.h"
#include "conf/file.h"
#include "conf/places.h"
#include "term/bytes.h"
#include "term/mem.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_ENTRIES = 10000,
    LONGEST = 64 * 1024,
    MOST_BYTES = 16 * 1024 * 1024
};

static struct {
    char **lines;
    size_t count, cap;
    char path[PLACES_PATH];
    off_t seen; /* how much of the file was read */
} history;

/* --------------------------------------------------------------- path --- */

static bool find_path(void)
{
    if (!settings_true("chat.history", true) ||
        !places_find(PLACE_STATE, "history", history.path))
        history.path[0] = '\0';
    return history.path[0] != '\0';
}

/* ------------------------------------------------------------ entries --- */

static const char *entry_at(size_t back)
{
    return back && back <= history.count ? history.lines[history.count - back]
                                         : NULL;
}

static void drop_oldest(size_t n)
{
    if (!n)
        return;
    for (size_t i = 0; i < n; i++)
        term_free(history.lines[i]);
    history.count -= n;
    memmove(history.lines, history.lines + n,
            history.count * sizeof *history.lines);
}

void history_add(const char *line)
{
    const char *last = entry_at(1);
    size_t len = strlen(line);
    if (!len || len > LONGEST || (last && !strcmp(last, line)))
        return;
    if (history.count == 2 * MOST_ENTRIES)
        drop_oldest(MOST_ENTRIES);
    if (history.count == history.cap) {
        history.cap = history.cap * 2 + 64;
        history.lines = term_resize(history.lines,
                                    history.cap * sizeof *history.lines);
    }
    history.lines[history.count++] = term_copy(line, len);
}

static void write_entry(struct bytes *out, const char *line)
{
    for (; *line; line++)
        if (*line == '\n' || *line == '\\')
            bytes_text(out, *line == '\n' ? "\\n" : "\\\\");
        else
            bytes_byte(out, *line);
    bytes_byte(out, '\n');
}

static void read_entry(const char *line, size_t len, struct bytes *entry)
{
    bytes_clear(entry);
    for (size_t i = 0; i < len; i++) {
        bool escaped = line[i] == '\\' && i + 1 < len;
        i += escaped;
        bytes_byte(entry, escaped && line[i] == 'n' ? '\n' : line[i]);
    }
    if (input_bytes_are_text(bytes_string(entry), entry->len))
        history_add(bytes_string(entry));
}

/* --------------------------------------------------------------- file --- */

/* False: not all was written. */
static bool write_file(const char *path, int flags, const struct bytes *bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
    if (fd < 0)
        return false; /* that is no reason to stop */
    ssize_t n = write(fd, bytes_string(bytes), bytes->len);
    close(fd);
    return n == (ssize_t)bytes->len;
}

/* Replace a file that has grown too long. */
static void shorten_file(void)
{
    char path[sizeof history.path + 8];
    struct bytes all = { NULL, 0, 0 };
    drop_oldest(history.count - MOST_ENTRIES);
    for (size_t i = 0; i < history.count; i++)
        write_entry(&all, history.lines[i]);
    snprintf(path, sizeof path, "%s.new", history.path);
    if (!write_file(path, O_TRUNC, &all) || rename(path, history.path))
        unlink(path);
    else
        history.seen = (off_t)all.len;
    bytes_release(&all);
}

/* Read what was appended since; of a file that is too long, the end. */
static void read_file(int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    if (size - history.seen > MOST_BYTES)
        history.seen = size - MOST_BYTES;
    if (size <= history.seen || lseek(fd, history.seen, SEEK_SET) < 0) {
        history.seen = size; /* it may have been replaced by a shorter one */
        return;
    }
    struct bytes all = { NULL, 0, 0 }, entry = { NULL, 0, 0 };
    char piece[8192];
    ssize_t n;
    while (all.len < MOST_BYTES && (n = read(fd, piece, sizeof piece)) > 0)
        bytes_add(&all, piece, (size_t)n);
    for (size_t at = 0; at < all.len;) {
        const char *end = memchr(all.ptr + at, '\n', all.len - at);
        size_t len = end ? (size_t)(end - all.ptr) - at : all.len - at;
        if (len <= LONGEST)
            read_entry(all.ptr + at, len, &entry);
        at += len + 1;
    }
    history.seen += (off_t)all.len;
    bytes_release(&entry);
    bytes_release(&all);
}

static void read_appended(void)
{
    int fd = open(history.path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    read_file(fd);
    close(fd);
}

void history_open(void)
{
    char folder[PLACES_PATH];
    if (!find_path())
        return;
    file_folders(history.path, folder);
    read_appended();
    if (history.count > MOST_ENTRIES + MOST_ENTRIES / 2)
        shorten_file();
}

/* Other chats may have appended lines. */
const char *history_line(void *ud, size_t back)
{
    (void)ud;
    if (back == 1)
        read_appended();
    return entry_at(back);
}

void history_record(const char *line)
{
    struct bytes entry = { NULL, 0, 0 };
    if (*line == ' ' || !strncmp(line, "/key", 4))
        return;
    const char *last = history_line(NULL, 1);
    if (!*line || strlen(line) > LONGEST || (last && !strcmp(last, line)))
        return;
    write_entry(&entry, line);
    if (!history.path[0] || !write_file(history.path, O_APPEND, &entry))
        history_add(line);
    bytes_release(&entry);
    read_appended();
}

void history_close(void)
{
    drop_oldest(history.count);
    term_free(history.lines);
    memset(&history, 0, sizeof history);
}
