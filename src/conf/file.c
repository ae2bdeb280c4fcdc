/* file.c - the program's own files: small, private, written atomically */
#define _XOPEN_SOURCE 700 /* for realpath() */
#include "conf/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse_mode(int fd, unsigned flags)
{
    struct stat about;
    if (fstat(fd, &about))
        return errno;
    if (S_ISDIR(about.st_mode))
        return EISDIR;
    if (!S_ISREG(about.st_mode))
        return ENOTSUP;
    if (about.st_size > FILE_LIMIT)
        return EFBIG;
    return flags & FILE_PRIVATE && about.st_mode & 077 ? EPERM : 0;
}

static int read_open_file(int fd, struct bytes *out)
{
    char piece[16384];
    for (;;) {
        ssize_t n = read(fd, piece, sizeof piece);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n == 0)
            return 0;
        if (n > 0)
            bytes_add(out, piece, (size_t)n);
        if (out->len > FILE_LIMIT)
            return EFBIG;
    }
}

int file_load(const char *path, unsigned flags, struct bytes *out)
{
    int links = flags & FILE_NO_LINKS ? O_NOFOLLOW : 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | links);
    if (fd < 0)
        return errno;
    int error = refuse_mode(fd, flags);
    if (!error)
        error = read_open_file(fd, out);
    close(fd);
    return error;
}

int file_folders(const char *path, char folder[PLACES_PATH])
{
    if (snprintf(folder, PLACES_PATH, "%s", path) >= PLACES_PATH)
        return ENAMETOOLONG;
    for (char *at = folder + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        if (mkdir(folder, 0700) && errno != EEXIST)
            return errno;
        *at = '/';
    }
    return 0;
}

static int write_open_file(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno != EINTR)
            return errno;
        bytes += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return fsync(fd) ? errno : 0;
}

static int write_beside(const char *path, const char *bytes, size_t len)
{
    char temp[PLACES_PATH];
    if (snprintf(temp, sizeof temp, "%s.XXXXXX", path) >= PLACES_PATH)
        return ENAMETOOLONG;
    int fd = mkstemp(temp); /* mode 0600 */
    if (fd < 0)
        return errno;
    int error = write_open_file(fd, bytes, len);
    if (close(fd) && !error)
        error = errno;
    if (!error && rename(temp, path))
        error = errno;
    if (error)
        unlink(temp);
    return error;
}

int file_store(const char *path, const char *bytes, size_t len)
{
    char real[PATH_MAX], folder[PLACES_PATH];
    int error = file_folders(path, folder);
    if (error)
        return error;
    return write_beside(realpath(path, real) ? real : path, bytes, len);
}

int file_store_json(const char *path, const allm_json *value)
{
    size_t len;
    allm_text *text = allm_json_write(value, ALLM_JSON_PRETTY);
    const char *bytes = allm_text_bytes(text, &len);
    int error = bytes ? file_store(path, bytes, len) : ENOMEM;
    allm_text_free(text);
    return error;
}

int file_lock(const char *path, bool creates)
{
    char folder[PLACES_PATH];
    const char *slash = strrchr(path, '/');
    if (creates)
        file_folders(path, folder);
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1,
             slash ? path : ".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        flock(fd, LOCK_EX);
    return fd;
}

bool file_real(const char *path, char real[PLACES_PATH])
{
    char found[PATH_MAX];
    return realpath(path, found) &&
           snprintf(real, PLACES_PATH, "%s", found) < PLACES_PATH;
}

const char *file_says(int error)
{
    switch (error) {
    case EISDIR:
        return "it is a directory";
    case ENOTSUP:
        return "it is not a regular file";
    case EFBIG:
        return "it is larger than 4 MiB";
    case ELOOP:
        return "it is a symbolic link";
    case EPERM:
        return "others can read it; use chmod 600";
    default:
        return strerror(error);
    }
}
