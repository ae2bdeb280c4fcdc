/*
 * external.h - tests that start processes: the warden, and what is left behind
 *
 *      struct external_count before = external_count();
 *      ...
 *      CHECK_ALWAYS(external_same(before));
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The path of the warden of this build; it is also in ALLM_WARDEN. */
const char *external_warden(void);

/* A new folder for one test, with a link-free path; static. */
const char *external_folder(void);
/* Remove the folder with all that it contains. */
void external_clean(void);
/* Write a file in it, executable if it begins with "#!"; returns its path,
 * which is static until the next but three. */
const char *external_file(const char *name, const char *text);

/* Is there an entry in it whose name begins like this? */
bool external_left(const char *prefix);

/* Children and open descriptors of this process. */
struct external_count {
    size_t children, descriptors;
};
struct external_count external_count(void);
bool external_same(struct external_count before);
