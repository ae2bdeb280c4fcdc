/* engine.c - create the engine and the tools that a scenario describes */
#include "engine.h"

#include "action.h"
#include "gate.h"
#include "kept.h"

#include <stdlib.h>
#include <string.h>

static int64_t clock_now(void *ud)
{
    return ((struct test_clock *)ud)->now_ns;
}

static int64_t clock_unix(void *ud)
{
    return INT64_C(1700000000000) + clock_now(ud) / 1000000;
}

static bool clock_sleep(void *ud, int64_t until_ns)
{
    struct test_clock *c = ud;
    if (kept_settle(c->scenario))
        return true;            /* streams may be ready: time stands */
    if (until_ns > c->now_ns)
        c->now_ns = until_ns;
    return true;
}

static void clock_init(struct test_clock *c, struct scenario *s)
{
    c->scenario = s;
    c->clock = (allm_clock){ .size = sizeof c->clock,
                             .now_ns = clock_now,
                             .unix_ms = clock_unix,
                             .sleep_until = clock_sleep,
                             .ud = c };
}

allm_codec *engine_decode(const allm_json *v, const char *as)
{
    size_t len = 0;
    allm_text *text = allm_json_write(v, 0);
    const char *bytes = allm_text_bytes(text, &len);
    allm_codec *c = allm_codec_decode(bytes ? bytes : "", len, as, NULL);
    allm_text_free(text);
    return c;
}

allm_json *engine_thread(const allm_json *form)
{
    if (allm_json_type_of(form) != ALLM_JSON_ARRAY)
        return allm_json_copy(form);
    allm_json *empty = allm_json_parse("{}", ALLM_NUL_ENDED, NULL);
    allm_json *plain = allm_json_set(empty, "messages", form);
    allm_json_free(empty);
    return plain;
}

/* Add a required member of a tool that the file leaves out. */
static allm_json *add_default_member(allm_json *tool, const char *key,
                                     const char *value)
{
    if (allm_json_get(tool, key))
        return tool;
    allm_json *v = allm_json_parse(value, ALLM_NUL_ENDED, NULL);
    allm_json *whole = allm_json_set(tool, key, v);
    allm_json_free(v);
    allm_json_free(tool);
    return whole;
}

/* Decode a tool without "does", which the library does not know. */
static allm_codec *decode_tool(const allm_json *form)
{
    allm_json *plain = allm_json_type_of(form) == ALLM_JSON_OBJECT
                           ? allm_json_set(form, "does", NULL)
                           : allm_json_copy(form);
    if (allm_json_type_of(form) == ALLM_JSON_OBJECT) {
        plain = add_default_member(plain, "description", "\"\"");
        plain = add_default_member(plain, "schema", "{}");
    }
    allm_codec *c = engine_decode(plain, "Tool");
    allm_json_free(plain);
    return c;
}

/* Give the i-th tool its function; without "does" it has none. */
static bool add_action(struct scenario *s, struct tool_list *l, size_t i,
                       const allm_json *form)
{
    char where[96];
    const allm_json *does = allm_json_get(form, "does");
    l->made[i] = *l->tool[i];
    l->made[i].home = NULL;
    l->action[i] = (struct action){ .does = does, .scenario = s };
    l->tool[i] = &l->made[i];
    if (!does || allm_json_type_of(does) == ALLM_JSON_NULL)
        return true;
    snprintf(where, sizeof where, "the tool \"%.64s\"", l->made[i].name);
    l->made[i].call = action_run;
    l->made[i].ud = &l->action[i];
    l->made[i].flags = ALLM_TOOL_INLINE;
    return action_check(s, does, where);
}

bool engine_tools(struct scenario *s, struct tool_list *out,
                  const allm_json *list, char *error, size_t size)
{
    out->count = 0;
    for (const allm_json *t = NULL; (t = allm_json_next(list, t));) {
        if (out->count == MAX_TOOLS) {
            snprintf(error, size, "more than %d tools", MAX_TOOLS);
            return false;
        }
        allm_codec *c = decode_tool(t);
        size_t i = out->count++;
        out->codec[i] = c;
        out->action[i] = (struct action){ .does = NULL };
        out->tool[i] = allm_codec_value(c, ALLM_TYPE_TOOL);
        if (!out->tool[i]) {
            const allm_error *why = allm_codec_error(c);
            snprintf(error, size, "tool %zu: %s", i,
                     why ? why->message : "it has the tag of another type");
            return false;
        }
        if (!add_action(s, out, i, t))
            return false;
    }
    return true;
}

void engine_tools_release(struct tool_list *l)
{
    for (size_t i = 0; i < l->count; i++) {
        action_release(&l->action[i]);
        allm_codec_free(l->codec[i]);
    }
    l->count = 0;
}

static const char engine_members[] =
    "adapter model script scripts stream_script retry_until_call usage record "
    "adapter_opts tools params context retry middleware metadata "
    "tool_executor tool_result_encoder image_adapter toolbox";

/* Options of the fake provider that a file writes as members of the engine. */
static const char *const fake_members[] = { "script", "scripts",
                                            "stream_script",
                                            "retry_until_call", "usage" };

static void add_pair(allm_json_build *b, const char *key, const allm_json *v)
{
    allm_json_build_array(b);
    allm_json_build_text(b, key, ALLM_NUL_ENDED);
    allm_json_build_value(b, v);
    allm_json_build_end(b);
}

/*
 * The options of the fake provider as [key, value] pairs, always with "record".
 * adapter_opts that are neither an object nor a list are passed unchanged, for
 * the library to reject.
 */
static allm_json *fake_options(const allm_json *e)
{
    const allm_json *more = allm_json_get(e, "adapter_opts");
    allm_json_type type = allm_json_type_of(more);
    if (more && type != ALLM_JSON_OBJECT && type != ALLM_JSON_ARRAY)
        return allm_json_copy(more);
    allm_json *yes = allm_json_parse("true", ALLM_NUL_ENDED, NULL);
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_array(b);
    add_pair(b, "record", yes);
    for (size_t i = 0; i < sizeof fake_members / sizeof *fake_members; i++)
        if (allm_json_get(e, fake_members[i]))
            add_pair(b, fake_members[i], allm_json_get(e, fake_members[i]));
    for (const allm_json *k = NULL; (k = allm_json_next(more, k));) {
        if (type == ALLM_JSON_ARRAY)
            allm_json_build_value(b, k);
        else if (strcmp(allm_json_text(k, NULL), "record") != 0)
            add_pair(b, allm_json_text(k, NULL), allm_json_value(k));
    }
    allm_json_build_end(b);
    allm_json_free(yes);
    return allm_json_build_done(b);
}

/* Read a member that must be a string, null or absent. */
static bool read_text(struct scenario *s, const allm_json *e, const char *key,
                      const char **out)
{
    const allm_json *v = allm_json_get(e, key);
    *out = allm_json_type_of(v) == ALLM_JSON_TEXT ? allm_json_text(v, NULL)
                                                  : NULL;
    if (!v || *out || allm_json_type_of(v) == ALLM_JSON_NULL)
        return true;
    return scenario_reject(s, "/engine/%s must be a string or null", key);
}

static bool read_engine(struct scenario *s, const allm_json *e,
                        allm_engine_opts *o)
{
    const allm_json *adapter = allm_json_get(e, "adapter");
    const allm_json *tools = allm_json_get(e, "tools");
    if (e && allm_json_type_of(e) != ALLM_JSON_OBJECT)
        return scenario_reject(s, "/engine must be an object");
    if (tools && allm_json_type_of(tools) != ALLM_JSON_ARRAY)
        return scenario_reject(s, "/engine/tools must be a list");
    if (!scenario_check_members(s, e, "/engine", engine_members) ||
        !read_text(s, e, "adapter", &o->adapter) ||
        !read_text(s, e, "model", &o->model) ||
        !read_text(s, e, "tool_executor", &o->tool_executor) ||
        !read_text(s, e, "tool_result_encoder", &o->tool_result_encoder) ||
        !read_text(s, e, "image_adapter", &o->image_adapter))
        return false;
    if (!adapter)
        o->adapter = "fake";
    else if (!o->adapter)
        o->flags = ALLM_ENGINE_NO_ADAPTER;
    return true;
}

bool engine_make(struct scenario *s)
{
    const allm_json *e = allm_json_get(s->document, "engine");
    allm_engine_opts o = { .size = sizeof o };
    char why[512] = "";
    clock_init(&s->clock, s);
    if (!read_engine(s, e, &o))
        return false;
    if (!engine_tools(s, &s->tools, allm_json_get(e, "tools"), why, sizeof why))
        return scenario_reject(s, "/engine/tools: %s", why);
    if (!gate_make(s, allm_json_get(e, "toolbox")))
        return false;
    allm_json *options = fake_options(e);
    o.adapter_opts = options;
    o.tool_count = s->tools.count;
    o.tools = s->tools.tool;
    o.params = allm_json_get(e, "params");
    o.context = allm_json_get(e, "context");
    o.retry = allm_json_get(e, "retry");
    o.middleware = allm_json_get(e, "middleware");
    o.metadata = allm_json_get(e, "metadata");
    o.clock = &s->clock.clock;
    s->engine = allm_engine_new(&o);
    allm_json_free(options);
    return true;            /* the first call reports an invalid engine */
}

void engine_release(struct scenario *s)
{
    allm_engine_free(s->engine);
    gate_release(s);
    engine_tools_release(&s->tools);
}
