/*
 * fake.c - the scripted model: inspect it in tests, and build its scripts
 *
 * The adapter that plays scripts is in provider/fake/.  This file has what
 * belongs to an engine, and builders for common scripts.
 */
#include "allm.h"

#include "base/status.h"
#include "engine/engine.h"
#include "provider/fake/log.h"
#include "json/build.h"
#include "json/json.h"
#include "json/write.h"

#include <stdint.h>

/* ------------------------------------------------------------ engines --- */

allm_fake_cursor *allm_fake_cursor_new(void)
{
    return fake_cursor_new(mem_default());
}

void allm_fake_cursor_free(allm_fake_cursor *cursor)
{
    fake_cursor_drop(cursor);
}

uint64_t allm_fake_cursor_index(const allm_fake_cursor *cursor)
{
    return cursor ? fake_cursor_index(cursor) : 0;
}

static struct fake_log *log_of(const allm_engine *e)
{
    return e ? fake_log_of(engine_core(e)->attachments, engine_core(e)->mem)
             : NULL;
}

allm_status allm_fake_use_cursor(const allm_engine *e, allm_fake_cursor *cursor)
{
    struct fake_log *log = cursor ? log_of(e) : NULL;
    if (!log)
        return ALLM_ERR_NOMEM;
    return fake_log_use(log, cursor) ? ALLM_OK : ALLM_ERR_MISUSE;
}

uint64_t allm_fake_calls(const allm_engine *e)
{
    struct fake_log *log = log_of(e);
    return log ? fake_log_calls(log) : 0;
}

uint64_t allm_fake_released(const allm_engine *e)
{
    struct fake_log *log = log_of(e);
    return log ? fake_log_released(log) : 0;
}

allm_json *allm_fake_requests(const allm_engine *e)
{
    struct fake_log *log = log_of(e);
    return log ? fake_log_requests(log) : NULL;
}

/* ------------------------------------------------------------ scripts --- */

/* A script under construction: [[tag, ...], ...]. */
struct script {
    struct arena arena;
    struct build build;
    const allm_error *error;    /* what is wrong with the arguments, or NULL */
};

static void script_begin(struct script *s)
{
    *s = (struct script){ .error = NULL };
    arena_init(&s->arena, mem_default());
    build_start_array(&s->build, &s->arena);
}

static void open_entry(struct script *s, const char *tag)
{
    build_array(&s->build);
    build_text(&s->build, slice_of(tag));
}

static void put_text(struct script *s, const char *tag, struct slice text)
{
    open_entry(s, tag);
    build_text(&s->build, text);
    build_end(&s->build);
}

/* Add the finish entry, and return the script as a root. */
static allm_json *script_finish(struct script *s, const char *finish)
{
    allm_json *root = NULL;
    if (finish)
        put_text(s, "finish", slice_of(finish));
    const allm_json *v = s->error ? NULL : build_finish(&s->build);
    struct allm_home *home = v || s->error
                                 ? home_new(mem_default(), json_size(v))
                                 : NULL;
    if (home) {
        const allm_error *copied =
            s->error ? status_retell(home_arena(home), s->error) : NULL;
        v = json_copy(home_arena(home), v);
        root = json_root_of(home, v, copied);
    }
    arena_release(&s->arena);
    return root;
}

static void script_refuse(struct script *s, const char *message)
{
    s->error = status_error(&s->arena, ALLM_ERR_MISUSE, "invalid_script", "%s",
                            message);
}

/* Absent and null are fine; rejected documents and other types are not. */
static bool check_arguments(struct script *s, const allm_json *arguments)
{
    allm_json_type type = allm_json_type_of(arguments);
    if (!arguments || type == ALLM_JSON_OBJECT || type == ALLM_JSON_NULL)
        return true;
    script_refuse(s,
                  "arguments of a scripted tool call must be an object; leave "
                  "them out for {}");
    return false;
}

static void put_call(struct script *s, size_t number, struct slice name,
                     const allm_json *arguments)
{
    if (!check_arguments(s, arguments))
        return;
    struct buf id = buf_in(&s->arena, 64);
    buf_format(&id, "call_%zu", number);
    open_entry(s, "tool_call");
    build_object(&s->build);
    build_text_at(&s->build, "id", buf_slice(&id));
    build_text_at(&s->build, "name", name);
    build_value_at(&s->build, "arguments",
                   arguments ? arguments : json_empty_object());
    build_end(&s->build);
    build_end(&s->build);
}

allm_json *allm_fake_plain_text(const char *text)
{
    struct script s;
    script_begin(&s);
    put_text(&s, "text", slice_of(text ? text : "Hello world"));
    return script_finish(&s, "stop");
}

allm_json *allm_fake_single_tool_call(const char *name,
                                      const allm_json *arguments)
{
    struct script s;
    script_begin(&s);
    if (!name)
        script_refuse(&s,
                      "allm_fake_single_tool_call needs the name of a tool");
    else
        put_call(&s, 0, slice_of(name), arguments);
    return script_finish(&s, "tool_calls");
}

allm_json *allm_fake_parallel_tool_calls(const allm_json *calls)
{
    struct script s;
    size_t n = 0;
    script_begin(&s);
    if (allm_json_type_of(calls) != ALLM_JSON_ARRAY)
        script_refuse(&s, "allm_fake_parallel_tool_calls needs a list: "
                          "[[name, arguments], ...]");
    for (const allm_json *c = NULL; !s.error && (c = allm_json_next(calls, c));
         n++) {
        const allm_json *name = allm_json_at(c, 0);
        if (allm_json_type_of(c) == ALLM_JSON_ARRAY &&
            allm_json_type_of(name) == ALLM_JSON_TEXT)
            put_call(&s, n, json_slice(name), allm_json_at(c, 1));
        else
            script_refuse(&s,
                          "each call of allm_fake_parallel_tool_calls must be "
                          "[name, arguments], with a string as the name");
    }
    return script_finish(&s, "tool_calls");
}

/* The byte offset of the second half, counted in characters. */
static size_t find_middle(struct slice text)
{
    size_t characters = 0, n = 0;
    for (size_t i = 0; i < text.len; i++)
        characters += ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
    for (size_t i = 0; i < text.len; i++) {
        bool begins = ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
        if (begins && n++ == characters / 2)
            return i;
    }
    return text.len;
}

/* The name is for readers of the script; events of a delta have none. */
static void put_delta(struct script *s, const char *name, struct slice piece)
{
    open_entry(s, "tool_call_delta");
    build_object(&s->build);
    build_text_at(&s->build, "id", SLICE("call_1"));
    build_text_if(&s->build, "name", name);
    build_text_at(&s->build, "arguments_delta", piece);
    build_end(&s->build);
    build_end(&s->build);
}

allm_json *allm_fake_streamed_arguments(const char *name,
                                        const allm_json *arguments)
{
    struct script s;
    script_begin(&s);
    if (!check_arguments(&s, arguments))
        return script_finish(&s, NULL);
    struct buf text = buf_in(&s.arena, SIZE_MAX / 2);
    json_write(&text, arguments ? arguments : json_empty_object(), 0);
    struct slice all = buf_slice(&text);
    size_t cut = find_middle(all);
    put_delta(&s, name, (struct slice){ all.ptr, cut });
    put_delta(&s, name, slice_skip(all, cut));
    if (text.broken)
        s.build.broken = true;
    return script_finish(&s, "tool_calls");
}

allm_json *allm_fake_mid_stream_error(const char *reason)
{
    struct script s;
    script_begin(&s);
    put_text(&s, "text", SLICE("partial"));
    put_text(&s, "error", slice_of(reason ? reason : "unknown"));
    return script_finish(&s, NULL);
}

allm_json *allm_fake_delayed_text(const char *text, uint32_t ms)
{
    struct script s;
    script_begin(&s);
    open_entry(&s, "delay");
    build_uint(&s.build, ms);
    build_end(&s.build);
    put_text(&s, "text", slice_of(text ? text : ""));
    return script_finish(&s, "stop");
}

allm_json *allm_fake_empty_response(void)
{
    struct script s;
    script_begin(&s);
    return script_finish(&s, "stop");
}

allm_json *allm_fake_multi_turn(size_t count, const allm_json *const *scripts)
{
    struct script s;
    script_begin(&s);
    if (!scripts && count)
        script_refuse(
            &s, "allm_fake_multi_turn needs scripts, since count is not 0");
    for (size_t i = 0; scripts && !s.error && i < count; i++) {
        if (!scripts[i])
            s.error = status_nomem();
        else if (allm_json_error(scripts[i]))
            s.error = allm_json_error(scripts[i]);
        else if (allm_json_type_of(scripts[i]) != ALLM_JSON_ARRAY)
            script_refuse(
                &s, "each script of allm_fake_multi_turn must be a list of "
                    "entries, such as allm_fake_plain_text() returns");
        else
            build_value(&s.build, scripts[i]);
    }
    return script_finish(&s, NULL);
}
