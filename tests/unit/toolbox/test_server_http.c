/*
 * test_server_http.c - MCP servers behind HTTP, with a real socket
 *
 * tag: thread
 * tag: clock (times to wait)
 */
#include "base/clock.h"
#include "harness/box.h"
#include "harness/check.h"
#include "harness/noun.h"
#include "harness/server.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER(status, type, body)                                     \
    { SERVER_SAY("HTTP/1.1 " status "\r\nContent-Type: " type          \
                 "\r\nConnection: close\r\n\r\n" body),                \
      SERVER_CLOSE, SERVER_END }
#define JSON(body) ANSWER("200 OK", "application/json", body)
#define RESULT(id, members) \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{" members "}}"
#define EVENTS(body) ANSWER("200 OK", "text/event-stream", body)
#define TOOLS                                                            \
    "\"tools\":[{\"name\":\"go\",\"inputSchema\":{\"type\":\"object\","  \
    "\"properties\":{\"to\":{\"type\":\"string\",\"x-mcp-header\":\"To\"}" \
    "}}}]"
#define TEXT(text) "\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]"

static const struct server_step discovered[] =
    JSON(RESULT("1", "\"supportedVersions\":[\"2026-07-28\"],"
                     "\"capabilities\":{\"tools\":{}}"));
static const struct server_step listed[] = JSON(RESULT("2", TOOLS));
static const struct server_step done[] = JSON(RESULT("3", TEXT("done")));
static const struct server_step page[] = ANSWER("200 OK", "text/html",
                                                "<html>Hello</html>");
static const struct server_step not_found[] = ANSWER("404 Not Found",
                                                     "text/plain", "no");
static const struct server_step initialized[] = {
    SERVER_SAY("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
               "Mcp-Session-Id: s-1\r\nConnection: close\r\n\r\n" RESULT(
                   "2", "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{"
                        "\"tools\":{\"listChanged\":true}}")),
    SERVER_CLOSE, SERVER_END
};
static const struct server_step accepted[] = ANSWER("202 Accepted",
                                                    "text/plain", "");
static const struct server_step no_stream[] = ANSWER("405 No", "text/plain",
                                                     "");
static const struct server_step listed_legacy[] = JSON(RESULT("3", TOOLS));
static const struct server_step left[] = ANSWER("200 OK", "text/plain", "");

struct web {
    struct box box;
    struct server *server;
};

static void open_web(struct web *w)
{
    box_open(&w->box, NULL);
    w->server = server_new();
    box_renew(&w->box, ALLM(toolbox_opts, .net = ALLM(net_opts, .proxy = "")));
}

static void close_web(struct web *w)
{
    allm_toolbox_free(w->box.box);
    w->box.box = NULL;
    server_free(w->server);
    box_close(&w->box);
}

/* Add the server; members have ' for ". */
static void begin_add(struct web *w, const char *members)
{
    char text[512];
    snprintf(text, sizeof text,
             "{'type': 'http', 'url': "
             "'http://127.0.0.1:%d/mcp'%s%s}",
             server_port(w->server), *members ? ", " : "", members);
    allm_json *entry = noun_json(text);
    CHECK_INT(allm_toolbox_add_server(w->box.box, "w", entry), ALLM_OK);
    allm_json_free(entry);
}

static void add_web(struct web *w, const char *members)
{
    begin_add(w, members);
    CHECK_INT(allm_toolbox_wait(w->box.box, -1), ALLM_OK);
}

/* Call a tool of the server before it has listed them. */
static const char *request_web(struct web *w)
{
    static char text[1024];
    allm_json *params = noun_json("{'name': 'go', 'arguments': {}}");
    begin_add(w, "");
    allm_json *result = allm_toolbox_request(w->box.box, "w", "tools/call",
                                             params, 0);
    const allm_error *error = allm_json_error(result);
    allm_text *whole = allm_json_write(result, 0);
    const char *bytes = allm_text_bytes(whole, NULL);
    snprintf(text, sizeof text, "%s", error ? error->message : bytes);
    allm_text_free(whole);
    allm_json_free(result);
    allm_json_free(params);
    return text;
}

static void open_modern(struct web *w, const char *members)
{
    open_web(w);
    server_play_when(w->server, "server/discover", discovered);
    server_play_when(w->server, "tools/list", listed);
    add_web(w, members);
}

static void open_legacy(struct web *w, const struct server_step *stream,
                        const char *members)
{
    open_web(w);
    server_play_when(w->server, "server/discover", not_found);
    server_play_when(w->server, "\"initialize\"", initialized);
    server_play_when(w->server, "notifications/initialized", accepted);
    server_play_when(w->server, "GET /mcp", stream);
    server_play_when(w->server, "tools/list", listed_legacy);
    server_play_when(w->server, "DELETE /mcp", left);
    add_web(w, members);
}

static void free_web(struct web *w)
{
    int64_t begin = clock_now_ns(clock_real());
    allm_toolbox_free(w->box.box);
    w->box.box = NULL;
    CHECK((clock_now_ns(clock_real()) - begin) / 1000000 < 5000);
}

static const char *call_web(struct web *w)
{
    return box_call(&w->box, "w__go", "{'to': 'north'}");
}

static const char *state_of(struct web *w, const char *member)
{
    static char text[1024];
    allm_json *report = allm_toolbox_report(w->box.box);
    const allm_json *row = allm_json_at(allm_json_get(report, "servers"), 0);
    const char *value = allm_json_text(allm_json_get(row, member), NULL);
    snprintf(text, sizeof text, "%s", value ? value : "none");
    allm_json_free(report);
    return text;
}

/* Was there a request with both parts? */
static bool asked(struct web *w, const char *part, const char *other)
{
    for (size_t i = 0; i < server_look(w->server).requests; i++) {
        const char *text = server_request(w->server, i);
        if (strstr(text, part) && strstr(text, other))
            return true;
    }
    return false;
}

static bool has(const char *text, const char *part)
{
    if (strstr(text, part))
        return true;
    fprintf(stderr, "got: %.400s\n", text);
    return false;
}

/* ---------------------------------------------------------------- tests --- */

static void calls_a_modern_server(void)
{
    struct web w;
    setenv("TOKEN_OF_TEST", "t-42\n", 1);
    open_modern(&w, "'auth': 'env:TOKEN_OF_TEST', 'headers': {'X-Own': 'me', "
                    "'X-None': null, 'accept': '*/*', 'Content-Length': 2}");
    server_play_when(w.server, "tools/call", done);
    CHECK_TEXT(call_web(&w), "done");
    CHECK_TEXT(state_of(&w, "revision"), "2026-07-28");
    CHECK(asked(&w, "tools/call", "MCP-Protocol-Version: 2026-07-28\r\n"));
    CHECK(asked(&w, "tools/call", "Mcp-Method: tools/call\r\n"));
    CHECK(asked(&w, "tools/call", "Mcp-Name: go\r\n"));
    CHECK(asked(&w, "tools/call", "Mcp-Param-To: north\r\n"));
    CHECK(asked(&w, "tools/call", "Authorization: Bearer t-42\r\n"));
    CHECK(asked(&w, "server/discover", "X-Own: me\r\n"));
    CHECK(!asked(&w, "server/discover", "X-None"));
    CHECK(!asked(&w, "server/discover", "*/*"));
    CHECK(!asked(&w, "server/discover", "Content-Length: 2\r\n"));
    close_web(&w);
    unsetenv("TOKEN_OF_TEST");
}

static void calls_a_legacy_server_in_a_session(void)
{
    struct web w;
    static const struct server_step answer[] = JSON(RESULT("4", TEXT("ok")));
    open_legacy(&w, no_stream, "");
    server_play_when(w.server, "tools/call", answer);
    CHECK_TEXT(call_web(&w), "ok");
    CHECK_TEXT(state_of(&w, "revision"), "2025-06-18");
    CHECK(asked(&w, "tools/call", "Mcp-Session-Id: s-1\r\n"));
    CHECK(asked(&w, "GET /mcp", "Mcp-Session-Id: s-1\r\n"));
    allm_toolbox_free(w.box.box);
    w.box.box = NULL;
    CHECK(asked(&w, "DELETE /mcp", "Mcp-Session-Id: s-1\r\n"));
    close_web(&w);
}

/* Its answer to the probe is none: that refuses the probe, too. */
static void greets_a_server_that_does_not_answer_its_probe(void)
{
    static const struct server_step broken[] = JSON("{\"jsonrpc\":");
    static const struct server_step empty[] = JSON("");
    static const struct {
        const char *why;
        const struct server_step *steps;
    } rows[] = { { "no content", accepted }, { "not JSON", broken },
                 { "a page", page }, { "an empty body", empty } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct web w;
        check_row(rows[i].why);
        open_web(&w);
        server_play_when(w.server, "server/discover", rows[i].steps);
        server_play_when(w.server, "\"initialize\"", initialized);
        server_play_when(w.server, "notifications/initialized", accepted);
        server_play_when(w.server, "GET /mcp", no_stream);
        server_play_when(w.server, "tools/list", listed_legacy);
        server_play_when(w.server, "DELETE /mcp", left);
        add_web(&w, "");
        CHECK_TEXT(state_of(&w, "state"), "ready");
        CHECK_TEXT(state_of(&w, "revision"), "2025-06-18");
        close_web(&w);
    }
    check_row(NULL);
}

/* Its revision is known: it is not probed. */
static void starts_as_its_manifest_says(void)
{
    struct web w;
    static const struct server_step greeting[] =
        JSON(RESULT("1", "\"protocolVersion\":\"2025-06-18\","
                         "\"capabilities\":{\"tools\":{}}"));
    static const struct server_step answer[] = JSON(RESULT("2", TEXT("ok")));
    open_web(&w);
    server_play_when(w.server, "server/discover", not_found);
    server_play_when(w.server, "\"initialize\"", greeting);
    server_play_when(w.server, "notifications/initialized", accepted);
    server_play_when(w.server, "GET /mcp", no_stream);
    server_play_when(w.server, "tools/call", answer);
    add_web(&w, "'manifest': {'revision': '2025-06-18', 'tools': "
                "[{'name': 'go', 'inputSchema': {'type': 'object'}}]}");
    CHECK_TEXT(call_web(&w), "ok");
    CHECK(!asked(&w, "server/discover", ""));
    close_web(&w);
}

static void reads_a_stream_of_events(void)
{
    struct web w;
    static const struct server_step stream[] = EVENTS(
        ": hello\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":"
        "\"notifications/message\",\"params\":{}}\n\n"
        "event: message\nid: 7\ndata: " RESULT("3", TEXT("late")) "\n\n");
    open_modern(&w, "");
    server_play_when(w.server, "tools/call", stream);
    CHECK_TEXT(call_web(&w), "late");
    close_web(&w);
}

/* The stream ends before the answer, which comes when it is resumed. */
static void resumes_a_stream(void)
{
    struct web w;
    static const struct server_step first[] = EVENTS("retry: 1\nid: e-9\n"
                                                     "data: \n\n");
    static const struct server_step rest[] =
        EVENTS("id: e-10\ndata: " RESULT("4", TEXT("resumed")) "\n\n");
    open_legacy(&w, no_stream, "");
    server_play_when(w.server, "tools/call", first);
    server_play_when(w.server, "Last-Event-ID: e-9\r\n", rest);
    CHECK_TEXT(call_web(&w), "resumed");
    CHECK(asked(&w, "GET /mcp", "Last-Event-ID: e-9\r\n"));
    close_web(&w);
}

/* What a legacy server says unasked: here that its list has changed. */
static void listens_to_a_legacy_server(void)
{
    struct web w;
    static const struct server_step news[] = {
        SERVER_SAY("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                   "Connection: close\r\n\r\n: open\n\n"),
        SERVER_PAUSE,
        SERVER_SAY("data: {\"jsonrpc\":\"2.0\",\"method\":"
                   "\"notifications/tools/list_changed\"}\n\n"),
        SERVER_PAUSE, SERVER_CLOSE, SERVER_END
    };
    static const struct server_step more[] =
        JSON(RESULT("4", "\"tools\":[{\"name\":\"stay\"}]"));
    open_legacy(&w, news, "");
    server_play_when(w.server, "tools/list", more);
    CHECK_TEXT(state_of(&w, "state"), "ready");
    const allm_executor *x = allm_toolbox_executor(w.box.box);
    size_t count = 0;
    struct pollfd changed = { .fd = allm_toolbox_fd(w.box.box),
                              .events = POLLIN };
    CHECK_INT(allm_toolbox_wait(w.box.box, -1), ALLM_OK);       /* clears it */
    server_go(w.server);
    CHECK_INT(poll(&changed, 1, 20000), 1);
    CHECK_TEXT(x->tools(x->self, &count)[0]->name, "w__stay");
    close_web(&w);
}

/* The stream ends, and cannot be opened again at once: it goes on after its
 * last event, until the server has something to say. */
static void listens_again(void)
{
    struct web w;
    static const struct server_step first[] = {
        SERVER_SAY("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                   "Connection: close\r\n\r\nretry: 0\nid: n-1\ndata: \n\n"),
        SERVER_PAUSE, SERVER_CLOSE, SERVER_END
    };
    static const struct server_step down[] = ANSWER("503 Down", "text/plain",
                                                    "");
    static const struct server_step news[] = EVENTS(
        "data: {\"jsonrpc\":\"2.0\",\"method\":"
        "\"notifications/tools/list_changed\"}\n\n");
    static const struct server_step more[] =
        JSON(RESULT("4", "\"tools\":[{\"name\":\"stay\"}]"));
    open_legacy(&w, first, "");
    server_play_when(w.server, "Last-Event-ID: n-1\r\n", down);
    server_play_when(w.server, "Last-Event-ID: n-1\r\n", news);
    server_play_when(w.server, "GET /mcp", no_stream);
    server_play_when(w.server, "tools/list", more);
    const allm_executor *x = allm_toolbox_executor(w.box.box);
    size_t count = 0;
    struct pollfd changed = { .fd = allm_toolbox_fd(w.box.box),
                              .events = POLLIN };
    CHECK_INT(allm_toolbox_wait(w.box.box, -1), ALLM_OK);       /* clears it */
    server_go(w.server);
    CHECK_INT(poll(&changed, 1, 20000), 1);
    CHECK_TEXT(x->tools(x->self, &count)[0]->name, "w__stay");
    close_web(&w);
}

/* The number of the first request with this text. */
static size_t place_of(struct web *w, const char *part)
{
    size_t i = 0;
    while (i < server_look(w->server).requests &&
           !strstr(server_request(w->server, i), part))
        i++;
    return i;
}

/* Each answer is held back until the test has seen its request: what must come
 * later cannot overtake it. */
static void listens_before_it_asks(void)
{
    struct web w;
    static const struct server_step accepted_late[] = {
        SERVER_PAUSE, SERVER_SAY("HTTP/1.1 202 Accepted\r\n"
                                 "Connection: close\r\n\r\n"),
        SERVER_CLOSE, SERVER_END
    };
    static const struct server_step open_late[] = {
        SERVER_PAUSE,
        SERVER_SAY("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                   "\r\n"),
        SERVER_PAUSE, SERVER_END
    };
    int64_t begin = clock_now_ns(clock_real());
    open_web(&w);
    server_play_when(w.server, "server/discover", not_found);
    server_play_when(w.server, "\"initialize\"", initialized);
    server_play_when(w.server, "notifications/initialized", accepted_late);
    server_play_when(w.server, "GET /mcp", open_late);
    server_play_when(w.server, "tools/list", listed_legacy);
    server_play_when(w.server, "DELETE /mcp", left);
    server_go(w.server);
    server_go(w.server);
    add_web(&w, "");
    CHECK_TEXT(state_of(&w, "state"), "ready");
    CHECK(place_of(&w, "notifications/initialized") < place_of(&w, "GET /"));
    CHECK(place_of(&w, "GET /mcp") < place_of(&w, "tools/list"));
    CHECK(asked(&w, "tools/list", "Mcp-Session-Id: s-1"));
    CHECK((clock_now_ns(clock_real()) - begin) / 1000000 < 1000);
    close_web(&w);
}

/* Neither the stream nor "initialized" is ever answered: one short wait. */
static void asks_a_server_that_never_lets_it_listen(void)
{
    struct web w;
    static const struct server_step mute[] = { SERVER_PAUSE, SERVER_END };
    static const struct server_step answer[] = JSON(RESULT("4", TEXT("ok")));
    int64_t begin = clock_now_ns(clock_real());
    open_web(&w);
    server_play_when(w.server, "server/discover", not_found);
    server_play_when(w.server, "\"initialize\"", initialized);
    server_play_when(w.server, "notifications/initialized", mute);
    server_play_when(w.server, "GET /mcp", mute);
    server_play_when(w.server, "tools/list", listed_legacy);
    server_play_when(w.server, "DELETE /mcp", left);
    add_web(&w, "");
    server_play_when(w.server, "tools/call", answer);
    CHECK_TEXT(call_web(&w), "ok");
    CHECK((clock_now_ns(clock_real()) - begin) / 1000000 < 8000);
    close_web(&w);
}

static const struct server_step again[] = {
    SERVER_SAY("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
               "Mcp-Session-Id: s-2\r\nConnection: close\r\n\r\n" RESULT(
                   "1", "\"protocolVersion\":\"2025-06-18\","
                        "\"capabilities\":{\"tools\":{}}")),
    SERVER_CLOSE, SERVER_END
};

static void starts_a_new_session_if_the_server_forgot_it(void)
{
    struct web w;
    static const struct server_step answer[] = JSON(RESULT("2", TEXT("new")));
    open_legacy(&w, no_stream, "");
    server_play_when(w.server, "tools/call", not_found);
    server_play_when(w.server, "\"initialize\"", again);
    server_play_when(w.server, "notifications/initialized", accepted);
    server_play_when(w.server, "GET /mcp", no_stream);
    server_play_when(w.server, "tools/call", answer);
    CHECK_TEXT(call_web(&w), "new");
    CHECK(asked(&w, "tools/call", "Mcp-Session-Id: s-2\r\n"));
    close_web(&w);
}

/* Before it has listed its tools: the list and a call are sent again.  The one
 * that is refused first does not end the other one. */
static void starts_a_new_session_before_its_first_list(void)
{
    static const struct server_step late[] = {
        SERVER_PAUSE,
        SERVER_SAY("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
        SERVER_END
    };
    static const struct server_step call[] = JSON(RESULT("2", TEXT("new")));
    static const struct {
        const char *first, *last;
    } rows[] = { { "tools/list", "tools/call" },
                 { "tools/call", "tools/list" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct web w;
        check_row(rows[i].first);
        open_web(&w);
        server_play_when(w.server, "server/discover", not_found);
        server_play_when(w.server, "\"initialize\"", initialized);
        server_play_when(w.server, "notifications/initialized", accepted);
        server_play_when(w.server, "GET /mcp", no_stream);
        server_play_when(w.server, rows[i].first, not_found);
        server_play_when(w.server, rows[i].last, late);
        server_play_when(w.server, "\"initialize\"", again);
        server_play_when(w.server, "notifications/initialized", accepted);
        server_play_when(w.server, "GET /mcp", no_stream);
        server_play_when(w.server, "tools/call", call);
        server_play_when(w.server, "tools/list", listed_legacy);
        server_play_when(w.server, "DELETE /mcp", left);
        server_go(w.server);
        CHECK(has(request_web(&w), "new"));
        CHECK(asked(&w, "tools/call", "Mcp-Session-Id: s-2\r\n"));
        close_web(&w);
    }
    check_row(NULL);
}

static const struct server_step busy[] = {
    SERVER_SAY("HTTP/1.1 429 Slow\r\nRetry-After: 0\r\n"
               "Content-Length: 0\r\n\r\n"),
    SERVER_END
};

static void waits_if_the_server_is_busy(void)
{
    struct web w;
    open_modern(&w, "");
    server_play_when(w.server, "tools/call", busy);
    server_play_when(w.server, "tools/call", done);
    CHECK_TEXT(call_web(&w), "done");
    close_web(&w);
}

/* What awaits no answer is not lost, either. */
static void repeats_a_notification(void)
{
    struct web w;
    size_t told = 0;
    int64_t end = clock_after(clock_now_ns(clock_real()), 10000);
    open_web(&w);
    server_play_when(w.server, "server/discover", not_found);
    server_play_when(w.server, "\"initialize\"", initialized);
    server_play_when(w.server, "notifications/initialized", busy);
    server_play_when(w.server, "notifications/initialized", accepted);
    server_play_when(w.server, "GET /mcp", no_stream);
    server_play_when(w.server, "tools/list", listed_legacy);
    server_play_when(w.server, "DELETE /mcp", left);
    add_web(&w, "");
    while (told < 2 && clock_now_ns(clock_real()) < end) {
        sched_yield();
        told = 0;
        for (size_t i = 0; i < server_look(w.server).requests; i++)
            told += !!strstr(server_request(w.server, i), "s/initialized");
    }
    CHECK_INT(told, 2);
    close_web(&w);
}

/* The time that the server asks for is longer than that of its start. */
static void waits_for_a_start_that_is_late(void)
{
    struct web w;
    static const struct server_step late[] = {
        SERVER_SAY("HTTP/1.1 429 Slow\r\nRetry-After: 1.5\r\n"
                   "Content-Length: 0\r\n\r\n"),
        SERVER_END
    };
    open_web(&w);
    server_play_when(w.server, "server/discover", late);
    server_play_when(w.server, "server/discover", discovered);
    server_play_when(w.server, "tools/list", listed);
    add_web(&w, "'start_timeout': 1");
    CHECK_TEXT(state_of(&w, "revision"), "2026-07-28");
    CHECK(!asked(&w, "\"initialize\"", ""));
    close_web(&w);
}

/* Its own waits end with the time of the start. */
static void gives_up_a_start_that_is_busy(void)
{
    static const struct server_step later[] = ANSWER("429 Slow", "text/plain",
                                                     "");
    struct web w;
    open_web(&w);
    for (int i = 0; i < 2; i++)
        server_play_when(w.server, "server/discover", later);
    server_play_when(w.server, "server/discover", discovered);
    server_play_when(w.server, "tools/list", listed);
    add_web(&w, "'start_timeout': 1.5");
    CHECK(has(state_of(&w, "error"), "HTTP status 429"));
    close_web(&w);
}

/* 503: a call that changes something may have begun, and is not repeated. */
static void repeats_only_what_does_no_harm(void)
{
    struct web w;
    static const struct server_step down[] = {
        SERVER_SAY("HTTP/1.1 503 Down\r\nRetry-After: 0\r\n"
                   "Content-Length: 0\r\n\r\n"),
        SERVER_END
    };
    open_web(&w);
    server_play_when(w.server, "server/discover", discovered);
    server_play_when(w.server, "tools/list", down);
    server_play_when(w.server, "tools/list", listed);
    add_web(&w, "");
    server_play_when(w.server, "tools/call", down);
    server_play_when(w.server, "tools/call", done);
    CHECK(has(call_web(&w), "HTTP status 503"));
    close_web(&w);
}

static void names_what_refuses_a_call(void)
{
    static const struct server_step denied[] = ANSWER("401 No", "text/plain",
                                                      "");
    static const struct server_step broken[] = {
        SERVER_SAY("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                   "Content-Length: 100\r\n\r\n: x\n\n"),
        SERVER_RESET, SERVER_END
    };
    static const struct server_step moved[] = {
        SERVER_SAY("HTTP/1.1 308 Moved\r\nLocation: "
                   "https://u:secret@b.example/mcp?key=secret#x\r\n"
                   "Content-Length: 0\r\n\r\n"),
        SERVER_END
    };
    static const struct {
        const struct server_step *steps;
        const char *error;
    } rows[] = {
        { denied, "HTTP status 401; check its authorization" },
        { not_found, "HTTP status 404" },
        { page, "text/html, which is not an answer of MCP; check the URL" },
        { accepted, "HTTP status 202" },
        { broken, "handler_exit" },
        { moved, "status 308 and redirects to https://b.example/mcp, which is "
                 "not followed" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct web w;
        check_row(rows[i].error);
        open_modern(&w, "");
        server_play_when(w.server, "tools/call", rows[i].steps);
        CHECK(has(call_web(&w), rows[i].error));
        close_web(&w);
    }
    check_row(NULL);
}

static void names_what_is_no_server(void)
{
    static const struct server_step denied[] = ANSWER("403 No", "text/plain",
                                                      "");
    static const struct {
        const struct server_step *steps;
        const char *error;
    } rows[] = {
        { page, "text/html, which is not an answer of MCP; check the URL" },
        { denied, "HTTP status 403; check its authorization headers" },
        { not_found, "there is no Streamable HTTP endpoint" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct web w;
        check_row(rows[i].error);
        open_web(&w);
        server_play_always(w.server, rows[i].steps);
        add_web(&w, "");
        CHECK_TEXT(state_of(&w, "state"), "failed");
        CHECK(has(state_of(&w, "error"), rows[i].error));
        close_web(&w);
    }
    check_row(NULL);
}

static void needs_its_token(void)
{
    static const struct {
        const char *auth, *error;
    } rows[] = {
        { "env:NOT_SET_IN_TEST", "NOT_SET_IN_TEST is not set" },
        { "file:/no/such/token", "/no/such/token No such file" },
        { "file:/dev/null", "/dev/null is empty" },
        { "cmd:echo oops; exit 3", "its command failed" },
        { "cmd:kill -9 $$", "its command failed" },
        { "cmd:echo; echo late", "its command printed nothing" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct web w;
        char member[128];
        check_row(rows[i].auth);
        snprintf(member, sizeof member, "'auth': '%s'", rows[i].auth);
        open_web(&w);
        add_web(&w, member);
        CHECK_TEXT(state_of(&w, "state"), "failed");
        CHECK(has(state_of(&w, "error"), rows[i].error));
        CHECK_INT(server_look(w.server).requests, 0);
        close_web(&w);
    }
    check_row(NULL);
}

/* The first line of a file of the home. */
static void reads_its_token_from_a_file(void)
{
    struct web w;
    char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    open_web(&w);
    setenv("HOME", w.box.root, 1);
    external_file("token", " t-43 \r\nnot this\n");
    server_play_when(w.server, "server/discover", discovered);
    server_play_when(w.server, "tools/list", listed);
    add_web(&w, "'auth': 'file:~/token'");
    CHECK(asked(&w, "tools/list", "Authorization: Bearer t-43\r\n"));
    close_web(&w);
    if (home)
        setenv("HOME", home, 1);
    else
        unsetenv("HOME");
    free(home);
}

/* Its command runs once, and once more when the token has expired. */
static void asks_a_command_for_its_token(void)
{
    static const struct server_step expired[] = ANSWER("401 No", "text/plain",
                                                       "");
    struct web w;
    open_modern(&w, "'auth': 'cmd:echo >>runs; wc -l <runs'");
    CHECK(asked(&w, "server/discover", "Authorization: Bearer 1\r\n"));
    CHECK(asked(&w, "tools/list", "Authorization: Bearer 1\r\n"));
    server_play_when(w.server, "Bearer 1\r", expired);
    server_play_when(w.server, "Bearer 2\r", done);
    CHECK_TEXT(call_web(&w), "done");
    server_play_when(w.server, "tools/call", expired);
    server_play_when(w.server, "Bearer 3\r", expired);
    CHECK(has(call_web(&w), "HTTP status 401; check its authorization"));
    CHECK(!asked(&w, "Bearer 4\r", ""));
    close_web(&w);
}

/* A call fails with its command; the next one runs it again. */
static void tries_a_command_again_that_failed(void)
{
    static const struct server_step expired[] = ANSWER("401 No", "text/plain",
                                                       "");
    struct web w;
    open_modern(&w, "'auth': 'cmd:echo >>runs; wc -l <runs | grep -v 2'");
    server_play_when(w.server, "Bearer 1\r", expired);
    CHECK(has(call_web(&w), "its command failed"));
    call_web(&w);
    CHECK(asked(&w, "tools/call", "Bearer 3\r"));
    close_web(&w);
}

/* The stream of what the server says unasked gets a new token, too. */
static void listens_with_a_new_token(void)
{
    static const struct server_step expired[] = ANSWER("401 No", "text/plain",
                                                       "");
    struct web w;
    int64_t end = clock_after(clock_now_ns(clock_real()), 10000);
    open_legacy(&w, expired, "'auth': 'cmd:echo >>runs; wc -l <runs'");
    server_play_when(w.server, "GET /mcp", no_stream);
    while (!asked(&w, "GET /mcp", "Bearer 2\r") &&
           clock_now_ns(clock_real()) < end)
        sched_yield();
    CHECK(asked(&w, "GET /mcp", "Bearer 2\r"));
    close_web(&w);
}

/* A toolbox that is freed does not wait for the command. */
static void ends_a_command_that_hangs(void)
{
    struct web w;
    open_web(&w);
    allm_json *entry = noun_json("{'url': 'http://127.0.0.1:1/', "
                                 "'auth': 'cmd:>begun; sleep 1000'}");
    CHECK_INT(allm_toolbox_add_server(w.box.box, "w", entry), ALLM_OK);
    int64_t end = clock_after(clock_now_ns(clock_real()), 10000);
    while (!box_file(&w.box, "begun") && clock_now_ns(clock_real()) < end)
        sched_yield();
    CHECK(box_file(&w.box, "begun") != NULL);
    free_web(&w);
    allm_json_free(entry);
    close_web(&w);
}

static void reports_a_server_that_is_not_there(void)
{
    struct web w;
    open_web(&w);
    allm_json *entry = noun_json("{'url': 'http://127.0.0.1:1/mcp'}");
    CHECK_INT(allm_toolbox_add_server(w.box.box, "w", entry), ALLM_OK);
    CHECK_INT(allm_toolbox_wait(w.box.box, -1), ALLM_OK);
    CHECK_TEXT(state_of(&w, "state"), "failed");
    CHECK(has(state_of(&w, "error"), "127.0.0.1"));
    CHECK(has(state_of(&w, "error"), "that the URL names its port"));
    allm_json_free(entry);
    close_web(&w);
}

/* ----------------------------------------------------------- the end --- */

static const struct server_step silent[] = {
    SERVER_SAY("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
               "\r\n: begun\n\n"),
    SERVER_PAUSE, SERVER_END
};

struct pulled {
    allm_stream *stream;
    pthread_t thread;
};

static void *pull_stream(void *stream)
{
    allm_stream_wait(stream);
    return NULL;
}

/* Begin a call and wait until the server has it. */
static void begin_web(struct web *w, struct pulled *p,
                      const struct server_step *steps, size_t paused)
{
    server_play_when(w->server, "tools/call", steps);
    p->stream = box_start(&w->box, "w__go", "{'to': 'north'}");
    CHECK_ALWAYS(!pthread_create(&p->thread, NULL, pull_stream, p->stream));
    while (server_look(w->server).paused < paused)
        sched_yield();
}

/* A server of each era; its answer is a stream, or has not begun. */
static void call_ends_with_the_toolbox(void)
{
    static const struct server_step mute[] = { SERVER_PAUSE, SERVER_END };
    for (int i = 0; i < 4; i++) {
        struct web w;
        struct pulled p;
        if (i < 2)
            open_modern(&w, "");
        else
            open_legacy(&w, i == 2 ? no_stream : silent, "");
        begin_web(&w, &p, i % 2 ? silent : mute, i == 3 ? 2 : 1);
        free_web(&w);
        pthread_join(p.thread, NULL);
        const allm_message *m = allm_stream_tool_message(p.stream, 0);
        CHECK(has(m && m->text ? m->text : "nothing", "handler_exit"));
        allm_stream_free(p.stream);
        close_web(&w);
    }
}

static void call_ends_with_its_stream(void)
{
    static const struct server_step on[] = JSON(RESULT("4", TEXT("on")));
    struct web w;
    struct pulled p;
    open_modern(&w, "");
    begin_web(&w, &p, silent, 1);
    allm_stream_cancel(p.stream);
    pthread_join(p.thread, NULL);
    allm_stream_free(p.stream);
    server_play_when(w.server, "tools/call", on);
    CHECK_TEXT(call_web(&w), "on");
    free_web(&w);
    close_web(&w);
}

static void call_ends_at_its_time(void)
{
    struct web w;
    open_modern(&w, "'timeout': 0.1");
    server_play_when(w.server, "tools/call", silent);
    CHECK(has(call_web(&w), "no answer within 100 ms"));
    free_web(&w);
    close_web(&w);
}

/* Both are refused; the second one when the first has got a new token. */
static void renews_a_token_once_for_two_calls(void)
{
    static const struct server_step refused[] = {
        SERVER_PAUSE,
        SERVER_SAY("HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"), SERVER_END
    };
    static const struct server_step other[] = JSON(RESULT("4", TEXT("other")));
    struct web w;
    struct pulled p[2];
    open_modern(&w, "'auth': 'cmd:echo >>runs; wc -l <runs'");
    begin_web(&w, &p[0], refused, 1);
    begin_web(&w, &p[1], refused, 2);
    server_play_when(w.server, "\"id\":3", done);
    server_play_when(w.server, "\"id\":4", other);
    server_go(w.server);
    while (!asked(&w, "tools/call", "Bearer 2\r"))
        sched_yield();
    server_go(w.server);
    for (int i = 0; i < 2; i++) {
        pthread_join(p[i].thread, NULL);
        const allm_message *m = allm_stream_tool_message(p[i].stream, 0);
        CHECK_TEXT(m ? m->text : NULL, i ? "other" : "done");
        allm_stream_free(p[i].stream);
    }
    CHECK(!asked(&w, "Bearer 3\r", ""));
    close_web(&w);
}

TESTS = {
    TEST_ONCE(calls_a_modern_server),
    TEST_ONCE(calls_a_legacy_server_in_a_session),
    TEST_ONCE(greets_a_server_that_does_not_answer_its_probe),
    TEST_ONCE(starts_as_its_manifest_says),
    TEST_ONCE(reads_a_stream_of_events),
    TEST_ONCE(resumes_a_stream),
    TEST_ONCE(listens_to_a_legacy_server),
    TEST_ONCE(listens_again),
    TEST_ONCE(listens_before_it_asks),
    TEST_ONCE(asks_a_server_that_never_lets_it_listen),
    TEST_ONCE(starts_a_new_session_if_the_server_forgot_it),
    TEST_ONCE(starts_a_new_session_before_its_first_list),
    TEST_ONCE(waits_if_the_server_is_busy),
    TEST_ONCE(repeats_a_notification),
    TEST_ONCE(waits_for_a_start_that_is_late),
    TEST_ONCE(gives_up_a_start_that_is_busy),
    TEST_ONCE(repeats_only_what_does_no_harm),
    TEST_ONCE(names_what_refuses_a_call),
    TEST_ONCE(names_what_is_no_server),
    TEST_ONCE(needs_its_token),
    TEST_ONCE(reads_its_token_from_a_file),
    TEST_ONCE(asks_a_command_for_its_token),
    TEST_ONCE(tries_a_command_again_that_failed),
    TEST_ONCE(listens_with_a_new_token),
    TEST_ONCE(renews_a_token_once_for_two_calls),
    TEST_ONCE(ends_a_command_that_hangs),
    TEST_ONCE(reports_a_server_that_is_not_there),
    TEST_ONCE(call_ends_with_the_toolbox),
    TEST_ONCE(call_ends_with_its_stream),
    TEST_ONCE(call_ends_at_its_time),
    TESTS_END,
};
