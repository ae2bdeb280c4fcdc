/*
 * print.h - print to stdout and stderr
 *
 * Only the answer goes to stdout.  On a terminal, control characters other than
 * line feed and tab are printed as escapes such as \u001b, so that models and
 * servers cannot control it.
 */
#pragma once

#include "allm.h"

#if defined(__GNUC__)
#define PRINT_FORMAT(n) __attribute__((format(printf, n, (n) + 1)))
#else
#define PRINT_FORMAT(n)
#endif

/* To stdout: bytes, a string, a formatted string, JSON and a line feed. */
void print_bytes(const char *bytes, size_t len);
/* The same bytes on a terminal, too: they have been made harmless. */
void print_raw(const char *bytes, size_t len);
void print_text(const char *text);
/* Bytes, and a line feed if they do not end with one. */
void print_ended(const char *bytes, size_t len);
void print_format(const char *format, ...) PRINT_FORMAT(1);
void print_json(const allm_json *value, uint32_t flags);
/* Print the text and a line feed, and free it.  If it has an error, print_end()
 * reports a failure. */
void print_owned(allm_text *text);
void print_flush(void);

/* Flush stdout.  Returns `code`; if a write failed, prints an error and returns
 * the exit code for it. */
int print_end(int code);
/* Has a write to stdout failed?  Then the caller can stop. */
bool print_broken(void);
/* stdout if it is a pipe or a socket, or -1.  poll() for no event tells if
 * nobody reads it any more; print_break() is then like a write that failed. */
int print_pipe(void);
void print_break(void);
bool print_is_terminal(void);

/* An error on stderr, one line: "allm: ..."  Returns false. */
bool print_fault(const char *format, ...) PRINT_FORMAT(1);
/* The same, but returns END_USAGE. */
int print_misuse(const char *format, ...) PRINT_FORMAT(1);
/* Keep the first error of those that follow here, instead of printing them;
 * NULL: print them again. */
void print_divert(char *into, size_t size);
/* A note on stderr, one line, unless the user wants silence. */
void print_note(const char *format, ...) PRINT_FORMAT(1);
/* A line of any length on stderr, unless the user wants silence; frees it. */
void print_trace(allm_text *line);
/* Bytes on stderr, and a line feed if they do not end with one. */
void print_aside(const char *bytes, size_t len);
void print_silence(bool on);
/* "ok   keys   openai": something that was examined. */
void print_finding(bool good, const char *what, const char *detail);
