/*
 * trusted.h - what a project's file may do, before and after trust
 *
 * STATE/trusted is a JSON object: the path of a file, and the SHA-256 of the
 * content that the user trusts.
 */
#pragma once

#include "allm.h"
#include "term/bytes.h"

/* Does the user trust exactly this content of the file? */
bool trusted_knows(const char *path, const struct bytes *content);
/* Trust it; content NULL: no longer.  Returns 0 or an errno; ENOENT: there is
 * no home directory. */
int trusted_set(const char *path, const struct bytes *content);

/*
 * The part of a project's file that counts; the caller frees it.  `users` are
 * the settings of the layers below.  *waiting counts the settings that need
 * trust, *refused those that a project may never set.
 */
allm_json *trusted_part(const allm_json *value, const allm_json *users,
                        bool trusted, size_t *waiting, size_t *refused);

/* Do these options of a model name an address, or may they? */
bool trusted_sets_address(const allm_json *options);
