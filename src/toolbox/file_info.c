/* file_info.c - the tool file_info: what a file or a folder is */
#define _GNU_SOURCE             /* O_PATH */
#include "base/sha256.h"
#include "toolbox/builtin.h"
#include "toolbox/filetype.h"
#include "toolbox/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 64 * 1024 };

static const char *kind_word(mode_t mode)
{
    return S_ISREG(mode)    ? "file"
           : S_ISDIR(mode)  ? "folder"
           : S_ISFIFO(mode) ? "pipe"
           : S_ISSOCK(mode) ? "socket"
           : S_ISLNK(mode)  ? "link"
                            : "device";
}

static void add_time(struct buf *out, const char *name, time_t when)
{
    struct tm tm;
    char text[40];
    if (gmtime_r(&when, &tm) &&
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm))
        buf_format(out, "%s: %s\n", name, text);
}

/* What its bytes say.  0 or an errno. */
static int add_contents(struct builtin_call *c, int fd)
{
    struct sha256 sum;
    char hex[SHA256_HEX + 1], *chunk = arena_alloc(&c->arena, CHUNK);
    uint64_t ends = 0, total = 0;
    char last = '\n';
    const char *type = "inode/x-empty";
    ssize_t n = 0;
    sha256_init(&sum);
    while (chunk && !builtin_stopped(c) && (n = read(fd, chunk, CHUNK)) > 0) {
        struct slice bytes = { chunk, (size_t)n };
        if (!total)
            type = filetype_of(bytes);
        ends += lines_ends(bytes);
        last = chunk[n - 1];
        total += (uint64_t)n;
        sha256_add(&sum, bytes);
    }
    if (!chunk || n < 0)
        return chunk ? errno : ENOMEM;
    sha256_done_hex(&sum, hex);
    if (!strcmp(type, "text/plain"))
        buf_format(&c->out, "lines: %llu\n",
                   (unsigned long long)ends + (last != '\n'));
    buf_format(&c->out, "sha256: %s\ntype: %s\n", hex, type);
    return 0;
}

void file_info_run(struct builtin_call *c)
{
    const char *path = builtin_text(c, "path", "");
    struct stat st;
    int fd, error = root_open(&c->root, path, O_PATH, &fd);
    if (!error && fstat(fd, &st))
        error = errno;
    if (fd >= 0)
        close(fd);
    if (!error) {
        buf_format(&c->out, "path: %s\nkind: %s\nsize: %lld\nmode: %04o\n",
                   path, kind_word(st.st_mode), (long long)st.st_size,
                   (unsigned)(st.st_mode & 07777));
        add_time(&c->out, "modified", st.st_mtime);
        add_time(&c->out, "changed", st.st_ctime);
        add_time(&c->out, "accessed", st.st_atime);
    }
    if (!error && S_ISREG(st.st_mode)) {
        error = root_open_file(&c->root, path, &fd, &st);
        if (!error) {
            error = add_contents(c, fd);
            close(fd);
        }
    }
    if (error)
        builtin_path_fault(c, path, error);
    else
        builtin_answer(c);
}
