/*
 * chat_template.c - the template of a chat: -t NAME, /template NAME
 *
 * Its header counts for the chat, its text for each prompt: $input is the line.
 */
#include "cli/chat_state.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/schema_file.h"

#include <stdio.h>
#include <string.h>

static bool attach_files(struct chat *c)
{
    const allm_json *list = template_use_value(&c->template, "attach");
    for (const allm_json *f = NULL; (f = allm_json_next(list, f));)
        if (!chat_commands_attach(c, allm_json_text(f, NULL)))
            return false;
    return true;
}

int chat_template_open(struct chat *c, const char *word,
                       const struct flag_list *pairs)
{
    struct template_use t;
    allm_json *format = NULL;
    int code = template_use_open(&t, word, pairs);
    if (code == END_DONE &&
        (!template_use_fill_system(&t) ||
         !schema_file_choose(c->ask->schema, template_use_value(&t, "schema"),
                             &format)))
        code = END_USAGE;
    if (code != END_DONE) {
        template_use_release(&t);
        return code;
    }
    template_use_release(&c->template);
    allm_json_free(c->format);
    c->template = t;
    c->format = format;
    return attach_files(c) ? END_DONE : END_USAGE;
}

bool chat_template_fill(const struct chat *c, const char *line,
                        struct bytes *prompt)
{
    const struct template_use *t = &c->template;
    bool uses = t->loaded && template_uses(&t->file, "input");
    if (t->loaded && !template_use_fill(t, line, strlen(line), prompt))
        return false;
    if (prompt->len && !uses)
        bytes_text(prompt, "\n\n");
    if (!uses)
        bytes_text(prompt, line);
    return true;
}

/* The model, the options and the system prompt of the header. */
static void apply_header(struct chat *c)
{
    const char *system = template_use_system(&c->template);
    const char *model = template_use_text(&c->template, "model");
    if (model)
        chat_model_change(c, model);
    else
        chat_model_choose(c, NULL);
    if (system)
        session_set_system(&c->session, system);
}

void chat_template_change(struct chat *c, const char *rest)
{
    char text[4096];
    char *words[CHAT_WORDS];
    struct flag_list pairs = { .count = 0 };
    snprintf(text, sizeof text, "%s", rest);
    int count = chat_commands_split(text, words);
    for (int i = 1; i < count; i++)
        pairs.word[pairs.count++] = words[i];
    if (!count)
        print_note("%s", c->template.loaded ? c->template.file.path
                                            : "(no template is used)");
    else if (pairs.count % 2)
        print_fault("a parameter needs a name and a value: /template NAME "
                    "to French");
    else if (chat_template_open(c, words[0], &pairs) == END_DONE)
        apply_header(c);
}
