/* clipboard.h - copy text to the clipboard of a terminal */
#ifndef TERM_CLIPBOARD_H
#define TERM_CLIPBOARD_H

#include "term/bytes.h"

/* Append the sequence OSC 52, which asks the terminal to copy the text. */
void clipboard_sequence(const char *text, size_t len, struct bytes *out);

#endif
