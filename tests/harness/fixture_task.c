/* fixture_task.c - requests of embed, image and moderate in fixtures */
#include "harness/fixture_task.h"

#include "harness/check.h"
#include "json/json.h"

static size_t take_inputs(struct fixture_task *t, const allm_json *from)
{
    size_t n = 0;
    const allm_json *list = allm_json_get(from, "inputs");
    for (const allm_json *v = NULL;
         n < FIXTURE_TASK_MOST && (v = allm_json_next(list, v));)
        t->inputs[n++] = allm_json_text(v, NULL);
    return n;
}

static void ask_embed(struct fixture_task *t, const allm_json *from)
{
    static const char *const tasks[] = { "any", "document", "query",
                                         "classification", "clustering",
                                         "similarity" };
    t->embed = (allm_embed_request){ .size = sizeof t->embed,
                                     .input_count = take_inputs(t, from),
                                     .inputs = t->inputs };
    const allm_json *n = allm_json_get(from, "dimensions");
    t->embed.dimensions.set = allm_json_int64(n, &t->embed.dimensions.value);
    t->embed.no_truncate = allm_json_true(allm_json_get(from, "no_truncate"));
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        if (json_is(allm_json_get(from, "task"), tasks[i]))
            t->embed.task = (allm_embed_task)i;
}

static allm_codec *decode(const allm_json *v, const char *type)
{
    size_t len = 0;
    allm_text *text = allm_json_write(v, 0);
    const char *bytes = allm_text_bytes(text, &len);
    allm_codec *c = bytes ? allm_codec_decode(bytes, len, type, NULL) : NULL;
    CHECK(c && !allm_codec_error(c));
    allm_text_free(text);
    return c;
}

static void ask_moderation(struct fixture_task *t, const allm_json *from)
{
    size_t n = 0;
    const allm_json *list = allm_json_get(from, "images");
    for (const allm_json *v = NULL;
         n < FIXTURE_TASK_MOST && (v = allm_json_next(list, v)); n++) {
        t->images[n] = decode(v, "Image");
        t->pictures[n] = allm_codec_value(t->images[n], ALLM_TYPE_IMAGE);
        if (!t->pictures[n])
            return;             /* out of memory: no request */
    }
    t->moderation = (allm_moderation_request){
        .size = sizeof t->moderation,
        .input_count = take_inputs(t, from),
        .inputs = t->inputs,
        .image_count = n,
        .images = t->pictures,
    };
}

void fixture_task_ask(struct fixture_task *t, struct slice text,
                      allm_call *call, allm_request *request)
{
    *t = (struct fixture_task){ .file = NULL };
    if (!text.ptr)
        return;
    t->file = allm_json_parse(text.ptr, text.len, NULL);
    CHECK(t->file && !allm_json_error(t->file));
    const allm_json *embed = allm_json_get(t->file, "embed");
    const allm_json *image = allm_json_get(t->file, "image");
    const allm_json *moderation = allm_json_get(t->file, "moderation");
    const allm_json *any = embed ? embed : image ? image : moderation;
    const allm_json *options = allm_json_get(any, "options");
    if (embed)
        ask_embed(t, embed);
    if (moderation)
        ask_moderation(t, moderation);
    if (image)
        t->image = decode(image, "ImageRequest");
    call->embed = embed ? &t->embed : NULL;
    call->moderation = t->moderation.size ? &t->moderation : NULL;
    call->image = allm_codec_value(t->image, ALLM_TYPE_IMAGE_REQUEST);
    *request = (allm_request){ .size = sizeof *request,
                               .options = options ? options
                                                  : json_empty_object(),
                               .metadata = json_empty_object() };
    call->request = call->embed || call->moderation || call->image ? request
                                                                   : NULL;
}

enum tasks_kind fixture_task_kind(const allm_call *call)
{
    return call->image        ? TASKS_IMAGE
           : call->moderation ? TASKS_MODERATE
                              : TASKS_EMBED;
}

void fixture_task_free(struct fixture_task *t)
{
    for (size_t i = 0; i < FIXTURE_TASK_MOST; i++)
        allm_codec_free(t->images[i]);
    allm_codec_free(t->image);
    allm_json_free(t->file);
}
