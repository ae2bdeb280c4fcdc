/* catalog_preflight.c - check whether a model supports what a request needs */
#include "base/status.h"
#include "data/path.h"
#include "engine/catalog.h"
#include "json/json.h"

/* The objections found so far.  There are at most MOST rules. */
enum { MAX_OBJECTIONS = 4 };

struct objections {
    size_t count;
    const char *field[MAX_OBJECTIONS], *reason[MAX_OBJECTIONS];
};

static void add_objection(struct objections *o, const char *field,
                          const char *reason)
{
    o->field[o->count] = field;
    o->reason[o->count++] = reason;
}

/* As (path, reason) pairs: [[["tools"], "tools_disabled"], ...]. */
static const allm_json *pairs_of(const struct objections *o, struct arena *a)
{
    struct build list = build_array_in(a);
    for (size_t i = 0; i < o->count; i++) {
        struct path at = PATH_KEY(NULL, o->field[i]);
        path_write_pair(&list, &at, true, o->reason[i]);
    }
    return build_finish(&list);
}

static const allm_error *make_error(const struct objections *o,
                                    const allm_model_ref *ref, struct arena *a)
{
    if (o->count == 0)
        return NULL;
    struct buf words = buf_in(a, 1024);
    for (size_t i = 0; i < o->count; i++)
        buf_format(&words, "%s%s", i ? ", " : "", o->reason[i]);
    allm_error *e =
        words.broken
            ? NULL
            : status_draft(a, ALLM_ERR_VALIDATION, "unsupported_capability",
                           "the model %s cannot do what the request needs "
                           "(%s); change the request, or choose another model",
                           ref->id ? ref->id : "", words.ptr);
    if (e)
        e->errors = pairs_of(o, a);
    return e && e->errors ? e : status_nomem();
}

static bool is_false(const allm_json *map, const char *key)
{
    const allm_json *v = allm_json_get(map, key);
    return allm_json_type_of(v) == ALLM_JSON_BOOL && !allm_json_true(v);
}

/* Those of tools do not count: catalog_is_blind(). */
static bool has_image(const allm_request *r)
{
    for (size_t i = 0; i < r->message_count; i++)
        for (size_t k = 0; k < r->messages[i]->part_count; k++)
            if (r->messages[i]->parts[k]->kind == ALLM_PART_IMAGE &&
                r->messages[i]->role != ALLM_ROLE_TOOL)
                return true;
    return false;
}

bool catalog_is_blind(const allm_model_ref *ref)
{
    return ref && is_false(ref->capabilities, "vision");
}

const allm_error *catalog_preflight(const allm_model_ref *ref,
                                    const allm_request *r, struct arena *a)
{
    struct objections o = { .count = 0 };
    if (!ref)
        return NULL;
    const allm_json *can = ref->capabilities;
    if (r->tool_count && is_false(allm_json_get(can, "tools"), "enabled"))
        add_objection(&o, "tools", "tools_disabled");
    if (json_is(allm_json_get(r->response_format, "type"), "json_schema") &&
        is_false(can, "json_native"))
        add_objection(&o, "response_format", "json_native_disabled");
    if (catalog_is_blind(ref) && has_image(r))
        add_objection(&o, "vision", "vision_disabled");
    return make_error(&o, ref, a);
}

static bool has_operation(const allm_json *list, allm_image_operation op)
{
    static const char *const words[] = { "generate", "edit", "variation" };
    size_t i = (size_t)op;
    for (const allm_json *v = NULL; (v = allm_json_next(list, v));)
        if (i < sizeof words / sizeof *words && json_is(v, words[i]))
            return true;
    return false;
}

const allm_error *catalog_preflight_image(const allm_model_ref *ref,
                                          const allm_image_request *r,
                                          struct arena *a)
{
    struct objections o = { .count = 0 };
    if (!ref)
        return NULL;
    const allm_json *can = ref->capabilities;
    const allm_json *list = allm_json_get(can, "supported_image_operations");
    if (is_false(can, "images_enabled"))
        add_objection(&o, "images_enabled", "images_disabled");
    if (allm_json_type_of(list) == ALLM_JSON_ARRAY &&
        !has_operation(list, r->operation))
        add_objection(&o, "operation", "unsupported_image_operation");
    return make_error(&o, ref, a);
}
