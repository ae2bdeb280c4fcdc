/*
 * moderate.c - check texts for harmful content
 *
 * The fake provider looks for words, without a network.  With the model
 * "openai:omni-moderation-latest", the same program judges the meaning.
 */
#include <allm.h>

#include <stdio.h>

/* Print the categories of a text. */
static void show_categories(const allm_moderation *m)
{
    for (const allm_json *k = NULL; (k = allm_json_next(m->categories, k));)
        if (allm_json_true(allm_json_value(k)))
            printf(" %s", allm_json_text(k, NULL));
}

int main(void)
{
    static const char *const texts[] = {
        "the tulips are out",
        "a film full of violence and hate",
    };
    allm_engine *engine = allm_engine_new(ALLM(engine_opts, .model = "fake:m"));
    allm_stream *stream = allm_moderate(
        engine, ALLM(moderation_request, .input_count = 2, .inputs = texts),
        NULL);

    if (allm_stream_wait(stream) == ALLM_OK) {
        const allm_moderations *m = allm_stream_moderations(stream);
        for (size_t i = 0; i < m->count; i++) {
            printf("%s: %s", texts[i],
                   m->results[i]->flagged ? "held back for" : "fine");
            show_categories(m->results[i]);
            printf("\n");
        }
    } else {
        printf("%s\n", allm_stream_error(stream)->message);
    }
    allm_stream_free(stream);
    allm_engine_free(engine);
    return 0;
}
