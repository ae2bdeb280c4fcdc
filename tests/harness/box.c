/*
 * box.c - calls of the tools of a toolbox, in a folder of their own
 *
 * A call whose stream ended for want of memory may still run in its thread, so
 * what a call must not leave behind is checked when the threads have ended.
 */
#include "harness/box.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "harness/play.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATIENCE = 600000,       /* a slow disk is not a failure */
       CALLS = 16 };

void box_renew(struct box *b, const allm_toolbox_opts *opts)
{
    allm_json *rules = noun_json("[{'tool':'*','verdict':'auto'}]");
    allm_toolbox_opts all = *opts;
    all.root = b->root;
    all.rules = rules;
    allm_toolbox_free(b->box);
    b->box = allm_toolbox_new(&all);
    allm_json_free(rules);
}

void box_open(struct box *b, const char *builtin)
{
    external_warden();
    *b = (struct box){ .before = external_count(), .root = external_folder() };
    setenv("TMPDIR", "/tmp", 1);
    box_renew(b, ALLM(toolbox_opts, .root = NULL));
    if (builtin)
        CHECK_INT(allm_toolbox_add_builtin(b->box, builtin), ALLM_OK);
    b->engine = play_engine("{'script': []}", NULL);
}

void box_close(struct box *b)
{
    allm_engine_free(b->engine);
    allm_toolbox_free(b->box);
    CHECK_ALWAYS(!external_left(".f."));        /* a temporary file */
    external_clean();
    CHECK_ALWAYS(external_same(b->before));
}

static allm_stream *start_calls(struct box *b, size_t count,
                                allm_tool_call *const *calls)
{
    const allm_executor *x = allm_toolbox_executor(b->box);
    size_t tools_count = 0;
    const allm_tool *const *tools = x ? x->tools(x->self, &tools_count) : NULL;
    return x ? allm_tool_calls(
                   b->engine, count, (const allm_tool_call *const *)calls,
                   ALLM(tool_calls_opts, .executor = x, .tools = tools,
                        .tool_count = tools_count, .request_id = "r1",
                        .session_id = "s1", .live_tool_events = 1,
                        .max_concurrency = CALLS,
                        .tool_timeout_ms = b->timeout_ms ? b->timeout_ms
                                                         : PATIENCE))
             : NULL;
}

static allm_tool_call *new_call(size_t i, const char *name,
                                const allm_json *args)
{
    char id[32];
    snprintf(id, sizeof id, "c%zu", i);
    return allm_tool_call_new(
        ALLM(tool_call, .id = id, .name = name, .arguments = args));
}

static allm_stream *start_json(struct box *b, const char *name,
                               const allm_json *args)
{
    allm_tool_call *call = new_call(0, name, args);
    allm_stream *s = call ? start_calls(b, 1, &call) : NULL;
    allm_tool_call_free(call);
    return s;
}

allm_stream *box_start_all(struct box *b, size_t count,
                           const char *const *words)
{
    allm_tool_call *calls[CALLS] = { NULL };
    bool whole = true;
    for (size_t i = 0; i < count; i++) {
        allm_json *args = noun_json(words[2 * i + 1]);
        calls[i] = args ? new_call(i, words[2 * i], args) : NULL;
        whole = whole && calls[i];
        allm_json_free(args);
    }
    allm_stream *s = whole ? start_calls(b, count, calls) : NULL;
    for (size_t i = 0; i < count; i++)
        allm_tool_call_free(calls[i]);
    return s;
}

allm_stream *box_start(struct box *b, const char *name, const char *args)
{
    const char *words[] = { name, args };
    return box_start_all(b, 1, words);
}

static const char *finish_call(allm_stream *s)
{
    static char text[3 << 20];
    allm_stream_wait(s);
    const allm_message *m = allm_stream_tool_message(s, 0);
    const char *said = m && m->part_count ? m->parts[0]->text
                       : m                ? m->text
                                          : NULL;
    snprintf(text, sizeof text, "%s", said ? said : "nothing");
    allm_stream_free(s);
    return text;
}

const char *box_call(struct box *b, const char *name, const char *args)
{
    return finish_call(box_start(b, name, args));
}

const char *box_call_json(struct box *b, const char *name,
                          const allm_json *args)
{
    return finish_call(start_json(b, name, args));
}

const char *box_echo_path(void)
{
    static char path[PATH_MAX + 16];
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    *strrchr(self, '/') = 0;
    snprintf(path, sizeof path, "%s/mcp_echo", self);
    return path;
}

allm_status box_add_echo(struct box *b, const char *name, const char *words,
                         const char *members)
{
    char text[PATH_MAX + 1024];
    snprintf(text, sizeof text, "{'command': '%s', 'args': [%s]%s%s}",
             box_echo_path(), words, *members ? ", " : "", members);
    allm_json *entry = noun_json(text);
    allm_status status = allm_toolbox_add_server(b->box, name, entry);
    allm_json_free(entry);
    return status;
}

const char *box_file(const struct box *b, const char *name)
{
    static char text[1 << 20];
    char path[256];
    snprintf(path, sizeof path, "%s/%s", b->root, name);
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    if (f)
        fclose(f);
    return f ? text : NULL;
}
