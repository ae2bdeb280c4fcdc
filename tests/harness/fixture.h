/*
 * fixture.h - dialects tested by folders of text files
 *
 * tests/fixture/DIALECT/NAME/ is one answer:
 *
 *      wire-response.sse, .ndjson or .json     the bytes of the body
 *      head.json      {"status", "headers"}, if the answer is no success
 *      call.json      {"provider", "model", "adapter_opts"}, if not the default
 *      request.json   what was asked, if it matters; plain form
 *      task.json      the same of what is no conversation: fixture_task.h
 *      events.jsonl   what must come out, one event a line
 *      response.json  and what it is folded to
 *
 * tests/fixture/DIALECT/encode-NAME/ is one request:
 *
 *      request.json   plain form; or task.json
 *      call.json      as above, and "options", "base_url"
 *      body.json      the exact bytes (but for a line feed at the end); of a
 *                     form body.form
 *      head.txt       if it is there: the address and the headers
 *      error.json     instead of both: why it is refused
 *
 * With ALLM_FIXTURES=write the expected files are written anew, to be read by
 * people before they are kept.
 */
#ifndef HARNESS_FIXTURE_H
#define HARNESS_FIXTURE_H

#include "allm.h"

/* Decode every answer: whole, byte by byte, and cut in two at every place. */
void fixture_decode_all(const char *dialect, const allm_adapter *adapter);

/* Decode every answer once; for the torture run.  Only names that begin like
 * this, so that it does not take for ever. */
void fixture_decode_some(const char *dialect, const allm_adapter *adapter,
                         const char *prefix);

/* Encode every request, and once more from what was remembered. */
void fixture_encode_all(const char *dialect, const allm_adapter *adapter);
void fixture_encode_some(const char *dialect, const allm_adapter *adapter,
                         const char *prefix);

#endif
