/*
 * capture.c - a transport that keeps the request and sends nothing
 *
 * It is kept as {"method", "url", "headers", "body"}: the body as a value where
 * it is JSON, the key as ***.
 */
#include "cli/capture.h"

#include "cli/exit.h"
#include "cli/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_text(allm_json_build *b, const char *key, const char *text)
{
    allm_json_build_key(b, key);
    allm_json_build_text(b, text ? text : "", ALLM_NUL_ENDED);
}

/* The address, a user and password in it as ***. */
static void put_url(allm_json_build *b, const char *url)
{
    const char *at = strstr(url, "://"), *behind = NULL;
    size_t scheme = at ? (size_t)(at - url) + 3 : 0;
    for (const char *p = url + scheme; *p && !strchr("/?#", *p); p++)
        behind = *p == '@' ? p : behind;
    char shown[8192];
    snprintf(shown, sizeof shown, "%.*s***%s", (int)scheme, url,
             behind ? behind : "");
    put_text(b, "url", behind ? shown : url);
}

static void put_headers(allm_json_build *b, const allm_http_view *view)
{
    allm_json_build_key(b, "headers");
    allm_json_build_object(b);
    for (size_t i = 0; i < view->header_count; i++)
        put_text(b, view->header[2 * i], view->header[2 * i + 1]);
    if (view->secret_name)
        put_text(b, view->secret_name, "***");
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

static allm_exchange *keep(void *self, const allm_http_view *view,
                           allm_waker *waker, const allm_error **error)
{
    static const allm_error not_sent = {
        .size = sizeof not_sent,
        .kind = ALLM_ERR_ADAPTER,
        .reason = "network_error",
        .message = "the request was kept and not sent",
    };
    struct capture *c = self;
    (void)waker;
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_object(b);
    put_text(b, "method", view->method);
    put_url(b, view->url ? view->url : "");
    put_headers(b, view);
    put_body(b, view);
    allm_json_build_end(b);
    allm_json_free(c->request);
    c->request = allm_json_build_done(b);
    *error = &not_sent;
    return NULL;
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

static void end(void *self, allm_exchange *e)
{
    (void)self;
    (void)e;
}

void capture_init(struct capture *c)
{
    c->request = NULL;
    c->transport = (allm_transport){
        .size = sizeof c->transport,
        .self = c,
        .open = keep,
        .read = read_nothing,
        .head = no_head,
        .close = end,
    };
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

static const char *address_only(void *ud, const char *name)
{
    (void)ud;
    return ends_with(name, "_BASE_URL") || ends_with(name, "_ENDPOINT") ||
                   ends_with(name, "_HOST")
               ? getenv(name)
               : NULL;
}

allm_keys *capture_keys(void)
{
    return allm_keys_new(ALLM(keys_opts, .env = address_only));
}

int capture_show(const struct capture *c, const allm_stream *stream,
                 bool compact)
{
    const allm_error *error = allm_stream_error(stream);
    if (c->request && !allm_json_error(c->request)) {
        print_json(c->request, compact ? 0 : ALLM_JSON_PRETTY);
        return END_DONE;
    }
    if (!error) {
        print_fault("this model is asked without HTTP: there is no request to "
                    "show");
        return END_USAGE;
    }
    print_fault("%s", error->message);
    for (const allm_json *e = NULL; (e = allm_json_next(error->errors, e));) {
        allm_text *line = allm_json_write(e, 0);
        print_fault("  %s", allm_text_bytes(line, NULL));
        allm_text_free(line);
    }
    return exit_of_error(error);
}
