/* schema_file.c - the JSON Schema that answers must fit: --schema */
#include "cli/schema_file.h"

#include "cli/input.h"
#include "cli/print.h"

bool schema_file_read(const char *path, allm_json **format)
{
    *format = NULL;
    if (!path)
        return true;
    allm_json *document = input_json(path);
    if (!document)
        return false;
    allm_json_schema *schema = allm_json_schema_new(document);
    const allm_error *error = allm_json_schema_error(schema);
    if (error)
        print_fault("%s is not a JSON Schema: %s", path, error->message);
    else
        *format = allm_request_json_schema("answer", document, true);
    allm_json_schema_free(schema);
    allm_json_free(document);
    return *format != NULL;
}
