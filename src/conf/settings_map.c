/* settings_map.c - go through the settings of a value, and change them */
#include "conf/member.h"
#include "conf/settings.h"
#include "term/bytes.h"

struct walk {
    allm_json_build *b;
    setting_change change;
    void *ud;
    struct bytes path;
};

static void put_owned(struct walk *w, const char *key, allm_json *value)
{
    if (!value)
        return;
    allm_json_build_key(w->b, key);
    allm_json_build_value(w->b, value);
    allm_json_free(value);
}

/* The members of an object, whose path is w->path.  Its depth is that of the
 * keys in the table, at most three. */
static void walk_object(struct walk *w, const allm_json *object)
{
    size_t before = w->path.len;
    for (const allm_json *k = NULL; (k = allm_json_next(object, k));) {
        const char *key = allm_json_text(k, NULL);
        const allm_json *value = allm_json_value(k);
        bytes_text(&w->path, before ? "." : "");
        bytes_text(&w->path, key);
        const char *path = bytes_string(&w->path);
        const struct setting *s = setting_find(path);
        bool object_here = allm_json_type_of(value) == ALLM_JSON_OBJECT;
        if (!s && object_here && setting_has_members(path)) {
            allm_json_build_key(w->b, key);
            allm_json_build_object(w->b);
            walk_object(w, value);
            allm_json_build_end(w->b);
        } else {
            put_owned(w, key, w->change(w->ud, path, s, value));
        }
        bytes_splice(&w->path, before, w->path.len - before, "", 0);
    }
}

allm_json *setting_map(const allm_json *value, setting_change change, void *ud)
{
    struct walk w = { member_new_object(), change, ud, { NULL, 0, 0 } };
    walk_object(&w, value);
    bytes_release(&w.path);
    return member_done(w.b);
}
