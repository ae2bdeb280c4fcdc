/*
 * bench_json.c - our JSON reader and writer, compared with yyjson's
 *
 * Each line is a job that both do in turns within one run.  The best of many
 * rounds counts, and the target is a ratio.  The jobs:
 *
 *      chunk, arena    read a stream chunk into an arena that is reset, then
 *                      three members, as decoders do; yyjson with a pool
 *      chunk, root     the same with the public functions, and free it;
 *                      yyjson_read
 *      conversation    200 messages with escapes and UTF-8
 *      embedding       1,536 numbers of 14 digits, or of 16 digits (which we
 *                      check for loss, and yyjson does not)
 *      write ...       write a value as text
 *
 * The first line has a target, 1.3.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "measure.h"
#include "json/json.h"
#include "json/parse.h"
#include "json/val.h"
#include "json/write.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 300, TURNS = 400 };

static const char chunk[] =
    "{\"id\":\"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT\",\"object\":"
    "\"chat.completion.chunk\",\"created\":1741569952,\"model\":"
    "\"gpt-4.1-2025-04-14\",\"service_tier\":\"default\","
    "\"system_fingerprint\":\"fp_44709d6fcb\",\"choices\":[{\"index\":0,"
    "\"delta\":{\"role\":\"assistant\",\"content\":\"Hello, how can I help "
    "you\",\"refusal\":null},\"logprobs\":null,\"finish_reason\":null}],"
    "\"usage\":null}";

static struct arena arena;      /* ours; reset after each job */
static struct buf out;
static struct json_limits limits;
static char pool[64 * 1024];    /* yyjson's */
static size_t sink;             /* keeps the compiler from removing reads */

struct subject {
    const char *text;
    size_t len;
    yyjson_doc *theirs;
    const allm_json *ours;
    uint32_t flags;
};

/* --------------------------------------------------------------- jobs --- */

static void read_three(const allm_json *v)
{
    const allm_json *choice = allm_json_at(json_get(v, SLICE("choices")), 0);
    const allm_json *delta = json_get(choice, SLICE("delta"));
    sink += json_slice(json_get(delta, SLICE("content"))).len;
    sink += allm_json_type_of(json_get(choice, SLICE("finish_reason")));
    sink += json_slice(json_get(v, SLICE("id"))).len;
}

static void read_three_public(const allm_json *v)
{
    const allm_json *choice = allm_json_at(allm_json_get(v, "choices"), 0);
    const allm_json *delta = allm_json_get(choice, "delta");
    size_t len = 0;
    allm_json_text(allm_json_get(delta, "content"), &len);
    sink += len;
    sink += allm_json_type_of(allm_json_get(choice, "finish_reason"));
    allm_json_text(allm_json_get(v, "id"), &len);
    sink += len;
}

static void read_three_theirs(yyjson_doc *doc)
{
    yyjson_val *v = yyjson_doc_get_root(doc);
    yyjson_val *choice = yyjson_arr_get(yyjson_obj_get(v, "choices"), 0);
    yyjson_val *delta = yyjson_obj_get(choice, "delta");
    sink += yyjson_get_len(yyjson_obj_get(delta, "content"));
    sink += yyjson_get_type(yyjson_obj_get(choice, "finish_reason"));
    sink += yyjson_get_len(yyjson_obj_get(v, "id"));
}

static void chunk_arena_ours(const struct subject *s)
{
    const allm_error *error;
    arena_reset(&arena);
    struct slice text = { s->text, s->len };
    read_three(json_parse(&arena, text, limits, &error));
}

static void chunk_arena_theirs(const struct subject *s)
{
    yyjson_alc alc;
    yyjson_alc_pool_init(&alc, pool, sizeof pool);
    char *text = (char *)(uintptr_t)s->text;    /* not changed: not in situ */
    read_three_theirs(yyjson_read_opts(text, s->len, 0, &alc, NULL));
}

static void chunk_root_ours(const struct subject *s)
{
    allm_json *v = allm_json_parse(s->text, s->len, NULL);
    read_three_public(v);
    allm_json_free(v);
}

static void chunk_root_theirs(const struct subject *s)
{
    yyjson_doc *doc = yyjson_read(s->text, s->len, 0);
    read_three_theirs(doc);
    yyjson_doc_free(doc);
}

static void read_root_ours(const struct subject *s)
{
    allm_json *v = allm_json_parse(s->text, s->len, NULL);
    sink += allm_json_count(v);
    allm_json_free(v);
}

static void read_root_theirs(const struct subject *s)
{
    yyjson_doc *doc = yyjson_read(s->text, s->len, 0);
    sink += yyjson_get_len(yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
}

static void write_ours(const struct subject *s)
{
    buf_clear(&out);
    json_write(&out, s->ours, s->flags);
    sink += out.len;
}

static void write_theirs(const struct subject *s)
{
    size_t len = 0;
    yyjson_write_flag flags = s->flags & ALLM_JSON_PRETTY
                                  ? YYJSON_WRITE_PRETTY_TWO_SPACES
                                  : 0;
    char *text = yyjson_write(s->theirs, flags, &len);
    sink += len;
    free(text);
}

/* ---------------------------------------------------------- measuring --- */

struct job {
    const char *name;
    void (*ours)(const struct subject *);
    void (*theirs)(const struct subject *);
    size_t turns;               /* in a round */
    double target;              /* of the ratio; 0: none */
};

static double seconds(void)
{
    return (double)measure_now() * 1e-9;
}

static double time_round(void (*fn)(const struct subject *),
                         const struct subject *s, size_t turns)
{
    double start = seconds();
    for (size_t i = 0; i < turns; i++)
        fn(s);
    return (seconds() - start) / (double)turns;
}

static void measure(const struct job *job, const struct subject *s)
{
    double ours = 1e9, theirs = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        double t = time_round(job->theirs, s, job->turns);
        double o = time_round(job->ours, s, job->turns);
        theirs = t < theirs ? t : theirs;
        ours = o < ours ? o : ours;
    }
    double ratio = ours / theirs;
    printf("%-22s %10.1f ns  yyjson %10.1f ns  ratio %5.2f", job->name,
           ours * 1e9, theirs * 1e9, ratio);
    if (job->target > 0)
        printf("  %s (target %.2f)", ratio <= job->target ? "PASS" : "MISS",
               job->target);
    printf("\n");
}

/* ----------------------------------------------------------- subjects --- */

static void prepare(struct subject *s, struct arena *keep, const char *text,
                    size_t len, uint32_t flags)
{
    const allm_error *error;
    *s = (struct subject){ .text = text, .len = len, .flags = flags };
    s->theirs = yyjson_read(text, len, 0);
    s->ours = json_parse(keep, (struct slice){ text, len }, limits, &error);
    if (!s->theirs || !s->ours) {
        printf("the subject of a benchmark cannot be read\n");
        exit(1);
    }
}

/* The answer of an embeddings endpoint. */
static struct slice embedding(struct arena *a, unsigned last)
{
    struct buf text;
    buf_init(&text, a, SIZE_MAX);
    buf_text(&text, "{\"object\":\"list\",\"data\":[{\"embedding\":[");
    for (unsigned i = 0; i < 1536; i++)
        buf_format(&text, "%s-0.00%u%09u%u", i ? "," : "", 69292 + i * 7 % 1000,
                   349599241 + i * 7910, last);
    buf_text(&text, "],\"index\":0}],\"model\":\"text-embedding-3-small\"}");
    return buf_slice(&text);
}

/* Paragraphs like those of a model, with some escapes and UTF-8. */
static struct slice conversation(struct arena *a)
{
    struct buf text;
    buf_init(&text, a, SIZE_MAX);
    buf_text(&text, "{\"messages\":[");
    for (int i = 0; i < 200; i++)
        buf_format(&text,
                   "%s{\"role\":\"%s\",\"content\":\"The answer has "
                   "several parts.\\n\\n1. First, open the file and read "
                   "\\\"all\\\" of it.\\n2. Then say what it is: gr\xC3\xBC\xC3"
                   "\x9F"
                   "e, and so on, for a line or two.\",\"tokens\":%d}",
                   i ? "," : "", i & 1 ? "assistant" : "user", i * 37);
    buf_text(&text, "]}");
    return buf_slice(&text);
}

int main(void)
{
    struct arena keep;
    struct subject small, numbers, more_digits, long_text, pretty;
    json_limits_from(&limits, NULL);
    arena_init(&arena, mem_default());
    arena_init(&keep, mem_default());
    buf_init(&out, &keep, SIZE_MAX);
    struct slice vector = embedding(&keep, 1), talk = conversation(&keep);
    struct slice longer = embedding(&keep, 19);
    prepare(&small, &keep, chunk, sizeof chunk - 1, 0);
    prepare(&pretty, &keep, chunk, sizeof chunk - 1, ALLM_JSON_PRETTY);
    prepare(&numbers, &keep, vector.ptr, vector.len, 0);
    prepare(&more_digits, &keep, longer.ptr, longer.len, 0);
    prepare(&long_text, &keep, talk.ptr, talk.len, 0);
    printf("a chunk of %zu bytes, an embedding of %zu, a conversation of "
           "%zu\n",
           small.len, numbers.len, long_text.len);

    const struct {
        struct job job;
        const struct subject *subject;
    } rows[] = {
        { { "read chunk, arena", chunk_arena_ours, chunk_arena_theirs, TURNS,
            1.3 }, &small },
        { { "read chunk, root", chunk_root_ours, chunk_root_theirs, TURNS,
            1.3 }, &small },
        { { "read conversation", read_root_ours, read_root_theirs, 5, 0 },
          &long_text },
        { { "read embedding", read_root_ours, read_root_theirs, 5, 0 },
          &numbers },
        { { "read embedding, long", read_root_ours, read_root_theirs, 5, 0 },
          &more_digits },
        { { "write chunk", write_ours, write_theirs, TURNS, 2 }, &small },
        { { "write chunk, pretty", write_ours, write_theirs, TURNS, 0 },
          &pretty },
        { { "write conversation", write_ours, write_theirs, 5, 2 },
          &long_text },
        { { "write embedding", write_ours, write_theirs, 5, 0 }, &numbers },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        measure(&rows[i].job, rows[i].subject);

    const struct subject *all[] = { &small, &pretty, &numbers, &more_digits,
                                    &long_text };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        yyjson_doc_free(all[i]->theirs);
    arena_release(&keep);
    arena_release(&arena);
    return sink == 0;
}
