/*
 * bench_codec.c - how fast threads are encoded as JSON and decoded again
 *
 * Encoding a thread of 1,000 messages is compared with the least possible
 * work: yyjson writes the same document from values in memory, and memcpy()
 * copies the text once.  Target: at most 2 times that.  Decoding is compared
 * with yyjson parsing the text.  It has no target, since we also create 1,000
 * messages that outlive the document.
 *
 * The contestants take turns, round by round, so that a busy machine slows all
 * of them down.  We print the ratio of the best times and of the medians.
 */
#include "allm.h"
#include "base/mem.h"
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

enum { MESSAGES = 1000, ROUNDS = 300 };

/* ---------------------------------------------------- counting memory --- */

static size_t allocations;

static void *counted(void *ud, void *p, size_t old, size_t size)
{
    (void)ud;
    (void)old;
    if (size == 0) {
        free(p);
        return NULL;
    }
    allocations++;
    return realloc(p, size);
}

/* -------------------------------------------------------- contestants --- */

struct bench {
    allm_thread *thread;
    const char *text;           /* its JSON */
    size_t len;
    yyjson_doc *doc;            /* the same, parsed */
    char *room;                 /* for a copy of the text */
};

static bool encode_ours(struct bench *b)
{
    size_t len = 0;
    allm_text *t = allm_thread_json(b->thread, ALLM_FORM_TAGGED);
    allm_text_bytes(t, &len);
    allm_text_free(t);
    return len == b->len;
}

static bool encode_yyjson(struct bench *b)
{
    size_t len = 0;
    char *text = yyjson_write(b->doc, 0, &len);
    free(text);
    return len == b->len;
}

static bool copy_text(struct bench *b)
{
    memcpy(b->room, b->text, b->len);
    __asm__ volatile("" : : "r"(b->room) : "memory");
    return true;
}

static bool decode_ours(struct bench *b)
{
    allm_codec *c = allm_codec_decode(b->text, b->len, NULL, NULL);
    const allm_thread *t = allm_codec_value(c, ALLM_TYPE_THREAD);
    bool ok = allm_thread_count(t) == MESSAGES;
    allm_codec_free(c);
    return ok;
}

static bool decode_yyjson(struct bench *b)
{
    yyjson_doc *doc = yyjson_read(b->text, b->len, 0);
    yyjson_doc_free(doc);
    return doc != NULL;
}

static bool parse_ours(struct bench *b)
{
    allm_json *v = allm_json_parse(b->text, b->len, NULL);
    bool ok = !allm_json_error(v);
    allm_json_free(v);
    return ok;
}

enum { ENCODE, WRITE, COPY, DECODE, READ, PARSE, CONTESTANTS };

static bool (*const contestant[CONTESTANTS])(struct bench *) = {
    [ENCODE] = encode_ours, [WRITE] = encode_yyjson, [COPY] = copy_text,
    [DECODE] = decode_ours, [READ] = decode_yyjson,  [PARSE] = parse_ours,
};

/* ----------------------------------------------------------- the time --- */

static double now_us(void)
{
    return (double)measure_now() / 1e3;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct result {
    double best, median;        /* microseconds */
};

static bool race(struct bench *b, struct result out[CONTESTANTS])
{
    static double took[CONTESTANTS][ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CONTESTANTS; i++) {
            double start = now_us();
            if (!contestant[i](b))
                return false;
            took[i][round] = now_us() - start;
        }
    }
    for (int i = 0; i < CONTESTANTS; i++) {
        qsort(took[i], ROUNDS, sizeof *took[i], by_size);
        out[i] = (struct result){ took[i][0], took[i][ROUNDS / 2] };
    }
    return true;
}

/* --------------------------------------------------------- the thread --- */

/* Prose with line ends, quotes and a few letters beyond ASCII. */
static const char prose[] =
    "The gardener said: \"Plant them in autumn, before the first frost, and "
    "about three times as deep as the bulb is high.\"\nIn a pot they want "
    "drainage, 2.5 cm of gravel will do, and a cool place until they show; "
    "K\xC3\xB6nigsblau is a good one to begin with.  ";

/* Text that needs no escapes.  yyjson notices this when it parses the text, and
 * later copies it unchecked. */
static const char bland[] =
    "The gardener said to plant them in autumn, before the first frost, and "
    "about three times as deep as the bulb is high.  ";

static void write_text(char *out, size_t len, const char *like, size_t number)
{
    size_t n = (size_t)snprintf(out, len + 1, "Message %zu. ", number);
    for (size_t i = 0; n < len; n++, i++)
        out[n] = like[i % strlen(like)];
    if ((unsigned char)out[len - 1] == 0xC3)
        out[len - 1] = '.';     /* half a letter */
    out[len] = '\0';
}

static bool make_thread(struct bench *b, size_t text_len, const char *like)
{
    char *text = malloc(text_len + 1);
    allm_status status = text ? ALLM_OK : ALLM_ERR_NOMEM;
    b->thread = allm_thread_new(NULL);
    for (size_t i = 0; i < MESSAGES && status == ALLM_OK; i++) {
        write_text(text, text_len, like, i);
        status = allm_thread_add(b->thread,
                                 i % 2 ? ALLM_ROLE_ASSISTANT : ALLM_ROLE_USER,
                                 text);
    }
    free(text);
    return status == ALLM_OK;
}

static size_t count_allocations(struct bench *b, int which)
{
    size_t before = allocations;
    contestant[which](b);
    return allocations - before;
}

static void report(struct bench *b, size_t text_len, const char *like,
                   const struct result r[CONTESTANTS])
{
    double best = r[ENCODE].best / (r[WRITE].best + r[COPY].best);
    double median = r[ENCODE].median / (r[WRITE].median + r[COPY].median);
    printf("1,000 messages of %zu bytes of %s, %zu bytes of JSON\n", text_len,
           like == prose ? "prose" : "text without escapes", b->len);
    printf("  encode %8.1f us   yyjson writes %.1f us, memcpy %.1f us\n",
           r[ENCODE].best, r[WRITE].best, r[COPY].best);
    printf("         %.2f times the two together (median %.2f), target 2: %s\n",
           best, median, best <= 2 ? "met" : "MISSED");
    printf("         %zu allocations\n", count_allocations(b, ENCODE));
    printf("  decode %8.1f us   yyjson parses %.1f us, allm_json_parse "
           "%.1f us\n",
           r[DECODE].best, r[READ].best, r[PARSE].best);
    printf("         %.2f times yyjson (median %.2f)\n",
           r[DECODE].best / r[READ].best, r[DECODE].median / r[READ].median);
    printf("         %zu allocations\n", count_allocations(b, DECODE));
}

static bool run(size_t text_len, const char *like)
{
    struct bench b = { 0 };
    struct result results[CONTESTANTS];
    bool ok = make_thread(&b, text_len, like);
    allm_text *t = allm_thread_json(b.thread, ALLM_FORM_TAGGED);
    b.text = allm_text_bytes(t, &b.len);
    b.doc = b.text ? yyjson_read(b.text, b.len, 0) : NULL;
    b.room = malloc(b.len + 1);
    ok = ok && b.doc && b.room && race(&b, results);
    if (ok)
        report(&b, text_len, like, results);
    free(b.room);
    yyjson_doc_free(b.doc);
    allm_text_free(t);
    allm_thread_free(b.thread);
    return ok;
}

int main(void)
{
    mem_set_default((struct mem){ counted, NULL });
    bool ok = run(200, prose) && run(200, bland) && run(2000, prose) &&
              run(2000, bland);
    return ok ? 0 : 1;
}
