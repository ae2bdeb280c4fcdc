/*
 * settings.h - the settings of the user, for the commands
 *
 * The files and variables are read when the first function is called, once.
 * What is wrong with them is printed then.  A flag overrides a setting: the
 * command checks its flag first.
 */
#pragma once

#include "conf/config.h"

/* --config FILE; before anything else. */
void settings_use(const char *file);

/* END_DONE, or END_USAGE if a file cannot be used: an error was printed. */
int settings_open(void);
const struct config *settings_config(void);

/* The value of a setting, such as "output.color", valid until the program ends;
 * NULL: it is not set. */
const allm_json *settings_value(const char *path);
const char *settings_text(const char *path);

/* The same by type; `standard` is returned if it is not set. */
bool settings_true(const char *path, bool standard);
uint32_t settings_count(const char *path, uint32_t standard);
double settings_number(const char *path, double standard);
/* A time in milliseconds. */
uint32_t settings_ms(const char *path, uint32_t standard);

/* The path that a setting has: "~" is the home, and a relative path of a
 * project's file begins in its folder.  False: too long. */
bool settings_path(const char *setting, const char *word,
                   char path[PLACES_PATH]);

/* Print a notice about a file of settings. */
void settings_notice(void *ud, const struct notice *notice);
/* The same about another file; the hint is that of suggest.h, or "". */
void settings_print(const struct notice *notice, const char *hint);
/* The hint for an unknown setting; valid until the next one. */
const char *settings_hint(const char *path);
