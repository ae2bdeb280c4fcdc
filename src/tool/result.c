/* result.c - the result of one tool call, as the turn uses it */
#include "tool/result.h"

#include "data/error.h"
#include "data/message.h"
#include "data/tool_call.h"
#include "json/build.h"
#include "json/json.h"

/* The image of a part, in the arena; the base64 text is borrowed. */
static const allm_part *image_part(struct arena *a, const allm_json *image)
{
    struct slice data = json_text_at(image, "data");
    allm_image *i = arena_zero(a, sizeof *i);
    allm_part *p = arena_zero(a, sizeof *p);
    if (!i || !p)
        return NULL;
    *i = (allm_image){ .size = sizeof *i, .source = ALLM_IMAGE_BASE64,
                       .data = data.ptr, .data_len = data.len,
                       .mime_type = json_text_at(image, "mimeType").ptr };
    *p = (allm_part){ .size = sizeof *p, .kind = ALLM_PART_IMAGE, .image = i };
    return p;
}

/* A message whose parts are the content and the images. */
static allm_message *with_images(const struct tool_result *r,
                                 struct slice content, struct arena *a)
{
    const allm_json *images = r->outcome.images, *v = NULL;
    const allm_part text = { .size = sizeof text, .kind = ALLM_PART_TEXT,
                             .text = content.ptr, .text_len = content.len };
    const allm_part **parts =
        arena_alloc(a, (allm_json_count(images) + 1) * sizeof *parts);
    size_t n = 0;
    if (!parts)
        return NULL;
    parts[n++] = &text;
    while ((v = allm_json_next(images, v)))
        parts[n++] = image_part(a, v);
    if (a->broken)
        return NULL;
    return shape_new(&message_shape, ALLM(message, .role = ALLM_ROLE_TOOL,
                                          .tool_call_id = r->view.call->id,
                                          .parts = parts, .part_count = n));
}

static allm_message *make_message(const struct tool_result *r,
                                  struct slice content)
{
    if (!allm_json_count(r->outcome.images))
        return shape_new(&message_shape,
                         ALLM(message, .role = ALLM_ROLE_TOOL,
                              .tool_call_id = r->view.call->id,
                              .text = content.ptr, .text_len = content.len));
    struct arena a = arena_in(mem_default());
    allm_message *m = with_images(r, content, &a);
    arena_release(&a);
    return m;
}

bool result_close(struct tool_result *r, struct slice content)
{
    if (!content.len)
        content = SLICE("");    /* text_len 0 means "up to the NUL" */
    r->message = make_message(r, content);
    if (!r->message)
        return false;
    const allm_part *first = r->message->part_count ? r->message->parts[0]
                                                    : NULL;
    r->view.size = sizeof r->view;
    r->view.content = first ? first->text : r->message->text;
    r->view.content_len = first ? first->text_len : r->message->text_len;
    return true;
}

const allm_json *result_images(const allm_message *m, struct arena *a)
{
    struct build b = build_array_in(a);
    for (size_t i = 0; i < m->part_count; i++) {
        const allm_image *image = m->parts[i]->image;
        if (m->parts[i]->kind != ALLM_PART_IMAGE || !image ||
            image->source != ALLM_IMAGE_BASE64 || !image->mime_type)
            continue;
        build_object(&b);
        build_text_at(&b, "data",
                      (struct slice){ image->data, image->data_len });
        build_text_at(&b, "mimeType", slice_of(image->mime_type));
        build_end(&b);
    }
    const allm_json *images = build_finish(&b);
    return allm_json_count(images) ? images : NULL;
}

const struct tool_result *result_copy(struct allm_home *home,
                                      const struct tool_result *r)
{
    struct arena *a = home_arena(home);
    const allm_error *error = NULL;
    struct tool_result *copy = arena_alloc(a, sizeof *copy);
    if (!copy || (r->message && !home_hold(home, r->message->home)))
        return NULL;
    *copy = *r;
    copy->tool = NULL;
    copy->key = NULL;
    copy->whole = (struct slice){ 0 };
    copy->view.call = shape_copy(home, &tool_call_shape, r->view.call, &error);
    copy->arguments = json_copy(a, r->arguments);
    copy->outcome = outcome_copy(a, &r->outcome);
    copy->error = r->error ? error_copy(home, r->error) : NULL;
    return copy->view.call && !a->broken ? copy : NULL;
}

static void init_event(const struct tool_result *r, allm_event *event,
                       allm_event_type type)
{
    *event = (allm_event){ .size = sizeof *event, .type = type,
                           .id = r->view.call->id,
                           .name = r->view.call->name };
}

void result_started(const struct tool_result *r, allm_event *event)
{
    init_event(r, event, ALLM_EV_TOOL_EXECUTION_STARTED);
    event->arguments = r->arguments;
}

bool result_completed(const struct tool_result *r, struct arena *a,
                      allm_event *event)
{
    init_event(r, event, ALLM_EV_TOOL_EXECUTION_COMPLETED);
    event->result = outcome_json(a, &r->outcome, r->error);
    return event->result != NULL;
}

static void fill_question(const struct tool_result *r, allm_event *event)
{
    init_event(r, event, ALLM_EV_ASK_USER_REQUESTED);
    event->text = r->outcome.question;
    event->text_len = strlen(r->outcome.question);
    event->opts = r->outcome.opts;
}

bool result_ended(const struct tool_result *r, struct arena *a,
                  allm_event *event)
{
    const struct outcome *o = &r->outcome;
    if (o->kind == OUTCOME_QUESTION) {
        fill_question(r, event);
        return true;
    }
    init_event(r, event,
               r->halts ? ALLM_EV_TOOL_HALT : ALLM_EV_TOOL_RESULT_ENCODED);
    event->text = r->view.content;
    event->text_len = r->view.content_len;
    if (!r->halts)
        return true;
    event->reason = outcome_halted_reason(o);
    event->error = r->error;
    event->result = o->kind == OUTCOME_HALT
                        ? o->value
                        : outcome_error_json(a, o, r->error);
    return event->result || !r->error;
}

static void put_value(struct build *b, const char *key, const allm_json *value)
{
    build_value_at(b, key, value ? value : json_null());
}

void result_write_halt(struct build *b, const struct tool_result *r)
{
    if (!r)
        return;
    const struct outcome *o = &r->outcome;
    build_text_at(b, "halted_reason", slice_of(outcome_halted_reason(o)));
    if (o->kind == OUTCOME_QUESTION) {
        build_text_at(b, "pending_tool_call_id", slice_of(r->view.call->id));
        build_text_at(b, "pending_question", slice_of(o->question));
        put_value(b, "ask_user_opts", o->opts);
        return;
    }
    build_text_at(b, "halt_tool_call_id", slice_of(r->view.call->id));
    if (o->kind == OUTCOME_HALT)
        put_value(b, "halt_result", o->value);
}
