/*
 * images.c - the images of a request, before a dialect encodes it
 *
 * Dialects do not read files.  The caller's messages do not change: a message
 * with an image file is copied for this call.
 */
#include "run/images.h"

#include "base/status.h"
#include "run/image_bytes.h"

static bool is_file(const allm_part *p)
{
    return p && p->image && p->image->source == ALLM_IMAGE_FILE;
}

/* An image that the model cannot see. */
static bool is_lost(const allm_message *m, size_t i, bool blind)
{
    return blind && m->role == ALLM_ROLE_TOOL && m->parts[i] &&
           m->parts[i]->kind == ALLM_PART_IMAGE;
}

static bool must_change(const allm_message *m, bool blind)
{
    for (size_t i = 0; i < m->part_count; i++)
        if (is_file(m->parts[i]) || is_lost(m, i, blind))
            return true;
    return false;
}

static const allm_error *unreadable_error(struct arena *a,
                                          const allm_image *image,
                                          const char *reason)
{
    if (!*reason)
        return status_nomem();
    return status_error(
        a, ALLM_ERR_VALIDATION, "invalid_message",
        !strcmp(reason, "efbig")
            ? "the image \"%.200s\" is larger than 20 MiB (%s); send a "
              "smaller one, or its URL"
            : "the image \"%.200s\" cannot be read (%s); check its path and "
              "its permissions",
        image->data, reason);
}

/* A copy of the part with the bytes of its file. */
static const allm_error *load_part(struct arena *a, const allm_part *from,
                                   const allm_part **out)
{
    struct slice bytes;
    const char *reason = image_bytes_load(a, from->image, IMAGES_LIMIT, &bytes);
    if (reason)
        return unreadable_error(a, from->image, reason);
    allm_part *part = arena_alloc(a, sizeof *part);
    const allm_image *image = image_bytes_make(a, from->image, bytes);
    if (!part || !image)
        return status_nomem();
    *part = *from;
    part->home = NULL;
    part->image = image;
    *out = part;
    return NULL;
}

/* A copy of the message, which the home holds. */
static const allm_error *load_message(struct allm_home *home, struct arena *a,
                                      const allm_message *from, bool blind,
                                      const allm_message **out)
{
    allm_message fields = *from;
    const allm_part **parts = arena_alloc(a, from->part_count * sizeof *parts);
    if (!parts)
        return status_nomem();
    fields.part_count = 0;
    for (size_t i = 0; i < from->part_count; i++) {
        const allm_error *error = NULL;
        const allm_part **slot = &parts[fields.part_count];
        if (is_lost(from, i, blind))
            continue;
        *slot = from->parts[i];
        fields.part_count++;
        if (is_file(*slot))
            error = load_part(a, from->parts[i], slot);
        if (error)
            return error;
    }
    fields.home = NULL;
    fields.parts = parts;
    allm_message *made = allm_message_new(&fields);
    bool held = made && !allm_message_error(made) &&
                home_hold(home, made->home);
    *out = made;
    allm_message_free(made);    /* If it succeeded, the home holds it. */
    return held ? NULL : status_nomem();
}

static const allm_error *load_messages(allm_request *r, struct allm_home *home,
                                       bool blind, struct arena *scratch)
{
    struct arena *a = home_arena(home);
    const allm_message **messages =
        arena_alloc(a, r->message_count * sizeof *messages);
    if (!messages)
        return status_nomem();
    for (size_t i = 0; i < r->message_count; i++) {
        const allm_error *error = NULL;
        messages[i] = r->messages[i];
        if (must_change(messages[i], blind))
            error = load_message(home, scratch, messages[i], blind,
                                 &messages[i]);
        if (error)              /* The error may be in the scratch arena. */
            return status_retell(a, error);
    }
    r->messages = messages;
    return NULL;
}

const allm_error *images_load(allm_request *r, struct allm_home *home,
                              bool blind)
{
    size_t i = 0;
    while (i < r->message_count && !must_change(r->messages[i], blind))
        i++;
    if (i == r->message_count)
        return NULL;            /* the usual case */
    struct arena scratch = arena_in(home_mem(home));
    const allm_error *error = load_messages(r, home, blind, &scratch);
    arena_release(&scratch);
    return error;
}
