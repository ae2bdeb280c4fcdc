/*
 * sessions_show.c - allm sessions show and export: print a session
 *
 * Earlier states: every record says how many messages it keeps (`keep`) and
 * adds (`add`).  As long as no later record keeps fewer messages than there
 * were, they are the first ones of today's.
 */
#include "cli/broken.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/session_store.h"
#include "cli/sessions.h"

#include <string.h>

static const char *role_of(const allm_message *m)
{
    static const char *const names[] = { "?", "system", "user", "assistant",
                                         "tool" };
    return (size_t)m->role < sizeof names / sizeof *names ? names[m->role]
                                                          : "?";
}

static void print_texts(const allm_message *m)
{
    if (m->text)
        print_bytes(m->text, m->text_len);
    for (size_t i = 0; i < m->part_count; i++) {
        const allm_part *p = m->parts[i];
        if (i)
            print_text("\n");
        if (p->kind == ALLM_PART_TEXT && p->text)
            print_bytes(p->text, p->text_len);
        else
            print_text(p->kind == ALLM_PART_IMAGE ? "[image]" : "[other]");
    }
}

static void print_calls(const allm_message *m, const char *before)
{
    for (size_t i = 0; i < m->tool_call_count; i++) {
        const struct allm_tool_call *c = m->tool_calls[i];
        allm_text *arguments = allm_json_write(c->arguments, 0);
        const char *text = allm_text_bytes(arguments, NULL);
        print_format("%s%s ", before, c->name);
        print_text(text ? text : "{}");
        print_format("  (%s)\n", c->id);
        allm_text_free(arguments);
    }
}

/* "user: ...", and the calls on lines of their own. */
static void show_message(const allm_message *m)
{
    print_text(role_of(m));
    if (m->role == ALLM_ROLE_TOOL && m->tool_call_id)
        print_format(" %s", m->tool_call_id);
    print_text(": ");
    print_texts(m);
    print_text("\n");
    print_calls(m, "  calls ");
}

/* A section for each message. */
static void show_markdown(const allm_message *m)
{
    static const char *const titles[] = { "?", "System", "User", "Assistant",
                                          "Tool" };
    size_t role = (size_t)m->role;
    print_format("## %s\n\n",
                 role < sizeof titles / sizeof *titles ? titles[role] : "?");
    print_texts(m);
    print_text("\n\n");
    print_calls(m, "* calls ");
    if (m->tool_call_count)
        print_text("\n");
}

/* Print the records, one per line. */
static int print_records(struct sessions *s, const char *name)
{
    enum { PAGE = 500 };
    size_t count = PAGE;
    for (uint64_t from = 1; count == PAGE; from += count) {
        allm_json *page = allm_store_records(s->store, name, from, PAGE);
        if (!page)
            return session_store_fail(allm_store_error(s->store));
        count = allm_json_count(page);
        for (const allm_json *r = NULL; (r = allm_json_next(page, r));)
            print_json(r, 0);
        allm_json_free(page);
    }
    return END_DONE;
}

static uint64_t number_of(const allm_json *record, const char *key)
{
    uint64_t n = 0;
    allm_json_uint64(allm_json_get(record, key), &n);
    return n;
}

/* Set *count to the number of messages as of record s->at; UINT64_MAX: a later
 * record has replaced some of them. */
static int count_messages_at(struct sessions *s, const char *name,
                             uint64_t *count)
{
    uint64_t head = 0;
    allm_json *records = allm_store_records(s->store, name, 0, 0);
    if (!records)
        return session_store_fail(allm_store_error(s->store));
    *count = 0;
    for (const allm_json *r = NULL; (r = allm_json_next(records, r));) {
        const allm_json *keep = allm_json_get(r, "keep");
        const allm_json *add = allm_json_get(r, "add");
        head = number_of(r, "seq");
        if (head > s->at && keep && number_of(r, "keep") < *count)
            *count = UINT64_MAX;
        else if (head <= s->at && (keep || add))
            *count = (keep ? number_of(r, "keep") : *count) +
                     allm_json_count(add);
    }
    allm_json_free(records);
    if (s->at <= head)
        return END_DONE;
    print_fault("%s has %llu records, and no record %u", name,
                (unsigned long long)head, s->at);
    return END_USAGE;
}

/* How many of the messages to show. */
static int choose_count(struct sessions *s, const char *name, size_t *count)
{
    uint64_t then = 0;
    if (!s->at)
        return END_DONE;
    int code = count_messages_at(s, name, &then);
    if (code != END_DONE)
        return code;
    if (then > *count) {
        print_fault("a later record has replaced messages of record %u; to see "
                    "them: allm sessions fork %s NEW --at %u",
                    s->at, name, s->at);
        return END_USAGE;
    }
    *count = (size_t)then;
    return END_DONE;
}

static void note_state(const char *name, const allm_session *session)
{
    const allm_session_record *r = allm_session_fields(session);
    if (broken_of(session))
        print_note("its last operation has not ended; if nobody runs it: allm "
                   "sessions resume %s",
                   name);
    else if (r->pending_question)
        print_note("the model waits for an answer: allm -S %s \"...\"", name);
}

/* Print the messages with this function. */
static int print_messages(struct sessions *s, const char *name,
                          const allm_session *session,
                          void (*print)(const allm_message *))
{
    size_t count = 0;
    const allm_message *const *m = allm_session_messages(session, &count);
    int code = choose_count(s, name, &count);
    for (size_t i = 0; code == END_DONE && i < count && !print_broken(); i++)
        print(m[i]);
    if (code == END_DONE && !s->at)
        note_state(name, session);
    return code;
}

/* Open the session to read; END_DONE, or an exit code. */
static int open_session(struct sessions *s, const char *name,
                        allm_session **session)
{
    *session = allm_session_open(s->store, name, 0);
    const allm_error *error = allm_session_error(*session);
    return error ? session_store_fail(error) : END_DONE;
}

int sessions_show(struct sessions *s, int argc, char **argv)
{
    allm_session *session;
    (void)argc;
    if (s->journal)
        return print_records(s, argv[0]);
    if (s->json && s->at) {
        print_fault("--json shows the session as it is now; leave out --at");
        return END_USAGE;
    }
    int code = open_session(s, argv[0], &session);
    if (code == END_DONE && s->json)
        print_owned(allm_session_record_json(allm_session_fields(session),
                                             ALLM_FORM_PLAIN));
    else if (code == END_DONE)
        code = print_messages(s, argv[0], session, show_message);
    allm_session_free(session);
    return code;
}

int sessions_export(struct sessions *s, int argc, char **argv)
{
    allm_session *session;
    (void)argc;
    if (s->journal && s->markdown) {
        print_fault("--journal and --markdown exclude each other");
        return END_USAGE;
    }
    if (s->journal)
        return print_records(s, argv[0]);
    int code = open_session(s, argv[0], &session);
    if (code == END_DONE && s->markdown)
        code = print_messages(s, argv[0], session, show_markdown);
    else if (code == END_DONE)
        print_owned(allm_session_record_json(allm_session_fields(session),
                                             ALLM_FORM_TAGGED));
    allm_session_free(session);
    return code;
}
