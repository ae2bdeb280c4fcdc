/* model_ref.c - a model's provider and id, and what a catalog knows of it */
#include "data/model_ref.h"

#include "base/arena.h"
#include "data/noun.h"

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
    SHAPE_OF(model_ref, "ALLM.ModelRef"),
    .fields = fields,
};

NOUN_FUNCTIONS(model_ref)

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
    if (!spelling || !*spelling)
        return shape_refused(&model_ref_shape, "missing_field",
                             "allm_model_ref_from_text: the model's name is "
                             "missing");
    model_ref_split(slice_of(spelling), &provider, &id);
    struct arena a = arena_in(mem_default());
    const char *p = arena_copy(&a, provider), *i = arena_copy(&a, id);
    allm_model_ref *ref =
        a.broken ? NULL
                 : allm_model_ref_new(ALLM(model_ref, .provider = p, .id = i));
    arena_release(&a);
    return ref;
}
