/*
 * signals.c - cancel a call on Ctrl-C, SIGTERM and SIGHUP
 *
 * The threads of the library block all signals, so the handler runs in the
 * thread that reads the stream.  A thread that waits for signals would add
 * 0.1 ms to each start of the program.
 */
#include "cli/signals.h"

#include "cli/exit.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum { WATCHED = 3 };
static const int watched[WATCHED] = { SIGINT, SIGTERM, SIGHUP };

static struct {
    allm_stream *stream;
    struct sigaction before[WATCHED];
    atomic_int received;
    bool on;
} watch;

/* At once; but first the handlers before ours restore the terminal.  If they
 * raise the signal again, it waits until ours returns, and it does not. */
static void end_program(int number)
{
    for (int i = 0; i < WATCHED; i++) {
        void (*before)(int) = watch.before[i].sa_handler;
        if (before != SIG_DFL && before != SIG_IGN)
            before(number);
    }
    _exit(END_SIGNAL + number);
}

static void cancel_stream(int number)
{
    if (atomic_exchange(&watch.received, number))
        end_program(number);
    allm_stream_cancel(watch.stream);
}

void signals_watch(allm_stream *stream)
{
    struct sigaction act = { .sa_handler = cancel_stream,
                             .sa_flags = SA_RESTART };
    watch.stream = stream;
    watch.on = true;
    atomic_store(&watch.received, 0);
    for (int i = 0; i < WATCHED; i++) {
        sigaction(watched[i], NULL, &watch.before[i]);
        if (watch.before[i].sa_handler != SIG_IGN)
            sigaction(watched[i], &act, NULL);
    }
}

bool signals_watched(int number)
{
    bool found = false;
    for (int i = 0; i < WATCHED; i++)
        found = found || watched[i] == number;
    return watch.on && found;
}

int signals_unwatch(void)
{
    for (int i = 0; i < WATCHED && watch.on; i++)
        sigaction(watched[i], &watch.before[i], NULL);
    watch.on = false;
    return atomic_load(&watch.received);
}
