/* tool_lines.c - the calls of tools: a line for each, and how long it took */
#include "cli/tool_lines.h"

#include "cli/timing.h"
#include "conf/member.h"
#include "term/escape.h"
#include "term/mem.h"

#include <string.h>

enum { ARGUMENT_BYTES = 40 };

static struct line_call {
    char *id, *name, *line;
    char *denied; /* why it was denied; NULL: it was not */
    int64_t since, ms; /* ms is -1 while it runs */
    bool failed;
} * calls;

static size_t call_count;
static const char *open_id; /* of the call whose line is open; or NULL */

void tool_lines_clear(void)
{
    for (size_t i = 0; i < call_count; i++) {
        term_free(calls[i].id);
        term_free(calls[i].name);
        term_free(calls[i].line);
        term_free(calls[i].denied);
    }
    term_free(calls);
    calls = NULL;
    call_count = 0;
    open_id = NULL;
}

/* The last call with this id: providers may use one again. */
static struct line_call *find_line(const char *id)
{
    for (size_t i = call_count; id && i--;)
        if (!strcmp(calls[i].id, id))
            return &calls[i];
    return NULL;
}

/* The first argument that is a string, in quotes and cut. */
static void add_first_argument(const allm_json *arguments, struct bytes *line)
{
    for (const allm_json *k = NULL; (k = allm_json_next(arguments, k));) {
        size_t len = 0;
        const char *text = allm_json_text(allm_json_value(k), &len);
        if (!text)
            continue;
        size_t cut = len < ARGUMENT_BYTES ? len : ARGUMENT_BYTES;
        while (cut < len && ((unsigned char)text[cut] & 0xc0) == 0x80)
            cut--;
        struct bytes safe = { NULL, 0, 0 };
        escape_text(text, cut, &safe);
        bytes_text(line, " \"");
        for (size_t i = 0; i < safe.len; i++)
            bytes_byte(line, safe.ptr[i] == '\n' || safe.ptr[i] == '\t'
                                 ? ' '
                                 : safe.ptr[i]);
        bytes_text(line, cut < len ? "...\"" : "\"");
        bytes_release(&safe);
        return;
    }
}

static struct line_call *begin_line(const allm_event *event)
{
    struct bytes line = { NULL, 0, 0 };
    const char *id = event->id ? event->id : "";
    bytes_text(&line, "* ");
    escape_text(event->name, strlen(event->name), &line);
    add_first_argument(event->arguments, &line);
    calls = term_resize(calls, (call_count + 1) * sizeof *calls);
    struct line_call *c = &calls[call_count++];
    *c =
        (struct line_call){ .id = term_copy(id, strlen(id)),
                             .name = term_copy(event->name,
                                               strlen(event->name)),
                             .line = term_copy(bytes_string(&line), line.len),
                             .since = timing_now(), .ms = -1 };
    bytes_release(&line);
    return c;
}

static size_t count_result_lines(const allm_json *result)
{
    size_t len = 0, lines = 0;
    const allm_json *ok = allm_json_get(result, "ok");
    const char *text = allm_json_text(ok ? ok : result, &len);
    for (size_t i = 0; text && i < len; i++)
        lines += text[i] == '\n' || i + 1 == len;
    return lines;
}

void tool_lines_break(struct bytes *out)
{
    if (open_id)
        bytes_byte(out, '\n');
    open_id = NULL;
}

/* Why the gate denied the call, as its error says; NULL: it did not.  What a
 * tool itself reports is no such error. */
static const char *find_denial(const allm_json *error, const char *id)
{
    const char *reason = member_read(error, "reason");
    const char *call = member_read(error, "tool_call_id");
    bool denied = reason && call && !strcmp(reason, "denied") &&
                  !strcmp(call, id);
    return denied ? member_or(error, "cause", "") : NULL;
}

static void end_call(struct line_call *c, const allm_json *error)
{
    const char *why = find_denial(error, c->id);
    c->ms = timing_now() - c->since;
    c->failed = error != NULL;
    c->denied = why ? term_copy(why, strlen(why)) : NULL;
}

static void end_line(struct line_call *c, const allm_event *event,
                     struct bytes *out)
{
    size_t lines = count_result_lines(event->result);
    end_call(c, allm_json_get(event->result, "error"));
    if (open_id != c->id) {
        tool_lines_break(out);
        bytes_text(out, c->line);
    }
    if (lines)
        bytes_format(out, " %zu line%s", lines, lines > 1 ? "s" : "");
    if (c->failed)
        bytes_text(out, c->denied ? " denied" : " failed");
    bytes_format(out, " %.1f s\n", (double)c->ms / 1000);
    open_id = NULL;
}

void tool_lines_note(const allm_event *event, struct bytes *out)
{
    struct line_call *c = find_line(event->id);
    if (event->type == ALLM_EV_TOOL_EXECUTION_STARTED) {
        c = begin_line(event);
        tool_lines_break(out);
        bytes_text(out, c->line);
        open_id = c->id;
    } else if (event->type == ALLM_EV_TOOL_EXECUTION_COMPLETED) {
        end_line(c && c->ms < 0 ? c : begin_line(event), event, out);
    }
}

bool tool_lines_failed(const char *id)
{
    const struct line_call *c = find_line(id);
    return c && c->failed;
}

int64_t tool_lines_ms(const char *id)
{
    const struct line_call *c = find_line(id);
    return c ? c->ms : -1;
}

bool tool_lines_denied(size_t *at, struct tool_denied *d)
{
    while (*at < call_count && !calls[*at].denied)
        ++*at;
    if (*at == call_count)
        return false;
    const struct line_call *c = &calls[(*at)++];
    *d = (struct tool_denied){ c->id, c->name, c->denied };
    return true;
}
