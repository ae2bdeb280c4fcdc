/*
 * replay.c - feed the files of a corpus to a fuzz target, without a fuzzer
 *
 * usage: replay_NAME FOLDER-OR-FILE...
 *
 * Each file is one test: it passes when the target returns.  The name of the
 * file is printed first, in case the target crashes.  The bytes are passed in a
 * block of exactly their size, so a sanitizer finds reads beyond the end.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int passed, failed;

/* Print why a file cannot be replayed. */
static void refuse(const char *path, const char *why)
{
    printf("not ok - %s: %s\n", path, why);
    failed++;
}

static void replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size ? size : 1);
    if (!file || !data || fread(data, 1, size, file) != size) {
        refuse(path, "cannot be read");
    } else {
        printf("ok - %s\n", path);
        fflush(stdout);
        LLVMFuzzerTestOneInput(data, size);
        passed++;
    }
    free(data);
    if (file)
        fclose(file);
}

static void replay(const char *path);

static void replay_folder(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir) {
        refuse(path, "cannot be opened");
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        char inner[4096];
        snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
        replay(inner);
    }
    closedir(dir);
}

static void replay(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        refuse(path, "is not there");
    else if (S_ISDIR(info.st_mode))
        replay_folder(path);
    else
        replay_file(path, (size_t)info.st_size);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
