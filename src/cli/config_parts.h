/* config_parts.h - what the files of "allm config" share */
#pragma once

#include "cli/flags.h"
#include "conf/config.h"

struct config_flags {
    bool origin, json, project, show;
    struct flag_list digests;
    const char *file;
};

/* Each returns the exit code. */
int config_show(const struct config_flags *f);
int config_trust(const struct config_flags *f);
int config_untrust(char **argv);

/* A copy of a setting's value with *** for secrets; the caller frees it. */
allm_json *config_mask(const char *path, const allm_json *value);

/* Append an address: without its query, and *** for a name and a password. */
void config_mask_address(const char *text, struct bytes *out);

/* The path of the user's file.  False: an error was printed. */
bool config_own_file(char path[PLACES_PATH]);

/* Load a file that need not exist; false: an error was printed. */
bool config_load_text(const char *path, struct bytes *text);
/* Set a setting in a file, or remove it (json NULL).  Returns the exit code. */
int config_change(const char *path, const char *key, const char *json);

/* Replace a file if the text is fine.  Returns the exit code. */
int config_store(const char *path, const struct bytes *text, bool fine);
/* The user's editor. */
const char *config_editor(void);
/* Let the user edit a copy of the file, or of the text `first` if it is empty,
 * then store it.  Returns the exit code. */
int config_edit_file(const char *path, const char *first,
                     int (*store)(const char *path, const struct bytes *text));
