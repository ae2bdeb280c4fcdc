/* sqlite_lock.c - the leases of an SQLite store: locks of the system */
#define _GNU_SOURCE             /* F_OFD_SETLK */
#include "store/sqlite_lock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int sqlite_lock_open(const char *path, bool read_only)
{
    return open(path, (read_only ? O_RDONLY : O_RDWR | O_CREAT) | O_CLOEXEC,
                0600);
}

static struct flock lock_at(short type, int64_t id)
{
    return (struct flock){ .l_type = type, .l_whence = SEEK_SET,
                           .l_start = (off_t)id, .l_len = 1 };
}

bool sqlite_lock_take(int fd, int64_t id)
{
    struct flock l = lock_at(F_WRLCK, id);
    return fcntl(fd, F_OFD_SETLK, &l) == 0;
}

bool sqlite_lock_share(int fd, int64_t id)
{
    struct flock l = lock_at(F_RDLCK, id);
    return fcntl(fd, F_OFD_SETLK, &l) == 0;
}

void sqlite_lock_drop(int fd, int64_t id)
{
    struct flock l = lock_at(F_UNLCK, id);
    fcntl(fd, F_OFD_SETLK, &l);
}

bool sqlite_lock_is_taken(int fd, int64_t id)
{
    struct flock l = lock_at(F_WRLCK, id);
    return fcntl(fd, F_OFD_GETLK, &l) == 0 && l.l_type != F_UNLCK;
}

/* Column n of a line, from 0; "" if it has fewer. */
static const char *column(const char *line, int n)
{
    while (n-- > 0) {
        line += strcspn(line, " ");
        line += strspn(line, " ");
    }
    return line;
}

/*
 * The process of a line of /proc/locks, if it is about these bytes:
 *
 *      1: POSIX  ADVISORY  WRITE 4711 fe:00:10862981 120 120
 */
static long owner_of(const char *line, unsigned long long file, int64_t first,
                     int64_t last)
{
    const char *inode = column(line, 5), *colon = inode;
    for (size_t i = 0; i < strcspn(inode, " "); i++)
        if (inode[i] == ':')
            colon = inode + i + 1;
    long pid = strtol(column(line, 4), NULL, 10);
    long long from = strtoll(column(line, 6), NULL, 10);
    long long to = strtoll(column(line, 7), NULL, 10);
    return strtoull(colon, NULL, 10) == file && from <= last && first <= to &&
                   pid != (long)getpid()
               ? pid
               : 0;
}

/* Asking by fcntl() would need a descriptor, and closing that would drop the
 * locks that SQLite holds in this process; the system's list needs none. */
long sqlite_lock_owner(const char *path, int64_t first, int64_t last)
{
    char line[256];
    struct stat file;
    long owner = 0;
    FILE *locks = stat(path, &file) ? NULL : fopen("/proc/locks", "re");
    while (locks && owner <= 0 && fgets(line, sizeof line, locks))
        owner = owner_of(line, file.st_ino, first, last);
    if (locks)
        fclose(locks);
    return owner > 0 ? owner : 0;
}
