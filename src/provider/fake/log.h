/* log.h - the record of scripted calls: position, counts, requests */
#pragma once

#include "allm.h"
#include "base/mem.h"

/* A position in a script.  It is reference-counted: engines and the caller
 * share it. */
struct allm_fake_cursor;
struct allm_fake_cursor *fake_cursor_new(struct mem mem);
void fake_cursor_drop(struct allm_fake_cursor *c);
uint64_t fake_cursor_index(const struct allm_fake_cursor *c);

/* The log, an attachment of the engine; NULL: out of memory. */
struct fake_log;
struct fake_log *fake_log_of(allm_attachments *a, struct mem mem);
uint64_t fake_log_calls(const struct fake_log *log);
uint64_t fake_log_released(const struct fake_log *log);
allm_json *fake_log_requests(struct fake_log *log);

/* Use the caller's cursor.  False: too late, the first call has begun. */
bool fake_log_use(struct fake_log *log, struct allm_fake_cursor *cursor);

/* Count a call that reached the adapter, and a stream that was closed. */
void fake_log_call(struct fake_log *log);
void fake_log_release(struct fake_log *log);

/* The index of the next call in the script; _next also advances it. */
uint64_t fake_log_position(struct fake_log *log);
uint64_t fake_log_next(struct fake_log *log);

/* Must this call fail temporarily?  The first until_call - 1 in a row do. */
bool fake_log_transient(struct fake_log *log, int64_t until_call);

/* False: out of memory. */
bool fake_log_request(struct fake_log *log, const allm_request *r);
