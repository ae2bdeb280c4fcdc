/*
 * embed.c - embeddings computed from the words of a text, for tests
 *
 * Each word adds a vector that depends on its letters.  So equal texts have
 * equal embeddings, and texts that share words have similar ones.  The usage
 * counts words.
 */
#include "provider/dialects.h"

#include "provider/document.h"
#include "provider/hash.h"
#include "json/build.h"

#include <stdint.h>

enum { DIMENSIONS = 64, MAX_DIMENSIONS = 4096 };

/* Mix the bits of an FNV-1a hash, so similar seeds give different numbers. */
static uint64_t mix_bits(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53u;
    return x ^ (x >> 33);
}

/* Remove the next word from a text.  Returns its hash, or 0 at the end. */
static uint64_t take_word(const char **text)
{
    const char *p = *text;
    while (*p && (unsigned char)*p <= ' ')
        p++;
    const char *from = p;
    while ((unsigned char)*p > ' ')
        p++;
    *text = p;
    struct slice word = { from, (size_t)(p - from) };
    uint64_t hash = hash_add(HASH_START, word);
    return !word.len ? 0 : hash ? hash : 1;
}

/* A number between -1 and 1, never 0. */
static double component_of(uint64_t hash, uint64_t i)
{
    return ((double)(mix_bits(hash + i * 0x9e3779b97f4a7c15u) >> 12) + 0.5) /
               2251799813685248.0 -
           1.0;
}

/* Returns the number of words. */
static int64_t add_vector(struct build *b, const char *text, uint64_t n)
{
    int64_t words = 0;
    build_array(b);
    for (uint64_t i = 0; i < n; i++) {
        double sum = 0;
        const char *rest = text;
        words = 0;
        for (uint64_t hash; (hash = take_word(&rest)); words++)
            sum += component_of(hash, i);
        build_number(b, words ? sum : component_of(1, i));
    }
    build_end(b);
    return words;
}

static allm_status vectors_next(void *state, const allm_call *call,
                                allm_sink *sink, int64_t *again_ns)
{
    struct answer *a = state;
    const allm_embed_request *r = call->embed;
    allm_usage usage = { .size = sizeof usage, .input_tokens = { 0, true } };
    int64_t n = r->dimensions.set ? r->dimensions.value : DIMENSIONS;
    *again_ns = INT64_MAX;
    if (!answer_open(a, call, sink))
        return ALLM_OK;
    n = n > MAX_DIMENSIONS ? MAX_DIMENSIONS : n;
    struct build b = build_array_in(sink->arena);
    for (size_t i = 0; i < r->input_count; i++)
        usage.input_tokens.value += add_vector(&b, r->inputs[i], (uint64_t)n);
    const allm_json *list = build_finish(&b);
    if (!list)
        return sink->status = ALLM_ERR_NOMEM;
    answer_usage(a, &usage);
    return document_answer(a, list);
}

const allm_adapter fake_embed_adapter = {
    .size = sizeof(allm_adapter),
    .name = "fake_embed",
    .state_size = sizeof(struct answer),
    .next = vectors_next,
};
