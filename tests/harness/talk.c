/* talk.c - a conversation between an MCP client and a server, as a script */
#include "harness/talk.h"

#include "base/buf.h"
#include "base/clock.h"
#include "harness/check.h"
#include "json/parse.h"
#include "json/write.h"

#include <stdlib.h>

#define HEAD "{\"jsonrpc\":\"2.0\","
#define META                                                              \
    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","         \
    "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"allm\",\"version\":"

struct talk {
    struct mcp_client *client;          /* one of these is ours */
    allm_mcp_server *server;
    struct arena arena;
    struct buf got, want;
    struct clock_manual clock;
    size_t at, cut;                     /* of the server's bytes */
    uint32_t total_ms;
};

/* ------------------------------------------------------------ what came --- */

static void add_json(struct buf *b, const allm_json *v)
{
    if (v)
        json_write(b, v, 0);
}

static void add_event(struct talk *t, const struct mcp_event *ev)
{
    static const char *const kinds[] = {
        [MCP_READY] = "ready",       [MCP_FAILED] = "failed",
        [MCP_ANSWER] = "answer",     [MCP_PROGRESS] = "progress",
        [MCP_ELICIT] = "elicit",     [MCP_WITHDRAWN] = "withdrawn",
        [MCP_CHANGED] = "changed",   [MCP_LOG] = "log",
    };
    buf_format(&t->got, "! %s", kinds[ev->kind]);
    if (ev->number)
        buf_format(&t->got, " %u", (unsigned)ev->number);
    if (ev->question)
        buf_format(&t->got, " ?%u", (unsigned)ev->question);
    if (ev->lists)
        buf_format(&t->got, " lists %u", ev->lists);
    if (ev->error)
        buf_format(&t->got, " %s: %s", ev->error->reason, ev->error->message);
    if (ev->value)
        buf_byte(&t->got, ' ');
    add_json(&t->got, ev->value);
    buf_text(&t->got, ev->cut ? " cut\n" : "\n");
    CHECK(ev->ud == (ev->number ? t : NULL));
}

/* A message, with M for what it says about the client. */
static void add_message(struct talk *t, struct slice json)
{
    CHECK(slice_starts(json, SLICE(HEAD)));
    buf_text(&t->got, "> {");
    json = slice_skip(json,
                      json.len < sizeof HEAD ? json.len : sizeof HEAD - 1);
    const char *meta = json.len ? strstr(json.ptr, META) : NULL;
    if (meta) {
        const char *end = strstr(meta + sizeof META, "}");
        end = end ? strstr(end, "Capabilities\":") : NULL;
        if (end) {
            buf_add(&t->got,
                    (struct slice){ json.ptr,
                                             (size_t)(meta - json.ptr) });
            buf_byte(&t->got, 'M');
            json = slice_skip(json, (size_t)(end + 14 - json.ptr));
        }
    }
    buf_add(&t->got, json);
    buf_byte(&t->got, '\n');
}

static void add_request(struct talk *t, const allm_mcp_request *r)
{
    static const char *const kinds[] = {
        [ALLM_MCP_REQUEST_CALL] = "call",
        [ALLM_MCP_REQUEST_READ] = "read",
        [ALLM_MCP_REQUEST_PROMPT] = "prompt",
        [ALLM_MCP_REQUEST_CANCEL] = "cancel",
    };
    buf_format(&t->got, "! %s %u", kinds[r->kind], (unsigned)r->id);
    if (r->kind != ALLM_MCP_REQUEST_CANCEL) {
        buf_format(&t->got, " %s ", r->name);
        add_json(&t->got, r->arguments);
        if (r->answer)
            buf_text(&t->got, " answer ");
        add_json(&t->got, r->answer);
    }
    buf_byte(&t->got, '\n');
}

/* The lines of the server, one byte at a time. */
static void collect_server(struct talk *t)
{
    const allm_mcp_request *r;
    const char *bytes;
    size_t len;
    struct buf line;
    buf_init(&line, &t->arena, 8 << 20);
    while ((bytes = allm_mcp_server_out(t->server, &len))) {
        if (*bytes == '\n') {
            add_message(t, buf_slice(&line));
            buf_clear(&line);
        } else {
            buf_byte(&line, *bytes);
        }
        allm_mcp_server_sent(t->server, 1);
    }
    while ((r = allm_mcp_server_next(t->server)))
        add_request(t, r);
}

static void collect(struct talk *t)
{
    struct mcp_event ev;
    const struct mcp_message *m;
    if (t->server) {
        collect_server(t);
        return;
    }
    while ((m = mcp_client_out(t->client))) {
        add_message(t, m->json);
        mcp_client_sent(t->client);
    }
    while (mcp_client_next(t->client, &ev))
        add_event(t, &ev);
}

static void compare(struct talk *t)
{
    collect(t);
    CHECK_SLICE(buf_slice(&t->got), buf_slice(&t->want));
    buf_clear(&t->got);
    buf_clear(&t->want);
}

/* ----------------------------------------------------------- what to do --- */

/* Each piece is a block of its own, so that a sanitizer sees a late reader. */
static void feed_piece(struct talk *t, struct slice piece)
{
    char *block = malloc(piece.len ? piece.len : 1);
    if (!block)
        return;
    memcpy(block, piece.ptr, piece.len);
    if (t->server)
        allm_mcp_server_feed(t->server, block, piece.len);
    else
        mcp_client_feed(t->client, (struct slice){ block, piece.len },
                        t->clock.now_ns);
    free(block);
}

static void feed_cut(struct talk *t, struct slice bytes)
{
    size_t from = t->at;
    t->at += bytes.len;
    if (t->cut == 0) {
        for (size_t i = 0; i < bytes.len; i++)
            feed_piece(t, (struct slice){ bytes.ptr + i, 1 });
    } else if (t->cut > from && t->cut < t->at) {
        feed_piece(t, (struct slice){ bytes.ptr, t->cut - from });
        feed_piece(t, slice_skip(bytes, t->cut - from));
    } else {
        feed_piece(t, bytes);
    }
}

/* A line of the script with " for ', and the head that is left out. */
static struct slice unquote(struct arena *a, struct slice line, bool head)
{
    struct buf b;
    buf_init(&b, a, 1 << 20);
    if (head && line.len && *line.ptr == '{') {
        buf_text(&b, HEAD);
        line = slice_skip(line, 1);
    }
    for (size_t i = 0; i < line.len; i++)
        buf_byte(&b, line.ptr[i] == '\'' ? '"' : line.ptr[i]);
    return buf_slice(&b);
}

static struct slice take_word(struct slice *s)
{
    const char *end = memchr(s->ptr, ' ', s->len);
    struct slice word = { s->ptr, end ? (size_t)(end - s->ptr) : s->len };
    *s = slice_skip(*s, end ? word.len + 1 : word.len);
    return word;
}

static const allm_json *take_json(struct talk *t, struct slice s)
{
    const allm_error *error;
    return s.len ? json_parse_loose(&t->arena, s, &error) : NULL;
}

static void ask(struct talk *t, struct slice what, struct slice rest)
{
    static const struct {
        const char *word;
        enum mcp_method method;
    } rows[] = {
        { "call", MCP_TOOLS_CALL },          { "read", MCP_RESOURCES_READ },
        { "prompt", MCP_PROMPTS_GET },       { "tools", MCP_TOOLS_LIST },
        { "resources", MCP_RESOURCES_LIST }, { "prompts", MCP_PROMPTS_LIST },
        { "templates", MCP_TEMPLATES_LIST },
    };
    struct mcp_ask a = { .ud = t, .total_ms = t->total_ms };
    struct slice list = slice_is(what, "list") ? take_word(&rest) : what;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (slice_is(list, rows[i].word))
            a.method = rows[i].method;
    a.name = arena_copy(&t->arena, take_word(&rest));
    a.arguments = take_json(t, rest);
    if (CHECK_WHY(a.method && a.name, "the script is wrong"))
        mcp_client_request(t->client, &a, t->clock.now_ns);
    t->total_ms = 0;
}

static void answer(struct talk *t, struct slice rest)
{
    static const char *const words[] = { "accept", "decline", "cancel" };
    uint64_t question = strtoull(rest.ptr, NULL, 10);
    take_word(&rest);
    struct slice word = take_word(&rest);
    enum mcp_action action = MCP_ACCEPT;
    while (action < MCP_CANCEL && !slice_is(word, words[action]))
        action++;
    const allm_json *faults = mcp_client_answer(t->client, question, action,
                                                take_json(t, rest), &t->arena,
                                                t->clock.now_ns);
    const allm_json *first = allm_json_at(faults, 0);
    if (first)
        buf_format(&t->got, "! faults %s\n", json_text_at(first, "path").ptr);
}

static void act(struct talk *t, struct slice line)
{
    struct slice word = take_word(&line);
    if (slice_is(word, "@")) {
        clock_advance(&t->clock, strtol(line.ptr, NULL, 10));
        mcp_client_tick(t->client, t->clock.now_ns);
    } else if (slice_is(word, "within")) {
        t->total_ms = (uint32_t)strtoul(line.ptr, NULL, 10);
    } else if (slice_is(word, "cancel")) {
        mcp_client_cancel(t->client, strtoull(line.ptr, NULL, 10),
                          t->clock.now_ns);
    } else if (slice_is(word, "answer")) {
        answer(t, line);
    } else if (slice_is(word, "gone")) {
        mcp_client_gone(t->client, arena_copy(&t->arena, line));
    } else if (slice_is(word, "broke")) {
        uint64_t id = strtoull(line.ptr, NULL, 10);
        take_word(&line);
        mcp_client_broke(t->client, id, arena_copy(&t->arena, line),
                         t->clock.now_ns);
    } else if (slice_is(word, "waits")) {
        uint64_t id = strtoull(line.ptr, NULL, 10);
        take_word(&line);
        mcp_client_waits(t->client, id,
                         clock_after(t->clock.now_ns,
                                     strtol(line.ptr, NULL, 10)));
    } else if (slice_is(word, "refused")) {
        uint64_t id = strtoull(line.ptr, NULL, 10);
        take_word(&line);
        int status = (int)strtol(line.ptr, NULL, 10);
        take_word(&line);
        const char *target = status / 100 == 3 && line.len
                                 ? arena_copy(&t->arena, line)
                                 : NULL;
        mcp_client_refused(t->client, id, status, target, line,
                           t->clock.now_ns);
    } else {
        ask(t, word, line);
    }
}

static allm_status notify(allm_mcp_server *s, uint64_t id, const char *numbers)
{
    char *end;
    double progress = strtod(numbers, &end);
    return allm_mcp_server_notify(s, id, progress, strtod(end, NULL), "m");
}

static void act_server(struct talk *t, struct slice line)
{
    struct slice word = take_word(&line);
    uint64_t id = strtoull(line.ptr, NULL, 10);
    take_word(&line);
    const char *rest = arena_copy(&t->arena, line);
    allm_status status = ALLM_OK;
    if (!rest)
        return;
    if (slice_is(word, "text") || slice_is(word, "failed"))
        status = allm_mcp_server_text(t->server, id, rest, ALLM_NUL_ENDED,
                                      slice_is(word, "failed"));
    else if (slice_is(word, "result"))
        status = allm_mcp_server_answer(t->server, id, take_json(t, line));
    else if (slice_is(word, "fail"))
        status = allm_mcp_server_fail(t->server, id, rest);
    else if (slice_is(word, "ask"))
        status = allm_mcp_server_elicit(t->server, id, "who?",
                                        take_json(t, line));
    else if (CHECK(slice_is(word, "progress")))
        status = notify(t->server, id, rest);
    if (status != ALLM_OK)
        buf_format(&t->got, "! %s\n", allm_status_name(status));
}

static void say(struct talk *t, struct slice line, bool exact)
{
    struct buf b;
    buf_init(&b, &t->arena, 32 << 20);
    buf_add(&b, exact ? line : unquote(&t->arena, line, true));
    buf_byte(&b, '\n');
    if (check_whole())
        feed_cut(t, buf_slice(&b));
}

/* ----------------------------------------------------------- the script --- */

static struct slice next_line(const char **script)
{
    const char *end = strchr(*script, '\n');
    struct slice line = { *script, end ? (size_t)(end - *script)
                                       : strlen(*script) };
    *script += line.len + (end ? 1 : 0);
    return line;
}

static void play_line(struct talk *t, struct slice line)
{
    if (slice_starts(line, SLICE("> ")) || slice_starts(line, SLICE("! "))) {
        buf_add(&t->want, unquote(&t->arena, line, false));
        buf_byte(&t->want, '\n');
        return;
    }
    compare(t);
    if (slice_starts(line, SLICE("<< ")))
        say(t, slice_skip(line, 3), true);
    else if (slice_starts(line, SLICE("< ")))
        say(t, slice_skip(line, 2), false);
    else if (t->server)
        act_server(t, unquote(&t->arena, line, false));
    else
        act(t, unquote(&t->arena, line, false));
}

static void play_script(struct talk *t, const char *script)
{
    while (*script && check_whole())
        play_line(t, next_line(&script));
    compare(t);
}

void talk_serve(const allm_mcp_server_opts *opts, const char *script,
                size_t cut)
{
    struct talk t = { .cut = cut };
    arena_init(&t.arena, mem_default());
    buf_init(&t.got, &t.arena, 8 << 20);
    buf_init(&t.want, &t.arena, 8 << 20);
    t.server = allm_mcp_server_new(opts);
    if (t.server && CHECK(!allm_mcp_server_error(t.server)))
        play_script(&t, script);
    allm_mcp_server_free(t.server);
    arena_release(&t.arena);
}

void talk_play(const struct mcp_client_opts *opts, const struct revision *known,
               const char *script, size_t cut)
{
    struct talk t = { .cut = cut };
    arena_init(&t.arena, mem_default());
    buf_init(&t.got, &t.arena, 8 << 20);
    buf_init(&t.want, &t.arena, 8 << 20);
    t.client = mcp_client_new(mem_default(), opts);
    if (t.client) {
        mcp_client_start(t.client, known, t.clock.now_ns);
        play_script(&t, script);
    }
    mcp_client_free(t.client);
    arena_release(&t.arena);
}

size_t talk_length(const char *script)
{
    size_t n = 0;
    while (*script) {
        struct slice line = next_line(&script);
        if (slice_starts(line, SLICE("<< ")))
            n += line.len - 2;
        else if (slice_starts(line, SLICE("< ")))
            n += line.len - 1 + sizeof HEAD - 2;
    }
    return n;
}
