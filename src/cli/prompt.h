/* prompt.h - build the prompt: attachments, standard input, arguments */
#pragma once

#include "allm.h"
#include "cli/flags.h"
#include "cli/input.h"
#include "cli/taps.h"
#include "cli/target.h"
#include "cli/template_use.h"

/*
 * Append the user's message: the files, standard input (unless it is a
 * terminal), the arguments.  ALLM_OK; ALLM_AGAIN: the prompt is empty; < 0: an
 * error was printed.
 */
allm_status prompt_add(allm_thread *thread, int argc, char **argv,
                       const struct flag_list *files);
/* Append a message with this text and these files. */
allm_status prompt_add_text(allm_thread *thread, const char *text,
                            const struct flag_list *files);

enum { PROMPT_FILES = 64 };

/* Can this file or URL be attached?  False: an error was printed. */
bool prompt_can_attach(const char *path);
/* After an error: the number of files before the one that it is about, first
 * those of -a, then those of --at; all of them: it is about the text. */
size_t prompt_good_files(void);

/* The files of a prompt; each list may be NULL.  "-" is standard input, which
 * is then not part of the text. */
struct prompt_files {
    const struct flag_list *attached; /* -a: the content says what it is */
    const struct flag_list *typed;    /* --at: pairs of a file and its type */
    const struct flag_list *texts;    /* -f: fenced blocks before the text */
    /* With a template, $input is the standard input or, if nothing is piped,
     * the arguments.  What it does not use comes before it (the standard input)
     * and after it (the arguments).  NULL: none. */
    const struct template_use *template;
};

allm_status prompt_add_files(allm_thread *thread, int argc, char **argv,
                             const struct prompt_files *files);
/* Append a message with this text and the files of -a and --at. */
allm_status prompt_add_message(allm_thread *thread, const char *text,
                               const struct prompt_files *files);

/* Append a text as a fenced block with a name, and a blank line.  The fence is
 * longer than any run of backticks in the text. */
bool prompt_append_block(struct input *to, const char *name,
                         const struct input *text);

/*
 * Replace the images of the last message that are URLs by their bytes, if the
 * model's provider does not fetch them.  Without taps nothing may be fetched.
 * False: an error was printed.
 */
bool prompt_fetch_images(allm_thread **thread, const struct target *t,
                         struct taps *taps);
