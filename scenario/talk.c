/* talk.c - the conversation that a step, a chat or an agent begins with */
#include "talk.h"

#include "engine.h"

/* Anything at all may be an `input`: what cannot be meant as a thread becomes
 * null, which is none. */
static allm_json *thread_form(const allm_json *given)
{
    if (allm_json_type_of(given) == ALLM_JSON_OBJECT &&
        !allm_json_get(given, "messages") && !allm_json_get(given, "__type__"))
        return allm_json_parse("null", ALLM_NUL_ENDED, NULL);
    return engine_thread(given);
}

bool talk_init(struct talk *t, struct scenario *s, const allm_json *op)
{
    static const char *const names[] = { "messages", "thread", "input" };
    const allm_json *given = NULL;
    size_t seen = 0;
    *t = (struct talk){ .plain = NULL };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const allm_json *v = allm_json_get(op, names[i]);
        seen += v != NULL;
        given = v ? v : given;
    }
    if (seen != 1)
        return scenario_refuse(s, "needs one of \"messages\", \"thread\" and "
                                  "\"input\"");
    t->plain = thread_form(given);
    t->codec = engine_decode(t->plain, "Thread");
    t->thread = allm_codec_value(t->codec, ALLM_TYPE_THREAD);
    t->empty = allm_thread_new(NULL);
    return true;
}

void talk_release(struct talk *t)
{
    allm_thread_free(t->empty);
    allm_codec_free(t->codec);
    allm_json_free(t->plain);
}

const allm_thread *talk_thread(const struct talk *t)
{
    return t->thread ? t->thread : t->empty;
}

const allm_error *talk_error(const struct talk *t, const allm_error *error,
                             allm_error **faults)
{
    *faults = NULL;
    if (t->thread || (error && error->kind == ALLM_ERR_MISUSE))
        return NULL;
    *faults = allm_validate_json("thread", t->plain);
    return *faults ? *faults : allm_codec_error(t->codec);
}
