/*
 * message.c - messages: a role and its content
 *
 * A message is reference-counted: threads, requests and results share it.  Its
 * content is a text or a list of parts.  In JSON, the tool calls of an
 * assistant are in its metadata.
 */
#include "data/message.h"

#include "data/decode.h"
#include "data/encode.h"
#include "data/part.h"
#include "data/tool_call.h"
#include "json/json.h"

static const struct shape_words role_words = WORDS(NULL, "system", "user",
                                                   "assistant", "tool");

static void write_content(struct encoder *e, const void *value)
{
    const allm_message *m = value;
    if (m->text) {
        emit_text(&e->emit, (struct slice){ m->text, m->text_len });
        return;
    }
    if (!m->parts) {
        emit_null(&e->emit);
        return;
    }
    emit_open(&e->emit, '[');
    for (size_t i = 0; i < m->part_count; i++)
        part_write(e, m->parts[i]);
    emit_close(&e->emit, ']');
}

static bool read_parts(struct decoder *d, const allm_json *v, allm_message *m)
{
    size_t n = allm_json_count(v);
    const allm_part **part = arena_zero(d->arena, (n + 1) * sizeof *part);
    if (!part)
        return decode_nomem(d);
    struct path step = PATH_INDEX(d->path, 0);
    d->path = &step;
    for (const allm_json *e = NULL; (e = allm_json_next(v, e));) {
        part[step.index] = part_read(d, e);
        if (!part[step.index])
            break;
        step.index++;
    }
    d->path = step.outer;
    m->parts = part;
    m->part_count = n;
    return !d->error;
}

static bool read_content(struct decoder *d, const allm_json *v, void *value)
{
    allm_message *m = value;
    switch (allm_json_type_of(v)) {
    case ALLM_JSON_TEXT:
        return decode_bytes(d, v, &m->text, &m->text_len);
    case ALLM_JSON_ARRAY:
        return read_parts(d, v, m);
    default:
        return allm_json_type_of(v) == ALLM_JSON_NULL;
    }
}

static const struct shape_own content_own = { write_content, read_content,
                                              NULL };

static const struct shape_field fields[] = {
    FIELD_ENUM(message, role, role_words, SHAPE_NEEDED),
    FIELD_OWN("content", content_own, 0),
    FIELD_BYTES(message, text, text_len, SHAPE_HIDDEN),
    FIELD_MANY(message, parts, part_count, part_shape, SHAPE_HIDDEN),
    FIELD(message, name, SHAPE_TEXT),
    FIELD(message, tool_call_id, SHAPE_TEXT),
    FIELD(message, metadata, SHAPE_MAP),
    FIELD_MANY(message, tool_calls, tool_call_count, tool_call_shape,
               SHAPE_LIFTED),
    FIELD_FLAGS(message, provider_state, SHAPE_ANY, SHAPE_SPARE),
    FIELD_END,
};

const struct shape message_shape = {
    SHAPE_OF(message, "ALLM.Message"),
    .fields = fields,
    .counted = true,
};

/* --------------------------------------------------------------- public --- */

/* What is wrong with the content of a new message, or NULL. */
static const char *content_fault(const allm_message *m)
{
    const char *fault = NULL;
    if (m->text && m->parts)
        return "allm_message_new: text and parts are both set; the content is "
               "one of them";
    if (!m->text && !m->parts && !allm_json_get(m->kept, "content"))
        return "allm_message_new: the content is missing; set text or parts";
    for (size_t i = 0; m->parts && !fault && i < m->part_count; i++)
        fault = part_fault(m->parts[i]);
    return fault;
}

allm_message *allm_message_new(const allm_message *given)
{
    allm_message *m = shape_new(&message_shape, given);
    const char *fault = !shape_error(m) ? content_fault(m) : NULL;
    if (!fault)
        return m;
    shape_free(m);
    return shape_refused(&message_shape, "missing_field", fault);
}

allm_message *allm_message_from_text(allm_role role, const char *text)
{
    return allm_message_new(ALLM(message, .role = role, .text = text));
}

allm_message *allm_message_from_result(const char *tool_call_id,
                                       const char *text)
{
    return allm_message_new(ALLM(message, .role = ALLM_ROLE_TOOL, .text = text,
                                 .tool_call_id = tool_call_id));
}

allm_message *allm_message_keep(const allm_message *m)
{
    return shape_keep_root(&message_shape, m);
}

allm_message *allm_message_normalize(const allm_message *m)
{
    allm_message *mine = shape_keep_root(&message_shape, m);
    if (!mine || !mine->text)
        return mine;
    const allm_part *part = ALLM(part, .kind = ALLM_PART_TEXT,
                                 .text = mine->text,
                                 .text_len = mine->text_len);
    allm_message as_parts = *mine;  /* not ours: it will be copied */
    as_parts.text = NULL;
    as_parts.text_len = 0;
    as_parts.parts = &part;
    as_parts.part_count = 1;
    allm_message *made = shape_keep_root(&message_shape, &as_parts);
    shape_free(mine);
    return made;
}

void allm_message_free(allm_message *m)
{
    shape_free(m);
}

const allm_error *allm_message_error(const allm_message *m)
{
    return shape_error(m);
}

allm_text *allm_message_json(const allm_message *m, allm_form form)
{
    return encode_to_text(&message_shape, m, form);
}
