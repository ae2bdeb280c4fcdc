/* sessions_list.c - allm sessions list: a line for each session */
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/session_store.h"
#include "cli/sessions.h"
#include "cli/sessions_search.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN = 50, PAGE = 200, MOST_NAME = 40, MOST_TITLE = 60 };

enum { NAME, STATUS, WAITS, MODEL, MESSAGES, CHANGED, TITLE, COLUMNS };

struct row {
    char cell[COLUMNS][192];
};

static const char *text_of(const allm_json *session, const char *key)
{
    const char *text = allm_json_text(allm_json_get(session, key), NULL);
    return text ? text : "-";
}

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
        copy_line(r->cell[texts[i].column], text_of(session, texts[i].key),
                  texts[i].most);
    if (allm_json_true(allm_json_get(session, "broken_off")))
        copy_line(r->cell[WAITS], "broken off", 20);
    else if (allm_json_text(allm_json_get(session, "holder"), NULL))
        copy_line(r->cell[WAITS], "in use", 20);
    snprintf(r->cell[MESSAGES], 192, "%.0f",
             allm_json_number(allm_json_get(session, "messages")));
    copy_line(r->cell[CHANGED], text_of(session, "changed"), 16);
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

/* A search for words: the list of allm_store_list(), made from all pages. */
struct search {
    allm_store *store;
    int count;
    char **words;
    uint32_t found, limit;
    char after[160]; /* the last name of the page */
    allm_json_build *list;
};

/* Add the sessions of a page; false: there are more than the limit. */
static bool search_page(struct search *f, const allm_json *page)
{
    for (const allm_json *v = NULL; (v = allm_json_next(page, v));) {
        snprintf(f->after, sizeof f->after, "%s", text_of(v, "name"));
        if (!sessions_search(f->store, f->after, f->count, f->words))
            continue;
        if (f->found++ == f->limit)
            return false;
        allm_json_build_value(f->list, v);
    }
    return true;
}

/* The caller frees the list; NULL: see allm_store_error(). */
static allm_json *search_sessions(struct search *f, allm_store_query query)
{
    bool more = true, failed = false, room = true;
    f->list = allm_json_build_new(NULL);
    allm_json_build_object(f->list);
    allm_json_build_key(f->list, "sessions");
    allm_json_build_array(f->list);
    while (more && room && !failed) {
        allm_json *page = allm_store_list(f->store, &query);
        failed = !page;
        more = allm_json_true(allm_json_get(page, "more"));
        room = search_page(f, allm_json_get(page, "sessions"));
        allm_json_free(page);
        query.after = f->after;
    }
    allm_json_build_end(f->list);
    allm_json_build_key(f->list, "more");
    allm_json_build_bool(f->list, !room);
    allm_json_build_end(f->list);
    allm_json *list = allm_json_build_done(f->list);
    if (failed) {
        allm_json_free(list);
        list = NULL;
    }
    return list;
}

int sessions_list(struct sessions *s, int argc, char **argv)
{
    allm_store_query query = { .size = sizeof query, .status = s->status,
                               .limit = s->limit ? s->limit : SHOWN };
    struct search found = { .store = s->store, .count = argc, .words = argv,
                            .limit = query.limit };
    if (argc)
        query.limit = PAGE;
    allm_json *list = argc ? search_sessions(&found, query)
                           : allm_store_list(s->store, &query);
    if (!list)
        return session_store_fail(allm_store_error(s->store));
    if (s->json)
        print_json(list, print_is_terminal() ? ALLM_JSON_PRETTY : 0);
    else
        print_table(allm_json_get(list, "sessions"));
    if (!s->json && allm_json_true(allm_json_get(list, "more")))
        print_note("there are more; -n N lists N");
    allm_json_free(list);
    return END_DONE;
}
