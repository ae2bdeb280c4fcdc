/*
 * temp.c - temporary files next to the file that they will replace
 *
 *      notes.json                  the file that is to be replaced
 *      notes.json.1f0c99ab.tmp     its new bytes, until they are renamed
 *
 * A writer holds a lock on the temporary file until it is renamed; the system
 * releases it if the writer is killed.  So a file with such a name that is not
 * locked is left over.
 *
 * Another process may remove a new file before it is locked.  So a writer that
 * has locked one checks that it still exists, and otherwise creates another.
 */
#include "base/temp.h"

#include "base/lock.h"
#include "base/random.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAMES = 100, DIGITS = 8 };   /* to try, of a name */

/* False, with the descriptor closed, if another process removes the file. */
static bool claim_temp(int fd, const char *name)
{
    int error = lock_descriptor(fd);
    if (error != EWOULDBLOCK && lock_names(fd, name))
        return true;            /* on file systems without locks, too */
    close(fd);
    return false;
}

int temp_open(struct arena *a, const char *path, mode_t mode, const char **name)
{
    for (int i = 0; i < NAMES; i++) {
        struct buf b = buf_in(a, SIZE_MAX / 2);
        buf_format(&b, "%s.%08llx.tmp", path,
                   (unsigned long long)random_below(random_system(),
                                                    1ULL << 32));
        *name = b.ptr;
        if (b.broken) {
            errno = ENOMEM;
            return -1;
        }
        int fd = open(b.ptr, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST)
            return fd;
        if (fd >= 0 && claim_temp(fd, b.ptr))
            return fd;
    }
    errno = EEXIST;
    return -1;
}

/* ---------------------------------------------------------- left over --- */

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* Is this the name of a temporary file of that file? */
static bool is_temp_of(struct slice entry, struct slice file)
{
    if (!slice_starts(entry, file) ||
        entry.len != file.len + 1 + DIGITS + strlen(".tmp"))
        return false;
    entry = slice_skip(entry, file.len);
    for (size_t i = 1; i <= DIGITS; i++)
        if (!is_hex(entry.ptr[i]))
            return false;
    return *entry.ptr == '.' && slice_is(slice_skip(entry, 1 + DIGITS), ".tmp");
}

static void remove_left_over(const char *name)
{
    struct stat info;
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
        lock_descriptor(fd) == 0 && lock_names(fd, name))
        unlink(name);
    close(fd);
}

void temp_sweep(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) + 1 : 0;
    struct slice file = slice_skip(slice_of(path), len);
    const char *folder = len ? arena_copy(a, (struct slice){ path, len }) : ".";
    DIR *d = folder ? opendir(folder) : NULL;
    struct dirent *e;
    while (d && (e = readdir(d))) {
        if (!is_temp_of(slice_of(e->d_name), file))
            continue;
        struct buf name = buf_in(a, SIZE_MAX / 2);
        buf_format(&name, "%.*s%s", (int)len, path, e->d_name);
        if (!name.broken)
            remove_left_over(name.ptr);
    }
    if (d)
        closedir(d);
}
