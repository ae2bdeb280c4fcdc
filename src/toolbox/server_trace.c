/*
 * server_trace.c - what MCP servers log, as events of the trace
 *
 *      log       a notification of the server: its level, logger and data
 *      stderr    a line that its process wrote there
 *      ignored   how many messages without a meaning it has sent so far
 */
#include "base/utf8.h"
#include "toolbox/server.h"
#include "json/json.h"

struct server_note {
    const struct server *server;
    struct arena arena;
    struct build build;
};

/* False: nobody receives traces. */
static bool begin_note(struct server_note *n, const struct server *s)
{
    if (!s->owner->opts.trace)
        return false;
    n->server = s;
    arena_init(&n->arena, s->owner->mem);
    build_start_object(&n->build, &n->arena);
    build_text_at(&n->build, "server", slice_of(s->conf.name));
    return true;
}

static void end_note(struct server_note *n, const char *what)
{
    const struct servers_opts *o = &n->server->owner->opts;
    const allm_json *metadata = build_finish(&n->build);
    if (metadata)
        o->trace(&(allm_trace_event){ .size = sizeof(allm_trace_event),
                                      .span = "server", .what = what,
                                      .time_ns = clock_now_ns(o->clock),
                                      .unix_ms = clock_unix_ms(o->clock),
                                      .metadata = metadata },
                 o->trace_ud);
    arena_release(&n->arena);
}

void server_trace_log(struct server *s, const allm_json *params)
{
    static const char *const members[] = { "level", "logger", "data" };
    struct server_note n;
    if (!begin_note(&n, s))
        return;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const allm_json *v = json_at(params, members[i]);
        if (v)
            build_value_at(&n.build, members[i], v);
    }
    end_note(&n, "log");
}

void server_trace_line(struct server *s, struct slice line)
{
    struct server_note n;
    line = slice_trim(line);
    if (!line.len || !begin_note(&n, s))
        return;
    build_text_at(&n.build, "line", utf8_copy(&n.arena, line));
    end_note(&n, "stderr");
}

void server_trace_counts(struct server *s)
{
    struct server_note n;
    if (!begin_note(&n, s))
        return;
    build_uint_at(&n.build, "bad", s->counts.bad);
    build_uint_at(&n.build, "stray", s->counts.stray);
    build_uint_at(&n.build, "unknown", s->counts.ignored);
    end_note(&n, "ignored");
}
