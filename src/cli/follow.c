/*
 * follow.c - print what happens in a session that another process runs
 *
 * Older operations come as whole messages: then the text is printed with the
 * message.
 */
#include "cli/follow.h"

#include "cli/exit.h"
#include "cli/print.h"
#include "cli/session.h"
#include "cli/session_store.h"
#include "cli/signals.h"
#include "conf/member.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the output is. */
struct lines {
    bool open;   /* the last line has no end yet */
    bool pieces; /* the text of this message is printed already */
};

static void print_piece(struct lines *l, const char *text, size_t len)
{
    if (!len)
        return;
    print_bytes(text, len);
    print_flush();
    l->open = text[len - 1] != '\n';
}

static void end_open_line(struct lines *l)
{
    if (l->open)
        print_text("\n");
    l->open = false;
}

/* Print the text of an event.  A message that begins again voids the last. */
static void print_words(struct lines *l, const allm_event *event)
{
    if (event->type == ALLM_EV_MESSAGE_STARTED) {
        end_open_line(l);
        l->pieces = false;
    } else if (event->type == ALLM_EV_TEXT_DELTA) {
        print_piece(l, event->text, event->text_len);
        l->pieces = true;
    } else if (event->type == ALLM_EV_TEXT_COMPLETED && !l->pieces) {
        print_piece(l, event->text, event->text_len);
        l->pieces = true;
    } else if (event->type == ALLM_EV_MESSAGE_COMPLETED) {
        if (!l->pieces && event->message)
            print_piece(l, event->message->text, event->message->text_len);
        end_open_line(l);
        l->pieces = false;
    }
}

static void pull_events(allm_stream *stream, struct follow *f)
{
    struct lines lines = { false, false };
    const allm_event *event;
    while (!print_broken() && allm_stream_next(stream, &event) == ALLM_EVENT) {
        if (event->cursor)
            snprintf(f->cursor, sizeof f->cursor, "%s", event->cursor);
        if (f->silent)
            continue;
        if (f->events) {
            print_owned(allm_stream_event_json(stream));
            print_flush();
        } else {
            print_words(&lines, event);
        }
    }
    end_open_line(&lines);
}

int follow_session(allm_store *store, struct follow *f)
{
    allm_stream *stream = allm_store_follow(store, f->name,
                                            *f->cursor ? f->cursor : NULL,
                                            f->forever ? 0 : ALLM_FOLLOW_ONE);
    signals_watch(stream);
    pull_events(stream, f);
    int signal = signals_unwatch();
    const allm_error *error = allm_stream_error(stream);
    int code = signal ? END_SIGNAL + signal : END_DONE;
    if (error && !signal)
        code = session_store_fail(error);
    allm_stream_free(stream);
    return code;
}

bool follow_from_now(allm_store *store, struct follow *f)
{
    bool open = false;
    uint64_t seq = 0;           /* not the number: the journal may be pruned */
    allm_json *records = allm_store_records(store, f->name, 0, 0);
    for (const allm_json *r = NULL; (r = allm_json_next(records, r));) {
        const char *type = member_read(r, "type");
        if (type && (!strcmp(type, "begin") || !strcmp(type, "end")))
            open = !strcmp(type, "begin");
        allm_json_uint64(allm_json_get(r, "seq"), &seq);
    }
    snprintf(f->cursor, sizeof f->cursor, "%llu", (unsigned long long)seq);
    allm_json_free(records);
    return open;
}

/* Does the record of the last event end an operation that was cancelled? */
static bool was_cancelled(allm_store *store, const struct follow *f)
{
    allm_json *end = allm_store_records(store, f->name,
                                        strtoull(f->cursor, NULL, 10), 1);
    const char *halted = allm_json_text(allm_json_pointer(end, "/0/halted"),
                                        NULL);
    bool cancelled = halted && !strcmp(halted, "cancelled");
    allm_json_free(end);
    return cancelled;
}

int follow_outcome(allm_store *store, const struct follow *f)
{
    allm_session *s = allm_session_open(store, f->name, 0);
    const allm_error *error = allm_session_error(s);
    const allm_session_record *r = allm_session_fields(s);
    int code = END_DONE;
    if (error || r->status == ALLM_SESSION_ERROR) {
        code = session_store_fail(error ? error : r->error);
    } else if (r->status == ALLM_SESSION_AWAITING_USER && r->pending_question) {
        print_fault("the model asks: %s (to answer: allm -S %s \"...\")",
                    r->pending_question, f->name);
        code = END_ASKED;
    } else if (r->pending_tool_call_count) {
        code =
            session_ready(&(struct session){ .session = s, .path = f->name });
    } else if (was_cancelled(store, f)) {
        print_fault("the call was cancelled");
        code = END_FAILED;
    }
    allm_session_free(s);
    return code;
}
