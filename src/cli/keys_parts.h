/* keys_parts.h - what "allm keys" does beyond the list; each function returns
 * the exit code */
#pragma once

/* Print why keys.json cannot be used. */
int keys_report(int error);
/* The arguments are the name; `from` is "env:V", "file:P" or NULL. */
int keys_set(const char *from, char **argv);
int keys_remove(char **argv);
/* Without a name: every provider that has a key. */
int keys_test(char **argv);
