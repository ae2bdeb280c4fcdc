/* fault.c - describe a fault of arguments to the model */
#include "turn/fault.h"

#include "json/json.h"
#include "json/pointer.h"
#include "json/write.h"

#define MISSING SLICE("missing property ")

static struct slice fault_member(const allm_json *fault, struct slice name)
{
    return json_slice(json_get(fault, name));
}

/* "field a/b: " for the path "/a/b". */
static void write_field(struct buf *out, struct slice path)
{
    buf_text(out, "field ");
    buf_add(out, (struct slice){ path.ptr + 1, path.len - 1 });
    buf_text(out, ": ");
}

/* The message has the name in quotes. */
static bool write_missing(struct buf *out, struct slice path,
                          struct slice message)
{
    struct slice name = { message.ptr + MISSING.len,
                          message.len - MISSING.len };
    if (message.len < MISSING.len + 2 ||
        memcmp(message.ptr, MISSING.ptr, MISSING.len) != 0)
        return false;
    if (path.len)
        write_field(out, path);
    buf_text(out, "missing required field: ");
    buf_add(out, (struct slice){ name.ptr + 1, name.len - 2 });
    return true;
}

static bool write_type(struct buf *out, struct slice path,
                       const allm_json *type, const allm_json *value)
{
    if (!type || !value || !path.len)
        return false;
    write_field(out, path);
    buf_text(out, "expected type ");
    if (allm_json_type_of(type) == ALLM_JSON_TEXT)
        buf_add(out, json_slice(type));
    else
        json_write(out, type, 0);
    buf_text(out, ", got ");
    json_write(out, value, 0);
    return true;
}

static bool write_enum(struct buf *out, struct slice path,
                       const allm_json *allowed, const allm_json *value)
{
    if (!allowed || !value || !path.len)
        return false;
    write_field(out, path);
    buf_text(out, "value ");
    json_write(out, value, 0);
    buf_text(out, " not in allowed values ");
    json_write(out, allowed, 0);
    return true;
}

void fault_write(struct buf *out, const allm_json *fault,
                 const allm_json *schema, const allm_json *arguments)
{
    struct slice path = fault_member(fault, SLICE("path"));
    struct slice keyword = fault_member(fault, SLICE("keyword"));
    struct slice message = fault_member(fault, SLICE("message"));
    const allm_json *rule =
        pointer_find(schema, fault_member(fault, SLICE("schema_path")));
    const allm_json *value = pointer_find(arguments, path);
    if ((slice_is(keyword, "required") && write_missing(out, path, message)) ||
        (slice_is(keyword, "type") && write_type(out, path, rule, value)) ||
        (slice_is(keyword, "enum") && write_enum(out, path, rule, value)))
        return;
    buf_add(out, path);
    buf_text(out, path.len ? ": " : "");
    buf_add(out, message);
}
