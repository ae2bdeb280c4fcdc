/*
 * console.h - the terminal of a chat: its mode, its size, and its keys
 *
 * Between console_open() and console_close() the terminal is in raw mode.  Keys
 * that are pressed while no line is edited are kept for the next line.
 */
#pragma once

#include "term/editor.h"

#include <stdbool.h>
#include <stddef.h>

/* Are standard input and stderr terminals that support editing? */
bool console_is_possible(void);

/* The hooks must stay valid until console_close(). */
void console_open(const struct editor_hooks *hooks);
void console_close(void);
/* Give the terminal to a program that the user runs, and take it back. */
void console_pause(bool pause);

enum console_end { CONSOLE_LINE, CONSOLE_EOF, CONSOLE_DROPPED };

/* Edit a line; *line is valid until the next call.  It is drawn on stderr after
 * the prompt. */
enum console_end console_edit(const char *prompt, const char **line);

/* The next line that is edited begins with this text. */
void console_prefill(const char *text);

/* The descriptor to wait for while no line is edited; -1: there is none. */
int console_fd(void);
/* Read the keys that wait; true: Ctrl-C is among them. */
bool console_read(void);
/* Discard the keys that were pressed so far; read a single key; -1: the end. */
void console_discard(void);
int console_key(void);
/* The same, if it is pressed within this time; -1: it is not. */
int console_key_within(int ms);
/* Write a text of our own to stderr. */
void console_write(const char *text);

/* The columns of a terminal; 0: unknown. */
size_t console_columns(int fd);
