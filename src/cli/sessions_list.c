/* sessions_list.c - allm sessions list: a line for each session */
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/session_store.h"
#include "cli/sessions.h"
#include "conf/member.h"
#include "term/bytes.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN = 50, MOST_NAME = 40, MOST_TITLE = 60 };

enum { NAME, STATUS, WAITS, MODEL, MESSAGES, CHANGED, TITLE, COLUMNS };

struct row {
    char cell[COLUMNS][192];
};

/* Copy at most `most` bytes of the first line, and no half character. */
static void copy_line(char cell[192], const char *text, size_t most)
{
    size_t n = strcspn(text, "\r\n");
    if (n > most) {
        n = most;
        while (n && (text[n] & 0xc0) == 0x80)
            n--;
    }
    snprintf(cell, 192, "%.*s", (int)n, text);
}

static void fill_row(struct row *r, const allm_json *session)
{
    static const struct {
        int column;
        const char *key;
        size_t most;
    } texts[] = {
        { NAME, "name", 128 },       { STATUS, "status", 20 },
        { WAITS, "waits", 20 },      { MODEL, "model", 60 },
        { TITLE, "title", MOST_TITLE },
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        copy_line(r->cell[texts[i].column],
                  member_or(session, texts[i].key, "-"), texts[i].most);
    if (allm_json_true(allm_json_get(session, "broken_off")))
        copy_line(r->cell[WAITS], "broken off", 20);
    else if (member_read(session, "holder"))
        copy_line(r->cell[WAITS], "in use", 20);
    snprintf(r->cell[MESSAGES], 192, "%.0f",
             allm_json_number(allm_json_get(session, "messages")));
    copy_line(r->cell[CHANGED], member_or(session, "changed", "-"), 16);
    char *middle = strchr(r->cell[CHANGED], 'T'); /* 2026-11-18T02:45 */
    if (middle)
        *middle = ' ';
}

static void measure(int width[COLUMNS], const struct row *r)
{
    for (int i = 0; i < COLUMNS; i++) {
        int n = (int)strlen(r->cell[i]);
        if (n > MOST_NAME)
            n = MOST_NAME;
        if (n > width[i])
            width[i] = n;
    }
}

static void print_row(const int width[COLUMNS], const struct row *r)
{
    for (int i = 0; i < TITLE; i++)
        print_format("%*s  ", i == MESSAGES ? width[i] : -width[i], r->cell[i]);
    print_format("%s\n", r->cell[TITLE]);
}

/* Print the sessions as a table; on a terminal the columns have titles. */
static void print_table(const allm_json *sessions)
{
    static const struct row titles = {
        { "NAME", "STATUS", "WAITS", "MODEL", "MESSAGES", "CHANGED", "TITLE" }
    };
    int width[COLUMNS] = { 0 };
    struct row r;
    if (print_is_terminal())
        measure(width, &titles);
    for (const allm_json *s = NULL; (s = allm_json_next(sessions, s));) {
        fill_row(&r, s);
        measure(width, &r);
    }
    if (print_is_terminal() && allm_json_count(sessions))
        print_row(width, &titles);
    for (const allm_json *s = NULL; (s = allm_json_next(sessions, s));) {
        fill_row(&r, s);
        print_row(width, &r);
    }
}

int sessions_list(struct sessions *s, char **argv)
{
    struct bytes words = { NULL, 0, 0 };
    bool searches = *argv;
    for (; *argv; argv++)
        bytes_format(&words, "%s ", *argv);
    allm_json *list = allm_store_list(
        s->store, ALLM(store_query, .status = s->status, .words = words.ptr,
                       .limit = s->limit ? s->limit : SHOWN));
    bytes_release(&words);
    if (!list)
        return session_store_fail(allm_store_error(s->store));
    if (s->json)
        print_json(list, print_is_terminal() ? ALLM_JSON_PRETTY : 0);
    else
        print_table(allm_json_get(list, "sessions"));
    if (searches && !s->json &&
        !allm_json_count(allm_json_get(list, "sessions")))
        print_note("no session has these words in one message");
    if (!s->json && allm_json_true(allm_json_get(list, "more")))
        print_note("there are more; -n N lists N");
    allm_json_free(list);
    return END_DONE;
}
