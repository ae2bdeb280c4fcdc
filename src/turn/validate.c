/*
 * validate.c - the second stage: check the names and arguments of the calls
 *
 * In a chat a call of an unknown tool is an error, and no tool runs.  An agent
 * reports it to the model and runs the valid calls; it also checks the
 * arguments against the tool's schema.
 */
#include "turn/pipeline.h"

#include "base/buf.h"
#include "tool/arguments.h"
#include "tool/batch.h"
#include "tool/compact.h"
#include "turn/dispatch.h"
#include "turn/fault.h"
#include "json/build.h"
#include "json/json.h"
#include "json/schema.h"

#include <stdlib.h>

enum { TEXT_LIMIT = 64 * 1024 };

static bool is_known(const allm_context *c, const char *name)
{
    return context_tool(c, name, NULL) ||
           compact_names_help(name, c->tool_count, c->tools);
}

static allm_status fail_unknown_tool(allm_context *c, const char *name)
{
    return allm_context_fail(c, batch_unknown_tool(c->arena, name));
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "Error: unknown tool 'x'. Available: a, b" */
static struct slice unknown_text(allm_context *c, const char *name)
{
    const char **names = arena_alloc(c->arena,
                                     (c->tool_count + 1) * sizeof *names);
    struct buf text = buf_in(c->arena, TEXT_LIMIT);
    buf_format(&text, "Error: unknown tool '%s'. Available: ", name);
    for (size_t i = 0; names && i < c->tool_count; i++)
        names[i] = c->tools[i]->name;
    if (names)
        qsort(names, c->tool_count, sizeof *names, compare_names);
    for (size_t i = 0; names && i < c->tool_count; i++) {
        buf_text(&text, i ? ", " : "");
        buf_text(&text, names[i]);
    }
    return buf_slice(&text);
}

static void reject_call(allm_context *c, const allm_tool_call *call,
                        struct slice text)
{
    if (allm_context_add_result(c, call, text.ptr, text.len, true) < 0)
        c->broken = true;
}

/* The schema of a tool, compiled once in an agent; NULL: it has none, or an
 * invalid one. */
static const allm_json_schema *schema_of(allm_context *c, size_t index)
{
    if (!c->schemas || !c->tools[index]->schema)
        return NULL;
    if (!c->schemas[index])
        c->schemas[index] = allm_json_schema_new(c->tools[index]->schema);
    if (!c->schemas[index])
        c->broken = true;
    return allm_json_schema_error(c->schemas[index]) ? NULL : c->schemas[index];
}

/* An array with one string for each fault; NULL: out of memory. */
static const allm_json *fault_texts(allm_context *c, const allm_json *faults,
                                    const allm_tool *tool,
                                    const allm_json *object)
{
    struct build b = build_array_in(c->arena);
    for (const allm_json *f = NULL; (f = allm_json_next(faults, f));) {
        struct buf text = buf_in(c->arena, TEXT_LIMIT);
        fault_write(&text, f, tool->schema, object);
        build_text(&b, buf_slice(&text));
    }
    return build_finish(&b);
}

static const allm_json *single_text(allm_context *c, const char *text)
{
    struct build b = build_array_in(c->arena);
    build_text(&b, slice_of(text ? text : "they are not a JSON object"));
    return build_finish(&b);
}

/* The faults of a call's arguments as strings; NULL: it has none. */
static const allm_json *faults_of(allm_context *c, const allm_tool_call *call,
                                  const allm_tool *tool, size_t index)
{
    const allm_json *object = NULL;
    struct outcome why = { .kind = OUTCOME_NONE };
    if (!arguments_check(c->arena, call, tool, false, &object, &why)) {
        c->broken = c->broken || why.kind == OUTCOME_NOMEM;
        return single_text(c, why.detail);
    }
    const allm_json_schema *schema = schema_of(c, index);
    const allm_json *faults = schema ? schema_check(schema, object, c->arena)
                                     : json_empty_array();
    if (!faults)
        c->broken = true;
    return allm_json_count(faults) ? fault_texts(c, faults, tool, object)
                                   : NULL;
}

/* "Error: invalid arguments for 'x': fault; fault" */
static void reject_arguments(allm_context *c, const allm_tool_call *call,
                             const allm_json *texts)
{
    bool first = true;
    struct buf text = buf_in(c->arena, TEXT_LIMIT);
    buf_format(&text, "Error: invalid arguments for '%s': ", call->name);
    for (const allm_json *t = NULL; (t = allm_json_next(texts, t));) {
        buf_text(&text, first ? "" : "; ");
        buf_add(&text, json_slice(t));
        first = false;
    }
    reject_call(c, call, buf_slice(&text));
    context_fault(c, FAILURE_ARGUMENTS, call->name, texts);
}

/* May the call run?  If not, add its result. */
static bool accept_call(allm_context *c, const allm_tool_call *call)
{
    size_t index = 0;
    const allm_tool *tool = context_tool(c, call->name, &index);
    if (dispatch_began(c->runner, call->id))
        return true;
    if (!is_known(c, call->name)) {
        reject_call(c, call, unknown_text(c, call->name));
        context_fault(c, "unknown_tool", call->name, NULL);
        return false;
    }
    if (!c->terms->check_arguments || !tool)
        return true;
    const allm_json *texts = faults_of(c, call, tool, index);
    if (texts && !c->broken)
        reject_arguments(c, call, texts);
    return !texts;
}

/* The name of the first unknown tool, or NULL. */
static const char *first_unknown(const allm_context *c)
{
    for (size_t i = 0; i < c->call_count; i++)
        if (!is_known(c, c->calls[i]->name) &&
            !dispatch_began(c->runner, c->calls[i]->id))
            return c->calls[i]->name;
    return NULL;
}

allm_status validate_run(allm_context *c, void *ud)
{
    (void)ud;
    context_note(c, "validate_calls");
    const char *unknown = c->terms->tell_unknown ? NULL : first_unknown(c);
    if (unknown)
        return fail_unknown_tool(c, unknown);
    if (!c->terms->tell_unknown && !c->terms->check_arguments)
        return ALLM_OK;
    const allm_tool_call **valid =
        arena_alloc(c->arena, (c->call_count + 1) * sizeof *valid);
    size_t n = 0;
    for (size_t i = 0; valid && i < c->call_count; i++)
        if (accept_call(c, c->calls[i]))
            valid[n++] = c->calls[i];
    c->calls = valid;
    c->call_count = n;
    return valid && !c->broken ? ALLM_OK : ALLM_ERR_NOMEM;
}
