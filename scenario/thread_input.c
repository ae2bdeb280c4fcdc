/* thread_input.c - the thread that a step, a chat or an agent begins with */
#include "thread_input.h"

#include "engine.h"

/* Any value may be an `input`; an object that does not look like a thread
 * becomes null, which is not a valid thread. */
static allm_json *thread_form(const allm_json *form)
{
    if (allm_json_type_of(form) == ALLM_JSON_OBJECT &&
        !allm_json_get(form, "messages") && !allm_json_get(form, "__type__"))
        return allm_json_parse("null", ALLM_NUL_ENDED, NULL);
    return engine_thread(form);
}

bool thread_input_init(struct thread_input *t, struct scenario *s,
                       const allm_json *op)
{
    static const char *const names[] = { "messages", "thread", "input" };
    const allm_json *form = NULL;
    size_t seen = 0;
    *t = (struct thread_input){ .plain = NULL };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const allm_json *v = allm_json_get(op, names[i]);
        seen += v != NULL;
        form = v ? v : form;
    }
    if (seen != 1)
        return scenario_reject(s, "needs one of \"messages\", \"thread\" and "
                                  "\"input\"");
    t->plain = thread_form(form);
    t->codec = engine_decode(t->plain, "Thread");
    t->thread = allm_codec_value(t->codec, ALLM_TYPE_THREAD);
    t->empty = allm_thread_new(NULL);
    return true;
}

void thread_input_release(struct thread_input *t)
{
    allm_thread_free(t->empty);
    allm_codec_free(t->codec);
    allm_json_free(t->plain);
}

const allm_thread *thread_input_thread(const struct thread_input *t)
{
    return t->thread ? t->thread : t->empty;
}

const allm_error *thread_input_error(const struct thread_input *t,
                                     const allm_error *error,
                                     allm_error **faults)
{
    *faults = NULL;
    if (t->thread || (error && error->kind == ALLM_ERR_MISUSE))
        return NULL;
    *faults = allm_validate_json("thread", t->plain);
    return *faults ? *faults : allm_codec_error(t->codec);
}
