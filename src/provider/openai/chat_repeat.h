/*
 * chat_repeat.h - a frame that is like the last one, but for its text
 *
 * Nearly every frame of a stream has the same values as the one before: another
 * piece of the text, or of a call's arguments, and values without a meaning
 * here ("id", "created", "obfuscation").  Such a frame is compared with the
 * last one, and only its text is read.
 */
#pragma once

#include "provider/calls.h"
#include "provider/sink.h"
#include "json/json.h"

/* What the text of the next frame is, if it is like the last one. */
struct chat_repeat {
    bool call;                  /* the arguments of a call, not the text */
    bool has_index;             /* of its call */
    unsigned vain;              /* how often a frame could not be repeated */
    int64_t index;
};

/*
 * A frame without counts or an error was read, and the id and the model are
 * known.  If it did nothing but add to the text or to a call, the next one may
 * be a repetition.
 */
void chat_repeat_watch(struct chat_repeat *r, struct allm_sink *sink,
                       const struct json_view *frame,
                       const struct json_view *choice);

/* The piece of a frame that is a repetition.  False: read it as usual. */
bool chat_repeat_next(const struct chat_repeat *r, struct allm_sink *sink,
                      struct slice data, struct calls_piece *piece);
