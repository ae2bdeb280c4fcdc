/*
 * fixture_task.h - requests of embed, image and moderate in fixtures
 *
 * task.json has one member:
 *
 *      {"embed": {"inputs", "dimensions", "task", "no_truncate"}}
 *      {"image": {...}}        an image request in its plain form
 *      {"moderation": {"inputs", "images"}}    plain images
 *
 * with "options" in each.
 */
#pragma once

#include "allm.h"
#include "provider/tasks.h"

enum { FIXTURE_TASK_MOST = 16 };

struct fixture_task {
    allm_json *file;
    allm_codec *image;
    allm_codec *images[FIXTURE_TASK_MOST];
    const char *inputs[FIXTURE_TASK_MOST];
    const allm_image *pictures[FIXTURE_TASK_MOST];
    allm_embed_request embed;
    allm_moderation_request moderation;
};

/* Read the request and the options into a call.  text.ptr NULL: nothing. */
void fixture_task_ask(struct fixture_task *t, struct slice text,
                      allm_call *call, allm_request *request);
void fixture_task_free(struct fixture_task *t);
enum tasks_kind fixture_task_kind(const allm_call *call);
