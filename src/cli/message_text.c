/* message_text.c - a message of a session as text, and as Markdown */
#include "cli/message_text.h"
#include "conf/member.h"

static const char *role_of(const allm_message *m, const char *const names[5])
{
    return (size_t)m->role < 5 ? names[m->role] : "?";
}

static void put_texts(struct bytes *out, const allm_message *m)
{
    if (m->text)
        bytes_add(out, m->text, m->text_len);
    for (size_t i = 0; i < m->part_count; i++) {
        const allm_part *p = m->parts[i];
        if (i)
            bytes_byte(out, '\n');
        if (p->kind == ALLM_PART_TEXT && p->text)
            bytes_add(out, p->text, p->text_len);
        else
            bytes_text(out, p->kind == ALLM_PART_IMAGE ? "[image]" : "[other]");
    }
}

static void put_calls(struct bytes *out, const allm_message *m,
                      const char *before)
{
    for (size_t i = 0; i < m->tool_call_count; i++) {
        const struct allm_tool_call *c = m->tool_calls[i];
        bytes_text(out, before);
        bytes_text(out, c->name);
        bytes_byte(out, ' ');
        if (!member_append(out, allm_json_write(c->arguments, 0)))
            bytes_text(out, "{}");
        bytes_text(out, "  (");
        bytes_text(out, c->id);
        bytes_text(out, ")\n");
    }
}

void message_text_put(struct bytes *out, const allm_message *m)
{
    static const char *const names[] = { "?", "system", "user", "assistant",
                                         "tool" };
    bytes_text(out, role_of(m, names));
    if (m->role == ALLM_ROLE_TOOL && m->tool_call_id) {
        bytes_byte(out, ' ');
        bytes_text(out, m->tool_call_id);
    }
    bytes_text(out, ": ");
    put_texts(out, m);
    bytes_byte(out, '\n');
    put_calls(out, m, "  calls ");
}

void message_text_markdown(struct bytes *out, const allm_message *m)
{
    static const char *const titles[] = { "?", "System", "User", "Assistant",
                                          "Tool" };
    bytes_text(out, "## ");
    bytes_text(out, role_of(m, titles));
    bytes_text(out, "\n\n");
    put_texts(out, m);
    bytes_text(out, "\n\n");
    put_calls(out, m, "* calls ");
    if (m->tool_call_count)
        bytes_byte(out, '\n');
}
