/*
 * embed.c - find the text with the most similar meaning
 *
 * The fake provider computes vectors from words, without a network.  With a
 * model such as "openai:text-embedding-3-small", the same program compares
 * meanings.
 */
#include <allm.h>

#include <stdio.h>

int main(void)
{
    static const char *const texts[] = {
        "how do I reset my password",       /* the question comes first */
        "opening hours of the shop",
        "reset a password that was lost",
        "send a parcel back",
    };
    enum { COUNT = sizeof texts / sizeof *texts };
    allm_engine *engine = allm_engine_new(ALLM(engine_opts, .model = "fake:m"));
    allm_stream *stream =
        allm_embed(engine,
                   ALLM(embed_request, .input_count = COUNT, .inputs = texts),
                   NULL);

    if (allm_stream_wait(stream) == ALLM_OK) {
        const allm_embeddings *e = allm_stream_embeddings(stream);
        size_t best = 1;
        for (size_t i = 2; i < e->count; i++)
            if (allm_embed_cosine(e->vectors[0], e->vectors[i], e->dimensions) >
                allm_embed_cosine(e->vectors[0], e->vectors[best],
                                  e->dimensions))
                best = i;
        printf("%zu vectors of %zu dimensions, %d tokens\n", e->count,
               e->dimensions, (int)e->usage->input_tokens.value);
        printf("nearest: %s\n", texts[best]);
    } else {
        printf("%s\n", allm_stream_error(stream)->message);
    }
    allm_stream_free(stream);
    allm_engine_free(engine);
    return 0;
}
