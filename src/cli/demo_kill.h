/*
 * demo_kill.h - the end of the demo: an agent is killed, and continues
 *
 * The agent that is killed is a child process.  It starts before this process
 * has threads, and waits until it is told to begin.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct demo_kill {
    pid_t child; /* -1: there is none */
    int begin;   /* the child waits for a byte in this pipe */
    char folder[1024];
};

/* Make a folder and start the child.  If that fails, demo_kill_show() does
 * nothing. */
void demo_kill_start(struct demo_kill *k);
/* Let the child begin, and die; then continue its session.  Returns the exit
 * code. */
int demo_kill_show(struct demo_kill *k);
/* End the child if it still waits, and remove the folder. */
void demo_kill_end(struct demo_kill *k);
