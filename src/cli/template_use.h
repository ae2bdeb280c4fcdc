/*
 * template_use.h - the template of a call: -t NAME, -p K V
 *
 * A command opens it once, uses its header below its own flags, and fills it
 * for each prompt:
 *
 *      header      members model, system, schema, tools, options, attach and
 *                  extract; flags override them
 */
#pragma once

#include "cli/extract.h"
#include "cli/flags.h"
#include "conf/template.h"

/* { .loaded = false } is none. */
struct template_use {
    bool loaded;
    bool named; /* by -t, not by a setting */
    struct template_file file;
    allm_json *params; /* of -p, an object */
    struct bytes system;
};

/*
 * Open the template of a word: a name, a path with a "/", "none"; NULL: that of
 * the setting `template`, if there is one.  pairs are names and values of
 * parameters; a value @FILE is read from that file.  Returns the exit code.
 */
int template_use_open(struct template_use *u, const char *word,
                      const struct flag_list *pairs);
/* Read only the parameters.  Returns the exit code. */
int template_use_params(struct template_use *u, const struct flag_list *pairs);
void template_use_release(struct template_use *u);

/* Append the prompt for this input; NULL: there is none.  False: parameters are
 * missing, and all of them were listed. */
bool template_use_fill(const struct template_use *u, const char *input,
                       size_t len, struct bytes *out);

/* Keys of the header; NULL if it is not set, or there is no template. */
const char *template_use_text(const struct template_use *u, const char *key);
const allm_json *template_use_value(const struct template_use *u,
                                    const char *key);
enum extract template_use_extract(const struct template_use *u);
/* Replace the placeholders of the system prompt.  False: parameters are
 * missing, and all of them were listed. */
bool template_use_fill_system(struct template_use *u);
/* What that made; NULL: there is none. */
const char *template_use_system(const struct template_use *u);

/* Load a template by its name or path, and print what is wrong with it.
 * Returns the exit code; the caller releases t. */
int template_use_load(struct template_file *t, const char *word);
/* Print a notice about a template. */
void template_use_notice(void *ud, const struct notice *n);
