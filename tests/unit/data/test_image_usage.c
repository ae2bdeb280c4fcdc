/* test_image_usage.c - the usage of a request for images */
#include "data/image.h"

#include "harness/noun.h"

#include <stdlib.h>

static void has_defaults(void)
{
    allm_image_usage *u = allm_image_usage_new(NULL);
    CHECK_WELL(allm_image_usage_error(u));
    CHECK(!u || !u->images.set);
    CHECK_JSON(allm_image_usage_json(u, ALLM_FORM_TAGGED),
               "{'__type__':'ALLM.ImageUsage','data':{'images':0,"
               "'size':null,'quality':null,'input_tokens':null,"
               "'output_tokens':null,'input_cost':null,'output_cost':null,"
               "'total_cost':null}}");
    allm_image_usage_free(u);
}

static void keeps_every_field(void)
{
    allm_json *size = noun_json("[1024,1024]"), *kept = noun_json("{'k':2}");
    allm_image_usage *u = allm_image_usage_new(
        ALLM(image_usage, .images = ALLM_NUM(2), .size_json = size,
             .quality = "high", .input_tokens = ALLM_NUM(3),
             .output_tokens = ALLM_NUM(4), .input_cost = ALLM_NUM(0.25),
             .output_cost = ALLM_NUM(0.5), .total_cost = ALLM_NUM(0.75),
             .kept = kept));
    allm_json_free(size);
    allm_json_free(kept);
    CHECK_WELL(allm_image_usage_error(u));
    CHECK_VALUE(GET(u, size_json), "[1024,1024]");
    CHECK_JSON(allm_image_usage_json(u, ALLM_FORM_PLAIN),
               "{'images':2,'size':[1024,1024],'quality':'high',"
               "'input_tokens':3,'output_tokens':4,'input_cost':0.25,"
               "'output_cost':0.5,'total_cost':0.75,'k':2}");
    allm_image_usage_free(u);
}

static void sizes(void)
{
    static const allm_image_usage full = { .images = ALLM_NUM(2),
                                           .quality = "q" };
    allm_image_usage *older = noun_sized(&full, sizeof full,
                                         offsetof(allm_image_usage, size_json));
    allm_image_usage *newer = noun_sized(&full, sizeof full, sizeof full + 8);
    allm_image_usage *a = allm_image_usage_new(older);
    allm_image_usage *b = allm_image_usage_new(newer);
    allm_image_usage *c =
        allm_image_usage_new(&(allm_image_usage){ .quality = "q" });
    CHECK(!a || (a->images.set && !a->quality));
    CHECK_TEXT(GET(b, quality), "q");
    CHECK_MISUSE(allm_image_usage_error(c), "struct_size",
                 "allm_image_usage: the struct has no size");
    allm_image_usage_free(a);
    allm_image_usage_free(b);
    allm_image_usage_free(c);
    free(older);
    free(newer);
}

static void nothing_is_accepted(void)
{
    CHECK_ALWAYS(!allm_image_usage_json(NULL, ALLM_FORM_PLAIN));
    CHECK_ERROR(allm_image_usage_error(NULL), ALLM_ERR_NOMEM, "out_of_memory",
                NULL);
    allm_image_usage_free(NULL);
}

TESTS = {
    TEST(has_defaults),
    TEST(keeps_every_field),
    TEST(sizes),
    TEST(nothing_is_accepted),
    TESTS_END
};
