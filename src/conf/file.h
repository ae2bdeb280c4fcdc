/* file.h - the program's own files: small, private, written atomically */
#pragma once

#include "conf/places.h"
#include "term/bytes.h"

#include "allm.h"

enum {
    FILE_LIMIT = 4 * 1024 * 1024, /* a file of settings is never longer */
    FILE_NO_LINKS = 1 << 0,       /* reject a symbolic link: ELOOP */
    FILE_PRIVATE = 1 << 1         /* reject a file that others can read:
                                     EPERM */
};

/* Append the whole file.  Returns 0 or an errno: EISDIR, EFBIG, ENOTSUP for
 * what is no regular file, ... */
int file_load(const char *path, unsigned flags, struct bytes *out);

/*
 * Replace a file, or create it and the directories above it: mode 0600 and
 * 0700.  A link is followed.  Readers see the old bytes or the new ones.
 * Returns 0 or an errno, and then nothing has changed.
 */
int file_store(const char *path, const char *bytes, size_t len);
/* The same for a JSON document. */
int file_store_json(const char *path, const allm_json *value);

/* Create the directories above a file, mode 0700.  Returns 0 or an errno, and
 * then `folder` is the one that cannot be created. */
int file_folders(const char *path, char folder[PLACES_PATH]);

/*
 * Let no other process of ours change the files of this one's folder until the
 * descriptor is closed; -1: there is no such folder, or it has no locks.  With
 * `creates` the folder is created.
 */
int file_lock(const char *path, bool creates);

/* The path without links and dots; false: there is no such file. */
bool file_real(const char *path, char real[PLACES_PATH]);

/* What an errno means: "it is a directory". */
const char *file_says(int error);
