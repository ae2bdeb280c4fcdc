/*
 * keyring.h - the keys that the user has stored: CONFIG/keys.json
 *
 *      { "openai": { "key": "..." },         stored
 *        "corp":   { "from": "env:CORP" } }  found when it is needed
 *
 * The file has mode 0600 and is rejected if others can read it.
 */
#pragma once

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
    KEYRING_COMMAND, /* the command failed, or took too long */
    KEYRING_UNUSABLE /* keys.json cannot be used */
};

/* Append the key of a name.  The caller wipes it. */
enum keyring_result keyring_find(const char *name, struct bytes *key);
/* Is there a key of this name, or where this reference says?  One that a
 * command prints counts as one. */
bool keyring_has(const char *name);
/* Append the key of "env:VARIABLE", "file:PATH" or "cmd:COMMAND": the first
 * line of the file, or of what the command prints. */
enum keyring_result keyring_follow(const char *from, struct bytes *key);
/* Is it "env:...", "file:..." or "cmd:..."? */
bool keyring_is_reference(const char *text);
/* Overwrite the bytes and free them. */
void keyring_wipe(struct bytes *key);

/* Does a word that should be the name of a key, or a reference to one, look
 * like the key itself, such as "env:sk-..."? */
bool keyring_looks_secret(const char *name);

/* Does the name of a flag, a variable, a member or a header say that its value
 * is secret? */
bool keyring_names_secret(const char *name, size_t len);

/* The strings of this value are a key, or say where one is: remember the
 * variables of "env:VARIABLE" and "${VARIABLE}". */
void keyring_note(const allm_json *value);
/* Does this variable hold a key?  Its name says so, or it was noted, or
 * keys.json names it. */
bool keyring_holds(const char *name);
