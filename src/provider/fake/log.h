/* log.h - what the fake's calls leave behind: position, counts, requests */
#ifndef PROVIDER_FAKE_LOG_H
#define PROVIDER_FAKE_LOG_H

#include "allm.h"
#include "base/mem.h"

/* A position in a script.  Counted: engines and the caller share it. */
struct allm_fake_cursor;
struct allm_fake_cursor *fake_cursor_new(struct mem mem);
struct allm_fake_cursor *fake_cursor_keep(struct allm_fake_cursor *c);
void fake_cursor_drop(struct allm_fake_cursor *c);
uint64_t fake_cursor_index(const struct allm_fake_cursor *c);

/* An attachment of the engine; NULL: no memory. */
struct fake_log;
struct fake_log *fake_log_of(allm_attachments *a, struct mem mem);
uint64_t fake_log_calls(const struct fake_log *log);
uint64_t fake_log_released(const struct fake_log *log);
allm_json *fake_log_requests(struct fake_log *log);

/* False: the first call has chosen a position already. */
bool fake_log_use(struct fake_log *log, struct allm_fake_cursor *cursor);

/* A call has reached the adapter; a stream was let go. */
void fake_log_call(struct fake_log *log);
void fake_log_release(struct fake_log *log);

/* Which call of the script is next; with _next the position moves on. */
uint64_t fake_log_position(struct fake_log *log);
uint64_t fake_log_next(struct fake_log *log);

/* Shall this call fail in passing?  The first until_call - 1 in a row do. */
bool fake_log_transient(struct fake_log *log, int64_t until_call);

/* False: no memory. */
bool fake_log_request(struct fake_log *log, const allm_request *r);

#endif
