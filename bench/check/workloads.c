/*
 * workloads.c - eight fixed workloads whose instructions are counted
 *
 * usage: check_workloads [NAME...]       the default is all of them
 *
 * Each workload runs at 1, 10 and 100 times its size.  tools/bench-check runs
 * this program under callgrind, which counts what happens inside
 * workload_run() and writes one total for each call of it.  The program prints
 * one line for each call, in the same order: the name and the factor.
 *
 * Nothing here depends on the network, the clock or the machine.  A transport
 * in memory answers every request, so the library does everything but HTTP.
 *
 *   stream      texts of the fake provider, through allm_stream_next()
 *   decode      one answer of many text deltas, in OpenAI's format
 *   arguments   one answer with the arguments of a tool call in many deltas
 *   requests    many requests with an answer of one delta
 *   history     one request with many messages
 *   tools       many chats of three turns, two of which call a tool
 *   session     a session of many messages: saved and loaded
 *   json        a document: parsed and written
 */
#include "allm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void give_up(const char *why)
{
    fprintf(stderr, "check_workloads: %s\n", why);
    exit(1);
}

/* -------------------------------------------------------------- bytes --- */

struct bytes {
    char *ptr;
    size_t len, cap;
};

static void add(struct bytes *b, const char *text)
{
    size_t n = strlen(text);
    if (b->cap - b->len <= n) {
        b->cap = b->cap * 2 + n + 4096;
        b->ptr = realloc(b->ptr, b->cap);
        if (!b->ptr)
            give_up("out of memory");
    }
    memcpy(b->ptr + b->len, text, n + 1);
    b->len += n;
}

static void clear(struct bytes *b)
{
    free(b->ptr);
    *b = (struct bytes){ 0 };
}

#define EVENT "data: {\"id\":\"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT\"," \
              "\"object\":\"chat.completion.chunk\",\"created\":1741569952," \
              "\"model\":\"gpt-4.1-2025-04-14\",\"service_tier\":\"default\"," \
              "\"system_fingerprint\":\"fp_44709d6fcb\",\"choices\":" \
              "[{\"index\":0,\"delta\":{"
#define MORE "},\"logprobs\":null,\"finish_reason\":null}],\"usage\":null}\n\n"
#define STOP EVENT "},\"logprobs\":null,\"finish_reason\":\"stop\"}]," \
             "\"usage\":null}\n\ndata: [DONE]\n\n"
#define CALLED EVENT "},\"logprobs\":null,\"finish_reason\":\"tool_calls\"}]," \
               "\"usage\":null}\n\ndata: [DONE]\n\n"

static void add_texts(struct bytes *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        add(b, i % 2 ? EVENT "\"content\":\" little\"" MORE
                     : EVENT "\"content\":\" and\"" MORE);
    add(b, STOP);
}

static void add_piece(struct bytes *b, const char *piece)
{
    add(b, EVENT "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"");
    add(b, piece);
    add(b, "\"}}]" MORE);
}

static void add_call(struct bytes *b, size_t pieces)
{
    add(b, EVENT "\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\"type\":"
                 "\"function\",\"function\":{\"name\":\"note\","
                 "\"arguments\":\"\"}}]" MORE);
    add_piece(b, "{\\\"text\\\":\\\"");
    for (size_t i = 0; i < pieces; i++)
        add_piece(b, "and so on ");
    add_piece(b, "\\\"}");
    add(b, CALLED);
}

/* ---------------------------------------------------------- transport --- */

/* It answers with each of the bodies in turn, in pieces as libcurl has them. */
struct memory {
    allm_transport transport;
    struct bytes bodies[3];
    size_t body_count, next, at;
};

enum { PIECE = 16000 };

static allm_exchange *open_exchange(void *self, const allm_http_view *view,
                                    allm_waker *waker, const allm_error **error)
{
    struct memory *m = self;
    (void)view;
    (void)waker;
    (void)error;
    m->at = 0;
    return self;
}

static allm_status read_bytes(void *self, allm_exchange *e, allm_chunk *chunk)
{
    struct memory *m = self;
    const struct bytes *b = &m->bodies[m->next];
    size_t left = b->len - m->at;
    (void)e;
    chunk->bytes = b->ptr + m->at;
    chunk->len = left < PIECE ? left : PIECE;
    m->at += chunk->len;
    return left ? ALLM_EVENT : ALLM_OK;
}

static const allm_http_head *get_head(void *self, allm_exchange *e)
{
    static const allm_http_head ok = { .size = sizeof ok, .status = 200 };
    (void)self;
    (void)e;
    return &ok;
}

static void close_exchange(void *self, allm_exchange *e)
{
    struct memory *m = self;
    (void)e;
    m->next = (m->next + 1) % m->body_count;
}

static void memory_init(struct memory *m, size_t body_count)
{
    *m = (struct memory){ .body_count = body_count };
    m->transport = (allm_transport){
        .size = sizeof m->transport, .self = m, .open = open_exchange,
        .read = read_bytes, .head = get_head, .close = close_exchange,
    };
}

/* -------------------------------------------------------------- state --- */

/* What a workload needs; made before the counting begins. */
struct state {
    size_t n;
    struct memory memory;
    allm_engine *engine;
    allm_request *request;
    allm_thread *thread;
    allm_session_record *record;
    struct bytes text;
    allm_tool *tool;
};

static void note(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)args;
    (void)ud;
    allm_tool_text(run, "fine", 4);
}

static void make_engine(struct state *s)
{
    const allm_tool *tool = s->tool;
    allm_json *no_retry = allm_json_parse("false", ALLM_NUL_ENDED, NULL);
    allm_json *opts = allm_json_parse("{\"base_url\": \"http://host/v1\"}",
                                      ALLM_NUL_ENDED, NULL);
    s->engine = allm_engine_new(
        ALLM(engine_opts, .model = "openai_chat:m", .adapter_opts = opts,
             .retry = no_retry, .transport = &s->memory.transport,
             .tool_count = tool ? 1 : 0, .tools = &tool));
    allm_json_free(opts);
    allm_json_free(no_retry);
    if (allm_engine_error(s->engine))
        give_up(allm_engine_error(s->engine)->message);
}

static const char prose[] =
    "The gardener said: \"Plant them in autumn, before the first frost, and "
    "about three times as deep as the bulb is high.\"\nIn a pot they want "
    "drainage, 2.5 cm of gravel will do, and a cool place until they show.";

static void make_thread(struct state *s, size_t messages)
{
    s->thread = allm_thread_new(NULL);
    for (size_t i = 0; i < messages; i++)
        allm_thread_add(s->thread, i % 2 ? ALLM_ROLE_ASSISTANT : ALLM_ROLE_USER,
                        prose);
}

static void make_request(struct state *s, size_t messages)
{
    make_thread(s, messages);
    s->request = allm_request_from_thread(s->thread, NULL);
}

static void state_release(struct state *s)
{
    for (size_t i = 0; i < s->memory.body_count; i++)
        clear(&s->memory.bodies[i]);
    clear(&s->text);
    allm_session_record_free(s->record);
    allm_request_free(s->request);
    allm_thread_free(s->thread);
    allm_engine_free(s->engine);
    allm_tool_free(s->tool);
}

/* -------------------------------------------------------- preparation --- */

static void prepare_stream(struct state *s)
{
    static const char entry[] = "[\"text\", \"a few words \"]";
    add(&s->text, "{\"script\": [");
    for (size_t i = 0; i < s->n * 200; i++) {
        add(&s->text, i ? "," : "");
        add(&s->text, entry);
    }
    add(&s->text, "]}");
    allm_json *opts = allm_json_parse(s->text.ptr, s->text.len, NULL);
    s->engine = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .adapter_opts = opts));
    allm_json_free(opts);
    make_request(s, 1);
}

static void prepare_decode(struct state *s)
{
    memory_init(&s->memory, 1);
    add_texts(&s->memory.bodies[0], s->n * 100);
    make_engine(s);
    make_request(s, 1);
}

static void prepare_arguments(struct state *s)
{
    memory_init(&s->memory, 1);
    add_call(&s->memory.bodies[0], s->n * 100);
    make_engine(s);
    make_request(s, 1);
}

static void prepare_requests(struct state *s)
{
    memory_init(&s->memory, 1);
    add_texts(&s->memory.bodies[0], 1);
    make_engine(s);
    make_request(s, 1);
}

static void prepare_history(struct state *s)
{
    memory_init(&s->memory, 1);
    add_texts(&s->memory.bodies[0], 1);
    make_engine(s);
    make_thread(s, s->n * 50);
}

static void prepare_tools(struct state *s)
{
    memory_init(&s->memory, 3);
    add_call(&s->memory.bodies[0], 2);
    add_call(&s->memory.bodies[1], 2);
    add_texts(&s->memory.bodies[2], 1);
    s->tool = allm_tool_new(
        ALLM(tool, .name = "note", .description = "keeps a note",
             .schema_text = "{\"type\": \"object\", \"properties\": {\"text\": "
                            "{\"type\": \"string\"}}}",
             .call = note, .flags = ALLM_TOOL_INLINE));
    make_engine(s);
    make_thread(s, 1);
}

static void prepare_session(struct state *s)
{
    make_thread(s, s->n * 30);
    s->record = allm_session_record_new(
        ALLM(session_record, .id = "check", .thread = s->thread));
}

static void prepare_json(struct state *s)
{
    char entry[512];
    add(&s->text, "{\"entries\":[");
    for (size_t i = 0; i < s->n * 100; i++) {
        snprintf(entry, sizeof entry,
                 "%s{\"role\":\"user\",\"number\":%zu,\"share\":0.%06zu,"
                 "\"content\":\"First, open \\\"all\\\" files.\\nThen go "
                 "on.\",\"tags\":[true,false,null,\"gr\xC3\xBC\xC3\x9F"
                 "e\"]}",
                 i ? "," : "", i % 1000, i * 7919 % 1000000);
        add(&s->text, entry);
    }
    add(&s->text, "]}");
}

/* ---------------------------------------------------------- workloads --- */

static void read_all(allm_stream *stream)
{
    const allm_event *event;
    while (allm_stream_next(stream, &event) == ALLM_EVENT)
        ;
    if (allm_stream_error(stream))
        give_up(allm_stream_error(stream)->message);
    allm_stream_free(stream);
}

static void run_one(struct state *s)
{
    read_all(allm_generate(s->engine, s->request, NULL));
}

static void run_requests(struct state *s)
{
    for (size_t i = 0; i < s->n * 4; i++)
        run_one(s);
}

static void run_history(struct state *s)
{
    s->request = allm_request_from_thread(s->thread, NULL);
    run_one(s);
}

static void run_tools(struct state *s)
{
    for (size_t i = 0; i < s->n * 2; i++)
        read_all(allm_chat(s->engine, s->thread, NULL));
}

static void run_session(struct state *s)
{
    size_t len;
    allm_text *saved = allm_session_record_json(s->record, ALLM_FORM_TAGGED);
    const char *bytes = allm_text_bytes(saved, &len);
    allm_codec *loaded = allm_codec_decode(bytes, len, NULL, NULL);
    if (!allm_codec_value(loaded, ALLM_TYPE_SESSION))
        give_up("the session cannot be loaded");
    allm_codec_free(loaded);
    allm_text_free(saved);
}

static void run_json(struct state *s)
{
    allm_json *document = allm_json_parse(s->text.ptr, s->text.len, NULL);
    allm_text *text = allm_json_write(document, 0);
    if (!allm_text_bytes(text, NULL))
        give_up("the document cannot be written");
    allm_text_free(text);
    allm_json_free(document);
}

struct workload {
    const char *name;
    void (*prepare)(struct state *);
    void (*run)(struct state *);
};

static const struct workload workloads[] = {
    { "stream", prepare_stream, run_one },
    { "decode", prepare_decode, run_one },
    { "arguments", prepare_arguments, run_one },
    { "requests", prepare_requests, run_requests },
    { "history", prepare_history, run_history },
    { "tools", prepare_tools, run_tools },
    { "session", prepare_session, run_session },
    { "json", prepare_json, run_json },
};

/* Callgrind knows this function by its name. */
void workload_run(const struct workload *w, struct state *s);

__attribute__((noinline)) void workload_run(const struct workload *w,
                                            struct state *s)
{
    w->run(s);
    __asm__ volatile("" : : "r"(s) : "memory");     /* no tail call */
}

static void run_sizes(const struct workload *w)
{
    for (size_t factor = 1; factor <= 100; factor *= 10) {
        struct state s = { .n = factor };
        w->prepare(&s);
        workload_run(w, &s);
        printf("%s %zu\n", w->name, factor);
        state_release(&s);
    }
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], name))
            return true;
    return argc < 2;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        if (is_wanted(workloads[i].name, argc, argv))
            run_sizes(&workloads[i]);
    return 0;
}
