/* completion_scripts.h - the files in completions/, which tools/embed-text
 * turns into strings */
#ifndef CLI_COMPLETION_SCRIPTS_H
#define CLI_COMPLETION_SCRIPTS_H

extern const char completion_bash[], completion_zsh[], completion_fish[];

#endif
