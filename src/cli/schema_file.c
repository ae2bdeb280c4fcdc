/* schema_file.c - the JSON Schema that answers must fit: --schema */
#include "cli/schema_file.h"

#include "cli/exit.h"
#include "cli/input.h"
#include "cli/print.h"
#include "cli/schema_words.h"
#include "cli/template_use.h"

#include <string.h>
#include <unistd.h>

enum { DEEPEST = 8 }; /* templates that refer to templates */

static allm_json *load_schema(const char *word, int depth);

/* The schema of a header: an object, or a word. */
static allm_json *load_header(const allm_json *schema, int depth)
{
    const char *word = allm_json_text(schema, NULL);
    return word ? load_schema(word, depth) : allm_json_copy(schema);
}

/* The schema of a template. */
static allm_json *load_template(const char *name, int depth)
{
    struct template_file t = { .header = NULL };
    allm_json *document = NULL;
    if (template_use_load(&t, name) == END_DONE) {
        const allm_json *schema = allm_json_get(t.header, "schema");
        if (schema)
            document = load_header(schema, depth + 1);
        else
            print_fault("the template %.500s has no schema", t.path);
    }
    template_release(&t);
    return document;
}

/* A template, a file, or the short form: a word that is no file and no
 * path. */
static allm_json *load_schema(const char *word, int depth)
{
    if (*word == '@' && depth == DEEPEST) {
        print_fault("the schema %.100s refers to itself", word);
        return NULL;
    }
    if (*word == '@')
        return load_template(word + 1, depth);
    bool file = !access(word, F_OK) || strpbrk(word, "/.") ||
                !strcmp(word, "-");
    return file ? input_json(word) : schema_words_read(word);
}

static bool make_format(const char *name, const allm_json *document,
                        allm_json **format)
{
    allm_json_schema *schema = allm_json_schema_new(document);
    const allm_error *error = allm_json_schema_error(schema);
    if (error)
        print_fault("%s is not a JSON Schema: %s", name, error->message);
    else
        *format = allm_request_json_schema("answer", document, true);
    allm_json_schema_free(schema);
    return *format != NULL;
}

bool schema_file_choose(const char *word, const allm_json *header,
                        allm_json **format)
{
    *format = NULL;
    if (!word && !header)
        return true;
    allm_json *document = word ? load_schema(word, 0) : load_header(header, 0);
    bool ok = document &&
              make_format(word ? word : "the schema of the template", document,
                          format);
    allm_json_free(document);
    return ok;
}
