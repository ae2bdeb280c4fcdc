/*
 * answer.c - the end of a tool's process becomes the answer of its run
 *
 *      exit 0      the output, as text, as JSON, or as a result
 *      exit N      handler_failed: stderr
 *      signal      handler_exit: the signal, and the wall that caused it
 *      not begun   warden_missing, sandbox_unavailable or handler_exit: why
 */
#include "toolbox/answer.h"

#include "base/status.h"
#include "base/utf8.h"
#include "json/json.h"
#include "json/parse.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { SHELL_SHOWN = 4096, ROOM = 128 };

const allm_error answer_toolbox_freed =
    STATUS_ERROR(ALLM_ERR_TOOL, FAILURE_EXIT, "the toolbox was freed");

struct answering {
    struct allm_tool_run *run;
    struct process *process;
    struct slice text;          /* stdout */
};

/* The reason of a failure must be static. */
static const char *reason_of(const allm_error *why)
{
    static const char *const kept[] = { FAILURE_TIMEOUT, "warden_missing",
                                        "sandbox_unavailable" };
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (!strcmp(why->reason, kept[i]))
            return kept[i];
    return FAILURE_EXIT;
}

void answer_fault(struct allm_tool_run *run, const allm_error *why)
{
    if (why->kind == ALLM_ERR_NOMEM)
        run_nomem(run);
    else
        run_fail_copy(run, reason_of(why), why->message);
}

void answer_failure(struct allm_tool_run *run, const allm_error *why)
{
    if (!strcmp(why->reason, FAILURE_REPORTED))
        allm_tool_fail(run, why->message);
    else
        answer_fault(run, why);
}

/* The last bytes of stderr, or the status. */
static void answer_status(struct answering *x, const struct jail *j)
{
    struct arena scratch = arena_in(x->process->out.arena.mem);
    struct buf text = buf_in(&scratch, SIZE_MAX / 2);
    struct slice err = slice_trim(output_text(&x->process->err));
    if (err.ptr && err.len)
        err = utf8_copy(&scratch, err);
    if (err.ptr && err.len)
        buf_add(&text, err);
    else
        buf_format(&text, "exit status %d", x->process->report.status);
    if (*jail_hint(j))
        buf_format(&text, "\n%s", jail_hint(j));
    allm_tool_fail(x->run, text.broken ? "the program failed" : text.ptr);
    arena_release(&scratch);
}

static void answer_signal(struct answering *x, const struct jail *j)
{
    const struct report *r = &x->process->report;
    const char *wall = jail_wall(j, r);
    struct outcome o = { .kind = OUTCOME_NOMEM };
    if (run_claim(x->run) != RUN_MINE)
        return;
    o = outcome_failed(&x->run->memory, FAILURE_EXIT,
                       "the program was killed by signal %d (%s)%s%s%s",
                       r->signal, strsignal(r->signal),
                       wall ? ": the sandbox's limit on " : "",
                       wall ? wall : "",
                       wall && !strcmp(wall, "seccomp")
                           ? " (a system call of another architecture)"
                           : "");
    run_publish(x->run, o);
}

/* The text, or what it is, in the room. */
static struct slice show_output(struct answering *x, char room[ROOM])
{
    char sum[SHA256_HEX + 1];
    if (utf8_valid(x->text, NULL) && !memchr(x->text.ptr, 0, x->text.len))
        return x->text;
    output_sum(&x->process->out, sum);
    int n = snprintf(room, ROOM, "[binary, %llu bytes, sha256 %s]",
                     (unsigned long long)x->process->out.total, sum);
    return (struct slice){ room, (size_t)n };
}

static void answer_text(struct answering *x)
{
    char room[ROOM];
    struct slice s = show_output(x, room);
    allm_tool_text(x->run, s.ptr, s.len);
}

/* A result has exactly one of four members, and ask_user may have opts. */
static bool answer_result(struct answering *x, const allm_json *v)
{
    const allm_json *ok = json_at(v, "ok"), *error = json_at(v, "error");
    const allm_json *ask = json_at(v, "ask_user"), *halt = json_at(v, "halt");
    const allm_json *opts = json_at(v, "opts");
    int given = !!ok + !!error + !!ask + !!halt;
    if (given != 1 || allm_json_count(v) != (opts && ask ? 2u : 1u))
        return false;
    if (ok)
        allm_tool_ok(x->run, ok);
    else if (error && json_slice(error).ptr)
        allm_tool_fail(x->run, json_slice(error).ptr);
    else if (ask && json_slice(ask).ptr)
        allm_tool_ask(x->run, json_slice(ask).ptr, opts);
    else if (halt && allm_json_count(halt) == 2 &&
             json_slice(allm_json_at(halt, 0)).ptr)
        allm_tool_halt(x->run, json_slice(allm_json_at(halt, 0)).ptr,
                       allm_json_at(halt, 1));
    else
        return false;
    return true;
}

static void answer_json(struct answering *x, enum describe_output output)
{
    const allm_error *why;
    struct json_limits limits;
    json_limits_from(&limits, NULL);
    struct arena scratch = arena_in(x->process->out.arena.mem);
    const allm_json *v = json_parse(&scratch, x->text, limits, &why);
    if (!v && output_is_cut(&x->process->out))
        run_fail(x->run, FAILURE_RETURN,
                 "the program printed more than 1 MiB of JSON");
    else if (!v)
        run_fail_copy(x->run, FAILURE_RETURN, why->message);
    else if (output == DESCRIBE_JSON)
        allm_tool_ok(x->run, v);
    else if (!answer_result(x, v))
        run_fail(x->run, FAILURE_RETURN,
                 "expected {\"ok\": value}, {\"error\": text}, {\"ask_user\": "
                 "question, \"opts\": {}} or {\"halt\": [reason, value]} at "
                 "line 1, column 1");
    arena_release(&scratch);
}

void answer_process(struct allm_tool_run *run, struct process *p,
                    const struct jail *j, enum describe_output output)
{
    struct answering x = { run, p, output_text(&p->out) };
    struct arena scratch = arena_in(p->out.arena.mem);
    const allm_error *why = jail_fault(j, &scratch, &p->report);
    if (why || !x.text.ptr)
        answer_fault(run, x.text.ptr ? why : status_nomem());
    else if (p->report.signal)
        answer_signal(&x, j);
    else if (p->report.status)
        answer_status(&x, j);
    else if (output == DESCRIBE_TEXT)
        answer_text(&x);
    else
        answer_json(&x, output);
    arena_release(&scratch);
}

/* The last part of the output, for a failure. */
static const char *last_of(const struct buf *text)
{
    struct slice s = buf_slice(text);
    size_t skip = s.len > SHELL_SHOWN ? s.len - SHELL_SHOWN : 0;
    while (skip && skip < s.len && ((unsigned char)s.ptr[skip] & 0xC0) == 0x80)
        skip++;
    return s.ptr + skip;
}

static void answer_ended(struct answering *x, const struct jail *j,
                         uint32_t late_ms, struct buf *text)
{
    const struct report *r = &x->process->report;
    const char *wall = jail_wall(j, r);
    struct outcome o = { .kind = OUTCOME_NOMEM };
    if (!late_ms && !r->signal) {
        buf_format(text, "%s[exit status %d]\n", r->status ? jail_hint(j) : "",
                   r->status);
        if (!text->broken) {
            allm_tool_text(x->run, text->ptr, text->len);
            return;
        }
    }
    if (run_claim(x->run) != RUN_MINE)
        return;
    if (!text->broken && late_ms)
        o = outcome_failed(&x->run->memory, FAILURE_TIMEOUT,
                           "the command did not end within %u s and was "
                           "ended; it wrote:\n%s",
                           late_ms / 1000, last_of(text));
    else if (!text->broken)
        o = outcome_failed(&x->run->memory, FAILURE_EXIT,
                           "the command was killed by signal %d (%s)%s%s; it "
                           "wrote:\n%s",
                           r->signal, strsignal(r->signal),
                           wall ? ": the sandbox's limit on " : "",
                           wall ? wall : "", last_of(text));
    run_publish(x->run, o);
}

void answer_shell(struct allm_tool_run *run, struct process *p,
                  const struct jail *j, uint32_t late_ms)
{
    struct answering x = { run, p, output_text(&p->out) };
    struct arena scratch = arena_in(p->out.arena.mem);
    char room[ROOM];
    const allm_error *why = jail_fault(j, &scratch, &p->report);
    struct buf text = buf_in(&scratch, SIZE_MAX / 2);
    if (why || !x.text.ptr) {
        answer_fault(run, x.text.ptr ? why : status_nomem());
    } else {
        buf_add(&text, show_output(&x, room));
        if (text.len && text.ptr[text.len - 1] != '\n')
            buf_byte(&text, '\n');
        answer_ended(&x, j, late_ms, &text);
    }
    arena_release(&scratch);
}
