/*
 * test_spoiled.c - answers of the fixtures, changed at random
 *
 * However a body is spoiled, a call ends once: with a message or with an
 * error, never with both or neither; and what is left of the answer is history
 * that every provider accepts.
 */
#include "unit/run/across.h"

#include "harness/check.h"
#include "harness/legal.h"
#include "harness/play.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { BODIES = 512, BODY_LIMIT = 65536, RUNS = 200 };

static struct canned server;
static struct legal law;

/* --------------------------------------------------------------- bodies --- */

struct body {
    char bytes[BODY_LIMIT];
    size_t len;
};

static bool load(struct body *b, const char *folder, const char *name)
{
    static const char *const files[] = { "wire-response.sse",
                                         "wire-response.ndjson" };
    const char *source = getenv("SOURCE_DIR");
    b->len = 0;
    for (size_t i = 0; !b->len && i < 2; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/tests/fixture/%s/%s/%s",
                 source ? source : ".", folder, name, files[i]);
        FILE *f = fopen(path, "rb");
        if (!f)
            continue;
        b->len = fread(b->bytes, 1, BODY_LIMIT / 2, f);
        fclose(f);
    }
    return b->len != 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of a dialect's answers, in order; free each. */
static size_t list(const char *dialect, char **names)
{
    char path[4096];
    size_t n = 0;
    const char *source = getenv("SOURCE_DIR");
    snprintf(path, sizeof path, "%s/tests/fixture/%s", source ? source : ".",
             dialect);
    DIR *dir = opendir(path);
    if (!CHECK_ALWAYS(dir != NULL))
        return 0;
    struct dirent *entry;
    while ((entry = readdir(dir)) && n < BODIES)
        if (entry->d_name[0] != '.' && strncmp(entry->d_name, "encode-", 7))
            names[n++] = strdup(entry->d_name);
    closedir(dir);
    qsort(names, n, sizeof *names, by_name);
    return n;
}

/* ------------------------------------------------------------- spoiling --- */

/* Put `len` bytes of `with` in the place of `gone` bytes. */
static void splice(struct body *b, size_t at, size_t gone, const char *with,
                   size_t len)
{
    char copy[256];
    if (b->len - gone + len > BODY_LIMIT - 1 || len > sizeof copy)
        return;
    memcpy(copy, with, len);    /* it may lie in the body itself */
    memmove(b->bytes + at + len, b->bytes + at + gone, b->len - at - gone);
    memcpy(b->bytes + at, copy, len);
    b->len += len - gone;
}

static void spoil(struct body *b, struct random r)
{
    static const char *const words[] = {
        "null",
        "\"\"",
        "{}",
        "[]",
        "[null]",
        "0",
        "-1",
        "1e999",
        "true",
        "\n",
        "\n\n",
        "data: [DONE]\n\n",
        "\"",
        "\\",
        "}",
        "{",
        "]",
        ",",
        "\xFF",
        "\r",
        "{\"error\":{\"message\":\"x\"}}",
        "event: error\n",
        "\\ud800",
        "stop",
    };
    size_t at = (size_t)random_below(r, b->len);
    size_t most = b->len - at < 200 ? b->len - at : 200;
    size_t n = (size_t)random_below(r, most + 1);
    size_t from = (size_t)random_below(r, b->len - n + 1);
    const char *word = words[random_below(r, sizeof words / sizeof *words)];
    switch (random_below(r, 6)) {
    case 0: b->bytes[at] = (char)random_below(r, 256); break;
    case 1: splice(b, at, n, "", 0); break;
    case 2: splice(b, at, 0, b->bytes + from, n); break;
    case 3: splice(b, at, 0, word, strlen(word)); break;
    case 4: splice(b, at, n, word, strlen(word)); break;
    default:
        if (!random_below(r, 4))
            b->len = at;
        break;
    }
    if (!b->len)
        splice(b, 0, 0, "x", 1);
}

/* A value of JSON in its whole, so that the frame stays one: what stands
 * between a colon and the next comma or bracket. */
static void spoil_value(struct body *b, struct random r)
{
    static const char *const values[] = { "null", "\"\"",  "{}", "[]", "7",
                                          "-1",   "false", "[{}]", "\"x\"" };
    size_t at = (size_t)random_below(r, b->len), end;
    const char *v = values[random_below(r, sizeof values / sizeof *values)];
    while (at < b->len && b->bytes[at] != ':')
        at++;
    if (at + 1 >= b->len)
        return;
    for (end = ++at; end < b->len && !strchr(",}]\n", b->bytes[end]); end++)
        if (!b->bytes[end])
            return;
    splice(b, at, end - at, v, strlen(v));
}

/* -------------------------------------------------------------- playing --- */

/* How often it ended, and that nothing comes behind the end. */
static void check_end(allm_stream *s)
{
    const allm_event *event = NULL;
    allm_status status;
    size_t ends = 0;
    while ((status = allm_stream_next(s, &event)) == ALLM_EVENT) {
        CHECK_ALWAYS(ends == 0);
        ends += event->type == ALLM_EV_MESSAGE_COMPLETED ||
                event->type == ALLM_EV_ERROR;
    }
    ends += status < 0;
    CHECK_INT(ends, 1);
    CHECK_ALWAYS(ends == 1);
}

static allm_stream *call(allm_engine *e, const allm_thread *t)
{
    allm_request *r = allm_request_from_thread(t, NULL);
    allm_stream *s = allm_generate(e, r, ALLM(call_opts, .api_key = "k"));
    allm_request_free(r);
    return s;
}

static allm_engine *engine_of(const struct across *a, const allm_clock *c,
                              const allm_transport *t)
{
    allm_json *never = allm_json_parse("false", 5, NULL);
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = a->model,
                                          .transport = t, .clock = c,
                                          .retry = never));
    allm_json_free(never);
    return e;
}

/* Play a body to its end: its message, if there is one.  Free it. */
static allm_message *play(const struct across *a, const allm_thread *t,
                          const char *body, size_t len)
{
    const struct canned_reply reply = { .status = 200, .body = body,
                                        .len = len };
    struct clock_manual clock = { .now_ns = 0 };
    server = (struct canned){ .reply = &reply, .count = 1 };
    allm_transport transport = canned_transport(&server);
    allm_clock c = play_clock(&clock);
    allm_engine *e = engine_of(a, &c, &transport);
    allm_stream *s = call(e, t);
    check_end(s);
    const allm_response *r = allm_stream_response(s);
    allm_message *m = r && r->message ? allm_message_keep(r->message) : NULL;
    allm_stream_free(s);
    allm_engine_free(e);
    return m;
}

/* Tell everybody what came; of its own provider another model, since the same
 * one is sent back whatever it said. */
static void check_history(const struct across *from, const allm_thread *so_far,
                          const allm_message *m)
{
    allm_thread *t = allm_thread_copy(so_far);
    CHECK_INT(allm_thread_append(t, m), ALLM_OK);
    allm_thread_add(t, ALLM_ROLE_USER, "Go on.");
    for (size_t i = 0; i < ACROSS; i++) {
        struct across to = across[i];
        to.model = from == &across[i] ? to.sibling : to.model;
        allm_message_free(play(&to, t, to.answer, 0));
        const char *at = strchr(server.asked, '|');
        at = at ? strchr(at + 1, '|') : NULL;
        if (strlen(server.asked) + 1 == sizeof server.asked)
            continue;           /* more than we can see */
        allm_json *body = allm_json_parse(at ? at + 1 : "", ALLM_NUL_ENDED,
                                          NULL);
        legal_read(&law, to.dialect, body);
        allm_json_free(body);
        if (!CHECK_WHY(!law.fault, law.fault ? law.fault : ""))
            fprintf(stderr, "%s\n", server.asked);
    }
    allm_thread_free(t);
}

static void spoiled(const struct across *a)
{
    static char *names[BODIES];
    static struct body b;
    char row[256];
    struct random r = check_random();
    size_t n = list(a->dialect, names);
    allm_thread *t = allm_thread_new(NULL);
    allm_thread_add(t, ALLM_ROLE_USER, "hi");
    for (size_t i = 0; n && i < RUNS; i++) {
        const char *name = names[random_below(r, n)];
        if (!load(&b, a->dialect, name))
            continue;
        for (size_t k = random_below(r, 4) + 1; k; k--)
            (random_below(r, 2) ? spoil : spoil_value)(&b, r);
        snprintf(row, sizeof row, "%s/%s, run %zu", a->dialect, name, i);
        check_row(row);
        allm_message *m = play(a, t, b.bytes, b.len);
        if (m)
            check_history(a, t, m);
        allm_message_free(m);
    }
    allm_thread_free(t);
    while (n)
        free(names[--n]);
}

static void every_dialect(void)
{
    for (size_t i = 0; i < ACROSS; i++)
        spoiled(&across[i]);
}

TESTS = { TEST_ONCE(every_dialect), TESTS_END };
