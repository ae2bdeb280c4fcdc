/*
 * partial.c - parse the arguments of a tool call while they arrive
 *
 * A model sends the arguments of a call in pieces that end anywhere.  After
 * each piece, allm_json_partial() returns what is known so far, so a program
 * can show the city before the dates arrive.
 */
#include <allm.h>
#include <stdio.h>
#include <string.h>

static const char *const pieces[] = {
    "{\"ci",     "ty\": \"Fre", "iburg\"", ", \"days\": 1",
    "4, \"part", "y\": [\"An",  "na\", \"B", "en\"]", "}",
};

/* Print the value so far; false if the text can never become JSON. */
static bool show(const char *piece, const char *text, size_t len)
{
    bool complete = false;
    allm_json *value = allm_json_partial(text, len, &complete);
    allm_text *so_far = allm_json_write(value, 0);
    const allm_error *error = allm_json_error(value);
    if (!error)
        error = allm_text_error(so_far);

    printf("%-14s  %s%s\n", piece,
           error ? error->message : allm_text_bytes(so_far, NULL),
           complete ? "  complete" : "");
    bool good = !error;
    allm_text_free(so_far);
    allm_json_free(value);
    return good;
}

int main(void)
{
    char text[256];
    size_t len = 0;

    printf("%-14s  %s\n", "piece", "understood so far");
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        size_t n = strlen(pieces[i]);
        memcpy(text + len, pieces[i], n);
        len += n;
        if (!show(pieces[i], text, len))
            return 1;
    }

    printf("\nand a text that cannot become JSON, whatever may follow:\n");
    return show("{\"days\": 1x", "{\"days\": 1x", 11) ? 1 : 0;
}
