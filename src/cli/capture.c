/*
 * capture.c - a transport that captures the request and sends nothing
 *
 * The request becomes {"method", "url", "headers", "body"}.  The body is a
 * value if it is JSON, else a string.  The key, and everything that recordings
 * redact, is shown as ***.
 */
#include "cli/capture.h"

#include "cli/exit.h"
#include "cli/print.h"
#include "cli/reword.h"
#include "conf/member.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_text(allm_json_build *b, const char *key, const char *text)
{
    member_text(b, key, text ? text : "");
}

/* A string of a recording, with *** for each redacted part; a very long one
 * is not changed. */
static void put_hidden(allm_json_build *b, const char *text, size_t len)
{
    static const char mark[] = "[REDACTED]";
    const size_t n = sizeof mark - 1;
    char shown[8192];
    size_t to = 0;
    if (len > sizeof shown) {
        allm_json_build_text(b, text, len);
        return;
    }
    for (size_t i = 0; i < len;) {
        bool hidden = len - i >= n && !memcmp(text + i, mark, n);
        memcpy(shown + to, hidden ? "***" : text + i, hidden ? 3 : 1);
        to += hidden ? 3 : 1;
        i += hidden ? n : 1;
    }
    allm_json_build_text(b, shown, to);
}

static void put_url(allm_json_build *b, const allm_json *recorded)
{
    size_t len = 0;
    const char *url = allm_json_text(allm_json_get(recorded, "url"), &len);
    allm_json_build_key(b, "url");
    put_hidden(b, url ? url : "", len);
}

/* The lines "name: value" as members, and the header with the key. */
static void put_headers(allm_json_build *b, const allm_json *recorded,
                        const char *secret_name)
{
    const allm_json *lines = allm_json_get(recorded, "headers");
    member_object(b, "headers");
    for (const allm_json *v = NULL; (v = allm_json_next(lines, v));) {
        size_t len = 0;
        const char *line = allm_json_text(v, &len);
        const char *colon = line ? strstr(line, ": ") : NULL;
        char name[256];
        if (!colon)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(colon - line), line);
        allm_json_build_key(b, name);
        put_hidden(b, colon + 2, len - (size_t)(colon + 2 - line));
    }
    if (secret_name)
        put_text(b, secret_name, "***");
    allm_json_build_end(b);
}

static void put_body(allm_json_build *b, const allm_http_view *view)
{
    const char *body = view->body ? view->body : "";
    allm_json *value = allm_json_parse(body, view->body_len, NULL);
    allm_json_build_key(b, "body");
    if (!allm_json_error(value))
        allm_json_build_value(b, value);
    else
        allm_json_build_text(b, body, view->body_len);
    allm_json_free(value);
}

static allm_status read_nothing(void *self, allm_exchange *e, allm_chunk *chunk)
{
    (void)self;
    (void)e;
    (void)chunk;
    return ALLM_OK;
}

static const allm_http_head *no_head(void *self, allm_exchange *e)
{
    (void)self;
    (void)e;
    return NULL;
}

static void close_nothing(void *self, allm_exchange *e)
{
    (void)self;
    (void)e;
}

static const allm_error not_sent = {
    .size = sizeof not_sent,
    .kind = ALLM_ERR_ADAPTER,
    .reason = "network_error",
    .message = "the request was captured, not sent",
};

static allm_exchange *reject_open(void *self, const allm_http_view *view,
                                  allm_waker *waker, const allm_error **error)
{
    (void)self;
    (void)view;
    (void)waker;
    *error = &not_sent;
    return NULL;
}

static allm_transport transport_of(struct capture *c)
{
    return (allm_transport){
        .size = sizeof c->transport,
        .self = c,
        .open = reject_open,
        .read = read_nothing,
        .head = no_head,
        .close = close_nothing,
    };
}

/* The object {"request": ...} of a recording: from the second line to the next
 * line that begins with a brace. */
static allm_json *parse_recording(const allm_text *text)
{
    const char *from = allm_text_bytes(text, NULL);
    from = from ? strchr(from, '\n') : NULL;
    const char *to = from ? strstr(from + 1, "\n{") : NULL;
    return to ? allm_json_parse(from, (size_t)(to - from), NULL) : NULL;
}

/* Record the request without key and body: the recorder redacts the secrets in
 * the URL and the headers.  NULL: out of memory. */
static allm_json *record_request(struct capture *c, const allm_http_view *view)
{
    const allm_error *error;
    const allm_transport sends_nothing = transport_of(c);
    allm_http_view bare = *view;
    bare.secret_name = bare.secret_value = NULL;
    bare.body = "";
    bare.body_len = 0;
    allm_recorder *record = allm_recorder_new(
        NULL, ALLM(recorder_opts, .transport = &sends_nothing));
    const allm_transport *t = allm_recorder_transport(record);
    t->open(t->self, &bare, NULL, &error);
    allm_text *text = allm_recorder_text(record);
    allm_json *recorded = parse_recording(text);
    allm_text_free(text);
    allm_recorder_free(record);
    return recorded;
}

static allm_exchange *capture_request(void *self, const allm_http_view *view,
                                      allm_waker *waker,
                                      const allm_error **error)
{
    struct capture *c = self;
    (void)waker;
    allm_json *all = record_request(c, view);
    const allm_json *recorded = allm_json_get(all, "request");
    allm_json_build *b = member_new_object();
    put_text(b, "method", view->method);
    put_url(b, recorded);
    put_headers(b, recorded, view->secret_name);
    put_body(b, view);
    allm_json_free(c->request);
    c->request = member_done(b);
    allm_json_free(all);
    *error = &not_sent;
    return NULL;
}

void capture_init(struct capture *c)
{
    c->request = NULL;
    c->transport = transport_of(c);
    c->transport.open = capture_request;
}

void capture_release(struct capture *c)
{
    allm_json_free(c->request);
    c->request = NULL;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

static const char *get_address_variable(void *ud, const char *name)
{
    (void)ud;
    return ends_with(name, "_BASE_URL") || ends_with(name, "_ENDPOINT") ||
                   ends_with(name, "_HOST")
               ? getenv(name)
               : NULL;
}

allm_keys *capture_keys(void)
{
    return allm_keys_new(ALLM(keys_opts, .env = get_address_variable));
}

int capture_show(const struct capture *c, const allm_stream *stream,
                 bool compact)
{
    const allm_error *error = allm_stream_error(stream);
    if (c->request && !allm_json_error(c->request)) {
        print_json(c->request, compact ? 0 : ALLM_JSON_PRETTY);
        return END_DONE;
    }
    if (!error)
        return print_misuse(
            "this model does not use HTTP: there is no request to show");
    reword_print(error);
    for (const allm_json *e = NULL; (e = allm_json_next(error->errors, e));) {
        allm_text *line = allm_json_write(e, 0);
        print_fault("  %s", allm_text_bytes(line, NULL));
        allm_text_free(line);
    }
    return exit_of_error(error);
}
