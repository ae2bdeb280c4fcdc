/*
 * signals.c - cancel a call on Ctrl-C, SIGTERM and SIGHUP
 *
 * A thread waits for the signals, because a signal handler may call only few
 * functions.  SIGUSR1 ends the thread.
 */
#include "cli/signals.h"

#include "cli/exit.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static struct {
    pthread_t thread;
    sigset_t signals, before;
    allm_stream *stream;
    atomic_int received;
    bool on;
} watch;

static void *wait_for_signals(void *ud)
{
    int number;
    (void)ud;
    while (!sigwait(&watch.signals, &number) && number != SIGUSR1) {
        if (atomic_exchange(&watch.received, number))
            _exit(END_SIGNAL + number);
        allm_stream_cancel(watch.stream);
    }
    return NULL;
}

void signals_watch(allm_stream *stream)
{
    watch.stream = stream;
    atomic_store(&watch.received, 0);
    sigemptyset(&watch.signals);
    sigaddset(&watch.signals, SIGINT);
    sigaddset(&watch.signals, SIGTERM);
    sigaddset(&watch.signals, SIGHUP);
    sigaddset(&watch.signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &watch.signals, &watch.before);
    watch.on = !pthread_create(&watch.thread, NULL, wait_for_signals, NULL);
    if (!watch.on) /* then signals end the program, as usual */
        pthread_sigmask(SIG_SETMASK, &watch.before, NULL);
}

int signals_unwatch(void)
{
    if (watch.on) {
        pthread_kill(watch.thread, SIGUSR1);
        pthread_join(watch.thread, NULL);
        pthread_sigmask(SIG_SETMASK, &watch.before, NULL);
    }
    watch.on = false;
    return atomic_load(&watch.received);
}
