/*
 * print.h - what goes to stdout and stderr
 *
 * stdout is the answer and nothing else.  Where an output is a terminal,
 * control characters but line feed and tab are shown as \u001b, so that no
 * model and no server can write to it what it likes.
 */
#ifndef CLI_PRINT_H
#define CLI_PRINT_H

#include "allm.h"

#if defined(__GNUC__)
#define PRINT_FORMAT(n) __attribute__((format(printf, n, (n) + 1)))
#else
#define PRINT_FORMAT(n)
#endif

/* To stdout: bytes, a text, a formatted line, a document and a line feed. */
void print_bytes(const char *bytes, size_t len);
void print_text(const char *text);
void print_format(const char *format, ...) PRINT_FORMAT(1);
void print_json(const allm_json *value, uint32_t flags);
/* The text is freed; its error is told and makes the program fail. */
void print_owned(allm_text *text);
void print_flush(void);

/* All that was printed has arrived; else it says why not.  Gives `code`, or
 * that of the failure. */
int print_end(int code);
/* Has a write failed?  Then there is no sense in going on. */
bool print_broken(void);
bool print_is_terminal(void);

/* To stderr, one line: "allm: ..." */
void print_fault(const char *format, ...) PRINT_FORMAT(1);
/* The same without "allm: ", unless the user wants silence. */
void print_note(const char *format, ...) PRINT_FORMAT(1);
/* A line as it is, however long, unless the user wants silence; it is freed. */
void print_trace(allm_text *line);
void print_silence(bool on);

#endif
