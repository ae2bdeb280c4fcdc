/*
 * chat_repeat.c - a frame that is like the last one, but for its text
 *
 * Only a frame whose every other value is equal to that of the last one is a
 * repetition, so what the last one did not do (finish, count, fail, note) the
 * repetition does not do either.
 */
#include "provider/openai/chat_repeat.h"

enum { MOST_VAIN = 16 };        /* then this server's frames differ */

static struct slice text_of(const struct json_view *object, struct slice name)
{
    return json_slice(json_in(object, name));
}

/* The arguments of the only call in the list, which only continue it; NULL:
 * it is anything else. */
static const allm_json *find_arguments(struct chat_repeat *r,
                                       const allm_json *list)
{
    struct json_view call, function;
    const allm_json *element = json_is_type(list, ALLM_JSON_ARRAY) &&
                                       allm_json_count(list) == 1
                                   ? allm_json_next(list, NULL)
                                   : NULL;
    if (!json_is_type(element, ALLM_JSON_OBJECT))
        return NULL;
    json_view_init(&call, element);
    const allm_json *index = json_in(&call, SLICE("index"));
    if (!json_is_type(json_in(&call, SLICE("function")), ALLM_JSON_OBJECT) ||
        text_of(&call, SLICE("id")).len ||
        json_in(&call, SLICE("extra_content")))
        return NULL;
    json_view_init(&function, json_in(&call, SLICE("function")));
    if (text_of(&function, SLICE("name")).len)
        return NULL;
    r->call = true;
    r->has_index = json_is_type(index, ALLM_JSON_INT) &&
                   json_int64(index, &r->index);
    return json_in(&function, SLICE("arguments"));
}

/* The text of a choice that has nothing else; NULL: it has. */
static const allm_json *find_text(struct chat_repeat *r,
                                  const struct json_view *choice)
{
    const allm_json *delta = json_in(choice, SLICE("delta"));
    if (allm_json_count(delta) != 1 ||
        text_of(choice, SLICE("finish_reason")).len ||
        text_of(choice, SLICE("native_finish_reason")).len ||
        json_is_type(json_in(choice, SLICE("logprobs")), ALLM_JSON_OBJECT))
        return NULL;
    const allm_json *text = json_at(delta, "content");
    return text ? text : find_arguments(r, json_at(delta, "tool_calls"));
}

void chat_repeat_watch(struct chat_repeat *r, struct allm_sink *sink,
                       const struct json_view *frame,
                       const struct json_view *choice)
{
    if (r->vain == MOST_VAIN || !sink_fits(sink))
        return;
    r->call = false;
    const allm_json *text = find_text(r, choice);
    const allm_json *const others[] = {
        json_in(frame, SLICE("id")), json_in(frame, SLICE("created")),
        json_in(frame, SLICE("obfuscation"))
    };
    if (text && !sink_watch(sink, text, others, sizeof others / sizeof *others))
        r->vain++;
}

bool chat_repeat_next(const struct chat_repeat *r, struct allm_sink *sink,
                      struct slice data, struct calls_piece *piece)
{
    struct slice text;
    if (!sink_watched(sink, data, &text))
        return false;
    *piece = (struct calls_piece){ .has_index = r->has_index,
                                   .index = r->index,
                                   .text = text };
    return true;
}
