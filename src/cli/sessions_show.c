/* sessions_show.c - allm sessions show and export: print a session */
#include "cli/broken.h"
#include "cli/exit.h"
#include "cli/message_text.h"
#include "cli/print.h"
#include "cli/session_store.h"
#include "cli/sessions.h"

/* Print the records, one per line; the first may be missing. */
static int print_records(struct sessions *s, const char *name)
{
    enum { PAGE = 500 };
    size_t count = PAGE;
    for (uint64_t from = 1; count == PAGE; from++) {
        allm_json *page = allm_store_records(s->store, name, from, PAGE);
        if (!page)
            return session_store_fail(allm_store_error(s->store));
        count = allm_json_count(page);
        for (const allm_json *r = NULL; (r = allm_json_next(page, r));) {
            print_json(r, 0);
            allm_json_uint64(allm_json_get(r, "seq"), &from);
        }
        allm_json_free(page);
    }
    return END_DONE;
}

static void note_state(const char *name, const allm_session *session)
{
    const allm_session_record *r = allm_session_fields(session);
    if (broken_of(session))
        print_note("its last operation has not ended: allm sessions resume %s",
                   name);
    else if (r->pending_question)
        print_note("the model waits for an answer: allm -S %s \"...\"", name);
}

/* Print the messages as this function writes them. */
static void print_messages(const struct sessions *s, const char *name,
                           const allm_session *session,
                           void (*put)(struct bytes *, const allm_message *))
{
    size_t count = 0;
    struct bytes text = { NULL, 0, 0 };
    const allm_message *const *m = allm_session_messages(session, &count);
    for (size_t i = 0; i < count && !print_broken(); i++) {
        bytes_clear(&text);
        put(&text, m[i]);
        print_bytes(bytes_string(&text), text.len);
    }
    bytes_release(&text);
    if (!s->at)
        note_state(name, session);
}

/* Open the session to read, as of --at; END_DONE, or an exit code. */
static int open_session(struct sessions *s, const char *name,
                        allm_session **session)
{
    *session = allm_session_open(s->store, name, 0);
    if (s->at && !allm_session_error(*session)) {
        allm_session *then = allm_session_at(*session, s->at);
        allm_session_free(*session);
        *session = then;
    }
    const allm_error *error = allm_session_error(*session);
    return error ? session_store_fail(error) : END_DONE;
}

int sessions_show(struct sessions *s, char **argv)
{
    allm_session *session;
    if (s->journal)
        return print_records(s, argv[0]);
    int code = open_session(s, argv[0], &session);
    if (code == END_DONE && s->json)
        print_owned(allm_session_record_json(allm_session_fields(session),
                                             ALLM_FORM_PLAIN));
    else if (code == END_DONE)
        print_messages(s, argv[0], session, message_text_put);
    allm_session_free(session);
    return code;
}

/* Print the document of which an import makes the same session: without the
 * note about an operation that was broken off. */
static void print_document(const allm_session *session)
{
    allm_session_record fields = *allm_session_fields(session);
    allm_json *metadata = NULL;
    if (broken_of(session)) {
        metadata = allm_json_set(fields.metadata, "broken_off", NULL);
        fields.metadata = metadata;
        fields.home = NULL;
    }
    print_owned(allm_session_record_json(&fields, ALLM_FORM_TAGGED));
    allm_json_free(metadata);
}

int sessions_export(struct sessions *s, char **argv)
{
    allm_session *session;
    if (s->journal && s->markdown)
        return print_misuse("--journal and --markdown exclude each other");
    if (s->journal)
        return print_records(s, argv[0]);
    int code = open_session(s, argv[0], &session);
    if (code == END_DONE && s->markdown)
        print_messages(s, argv[0], session, message_text_markdown);
    else if (code == END_DONE)
        print_document(session);
    allm_session_free(session);
    return code;
}
