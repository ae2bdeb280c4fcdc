/* test_image_response.c - responses with images */
#include "data/image.h"

#include "harness/noun.h"

#include <stdlib.h>

static void has_defaults(void)
{
    allm_image_response *r = allm_image_response_new(NULL);
    const allm_image_usage *u = GET(r, usage);
    CHECK_WELL(allm_image_response_error(r));
    CHECK_INT(GET(u, size), sizeof(allm_image_usage));
    CHECK_JSON(allm_image_response_json(r, ALLM_FORM_PLAIN),
               "{'id':null,'request_id':null,'model':null,'images':[],"
               "'usage':{'images':0,'size':null,'quality':null,"
               "'input_tokens':null,'output_tokens':null,'input_cost':null,"
               "'output_cost':null,'total_cost':null},'raw':null,"
               "'metadata':{}}");
    allm_image_response_free(r);
}

static void keeps_every_field(void)
{
    allm_image *image = allm_image_from_base64("aGk=", "image/png");
    const allm_image *images[] = { image };
    const allm_image_usage *usage = ALLM(image_usage, .images = ALLM_NUM(1));
    allm_json *raw = noun_json("[1]"), *metadata = noun_json("{'m':1}");
    allm_json *kept = noun_json("{'k':2}");
    allm_image_response *r = allm_image_response_new(
        ALLM(image_response, .id = "i", .request_id = "r", .model = "m",
             .images = images, .image_count = 1, .usage = usage, .raw = raw,
             .metadata = metadata, .kept = kept));
    allm_image_free(image);
    allm_json_free(raw);
    allm_json_free(metadata);
    allm_json_free(kept);
    CHECK_WELL(allm_image_response_error(r));
    if (r && check_whole()) {
        CHECK_TEXT(r->id, "i");
        CHECK_TEXT(r->request_id, "r");
        CHECK_TEXT(r->model, "m");
        CHECK_INT(r->image_count, 1);
        CHECK_TEXT(r->images[0]->data, "aGk=");
        CHECK_INT(r->usage->images.value, 1);
        CHECK_VALUE(r->raw, "[1]");
        CHECK_VALUE(r->metadata, "{'m':1}");
        CHECK_VALUE(r->kept, "{'k':2}");
    }
    allm_image_response_free(r);
}

static void refuses_what_does_not_fit(void)
{
    allm_image_response *r = allm_image_response_new(
        ALLM(image_response, .usage = &(allm_image_usage){ .size = 0 }));
    CHECK_MISUSE(allm_image_response_error(r), "struct_size",
                 "allm_image_usage");
    CHECK(!GET(r, usage));
    allm_image_response_free(r);
    r = allm_image_response_new(&(allm_image_response){ .id = "x" });
    CHECK_MISUSE(allm_image_response_error(r), "struct_size",
                 "allm_image_response");
    allm_image_response_free(r);
}

static void sizes(void)
{
    static const allm_image_response full = { .id = "x", .model = "m" };
    allm_image_response *older =
        noun_sized(&full, sizeof full, offsetof(allm_image_response, model));
    allm_image_response *newer = noun_sized(&full, sizeof full,
                                            sizeof full + 8);
    allm_image_response *a = allm_image_response_new(older);
    allm_image_response *b = allm_image_response_new(newer);
    CHECK_TEXT(GET(a, id), "x");
    CHECK(GET(a, usage) && !GET(a, model));
    CHECK_TEXT(GET(b, model), "m");
    allm_image_response_free(a);
    allm_image_response_free(b);
    free(older);
    free(newer);
}

static void nothing_is_accepted(void)
{
    CHECK_ALWAYS(!allm_image_response_json(NULL, ALLM_FORM_PLAIN));
    CHECK_ERROR(allm_image_response_error(NULL), ALLM_ERR_NOMEM,
                "out_of_memory", NULL);
    allm_image_response_free(NULL);
}

TESTS = {
    TEST(has_defaults),
    TEST(keeps_every_field),
    TEST(refuses_what_does_not_fit),
    TEST(sizes),
    TEST(nothing_is_accepted),
    TESTS_END
};
