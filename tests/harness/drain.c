/* drain.c - read an exchange of a transport, and write down the result */
#include "harness/drain.h"

#include "harness/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static char out[16384];

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list args;
    size_t n = strlen(out);
    va_start(args, format);
    vsnprintf(out + n, sizeof out - n, format, args);
    va_end(args);
}

/* Bytes that are not printable are written as hexadecimal numbers. */
static void say_piece(const char *bytes, size_t len)
{
    say(" [");
    for (size_t i = 0; i < len; i++)
        say(bytes[i] >= ' ' && bytes[i] < 127 ? "%c" : "<%02x>",
            (unsigned char)bytes[i]);
    say("]");
}

static void say_head(const allm_transport *t, allm_exchange *x)
{
    const allm_http_head *head = t->head(t->self, x);
    if (!head) {
        say("no head");
        return;
    }
    say("%d", (int)head->status);
    for (size_t i = 0; i < head->header_count; i++)
        say(" %s=%s", head->header[2 * i], head->header[2 * i + 1]);
}

static void say_error(const allm_error *e)
{
    say("%s!%s: %s", *out ? " " : "", e ? e->reason : "?",
        e ? e->message : "?");
}

/* Nothing yet; true: more will arrive. */
static bool pass_time(const struct drain *d, const allm_transport *t,
                      allm_exchange *x, int64_t again_ns)
{
    if (t->ready && !t->ready(t->self, x))
        say("(connecting)");
    if (again_ns == INT64_MAX || !d->clock) {
        say(" ~");
        return false;
    }
    int64_t ms = (again_ns - d->clock->now_ns) / 1000000;
    say(" +%lld", (long long)ms);
    clock_advance(d->clock, ms);
    return true;
}

static void read_all(const struct drain *d, const allm_transport *t,
                     allm_exchange *x)
{
    bool answered = false;
    int waits = 0;
    for (size_t n = 0; !d->most || n < d->most; n++) {
        allm_chunk chunk = { .size = sizeof chunk, .again_ns = INT64_MAX };
        allm_status status = t->read(t->self, x, &chunk);
        if (status >= 0 && status != ALLM_AGAIN && !answered)
            say_head(t, x);
        answered = answered || (status >= 0 && status != ALLM_AGAIN);
        if (status == ALLM_EVENT) {
            say_piece(chunk.bytes, chunk.len);
        } else if (status == ALLM_AGAIN) {
            if (!pass_time(d, t, x, chunk.again_ns) && ++waits == 2)
                return;
        } else {
            if (status == ALLM_OK)
                say(" ok");
            else
                say_error(chunk.error);
            return;
        }
    }
}

const char *drain_all(const allm_transport *t, const struct drain *d)
{
    char secret[256];
    const allm_error *why = NULL;
    const char *const headers[] = { "content-type", "application/json" };
    const char *body = d->body ? d->body : "{}";
    snprintf(secret, sizeof secret, "Bearer %s", d->key ? d->key : "");
    const allm_http_view view = {
        .size = sizeof view,
        .method = d->method ? d->method : "POST",
        .url = d->url ? d->url : "https://a.example/x",
        .header_count = 1,
        .header = headers,
        .secret_name = d->key ? "authorization" : NULL,
        .secret_value = d->key ? secret : NULL,
        .body_len = strlen(body),
        .body = body
    };
    out[0] = '\0';
    if (!t)
        return out;
    allm_exchange *x = t->open(t->self, &view, NULL, &why);
    if (!x) {
        say_error(why);
        return out;
    }
    read_all(d, t, x);
    t->close(t->self, x);
    return out;
}
