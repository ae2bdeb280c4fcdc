/* model_ref.c - a model's provider and id, and what a catalog knows of it */
#include "data/model_ref.h"

#include "base/arena.h"
#include "data/encode.h"

static const struct shape_field fields[] = {
    FIELD(model_ref, provider, SHAPE_TEXT),
    FIELD(model_ref, id, SHAPE_TEXT),
    FIELD(model_ref, capabilities, SHAPE_ANY),
    FIELD(model_ref, limits, SHAPE_ANY),
    FIELD(model_ref, pricing, SHAPE_ANY),
    FIELD(model_ref, metadata, SHAPE_MAP),
    FIELD_END,
};

const struct shape model_ref_shape = {
    .tag = "ALLM.ModelRef",
    .noun = "model_ref",
    .size = sizeof(allm_model_ref),
    .kept = offsetof(allm_model_ref, kept),
    .fields = fields,
};

allm_model_ref *allm_model_ref_new(const allm_model_ref *given)
{
    return shape_new(&model_ref_shape, given);
}

void allm_model_ref_free(allm_model_ref *ref)
{
    shape_free(ref);
}

const allm_error *allm_model_ref_error(const allm_model_ref *ref)
{
    return shape_error(ref);
}

allm_text *allm_model_ref_json(const allm_model_ref *ref, allm_form form)
{
    return encode_to_text(&model_ref_shape, ref, form);
}

/* An id may contain colons, such as Ollama's "llama3:8b", so only the first
 * colon separates, and only if there is text on both sides. */
void model_ref_split(struct slice name, struct slice *provider,
                     struct slice *id)
{
    const char *colon = memchr(name.ptr, ':', name.len);
    const char *at = NULL;
    for (size_t i = name.len; i && !at; i--)
        at = name.ptr[i - 1] == '@' ? name.ptr + i - 1 : NULL;
    const char *end = name.ptr + name.len;
    *provider = (struct slice){ NULL, 0 };
    *id = name;
    if (colon && colon > name.ptr && colon + 1 < end) {
        *provider = (struct slice){ name.ptr, (size_t)(colon - name.ptr) };
        *id = slice_skip(name, provider->len + 1);
    } else if (at && at > name.ptr && at + 1 < end) {
        *id = (struct slice){ name.ptr, (size_t)(at - name.ptr) };
        *provider = slice_skip(name, id->len + 1);
    }
}

allm_model_ref *allm_model_ref_from_text(const char *spelling)
{
    struct slice provider, id;
    struct arena a;
    if (!spelling || !*spelling)
        return shape_refused(&model_ref_shape, "missing_field",
                             "allm_model_ref_from_text: the model's name is "
                             "missing");
    model_ref_split(slice_of(spelling), &provider, &id);
    arena_init(&a, mem_default());
    const char *p = arena_copy(&a, provider), *i = arena_copy(&a, id);
    allm_model_ref *ref =
        a.broken ? NULL
                 : allm_model_ref_new(ALLM(model_ref, .provider = p, .id = i));
    arena_release(&a);
    return ref;
}
