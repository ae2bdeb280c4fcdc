/*
 * chat_question.c - a question of the model, in a chat
 *
 * A question with choices (metadata.ask_user_opts.choices) is answered by a
 * number, one with a schema by a value that fits.  Any other is shown, and the
 * next line of the chat is the answer; so is it if the user leaves a question.
 */
#include "cli/chat_state.h"
#include "cli/print.h"
#include "cli/question_form.h"
#include "conf/member.h"

enum { MOST_CHOICES = 50 };

static const allm_json *option_of(const struct chat *c, const char *key)
{
    const allm_json *metadata =
        allm_session_fields(c->session.session)->metadata;
    return allm_json_get(allm_json_get(metadata, "ask_user_opts"), key);
}

/* Let the user pick one; false: none, or another answer. */
static bool pick_choice(const char *title, const allm_json *list,
                        struct bytes *text)
{
    struct question_choice rows[MOST_CHOICES + 1] = { { 0, NULL } };
    struct question q = { .title = title, .choices = rows };
    for (const allm_json *v = NULL; (v = allm_json_next(list, v));) {
        const char *label = allm_json_text(v, NULL);
        if (label && q.count < MOST_CHOICES)
            rows[q.count++].label = label;
    }
    rows[q.count++].label = "another answer";
    int choice = question_choose(&q);
    bool picked = choice >= 0 && (size_t)choice + 1 < q.count;
    if (picked)
        bytes_text(text, rows[choice].label);
    return picked;
}

static bool ask_for_value(const char *title, const allm_json *schema,
                          struct bytes *text)
{
    const struct question q = { .title = title };
    allm_json *value = question_form_value(&q, schema);
    bool given = value != NULL;
    if (given)
        member_show(text, value);
    allm_json_free(value);
    return given;
}

bool chat_question_ask(struct chat *c, struct bytes *text)
{
    const char *title = session_question(&c->session);
    const allm_json *choices = option_of(c, "choices");
    const allm_json *schema = option_of(c, "schema");
    c->asked = false;
    if (!title) {
        chat_tools_remind(c);
        return false;
    }
    if (!question_possible()) {
        print_text(title); /* whoever reads the answers wants it */
        print_text("\n");
        return false;
    }
    if (allm_json_count(choices))
        return pick_choice(title, choices, text);
    if (schema)
        return ask_for_value(title, schema, text);
    question_show(&(struct question){ .title = title });
    return false;
}
