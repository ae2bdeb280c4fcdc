/*
 * fixture.h - test dialects with folders of text files
 *
 * tests/fixture/DIALECT/NAME/ is one answer:
 *
 *      wire-response.sse, .ndjson or .json     the bytes of the body
 *      head.json      {"status", "headers"}, if the status is an error
 *      call.json      {"provider", "model", "adapter_opts"}, if not the default
 *      request.json   the request, if it matters; plain form
 *      task.json      the same for embed, image and moderate: fixture_task.h
 *      events.jsonl   the expected events, one per line
 *      response.json  and the expected response
 *
 * tests/fixture/DIALECT/encode-NAME/ is one request:
 *
 *      request.json   plain form; or task.json
 *      call.json      as above, and "options", "base_url"
 *      body.json      the exact bytes (except a line feed at the end); for a
 *                     form: body.form
 *      head.txt       optional: the URL and the headers
 *      error.json     instead of both: why it is rejected
 *
 * With ALLM_FIXTURES=write the expected files are rewritten; review them before
 * you commit them.
 */
#pragma once

#include "allm.h"

/* Decode every answer: whole, byte by byte, and split at every position. */
void fixture_decode_all(const char *dialect, const allm_adapter *adapter);

/* Decode every answer once, for the torture run; only those whose names have
 * this prefix, to save time. */
void fixture_decode_some(const char *dialect, const allm_adapter *adapter,
                         const char *prefix);

/* Encode every request, and once more from the cached form. */
void fixture_encode_all(const char *dialect, const allm_adapter *adapter);
void fixture_encode_some(const char *dialect, const allm_adapter *adapter,
                         const char *prefix);
