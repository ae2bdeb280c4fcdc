/* chat_sessions.c - commands of a chat: /save /load /fork /sessions /search */
#include "cli/chat_state.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/session_store.h"
#include "conf/member.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN = 20 };

/* Is there a file that is no conversation? */
static bool is_other_file(const char *path)
{
    if (access(path, F_OK))
        return false;
    allm_session *old = allm_session_load(path, 0);
    bool other = allm_session_error(old) != NULL;
    allm_session_free(old);
    return other;
}

void chat_sessions_save(struct chat *c, const char *rest)
{
    const char *path = *rest ? rest : c->session.path;
    if (!path)
        print_fault("/save needs a file: /save FILE");
    else if (*rest && is_other_file(path))
        print_fault("%s exists and is no conversation; choose another name",
                    path);
    else if (session_save_to(&c->session, path) == END_DONE)
        print_note("saved to %s", path);
}

/* Continue with another session, whose name is in the free element of path. */
static void switch_to(struct chat *c, const struct session *other)
{
    session_close(&c->session);
    c->session = *other;
    c->next = !c->next;
    if (session_model(other))
        chat_model_change(c, session_model(other));
    chat_resume(c);
}

void chat_sessions_load(struct chat *c, const char *rest)
{
    char *path = c->path[c->next];
    struct session other = { 0 };
    struct session_choice choice = { .word = path,
                                     .store = c->ask->session.store };
    if (!*rest || strlen(rest) >= sizeof c->path[0]) {
        print_fault("/load needs the name of a session or a file: /load NAME");
        return;
    }
    if (c->session.path && !strcmp(c->session.path, rest)) {
        print_note("%s is already the current conversation", rest);
        return;
    }
    snprintf(path, sizeof c->path[0], "%s", rest);
    if (session_open(&other, &choice, SESSION_BROKEN) != END_DONE ||
        chat_broken_settle(c, &other, NULL) != END_DONE)
        session_close(&other);
    else
        switch_to(c, &other);
}

/* --------------------------------------------------------------- fork --- */

/* Copy the conversation into a new session; false: an error was printed. */
static bool copy_into(const struct chat *c, struct session *other)
{
    allm_session_record record = *allm_session_fields(c->session.session);
    record.home = NULL;
    record.id = allm_session_fields(other->session)->id;
    if (allm_session_messages(other->session, &(size_t){ 0 }) &&
        allm_thread_count(allm_session_thread(other->session)))
        return print_fault("%s exists; choose another name", other->path);
    if (allm_session_replace(other->session, &record) == ALLM_OK)
        return session_save(other) == END_DONE;
    session_store_fail(allm_session_error(other->session));
    return false;
}

/* In the same store, the library makes the fork. */
static bool fork_stored(const struct chat *c, const char *name)
{
    if (allm_session_fork(c->session.session, 0, name) == ALLM_OK)
        return true;
    session_store_fail(allm_store_error(c->session.store));
    return false;
}

void chat_sessions_fork(struct chat *c, const char *rest)
{
    const char *word;
    char *path = c->path[c->next];
    struct session other = { 0 };
    struct session_choice choice = { .word = *rest ? rest : NULL,
                                     .store = c->ask->session.store,
                                     .keep = !*rest };
    if (session_name_choose(&choice, &word) != END_DONE)
        return;
    snprintf(path, sizeof c->path[0], "%s", word);
    choice = (struct session_choice){ .word = path,
                                      .store = c->ask->session.store };
    bool same = c->session.store && !session_name_is_file(path);
    bool made = (!same || fork_stored(c, path)) &&
                session_open(&other, &choice, same ? 0 : SESSION_CREATE) ==
                    END_DONE &&
                (same || copy_into(c, &other));
    if (!made) {
        session_close(&other);
        return;
    }
    switch_to(c, &other);
    print_note("(from here on this is %s)", path);
}

/* ------------------------------------------------- /sessions, /search --- */

static void show_session(const allm_json *session)
{
    const char *title = member_or(session, "title", "-");
    print_note("%-24s %.10s  %.*s", member_or(session, "name", "-"),
               member_or(session, "changed", "-"), (int)strcspn(title, "\n"),
               title);
}

/* Show the sessions that have all the words; NULL: all sessions. */
static void show_sessions(allm_store *store, const char *words)
{
    allm_json *list = allm_store_list(store, ALLM(store_query, .words = words,
                                                  .limit = SHOWN));
    const allm_json *rows = allm_json_get(list, "sessions");
    for (const allm_json *s = NULL; (s = allm_json_next(rows, s));)
        show_session(s);
    if (!list)
        session_store_fail(allm_store_error(store));
    else if (!allm_json_count(rows))
        print_note(words ? "(no stored session has these words)"
                         : "(there are no stored sessions)");
    allm_json_free(list);
}

static void list_sessions(const struct chat *c, const char *words)
{
    allm_store *own = NULL, *store = c->session.store;
    if (!store && !session_store_exists(c->ask->session.store)) {
        print_note("(there are no stored sessions)");
        return;
    }
    if (!store && session_store_open(&own, c->ask->session.store,
                                     ALLM_STORE_NO_CREATE, 0) == END_DONE)
        store = own;
    if (store)
        show_sessions(store, words);
    allm_store_free(own);
}

void chat_sessions_list(struct chat *c, const char *rest)
{
    (void)rest;
    list_sessions(c, NULL);
}

void chat_sessions_search(struct chat *c, const char *rest)
{
    if (rest[strspn(rest, " ")])
        list_sessions(c, rest);
    else
        print_fault("/search needs words: /search WORD...");
}
