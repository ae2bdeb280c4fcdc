/* forms.c - fill in a form of an MCP server on the terminal */
#include "cli/forms.h"

#include "cli/print.h"
#include "cli/question.h"
#include "cli/question_form.h"

static void add_form_title(struct bytes *title, const allm_elicitation *form)
{
    const char *server = allm_elicitation_server(form);
    const char *message = allm_elicitation_message(form);
    bytes_text(title, server ? server : "a server");
    bytes_text(title, " asks: ");
    bytes_text(title, message ? message : "");
}

/* Ask for the values until they fit, or the user leaves. */
static void fill_form(allm_elicitation *form, const char *title)
{
    const struct question q = { .title = title };
    allm_status status = ALLM_ERR_VALIDATION;
    while (status == ALLM_ERR_VALIDATION) {
        allm_json *content = question_form_fill(&q,
                                                allm_elicitation_schema(form));
        if (!content)
            return;
        status = allm_elicitation_accept(form, content);
        const allm_error *error = allm_elicitation_error(form);
        if (status == ALLM_ERR_VALIDATION)
            print_note("  (%s)", error ? error->message : "it does not fit");
        allm_json_free(content);
    }
}

void forms_ask(allm_elicitation *form)
{
    static const struct question_choice choices[] = {
        { 'a', "[a]nswer" },
        { 'd', "[d]ecline" },
        { 'l', "[l]ater" },
    };
    struct bytes title = { NULL, 0, 0 };
    add_form_title(&title, form);
    const struct question q = { .title = bytes_string(&title),
                                .count = sizeof choices / sizeof *choices,
                                .choices = choices };
    int choice = question_choose(&q);
    if (choice == 0)
        fill_form(form, bytes_string(&title));
    else if (choice == 1)
        allm_elicitation_decline(form);
    else if (choice == 2)
        allm_elicitation_later(form);
    bytes_release(&title);
}
