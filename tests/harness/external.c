/* external.c - tests that start processes */
#define _XOPEN_SOURCE 700      /* nftw */
#include "harness/external.h"

#include <dirent.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

/* Next to the build's folder of tests. */
const char *external_warden(void)
{
    static char path[PATH_MAX + 32];
    char self[PATH_MAX];
    if (!getenv("ALLM_WARDEN")) {
        ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
        self[n > 0 ? n : 0] = 0;
        for (int i = 0; i < 2 && strrchr(self, '/'); i++)
            *strrchr(self, '/') = 0;
        snprintf(path, sizeof path, "%s/allm-warden", self);
        setenv("ALLM_WARDEN", path, 1);
    }
    return getenv("ALLM_WARDEN");
}

const char *external_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/allm-test-XXXXXX");
    return mkdtemp(folder);
}

static int remove_entry(const char *path, const struct stat *st, int kind,
                        struct FTW *ftw)
{
    (void)st, (void)kind, (void)ftw;
    return remove(path);
}

void external_clean(void)
{
    if (*folder)
        nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    *folder = 0;
}

const char *external_file(const char *name, const char *text)
{
    static char paths[4][160];
    static size_t next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    if (!f)
        return NULL;
    fputs(text, f);
    fclose(f);
    chmod(path, !strncmp(text, "#!", 2) ? 0755 : 0644);
    return path;
}

bool external_left(const char *prefix)
{
    bool found = false;
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));)
        found = found || !strncmp(e->d_name, prefix, strlen(prefix));
    if (dir)
        closedir(dir);
    return found;
}

static size_t count_entries(const char *path)
{
    size_t n = 0;
    DIR *dir = opendir(path);
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

struct external_count external_count(void)
{
    struct external_count c = { 0, count_entries("/proc/self/fd") };
    char text[4096];
    char path[64];
    DIR *dir = opendir("/proc/self/task");
    for (struct dirent *e; dir && (e = readdir(dir));) {
        snprintf(path, sizeof path, "/proc/self/task/%.20s/children",
                 e->d_name);
        FILE *f = fopen(path, "r");
        size_t n = f ? fread(text, 1, sizeof text, f) : 0;
        if (f)
            fclose(f);
        for (size_t i = 0; i < n; i++)
            c.children += text[i] == ' ';
    }
    if (dir)
        closedir(dir);
    return c;
}

bool external_same(struct external_count before)
{
    struct external_count now = external_count();
    return now.children == before.children &&
           now.descriptors == before.descriptors;
}
