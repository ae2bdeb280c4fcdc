/* text.h - results that are bytes: the allm_text of the public interface */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/buf.h"
#include "base/home.h"

/*
 * Make a result in three steps: begin gives it a home whose arena the bytes
 * and errors are made in; then finish it with bytes of that arena, or fail it.
 * A text whose arena broke on the way is failed, whatever it is finished with.
 * All three take NULL for what could not be begun.
 */
allm_text *text_begin(struct mem mem, size_t hint);
struct arena *text_arena(allm_text *t);
allm_text *text_finish(allm_text *t, struct slice bytes);
allm_text *text_fail(allm_text *t, const allm_error *error);

#endif
