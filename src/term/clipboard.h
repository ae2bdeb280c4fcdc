/* clipboard.h - copy text to the clipboard of a terminal */
#pragma once

#include "term/bytes.h"

/* Append the sequence OSC 52, which asks the terminal to copy the text. */
void clipboard_sequence(const char *text, size_t len, struct bytes *out);
