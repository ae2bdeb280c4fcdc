/*
 * template.h - prompts in files, with a header and placeholders
 *
 *      ---
 *      model: openai:gpt-4.1-mini
 *      params: {"language": {"default": "English", "description": "..."}}
 *      ---
 *      Translate into $language:
 *      $input
 *
 * A line of the header is a key and its value: plain text or JSON.  The rest is
 * the body.  The placeholders are $input, $name and ${name}; $$ is a dollar
 * sign.  A dollar sign before anything else, or at the end, is itself.
 *
 * The directories are CONFIG/templates and, if its files are trusted, the
 * project's .allm/templates.
 */
#pragma once

#include "allm.h"
#include "conf/notice.h"
#include "conf/places.h"
#include "term/bytes.h"

/* { .body = { NULL, 0, 0 } } is a template that was not loaded. */
struct template_file {
    char path[PLACES_PATH];
    allm_json *header; /* an object with the keys that are set: model, system
                          and extract (first, last, all) are strings; tools and
                          attach are lists of strings; options and params are
                          objects; schema is a string or an object */
    struct bytes body; /* without line ends behind it */
};

/* The values of placeholders. */
struct template_values {
    const allm_json *params; /* an object, or NULL; what is not a string is
                                written as JSON */
    const char *input;       /* of $input; NULL: none */
    size_t input_len;
};

/* The keys of a header, in the order of the manual; NULL: no more. */
const char *template_key_at(size_t index);

/* Is it the name of a template, and not of a file? */
bool template_is_name(const char *word);

/*
 * Find the file of a word: a path if it has a "/", else the name of a template
 * in the user's directory or in the project's.  *project: it is in the latter,
 * or below it.  False: there is none.
 */
bool template_find(const char *word, char path[PLACES_PATH], bool *project);
/* The path of the user's template of this name, which need not exist; NULL is
 * the directory.  False: there is no home directory, or it is not a name. */
bool template_users_path(const char *name, char path[PLACES_PATH]);
/* The project's directory of templates; false: there is none. */
bool template_projects_path(char path[PLACES_PATH]);

/* Does the user trust exactly this content of a project's template? */
bool template_is_trusted(const char *path);

/* Load a file that template_find() found.  What is wrong with it is reported;
 * false: it cannot be used.  The caller releases t in both cases. */
bool template_load(struct template_file *t, const char *path, bool project,
                   notice_fn report, void *ud);
/* The same for a text; `name` is for messages. */
bool template_parse(struct template_file *t, const char *name,
                    const struct bytes *text, notice_fn report, void *ud);
void template_release(struct template_file *t);

/* A key of the header that is a string; NULL: it is not set, or no string. */
const char *template_text(const struct template_file *t, const char *key);
/* Does the body have this placeholder? */
bool template_uses(const struct template_file *t, const char *name);

/*
 * Append the body with its placeholders replaced, each value once and as it
 * is.  False: values are missing, and `out` got their names instead, separated
 * by ", ".
 */
bool template_fill(const struct template_file *t,
                   const struct template_values *v, struct bytes *out);
/* The same for the system prompt; nothing if there is none. */
bool template_fill_system(const struct template_file *t,
                          const struct template_values *v, struct bytes *out);
/* Append a line "  NAME  DESCRIPTION (default: X)" for each parameter: those of
 * the header, then those that only the body has. */
void template_describe(const struct template_file *t, struct bytes *out);

/* Append the text of a template: a header, if it has members, and a body. */
void template_write(const allm_json *header, const char *body,
                    struct bytes *out);
