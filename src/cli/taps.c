/* taps.c - files beside a call: --record, --replay and --trace */
#include "cli/taps.h"

#include "cli/exit.h"
#include "cli/print.h"
#include "cli/reword.h"
#include "conf/member.h"
#include "term/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_int trace_error; /* why a line of the trace was not written */

static int report_error(const allm_error *error)
{
    return print_misuse("%.*s", reword_length(error->message), error->message);
}

int taps_open(struct taps *t)
{
    t->trace_fd = -1;
    if (t->record && t->replay)
        return print_misuse("--record and --replay exclude each other");
    if (t->trace) {
        t->trace_fd = open(t->trace, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                           0600);
        if (t->trace_fd < 0)
            return print_misuse("cannot write %s: %s", t->trace,
                                strerror(errno));
    }
    if (t->record)
        t->recorder = allm_recorder_new(t->record, NULL);
    if (t->replay)
        t->player = allm_player_new(t->replay, NULL);
    const allm_error *error = t->recorder ? allm_recorder_error(t->recorder)
                              : t->player ? allm_player_error(t->player)
                                          : NULL;
    return error ? report_error(error) : END_DONE;
}

void taps_apply(struct taps *t, allm_engine_opts *opts)
{
    if (t->recorder)
        opts->transport = allm_recorder_transport(t->recorder);
    if (t->player)
        opts->transport = allm_player_transport(t->player);
    if (taps_trace(t)) {
        opts->trace = taps_trace(t);
        opts->trace_ud = taps_trace_ud(t);
    }
}

/* As allm_trace_write(), but a failure is reported at the end. */
static void write_trace(const allm_trace_event *event, void *descriptor)
{
    struct bytes line = { NULL, 0, 0 };
    if (member_append(&line, allm_trace_json(event, ALLM_TRACE_PLAIN))) {
        bytes_byte(&line, '\n');
        ssize_t n = write((int)(intptr_t)descriptor, line.ptr, line.len);
        if (n != (ssize_t)line.len)
            trace_error = n < 0 ? errno : ENOSPC;
    }
    bytes_release(&line);
}

allm_trace_fn taps_trace(const struct taps *t)
{
    return t->trace_fd >= 0 ? write_trace : NULL;
}

/* The descriptor itself: a late thread may outlive the struct. */
void *taps_trace_ud(const struct taps *t)
{
    return (void *)(intptr_t)t->trace_fd;
}

/* Write the recording; a new file is only the user's, as all others. */
static bool write_recording(struct taps *t)
{
    mode_t before = umask(077);
    bool ok = allm_recorder_flush(t->recorder) == ALLM_OK;
    umask(before);
    return ok;
}

int taps_close(struct taps *t, int code)
{
    if (t->recorder && code != END_USAGE && !write_recording(t)) {
        report_error(allm_recorder_error(t->recorder));
        code = code == END_DONE ? END_FAILED : code;
    }
    if (trace_error) {
        print_fault("cannot write the trace %.500s: %s", t->trace,
                    strerror(trace_error));
        code = code == END_DONE ? END_FAILED : code;
    }
    allm_recorder_free(t->recorder);
    allm_player_free(t->player);
    /* The trace stays open: the thread of a toolbox may still write to it. */
    return code;
}
