/* completion_scripts.h - the files in completions/, which tools/embed-text
 * turns into strings */
#pragma once

extern const char completion_bash[], completion_zsh[], completion_fish[];
