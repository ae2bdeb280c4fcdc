/*
 * keyring.h - the keys that the user has stored: CONFIG/keys.json
 *
 *      { "openai": { "key": "..." },         stored
 *        "corp":   { "from": "env:CORP" } }  found when it is needed
 *
 * The file has mode 0600 and is rejected if others can read it.
 */
#ifndef CONF_KEYRING_H
#define CONF_KEYRING_H

#include "allm.h"
#include "term/bytes.h"

/* The file, which the caller frees; NULL: *error is 0 if there is none, else an
 * errno.  EBADMSG: it is not an object of this form. */
allm_json *keyring_load(int *error);

/* Set or remove (key and from NULL) a key.  Returns 0 or an errno; EXDEV: there
 * is no home directory. */
int keyring_set(const char *name, const char *key, const char *from);

enum keyring_result {
    KEYRING_FOUND,
    KEYRING_NONE,    /* there is no key of this name */
    KEYRING_EMPTY,   /* the variable or the file has none, or is missing */
    KEYRING_COMMAND, /* "cmd:": not yet */
    KEYRING_UNUSABLE /* keys.json cannot be used */
};

/* Append the key of a name.  The caller wipes it. */
enum keyring_result keyring_find(const char *name, struct bytes *key);
/* Append the key of "env:VARIABLE" or "file:PATH" (its first line). */
enum keyring_result keyring_follow(const char *from, struct bytes *key);
/* Is it "env:...", "file:..." or "cmd:..."? */
bool keyring_is_reference(const char *text);
/* Overwrite the bytes and free them. */
void keyring_wipe(struct bytes *key);

/* Does a word that should be the name of a key look like the key itself? */
bool keyring_looks_secret(const char *name);

#endif
