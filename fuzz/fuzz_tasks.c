/*
 * fuzz_tasks.c - any bytes as an answer to embed, image and moderate
 *
 * The first byte selects the provider and the task, the second where to split;
 * the rest is the body.  Whole and split, it ends with the same status, and
 * there is a result if and only if it succeeds.
 */
#include "allm.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A server that sends this answer in pieces. */
struct server {
    const uint8_t *body;
    size_t left, step;
};

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static allm_exchange *server_open(void *self, const allm_http_view *view,
                                  allm_waker *waker, const allm_error **error)
{
    (void)view;
    (void)waker;
    (void)error;
    return self;
}

static allm_status server_read(void *self, allm_exchange *x, allm_chunk *chunk)
{
    struct server *s = self;
    (void)x;
    chunk->bytes = (const char *)s->body;
    chunk->len = s->left < s->step ? s->left : s->step;
    s->body += chunk->len;
    s->left -= chunk->len;
    return chunk->len ? ALLM_EVENT : ALLM_OK;
}

static const allm_http_head *server_head(void *self, allm_exchange *x)
{
    static const allm_http_head head = { .size = sizeof head, .status = 200 };
    (void)self;
    (void)x;
    return &head;
}

static void server_close(void *self, allm_exchange *x)
{
    (void)self;
    (void)x;
}

enum task { EMBED, IMAGE, MODERATE };

static const struct {
    const char *model;
    enum task task;
} rows[] = {
    { "openai:m", EMBED }, { "gemini:m", EMBED }, { "ollama:m", EMBED },
    { "openai:m", IMAGE }, { "gemini:m", IMAGE }, { "openai:m", MODERATE },
};

static allm_stream *ask(const allm_engine *e, enum task task)
{
    static const char *const two[] = { "one", "two" };
    const allm_call_opts *opts = ALLM(call_opts, .api_key = "k");
    if (task == EMBED)
        return allm_embed(e,
                          ALLM(embed_request, .input_count = 2, .inputs = two),
                          opts);
    if (task == IMAGE)
        return allm_image_generate(e, ALLM(image_request, .prompt = "a"), opts);
    return allm_moderate(
        e, ALLM(moderation_request, .input_count = 2, .inputs = two), opts);
}

static bool has_result(const allm_stream *s)
{
    return allm_stream_embeddings(s) || allm_stream_image_response(s) ||
           allm_stream_moderations(s);
}

/* How it ends. */
static allm_status run(size_t row, const uint8_t *body, size_t size,
                       size_t step)
{
    struct server server = { body, size, step };
    const allm_transport t = { .size = sizeof t,
                               .self = &server,
                               .open = server_open,
                               .read = server_read,
                               .head = server_head,
                               .close = server_close };
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .model = rows[row].model, .transport = &t));
    allm_stream *s = ask(e, rows[row].task);
    allm_status status = allm_stream_wait(s);
    demand((status == ALLM_OK) == has_result(s));
    demand((status == ALLM_OK) == !allm_stream_error(s));
    allm_stream_free(s);
    allm_engine_free(e);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t row = data[0] % (sizeof rows / sizeof *rows);
    allm_status whole = run(row, data + 2, size - 2, size);
    demand(run(row, data + 2, size - 2, data[1] % 32 + (size_t)1) == whole);
    return 0;
}
