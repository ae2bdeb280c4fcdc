/* attach.h - what an attachment is, and the bytes at a URL */
#pragma once

#include "cli/input.h"
#include "cli/taps.h"

/* The MIME type of an image or a PDF; NULL: something else. */
const char *attach_type(const char *bytes, size_t len);

/* Is it the address of something on the web? */
bool attach_is_url(const char *word);

/*
 * Load what a URL returns: one request, without a key, within 30 s.  An address
 * of this machine or of a private network is refused, unless a proxy of the
 * user's connects to it.  False: an error was printed.  The caller releases the
 * bytes.
 */
bool attach_fetch(struct input *in, const char *url, const allm_net_opts *net,
                  struct taps *taps);
