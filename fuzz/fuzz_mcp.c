/*
 * fuzz_mcp.c - any bytes from an MCP server and from an MCP client
 *
 * The first byte selects the side, the revision and the options, the second
 * one where to cut; the rest is what the other side says.  Whole and cut, it
 * leads to the same events and messages.  After each line the fuzzer reacts:
 * it calls tools, answers forms, cancels, lets time pass.
 */
#include "allm_mcp.h"
#include "base/buf.h"
#include "base/clock.h"
#include "mcp/client.h"
#include "mcp/result.h"
#include "mcp/tools.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

/* --------------------------------------------------------------- client --- */

struct talk {
    struct mcp_client *c;
    struct arena arena;
    struct buf *out;
    int64_t now;
    unsigned turn;
};

/* What the toolbox would do with an answer. */
static void use_answer(struct talk *t, const struct mcp_event *ev)
{
    struct mcp_tools tools;
    struct mcp_result result;
    struct mcp_tools_opts opts = { .server = "s", .http = true };
    demand(mcp_tools_make(&t->arena, ev->value, &opts, &tools));
    demand(mcp_result_make(&t->arena, ev->value, NULL, &result));
    for (size_t i = 0; i < tools.count; i++)
        demand(strlen(tools.tools[i].shown) <= MCP_TOOL_NAME);
}

static void react(struct talk *t, const struct mcp_event *ev)
{
    struct mcp_ask ask = { .method = MCP_TOOLS_CALL, .name = "f",
                           .total_ms = 100000 };
    buf_format(t->out, "%d %u %u %u;", (int)ev->kind, (unsigned)ev->number,
               (unsigned)ev->question, ev->lists);
    if (ev->kind == MCP_ANSWER)
        use_answer(t, ev);
    if (ev->kind == MCP_READY)
        for (ask.method = MCP_TOOLS_LIST; ask.method <= MCP_PROMPTS_GET;
             ask.method++)
            mcp_client_request(t->c, &ask, t->now);
    if (ev->kind == MCP_ELICIT)
        mcp_client_answer(t->c, ev->question, ev->question % 3, NULL, &t->arena,
                          t->now);
    if (ev->kind == MCP_PROGRESS)
        mcp_client_cancel(t->c, ev->number, t->now);
    demand((ev->kind == MCP_FAILED) <= (ev->error != NULL));
}

static void settle(struct talk *t)
{
    struct mcp_event ev;
    const struct mcp_message *m;
    while (mcp_client_next(t->c, &ev))
        react(t, &ev);
    while ((m = mcp_client_out(t->c))) {
        demand(!memchr(m->json.ptr, '\n', m->json.len));
        buf_uint(t->out, m->json.len);
        buf_byte(t->out, ',');
        mcp_client_sent(t->c);
    }
}

static void say_to_client(struct talk *t, struct slice piece)
{
    mcp_client_feed(t->c, piece, t->now);
}

/* --------------------------------------------------------------- server --- */

static void answer_request(allm_mcp_server *s, const allm_mcp_request *r,
                           const allm_json *schema, struct buf *out)
{
    buf_format(out, "%d %u %s;", (int)r->kind, (unsigned)r->id, r->name);
    if (r->kind == ALLM_MCP_REQUEST_CANCEL)
        return;
    uint64_t id = r->id;
    allm_mcp_server_notify(s, id, 1, 2, "m");
    if (r->elicits && !r->answer)
        allm_mcp_server_elicit(s, id, "who?", schema);
    else if (r->id % 3)
        allm_mcp_server_text(s, id, "x", 1, false);
    else
        allm_mcp_server_answer(s, id, schema);
}

static void settle_server(allm_mcp_server *s, const allm_json *schema,
                          struct buf *out)
{
    const allm_mcp_request *r;
    const char *bytes;
    size_t len;
    while ((r = allm_mcp_server_next(s)))
        answer_request(s, r, schema, out);
    while ((bytes = allm_mcp_server_out(s, &len))) {
        buf_add(out, (struct slice){ bytes, len });
        allm_mcp_server_sent(s, len);
    }
}

/* ----------------------------------------------------------------- cuts --- */

/* A line, in pieces of at most `most` bytes. */
static void play_client(struct slice text, size_t most, unsigned kind,
                        struct buf *out)
{
    struct mcp_client_opts opts = { .elicits = kind & 2, .root = "/r",
                                    .http = kind & 4 };
    struct talk t = { .c = mcp_client_new(mem_default(), &opts), .out = out };
    demand(t.c);
    arena_init(&t.arena, mem_default());
    mcp_client_start(t.c, kind & 8 ? revision_at((kind >> 4) % 5) : NULL, 0);
    settle(&t);
    while (text.len) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t left = end ? (size_t)(end - text.ptr) + 1 : text.len;
        while (left) {
            size_t n = left < most ? left : most;
            say_to_client(&t, (struct slice){ text.ptr, n });
            text = slice_skip(text, n);
            left -= n;
        }
        settle(&t);
        t.now = clock_after(t.now, 7000);
        demand(mcp_client_deadline(t.c) >= 0);
        mcp_client_tick(t.c, t.now);
        settle(&t);
    }
    mcp_client_gone(t.c, "end");
    settle(&t);
    mcp_client_free(t.c);
    arena_release(&t.arena);
}

static void play_server(struct slice text, size_t most, const allm_json *lists,
                        struct buf *out)
{
    allm_mcp_server *s = allm_mcp_server_new(
        ALLM(mcp_server_opts, .name = "s", .version = "1", .tools = lists,
             .resources = lists, .prompts = lists, .page = 2));
    demand(s && !allm_mcp_server_error(s));
    const allm_json *schema = allm_json_get(allm_json_at(lists, 0),
                                            "inputSchema");
    while (text.len) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t left = end ? (size_t)(end - text.ptr) + 1 : text.len;
        while (left) {
            size_t n = left < most ? left : most;
            allm_mcp_server_feed(s, text.ptr, n);
            text = slice_skip(text, n);
            left -= n;
        }
        settle_server(s, schema, out);
    }
    allm_mcp_server_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char offer[] =
        "[{\"name\":\"f\",\"uri\":\"u\",\"inputSchema\":{\"type\":\"object\","
        "\"properties\":{\"n\":{\"type\":\"integer\"}}}},{\"name\":\"g\","
        "\"uri\":\"v\"},{\"name\":\"h\",\"uri\":\"w\"}]";
    if (size < 2)
        return 0;
    struct slice text = { (const char *)data + 2, size - 2 };
    struct arena a;
    struct buf whole, cut;
    arena_init(&a, mem_default());
    buf_init(&whole, &a, SIZE_MAX - 1);
    buf_init(&cut, &a, SIZE_MAX - 1);
    allm_json *lists = allm_json_parse(offer, ALLM_NUL_ENDED, NULL);
    if (data[0] & 1) {
        play_client(text, size, data[0], &whole);
        play_client(text, data[1] % 64 + (size_t)1, data[0], &cut);
    } else {
        play_server(text, size, lists, &whole);
        play_server(text, data[1] % 64 + (size_t)1, lists, &cut);
    }
    demand(slice_eq(buf_slice(&whole), buf_slice(&cut)));
    allm_json_free(lists);
    arena_release(&a);
    return 0;
}
