/*
 * mcp_sessions.c - stored sessions as resources for MCP clients
 *
 * The store is opened for each request, to read, so that a client sees sessions
 * as they are, and locks none.
 */
#include "cli/mcp_sessions.h"

#include "cli/exit.h"
#include "cli/message_text.h"
#include "cli/print.h"
#include "cli/session_store.h"
#include "conf/member.h"

#include <stdio.h>
#include <string.h>

static const char place[] = "allm://sessions/";
static const char markdown[] = "text/markdown";

/* ----------------------------------------------------------------- list --- */

static void put_resource(allm_json_build *b, const allm_json *row)
{
    char uri[512];
    const char *name = member_or(row, "name", "");
    snprintf(uri, sizeof uri, "%s%.400s", place, name);
    allm_json_build_object(b);
    member_text(b, "uri", uri);
    member_text(b, "name", name);
    member_text(b, "description", member_read(row, "title"));
    member_text(b, "mimeType", markdown);
    allm_json_build_end(b);
}

/* A page of the list; false: it was the last one.  *last is its last name. */
static bool put_page(allm_json_build *b, allm_store *store, char last[512])
{
    enum { PAGE = 500 };
    allm_json *page = allm_store_list(
        store, ALLM(store_query, .after = *last ? last : NULL, .limit = PAGE));
    const allm_json *rows = allm_json_get(page, "sessions");
    for (const allm_json *row = NULL; (row = allm_json_next(rows, row));) {
        put_resource(b, row);
        snprintf(last, 512, "%s", member_read(row, "name"));
    }
    bool more = allm_json_true(allm_json_get(page, "more"));
    allm_json_free(page);
    return more;
}

/* Open the store to read; what is wrong goes to `why`. */
static bool open_store(allm_store **store, const char *uri, char *why,
                       size_t size)
{
    print_divert(why, size);
    int code = session_store_open(
        store, uri, (uint32_t)ALLM_STORE_READ | ALLM_STORE_NO_CREATE, 0);
    print_divert(NULL, 0);
    return code == END_DONE;
}

allm_json *mcp_sessions_list(const char *uri)
{
    allm_store *store = NULL;
    char why[300], last[512] = "";
    allm_json_build *b = member_new_array();
    if (open_store(&store, uri, why, sizeof why))
        while (put_page(b, store, last))
            ;
    allm_store_free(store);
    return member_done(b);
}

allm_json *mcp_sessions_templates(void)
{
    static const char list[] =
        "[{\"uriTemplate\": \"allm://sessions/{name}\", \"name\": "
        "\"session\", \"description\": \"A stored conversation\", "
        "\"mimeType\": \"text/markdown\"}]";
    return allm_json_parse(list, ALLM_NUL_ENDED, NULL);
}

/* ----------------------------------------------------------------- read --- */

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c)
                       : NULL;
    return at ? (int)(at - digits) : -1;
}

/* The name in an address, where some characters may be written as %3A; false:
 * this is no address of a session. */
static bool read_name(const char *uri, char name[512])
{
    size_t n = 0;
    if (strncmp(uri, place, sizeof place - 1) != 0)
        return false;
    for (const char *p = uri + sizeof place - 1; *p && n < 511; p++) {
        int high = *p == '%' ? hex_digit(p[1]) : -1;
        int low = high >= 0 ? hex_digit(p[2]) : -1;
        name[n++] = low >= 0 ? (char)(high * 16 + low) : *p;
        p += low >= 0 ? 2 : 0;
    }
    name[n] = '\0';
    return n > 0;
}

/* {"contents": [{"uri", "mimeType", "text"}]} */
static allm_json *wrap_contents(const char *uri, const struct bytes *text)
{
    allm_json_build *b = member_new_object();
    member_array(b, "contents");
    allm_json_build_object(b);
    member_text(b, "uri", uri);
    member_text(b, "mimeType", markdown);
    member_text_n(b, "text", bytes_string(text), text->len);
    allm_json_build_end(b);
    allm_json_build_end(b);
    return member_done(b);
}

static void answer_session(allm_mcp_server *server, const allm_mcp_request *r,
                           const allm_session *session)
{
    size_t count = 0;
    struct bytes text = { NULL, 0, 0 };
    const allm_message *const *m = allm_session_messages(session, &count);
    for (size_t i = 0; i < count; i++)
        message_text_markdown(&text, m[i]);
    allm_json *result = wrap_contents(r->name, &text);
    allm_mcp_server_answer(server, r->id, result);
    allm_json_free(result);
    bytes_release(&text);
}

void mcp_sessions_answer(allm_mcp_server *server, const allm_mcp_request *r,
                         const char *uri)
{
    allm_store *store = NULL;
    allm_session *session = NULL;
    char name[512], why[300] = "there is no such resource";
    if (read_name(r->name, name) && open_store(&store, uri, why, sizeof why))
        session = allm_session_open(store, name, 0);
    const allm_error *error = session ? allm_session_error(session) : NULL;
    if (session && !error)
        answer_session(server, r, session);
    else
        allm_mcp_server_fail(server, r->id, error ? error->message : why);
    allm_session_free(session);
    allm_store_free(store);
}
